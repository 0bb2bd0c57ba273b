import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { monotonicMs } from '../src/clock.ts'
import { isSliceOver, nextSlice } from '../src/time-slice.ts'

test('in each iteration of the event loop one piece of long work continues, in turn', async () => {
  const continued: string[] = []
  // Other work has used the slice of this iteration, so all three wait.
  isSliceOver()
  useProcessor(10)
  const work = ['a', 'b', 'c'].map(async (name) => {
    for (let piece = 0; piece < 3; piece += 1) {
      if (isSliceOver()) await nextSlice()
      continued.push(name)
      useProcessor(10)
    }
  })
  const perIteration: number[] = []
  for (let before = 0; before < 9;) {
    perIteration.push(continued.length - before)
    before = continued.length
    await nextIteration()
  }
  await Promise.all(work)
  assert.ok(Math.max(...perIteration) === 1, `pieces in each iteration: ${perIteration.join(', ')}`)
  assert.equal(continued.join(''), 'abcabcabc')
})

function useProcessor(ms: number) {
  for (const until = monotonicMs() + ms; monotonicMs() < until;);
}
