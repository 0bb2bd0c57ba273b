import { Type, type Static } from 'typebox'
import { EVENT_TYPES } from './event-type.ts'
import { Check } from './check.ts'
import { TRIGGER_STATUSES } from './event-trigger.ts'
import { Named, about, Moment, OrNull } from './schema.ts'

/** Whether one definition fires for one object, and why. */
export const Explanation = Named('Explanation', {
  eventDefnId: Type.Integer(),
  description: OrNull(Type.String()),
  eventType: Type.Enum(
    EVENT_TYPES.map((type) => type.eventType),
    { title: 'EventTypeName' },
  ),
  outcome: about(
    Type.Enum(['FIRED', 'WAITING', 'NOT'], { title: 'ExplanationOutcome' }),
    'FIRED: it fired. WAITING: it is scheduled. NOT: it will not fire.',
  ),
  scheduledTime: OrNull(Moment),
  eventTriggerId: OrNull(Type.Integer()),
  status: OrNull(
    Type.Enum([...TRIGGER_STATUSES], {
      title: 'TriggerStatus',
      description: 'The status of that trigger.',
    }),
  ),
  checks: about(Type.Array(Check), 'Each condition, whether it holds, and why.'),
})
export type Explanation = Static<typeof Explanation>
