import { Type, type Static, type TSchema } from 'typebox'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { FeedOverview } from './feed.ts'
import { Reasons } from './reasons.ts'
import { about, Counts, Moment, Named, OrNull } from './schema.ts'

const EXAMPLE = { COMPLETED: 41, SKIPPED: 2 }

const Day = Type.String({ format: 'date', examples: ['2026-11-17'] })

/** The state of one part of the service. */
const Part = <T extends Record<string, TSchema>>(title: string, fields: T) =>
  Named(title, {
    ok: Type.Boolean({ description: 'False if it needs attention.' }),
    ...fields,
  })

export const Overview = Named('Overview', {
  time: Moment,
  timeZone: Type.String({
    description: 'The time zone of the business, in which days are counted.',
  }),
  appointmentsToday: about(Type.Integer(), 'Today in the time zone of the business.', 24),
  classesToday: about(Type.Integer(), 'The classes of today.', 2),
  activeDefinitions: about(Type.Integer(), 'The active event definitions.', 5),
  triggersWaiting: about(Type.Integer(), 'The scheduled triggers.', 60),
  triggersDueToday: about(Type.Integer(), 'The triggers that are due today.', 12),
  approvalsWaiting: Type.Integer({
    examples: [0],
    description: 'Bulk calls whose mails wait for a decision: see `GET /approval`.',
  }),
  nextTriggerTime: about(OrNull(Moment), 'When the next trigger is due, in ms.', 1_789_000_000_000),
  triggersOfLastDay: about(Counts, 'The triggers of the last 24 hours by status.', EXAMPLE),
  emailsOfLastDay: about(Counts, 'The emails of the last 24 hours by status.', EXAMPLE),
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
  lastDays: Type.Array(
    Named('OverviewDay', {
      day: Day,
      counts: about(Counts, 'The number of triggers by status.', EXAMPLE),
    }),
    {
      description: 'The last 30 days, each with the number of triggers by status.',
    },
  ),
  feeds: about(
    Type.Array(FeedOverview),
    'The active feeds, for people who may see all of the business.',
  ),
  failures: Type.Array(
    Named('OverviewFailure', {
      count: about(Type.Integer(), 'How many failures are alike.', 12),
      emailIds: Type.Array(Type.Integer(), {
        description: 'The emails of all of them that failed; at most 1,000.',
      }),
      names: Type.Array(Type.String(), {
        description:
          'The clients, else the addresses of the emails, of the newest of them; at most 3.',
        examples: [['Anna Keller']],
      }),
      eventTriggerId: Type.Integer(),
      eventDefnId: Type.Integer(),
      description: OrNull(Type.String({ description: 'The description of the definition.' })),
      templateName: OrNull(Type.String({ description: 'The template of the email that failed.' })),
      scheduledTime: Moment,
      statusReason: OrNull(Type.String()),
      statusReasons: Reasons,
      clientId: OrNull(Type.Integer()),
      clientName: OrNull(Type.String()),
      emailId: OrNull(Type.Integer({ description: 'The email that failed.' })),
      to: OrNull(Type.String()),
    }),
    {
      description:
        'FAILED triggers of the last 7 days, newest first; the newest 5,000 count. Failures of the same email with the same reason are one entry with the values of the newest; at most 20 entries. Without those whose emails were sent again.',
    },
  ),
  engine: about(
    Part('EngineHealth', {
      overdue: about(Type.Integer(), 'Triggers that have been due for more than a second.', 0),
    }),
    'The state of the engine.',
  ),
  mail: about(
    Part('MailHealth', {
      captured: Type.Boolean({
        description: 'No mail server is configured: emails are stored, none is sent.',
      }),
      waiting: Type.Integer({ examples: [3], description: 'Emails in the queue.' }),
      paused: Type.Boolean({ description: 'All mail of the business is paused.' }),
      problem: OrNull(
        Type.String({
          examples: ['The mail server refuses mail: 421 Service not available'],
          description:
            'Why no mail is sent: a pause, a mail server that takes none, or the daily limit.',
        }),
      ),
      problems: about(Reasons, 'The same as codes with values.'),
      failingSince: about(
        OrNull(Moment),
        'Since when no mail could be sent, in ms; null if it can.',
        1_789_000_000_000,
      ),
      lastSentTime: about(OrNull(Moment), 'When an email was last sent, in ms.', 1_789_000_000_000),
      withoutPostalAddress: Type.Integer({
        examples: [0],
        description:
          'Active definitions with mails that are not transactional and can lack a postal address, because neither the business nor each of its locations has one.',
      }),
      sentLastDay: about(Type.Integer(), 'Emails that were sent in the last 24 hours.', 41),
    }),
    'The state of email delivery.',
  ),
  database: about(
    Part('DatabaseHealth', {
      milliseconds: Type.Number({ examples: [0.8], description: 'Duration of a query.' }),
    }),
    'The state of the database.',
  ),
  reconciliation: about(
    OrNull(
      Part('ReconciliationHealth', {
        endedTime: Type.Integer({
          description:
            'When the last reconciliation of pending reminders with objects and definitions finished, in ms.',
        }),
      }),
    ),
    'The state of the last reconciliation; null before the first.',
  ),
  setup: about(
    Named('SetupCounts', {
      locations: about(Type.Integer(), 'The number of locations.', 3),
      professionals: about(Type.Integer(), 'The number of members of staff.', 8),
      clients: Type.Integer(),
      appointments: about(Type.Integer(), 'The number of appointments.', 9_000),
      automations: about(Type.Integer(), 'The number of event definitions.', 5),
    }),
    'How much of the setup exists.',
  ),
})
export type Overview = Static<typeof Overview>
