/** The `t` of a test, or `{ after }` of node:test for a whole file. */
export type Lifetime = { after(work: () => unknown): void }
type Work = () => unknown

const stacks = new WeakMap<Lifetime, Work[]>()

/** Like `t.after`, but runs in reverse order: what was opened last is closed first. */
export function cleanUpLater(t: Lifetime, work: Work) {
  const stack = stacks.get(t) ?? []
  stack.push(work)
  if (stacks.has(t)) return
  stacks.set(t, stack)
  t.after(async () => {
    for (const work of stack.toReversed()) await work()
  })
}
