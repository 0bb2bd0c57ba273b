import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { temporaryFolder } from './support/folder.ts'
import { installForTests } from './support/install.ts'

test('npm test names what it installs, with the command, before it installs it', (t) => {
  const { file, installation } = stage(t)
  const said: string[] = []
  const say = (line: string) => {
    if (said.length === 0) assert.ok(!existsSync(file), 'said before anything is installed')
    said.push(line)
  }
  assert.equal(installForTests(installation, { say }), true)
  assert.ok(existsSync(file))
  assert.deepEqual(said, [
    `Missing: a browser for the tests. Installing it now (TEST_INSTALL=0 forbids this): ${installation.command}`,
    'Installed.',
  ])
})

test('TEST_INSTALL=0 forbids an installation, and one line says what to do instead', (t) => {
  const { file, installation } = stage(t)
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const env = { ...process.env, TEST_INSTALL: '0' }
  assert.equal(installForTests(installation, { env, say }), false)
  assert.ok(!existsSync(file))
  assert.deepEqual(said, [
    'Missing: a browser for the tests. TEST_INSTALL=0 forbids installing it. Set CHROMIUM_PATH.',
  ])
})

test('an installation that fails says so, and what to do instead', (t) => {
  const { installation } = stage(t)
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  assert.equal(installForTests({ ...installation, command: 'exit 3' }, { say }), false)
  assert.equal(said[1], 'The installation failed. Set CHROMIUM_PATH.')
})

function stage(t: TestContext) {
  const file = path.join(temporaryFolder(t), 'installed')
  const installation = {
    missing: 'a browser for the tests',
    command: `touch '${file}'`,
    instead: 'Set CHROMIUM_PATH.',
  }
  return { file, installation }
}
