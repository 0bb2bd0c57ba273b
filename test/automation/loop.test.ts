import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { WakeSignal, MAX_REST_MS, restUntilDue } from '../../src/automation/loop.ts'
import { repeat } from '../../src/repeat.ts'

const noErrors = (error: unknown) => {
  throw error
}

test('a loop rests only after a step that processed nothing', async () => {
  const stop = new AbortController()
  const calls: string[] = []
  const results = [2, 1, 0, 1, 0]
  await repeat(
    {
      name: 'test',
      runOnce: async () => {
        calls.push('run')
        return results.shift()!
      },
      rest: async () => {
        calls.push('rest')
        if (results.length === 0) stop.abort()
      },
    },
    { stopping: stop.signal, onError: noErrors },
  )
  assert.deepEqual(calls, ['run', 'run', 'run', 'rest', 'run', 'run', 'rest'])
})

test('a step that fails is reported, and the loop stops during the pause after it', async () => {
  const stop = new AbortController()
  const errors: unknown[] = []
  const onError = (error: unknown) => {
    errors.push(error)
    stop.abort()
  }
  const fault = new Error('a fault')
  const runOnce = () => Promise.reject(fault)
  await repeat({ name: 'test', runOnce, rest: noErrors }, { stopping: stop.signal, onError })
  assert.deepEqual(errors, [fault])
})

test('a hint ends the current rest, or the next one', async (t) => {
  // The clock stands still, so that only the hint can end a rest.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { signal } = new AbortController()
  const hint = new WakeSignal()
  let rests = 0
  const rest = async () => {
    void hint.wait(60_000, signal).then(() => (rests += 1))
    await setImmediate()
  }
  hint.wake()
  await rest()
  assert.equal(rests, 1, 'a hint before a rest')
  await rest()
  assert.equal(rests, 1, 'no hint')
  hint.wake()
  await setImmediate()
  assert.equal(rests, 2, 'a hint during a rest')
})

test('a rest ends when the next row is due, and is short while that row is locked', () => {
  const now = Temporal.Instant.from('2026-03-02T09:00:00Z')
  const claimedAt = now.subtract({ milliseconds: 5 })
  const rest = (next: Temporal.Instant | null) => restUntilDue({ next, claimedAt, now })
  assert.equal(rest(null), MAX_REST_MS)
  assert.equal(rest(now.add({ milliseconds: 40 })), 40)
  assert.equal(rest(now.add({ hours: 1 })), MAX_REST_MS)
  assert.equal(rest(now.subtract({ milliseconds: 2 })), 0)
  assert.equal(rest(claimedAt), 100)
})
