import { Type, type Static } from 'typebox'
import { RECIPIENTS } from './event-action.ts'
import { Moment, Named, OrNull } from './schema.ts'

const CHANGES = ['create', 'move', 'cancel', 'atOnce', 'expired'] as const
export type PlannedChange = (typeof CHANGES)[number]

/** How saving an object would change its triggers. */
export const SavePlan = Type.Object(
  {
    create: Type.Integer({ description: 'triggers that would be scheduled for later' }),
    move: Type.Integer({ description: 'pending triggers that would get another time' }),
    cancel: Type.Integer({ description: 'pending triggers that would be cancelled' }),
    atOnce: Type.Integer({ description: 'triggers that would fire at once' }),
    expired: Type.Integer({ description: 'reminders whose time would already have passed' }),
    samples: Type.Array(
      Named('SavePlanSample', {
        change: Type.Enum([...CHANGES], { title: 'PlannedChange' }),
        eventTriggerId: OrNull(
          Type.Integer({ description: 'the pending trigger; `null` for a new one' }),
        ),
        eventDefnId: Type.Integer(),
        description: OrNull(Type.String({ description: 'the description of the definition' })),
        from: OrNull({ ...Moment, description: 'when it is scheduled now, in ms' }),
        to: OrNull({ ...Moment, description: 'when it would be scheduled, in ms' }),
        recipients: Type.Array(Type.Enum([...RECIPIENTS], { title: 'Recipient' }), {
          description:
            'the recipients of its actions; empty if it has no actions and sends nothing',
        }),
        clientName: OrNull(Type.String()),
        reason: OrNull(Type.String({ description: 'why it would be cancelled or expired' })),
      }),
      { description: 'At most 100, by time.' },
    ),
  },
  {
    title: 'SavePlan',
    examples: [
      {
        create: 0,
        move: 1,
        cancel: 0,
        atOnce: 0,
        expired: 0,
        samples: [
          {
            change: 'move',
            eventTriggerId: 41,
            eventDefnId: 3,
            description: 'Reminder two days before',
            from: 1_789_000_000_000,
            to: 1_789_007_200_000,
            recipients: ['client'],
            clientName: 'Anna Müller',
            reason: null,
          },
        ],
      },
    ],
  },
)
export type SavePlan = Static<typeof SavePlan>
