import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { tmpdir } from 'node:os'
import { after, test, type TestContext } from 'node:test'
import pg from 'pg'
import { openEmbedded, type Purpose } from '../../src/database/embedded.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { temporaryFolder } from '../support/folder.ts'
import { skipLoudly } from '../support/programs.ts'
import { until } from '../support/until.ts'

const isRoot = process.getuid?.() === 0
const OTHER_USER = { uid: 65533, gid: 65533 }

test('an empty folder becomes a durable database that only its owner can reach', async (t) => {
  const dataDir = temporaryFolder(t)
  const { url } = await opened(t, dataDir, 'service')

  assert.equal(await ask(url, 'show fsync'), 'on')
  assert.equal(await ask(url, 'show timezone'), 'UTC')
  assert.equal(await ask(url, 'show listen_addresses'), '')
  assert.equal(await ask(url, `select lower('ÄÖ') || upper('ß')`), 'äöß')
  assert.equal(fs.statSync(`${dataDir}/postgres`).mode & 0o777, 0o700)
  if (isRoot) assert.notEqual(fs.statSync(`${dataDir}/postgres`).uid, 0)
})

test('another user of the machine cannot connect', async (t) => {
  if (!isRoot) return cannotStage(t, 'acting as another user needs root')
  for (const dataDir of [temporaryFolder(t), longPath(t)]) {
    const { url, stop } = await opened(t, dataDir, 'command')
    const socket = `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`
    const connectScript = `require('node:net').connect(process.argv[1])
      .on('error', (error) => console.log(error.code)).on('connect', () => console.log('open'))
      .on('connect', () => process.exit())`
    const { stdout } = spawnSync(process.execPath, ['-e', connectScript, socket], OTHER_USER)
    await stop()
    assert.equal(stdout.toString().trim(), 'EACCES')
  }
})

test('the server process does not have our environment, and its log has no values of statements', async (t) => {
  process.env.CANARY = 'canary in the environment'
  const dataDir = await readyFolder(t)
  const { url, stop } = await opened(t, dataDir, 'service')
  await assert.rejects(ask(url, `select 'canary@example.com'::int`), /invalid input syntax/)
  const environment = `/proc/${postmaster(dataDir)}/environ`
  if (fs.existsSync(environment))
    assert.doesNotMatch(fs.readFileSync(environment, 'utf8'), /canary/)
  await stop()
  assert.doesNotMatch(fs.readFileSync(`${dataDir}/postgres.log`, 'utf8'), /canary/)
})

test('a kill during the first start leaves no incomplete database', async (t) => {
  const dataDir = temporaryFolder(t)
  const child = holder(t, dataDir, 'service')
  await until(() => list(dataDir).some((name) => name.startsWith('postgres.new-')))
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(!list(dataDir).includes('postgres'))

  const { url } = await opened(t, dataDir, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
  assert.deepEqual(list(dataDir), ['postgres', 'postgres.lib', 'postgres.log'])
})

test('the server has a process group of its own, so that Ctrl-C reaches the service first', async (t) => {
  const dataDir = await readyFolder(t)
  await opened(t, dataDir, 'service')
  const server = postmaster(dataDir)
  assert.equal(processGroup(server), server)
  assert.notEqual(processGroup(process.pid), server)
})

test('a server left behind by a killed service is adopted, and stopped by its new owner', async (t) => {
  const dataDir = await readyFolder(t)
  const child = holder(t, dataDir, 'service')
  await firstLine(child)
  const server = postmaster(dataDir)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(isAlive(server))

  const { url, stop } = await opened(t, dataDir, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
  assert.equal(postmaster(dataDir), server)
  await stop()
  assert.ok(!isAlive(server))
})

test('a stale postmaster.pid whose pid now belongs to another process is ignored', async (t) => {
  const dataDir = await readyFolder(t)
  await (await openEmbedded(dataDir, 'command')).stop()
  for (const file of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const note = `${process.pid}\n${dataDir}/postgres\n1\n5432\n${dataDir}/postgres\n\n`
    fs.writeFileSync(`${dataDir}/postgres/${file}`, note)
    fs.chmodSync(`${dataDir}/postgres/${file}`, 0o644)
  }
  const { url } = await opened(t, dataDir, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
})

test('an empty postmaster.pid of a killed server does not prevent a start', async (t) => {
  const dataDir = await readyFolder(t)
  await (await openEmbedded(dataDir, 'command')).stop()
  for (const file of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    fs.writeFileSync(`${dataDir}/postgres/${file}`, '')
  }
  const { url } = await opened(t, dataDir, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
})

test('stopping shuts the server down cleanly and keeps what was written', async (t) => {
  const dataDir = await readyFolder(t)
  const first = await opened(t, dataDir, 'service')
  await ask(first.url, 'create table kept as select 42 as answer')
  await first.stop()
  const readLog = () => fs.readFileSync(`${dataDir}/postgres.log`, 'utf8')
  assert.match(readLog(), /received fast shutdown request/)
  // If a fast shutdown takes more than eight seconds, on a busy machine, an immediate one follows.
  const isTooSlow = /received immediate shutdown request/.test(readLog())
  // The server writes it after it has removed its postmaster.pid, which `stop` waits for.
  if (!isTooSlow) await until(() => readLog().includes('database system is shut down'))

  const second = await opened(t, dataDir, 'service')
  assert.equal(await ask(second.url, 'select answer from kept'), 42)
  if (!isTooSlow) assert.doesNotMatch(readLog(), /not properly shut down/)
})

test('a second service on the folder is refused in one line, and the first keeps running', async (t) => {
  const dataDir = await readyFolder(t)
  const { url } = await opened(t, dataDir, 'service')
  assert.match(await refusal(t, dataDir, 'service'), /^Another service already runs on .+: stop it/)
  assert.equal(await ask(url, 'select 1'), 1)
})

test('two services that start together on an empty folder: one runs, one is refused', async (t) => {
  const dataDir = temporaryFolder(t)
  const attempts = await Promise.allSettled([
    openEmbedded(dataDir, 'service'),
    openedByProcess(t, dataDir, 'service'),
  ])
  const [mine] = attempts
  if (mine.status === 'fulfilled') cleanUpLater(t, () => mine.value.stop())
  assert.deepEqual(attempts.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const refused = attempts.find((attempt) => attempt.status === 'rejected')
  assert.match(refused?.reason.message, /Another service already runs/)
})

test('a command joins the running server and leaves it running', async (t) => {
  const dataDir = await readyFolder(t)
  const { url } = await opened(t, dataDir, 'service')
  const server = postmaster(dataDir)
  const command = await opened(t, dataDir, 'command')
  assert.equal(command.url, url)
  await command.stop()
  assert.equal(await ask(url, 'select 1'), 1)
  assert.equal(postmaster(dataDir), server)
})

test('a command alone starts a server and stops it', async (t) => {
  const dataDir = await readyFolder(t)
  const command = await opened(t, dataDir, 'command')
  const server = postmaster(dataDir)
  await command.stop()
  assert.ok(!isAlive(server))
})

test('the last process that closes the database stops the server, whatever the order', async (t) => {
  const dataDir = await readyFolder(t)
  const command = await opened(t, dataDir, 'command')
  const service = await opened(t, dataDir, 'service')
  const server = postmaster(dataDir)
  await command.stop()
  assert.equal(await ask(service.url, 'select 1'), 1)

  const late = await opened(t, dataDir, 'command')
  await service.stop()
  assert.equal(await ask(late.url, 'select 1'), 1)
  await late.stop()
  assert.ok(!isAlive(server))
})

test('a service restarts a server that crashed, at the same address', async (t) => {
  for (const dataDir of [await readyFolder(t), longPath(t)]) {
    const { url, stop } = await opened(t, dataDir, 'service')
    await ask(url, 'create table kept as select 42 as answer')
    const server = postmaster(dataDir)
    process.kill(server, 'SIGKILL')
    await until(() => ask(url, 'select answer from kept').then((answer) => answer === 42, no))
    assert.notEqual(postmaster(dataDir), server)
    // Two servers that start together could remove each other's postmaster.pid.
    assert.doesNotMatch(fs.readFileSync(`${dataDir}/postgres.log`, 'utf8'), /already exists/)
    await stop()
  }
})

test('a folder that the user may not enter is refused in one line', async (t) => {
  if (!isRoot) return cannotStage(t, 'acting as another user needs root')
  const dataDir = temporaryFolder(t, 0o700)
  const line = await refusal(t, dataDir, 'service', OTHER_USER)
  assert.match(line, /^DATA_DIR .+ cannot be used: permission denied\. Give this user the folder/)
})

test('a database of another user is refused in one line', async (t) => {
  if (!isRoot) return cannotStage(t, 'acting as another user needs root')
  const dataDir = await readyFolder(t, 0o777)
  await (await openEmbedded(dataDir, 'command')).stop()
  const line = await refusal(t, dataDir, 'service', OTHER_USER)
  assert.match(line, /belongs to another user \(uid \d+\): start as that user or as root/)
})

test('a file in the place of the folder is refused in one line', async (t) => {
  const file = path.join(temporaryFolder(t), 'file')
  fs.writeFileSync(file, '')
  assert.match(await refusal(t, file, 'service'), /^DATA_DIR .+ cannot be used: it is not a folder/)
})

test('a path where no folder can be created is refused in one line', async (t) => {
  if (!fs.existsSync('/proc/self')) return cannotStage(t, 'this machine has no /proc')
  const line = await refusal(t, '/proc/none/data', 'service')
  assert.match(line, /^DATA_DIR .+ cannot be used: it cannot be made there/)
})

test('a database of another PostgreSQL version is refused in one line, and left as it is', async (t) => {
  const dataDir = await readyFolder(t)
  await (await openEmbedded(dataDir, 'command')).stop()
  fs.writeFileSync(`${dataDir}/postgres/PG_VERSION`, '17\n')
  assert.match(await refusal(t, dataDir, 'service'), /holds a database of PostgreSQL 17/)
  fs.writeFileSync(`${dataDir}/postgres/PG_VERSION`, '18\n')
  const { url } = await opened(t, dataDir, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
})

test('a folder with other files in place of the database is refused and not changed', async (t) => {
  const dataDir = temporaryFolder(t)
  fs.mkdirSync(`${dataDir}/postgres`)
  fs.writeFileSync(`${dataDir}/postgres/diary.txt`, 'dear diary')
  assert.match(await refusal(t, dataDir, 'service'), /holds something that is not a database/)
  assert.equal(fs.readFileSync(`${dataDir}/postgres/diary.txt`, 'utf8'), 'dear diary')
})

test('a path too long for a socket works', async (t) => {
  const dataDir = longPath(t)
  const service = await opened(t, dataDir, 'service')
  const command = await opened(t, dataDir, 'command')
  assert.equal(await ask(command.url, 'select 1'), 1)
  await command.stop()
  await service.stop()
  assert.ok(!fs.existsSync(new URL(service.url).searchParams.get('host')!))
})

test('a user id without a name, as in containers, can have a database', async (t) => {
  if (!isRoot) return cannotStage(t, 'acting as another user needs root')
  if (spawnSync('unshare', ['--user', 'true'], OTHER_USER).status !== 0) {
    return cannotStage(t, 'this machine allows no user namespaces')
  }
  const dataDir = temporaryFolder(t)
  fs.chownSync(dataDir, OTHER_USER.uid, OTHER_USER.gid)
  const child = holder(t, dataDir, 'service', OTHER_USER)
  assert.equal(await ask(await firstLine(child), 'select 1'), 1)
})

test('as root, a folder that only root may enter works', async (t) => {
  if (!isRoot) return cannotStage(t, 'only root has such a folder')
  if (spawnSync('unshare', ['--user', 'true']).status !== 0) {
    return cannotStage(t, 'this machine allows no user namespaces')
  }
  const dataDir = path.join(temporaryFolder(t, 0o700), 'data')
  const first = await opened(t, dataDir, 'service')
  assert.equal(await ask(first.url, 'create table kept as select 42 as answer'), undefined)
  await first.stop()

  fs.chmodSync(path.dirname(dataDir), 0o755) // and after the folder was opened to others
  const second = await opened(t, dataDir, 'service')
  assert.equal(await ask(second.url, 'select answer from kept'), 42)
  await second.stop()

  fs.chmodSync(path.dirname(dataDir), 0o700) // and closed again
  const third = await opened(t, dataDir, 'service')
  assert.equal(await ask(third.url, 'select answer from kept'), 42)
})

test('a full disk is reported in one line, at the first start and at a later one', async (t) => {
  const disk = temporaryFolder(t)
  const mounted = isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'none', disk])
  if (!mounted || mounted.status !== 0) return cannotStage(t, 'a small disk cannot be mounted here')
  cleanUpLater(t, () => spawnSync('umount', ['-l', disk]))
  fs.chmodSync(disk, 0o755)
  assert.match(
    await refusal(t, disk, 'service'),
    /cannot be made in .+: .*no space left on the disk/,
  )
  assert.deepEqual(list(disk), ['postgres.lib'], 'no part of a database')

  spawnSync('mount', ['-o', 'remount,size=200m', disk])
  await (await openEmbedded(disk, 'service')).stop()
  const { bavail, bsize } = fs.statfsSync(disk)
  fs.writeFileSync(`${disk}/other`, Buffer.alloc(bavail * bsize))
  assert.match(await refusal(t, disk, 'service'), /does not start: .*no space left on the disk/)

  fs.rmSync(`${disk}/other`)
  const { url } = await opened(t, disk, 'service')
  assert.equal(await ask(url, 'select 1'), 1)
})

// Staging -----------------------------------------------------------------------------------------

let ready: string | undefined

/** A folder with a copy of a database: creating one takes most of the time of a test. */
async function readyFolder(t: TestContext, mode?: number) {
  if (!ready) {
    ready = fs.mkdtempSync(path.join(tmpdir(), 'bellwether-ready-'))
    after(() => fs.rmSync(ready!, { recursive: true, force: true }))
    fs.chmodSync(ready, 0o755)
    await (await openEmbedded(ready, 'command')).stop()
  }
  const folder = temporaryFolder(t, mode)
  spawnSync('cp', ['-a', `${ready}/postgres`, folder])
  return folder
}

const longPath = (t: TestContext) => path.join(temporaryFolder(t), 'long'.repeat(30), 'data')

async function opened(t: TestContext, dataDir: string, purpose: Purpose) {
  const embedded = await openEmbedded(dataDir, purpose)
  cleanUpLater(t, () => embedded.stop())
  return embedded
}

function holder(t: TestContext, dataDir: string, purpose: Purpose, user = {}) {
  const script = path.join(import.meta.dirname, '../support/open-embedded.ts')
  const child = spawn(process.execPath, [script, dataDir, purpose], { ...user, cwd: '/' })
  cleanUpLater(t, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  return child
}

async function openedByProcess(t: TestContext, dataDir: string, purpose: Purpose) {
  const child = holder(t, dataDir, purpose)
  const printed = textOf(child.stderr)
  const url = await Promise.race([firstLine(child), once(child, 'exit').then(() => undefined)])
  if (!url) throw new Error(await printed)
  return url
}

/** The only line that a refused process prints; it must exit with code 2. */
async function refusal(t: TestContext, dataDir: string, purpose: Purpose, user = {}) {
  const child = holder(t, dataDir, purpose, user)
  const printed = textOf(child.stderr)
  const [code] = await once(child, 'exit')
  const lines = (await printed).trim().split('\n')
  assert.equal(code, 2, await printed)
  assert.equal(lines.length, 1, await printed)
  return lines[0]!
}

async function textOf(stream: NodeJS.ReadableStream) {
  let text = ''
  for await (const chunk of stream) text += chunk
  return text
}

async function firstLine(child: ReturnType<typeof spawn>) {
  const [chunk] = await once(child.stdout!, 'data')
  return String(chunk).trim()
}

async function ask(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const postmaster = (dataDir: string) =>
  Number.parseInt(fs.readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8'))

const processGroup = (pid: number) =>
  Number(spawnSync('ps', ['-o', 'pgid=', '-p', String(pid)]).stdout.toString())

const list = (folder: string) => fs.readdirSync(folder).toSorted()

const no = () => false

function isAlive(pid: number) {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return state !== '' && !state.startsWith('Z')
}

function cannotStage(t: TestContext, reason: string) {
  skipLoudly(t, `not possible on this machine: ${reason}`)
}
