import { Type, type Static, type TSchema } from 'typebox'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { Moment, Named, OrNull } from './schema.ts'

const Counts = Type.Record(Type.String(), Type.Integer(), {
  title: 'Counts',
  examples: [{ COMPLETED: 41, SKIPPED: 2 }],
})

const Day = Type.String({ format: 'date', examples: ['2026-11-17'] })

/** A part of the service, in the words of the overview. */
const Part = <T extends Record<string, TSchema>>(title: string, fields: T) =>
  Named(title, {
    ok: Type.Boolean({ description: 'Nothing needs attention.' }),
    ...fields,
  })

export const Overview = Type.Object(
  {
    time: Moment,
    timeZone: Type.String({
      description: 'The time zone of the business; days are counted in it.',
    }),
    appointmentsToday: Type.Integer({ description: 'On the business’s calendar day.' }),
    classesToday: Type.Integer(),
    activeDefinitions: Type.Integer(),
    triggersWaiting: Type.Integer(),
    triggersDueToday: Type.Integer(),
    nextTriggerTime: OrNull(Moment),
    triggersOfLastDay: Counts,
    emailsOfLastDay: Counts,
    day: Day,
    quarterHours: Type.Array(
      Named('QuarterHour', {
        time: Type.Integer({ description: 'The beginning of the quarter of an hour, in ms.' }),
        status: Type.Enum([...TRIGGER_STATUSES], { title: 'TriggerStatus' }),
        count: Type.Integer(),
      }),
      { description: 'The triggers of `day` by the time they are scheduled for, and status.' },
    ),
    lastDays: Type.Array(Named('OverviewDay', { day: Day, counts: Counts }), {
      description: 'The last 30 days, each with the number of triggers by status.',
    }),
    failures: Type.Array(
      Named('OverviewFailure', {
        eventTriggerId: Type.Integer(),
        eventDefnId: Type.Integer(),
        description: OrNull(Type.String({ description: 'Of the definition.' })),
        scheduledTime: Moment,
        statusReason: OrNull(Type.String()),
        clientId: OrNull(Type.Integer()),
        clientName: OrNull(Type.String()),
        emailId: OrNull(Type.Integer({ description: 'Of the mail that failed.' })),
        to: OrNull(Type.String()),
      }),
      { description: 'Triggers of the last 7 days that failed, the newest first; at most 20.' },
    ),
    engine: Part('EngineHealth', {
      overdue: Type.Integer({ description: 'Due for more than a second.' }),
    }),
    mail: Part('MailHealth', {
      captured: Type.Boolean({
        description: 'There is no mail server: mails are kept, none leaves.',
      }),
      waiting: Type.Integer({ description: 'Mails that wait to be sent.' }),
      lastSentTime: OrNull(Moment),
      sentLastDay: Type.Integer(),
    }),
    database: Part('DatabaseHealth', {
      milliseconds: Type.Number({ description: 'How long it took to answer.' }),
    }),
    reconciliation: OrNull(
      Part('ReconciliationHealth', {
        endedTime: Type.Integer({
          description:
            'When all pending reminders were last compared with what appointments and definitions ask for, in ms.',
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
