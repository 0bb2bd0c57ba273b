import { Type } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { Moment, OrNull } from './schema.ts'

const Concerned = {
  objectType: Type.Enum([...OBJECT_TYPES]),
  objectId: OrNull(Type.Integer()),
  objectUUId: OrNull(Type.String()),
}
const Partial = Type.Optional(
  Type.Boolean({ description: 'there was not time to look at all of them' }),
)

/** What saving a definition would do to its triggers. */
export const Forecast = Type.Object({
  create: Type.Integer({ description: 'reminders that would be planned' }),
  move: Type.Integer({ description: 'pending ones that would get another time' }),
  cancel: Type.Integer({ description: 'pending ones that would be cancelled' }),
  expired: Type.Integer({ description: 'still ahead, but too late to be reminded of' }),
  unchanged: Type.Integer({ description: 'pending ones that would stay as they are' }),
  samples: Type.Array(
    Type.Object({
      change: Type.Enum(['create', 'move', 'cancel', 'expired']),
      ...Concerned,
      from: OrNull(Moment),
      to: OrNull(Moment),
    }),
  ),
  partial: Partial,
})

/** What a definition would have sent. */
export const Backtest = Type.Object({
  mails: Type.Integer(),
  clients: Type.Integer({ description: 'how many different ones' }),
  atNight: Type.Integer({ description: 'between 21:00 and 8:00 on the reader’s clock' }),
  withinAnHour: Type.Integer({ description: 'less than an hour after another to the same reader' }),
  emptyTokens: Type.Record(Type.String(), Type.Integer(), {
    description: 'tokens without a value, and in how many mails',
    examples: [{ CLIENT_PHONE: 3 }],
  }),
  samples: Type.Array(
    Type.Object({
      ...Concerned,
      clientId: OrNull(Type.Integer()),
      to: OrNull(Type.String()),
      subject: OrNull(Type.String()),
      scheduledTime: Moment,
    }),
  ),
  partial: Partial,
})
