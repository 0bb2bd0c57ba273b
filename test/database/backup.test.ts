import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { cleanUpLater } from '../support/clean-up.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { debianPrograms, startInstalledServer } from '../support/installed-server.ts'
import { startService } from '../support/service.ts'

const page = fs.readFileSync(path.join(import.meta.dirname, '../../docs/backup.md'), 'utf8')

/** The commands of the page, by the words after the fence: `sh backup-embedded`. */
function commands(name: string) {
  const block = new RegExp(`^\`\`\`${name}\\n([^]*?)^\`\`\``, 'm').exec(page)?.[1]
  assert.ok(block, `docs/backup.md has a block ${name}`)
  return block
}

const KEY = 'operator-key-of-this-test'

test('the embedded database can be restored as documented', async (t) => {
  const folder = temporaryFolder(t)
  const DATA_DIR = path.join(folder, 'data')
  const before = await startService(t, { DATA_DIR, ADMIN_API_KEY: KEY })
  const rows = await writeAndRead(before.base)
  await before.stop()
  runShell(folder, commands('sh backup-embedded'), { DATA_DIR })

  runShell(folder, commands('sh restore-embedded'), {})
  const restored = { DATA_DIR: path.join(folder, 'restored-data'), ADMIN_API_KEY: KEY }
  const after = await startService(t, restored)
  assert.deepEqual(await read(after.base), rows)
  assert.equal((await writeAndRead(after.base)).length, rows.length + 1)
})

const skip = debianPrograms() ? false : 'PostgreSQL’s own programs are not installed'

test(
  'your own database can be restored on a new server as documented, without a superuser',
  { skip },
  async (t) => {
    const folder = temporaryFolder(t)
    const [old, fresh] = [await startServerWithDatabase(t), await startServerWithDatabase(t)]
    const before = await startService(t, { DATABASE_URL: old.url, ADMIN_API_KEY: KEY })
    const rows = await writeAndRead(before.base)
    runShell(folder, commands('sh backup-shared'), { DATABASE_URL: old.url })
    await before.stop()

    await run(fresh.superuserUrl, commands('sql restore-shared'))
    runShell(folder, commands('sh restore-shared'), { DATABASE_URL: fresh.url })
    const after = await startService(t, { DATABASE_URL: fresh.url, ADMIN_API_KEY: KEY })
    assert.deepEqual(await read(after.base), rows)
    assert.equal((await writeAndRead(after.base)).length, rows.length + 1)
    const { code, stdout } = await runCommand(['doctor'], { DATABASE_URL: fresh.url })
    assert.equal(code, 0, stdout)
  },
)

/** The database is created as docs/database.md tells the administrator. */
async function startServerWithDatabase(t: TestContext) {
  const server = await startInstalledServer(debianPrograms()!)
  cleanUpLater(t, () => server.stop())
  await run(server.superuserUrl, 'create role bellwether login createrole')
  await run(
    server.superuserUrl,
    `create database bellwether owner bellwether encoding 'UTF8' template template0`,
  )
  const url = new URL(server.superuserUrl)
  url.pathname = '/bellwether'
  url.username = 'bellwether'
  return { url: url.href, superuserUrl: server.superuserUrl }
}

async function run(url: string, statements: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statements).finally(() => client.end())
}

function runShell(cwd: string, script: string, env: Record<string, string>) {
  const { PATH } = process.env
  execFileSync('/bin/sh', ['-ec', script], { cwd, env: { PATH, ...env }, stdio: 'pipe' })
}

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

async function writeAndRead(base: string) {
  const body = JSON.stringify({ name: 'Harbour Clinic', timeZone: 'Europe/Berlin' })
  const answer = await fetch(`${base}/business`, { method: 'POST', headers, body })
  assert.equal(answer.status, 201)
  return read(base)
}

async function read(base: string): Promise<unknown[]> {
  const answer = await fetch(`${base}/business`, { headers })
  const body = (await answer.json()) as { items: unknown[] }
  return body.items
}
