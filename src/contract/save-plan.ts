import { Type, type Static } from 'typebox'
import { RECIPIENTS } from './event-action.ts'
import { Moment, Named, OrNull } from './schema.ts'

const CHANGES = ['create', 'move', 'cancel', 'atOnce', 'expired'] as const
export type PlannedChange = (typeof CHANGES)[number]

/** How saving something would change triggers. */
export const SavePlan = Named(
  'SavePlan',
  {
    create: Type.Integer({ description: 'Triggers that would be scheduled for later.' }),
    move: Type.Integer({ description: 'Pending triggers that would get another time.' }),
    cancel: Type.Integer({
      description:
        'Pending triggers that would be cancelled; of a template, those that would not send its mail.',
    }),
    atOnce: Type.Integer({ description: 'Triggers that would fire at once.' }),
    expired: Type.Integer({ description: 'Reminders whose time would already have passed.' }),
    samples: Type.Array(
      Named('SavePlanSample', {
        change: Type.Enum([...CHANGES], { title: 'PlannedChange' }),
        eventTriggerId: OrNull(
          Type.Integer({ description: 'The pending trigger; `null` for a new one.' }),
        ),
        eventDefnId: Type.Integer(),
        description: OrNull(Type.String({ description: 'The description of the definition.' })),
        templateName: OrNull(Type.String({ description: 'The template of its first email.' })),
        from: OrNull({
          ...Moment,
          examples: [1_789_000_000_000],
          description: 'When it is scheduled now, in ms.',
        }),
        to: OrNull({
          ...Moment,
          examples: [1_789_003_600_000],
          description: 'When it would be scheduled, in ms.',
        }),
        recipients: Type.Array(Type.Enum([...RECIPIENTS], { title: 'Recipient' }), {
          description:
            'The recipients of its actions; empty if it has no actions and sends nothing.',
        }),
        clientName: OrNull(Type.String()),
        reason: OrNull(
          Type.String({
            examples: ['status CANCELLED is not live'],
            description: 'Why it would be cancelled or expired.',
          }),
        ),
      }),
      {
        description:
          'At most 100, by time. None for settings and templates, which can affect all triggers.',
      },
    ),
    partial: Type.Optional(
      Type.Boolean({
        description: 'True if the time limit was reached before all triggers were counted.',
      }),
    ),
  },
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
        templateName: 'Reminder',
        from: 1_789_000_000_000,
        to: 1_789_007_200_000,
        recipients: ['client'],
        clientName: 'Anna Müller',
        reason: null,
      },
    ],
  },
)
export type SavePlan = Static<typeof SavePlan>
