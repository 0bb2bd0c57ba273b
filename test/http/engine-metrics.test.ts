import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createReconciler } from '../../src/automation/reconcile.ts'
import { checkIn, holdByHand } from '../../src/automation/restored.ts'
import { findLastReconciliation } from '../../src/store/reconciliation.ts'
import { startApp } from '../support/app.ts'
import { cloneDatabase } from '../support/database.ts'
import { manualClock } from '../support/clock.ts'
import { addBusiness, reminder } from '../support/world.ts'

test('the metrics contain the state of the queue and the findings of the last reconciliation', async (t) => {
  const { database } = await cloneDatabase(t)
  const clock = manualClock()
  const { engine: db } = database
  const parts = { db, now: () => clock.now(), worker: 'w', leaseSeconds: 10 }
  const { reconcile } = createReconciler(parts)
  const env = { METRICS_TOKEN: 'a-long-token-for-prometheus-0123456789' }
  const started = await startApp(t, { database, clock, env })
  const world = await addBusiness({ ...started, clock })
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1, seconds: 90 })
  while (!(await findLastReconciliation(db))) await reconcile()
  clock.advance({ seconds: 30 })

  const authorization = `Bearer ${env.METRICS_TOKEN}`
  const { body } = await started.app.inject({ url: '/metrics', headers: { authorization } })
  for (const line of [
    'bellwether_overdue_triggers 1',
    'bellwether_oldest_overdue_trigger_seconds 120',
    'bellwether_stuck_leases 0',
    'bellwether_given_up_triggers 0',
    'bellwether_late_triggers 0',
    'bellwether_missing_triggers 0',
    'bellwether_unfounded_triggers 0',
    'bellwether_doubled_triggers 0',
    'bellwether_stopped_definitions 0',
    'bellwether_reconciliation_age_seconds 30',
    'bellwether_restore_held 0',
  ]) {
    assert.ok(body.includes(`\n${line}\n`), line)
  }
  await checkIn(database.operator, { lastSeen: undefined, folder: undefined })
  await holdByHand(database.operator, clock.now())
  const later = await startApp(t, { database, clock, env })
  const held = await later.app.inject({ url: '/metrics', headers: { authorization } })
  assert.match(held.body, /^bellwether_restore_held 1$/m)
})

test('the metrics name the build, the connections and the disk, and counters exist from the start', async (t) => {
  const env = { METRICS_TOKEN: 'a-long-token-for-prometheus-0123456789' }
  const { app } = await startApp(t, { env })
  const authorization = `Bearer ${env.METRICS_TOKEN}`
  const { body } = await app.inject({ url: '/metrics', headers: { authorization } })
  for (const line of [
    /^bellwether_build_info\{version="\d[^"]+",node="26[^"]+"\} 1$/m,
    /^bellwether_database_connections\{pool="app",state="busy"\} 0$/m,
    /^bellwether_database_connections\{pool="app",state="max"\} 5$/m,
    /^bellwether_database_connection_waiters\{pool="reports"\} 0$/m,
    /^bellwether_database_disk_full 0$/m,
    /^nodejs_eventloop_lag_p99_seconds \S+$/m,
    /^bellwether_triggers_ended_total\{status="COMPLETED"\} \d+$/m,
    /^bellwether_emails_ended_total\{status="CAPTURED"\} \d+$/m,
    /^bellwether_smtp_attempts_total\{outcome="unavailable",phase="connect"\} \d+$/m,
  ]) {
    assert.match(body, line)
  }
})

test('without a read replica its metrics are absent, so that its alert does not fire', async (t) => {
  const env = { METRICS_TOKEN: 'a-long-token-for-prometheus-0123456789' }
  const { app } = await startApp(t, { env })
  const authorization = `Bearer ${env.METRICS_TOKEN}`
  const { body } = await app.inject({ url: '/metrics', headers: { authorization } })
  assert.match(body, /^# HELP bellwether_replica_up /m)
  assert.doesNotMatch(body, /^bellwether_replica_/m)
})

test('the sample alerts and the dashboard name only metrics that exist', async (t) => {
  const env = { METRICS_TOKEN: 'a-long-token-for-prometheus-0123456789' }
  const { app } = await startApp(t, { env })
  const authorization = `Bearer ${env.METRICS_TOKEN}`
  const { body } = await app.inject({ url: '/metrics', headers: { authorization } })
  const known = new Set([...body.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name))
  const folder = path.join(import.meta.dirname, '../../docs/operate')
  for (const file of ['alerts.yml', 'grafana-dashboard.json']) {
    const text = readFileSync(path.join(folder, file), 'utf8')
    const named = [...text.matchAll(/bellwether_\w+/g)].map(([name]) =>
      name.replace(/_(?:bucket|count|sum)$/, ''),
    )
    assert.ok(named.length > 5)
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
      file,
    )
  }
})
