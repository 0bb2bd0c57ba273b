import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { buildConsole } from '../../src/cli/build-console.ts'
import { openLog } from '../../src/log.ts'
import { temporaryFolder } from '../support/folder.ts'

test('the console that one user built can be read by another', async (t) => {
  const dist = path.join(temporaryFolder(t), 'dist')
  await buildConsole(openLog('silent'), dist)
  for (const name of ['.', ...fs.readdirSync(dist, { recursive: true, encoding: 'utf8' })]) {
    const { mode } = fs.statSync(path.join(dist, name))
    assert.equal(mode & 0o004, 0o004, `${name} can be read by others`)
  }
})

test('services that start together use the build that is ready first, and keep its files', async (t) => {
  const folder = temporaryFolder(t)
  const dist = path.join(folder, 'dist')
  const inodes: number[] = []
  const build = async () => {
    await buildConsole(openLog('silent'), dist)
    inodes.push(fs.statSync(dist).ino)
  }
  await Promise.all([build(), build()])
  assert.equal(inodes[0], inodes[1])
  assert.deepEqual(fs.readdirSync(folder), ['dist'])
})

test('an old build is replaced', async (t) => {
  const folder = temporaryFolder(t)
  const dist = path.join(folder, 'dist')
  fs.mkdirSync(dist)
  fs.writeFileSync(path.join(dist, 'index.html'), 'old')
  fs.utimesSync(path.join(dist, 'index.html'), 0, 0)
  await buildConsole(openLog('silent'), dist)
  assert.notEqual(fs.readFileSync(path.join(dist, 'index.html'), 'utf8'), 'old')
  assert.deepEqual(fs.readdirSync(folder), ['dist'])
})
