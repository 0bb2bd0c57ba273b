import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { findProgram, skipLoudly } from '../support/programs.ts'

const PACKAGES = 'python3-dateutil python3-icalendar python3-recurring-ical-events'

/**
 * Other libraries, which answer tasks one by one: see feeds-oracle.py. Undefined, and the test is
 * skipped, if they are not installed.
 */
export function openOracle(t: TestContext, modules: string) {
  // Debian's own comes first: another Python does not see the packages of Debian.
  const python = ['/usr/bin/python3', findProgram('python3') ?? '']
    .filter((program) => existsSync(program))
    .find((program) => spawnSync(program, ['-c', `import ${modules}`]).status === 0)
  if (!python) {
    skipLoudly(t, `${modules} is missing; "apt-get install ${PACKAGES}" installs it`)
    return undefined
  }
  const child = spawn(python, ['-u', path.join(import.meta.dirname, 'feeds-oracle.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return async <Answer>(tasks: object[]) => {
    for (const task of tasks) child.stdin.write(`${JSON.stringify(task)}\n`)
    const answers: Answer[] = []
    while (answers.length < tasks.length) {
      const { done, value } = await lines.next()
      assert.ok(!done, 'the other libraries failed')
      answers.push(JSON.parse(value) as Answer)
    }
    return answers
  }
}
