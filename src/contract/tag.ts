import { Type, type Static } from 'typebox'
import { Text } from './fields.ts'
import { Named, about, OrNull } from './schema.ts'

const Count = (description: string, example: number) => about(Type.Integer(), description, example)
const Name = about(Text({ minLength: 1, maxLength: 100 }), 'The name of the tag.', 'level')
const Value = about(Text({ minLength: 1, maxLength: 300 }), 'One of its values.', 'gold')

/** A value of a tag of the business. */
export const TagValue = Named('TagValue', {
  name: Name,
  value: Value,
  clients: Count('How many active clients have it.', 42),
  appointments: Count('How many active appointments have it themselves.', 3),
  others: Count('How many classes, invitations, recalls and signatures have it.', 0),
  eventDefinitions: Count('How many active definitions ask for it.', 1),
})
export type TagValue = Static<typeof TagValue>

export const TagChangeWrite = Type.Object(
  {
    name: Name,
    value: Value,
    newValue: about(
      OrNull(Text({ minLength: 1, maxLength: 300 })),
      'What replaces it: another value. Null: nothing, the value is deleted.',
      'premium',
    ),
  },
  {
    title: 'TagChangeWrite',
    additionalProperties: false,
    examples: [{ name: 'level', value: 'gold', newValue: 'premium' }],
  },
)
export type TagChangeWrite = Static<typeof TagChangeWrite>

export const TagChangeResult = Named('TagChangeResult', {
  changed: Count('How many objects it changes.', 45),
  refused: Count('How many objects could not be saved; they keep the value.', 0),
  create: Count('In a plan: how many triggers it adds. Else 0.', 0),
  cancel: Count('In a plan: how many pending triggers it cancels. Else 0.', 12),
  isComplete: about(
    Type.Boolean(),
    'False: 1,000 objects are changed, and others have the value. Send the request again for the next ones, with another `Idempotency-Key`.',
    true,
  ),
})
export type TagChangeResult = Static<typeof TagChangeResult>
