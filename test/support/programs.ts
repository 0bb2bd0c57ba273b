import { existsSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'

/** The path of a program of Debian; undefined if it is not installed. */
export const findProgram = (name: string) =>
  ['/usr/sbin', '/sbin', ...(process.env.PATH ?? '').split(':')]
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file))

/** Skips the test if a program is missing, with a line on stderr that names its package. */
export function needProgram(t: TestContext, name: string, debianPackage = name) {
  const program = findProgram(name)
  if (!program) skipLoudly(t, `${name} is missing; "apt-get install ${debianPackage}" installs it`)
  return program
}

export function skipLoudly(t: TestContext, reason: string) {
  process.stderr.write(`\nSKIPPED: "${t.name}": ${reason}.\n\n`)
  t.skip(reason)
}
