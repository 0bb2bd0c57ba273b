import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from './support/folder.ts'
import { describeSkipped, needProgram } from './support/programs.ts'

test('the end of a run lists the tests that were skipped because a program is missing', (t) => {
  const list = path.join(temporaryFolder(t), 'skipped')
  assert.equal(describeSkipped(list), '')
  const before = process.env.TEST_SKIPPED_LIST
  process.env.TEST_SKIPPED_LIST = list
  t.after(() => {
    if (before === undefined) delete process.env.TEST_SKIPPED_LIST
    else process.env.TEST_SKIPPED_LIST = before
  })
  // A failed file runs again and writes its lines twice.
  for (const name of ['one proxy', 'another proxy', 'one proxy']) {
    assert.equal(needProgram({ name, skip: () => {} }, 'no-such-program'), undefined)
  }
  assert.equal(
    describeSkipped(list),
    `
SKIPPED TESTS
  because no-such-program is missing; "apt-get install no-such-program" installs it:
    one proxy
    another proxy
`,
  )
})
