import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { test, type TestContext } from 'node:test'
import { cleanUpLater } from '../support/clean-up.ts'
import { temporaryFolder } from '../support/folder.ts'
import { skipLoudly } from '../support/programs.ts'
import { endServer } from '../support/server.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const KEY = 'operator-key-of-this-test'
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
const body = JSON.stringify({ name: 'Harbour Clinic', timeZone: 'Europe/Berlin' })
const FULL = '503 The disk of the database is full. The operator must free space; then try again.'

test('a full disk is named by saves, /readyz and a metric, and all recover when there is space', async (t) => {
  const disk = mountSmallDisk(t)
  if (!disk) return skipLoudly(t, 'a small disk cannot be mounted here')
  const service = await startService(t, { DATA_DIR: disk, ADMIN_API_KEY: KEY })
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(new URL(path, service.base), { headers, ...init })
    const text = await answer.text()
    return answer.ok ? String(answer.status) : `${answer.status} ${JSON.parse(text).detail}`
  }
  const state = async () => [
    await ask('/business', { method: 'POST', body }),
    await ask('/readyz'),
    await readMetric(service.base),
  ]
  await until(async () => (await state()).join() === '201,200,0')

  // PostgreSQL writes into free parts of its files before it needs new ones.
  const fill = fillDisk(disk)
  await until(async () => (await state()).join() === [FULL, FULL, '1'].join())
  assert.equal(await ask('/business'), '200', 'reads work')
  assert.equal(await ask('/healthz'), '200')
  // A server that cannot write its log stops, and cannot start again.
  await endServer({ folder: `${disk}/postgres`, url: '' }, 'SIGQUIT')
  await until(async () => (await ask('/business')) === FULL)
  assert.equal(await ask('/readyz'), FULL)

  fill.free()
  await until(async () => (await state()).join() === '201,200,0')
})

function mountSmallDisk(t: TestContext) {
  const disk = temporaryFolder(t)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'none', disk]).status !== 0) return
  cleanUpLater(t, () => spawnSync('umount', ['-l', disk]))
  fs.chmodSync(disk, 0o755)
  return disk
}

function fillDisk(disk: string) {
  const file = `${disk}/other`
  const { bavail, bsize } = fs.statfsSync(disk)
  fs.writeFileSync(file, Buffer.alloc(bavail * bsize))
  return { free: () => fs.rmSync(file) }
}

async function readMetric(base: string) {
  const text = await (await fetch(new URL('/metrics', base), { headers })).text()
  return /^bellwether_database_disk_full (\d)$/m.exec(text)?.[1]
}
