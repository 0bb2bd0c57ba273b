import { Type, type Static } from 'typebox'
import { Reasons } from './reasons.ts'
import { Named, about } from './schema.ts'

/**
 * What a check found. A code and its parameters never change their meaning, so that programs can say
 * it in their own words and languages.
 */
export const CHECK_CODES = [
  // Whether the definition is for the object.
  'switched-on',
  'switched-off',
  'own-business',
  'other-business',
  'event-type',
  'other-event-type',
  'object',
  'other-object',
  'location',
  'other-location',
  'staff',
  'other-staff',
  'service',
  'other-service',
  'form',
  'other-form',
  'tags',
  'missing-tag',
  'changed',
  'other-change',
  'also-ended',
  'status-changed',
  'status-unchanged',
  'status-before',
  'other-status-before',
  'status-now',
  'other-status-now',
  'exists',
  'deleted',
  'status-live',
  'status-not-live',
  'status-at-firing',
  'other-status-at-firing',
  'has-mail',
  'no-mail',
  /** It held when it fired; `now` is the code of what it would be now. */
  'held-then',
  // What happened to the trigger, or why there is none.
  'due',
  'sending',
  'sent',
  'captured',
  'failed',
  'gave-up',
  'skipped',
  'expired',
  'cancelled',
  'would-be-due',
  'being-planned',
  'due-before-saved',
  'created-before-saved',
  'created-as-history',
  'changed-on',
  'changed-before-saved',
  'unchanged',
  'not-completed',
  'created-completed',
  'no-time',
  'retention-passed',
] as const
export type CheckCode = (typeof CHECK_CODES)[number]

/** One condition, whether it holds, and why. */
export const Check = Named('Check', {
  check: about(Type.String(), 'The condition.', 'status'),
  ok: Type.Boolean(),
  reason: Type.String({ description: 'Why the check holds or fails.' }),
  code: Type.Enum([...CHECK_CODES], {
    title: 'CheckCode',
    description: 'The same for programs: what was found.',
  }),
  params: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.String()), Type.Null()]),
    {
      title: 'CheckParameters',
      description: 'The values that belong to `code`: names, statuses, and times in ms.',
      examples: [{ status: 'CANCELLED', objectType: 'CALENDAR' }],
    },
  ),
  reasons: Type.Optional(about(Reasons, 'Why the trigger that the check is about ended or waits.')),
})
export type Check = Static<typeof Check>
