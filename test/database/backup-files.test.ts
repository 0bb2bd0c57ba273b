import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { describeHold } from '../../src/automation/restored.ts'
import { takeNewerState } from '../../src/cli/newer-state.ts'
import { REASONS } from '../../src/contract/reasons.ts'
import { restoreBackup, writeBackup } from '../../src/database/backup.ts'
import { migrate, readMigrations } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { exportBusiness } from '../../src/scheduling/export.ts'
import { findHold } from '../../src/store/installation.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { temporaryFolder } from '../support/folder.ts'
import { urlOf } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const noReport = () => {}

/** A business with a file, a sent mail, and reminders. */
async function startBusiness(t: TestContext) {
  const world = await startWorld(t)
  const { book, businessId, clock, save } = world
  const file = { name: 'map.txt', content: Buffer.from('a map').toString('base64') }
  const { fileUUId } = await save('/fileLibrary', file)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you \\ "tomorrow"',
    emailBody: '<p>Tab\tand\nline</p>',
    attachFileLibraryUUids: [fileUUId],
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const { runEngine } = startEngine(world)
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 2 })
  assert.equal(await runEngine(), 1)
  return { world, runEngine, url: await urlOf(world.database), folder: temporaryFolder(t) }
}

async function backUp(url: string, file: string) {
  await writeBackup(url, fs.createWriteStream(file), noReport)
  return file
}

async function restoreInto(t: TestContext, file: string) {
  const { url } = await createEmptyDatabase(t)
  await restoreBackup(url, file, noReport)
  const database = openDatabase({ url, connections: 2 })
  cleanUpLater(t, () => database.close())
  return { url, database }
}

test('a restored backup has the same rows, schema and sequences, and is held', async (t) => {
  const { url, folder } = await startBusiness(t)
  const restored = await restoreInto(t, await backUp(url, path.join(folder, 'backup')))
  const [before, after] = [await readAll(url), await readAll(restored.url)]
  assert.ok(before.rows.email!.count > 0 && before.rows.mail_dictionary && before.rows.file_content)
  assert.deepEqual(after.rows, before.rows)
  assert.equal(after.schema, before.schema)
  for (const [name, value] of Object.entries(before.sequences)) {
    assert.equal(after.sequences[name], value + 1_000_000, name)
  }
  const [held] = await restored.database.operator.query<{ heldReason: string }>(sql`
    select held_reason as "heldReason" from installation`)
  assert.match(held!.heldReason, /^it is a backup of/)
})

test('a damaged or shortened file is refused, and the database stays empty', async (t) => {
  const { url, folder } = await startBusiness(t)
  const file = await backUp(url, path.join(folder, 'backup'))
  const bytes = fs.readFileSync(file)
  const { url: target } = await createEmptyDatabase(t)
  const flipped = Buffer.from(bytes)
  flipped[Math.floor(bytes.length / 2)]! ^= 1
  for (const [damaged, message] of [
    [bytes.subarray(0, -30), /damaged or not complete/],
    [flipped, /damaged or not complete/],
    [Buffer.from('{}'), /is not a backup/],
  ] as const) {
    fs.writeFileSync(file, damaged)
    await assert.rejects(restoreBackup(target, file, noReport), message)
  }
  fs.writeFileSync(file, bytes)
  const { rows } = await restoreBackup(target, file, noReport)
  assert.ok(rows > 0, 'a complete file is restored into what the failed ones left')
})

test('a restore that was killed while it created the schema is repeated', async (t) => {
  const { url, folder } = await startBusiness(t)
  const file = await backUp(url, path.join(folder, 'backup'))
  const migrations = await readMigrations()
  for (const applied of [1, 20]) {
    const { url: target } = await createEmptyDatabase(t)
    await migrate(target, migrations.slice(0, applied))
    await restoreBackup(target, file, noReport)
    assert.equal((await readAll(target)).schema, (await readAll(url)).schema)
  }
})

test('a newer backup tells what was cancelled, erased, suppressed and sent', async (t) => {
  const { world, url, folder, runEngine } = await startBusiness(t)
  const changes = await prepareChanges(world)
  const older = await backUp(url, path.join(folder, 'older'))
  await makeChanges(world, changes)
  assert.equal(await runEngine(), 1)
  const newer = await backUp(url, path.join(folder, 'newer'))

  const { url: target, database } = await restoreInto(t, older)
  const now = world.clock.now()
  const taken = await takeNewerState(target, database, newer, now)
  assert.deepEqual([taken.cancellations, taken.erasures, taken.suppressions], [1, 1, 1])
  assert.deepEqual(
    taken.sentBefore.map(({ triggers }) => triggers),
    [1],
  )
  assert.deepEqual(await readState(database, changes), {
    status: 'CANCELLED',
    name: 'Erased',
    suppressed: ['out@example.org'],
    pending: 0,
  })
})

test('a newer export tells what was cancelled, erased and suppressed, by origin', async (t) => {
  const { world, url, folder } = await startBusiness(t)
  const changes = await prepareChanges(world)
  const older = await backUp(url, path.join(folder, 'older'))
  await makeChanges(world, changes)
  const newer = path.join(folder, 'export.ndjson')
  await writeExport(world, newer)

  const { url: target, database } = await restoreInto(t, older)
  const taken = await takeNewerState(target, database, newer, world.clock.now())
  assert.deepEqual([taken.cancellations, taken.erasures, taken.suppressions], [1, 1, 1])
  const { hold } = await describeHold(database.engine, world.clock.now())
  assert.deepEqual(hold!.unknown, ['sentMails'])
  const { status, name, suppressed } = await readState(database, changes)
  assert.deepEqual([status, name, suppressed], ['CANCELLED', 'Erased', ['out@example.org']])
})

test('an export of another business of the same name cancels and erases nothing', async (t) => {
  const { world, url, folder } = await startBusiness(t)
  const changes = await prepareChanges(world)
  const older = await backUp(url, path.join(folder, 'older'))
  await makeChanges(world, changes)
  const newer = path.join(folder, 'export.ndjson')
  await writeExport(world, newer)
  const lines = fs.readFileSync(newer, 'utf8')
  fs.writeFileSync(newer, lines.replaceAll(/"origin":"1-\d+/g, '"origin":"1-7'))
  const { url: target, database } = await restoreInto(t, older)
  const taken = await takeNewerState(target, database, newer, world.clock.now())
  assert.deepEqual([taken.cancellations, taken.erasures], [0, 0])
  const { hold } = await describeHold(database.engine, world.clock.now())
  assert.deepEqual(hold!.unknown, ['cancellations', 'erasures', 'sentMails'])
})

test('a mail that was tried again in a newer backup or a log, and went out there, is not sent twice', async (t) => {
  const { world, url, folder } = await startBusiness(t)
  const { book, clock, db, call } = world
  const busy = { kind: 'retry', phase: 'rcpt', reply: '451 busy' } as const
  const { mailer } = scripted(busy)
  const { runEngine } = startEngine(world, { mailer, captures: false })
  const retried = await book(clock.in({ hours: 24, minutes: 30 }))
  const fresh = await book(clock.in({ hours: 25 }))
  clock.advance({ minutes: 31 })
  await runEngine()
  const [email] = await db.query<{ id: number; messageId: string }>(sql`
    select email_id as id, message_id as "messageId" from email where status = 'RETRYING'`)
  const older = await backUp(url, path.join(folder, 'older'))
  clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(
    (await call('GET', `/eventTriggers/CALENDAR/${retried.calendarId}`)).body[0].status,
    'COMPLETED',
  )
  const newer = await backUp(url, path.join(folder, 'newer'))
  const lost = email!.messageId.replace(/^<\d+/, `<${email!.id + 1}`)

  const log = path.join(folder, 'mail.log')
  fs.writeFileSync(
    log,
    [
      `Nov 18 09:00:01 mx postfix/cleanup[12]: 4XyzAB1: message-id=${email!.messageId}`,
      'Nov 18 09:00:02 mx postfix/smtp[13]: 4XyzAB1: to=<ada@example.org>, relay=mx.example.org[192.0.2.1]:25, delay=1, dsn=2.0.0, status=sent (250 ok)',
      'Nov 18 09:00:02 mx postfix/qmgr[2]: 4XyzAB1: removed',
      `2026-11-18 10:00:01 1abcDE-000000-XX <= reminders@example.org H=app [192.0.2.2] P=esmtp S=900 id=${lost.slice(1, -1)}`,
      `2026-11-18 10:00:02 1abcDE-000000-XX => ${await addressOf(world)} R=dnslookup T=remote_smtp`,
      '2026-11-18 10:00:02 1abcDE-000000-XX Completed',
    ].join('\n'),
  )
  for (const [source, unknown] of [
    [newer, []],
    [log, ['cancellations', 'erasures', 'suppressions']],
  ] as const) {
    const { url: target, database } = await restoreInto(t, older)
    const now = (await findHold(database.operator))!.heldSince
    const taken = await takeNewerState(target, database, source, now)
    assert.equal(taken.sentMails, 1)
    assert.equal(
      taken.sentBefore.reduce((sum, one) => sum + one.triggers, 0),
      1,
    )
    const [left] = await database.engine.query<{
      queued: number
      pending: number
      status: string
    }>(sql`
      select (select count(*) from email_queue) as queued,
             (select count(*) from pending_trigger where scheduled_time <= ${now}) as pending,
             (select status from email where email_id = ${email!.id}) as status`)
    assert.deepEqual(left, { queued: 0, pending: 0, status: 'SENT' })
    const triggers = await listTriggers(database, [retried.calendarId, fresh.calendarId])
    assert.deepEqual(triggers, [
      'COMPLETED null',
      source === log ? `EXPIRED ${REASONS.beforeRestore}` : 'COMPLETED null',
    ])
    const { hold } = await describeHold(database.engine, now)
    assert.deepEqual(hold!.unknown, unknown)
  }
})

const listTriggers = async ({ engine }: World['database'], calendarIds: number[]) => {
  const rows = await engine.query<{ state: string }>(sql`
    select concat(status, ' ', coalesce(status_reason, 'null')) as state from event_trigger
    where object_id = any (${calendarIds}::bigint[]) order by array_position(${calendarIds}::bigint[], object_id)`)
  return rows.map(({ state }) => state)
}

async function addressOf({ db }: World) {
  const [mail] = await db.query<{ to: string }>(sql`select to_address as to from email limit 1`)
  return mail!.to
}

test('several newer states add up, and a file that is none is refused', async (t) => {
  const { world, url, folder } = await startBusiness(t)
  const changes = await prepareChanges(world)
  const older = await backUp(url, path.join(folder, 'older'))
  await makeChanges(world, changes)
  const newer = await backUp(url, path.join(folder, 'newer'))
  const log = path.join(folder, 'mail.log')
  fs.writeFileSync(
    log,
    'Nov 18 09:00:01 mx postfix/cleanup[12]: 4XyzAB1: message-id=<other@x.org>\n',
  )

  const { url: target, database } = await restoreInto(t, older)
  const now = world.clock.now()
  await takeNewerState(target, database, log, now)
  const taken = await takeNewerState(target, database, newer, now)
  assert.deepEqual([taken.known.length, taken.cancellations, taken.erasures], [2, 1, 1])
  fs.writeFileSync(log, 'something else')
  await assert.rejects(takeNewerState(target, database, log, now), /neither a backup nor an export/)
})

const writeExport = ({ db, businessId }: World, file: string) =>
  exportBusiness(
    db,
    businessId,
    async () => async (lines) =>
      fs.appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
  )

async function prepareChanges({ book, clock, save }: World) {
  const { calendarId } = await book(clock.in({ hours: 72 }))
  await book(clock.in({ hours: 25 }))
  const { clientId } = await save('/client', { firstName: 'Otto', lastName: 'Weber' })
  return { calendarId, clientId }
}

type Changed = Awaited<ReturnType<typeof prepareChanges>>

/** An appointment is cancelled, a client erased, an address suppressed, and a reminder falls due. */
async function makeChanges(world: World, { calendarId, clientId }: Changed) {
  const { businessId, clock, database, db, save } = world
  clock.advance({ hours: 2 })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  await eraseClient(database, { businessId, clientId }, clock.now())
  await db.query(sql`
    insert into suppression (business_id, email_address, reason, created_date, created_user)
    values (${businessId}, 'out@example.org', 'UNSUBSCRIBED', ${clock.now()}, 'SYSTEM')`)
}

async function readState(
  { engine, forBusiness }: World['database'],
  { calendarId, clientId }: Changed,
) {
  const db = forBusiness(1, 'test')
  const [row] = await db.query<{ status: string; name: string; suppressed: string[] }>(sql`
    select (select status from calendar where calendar_id = ${calendarId}) as status,
           (select first_name from client where client_id = ${clientId}) as name,
           array(select email_address from suppression) as suppressed`)
  const [pending] = await engine.query<{ count: number }>(sql`
    select count(*) as count from pending_trigger`)
  return { ...row!, pending: pending!.count }
}

/** A fingerprint of each table, the schema, and the sequences. */
async function readAll(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query(`
      select relname as name from pg_class
      where relkind = 'r' and relpersistence = 'p' and relnamespace = 'public'::regnamespace
        and relname not in ('installation', 'schema_migration')`)
    const rows: Record<string, { count: number; hash: string }> = {}
    for (const { name } of tables.rows) {
      const found = await client.query(`
        select count(*)::int as count, md5(coalesce(string_agg(r::text, E'\\n' order by r::text), '')) as hash
        from ${name} r`)
      if (found.rows[0].count > 0) rows[name] = found.rows[0]
    }
    const sequences = await client.query(`
      select sequencename as name, last_value::float8 as value from pg_sequences
      where schemaname = 'public' and last_value is not null and sequencename <> 'restored_audit_id'`)
    return {
      rows,
      schema: await describeSchema(client),
      sequences: Object.fromEntries(
        sequences.rows.map(({ name, value }): [string, number] => [name, value]),
      ),
    }
  } finally {
    await client.end()
  }
}
