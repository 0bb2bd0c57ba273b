import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { findProgram, skipLoudly } from '../support/programs.ts'

const FILE = path.join(import.meta.dirname, '../../docs/operate/alerts.yml')

/** Values an interval apart: `0+1x60` is 0, 1, 2 … 60. */
type Series = Record<string, string>
type Case = {
  fires: Series
  silent: Series
  /** When both are evaluated. */
  at: string
  /** Between two values, and between two evaluations; default: a minute. */
  interval?: string
  /** Labels of the alert in addition to its severity. */
  labels?: Record<string, string>
}

const ended = (status: string) => `bellwether_emails_ended_total{status="${status}"}`
const attempts = (outcome: string) =>
  `bellwether_smtp_attempts_total{outcome="${outcome}",phase="rcpt"}`
const feeds = (mode: string, health: string) =>
  `bellwether_feeds{mode="${mode}",health="${health}"}`
const pulls = (result: string) => `bellwether_feed_pulls_total{source="CALDAV",result="${result}"}`
const node = { job: 'bellwether', instance: 'one' }

/** A gauge that stays at the first value for all minutes, and one that stays at the second. */
const gauge = (name: string, fires: number, silent: number, at = '10m'): Case => ({
  fires: { [name]: `${fires}+0x20` },
  silent: { [name]: `${silent}+0x20` },
  at,
})

const CASES: Record<string, Case> = {
  BellwetherDown: { ...gauge('up{job="bellwether",instance="one"}', 0, 1), labels: node },
  BellwetherWithoutDatabase: {
    fires: {},
    silent: { bellwether_overdue_triggers: '0+0x20' },
    at: '10m',
  },
  BellwetherDiskFull: gauge('bellwether_database_disk_full', 1, 0),
  BellwetherDiskNearlyFull: {
    fires: {
      'bellwether_disk_bytes{instance="one",state="free"}': '9+0x20',
      'bellwether_disk_bytes{instance="one",state="total"}': '100+0x20',
    },
    silent: {
      'bellwether_disk_bytes{instance="one",state="free"}': '11+0x20',
      'bellwether_disk_bytes{instance="one",state="total"}': '100+0x20',
    },
    at: '15m',
    labels: { instance: 'one' },
  },
  BellwetherRestoredAndHeld: gauge('bellwether_restore_held', 1, 0, '15m'),
  BellwetherConnectionsExhausted: {
    ...gauge('bellwether_database_connection_waiters{pool="app"}', 3, 0),
    labels: { pool: 'app' },
  },
  BellwetherReplicaNotUsed: gauge('bellwether_replica_up', 0, 1, '15m'),
  BellwetherEventLoopBlocked: gauge('nodejs_eventloop_lag_p99_seconds{job="bellwether"}', 2, 0.1),
  BellwetherMailNotSent: {
    fires: { [ended('CAPTURED')]: '0 0 3+0x20' },
    silent: { [ended('CAPTURED')]: '0+0x20', [ended('SENT')]: '0+5x20' },
    at: '10m',
  },
  BellwetherMailServerDown: {
    fires: { bellwether_smtp_up: '1 0+0x20' },
    silent: { bellwether_smtp_up: '1 0+0x3 1+0x20' },
    at: '10m',
  },
  BellwetherMailWaits: gauge('bellwether_oldest_waiting_email_seconds', 3700, 3500),
  BellwetherNothingAccepted: {
    fires: { [attempts('retry')]: '0+1x70', [attempts('sent')]: '0+0x70' },
    silent: { [attempts('retry')]: '0+1x70', [attempts('sent')]: '0+0x50 1+0x20' },
    at: '65m',
  },
  BellwetherMailRefused: {
    fires: { [ended('FAILED')]: '0+1x70', [ended('SENT')]: '0+3x70' },
    silent: { [ended('FAILED')]: '0+1x70', [ended('SENT')]: '0+5x70' },
    at: '65m',
  },
  BellwetherProviderThrottled: {
    fires: { 'bellwether_smtp_provider_concurrent_emails{provider="mail.example"}': '1+0x80' },
    silent: { 'bellwether_smtp_provider_concurrent_emails{provider="mail.example"}': '2+0x80' },
    at: '70m',
    labels: { provider: 'mail.example' },
  },
  BellwetherBusinessPaused: {
    fires: { bellwether_paused_businesses: '1+0x80' },
    silent: { bellwether_paused_businesses: '1+0x70 0+0x10' },
    at: '73h',
    interval: '1h',
  },
  BellwetherTriggersOverdue: gauge('bellwether_oldest_overdue_trigger_seconds', 61, 60),
  BellwetherOperatorProblem: gauge('bellwether_operator_problems', 1, 0),
  BellwetherStuckLeases: gauge('bellwether_stuck_leases', 1, 0),
  BellwetherWrongTriggers: {
    fires: {
      bellwether_missing_triggers: '0+0x20',
      bellwether_unfounded_triggers: '1+0x20',
      bellwether_doubled_triggers: '0+0x20',
    },
    silent: {
      bellwether_missing_triggers: '0+0x20',
      bellwether_unfounded_triggers: '0+0x20',
      bellwether_doubled_triggers: '0+0x20',
    },
    at: '15m',
  },
  BellwetherFeedsLate: {
    fires: { [feeds('LIVE', 'LATE')]: '1+0x30' },
    silent: { [feeds('LIVE', 'LATE')]: '1+0x10', [feeds('PAUSED', 'LATE')]: '1+0x30' },
    at: '20m',
  },
  BellwetherFeedKeyMissing: {
    fires: { [feeds('SHADOW', 'KEY_MISSING')]: '1+0x20' },
    silent: { [feeds('PAUSED', 'KEY_MISSING')]: '1+0x20', [feeds('LIVE', 'OK')]: '3+0x20' },
    at: '10m',
  },
  BellwetherFeedNeedsAttention: {
    fires: { [feeds('LIVE', 'NEEDS_LOGIN')]: '2+0x200', [feeds('LIVE', 'OK')]: '3+0x200' },
    silent: { [feeds('LIVE', 'NEEDS_LOGIN')]: '2+0x170 0+0x30' },
    at: '185m',
    labels: { health: 'NEEDS_LOGIN' },
  },
  BellwetherFeedPullsFail: {
    fires: { [pulls('failed')]: '0+1x70', [pulls('ok')]: '5+0x70' },
    silent: { [pulls('failed')]: '0+1x70', [pulls('ok')]: '5+0x50 6+0x20' },
    at: '65m',
  },
  BellwetherFeedSilent: gauge('bellwether_feed_last_success_age_seconds', 259_201, 259_200, '15m'),
  BellwetherFeedDifferences: {
    fires: { bellwether_feed_differences: '101+0x30' },
    silent: { bellwether_feed_differences: '100+0x30' },
    at: '26h',
    interval: '1h',
  },
}

const rules = fs.readFileSync(FILE, 'utf8')
const severities = new Map(
  [...rules.matchAll(/- alert: (\w+)$[^]*?severity: (\w+)/gm)].map(([, name, severity]) => [
    name!,
    severity!,
  ]),
)

test('every alert has a case that fires it and one that does not', () => {
  assert.deepEqual([...severities.keys()].toSorted(), Object.keys(CASES).toSorted())
})

test('each alert fires in its case, and not in the other', (t) => {
  const promtool = findProgram('promtool')
  if (!promtool) return skipLoudly(t, 'promtool, of Debian\u2019s package prometheus, is missing')
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args)
    assert.equal(status, 0, `${stdout}${stderr}`)
  }
  run('check', 'rules', FILE)
  const folder = temporaryFolder(t)
  // A case would have to repeat the annotations.
  const bare = rules.replaceAll(/^ {8}annotations:\n(?: {10}.*\n)+/gm, '')
  fs.writeFileSync(path.join(folder, 'alerts.yml'), bare)
  // One file for each interval.
  const byInterval = Map.groupBy(Object.entries(CASES), ([, { interval = '1m' }]) => interval)
  const files = [...byInterval].map(([interval, cases]) => {
    const tests = cases.flatMap(([alertname, { fires, silent, at, labels }]) => {
      const expected = { exp_labels: { severity: severities.get(alertname)!, ...labels } }
      const caseOf = (series: Series, alerts: object[]) => ({
        interval,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: at, alertname, exp_alerts: alerts }],
      })
      return [caseOf(fires, [expected]), caseOf(silent, [])]
    })
    const file = path.join(folder, `every-${interval}.yml`)
    const text = { rule_files: ['alerts.yml'], evaluation_interval: interval, tests }
    fs.writeFileSync(file, JSON.stringify(text))
    return file
  })
  run('test', 'rules', ...files)
})
