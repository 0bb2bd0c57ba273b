import { Counter, Histogram, Registry } from 'prom-client'
import type { Findings } from '../../automation/reconcile.ts'
import { isFinal, TRIGGER_STATUSES } from '../../contract/event-trigger.ts'
import { PHASES } from '../../email/mailer.ts'
import { findLastReconciliation, type LastReconciliation } from '../../store/reconciliation.ts'
import { findHold, type RestoreHold } from '../../store/installation.ts'
import { readQueueHealth, type QueueHealth } from '../../store/queue-health.ts'
import type { MailServerState } from '../../store/mail-servers.ts'
import type { Services } from '../server/services.ts'
import { addGauge } from './gauges.ts'
import { readMailServer } from './waiting-emails.ts'

const ended = new Counter({
  name: 'bellwether_triggers_ended_total',
  help: 'Triggers that this node finished, by status.',
  labelNames: ['status'],
})
const lateness = new Histogram({
  name: 'bellwether_trigger_lateness_seconds',
  help: 'How long after their scheduled time this node handled triggers.',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 600, 3600, 86_400],
})

const emailsEnded = new Counter({
  name: 'bellwether_emails_ended_total',
  help: 'Mails that this node ended, by status.',
  labelNames: ['status'],
})
const ENDED_EMAILS = ['SENT', 'CAPTURED', 'FAILED', 'SUPPRESSED', 'CANCELLED']

const smtpAttempts = new Counter({
  name: 'bellwether_smtp_attempts_total',
  help: 'Answers of the mail server to this node, by outcome and by the phase of the SMTP dialogue.',
  labelNames: ['outcome', 'phase'],
})
const ATTEMPT_OUTCOMES = ['sent', 'retry', 'failed', 'uncertain', 'unavailable']

// From zero: Prometheus does not count the first value of a counter as an increase.
for (const status of TRIGGER_STATUSES.filter(isFinal)) ended.inc({ status }, 0)
for (const status of ENDED_EMAILS) emailsEnded.inc({ status }, 0)
for (const outcome of ATTEMPT_OUTCOMES) {
  for (const phase of PHASES) smtpAttempts.inc({ outcome, phase }, 0)
}

export function measureEmailsEnded(statuses: string[]) {
  for (const status of statuses) emailsEnded.inc({ status })
}

export const measureAttempt = ({ kind, phase }: { kind: string; phase: string }) =>
  smtpAttempts.inc({ outcome: kind, phase })

/** Counts the outcomes of a batch. */
export function measureEndings(
  endings: { status: string; scheduledTime: Temporal.Instant }[],
  now: Temporal.Instant,
) {
  for (const { status, scheduledTime } of endings) {
    ended.inc({ status })
    lateness.observe((now.epochMilliseconds - scheduledTime.epochMilliseconds) / 1000)
  }
}

type Measured = {
  health: QueueHealth
  reconciliation: LastReconciliation<Findings> | undefined
  hold: RestoreHold | undefined
  /** Undefined if mails are captured, or none was sent yet. */
  mailServer: MailServerState | undefined
  now: Temporal.Instant
}

/** All gauges, each with its help text and its source. */
const GAUGES: [name: string, help: string, value: (measured: Measured) => number | undefined][] = [
  [
    'overdue_triggers',
    'Triggers that should have fired more than a second ago (at most 100000 are counted).',
    ({ health }) => health.overdue,
  ],
  [
    'oldest_overdue_trigger_seconds',
    'How long ago the oldest overdue trigger was due.',
    ({ health, now }) => since(health.oldestOverdue, now),
  ],
  [
    'stuck_leases',
    'Claimed triggers whose lease has expired and that no other node has taken over.',
    ({ health }) => health.stuckLeases,
  ],
  [
    'unplanned_definitions',
    'Saved definitions whose triggers are still being planned.',
    ({ health }) => health.unplanned,
  ],
  [
    'oldest_unplanned_definition_seconds',
    'How long ago the oldest unplanned definition was saved.',
    ({ health, now }) => since(health.oldestUnplanned, now),
  ],
  [
    'given_up_triggers',
    'Triggers of the last 7 days that were given up: FAILED after too many failed attempts.',
    ({ health }) => health.gaveUp,
  ],
  [
    'late_triggers',
    'Triggers of the last 24 hours that ended more than a minute late.',
    ({ health }) => health.late,
  ],
  [
    'expired_triggers',
    'Triggers of the last 24 hours that were EXPIRED because the service was away or too late.',
    ({ health }) => health.expired,
  ],
  [
    'most_late_trigger_seconds',
    'The highest lateness of late and expired triggers.',
    ({ health }) => health.mostLateSeconds,
  ],
  [
    'missing_triggers',
    'Objects that match an active reminder definition but have no trigger for it.',
    ({ reconciliation }) => reconciliation?.findings.missing,
  ],
  [
    'unfounded_triggers',
    'Pending triggers that no active definition requires.',
    ({ reconciliation }) => reconciliation?.findings.unfounded,
  ],
  [
    'doubled_triggers',
    'Triggers with the same definition, object and time as another one.',
    ({ reconciliation }) => reconciliation?.findings.doubled,
  ],
  [
    'stopped_definitions',
    'Active definitions that stopped matching objects.',
    ({ reconciliation }) => reconciliation?.findings.stoppedMatching,
  ],
  [
    'reconciliation_age_seconds',
    'How long ago the last reconciliation of all definitions ended.',
    ({ reconciliation, now }) => reconciliation && since(reconciliation.endedAt, now),
  ],
  [
    'operator_problems',
    'Failures that only the operator can fix, such as a DKIM key that cannot sign. Mails wait for them.',
    ({ health }) => health.operatorProblems,
  ],
  [
    'emails_waiting',
    'Mails in the queue, without those above a daily limit, in quiet hours, and of businesses whose mail is paused (at most 100000 are counted).',
    ({ health }) => health.emailsWaiting,
  ],
  [
    'oldest_waiting_email_seconds',
    'How long ago the oldest of these mails was made.',
    ({ health, now }) => since(health.oldestWaitingEmail, now),
  ],
  [
    'emails_above_daily_limit',
    'Mails that wait for the next day, because their business has reached its dailyMailLimit.',
    ({ health }) => health.emailsAboveLimit,
  ],
  [
    'paused_businesses',
    'Businesses whose mail is paused.',
    ({ health }) => health.pausedBusinesses,
  ],
  [
    'restore_held',
    'Whether the database was restored and is held: nothing is sent until a person releases it.',
    ({ hold }) => (hold ? 1 : 0),
  ],
  [
    'smtp_up',
    'Whether the mail server takes mails: 0 while delivery is paused. Absent without SMTP_URL.',
    ({ mailServer }) => mailServer && (mailServer.outage ? 0 : 1),
  ],
  [
    'last_accepted_email_age_seconds',
    'How long ago the mail server last accepted a mail.',
    ({ mailServer, now }) =>
      mailServer?.lastAcceptedTime ? since(mailServer.lastAcceptedTime, now) : undefined,
  ],
]

const MAX_PROVIDERS = 50

const PROVIDERS = {
  name: 'smtp_provider_concurrent_emails',
  help: 'How many mails at a time a throttled recipient domain gets from this node. Absent if it is not throttled.',
  labelNames: ['provider'],
}

type MeasuredServices = Pick<Services, 'config' | 'database' | 'clock' | 'throttledProviders'>

/** Gauges that are read from the database when Prometheus scrapes. */
export function engineMetrics(services: MeasuredServices): Registry {
  const { config, database, clock } = services
  const registry = new Registry()
  addGauge(registry, PROVIDERS, (gauge) => {
    const throttled = services.throttledProviders?.() ?? []
    for (const { provider, concurrent } of throttled.slice(0, MAX_PROVIDERS))
      gauge.set({ provider }, concurrent)
  })
  const measure = cacheBriefly(async (): Promise<Measured> => {
    const now = clock.now()
    const [health, reconciliation, mailServer, hold] = await Promise.all([
      readQueueHealth(database.engine, now, config.leaseSeconds),
      findLastReconciliation<Findings>(database.engine),
      readMailServer(services),
      findHold(database.engine),
    ])
    return { health, reconciliation, mailServer, hold, now }
  })
  for (const [name, help, value] of GAUGES) {
    addGauge(registry, { name, help }, async (gauge) => {
      // Without a database connection the other metrics are still served.
      const measured = await measure().catch(() => undefined)
      const number = measured && value(measured)
      if (number !== undefined) gauge.set(number)
    })
  }
  return registry
}

const since = (moment: Temporal.Instant | null, now: Temporal.Instant) =>
  moment ? (now.epochMilliseconds - moment.epochMilliseconds) / 1000 : 0

const CACHED_MS = 5_000

/** All gauges of a scrape share one read of the database. */
export function cacheBriefly<T>(read: () => Promise<T>, ms = CACHED_MS) {
  let reading: Promise<T> | undefined
  return () => {
    if (!reading) {
      reading = read()
      const forget = () => (reading = undefined)
      reading.then(() => setTimeout(forget, ms).unref(), forget)
    }
    return reading
  }
}
