import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import {
  endServer,
  openAddress,
  runStatement,
  startPrimary,
  startStandby,
} from '../support/server.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'

const KEY = 'operator-key-of-this-test'
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
const business = JSON.stringify({ name: 'Harbour Clinic', timeZone: 'Europe/Berlin' })

type Service = Awaited<ReturnType<typeof startService>>

/** Readiness, a read and a write. */
const statuses = (service: Service) =>
  Promise.all([
    service.status('/readyz'),
    service.status('/business', { headers }),
    service.status('/business', { method: 'POST', headers, body: business }),
  ])

const isBack = async (service: Service) => (await statuses(service)).join() === '200,200,201'

test('the service answers 503 while the server is read-only, and recovers within 5 s after the address leads to the new primary', async (t) => {
  const old = await startPrimary(t)
  const next = await startStandby(t, old)
  const address = await openAddress(t, old)
  const service = await startService(t, { DATABASE_URL: address.url, ADMIN_API_KEY: KEY })
  await until(() => isBack(service))
  // Several connections, so that more than one leads to the old primary afterwards.
  await Promise.all(Array.from({ length: 20 }, () => statuses(service)))

  await runStatement(old, 'alter system set default_transaction_read_only = on')
  await runStatement(old, 'select pg_reload_conf()')
  await until(async () => (await statuses(service)).join() === '503,503,503')
  await runStatement(next, 'select pg_promote()')
  assert.equal(await service.status('/readyz'), 503)

  address.leadTo(next)
  // Every connection of the pool, not only the one that a single request takes.
  const tookMs = await until(async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => statuses(service)))
    return all.flat().every((status) => status < 300)
  })
  assertWithin(t, { what: 'recovery', tookMs, limitMs: 5_000 })
  assert.ok(service.isRunning())
})

test('a start on a standby prints one clear line and exits with 2', async (t) => {
  const standby = await startStandby(t, await startPrimary(t))
  for (const word of ['serve', 'migrate', 'doctor']) {
    const { code, stderr } = await runCommand([word], { DATABASE_URL: standby.url })
    assert.match(stderr, /^The database at localhost accepts no writes: it is a standby[^\n]*\n$/)
    assert.equal(code, 2)
  }
})

test('the primary is found among several hosts in DATABASE_URL, also after a failover', async (t) => {
  const old = await startPrimary(t)
  const standby = await startStandby(t, old)
  const [first, second] = [await openAddress(t, standby), await openAddress(t, old)]
  const hosts = `${first.host},${second.host}`
  const DATABASE_URL = `postgres://bellwether@${hosts}/postgres?target_session_attrs=read-write`
  const service = await startService(t, { DATABASE_URL, ADMIN_API_KEY: KEY })
  await until(() => isBack(service))

  await endServer(old, 'SIGQUIT')
  assert.deepEqual(await statuses(service), [503, 503, 503])
  await runStatement(standby, 'select pg_promote()')
  const tookMs = await until(() => isBack(service))
  assertWithin(t, { what: 'recovery', tookMs, limitMs: 5_000 })
})

test('a start on hosts of which none accepts writes prints one clear line and exits with 2', async (t) => {
  const standby = await startStandby(t, await startPrimary(t))
  const { host } = await openAddress(t, standby)
  const DATABASE_URL = `postgres://bellwether@${host},127.0.0.1:1/postgres`
  const { code, stderr } = await runCommand(['migrate'], { DATABASE_URL })
  assert.match(stderr, /^The database at 127[^\n]*, 127\.0\.0\.1:1 accepts no writes: [^\n]*\n$/)
  assert.equal(code, 2)
})
