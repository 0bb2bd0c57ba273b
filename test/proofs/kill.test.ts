import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbedded } from '../../src/database/embedded.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { FIRE_ALL_SQL, insertDueReminders } from '../support/due-reminders.ts'
import { temporaryFolder } from '../support/folder.ts'
import { asOwner } from '../support/owner.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { account, countOpen } from './account.ts'
import { openClinic } from './clinic.ts'
import { EMPTY_QUEUES_MS, isFull, proofSeed, randomFrom } from './random.ts'

/**
 * The service and its database are killed many times while clients book. Every booking that was answered
 * with 201 exists afterwards, and its confirmation and its reminder were sent once each.
 */
const KILLS = isFull ? Number(process.env.PROOF_KILLS ?? 200) : 3
const MIN_TRIGGERS = isFull ? 20_000 : 100
const CALLERS = 8
/** As fast as they can would take all of the processor for as long as the proof lasts. */
const PAUSE_MS = isFull ? 0 : 40
const ADMIN_API_KEY = 'operator-key-of-this-proof-0123456789'

test('kill -9 of the service or its database loses nothing and repeats nothing', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const settings = {
    DATA_DIR,
    ADMIN_API_KEY,
    LEASE_SECONDS: '1',
    RATE_LIMIT: '100000/s,100000',
    LOG_LEVEL: 'warn',
  }
  const random = randomFrom(proofSeed(t))
  let service = await startService(t, settings)
  const clinic = await openClinic(service.base, ADMIN_API_KEY)

  const acknowledged: string[] = []
  const answers: Record<number, number> = {}
  let inDoubt = 0
  let isOver = false
  const call = async (caller: number) => {
    for (let n = 0; !isOver; n += 1) {
      const externalId = `${caller}-${n}`
      const status = await clinic.book(service.base, externalId).catch(() => 0)
      answers[status] = (answers[status] ?? 0) + 1
      if (status === 201) acknowledged.push(externalId)
      else inDoubt += 1
      await sleep(status === 201 ? PAUSE_MS : 20)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, caller) => call(caller))
  t.after(() => void (isOver = true))
  const kills = { service: 0, database: 0 }
  while (kills.service + kills.database < KILLS || acknowledged.length * 2 < MIN_TRIGGERS) {
    const seen = acknowledged.length
    const before = { ...answers }
    await until(() => acknowledged.length > seen + 5, EMPTY_QUEUES_MS).catch((error) => {
      t.diagnostic(describe({ kills, before, answers, DATA_DIR, log: service.output() }))
      throw error
    })
    await sleep(random.below(400))
    if (random.chance(0.3)) {
      if (killDatabase(DATA_DIR)) kills.database += 1
    } else {
      kills.service += 1
      process.kill(service.pid, 'SIGKILL')
      await service.ended
      service = await startService(t, settings)
    }
  }
  isOver = true
  await Promise.all(callers)

  const server = await openEmbedded(DATA_DIR, 'command')
  const database = openDatabase({ url: server.url, connections: 2 })
  await until(async () => (await countOpen(database.engine)) === 0, EMPTY_QUEUES_MS)
  const sums = await account(database.engine)
  const kept = await database.engine.query<{ id: string }>(
    sql`select external_id as id from calendar`,
  )
  await database.close()
  await server.stop()
  await service.stop()

  const lost = new Set(acknowledged).difference(new Set(kept.map((row) => row.id)))
  t.diagnostic(
    `${kills.service} kills of the service, ${kills.database} of the database, ` +
      `${acknowledged.length} bookings acknowledged, ${inDoubt} in doubt, ${lost.size} lost, ` +
      `${sums.triggers} triggers, ${sums.mails} mails, ${sums.faults.length} faults`,
  )
  assert.deepEqual([...lost], [])
  assert.deepEqual(sums.faults, [])
  assert.equal(sums.failed, 0)
  assert.equal(sums.triggers, 2 * kept.length, 'a confirmation and a reminder for each booking')
  assert.equal(sums.mails, sums.triggers)
})

test('these proofs find a mail that is lost and one that is sent twice', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const dueFrom = Temporal.Now.instant().subtract({ hours: 1 })
  await insertDueReminders(url, {
    businesses: 1,
    appointments: () => 3,
    dueFrom: () => dueFrom,
    spreadMs: 9,
  })
  assert.deepEqual((await account(database.engine)).faults, [])
  const mail = `insert into email (business_id, event_trigger_id, event_action_id, recipient_key,
      to_address, from_address, subject, message_id, status, created_date)
    select t.business_id, event_trigger_id, event_action_id, '', 'a@b.c', 'a@b.c', '', gen_random_uuid(),
      'CAPTURED', scheduled_time from event_trigger t join event_action using (event_defn_id)`
  await asOwner(
    database,
    FIRE_ALL_SQL,
    'drop index email_once',
    `${mail} order by event_trigger_id limit 1`,
    `${mail} order by event_trigger_id limit 1`,
  )
  const { faults } = await account(database.engine)
  assert.equal(faults.filter((fault) => fault.startsWith('sent 2 times')).length, 1)
  assert.equal(faults.filter((fault) => fault.startsWith('completed without a mail')).length, 2)
})

/** What the service and its database say when no booking is accepted any more. */
function describe(state: { DATA_DIR: string; log: string } & Record<string, unknown>) {
  const { DATA_DIR, log, ...sums } = state
  const folder = path.join(DATA_DIR, 'postgres')
  const text = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').slice(-3_000) : '')
  const pid = text(path.join(folder, 'postmaster.pid'))
  return `${JSON.stringify(sums)}\n${log.slice(-3_000)}\n${text(`${folder}.log`)}\n${pid}`
}

/** Kills the database; false if it has not started again since the last kill. */
function killDatabase(dataDir: string) {
  try {
    const postmaster = readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8')
    return process.kill(Number.parseInt(postmaster), 'SIGKILL')
  } catch (error) {
    if (/ESRCH|ENOENT/.test((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
