import { Type, type Static } from 'typebox'
import { OrNull } from './schema.ts'

/** How many clients read a language. */
export const ClientLanguage = Type.Object(
  {
    language: OrNull(
      Type.String({
        description: 'Without its region: `de` for `de-CH`. Null: the clients without a language.',
        examples: ['de'],
      }),
    ),
    clients: Type.Integer({ description: 'How many active clients.', examples: [142] }),
  },
  { title: 'ClientLanguage' },
)
export type ClientLanguage = Static<typeof ClientLanguage>
