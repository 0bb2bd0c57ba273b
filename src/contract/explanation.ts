import { Type, type Static } from 'typebox'
import { EVENT_TYPES } from './event-type.ts'
import { Moment, OrNull } from './schema.ts'

/** One condition, whether it holds, and why. */
export const Check = Type.Object(
  {
    check: Type.String(),
    ok: Type.Boolean(),
    reason: Type.String({ description: 'Why the check holds or fails.' }),
  },
  { title: 'Check' },
)
export type Check = Static<typeof Check>

/** Whether one definition fires for one object, and why. */
export const Explanation = Type.Object(
  {
    eventDefnId: Type.Integer(),
    description: OrNull(Type.String()),
    eventType: Type.Enum(
      EVENT_TYPES.map((type) => type.eventType),
      { title: 'EventTypeName' },
    ),
    outcome: Type.Enum(['FIRED', 'WAITING', 'NOT'], { title: 'ExplanationOutcome' }),
    scheduledTime: OrNull(Moment),
    eventTriggerId: OrNull(Type.Integer()),
    checks: Type.Array(Check),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>
