import assert from 'node:assert/strict'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { checkPooler } from '../../src/database/servers.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { needProgram } from '../support/programs.ts'
import { asOwner } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { openAddress } from '../support/server.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

const OPERATOR = 'operator-key-of-this-test'

for (const mode of ['session', 'transaction']) {
  test(`PgBouncer in ${mode} mode is refused in one sentence`, async (t) => {
    if (!needProgram(t, 'pgbouncer')) return

    const { url } = await cloneDatabase(t)
    const pooler = await startPgBouncer(t, await overTcp(t, url), `pool_mode = ${mode}`)
    await assertRefused(pooler.url)
  })

  test(`bookings, mails, lists, reports and metrics work over PgBouncer in ${mode} mode, also after it restarts`, async (t) => {
    if (!needProgram(t, 'pgbouncer')) return

    const { url } = await cloneDatabase(t)
    const address = await overTcp(t, url)
    // Fewer server connections than the service uses: transactions take turns.
    const pooler = await startPgBouncer(
      t,
      address,
      mode === 'session' ? 'pool_mode = session' : 'pool_mode = transaction\ndefault_pool_size = 6',
    )
    await checkPooler(url, pooler.url)
    const database = openDatabase({ url, poolerUrl: pooler.url })
    cleanUpLater(t, () => database.close())
    const { mailer, taken } = scripted()
    const world = await startWorld(t, { ADMIN_API_KEY: OPERATOR }, { database })
    const { book, businessId, call, clock, save } = world
    const heard = Promise.withResolvers<void>()
    const listening = Promise.withResolvers<void>()
    const stop = database.listen('bellwether_changes', () => heard.resolve(), listening.resolve)
    cleanUpLater(t, stop)
    await listening.promise
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: 'Reminder',
      subject: 'See you',
      emailBody: '<p>%CLIENT_FULLNAME%</p>',
    })
    const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
    await save('/eventDefinition', { ...reminder(businessId, -24), eventActions })
    const engine = startEngine(world, { mailer, captures: false })

    const bookMany = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) => book(clock.in({ hours: 25, minutes: i % 30 }))),
      )
    await bookMany(200)
    await heard.promise
    await pooler.restart()
    // The first requests find that their connections were lost.
    await until(async () => (await call('GET', '/client')).status === 200)
    await until(() =>
      bookMany(1).then(
        () => true,
        () => false,
      ),
    )
    const [counted] = await database.engine.query<{ count: number }>(
      sql`select count(*) as count from calendar`,
    )
    const missing = 400 - counted!.count
    await bookMany(missing)
    clock.advance({ hours: 2 })
    assert.equal(await engine.runEngine(), 400)
    assert.equal(taken.length, 400)

    assert.equal((await call('GET', '/calendar?limit=500')).body.items.length, 400)
    const printed = await call('POST', '/report/print/file?format=JSON')
    assert.equal(printed.status, 200, JSON.stringify(printed.body))
    const authorization = `Bearer ${OPERATOR}`
    const metrics = await call('GET', '/metrics', undefined, { authorization })
    assert.equal(metrics.status, 200)
  })
}

test('a pooler that leads to another database is refused in one sentence', async (t) => {
  if (!needProgram(t, 'pgbouncer')) return

  const [{ url }, other] = [await cloneDatabase(t), await cloneDatabase(t)]
  const pooler = await startPgBouncer(t, await overTcp(t, other.url), 'pool_mode = transaction')
  await assert.rejects(checkPooler(url, pooler.url), {
    name: 'StartError',
    message: /^DATABASE_POOLER \(127.0.0.1:\d+\) leads to another database than DATABASE_URL/,
  })
})

test('a pooler whose login has another isolation level is refused with what to do', async (t) => {
  if (!needProgram(t, 'pgbouncer')) return

  const { database, url } = await cloneDatabase(t)
  await asOwner(
    database,
    `do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$`,
  )
  const pooler = await startPgBouncer(t, await overTcp(t, url), 'pool_mode = transaction')
  await assert.rejects(checkPooler(url, pooler.url), {
    message: /default_transaction_isolation is "serializable" and must be "read committed"/,
  })
})

test('PgBouncer that refuses the options of the URL is refused in the same sentence', async (t) => {
  if (!needProgram(t, 'pgbouncer')) return

  const { url } = await cloneDatabase(t)
  const pooler = await startPgBouncer(t, await overTcp(t, url), 'pool_mode = transaction')
  await assertRefused(`${pooler.url}?options=-c%20geqo%3Doff`)
})

test('a proxy that reports another process id than the server’s is treated as a pooler', async (t) => {
  const { url } = await cloneDatabase(t)
  await assertRefused(await withOtherProcessId(t, url))
})

/** PgBouncer runs as a user of its own, who may not enter the folder with the server's socket. */
async function overTcp(t: TestContext, url: string) {
  const folder = new URL(url).searchParams.get('host')
  if (!folder) return url
  const through = new URL(url)
  through.host = (await openAddress(t, { folder, url })).host
  through.search = ''
  return through.href
}

async function assertRefused(url: string) {
  for (const word of ['serve', 'migrate', 'doctor']) {
    const { code, stderr } = await runCommand([word], { DATABASE_URL: url })
    assert.match(stderr, /^There is a connection pooler such as PgBouncer between [^\n]*\n$/, word)
    assert.equal(code, 2)
  }
}

/** Forwards everything, and changes the process id in the server's BackendKeyData message. */
async function withOtherProcessId(t: TestContext, url: string) {
  const address = new URL(await overTcp(t, url))
  const target = { host: address.hostname, port: Number(address.port || 5432) }
  const server = net.createServer((near) => {
    const far = net.connect(target)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far)
    far.on('data', (bytes: Buffer) => {
      const at = bytes.indexOf('K\0\0\0\x0c')
      if (at >= 0) bytes.writeInt32BE(1, at + 5)
      near.write(bytes)
    })
    far.on('close', () => near.destroy())
    near.on('close', () => far.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUpLater(t, () => server.close())
  const { port } = server.address() as net.AddressInfo
  address.host = `127.0.0.1:${port}`
  return address.href
}
