import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { checkInNode } from '../../src/cli/check-in.ts'
import { restoreBackup, writeBackup } from '../../src/database/backup.ts'
import { openEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { debianPrograms, startInstalledServer } from '../support/installed-server.ts'
import { skipLoudly } from '../support/programs.ts'
import { startService } from '../support/service.ts'

const page = fs.readFileSync(path.join(import.meta.dirname, '../../docs/backup.md'), 'utf8')

/** The commands of the page, by the words after the fence: `sh backup-embedded`. */
function commands(name: string) {
  const block = new RegExp(`^\`\`\`${name}\\n([^]*?)^\`\`\``, 'm').exec(page)?.[1]
  assert.ok(block, `docs/backup.md has a block ${name}`)
  return block
}

const KEY = 'operator-key-of-this-test'

test('a backup of the running service can be verified, restored and released as documented', async (t) => {
  const folder = temporaryFolder(t)
  const DATA_DIR = path.join(folder, 'data')
  const before = await startService(t, { DATA_DIR, ADMIN_API_KEY: KEY })
  const rows = await writeAndRead(before.base)
  runShell(folder, commands('sh backup'), { DATA_DIR })
  assert.match(runShell(folder, commands('sh verify'), {}), /^Verified: bellwether.backup/m)
  await before.stop()

  assert.match(runShell(folder, commands('sh restore'), {}), /^Nothing is sent until/m)
  const restored = { DATA_DIR: path.join(folder, 'restored-data'), ADMIN_API_KEY: KEY }
  const after = await startService(t, restored)
  assert.match(after.output(), /Restored +no mail is sent/)
  assert.deepEqual(await read(after.base), rows)
  assert.equal((await writeAndRead(after.base)).length, rows.length + 1)
  assert.match(runShell(folder, commands('sh release-look'), {}), /^Nothing was released/m)
  assert.equal(await isHeld(after.base), true)
  assert.match(runShell(folder, commands('sh release'), {}), /^Released/m)
  assert.equal(await isHeld(after.base), false)
})

test('a backup to a place that cannot be written ends with one line, and lets the database stop', async (t) => {
  const folder = temporaryFolder(t)
  const DATA_DIR = path.join(folder, 'data')
  const file = path.join(folder, 'missing', 'bellwether.backup')
  const fail = (error: string) => ({
    code: 2,
    stdout: '',
    stderr: `${file} cannot be written (${error}).\n`,
  })
  assert.deepEqual(await runCommand(['backup', file], { DATA_DIR }), fail('ENOENT'))
  if (fs.existsSync('/dev/full')) {
    fs.mkdirSync(path.dirname(file))
    fs.symlinkSync('/dev/full', `${file}.part`)
    assert.deepEqual(await runCommand(['backup', file], { DATA_DIR }), fail('ENOSPC'))
    assert.deepEqual(fs.readdirSync(path.dirname(file)), [])
  }
  assert.equal(fs.existsSync(path.join(DATA_DIR, 'postgres', 'postmaster.pid')), false)
})

test('a copy of the folder is held, a renamed folder and an ordinary restart are not', async (t) => {
  const folder = temporaryFolder(t)
  const [data, renamed, copy] = ['data', 'renamed', 'copy'].map((name) => path.join(folder, name))
  const isHeldIn = async (dataDir: string) => {
    const embedded = await openEmbedded(dataDir, 'service', { fsync: 'off' })
    await migrate(embedded.url)
    const { hold } = await checkInAt(embedded.url, dataDir, undefined)
    await embedded.stop()
    return hold !== null
  }
  assert.equal(await isHeldIn(data!), false)
  assert.equal(await isHeldIn(data!), false)
  fs.renameSync(data!, renamed!)
  assert.equal(await isHeldIn(renamed!), false)
  execFileSync('cp', ['-a', renamed!, copy!])
  assert.equal(await isHeldIn(copy!), true)
  assert.equal(await isHeldIn(renamed!), false)

  // As if the database's folder were replaced by a copy from before this node's last note.
  const note = path.join(renamed!, 'last-seen.json')
  const seen = JSON.parse(fs.readFileSync(note, 'utf8'))
  const later = Temporal.Instant.from(seen.seenTime).add({ minutes: 5 })
  fs.writeFileSync(note, JSON.stringify({ ...seen, seenTime: String(later) }))
  assert.equal(await isHeldIn(renamed!), true)
})

/** What a node with this folder finds at its start. */
async function checkInAt(url: string, dataDir: string, databaseUrl: string | undefined) {
  const database = openDatabase({ url, connections: 1 })
  return checkInNode(database, { dataDir, databaseUrl }).finally(() => database.close())
}

test('your own database can be restored on a new server as documented, without a superuser', async (t) => {
  if (!debianPrograms()) {
    return skipLoudly(
      t,
      'PostgreSQL of Debian is missing; "apt-get install postgresql" installs it',
    )
  }
  const folder = temporaryFolder(t)
  const [old, fresh] = [await startServerWithDatabase(t), await startServerWithDatabase(t)]
  const DATA_DIR = path.join(folder, 'data')
  const settings = { DATABASE_URL: old.url, ADMIN_API_KEY: KEY, DATA_DIR }
  const before = await startService(t, settings)
  const rows = await writeAndRead(before.base)
  runShell(folder, commands('sh backup-shared'), { DATABASE_URL: old.url })
  await before.stop()

  await run(fresh.superuserUrl, commands('sql restore-shared'))
  runShell(folder, commands('sh restore-shared'), { DATABASE_URL: fresh.url })
  const ofOtherNode = { DATABASE_URL: fresh.url, DATA_DIR: path.join(folder, 'other') }
  const after = await startService(t, { ...settings, ...ofOtherNode })
  assert.deepEqual(await read(after.base), rows)
  assert.equal(await isHeld(after.base), true)
  assert.equal((await writeAndRead(after.base)).length, rows.length + 1)
  const { code, stdout } = await runCommand(['doctor'], { DATABASE_URL: fresh.url })
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^note +Restored/m)
  await after.stop()

  // The node that moves to the new server knows that nothing was lost.
  await run(fresh.url, 'update installation set held_since = null, held_reason = null')
  assert.equal((await checkInAt(fresh.url, DATA_DIR, fresh.url)).hold, null)

  // The same with our own backup, which a login without special rights reads and restores.
  const another = await addDatabase(fresh.superuserUrl, 'another')
  const file = path.join(folder, 'own.backup')
  await writeBackup(old.url, fs.createWriteStream(file), () => {})
  await restoreBackup(another, file, () => {})
  const count = await run(another, 'select count(*)::int as count from business')
  assert.deepEqual(count, [{ count: rows.length }])
  assert.match((await checkInAt(another, folder, another)).hold!.heldReason, /^it is a backup of/)
  await assert.rejects(
    restoreBackup(another, file, () => {}),
    /not empty/,
  )
})

/** The database is created as docs/database.md tells the administrator. */
async function startServerWithDatabase(t: TestContext) {
  const server = await startInstalledServer(debianPrograms()!)
  cleanUpLater(t, () => server.stop())
  const { superuserUrl } = server
  await run(superuserUrl, 'create role bellwether login createrole')
  return { url: await addDatabase(superuserUrl, 'bellwether'), superuserUrl }
}

async function addDatabase(superuserUrl: string, name: string) {
  await run(
    superuserUrl,
    `create database ${name} owner bellwether encoding 'UTF8' template template0`,
  )
  const url = new URL(superuserUrl)
  url.pathname = `/${name}`
  url.username = 'bellwether'
  return url.href
}

async function run(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows
}

function runShell(cwd: string, script: string, env: Record<string, string>) {
  const { PATH } = process.env
  // The command of the page is that of this source.
  const bin = path.join(cwd, 'bin')
  fs.mkdirSync(bin, { recursive: true })
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`
  fs.writeFileSync(path.join(bin, 'npx'), npx, { mode: 0o755 })
  const searched = `${bin}:${PATH}`
  const options = { cwd, env: { ...env, PATH: searched }, stdio: 'pipe', encoding: 'utf8' } as const
  return execFileSync('/bin/sh', ['-ec', script], options)
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

async function isHeld(base: string) {
  const answer = await fetch(`${base}/restore`, { headers })
  return ((await answer.json()) as { held: boolean }).held
}
