import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'

type Skippable = Pick<TestContext, 'name' | 'skip'>

/** The path of a program of Debian; undefined if it is not installed. */
export const findProgram = (name: string) =>
  ['/usr/sbin', '/sbin', ...(process.env.PATH ?? '').split(':')]
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file))

/** Skips the test if a program is missing; the reason names its package. */
export function needProgram(t: Skippable, name: string, debianPackage = name) {
  const program = findProgram(name)
  if (!program) skipLoudly(t, `${name} is missing; "apt-get install ${debianPackage}" installs it`)
  return program
}

/** Skips the test and adds it to the list that `test/run.ts` prints at the end. */
export function skipLoudly(t: Skippable, reason: string) {
  const list = process.env.TEST_SKIPPED_LIST
  if (list) appendFileSync(list, `${reason}\t${t.name}\n`)
  else process.stderr.write(`\nSKIPPED: "${t.name}": ${reason}.\n\n`)
  t.skip(reason)
}

/** What `skipLoudly` wrote in this list: each reason with its tests. Empty if no test was skipped. */
export function describeSkipped(list: string) {
  const lines = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []
  const byReason = Object.groupBy(new Set(lines), (line) => line.slice(0, line.indexOf('\t')))
  const parts = Object.entries(byReason).map(([reason, some]) =>
    [`  because ${reason}:`, ...some!.map((line) => `    ${line.slice(reason.length + 1)}`)].join(
      '\n',
    ),
  )
  return parts.length === 0 ? '' : `\nSKIPPED TESTS\n${parts.join('\n')}\n`
}
