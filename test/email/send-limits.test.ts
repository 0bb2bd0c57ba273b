import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksForPause, ProviderLimits, type SendResult } from '../../src/email/send-limits.ts'

const MINUTE = 60_000

/** The limits of one provider, and a function that sends one mail at a time. */
function startProvider() {
  const limits = new ProviderLimits({ '*': { concurrent: 20, perSecond: 1_000 } })
  const send = (now: number, left: SendResult) => {
    assert.equal(limits.enter('gmail.com', now), 0)
    limits.leave('gmail.com')
    limits.note('gmail.com', now, left)
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

test('deferrals that are spread over time do not pause a domain', () => {
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

test('a domain that defers no mail for an hour is no longer throttled', () => {
  const { limits, send } = startProvider()
  for (let i = 0; i < 5; i += 1) send(i, 'deferred')
  for (let i = 0; i < 9; i += 1) send(10 + i, 'accepted')
  const throttled = { provider: 'gmail.com', concurrent: 1, maxConcurrent: 20 }
  assert.deepEqual(limits.throttled(59 * MINUTE), [throttled])
  assert.deepEqual(limits.throttled(61 * MINUTE), [])
})

test('a domain is remembered for an hour after its pause, so that the next pause is longer', () => {
  const { limits, send } = startProvider()
  let now = 0
  for (const minutes of [5, 10, 20, 40, 60, 60]) {
    for (let i = 0; i < 5; i += 1) send((now += 10), 'paused')
    assert.equal(limits.pausedMs('gmail.com', now), minutes * MINUTE)
    now += (minutes + 50) * MINUTE
    limits.throttled(now)
  }
})

test('the most throttled domains are listed first', () => {
  const limits = new ProviderLimits({ '*': { concurrent: 20, perSecond: 1_000 } })
  const defer = (domain: string, times: number) => {
    for (let i = 0; i < times; i += 1) {
      assert.equal(limits.enter(domain, i * 10), 0)
      limits.leave(domain)
      limits.note(domain, i * 10, 'deferred')
    }
  }
  defer('a.example', 1)
  defer('b.example', 4)
  defer('c.example', 2)
  assert.deepEqual(
    limits.throttled(100).map(({ provider }) => provider),
    ['b.example', 'c.example', 'a.example'],
  )
})

test('replies that ask for a pause are recognised', () => {
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
