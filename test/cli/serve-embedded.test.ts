import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'

test('the service becomes ready on an empty folder and on an existing one', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const first = await startService(t, { DATA_DIR })
  assertWithin(t, { what: 'first start', tookMs: first.startedInMs, limitMs: 5_000 })
  await until(async () => (await first.status('/readyz')) === 200)
  await first.stop()

  const second = await startService(t, { DATA_DIR })
  assertWithin(t, { what: 'later start', tookMs: second.startedInMs, limitMs: 2_000 })
  await until(async () => (await second.status('/readyz')) === 200)
})

for (const [name, signal] of [
  ['SIGTERM', 'SIGTERM'],
  ['Ctrl-C', 'SIGINT'],
] as const) {
  test(`${name} ends the service with 0 and the database cleanly after it`, async (t) => {
    const DATA_DIR = temporaryFolder(t)
    const service = await startService(t, { DATA_DIR })
    const server = postmaster(DATA_DIR)
    assert.equal(await service.stop(signal), 0)
    assert.ok(!isAlive(server))
    assert.match(
      fs.readFileSync(`${DATA_DIR}/postgres.log`, 'utf8'),
      /database system is shut down/,
    )
  })
}

test('Ctrl-C during the start leaves no database behind', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { ...process.env, DATA_DIR, PORT: '0' },
    stdio: 'ignore',
  })
  const exit = once(child, 'exit')
  t.after(() => void child.kill())
  // PostgreSQL creates the file first and writes its number into it afterwards.
  const noteOf = `${DATA_DIR}/postgres/postmaster.pid`
  await until(() => fs.existsSync(noteOf) && postmaster(DATA_DIR) > 0)
  const server = postmaster(DATA_DIR)
  child.kill('SIGINT')
  const [code] = await exit
  assert.equal(code, 0)
  assert.ok(!isAlive(server))
})

test('a service killed outright starts again on the same database, with the same rows', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const settings = { DATA_DIR, ADMIN_API_KEY: 'operator-key-of-this-test' }
  const headers = {
    authorization: 'Bearer operator-key-of-this-test',
    'content-type': 'application/json',
  }
  const first = await startService(t, settings)
  const server = postmaster(DATA_DIR)
  const body = JSON.stringify({ name: 'Kept', timeZone: 'Europe/Paris' })
  assert.equal(await first.status('/business', { method: 'POST', headers, body }), 201)
  await first.stop('SIGKILL')
  assert.ok(isAlive(server))

  const second = await startService(t, settings)
  assert.equal(postmaster(DATA_DIR), server)
  const answer = await fetch(`${second.base}/business`, { headers })
  assert.match(await answer.text(), /"Kept"/)
  assert.equal(await second.stop(), 0)
  assert.ok(!isAlive(server))
})

test('a second service on the same data folder is refused in one line; commands are allowed', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const service = await startService(t, { DATA_DIR })
  const second = await runCommand(['serve'], { DATA_DIR, PORT: '0' })
  assert.equal(second.code, 2)
  assert.match(second.stderr, /^Another service already runs on .*\n$/)

  const command = await runCommand(['doctor'], { DATA_DIR })
  assert.equal(command.code, 0, command.stderr)
  assert.doesNotMatch(command.stdout, /update PostgreSQL/, 'it came with npm')
  await until(async () => (await service.status('/readyz')) === 200)
})

const postmaster = (dataDir: string) =>
  Number.parseInt(fs.readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8'))

const isAlive = (pid: number) =>
  /^[^Z]/.test(
    spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .stdout.toString()
      .trim(),
  )
