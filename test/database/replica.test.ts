import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { judgeReplica } from '../../src/database/replica.ts'
import { sql } from '../../src/database/sql.ts'
import { startApp } from '../support/app.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { endServer, runStatement, startPrimary, startStandby } from '../support/server.ts'
import { until } from '../support/until.ts'
import { addBusiness } from '../support/world.ts'

const lifetime = { after }
const primary = await startPrimary(lifetime)
await migrate(primary.url)
// The standby replays a change at once, and cancels the reads that are in the way.
const standby = await startStandby(lifetime, primary, { max_standby_streaming_delay: '0' })
const changes: object[] = []
const database = openDatabase({
  url: primary.url,
  replicaUrl: standby.url,
  onReplica: (state) => changes.push(state),
})
cleanUpLater(lifetime, () => database.close())

const env = { METRICS_TOKEN: 'a-long-token-for-prometheus-0123456789' }
const { app, clock, settings } = await startApp(lifetime, { database, env })
const world = await addBusiness({ app, clock, database, settings, logged: [] })
const reports = database.reportsOf(world.businessId)

const isUsed = async () => 'lagSeconds' in (await database.checkReplica())!
const countEntries = async () => {
  const { body } = await world.call('GET', '/audit?limit=100')
  return body.items.length as number
}
const readNotes = async () => {
  const path = '/report/print/file?format=json&startDate=2026-03-01&endDate=2026-03-31'
  return ((await world.call('POST', path)).body.notes ?? []) as string[]
}
const isExported = async (text: string) => {
  const headers = { authorization: `Bearer ${world.key}` }
  return (await app.inject({ url: '/export', headers })).body.includes(text)
}
const readUp = async () => {
  const authorization = `Bearer ${env.METRICS_TOKEN}`
  const { body } = await app.inject({ url: '/metrics', headers: { authorization } })
  return /^bellwether_replica_up (\d)$/m.exec(body)?.[1]
}

test('a snapshot that the replica cancels is taken again', async () => {
  await until(isUsed)
  await world.save('/reason', { name: 'Rows that a vacuum removes' })
  let tries = 0
  const rows = await reports.snapshot(async (tx) => {
    tries += 1
    const found = await tx.query(sql`select from reason`)
    if (tries > 1) return found.length
    await runStatement(primary, "delete from reason where name like 'Rows%'")
    // The standby ends the transaction when it replays the vacuum. One that runs next to another
    // transaction may remove nothing.
    await until(async () => {
      await runStatement(primary, 'vacuum reason')
      await tx.query(sql`select from reason`)
      return false
    })
    return undefined
  })
  assert.ok(tries > 1)
  assert.equal(typeof rows, 'number')
})

test('reports, exports and the audit are read from the replica, and a report says how far that is behind', async () => {
  await until(isUsed)
  const state = async () => (await runStatement(standby, STATE))[0].state
  const before = await countOnPrimary()
  await until(async () => (await countEntries()) === before)
  await runStatement(standby, 'select pg_wal_replay_pause()')
  await until(async () => (await state()) === 'paused')
  await world.save('/location', { name: 'Harbour', timeZone: 'Europe/Zurich' })
  assert.ok((await countOnPrimary()) > before)
  // On a slow machine the replica may not answer in time, and the primary is read.
  await until(async () => (await countEntries()) === before)
  await until(async () => (await readNotes()).some((text) => NOTE.test(text)))
  await until(async () => !(await isExported('Harbour')))
  await until(async () => (await readUp()) === '1')

  await runStatement(standby, 'select pg_wal_replay_resume()')
  await until(async () => (await countEntries()) === (await countOnPrimary()))
  await until(() => isExported('Harbour'))
})

test('the primary is read while the replica is away', async () => {
  await endServer(standby, 'SIGQUIT')
  await world.save('/location', { name: 'Station', timeZone: 'Europe/Zurich' })
  assert.equal(await countEntries(), await countOnPrimary())
  assert.ok(!(await readNotes()).some((text) => NOTE.test(text)))
  assert.equal(await readUp(), '0')
  assert.ok('problem' in changes.at(-1)!)
})

test('a replica of another database is not used', async (t) => {
  const { url } = await cloneDatabase(t)
  const mistaken = openDatabase({ url, replicaUrl: primary.url, connections: 1 })
  cleanUpLater(t, () => mistaken.close())
  const problem = 'it is a replica of another database'
  await until(async () => isDeepStrictEqual(await mistaken.checkReplica(), { problem }))
})

test('a replica is not used if it is more than 60 s behind, or does not know', () => {
  const here = 'one server'
  const judge = (lagSeconds: number | null) => judgeReplica({ place: here, lagSeconds }, here)
  assert.deepEqual(judge(60), { lagSeconds: 60 })
  assert.deepEqual(judge(60.1), { problem: 'it is 61 s behind' })
  assert.deepEqual(judge(null), { problem: 'it does not know how far it is behind' })
})

const NOTE = /^Read from a replica of the database that was \d+ s behind\.$/
const STATE = 'select pg_get_wal_replay_pause_state() as state'

async function countOnPrimary() {
  const [row] = await world.db.query<{ entries: number }>(sql`
    select count(*) as entries from audit_entry`)
  return row!.entries
}
