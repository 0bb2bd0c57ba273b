import { unsavedEditors, type Leaving } from './editor.ts'

type Question = { changes: number; answer: (mayLeave: boolean) => void; reply: Promise<boolean> }

let question: Question | undefined
const listeners = new Set<() => void>()

function show(next: Question | undefined) {
  question = next
  for (const listener of listeners) listener()
}

export const leaveQuestion = {
  current: () => question,
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/**
 * Whether the user may leave these records: true if nothing is unsaved, else the user decides. Leaving
 * forgets their changes.
 */
export function askToLeave(leaving?: Leaving): Promise<boolean> {
  if (question) return question.reply
  const left = unsavedEditors(leaving)
  const changes = left.reduce((sum, editor) => sum + editor.count(), 0)
  if (changes === 0) return Promise.resolve(true)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const answer = (mayLeave: boolean) => {
    if (mayLeave) for (const editor of left) editor.discard()
    resolve(mayLeave)
    // A key that closes this window may also reach the window below: that asks again only later.
    setTimeout(() => show(undefined))
  }
  show({ changes, answer, reply: promise })
  return promise
}

/** Runs the action, after the user agreed to lose unsaved changes. */
export const leaveThen = (action: () => void, leaving?: Leaving) =>
  void askToLeave(leaving).then((mayLeave) => mayLeave && action())
