import { spawnSync } from 'node:child_process'

export type Installation = {
  /** What is missing, and which tests need it. */
  missing: string
  command: string
  /** How to do without the installation. */
  instead: string
}

/**
 * Installs a missing package for a test run and prints the command before it does so. `TEST_INSTALL=0`
 * forbids it. Returns whether it succeeded.
 */
export function installForTests(
  { missing, command, instead }: Installation,
  { env = process.env, say = console.log as (line: string) => void } = {},
) {
  if (env.TEST_INSTALL === '0') {
    say(`Missing: ${missing}. TEST_INSTALL=0 forbids installing it. ${instead}`)
    return false
  }
  say(`Missing: ${missing}. Installing it now (TEST_INSTALL=0 forbids this): ${command}`)
  const { status } = spawnSync('/bin/sh', ['-c', command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  say(status === 0 ? 'Installed.' : `The installation failed. ${instead}`)
  return status === 0
}
