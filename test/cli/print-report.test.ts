import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { fillBusiness } from '../reports/business.ts'
import { readCsv } from '../reports/read-back.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'

const OCTOBER = ['--from', '2026-10-01', '--to', '2026-10-31']

test('print-report chooses the format by the file name', async (t) => {
  const { book, print, folder } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  const { code, stderr } = await print(['101', ...OCTOBER, '--out', path.join(folder, 'list.csv')])
  assert.equal(code, 0, stderr)
  assert.equal(readCsv(await readFile(path.join(folder, 'list.csv'))).rows.length, 1)
  assert.deepEqual(await readdir(folder), ['list.csv'])
})

test('print-report filters and groups', async (t) => {
  const { book, print } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-06T09:00+02:00', status: 'NO_SHOW' })
  const words = ['101', ...OCTOBER, '--status', 'NO_SHOW', '--group-by', 'staff', 'day']
  const { code, stdout, stderr } = await print([...words, '--format', 'json', '--out', '-'])
  assert.equal(code, 0, stderr)
  const { rows } = JSON.parse(stdout)
  assert.deepEqual(rows[0].slice(0, 4), ['Elena García', '2026-10-06', 'Tue', 1])
  assert.equal(rows.length, 1)
})

test('print-report takes a report by its name, and standard output as its file', async (t) => {
  const { print } = await open(t)
  const { code, stdout } = await print(['clients', ...OCTOBER, '--format', 'json', '--out', '-'])
  assert.equal(code, 0)
  assert.equal(JSON.parse(stdout).report.reportId, 501)
})

for (const [name, words, line] of [
  ['an unknown report', ['7', ...OCTOBER], /^The report: there is no such report\n$/],
  [
    'an impossible day',
    ['101', '--from', '2026-02-30', '--to', '2026-03-01'],
    /^--from must be a date, .*\n$/,
  ],
  [
    'an unknown format',
    ['101', ...OCTOBER, '--format', 'docx'],
    /^error: option '--format <format>'.*\n$/,
  ],
  [
    'an unknown location',
    ['101', ...OCTOBER, '--location', '999999'],
    /^--location there is no such .*\n$/,
  ],
  [
    'an unknown status',
    ['101', ...OCTOBER, '--status', 'NOSHOW'],
    /^--status must be one of .*NO_SHOW.*\n$/,
  ],
  [
    'an unknown group',
    ['101', ...OCTOBER, '--group-by', 'hour'],
    /^--group-by must be one of staff, .*\n$/,
  ],
  [
    'a folder that is not there',
    ['101', ...OCTOBER, '--out', '/nowhere/at/all.csv'],
    /cannot be written.*\n$/,
  ],
] as const) {
  test(`print-report says ${name} in one line and exits 2`, async (t) => {
    const { print } = await open(t)
    const { code, stderr } = await print([...words])
    assert.equal(code, 2)
    assert.match(stderr, line)
  })
}

async function open(t: TestContext) {
  const { database, url } = await cloneDatabase(t)
  const folder = await mkdtemp(path.join(tmpdir(), 'print-report-'))
  t.after(() => rm(folder, { recursive: true }))
  const { book } = await fillBusiness(database)
  const print = (words: string[]) => runCommand(['print-report', ...words], { DATABASE_URL: url })
  return { book, print, folder }
}
