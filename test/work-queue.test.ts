import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate as later } from 'node:timers/promises'
import { RequestError } from '../src/errors.ts'
import { WorkQueue, type QueueLimits } from '../src/work-queue.ts'

const queueOf = (limits: Partial<QueueLimits> = {}) =>
  new WorkQueue({ perBusiness: 2, total: 3, maxWaiting: 20, retryAfterSeconds: 10, ...limits })

test('two pieces of work of a business run at once, the third starts when one has ended', async () => {
  const { begin, running } = watched(queueOf())
  const first = begin(1, 'a')
  begin(1, 'b')
  begin(1, 'c')
  await later()
  assert.deepEqual(running(), ['a', 'b'])

  first.end()
  await later()
  assert.deepEqual(running(), ['b', 'c'])
})

test('a business with much work does not delay another business', async () => {
  const { begin, running } = watched(queueOf())
  for (const name of ['a', 'b', 'c', 'd', 'e']) begin(1, name)
  begin(2, 'z')
  await later()
  assert.deepEqual(running(), ['a', 'b', 'z'])
})

test('businesses that wait are served in turn, however much each has waiting', async () => {
  const { begin, started } = watched(queueOf({ total: 1 }))
  const work = [
    ...['a1', 'a2', 'a3'].map((name) => begin(1, name)),
    ...['b1', 'b2'].map((name) => begin(2, name)),
    begin(3, 'c1'),
  ]
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
    await later()
    assert.equal(started().at(-1), name)
    work.find((one) => one.name === name)!.end()
  }
})

test('work that fails gives its slot to the next', async () => {
  const { begin, running } = watched(queueOf({ perBusiness: 1 }))
  const first = begin(1, 'a')
  begin(1, 'b')
  await later()
  first.fail(new Error('no paper'))
  await assert.rejects(first.done, /no paper/)
  await later()
  assert.deepEqual(running(), ['b'])
})

test('work whose client has left the queue never starts', async () => {
  const { begin, running } = watched(queueOf({ perBusiness: 1 }))
  const first = begin(1, 'a')
  const second = begin(1, 'b')
  begin(1, 'c')
  second.leave()
  await assert.rejects(second.done, /left/)
  first.end()
  await later()
  assert.deepEqual(running(), ['c'])
})

test('work whose client left before it was queued never starts and takes no slot', async () => {
  const { running } = watched(queueOf())
  const queue = queueOf({ perBusiness: 1 })
  const left = AbortSignal.abort(new Error('left'))
  await assert.rejects(
    queue.run({ businessId: 1, signal: left }, () => assert.fail('started')),
    /left/,
  )
  await queue.run({ businessId: 1 }, async () => {})
  assert.deepEqual(running(), [])
})

test('no listener stays on a signal when its work has started, ended or left', async () => {
  const queue = queueOf({ perBusiness: 1 })
  const { signal } = new AbortController()
  const held = queue.reserve({ businessId: 1, signal })
  const work = [1, 2, 3].map(() => queue.run({ businessId: 1, signal }, async () => {}))
  const leaving = queue.reserve({ businessId: 1, signal })
  assert.equal(getEventListeners(signal, 'abort').length, 4)
  leaving.release()
  held.release()
  await Promise.all(work)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a slot that is released twice frees one slot', async () => {
  const queue = queueOf({ perBusiness: 1 })
  const { signal } = new AbortController()
  const [first, second, third] = [1, 2, 3].map(() => queue.reserve({ businessId: 1, signal }))
  first!.release()
  first!.release()
  await second!.granted
  let isThirdGranted = false
  void third!.granted.then(() => (isThirdGranted = true))
  await later()
  assert.equal(isThirdGranted, false)
})

test('work beyond the length of the queue is 429 with Retry-After', async () => {
  const queue = queueOf({ perBusiness: 1, maxWaiting: 1 })
  const { begin } = watched(queue)
  begin(1, 'a')
  begin(1, 'b')
  await assert.rejects(
    queue.run({ businessId: 1 }, async () => {}),
    (error: RequestError) => error.status === 429 && error.headers['retry-after'] === '10',
  )
})

test('work that waits too long is 503 with Retry-After, and leaves the queue', async () => {
  const queue = queueOf({ perBusiness: 1, maxWaitSeconds: 0.01 })
  const { begin, running } = watched(queue)
  const first = begin(1, 'a')
  const second = begin(1, 'b')
  await assert.rejects(
    second.done,
    (error: RequestError) => error.status === 503 && error.headers['retry-after'] === '10',
  )
  first.end()
  await later()
  assert.deepEqual(running(), [])
})

test('work of an unknown business has the share of its address', async () => {
  const queue = queueOf({ perBusiness: 1 })
  const slots = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => queue.reserve({ address }))
  await Promise.all([slots[0]!.granted, slots[2]!.granted])
  slots[0]!.release()
  await slots[1]!.granted
})

/** Work that runs until the test ends it. */
function watched(queue: WorkQueue) {
  const now = new Set<string>()
  const started: string[] = []
  const begin = (businessId: number, name: string) => {
    const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>()
    const gone = new AbortController()
    const done = queue.run({ businessId, signal: gone.signal }, async () => {
      now.add(name)
      started.push(name)
      await promise.finally(() => now.delete(name))
    })
    done.catch(() => {})
    return { name, done, end, fail, leave: () => gone.abort(new Error('left')) }
  }
  return { begin, running: () => [...now], started: () => started }
}
