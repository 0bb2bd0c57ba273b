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
