import { Type, type Static } from 'typebox'
import { EVENT_TYPES } from './event-type.ts'
import { Check } from './check.ts'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { Moment, OrNull } from './schema.ts'

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
    status: OrNull(
      Type.Enum([...TRIGGER_STATUSES], {
        title: 'TriggerStatus',
        description: 'The status of that trigger.',
      }),
    ),
    checks: Type.Array(Check),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>
