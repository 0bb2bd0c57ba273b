import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as later } from 'node:timers/promises'
import { RequestError } from '../../src/errors.ts'
import { Turns } from '../../src/reports/turns.ts'

test('two reports of a business are printed at once, the third waits for the first to end', async () => {
  const { begin, running } = watched(new Turns())
  const first = begin(1, 'a')
  begin(1, 'b')
  begin(1, 'c')
  await later()
  assert.deepEqual(running(), ['a', 'b'])

  first.end()
  await later()
  assert.deepEqual(running(), ['b', 'c'])
})

test('another business does not wait for one that prints much', async () => {
  const { begin, running } = watched(new Turns())
  for (const name of ['a', 'b', 'c', 'd', 'e']) begin(1, name)
  begin(2, 'z')
  await later()
  assert.deepEqual(running(), ['a', 'b', 'z'])
})

test('a report that fails gives its turn to the next', async () => {
  const { begin, running } = watched(new Turns({ perBusiness: 1 }))
  const first = begin(1, 'a')
  begin(1, 'b')
  await later()
  first.fail(new Error('no paper'))
  await assert.rejects(first.done, /no paper/)
  await later()
  assert.deepEqual(running(), ['b'])
})

test('who leaves the queue is not printed for', async () => {
  const { begin, running } = watched(new Turns({ perBusiness: 1 }))
  const first = begin(1, 'a')
  const second = begin(1, 'b')
  begin(1, 'c')
  second.leave()
  await assert.rejects(second.done)
  first.end()
  await later()
  assert.deepEqual(running(), ['c'])
})

test('a queue that is too long is refused, with a time to come back', async () => {
  const turns = new Turns({ perBusiness: 1, mostWaiting: 1 })
  const { begin } = watched(turns)
  begin(1, 'a')
  begin(1, 'b')
  await assert.rejects(
    turns.take(1, new AbortController().signal, async () => {}),
    (error: RequestError) => error.status === 429 && error.headers['retry-after'] === '10',
  )
})

/** Work that goes on until the test ends it. */
function watched(turns: Turns) {
  const now = new Set<string>()
  const begin = (businessId: number, name: string) => {
    const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>()
    const gone = new AbortController()
    const done = turns.take(businessId, gone.signal, async () => {
      now.add(name)
      await promise.finally(() => now.delete(name))
    })
    done.catch(() => {})
    return { done, end, fail, leave: () => gone.abort(new Error('left')) }
  }
  return { begin, running: () => [...now] }
}
