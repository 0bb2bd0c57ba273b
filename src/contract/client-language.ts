import { Type, type Static } from 'typebox'
import { Named, OrNull } from './schema.ts'

/** How many clients read a language. */
export const ClientLanguage = Named('ClientLanguage', {
  language: OrNull(
    Type.String({
      description: 'Without its region: `de` for `de-CH`. Null: the clients without a language.',
      examples: ['de'],
    }),
  ),
  clients: Type.Integer({ description: 'How many active clients.', examples: [142] }),
})
export type ClientLanguage = Static<typeof ClientLanguage>
