import { Type, type Static, type TSchema } from 'typebox'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { Moment, Named, OrNull } from './schema.ts'

const Counts = Type.Record(Type.String(), Type.Integer(), {
  title: 'Counts',
  examples: [{ COMPLETED: 41, SKIPPED: 2 }],
})

const Day = Type.String({ format: 'date', examples: ['2026-11-17'] })

/** The state of one part of the service. */
const Part = <T extends Record<string, TSchema>>(title: string, fields: T) =>
  Named(title, {
    ok: Type.Boolean({ description: 'False if it needs attention.' }),
    ...fields,
  })

export const Overview = Type.Object(
  {
    time: Moment,
    timeZone: Type.String({
      description: 'The time zone of the business, in which days are counted.',
    }),
    appointmentsToday: Type.Integer({ description: 'Today in the time zone of the business.' }),
    classesToday: Type.Integer(),
    activeDefinitions: Type.Integer(),
    triggersWaiting: Type.Integer(),
    triggersDueToday: Type.Integer(),
    approvalsWaiting: Type.Integer({
      description: 'Bulk calls whose mails wait for a decision: see `GET /approval`.',
    }),
    nextTriggerTime: OrNull(Moment),
    triggersOfLastDay: Counts,
    emailsOfLastDay: Counts,
    day: Day,
    days: Type.Integer({ description: 'How many days `quarterHours` has.', examples: [1] }),
    quarterHours: Type.Array(
      Named('QuarterHour', {
        time: Type.Integer({ description: 'The start of the quarter hour, in ms.' }),
        status: Type.Enum([...TRIGGER_STATUSES], { title: 'TriggerStatus' }),
        count: Type.Integer(),
      }),
      { description: 'The triggers of `days` from `day` on, by scheduled time and status.' },
    ),
    lastDays: Type.Array(Named('OverviewDay', { day: Day, counts: Counts }), {
      description: 'The last 30 days, each with the number of triggers by status.',
    }),
    failures: Type.Array(
      Named('OverviewFailure', {
        eventTriggerId: Type.Integer(),
        eventDefnId: Type.Integer(),
        description: OrNull(Type.String({ description: 'The description of the definition.' })),
        templateName: OrNull(
          Type.String({ description: 'The template of the email that failed.' }),
        ),
        scheduledTime: Moment,
        statusReason: OrNull(Type.String()),
        clientId: OrNull(Type.Integer()),
        clientName: OrNull(Type.String()),
        emailId: OrNull(Type.Integer({ description: 'The email that failed.' })),
        to: OrNull(Type.String()),
      }),
      {
        description:
          'FAILED triggers of the last 7 days, newest first; at most 20. Without those whose emails were sent again.',
      },
    ),
    engine: Part('EngineHealth', {
      overdue: Type.Integer({ description: 'Triggers that have been due for more than a second.' }),
    }),
    mail: Part('MailHealth', {
      captured: Type.Boolean({
        description: 'No mail server is configured: emails are stored, none is sent.',
      }),
      waiting: Type.Integer({ description: 'Emails in the queue.' }),
      paused: Type.Boolean({ description: 'All mail of the business is paused.' }),
      problem: OrNull(
        Type.String({
          description:
            'Why no mail is sent: a pause, a mail server that takes none, or the daily limit.',
        }),
      ),
      failingSince: OrNull(Moment),
      lastSentTime: OrNull(Moment),
      sentLastDay: Type.Integer(),
    }),
    database: Part('DatabaseHealth', {
      milliseconds: Type.Number({ description: 'Duration of a query.' }),
    }),
    reconciliation: OrNull(
      Part('ReconciliationHealth', {
        endedTime: Type.Integer({
          description:
            'When the last reconciliation of pending reminders with objects and definitions finished, in ms.',
        }),
      }),
    ),
    setup: Named('SetupCounts', {
      locations: Type.Integer(),
      professionals: Type.Integer(),
      clients: Type.Integer(),
      appointments: Type.Integer(),
      automations: Type.Integer(),
    }),
  },
  { title: 'Overview' },
)
export type Overview = Static<typeof Overview>
