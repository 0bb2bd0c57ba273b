import assert from 'node:assert/strict'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import { cleanUpLater } from '../support/clean-up.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'
import { pgbouncerProgram, startPgBouncer } from '../support/pgbouncer.ts'
import { openAddress } from '../support/server.ts'

const skip = pgbouncerProgram ? false : 'PgBouncer is not installed'

for (const mode of ['session', 'transaction']) {
  test(`PgBouncer in ${mode} mode is refused in one sentence`, { skip }, async (t) => {
    const { url } = await cloneDatabase(t)
    await assertRefused(await startPgBouncer(t, await overTcp(t, url), `pool_mode = ${mode}`))
  })
}

test(
  'PgBouncer that refuses the options of the URL is refused in the same sentence',
  { skip },
  async (t) => {
    const { url } = await cloneDatabase(t)
    const through = await startPgBouncer(t, await overTcp(t, url), 'pool_mode = transaction')
    await assertRefused(`${through}?options=-c%20geqo%3Doff`)
  },
)

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
