import { Type } from 'typebox'

/** What is done to many at once, by their ids. */
export const ManyIds = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000 }),
})

/** One that cannot be done does not keep the others from it. */
export const ManyDone = Type.Object({
  done: Type.Array(Type.Integer()),
  refused: Type.Array(
    Type.Object({ id: Type.Integer(), status: Type.Integer(), detail: Type.String() }),
  ),
})
