import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { ObjectNames } from './object-names.ts'
import { Moment, Named, OrNull } from './schema.ts'

const Concerned = {
  objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
  objectId: OrNull(Type.Integer()),
  objectUUId: OrNull(Type.String()),
}
const Partial = Type.Optional(
  Type.Boolean({ description: 'there was not time to look at all of them' }),
)

const ByDayAndHour = {
  byDay: Type.Array(
    Named('DayCount', { day: Type.String({ format: 'date' }), count: Type.Integer() }),
    {
      description: 'how many on each day, on the clock of the location, else of the business',
      examples: [[{ day: '2026-11-19', count: 12 }]],
    },
  ),
  byHour: Type.Array(Type.Integer(), {
    minItems: 24,
    maxItems: 24,
    description: 'how many in each hour of the day, from midnight on, by the same clock',
    examples: [[...Array<number>(9).fill(0), 12, ...Array<number>(14).fill(0)]],
  }),
}

const MAX_SAMPLES = 200

/** How many samples to show. */
export const SampleQuery = (usually: number, ofWhat: string) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SAMPLES,
        default: usually,
        description: `How many samples at most${ofWhat}. Samples show only what the caller may see; counts cover the whole business.`,
      }),
    ),
  })

/** What saving a definition would do to its triggers. */
export const Forecast = Type.Object(
  {
    create: Type.Integer({ description: 'reminders that would be planned' }),
    move: Type.Integer({ description: 'pending ones that would get another time' }),
    cancel: Type.Integer({ description: 'pending ones that would be cancelled' }),
    expired: Type.Integer({ description: 'still ahead, but too late to be reminded of' }),
    unchanged: Type.Integer({ description: 'pending ones that would stay as they are' }),
    samples: Type.Array(
      Named('DefinitionPlanSample', {
        change: Type.Enum(['create', 'move', 'cancel', 'expired'], {
          title: 'DefinitionPlanChange',
        }),
        ...Concerned,
        from: OrNull(Moment),
        to: OrNull(Moment),
        reason: OrNull(
          Type.String({
            description: 'why it is cancelled or too late, in words',
            examples: ['the definition does not select location London'],
          }),
        ),
        ...ObjectNames,
      }),
    ),
    ...ByDayAndHour,
    atNight: Type.Integer({
      description: 'pending after saving, and due between 21:00 and 8:00 on the location’s clock',
    }),
    withinAnHour: Type.Integer({
      description: 'pending after saving, and less than an hour after another to the same client',
    }),
    partial: Partial,
  },
  { title: 'DefinitionPlan' },
)
export type Forecast = Static<typeof Forecast>

/** What a definition would have sent. */
export const Backtest = Type.Object(
  {
    mails: Type.Integer(),
    clients: Type.Integer({ description: 'how many different ones' }),
    atNight: Type.Integer({ description: 'between 21:00 and 8:00 on the reader’s clock' }),
    withinAnHour: Type.Integer({
      description: 'less than an hour after another to the same reader',
    }),
    emptyTokens: Type.Record(Type.String(), Type.Integer(), {
      title: 'Counts',
      description: 'tokens without a value, and in how many mails',
      examples: [{ CLIENT_PHONE: 3 }],
    }),
    samples: Type.Array(
      Named('BacktestSample', {
        ...Concerned,
        ...ObjectNames,
        to: OrNull(Type.String()),
        subject: OrNull(Type.String()),
        scheduledTime: Moment,
      }),
    ),
    ...ByDayAndHour,
    partial: Partial,
  },
  { title: 'Backtest' },
)
export type Backtest = Static<typeof Backtest>
