import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { ObjectNames } from './object-names.ts'
import { Reasons } from './reasons.ts'
import { Counts, about, Moment, Named, OrNull } from './schema.ts'

const Concerned = {
  objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
  objectId: OrNull(Type.Integer()),
  objectUUId: OrNull(Type.String()),
}
const Partial = Type.Optional(
  Type.Boolean({
    description: 'True if the time limit was reached before all objects were counted.',
  }),
)

const ByDayAndHour = {
  byDay: Type.Array(
    Named('DayCount', { day: Type.String({ format: 'date' }), count: Type.Integer() }),
    {
      description: 'Count by day, in the time zone of the location, else of the business.',
      examples: [[{ day: '2026-11-19', count: 12 }]],
    },
  ),
  byHour: Type.Array(Type.Integer(), {
    minItems: 24,
    maxItems: 24,
    description: 'Count by hour of the day, starting at midnight, in the same time zone.',
    examples: [[...Array<number>(9).fill(0), 12, ...Array<number>(14).fill(0)]],
  }),
}

const MAX_SAMPLES = 200
const MAX_SKIPPED_SAMPLES = 10_000

/** `unit` completes the description, such as ' for each kind of change'. */
export const SampleQuery = (defaultLimit: number, unit: string) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SAMPLES,
        default: defaultLimit,
        description: `The maximum number of samples${unit}. Samples hold only objects that the caller may see; counts cover the whole business.`,
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_SKIPPED_SAMPLES,
        default: 0,
        description: `Leaves out as many samples${unit}, for the next page.`,
        examples: [200],
      }),
    ),
  })

/** How saving a definition would change its pending triggers. */
export const Forecast = Named('DefinitionPlan', {
  create: Type.Integer({ examples: [58], description: 'Reminders that would be scheduled.' }),
  move: about(Type.Integer(), 'Pending triggers that would get another time.', 12),
  cancel: about(Type.Integer(), 'Pending triggers that would be cancelled.', 3),
  expired: Type.Integer({
    examples: [4],
    description: 'Objects in the future whose reminder time has already passed.',
  }),
  unchanged: about(Type.Integer(), 'Pending triggers that would stay unchanged.', 41),
  samples: Type.Array(
    Named('DefinitionPlanSample', {
      change: Type.Enum(['create', 'move', 'cancel', 'expired'], {
        title: 'DefinitionPlanChange',
      }),
      ...Concerned,
      from: about(OrNull(Moment), 'When it is scheduled now, in ms.', 1_789_000_000_000),
      to: about(OrNull(Moment), 'When it would be scheduled, in ms.', 1_789_003_600_000),
      reason: OrNull(
        Type.String({
          description: 'Why it is cancelled or too late.',
          examples: ['the definition does not select location London'],
        }),
      ),
      reasons: Reasons,
      ...ObjectNames,
    }),
  ),
  ...ByDayAndHour,
  atNight: Type.Integer({
    description:
      'Triggers that would be due between 21:00 and 8:00 in the time zone of the location.',
  }),
  withinAnHour: Type.Integer({
    description:
      'Triggers that would be due less than an hour after another one for the same client.',
  }),
  lacksPostalAddress: Type.Boolean({
    description:
      'Its mails are not transactional, and neither the business nor each of its locations has a postal address: many countries require one.',
  }),
  partial: Partial,
})
export type Forecast = Static<typeof Forecast>

/** The emails that a definition would have sent. */
export const Backtest = Named('Backtest', {
  mails: Type.Integer(),
  clients: Type.Integer({ description: 'The number of different clients.' }),
  atNight: Type.Integer({
    description: 'Emails between 21:00 and 8:00 in the time zone of the recipient.',
  }),
  withinAnHour: Type.Integer({
    description: 'Emails less than an hour after another one to the same recipient.',
  }),
  emptyTokens: about(Counts, 'Tokens without a value, each with the number of emails.', {
    CLIENT_PHONE: 3,
  }),
  samples: Type.Array(
    Named('BacktestSample', {
      ...Concerned,
      ...ObjectNames,
      to: OrNull(Type.String()),
      subject: OrNull(Type.String()),
      scheduledTime: Moment,
      reason: OrNull(
        Type.String({
          description:
            'Why to look at it: sent at night, soon after another one, or tokens without a value.',
        }),
      ),
    }),
  ),
  ...ByDayAndHour,
  partial: Partial,
})
export type Backtest = Static<typeof Backtest>
