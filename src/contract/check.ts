import { Type, type Static } from 'typebox'

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
