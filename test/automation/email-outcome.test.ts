import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideEmailEnding } from '../../src/automation/email-outcome.ts'
import type { Outcome } from '../../src/email/mailer.ts'
import type { ClaimedEmail } from '../../src/store/email-queue.ts'

const start = Temporal.Instant.from('2026-03-02T09:00:00Z')

const claimed: ClaimedEmail = {
  businessId: 1,
  emailId: 7,
  worker: 'w',
  eventTriggerId: 5,
  objectType: 'CALENDAR',
  objectId: 3,
  objectUUId: null,
  senderDomain: null,
  dailyMailLimit: null,
  timeZone: 'UTC',
  quietHours: null,
  toAddress: 'anna@example.org',
  message: Buffer.of(),
  messageId: '<7@example.org>',
  status: 'QUEUED',
  attempts: 0,
  workerDeaths: 0,
  uncertainAttempts: 0,
  lastAnswer: null,
  createdDate: start,
  businessActive: true,
  mailPaused: false,
  mailResumedTime: null,
  suppressed: null,
  eventDefnId: 2,
  anchorTime: start,
  scheduledTime: start,
  fireNow: false,
  isExpired: false,
}

type Answer = Extract<Outcome, { kind: 'retry' | 'uncertain' }>

/** Attempts a mail that always gets the same answer, until it ends. */
function attemptUntilEnded(times: Partial<ClaimedEmail>, outcome: Answer) {
  const mail = { ...claimed, ...times }
  let now = start
  const waits: number[] = []
  for (;;) {
    const ending = decideEmailEnding({ mail, outcome, unwanted: undefined }, now)
    if (!ending.nextAttemptTime) return { ending, waits, hours: now.since(start).total('hours') }
    waits.push(ending.nextAttemptTime.since(now).total('minutes'))
    now = ending.nextAttemptTime
    mail.attempts += 1
    if (outcome.kind === 'uncertain') mail.uncertainAttempts += 1
    mail.status = ending.status as ClaimedEmail['status']
  }
}

const busy: Answer = { kind: 'retry', phase: 'rcpt', reply: '451 busy' }

test('a mail is retried with a backoff of at most 30 minutes, for 72 hours', () => {
  const { ending, waits, hours } = attemptUntilEnded({}, busy)
  assert.deepEqual(waits.slice(0, 8), [1, 4, 9, 16, 25, 30, 30, 30])
  assert.ok(waits.every((wait) => wait <= 30))
  assert.equal(hours, 72)
  assert.equal(ending.status, 'FAILED')
  assert.equal(ending.statusReason, `gave up after ${waits.length + 1} attempts: 451 busy`)
})

test('a reminder before its anchor is retried until the anchor', () => {
  const { hours } = attemptUntilEnded({ anchorTime: start.add({ hours: 24 * 7 }) }, busy)
  assert.equal(hours, 24 * 7)
})

test('a late mail is retried for 72 hours from its scheduled time', () => {
  const late = { scheduledTime: start.subtract({ hours: 70 }), anchorTime: start }
  const { hours } = attemptUntilEnded({ ...late, anchorTime: late.scheduledTime }, busy)
  assert.equal(hours, 2)
})

test('a mail that a user sent is retried for 72 hours from its creation', () => {
  const none = { anchorTime: null, scheduledTime: null, fireNow: null, eventTriggerId: null }
  assert.equal(attemptUntilEnded(none, busy).hours, 72)
  const past = { fireNow: true, scheduledTime: start.subtract({ hours: 500 }) }
  assert.equal(attemptUntilEnded(past, busy).hours, 72)
})

test('a mail that the server may already have is sent again at most ten times', () => {
  const lost: Answer = { kind: 'uncertain', phase: 'end', reply: 'connection lost' }
  const { ending, waits } = attemptUntilEnded({}, lost)
  assert.equal(waits.length, 10)
  assert.equal(
    ending.statusReason,
    'it may have been delivered, and was not sent again: gave up after 11 attempts: connection lost',
  )
})
