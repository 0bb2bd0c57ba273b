import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksForPause, ProviderLimits, type Left } from '../../src/email/send-limits.ts'

const MINUTE = 60_000

/** A provider to which mails are sent one after the other. */
function startProvider() {
  const limits = new ProviderLimits({ '*': { concurrent: 20, perSecond: 1_000 } })
  const send = (now: number, left: Left) => {
    assert.equal(limits.enter('gmail.com', now), 0)
    limits.leave('gmail.com', now, left)
  }
  return { limits, send }
}

test('a burst of deferrals pauses a recipient domain, and no other', () => {
  const { limits, send } = startProvider()
  for (let i = 0; i < 4; i += 1) send(i * 100, 'paused')
  assert.equal(limits.pausedMs('gmail.com', 400), 0)
  send(400, 'paused')
  assert.equal(limits.pausedMs('gmail.com', 400), 5 * MINUTE)
  assert.equal(limits.pausedMs('gmail.com', 400 + 5 * MINUTE), 0)
  assert.equal(limits.pausedMs('gmx.net', 400), 0)
  assert.deepEqual(limits.throttled(400), [
    { provider: 'gmail.com', concurrent: 0, maxConcurrent: 20 },
  ])
})

test('deferrals that are spread over time do not pause it', () => {
  const { limits, send } = startProvider()
  for (let i = 0; i < 50; i += 1) send(i * 0.4 * MINUTE, 'paused')
  assert.equal(limits.pausedMs('gmail.com', 20 * MINUTE), 0)
})

test('each further pause is twice as long, up to an hour, until a mail is accepted', () => {
  const { limits, send } = startProvider()
  let now = 0
  const pauses = () => {
    for (let i = 0; i < 5; i += 1) send((now += 10), 'paused')
    const ms = limits.pausedMs('gmail.com', now)
    now += ms
    return ms / MINUTE
  }
  assert.deepEqual([pauses(), pauses(), pauses(), pauses(), pauses()], [5, 10, 20, 40, 60])
  send((now += 10), 'accepted')
  assert.equal(pauses(), 5)
})

test('replies that ask for a pause are told from others', () => {
  for (const reply of [
    '421 try later',
    '421-4.7.0 slow',
    '450 4.7.1 greylisted',
    '451 4.7.28 rate',
  ])
    assert.equal(asksForPause(reply), true, reply)
  for (const reply of [
    '451 4.3.0 busy',
    '450 mailbox busy',
    '550 5.7.1 no',
    'no answer within 60 s',
  ])
    assert.equal(asksForPause(reply), false, reply)
})
