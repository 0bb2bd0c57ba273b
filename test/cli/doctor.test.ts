import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { runCommand } from '../support/command.ts'
import { checkConnections } from '../../src/cli/check-connections.ts'
import { findMailServer, saveMailOutage } from '../../src/store/mail-servers.ts'
import { startMailServer } from '../support/mail-server.ts'
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { urlOf } from '../support/owner.ts'
import { reminder, startWorld } from '../support/world.ts'

test('doctor reports ok for a good installation, and notes that mails are captured without SMTP_URL', async (t) => {
  const { url } = await cloneDatabase(t)
  const { code, stdout, stderr } = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.equal(code, 0, stderr)
  for (const about of ['Node', 'Settings', 'Database', 'Schema', 'Roles', 'Clock']) {
    assert.match(stdout, new RegExp(`^ok +${about} `, 'm'))
  }
  assert.match(stdout, /^(ok|note) +Time zones +Node has 20\d\d/m)
  assert.match(stdout, /^note +Mail server +none: emails are captured.*\n +→ set SMTP_URL=/m)
})

test('doctor advises bellwether migrate for an empty database, and changes nothing', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const { code, stdout } = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.equal(code, 0)
  assert.match(stdout, /^note +Schema +version 0; .*\n +→ run bellwether migrate/m)

  const migrated = await runCommand(['migrate'], { DATABASE_URL: url })
  assert.match(migrated.stdout, /^applied 0001_\w+\n(.*\n)*The schema is up to date/)
  assert.equal(migrated.code, 0)
})

test('doctor says that a folder has no database, and creates none', async (t) => {
  const folder = temporaryFolder(t)
  for (const dataDir of [folder, path.join(folder, 'missing')]) {
    const { code, stderr } = await runCommand(['doctor'], { DATA_DIR: dataDir })
    assert.equal(code, 2)
    assert.match(stderr, /^\/.* does not contain a database\. Set DATA_DIR .*\n$/)
  }
  assert.deepEqual(fs.readdirSync(folder), [])
})

test('doctor and migrate refuse a schema newer than they know', async (t) => {
  const { url } = await cloneDatabase(t)
  await run(url, `insert into schema_migration (version, name) values (9999, 'of tomorrow')`)
  const doctor = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /^bad +Schema +version 9999; .*\n +→ run a newer Bellwether/m)

  const migrate = await runCommand(['migrate'], { DATABASE_URL: url })
  assert.equal(migrate.code, 2)
  assert.match(migrate.stderr, /^The database's schema has version 9999, .*\n$/)
})

for (const [name, words, settings, line] of [
  [
    'a bad setting',
    ['doctor', 'migrate', 'serve'],
    { PORT: 'eighty' },
    /^PORT must be a whole number .*\n$/,
  ],
  [
    'a database that does not answer',
    ['doctor', 'migrate'], // the service waits for it
    { DATABASE_URL: 'postgres://user:hunter2hunter2@127.0.0.1:1/none' },
    /^The database at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)\. Check that it is running.*\n$/,
  ],
] as const) {
  test(`${words.join(' and ')} say ${name} in one line and exit 2`, async () => {
    for (const word of words) {
      const { code, stdout, stderr } = await runCommand([word], settings)
      assert.equal(code, 2)
      assert.match(stderr, line)
      assert.doesNotMatch(stderr + stdout, /hunter2/)
    }
  })
}

test('a missing database is reported in one line with exit code 2', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const missing = new URL(url)
  missing.pathname = '/no_such_database'
  const { code, stderr } = await runCommand(['serve'], { DATABASE_URL: missing.href })
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^The database at .* refuses the connection: database "no_such_database" does not exist\..*\n$/,
  )
})

async function run(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

test('doctor reports overdue triggers and the result of the reconciliation', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, database } = world
  const url = await urlOf(database)
  // The test's clock is in the past, so by the doctor's clock the trigger is long overdue.
  await world.save('/eventDefinition', reminder(businessId, -24))
  await world.book(clock.in({ hours: 48 }))
  const overdue = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.equal(overdue.code, 1)
  assert.match(overdue.stdout, /^bad +Queue +1 overdue triggers, the oldest for \d+ h/m)
  assert.match(overdue.stdout, /^ok +Reminders +checked 1 definitions and /m)
  assert.match(overdue.stdout, /^ok +Dead letter /m)
  assert.match(overdue.stdout, /^ok +Matching /m)
})

for (const [name, behaviour, url, todo] of [
  [
    'smtps:// on a port without TLS',
    {},
    (port: number) => `smtps://127.0.0.1:${port}`,
    /^bad +Mail server +127\.0\.0\.1:\d+ takes no mail, .*\n +→ this port does not begin with TLS: write smtp:\/\/ /m,
  ],
  [
    'a server that demands a sign-in',
    { at: 'mail', act: { reply: '530 5.7.0 Authentication required\r\n' } },
    (port: number) => `smtp://127.0.0.1:${port}`,
    /^bad +Mail server +127\.0\.0\.1:\d+ takes no mail, at mail: 530 .*\n +→ the server demands a sign-in: /m,
  ],
] as const) {
  test(`doctor recognises ${name}, and sends nothing`, async (t) => {
    const { url: database } = await cloneDatabase(t)
    const server = await startMailServer(t, behaviour)
    const settings = { DATABASE_URL: database, SMTP_URL: url(server.port) }
    const { code, stdout } = await runCommand(['doctor'], settings)
    assert.equal(code, 1)
    assert.match(stdout, todo)
    assert.deepEqual(server.taken, [])
  })
}

test('doctor --mail sends an email and shows the reply of the server', async (t) => {
  const { url } = await cloneDatabase(t)
  const server = await startMailServer(t)
  const settings = {
    DATABASE_URL: url,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'Praxis <hello@praxis.invalid>',
  }
  const { code, stdout, stderr } = await runCommand(
    ['doctor', '--mail', 'me@example.org'],
    settings,
  )
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^ok +Mail +127\.0\.0\.1:\d+ accepted an email for me@example\.org: 250 /m)
  assert.match(stdout, /^note +(DNS|From domain) /m)
  assert.match(stdout, /DKIM/)
  assert.equal(server.taken.length, 1)
  assert.deepEqual(server.taken[0]!.to, ['me@example.org'])
  assert.match(server.taken[0]!.bytes, /^Subject: Bellwether can send email\r$/m)
})

test('doctor --mail says what to fix if the server refuses', async (t) => {
  const { url } = await cloneDatabase(t)
  const act = { reply: '550 5.7.1 relaying denied\r\n' }
  const server = await startMailServer(t, { at: 'rcpt', act })
  const refused = await runCommand(['doctor', '--mail', 'me@example.org'], {
    DATABASE_URL: url,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  })
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /^bad +Mail .*550 5\.7\.1 relaying denied\n +→ check the address/m)

  const unreachable = await runCommand(['doctor', '--mail', 'me@example.org'], {
    DATABASE_URL: url,
    SMTP_URL: 'smtp://user:hunter2hunter2@127.0.0.1:1',
  })
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.stdout, /^bad +Mail .*ECONNREFUSED.*\n +→ check host and port/m)
  assert.doesNotMatch(unreachable.stdout + unreachable.stderr, /hunter2/)

  const captured = await runCommand(['doctor', '--mail', 'me@example.org'], { DATABASE_URL: url })
  assert.equal(captured.code, 0)
  assert.match(captured.stdout, /^note +Mail +nothing was sent: without SMTP_URL/m)
})

test('doctor reports a mail server that accepts no mail, and paused mail', async (t) => {
  const { url, database } = await cloneDatabase(t)
  const world = await startWorld(t, {}, { database })
  const act = { reply: '554 5.7.1 no service for you\r\n', next: 'close' } as const
  const server = await startMailServer(t, { at: 'greeting', act, times: 10 })
  const settings = {
    DATABASE_URL: url,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'hello@clinic.example',
  }
  const outage = { since: world.clock.now(), phase: 'greeting', reply: '554 5.7.1 no service' }
  await saveMailOutage(database.engine, `127.0.0.1:${server.port}`, outage, world.clock.now())
  await world.call('POST', '/business', { businessId: world.businessId, mailPaused: true })
  const refused = await runCommand(['doctor'], settings)
  assert.equal(refused.code, 1)
  assert.match(
    refused.stdout,
    /^bad +Mail server +127\.0\.0\.1:\d+ takes no mail, at greeting: 554 5\.7\.1 no service for you; no mail was taken for \d+ h\n +→ check the port/m,
  )
  assert.match(refused.stdout, /^note +Pauses +all mail of 1 businesses is paused/m)
  assert.match(
    refused.stdout,
    /^note +Addresses .*\n.*PUBLIC_URL is http.*MAIL_FROM is hello@clinic/m,
  )

  server.behave()
  const accepted = await runCommand(['doctor'], settings)
  assert.equal(accepted.code, 0)
  assert.match(accepted.stdout, /^note +Mail server .*accepts connections from here, but/m)
  assert.match(accepted.stdout, /^ok +Mail queue +no mail waits$/m)
  assert.equal(server.taken.length, 0)

  const serverName = `127.0.0.1:${server.port}`
  const requested = async () => (await findMailServer(database.engine, serverName))!
  assert.equal((await requested()).retryRequestedTime, null)
  await runCommand(['doctor', '--mail', 'me@example.org'], settings)
  assert.ok((await requested()).retryRequestedTime, 'the service tries it at once')
})

test('doctor refuses an invalid address in one line', async () => {
  const { code, stderr } = await runCommand(['doctor', '--mail', 'a@b.c, d@e.f'], {})
  assert.equal(code, 2)
  assert.match(stderr, /^--mail must be one plain address.*\n$/)
})

test('a node with a pooler needs few connections to the database itself', () => {
  const limits = { allowed: 12, limitedBy: 'max_connections', open: 4 }
  const poolerUrl = 'postgres://pooler.example/bellwether'
  assert.equal(checkConnections(limits, { role: 'all', poolerUrl }).state, 'ok')
  assert.equal(checkConnections(limits, { role: 'all', poolerUrl: undefined }).state, 'bad')
})
