import { monotonicMs } from './clock.ts'

/** How long all sliced work together may use the event loop before other events are handled. */
const SLICE_MS = 2

/** When the sliced work of this iteration of the event loop began. */
let since: number | undefined
const waiting: (() => void)[] = []

/**
 * Long synchronous work shares the event loop with everything else: it calls this between two pieces,
 * `if (isSliceOver()) await nextSlice()`. In each iteration of the event loop one piece of work
 * continues, in turn, so that requests and replies wait for one slice and not for all work.
 */
export function isSliceOver() {
  if (since === undefined) startSlice()
  return monotonicMs() - since! > SLICE_MS
}

export const nextSlice = () => new Promise<void>((resolve) => waiting.push(resolve))

function startSlice() {
  since = monotonicMs()
  setImmediate(() => {
    since = undefined
    const next = waiting.shift()
    if (!next) return
    startSlice()
    next()
  })
}
