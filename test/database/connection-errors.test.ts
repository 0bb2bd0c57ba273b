import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { ConnectionError, isDatabaseAway } from '../../src/database/postgres-errors.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { openDatabaseProxy } from '../support/database-proxy.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('a missing file and a timeout of something else are not a lost database', async (t) => {
  const { database } = await cloneDatabase(t)
  const missing = await caught(readFile('/there/is/no/such/file'))
  const late = Object.assign(new Error('timeout of the mail server'), { code: 'ETIMEDOUT' })
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  for (const error of [missing, late, reset]) {
    assert.equal(isDatabaseAway(error), false)
    // Nor if it ends a transaction.
    const failing = database.operator.transaction(async () => {
      throw error
    })
    assert.equal(await caught(failing), error)
  }
})

test('a server that is not there, does not answer or resets the connection is away', async (t) => {
  const silent = net.createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  cleanUpLater(t, () => void silent.close())
  const urls = [
    'postgres://nobody@localhost:1/none',
    'postgres://nobody@/none?host=/there/is/no/socket',
    `postgres://nobody@127.0.0.1:${port}/none`,
  ]
  silent.on('connection', (socket) => socket.on('error', () => {}).resetAndDestroy())
  for (const url of urls) {
    const database = openDatabase({ url })
    cleanUpLater(t, () => database.close())
    for (const work of [() => database.operator.query(sql`select 1`), () => database.readTime()]) {
      const error = await caught(work())
      assert.ok(error instanceof ConnectionError, url)
      assert.notEqual(error.message, '', url)
    }
  }
})

test('a connection that is reset while its session is set up does not end the process', async (t) => {
  const { url } = await cloneDatabase(t)
  const proxy = await openDatabaseProxy(t, url)
  const database = openDatabase({ url: proxy.url })
  cleanUpLater(t, () => database.close())
  // The first statement of a session is sent before the pool listens for errors of the client.
  proxy.resetOn('transaction_timeout')
  const error = await caught(database.operator.query(sql`select 1`))
  assert.ok(error instanceof ConnectionError, String(error))
})

test('a request during which the database resets its connections is answered 503', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const proxy = await openDatabaseProxy(t, url)
  const reached = openDatabase({ url: proxy.url })
  cleanUpLater(t, () => reached.close())
  const world = await startWorld(t, {}, { database: reached })
  const base = await world.app.listen({ port: 0, host: '127.0.0.1' })

  await database.forBusiness(world.businessId, 'TEST').transaction(async (tx) => {
    await tx.query(sql`select from location where business_id = ${world.businessId} for update`)
    const saving = fetch(`${base}/location`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ locationId: world.ids.locationId, name: 'Upstairs' }),
    })
    await until(() => isLockAwaited(database.operator))
    proxy.resetAll()
    const answer = await saving
    assert.equal(answer.status, 503, await answer.text())
    assert.equal(answer.headers.get('retry-after'), '1')
  })
})
