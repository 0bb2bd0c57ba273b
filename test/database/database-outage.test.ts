import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { openEmbedded } from '../../src/database/embedded.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { openDatabaseProxy } from '../support/database-proxy.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'

const KEY = 'operator-key-of-this-test'
const asOperator = { headers: { authorization: `Bearer ${KEY}` } }

test('the service answers 503 while the database is down, and recovers when it is back', async (t) => {
  const dataDir = temporaryFolder(t)
  const url = await startUnsupervisedServer(dataDir)
  cleanUpLater(t, () => endServer(dataDir, 'SIGINT'))
  const service = await startService(t, { DATABASE_URL: url, ADMIN_API_KEY: KEY })
  // The service is ready after the first iteration of its engine.
  await until(async () => (await statuses(service)).join() === '200,200,200')

  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    await endServer(dataDir, signal)
    // A backend may outlive its server for a moment, and answer once more.
    await until(async () => (await statuses(service)).join() === '200,503,503')
    assert.deepEqual(await statuses(service), [200, 503, 503])
    assert.ok(service.isRunning())
    await startUnsupervisedServer(dataDir)
    const tookMs = await until(async () => (await statuses(service)).join() === '200,200,200')
    assertWithin(t, { what: `ready again after ${signal}`, tookMs, limitMs: 3_000 })
  }
  assertOneLineASecond(service.stdout())
})

test('a connection that stops responding is noticed, and replaced as soon as a new one works', async (t) => {
  const embedded = await openEmbedded(temporaryFolder(t), 'command')
  cleanUpLater(t, () => embedded.stop())
  const proxy = await openDatabaseProxy(t, embedded.url)
  const service = await startService(t, { DATABASE_URL: proxy.url, ADMIN_API_KEY: KEY })
  // Several connections, so that more than one is dead afterwards.
  await Promise.all(Array.from({ length: 20 }, () => statuses(service)))

  proxy.stopForwarding()
  const startedAt = performance.now()
  const readiness = service.status('/readyz').then(() => performance.now() - startedAt)
  assert.deepEqual(await statuses(service), [200, 503, 503])
  const readinessMs = await readiness
  assertWithin(t, { what: 'readiness answered', tookMs: readinessMs, limitMs: 2_000 })
  const noticedMs = performance.now() - startedAt
  assertWithin(t, { what: 'outage noticed', tookMs: noticedMs, limitMs: 15_000 })
  assert.ok(service.isRunning())

  // Old connections stay dead; only new ones are forwarded.
  proxy.forwardNewConnections()
  const tookMs = await until(async () => (await statuses(service)).join() === '200,200,200')
  assertWithin(t, { what: 'ready again', tookMs, limitMs: 3_000 })
  const all = await Promise.all(Array.from({ length: 20 }, () => statuses(service)))
  assert.deepEqual(new Set(all.flat()), new Set([200]))
  const totalMs = performance.now() - startedAt
  assertWithin(t, { what: 'the whole outage', tookMs: totalMs, limitMs: 20_000 })
})

type Service = Awaited<ReturnType<typeof startService>>

const statuses = (service: Service) =>
  Promise.all([
    service.status('/healthz'),
    service.status('/readyz'),
    service.status('/business', asOperator),
  ])

function assertOneLineASecond(log: string) {
  const lines = log.split('\n').filter((line) => line.includes('"err"'))
  const errors = lines.map((line) => JSON.parse(line))
  const times = errors.map(({ time }) => Date.parse(time))
  assert.ok(times.length > 0)
  times.slice(1).forEach((time, i) => assert.ok(time - times[i]! >= 990, lines[i + 1]!))
  for (const { err } of errors) assert.notEqual(err.message, '')
}

/** A server that is not restarted, because the process that would restart it is killed. */
async function startUnsupervisedServer(dataDir: string) {
  const script = path.join(import.meta.dirname, '../support/open-embedded.ts')
  const holder = spawn(process.execPath, [script, dataDir, 'service'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'exit')
  const [url] = await Promise.race([once(holder.stdout, 'data'), ended])
  assert.equal(typeof url, 'object', 'the server did not start')
  holder.kill('SIGKILL')
  await ended
  return String(url).trim()
}

async function endServer(dataDir: string, signal: NodeJS.Signals) {
  const pid = Number.parseInt(fs.readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8'))
  process.kill(pid, signal)
  const state = () => spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`]).stdout.toString()
  await until(() => /^Z?$/.test(state().trim().slice(0, 1)))
}
