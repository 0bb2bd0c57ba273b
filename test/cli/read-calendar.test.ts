import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'

const FILE = `BEGIN:VCALENDAR
BEGIN:VEVENT
UID:weekly
DTSTART;TZID=Europe/Zurich:20261026T090000
DTEND;TZID=Europe/Zurich:20261026T100000
RRULE:FREQ=WEEKLY
ATTENDEE:mailto:anna@example.com
END:VEVENT
BEGIN:VEVENT
UID:holiday
DTSTART;VALUE=DATE:20261102
END:VEVENT
BEGIN:VEVENT
UID:lost
DTSTART;TZID=Nowhere:20261103T090000
END:VEVENT
END:VCALENDAR
`

test('read-calendar prints a line for each occurrence, and refuses a file that was cut', async (t) => {
  const file = path.join(temporaryFolder(t), 'salon.ics')
  const words = ['read-calendar', file, '--zone', 'Europe/Zurich']
  const read = () => runCommand([...words, '--from', '2026-11-01', '--to', '2026-11-09'], {})
  writeFileSync(file, FILE)
  const { code, stdout, stderr } = await read()
  assert.equal(code, 0, stderr)
  const lines = stdout.trim().split('\n')
  const monday = { start: '2026-11-02T08:00:00Z', end: '2026-11-02T09:00:00Z', allDay: false }
  const mirrored = { state: 'MIRRORED', reasonCode: null }
  const attendees = [{ emailAddress: 'anna@example.com' }]
  assert.deepEqual(JSON.parse(lines[2]!), {
    key: 'weekly/2026-11-02T08:00:00Z',
    ...monday,
    status: null,
    ...mirrored,
    attendees,
  })
  const rest = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    rest.map(({ key, start, state, reasonCode }) => [key, start, state, reasonCode].join(' ')),
    [
      'lost  HELD unknown-zone',
      'holiday 2026-11-02 SKIPPED all-day',
      'weekly/2026-11-02T08:00:00Z 2026-11-02T08:00:00Z MIRRORED ',
      'weekly/2026-11-09T08:00:00Z 2026-11-09T08:00:00Z MIRRORED ',
    ],
  )

  writeFileSync(file, FILE.replace('END:VCALENDAR\n', ''))
  const cut = await read()
  assert.deepEqual([cut.code, cut.stdout], [2, ''])
  assert.equal(cut.stderr, `${file} ends in the middle.\n`)
})

test('bin/start reads a file of the folder in which it is called', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(path.join(folder, 'salon.ics'), FILE)
  const start = path.join(import.meta.dirname, '../../bin/start')
  const days = ['--from', '2026-11-01', '--to', '2026-11-09', '--zone', 'Europe/Zurich']
  const words = ['read-calendar', 'salon.ics', ...days]
  const { status, stderr } = spawnSync(start, words, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})
