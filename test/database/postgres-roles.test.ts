import assert from 'node:assert/strict'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { afterwards } from '../support/afterwards.ts'
import { cloneDatabase } from '../support/database.ts'

test('each door has its own role, whatever options the address brings', async (t) => {
  const { url } = await cloneDatabase(t)
  const address = new URL(url)
  address.searchParams.set('options', '-c role=none -c geqo=off')
  const database = openDatabase({ url: address.href })
  afterwards(t, () => database.close())

  const asked = sql`select current_user::text as "user", current_setting('geqo') as geqo`
  for (const [door, user] of [
    [database.forBusiness(1, 'test'), 'bellwether_app'],
    [database.reportsOf(1), 'bellwether_app'],
    [database.engine, 'bellwether_engine'],
    [database.operator, 'bellwether_operator'],
  ] as const) {
    assert.deepEqual(await door.query(asked), [{ user, geqo: 'off' }])
  }
})

test('behind a pooler that drops connection options no door opens, instead of the owner’s', async (t) => {
  const { url } = await cloneDatabase(t)
  const database = openDatabase({ url: await throughForgetfulPooler(t, url) })
  afterwards(t, () => database.close())
  await assert.rejects(database.operator.query(sql`select 1`), {
    name: 'StartError',
    message: /^The database lets us in as another than bellwether_operator: .* Connect directly/,
  })
})

/** Passes everything on but the `options` of the first message. */
async function throughForgetfulPooler(t: TestContext, url: string) {
  const address = new URL(url)
  const folder = address.searchParams.get('host')
  const target = folder
    ? { path: `${folder}/.s.PGSQL.5432` }
    : { host: address.hostname, port: Number(address.port || 5432) }
  const server = net.createServer((near) => {
    const far = net.connect(target)
    near.once('data', (first) => {
      far.write(withoutOptions(Buffer.from(first)))
      near.pipe(far).pipe(near)
    })
    for (const socket of [near, far]) socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(t, () => server.close())
  const { port } = server.address() as net.AddressInfo
  address.host = `127.0.0.1:${port}`
  address.search = '?sslmode=disable'
  return address.href
}

/** Length, version, then names and values, each closed by a zero, and one more at the end. */
function withoutOptions(message: Buffer) {
  const words = message.subarray(8).toString().split('\0')
  const at = words.indexOf('options')
  const rest = Buffer.from(words.toSpliced(at, 2).join('\0'))
  const head = Buffer.from(message.subarray(0, 8))
  head.writeInt32BE(8 + rest.length)
  return Buffer.concat([head, rest])
}
