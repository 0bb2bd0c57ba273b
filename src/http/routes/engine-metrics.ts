import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Findings } from '../../automation/reconcile.ts'
import { findLastReconciliation, type LastReconciliation } from '../../store/reconciliation.ts'
import { readQueueHealth, type QueueHealth } from '../../store/queue-health.ts'
import type { Services } from '../server/services.ts'

const ended = new Counter({
  name: 'bellwether_triggers_ended_total',
  help: 'Triggers that this node dealt with, by what became of them.',
  labelNames: ['status'],
})
const lateness = new Histogram({
  name: 'bellwether_trigger_lateness_seconds',
  help: 'How long after their time triggers were dealt with by this node.',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 600, 3600, 86_400],
})

/** Counts what a batch came to. */
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
  now: Temporal.Instant
}

/** Every gauge, its words and where its number comes from. */
const GAUGES: [name: string, help: string, value: (measured: Measured) => number | undefined][] = [
  [
    'overdue_triggers',
    'Triggers that should have fired more than a second ago (at most 100000 are counted).',
    ({ health }) => health.overdue,
  ],
  [
    'oldest_overdue_trigger_seconds',
    'How long the oldest overdue trigger has been waiting.',
    ({ health, now }) => since(health.oldestOverdue, now),
  ],
  [
    'stuck_leases',
    'Triggers whose node is gone and that no other took over.',
    ({ health }) => health.stuckLeases,
  ],
  [
    'unplanned_definitions',
    'Saved definitions whose triggers are still being planned.',
    ({ health }) => health.unplanned,
  ],
  [
    'oldest_unplanned_definition_seconds',
    'How long ago the oldest of these was saved.',
    ({ health, now }) => since(health.oldestUnplanned, now),
  ],
  [
    'set_aside_triggers',
    'Triggers of the last 7 days that were given up because their attempts failed.',
    ({ health }) => health.gaveUp,
  ],
  [
    'late_triggers',
    'Triggers of the last 24 hours that were dealt with more than a minute late.',
    ({ health }) => health.late,
  ],
  [
    'expired_triggers',
    'Triggers of the last 24 hours that came too late to be of use.',
    ({ health }) => health.expired,
  ],
  [
    'most_late_trigger_seconds',
    'How late the latest of both was.',
    ({ health }) => health.mostLateSeconds,
  ],
  [
    'missing_triggers',
    'Objects that match an active reminder and have no trigger for it.',
    ({ reconciliation }) => reconciliation?.findings.missing,
  ],
  [
    'unfounded_triggers',
    'Pending triggers that nothing asks for.',
    ({ reconciliation }) => reconciliation?.findings.unfounded,
  ],
  [
    'doubled_triggers',
    'Triggers beside another one for the same definition, object and time.',
    ({ reconciliation }) => reconciliation?.findings.doubled,
  ],
  [
    'silent_definitions',
    'Active definitions that took up objects before and no longer do.',
    ({ reconciliation }) => reconciliation?.findings.stoppedMatching,
  ],
  [
    'watch_round_age_seconds',
    'How long ago the last reconciliation of all definitions ended.',
    ({ reconciliation, now }) => reconciliation && since(reconciliation.endedAt, now),
  ],
]

/** What is measured when it is asked for: the queue, and the findings of the last reconciliation. */
export function engineMetrics({ database, clock }: Services): Registry {
  const registry = new Registry()
  const measure = rarely(async (): Promise<Measured> => {
    const now = clock.now()
    const [health, reconciliation] = await Promise.all([
      readQueueHealth(database.engine, now),
      findLastReconciliation<Findings>(database.engine),
    ])
    return { health, reconciliation, now }
  })
  for (const [name, help, value] of GAUGES) {
    const gauge = new Gauge({
      name: `bellwether_${name}`,
      help,
      registers: [],
      async collect() {
        this.remove()
        // Without a database the rest is still worth telling.
        const measured = await measure().catch(() => undefined)
        const number = measured && value(measured)
        if (number !== undefined) this.set(number)
      },
    })
    registry.registerMetric(gauge)
  }
  return registry
}

const since = (moment: Temporal.Instant | null, now: Temporal.Instant) =>
  moment ? (now.epochMilliseconds - moment.epochMilliseconds) / 1000 : 0

const REMEMBERED_MS = 5_000

/** All gauges of a scrape share one reading, and two scrapes in a row too. */
function rarely<T>(read: () => Promise<T>) {
  let reading: Promise<T> | undefined
  return () => {
    if (!reading) {
      reading = read()
      const forget = () => (reading = undefined)
      reading.then(() => setTimeout(forget, REMEMBERED_MS).unref(), forget)
    }
    return reading
  }
}
