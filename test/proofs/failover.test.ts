import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { temporaryFolder } from '../support/folder.ts'
import { debianPrograms } from '../support/installed-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startCluster } from '../support/patroni.ts'
import { needProgram, skipLoudly } from '../support/programs.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { account, countOpen } from './account.ts'
import { openClinic } from './clinic.ts'
import { EMPTY_QUEUES_MS, isFull } from './random.ts'

/**
 * Four nodes book, fire and send while the primary of a real cluster is killed and switched. Every booking
 * that was answered with 201 exists afterwards; every mail arrived once, or is marked as uncertain.
 */
const SWITCHES = Number(process.env.PROOF_SWITCHES ?? 20)
/** The same with asynchronous replication, to measure what that loses. */
const SWITCHES_ASYNC = Number(process.env.PROOF_SWITCHES_ASYNC ?? 5)
const NODES = 4
const CALLERS = 8
const MAX_BACK_MS = 30_000
const ADMIN_API_KEY = 'operator-key-of-this-proof-0123456789'

test('kills and switchovers of the primary of a synchronous cluster lose nothing', async (t) => {
  const found = await runSwitches(t, { isSynchronous: true, switches: SWITCHES })
  if (!found) return
  assert.deepEqual(found.lost, [])
  assert.deepEqual(found.faults, [])
  assert.deepEqual(found.unmarkedDoubles, [])
  assert.deepEqual(found.strangeMails, [], 'mails that the database does not know')
  assert.deepEqual(found.missingMails, [], 'mails that are SENT and did not arrive')
  assert.ok(
    found.backMs.every((ms) => ms <= MAX_BACK_MS),
    `back after ${found.backMs.join()} ms`,
  )
})

test('a cluster with asynchronous replication: what kills lose is measured', async (t) => {
  const found = await runSwitches(t, { isSynchronous: false, switches: SWITCHES_ASYNC })
  if (!found) return
  assert.deepEqual(found.faults, [])
})

async function runSwitches(
  t: TestContext,
  { isSynchronous, switches }: { isSynchronous: boolean; switches: number },
) {
  const bin = debianPrograms()
  if (!isFull) return void t.skip('it takes many minutes; "npm run proof:failover" runs it')
  if (!bin) return void skipLoudly(t, 'PostgreSQL of Debian is missing')
  for (const [name, debianPackage] of [
    ['patroni', 'patroni'],
    ['etcd', 'etcd-server'],
    ['haproxy', 'haproxy'],
  ] as const) {
    if (!needProgram(t, name, debianPackage)) return undefined
  }
  const cluster = await startCluster(t, { bin, isSynchronous })
  const mail = await startMailServer(t)
  const startNode = () =>
    startService(t, {
      DATABASE_URL: cluster.url,
      DATA_DIR: temporaryFolder(t),
      ADMIN_API_KEY,
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: 'clinic@example.org',
      RATE_LIMIT: '100000/s,100000',
      LOG_LEVEL: 'warn',
    })
  const nodes = [await startNode()]
  while (nodes.length < NODES) nodes.push(await startNode())
  const clinic = await openClinic(nodes[0]!.base, ADMIN_API_KEY)

  const acknowledged: string[] = []
  let refused = 0
  let isOver = false
  const book = async (base: string, externalId: string) => {
    const status = await clinic.book(base, externalId).catch(() => 0)
    if (status === 201) acknowledged.push(externalId)
    else refused += 1
    return status === 201
  }
  const call = async (caller: number) => {
    for (let n = 0; !isOver; n += 1) {
      await book(nodes[(caller + n) % NODES]!.base, `${caller}-${n}`)
      await sleep(50)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, caller) => call(caller))
  t.after(() => void (isOver = true))

  let probes = 0
  const backMs: number[] = []
  for (let n = 0; n < switches; n += 1) {
    await cluster.untilComplete()
    await sleep(2_000)
    const isKill = !isSynchronous || n % 2 === 0
    const startedAt = performance.now()
    const restart = isKill ? await cluster.killPrimary() : await cluster.switchOver()
    await until(() => isAllBack(`back-${n}`), 120_000)
    backMs.push(Math.round(performance.now() - startedAt))
    t.diagnostic(`${isKill ? 'kill' : 'switchover'} ${n + 1}: back after ${backMs.at(-1)} ms`)
    restart?.()
  }
  isOver = true
  await Promise.all(callers)

  async function isAllBack(name: string) {
    const requests = nodes.flatMap(({ base }) => [1, 2, 3, 4, 5].map(() => base))
    const answers = await Promise.all(
      requests.map((base) => book(base, `${name}-${(probes += 1)}`)),
    )
    return answers.every(Boolean)
  }

  const database = openDatabase({ url: cluster.url, connections: 2 })
  await until(async () => (await countOpen(database.engine)) === 0, EMPTY_QUEUES_MS)
  const sums = await account(database.engine)
  const kept = await database.engine.query<{ id: string }>(
    sql`select external_id as id from calendar`,
  )
  const mails = await database.engine.query<{ id: string; status: string; tries: number }>(sql`
    select message_id as id, status, jsonb_array_length(attempts) as tries from email`)
  const [hold] = await database.engine.query<{ held: boolean }>(sql`
    select held_since is not null as held from installation`)
  await database.close()
  for (const node of nodes) await node.stop()

  const arrived = Map.groupBy(
    mail.taken.map(({ bytes }) => /^Message-ID: (<[^>]+>)/im.exec(bytes)![1]!),
    (id) => id,
  )
  const known = new Map(mails.map((one) => [one.id, one]))
  const doubles = [...arrived].filter(([, copies]) => copies.length > 1).map(([id]) => id)
  const lost = [...new Set(acknowledged).difference(new Set(kept.map(({ id }) => id)))]
  const strangeMails = [...arrived.keys()].filter((id) => !known.has(id))
  const missingMails = mails.filter(({ id, status }) => status === 'SENT' && !arrived.has(id))
  t.diagnostic(
    `${isSynchronous ? 'synchronous' : 'asynchronous'}: ${switches} switches, ` +
      `${acknowledged.length} bookings acknowledged, ${refused} refused, ${lost.length} lost, ` +
      `${mails.length} mails, ${doubles.length} arrived twice, ${strangeMails.length} of lost triggers, ` +
      `${sums.faults.length} faults, back after ${backMs.toSorted((a, b) => a - b).join(', ')} ms`,
  )
  assert.equal(hold!.held, false, 'a failover is not taken for a restore')
  return {
    lost,
    faults: sums.faults,
    // A second attempt is made only if the first one ended without an answer.
    unmarkedDoubles: doubles.filter((id) => (known.get(id)?.tries ?? 0) < 2),
    strangeMails,
    missingMails,
    backMs,
  }
}
