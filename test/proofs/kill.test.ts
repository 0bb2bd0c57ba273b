import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
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
import { isFull, proofSeed, randomFrom } from './random.ts'

/**
 * The service and its database are killed many times while clients book. Every booking that was answered
 * with 201 exists afterwards, and its confirmation and its reminder were sent once each.
 */
const KILLS = isFull ? Number(process.env.PROOF_KILLS ?? 200) : 5
const MIN_TRIGGERS = isFull ? 20_000 : 100
const CALLERS = 8
const ADMIN_API_KEY = 'operator-key-of-this-proof-0123456789'

test('kill -9 of the service or its database loses nothing and repeats nothing', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const settings = {
    DATA_DIR,
    ADMIN_API_KEY,
    LEASE_SECONDS: '1',
    RATE_LIMIT: '100000/s,100000',
    LOG_LEVEL: 'fatal',
  }
  const random = randomFrom(proofSeed(t))
  let service = await startService(t, settings)
  const clinic = await openClinic(service.base)

  const acknowledged: string[] = []
  let inDoubt = 0
  let isOver = false
  const call = async (caller: number) => {
    for (let n = 0; !isOver; n += 1) {
      const externalId = `${caller}-${n}`
      const status = await clinic.book(service.base, externalId).catch(() => 0)
      if (status === 201) acknowledged.push(externalId)
      else {
        inDoubt += 1
        await sleep(20)
      }
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, caller) => call(caller))
  t.after(() => void (isOver = true))
  const kills = { service: 0, database: 0 }
  while (kills.service + kills.database < KILLS || acknowledged.length * 2 < MIN_TRIGGERS) {
    const seen = acknowledged.length
    await until(() => acknowledged.length > seen + 5)
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
  await until(async () => (await countOpen(database.engine)) === 0)
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

/** A business with a confirmation of every booking and a reminder that is due 1.5 s later. */
async function openClinic(base: string) {
  const post = async (key: string, path: string, body: object) => {
    const answer = await fetch(new URL(path, base), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, never>
  }
  const { businessId } = await post(ADMIN_API_KEY, '/business', {
    name: 'Praxis',
    timeZone: 'Europe/Zurich',
  })
  const { key } = await post(ADMIN_API_KEY, `/business/${businessId}/apiKey`, { name: 'proof' })
  const save = (path: string, body: object) => post(key!, path, body)
  const { locationId } = await save('/location', { name: 'Altstadt' })
  const { professionalId } = await save('/professional', { firstName: 'Elena', lastName: 'García' })
  const { reasonId } = await save('/reason', { name: 'Consultation' })
  const { clientId } = await save('/client', {
    firstName: 'Anna',
    lastName: 'Müller',
    emailAddress: 'anna@example.org',
  })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>%APPT_START_TIME%</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const shared = {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerMinutes: 0,
    eventActions,
  }
  await save('/eventDefinition', { ...shared, triggerHours: 0, eventType: { eventTypeId: 1 } })
  await save('/eventDefinition', {
    ...shared,
    triggerHours: -24,
    latePolicy: 'SEND',
    eventType: { eventTypeId: 3 },
  })
  const ids = { locationId, professionalId, reasonId, clientId }
  const book = async (at: string, externalId: string) => {
    const startTime = Date.now() + 24 * 3_600_000 + 1_500
    const answer = await fetch(new URL('/calendar', at), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ids, externalId, startTime, endTime: startTime + 1_800_000 }),
      signal: AbortSignal.timeout(15_000),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  return { book }
}
