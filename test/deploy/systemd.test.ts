import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { needProgram, skipLoudly } from '../support/programs.ts'

const unit = path.join(import.meta.dirname, '../../deploy/bellwether.service')
const MAX_EXPOSURE = 2

test('systemd rates the exposure of the unit at most 2.0', (t) => {
  const program = needProgram(t, 'systemd-analyze', 'systemd')
  if (!program) return
  const args = ['security', '--offline=true', '--no-pager', unit]
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (/unrecognized option/.test(stderr)) return skipLoudly(t, 'systemd is older than 250')
  const exposure = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]
  assert.ok(exposure, stderr)
  assert.ok(Number(exposure) <= MAX_EXPOSURE, stdout)
})

test('the unit starts after the network and PostgreSQL, and is restarted without a limit', () => {
  const lines = readFileSync(unit, 'utf8').split('\n')
  for (const line of [
    'After=network-online.target postgresql.service',
    'Restart=always',
    'RestartSec=5',
    'StartLimitIntervalSec=0',
  ]) {
    assert.ok(lines.includes(line), line)
  }
})

test('PDFs, exports and bounces are made by a service that must not set priorities', (t) => {
  const program = needProgram(t, 'python3')
  if (!program) return
  const [filter, work] = ['deny-set-priority.py', 'work-of-workers.ts'].map((name) =>
    path.join(import.meta.dirname, name),
  )
  const args = [filter!, process.execPath, work!]
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (stderr.startsWith('no filter is possible')) return skipLoudly(t, stderr.trim())
  assert.equal(status, 0, stderr)
  assert.match(stdout, /priority: 'cannot be set'/)
  assert.match(stdout, /pdf: '%PDF'/)
  assert.match(stdout, /csv: \d{3}/)
})
