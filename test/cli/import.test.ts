import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { lineOf } from '../../src/cli/progress.ts'
import { runCommand } from '../support/command.ts'
import { urlOf } from '../support/owner.ts'
import { startWorld } from '../support/world.ts'

/** A world, and a way to import a file with this text into it from the command line. */
async function startImports(t: TestContext) {
  const world = await startWorld(t)
  const DATABASE_URL = await urlOf(world.database)
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-import-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const run = (name: string, text: string, ...options: string[]) => {
    const file = path.join(folder, name)
    writeFileSync(file, text)
    return runCommand(['import', file, ...options], { DATABASE_URL })
  }
  return { ...world, run, folder }
}

const listed = async (
  { call }: { call: Awaited<ReturnType<typeof startWorld>>['call'] },
  path: string,
) => (await call('GET', path)).body.items

test('import reads NDJSON, reports refused lines and exits with 1', async (t) => {
  const world = await startImports(t)
  const text = [
    '{"kind":"client","externalId":"1","firstName":"Ada","lastName":"Okafor"}',
    '{"kind":"client","externalId":"2","firstName":"Ben"}',
    '{"kind":"recall","clientExternalId":"1","dueTime":1800000000000}',
  ].join('\n')
  const { code, stdout, stderr } = await world.run('all.ndjson', text)
  assert.equal(stdout, 'Accepted: 1 client, 1 recall. Refused: 1.\n')
  assert.equal(stderr, 'line 2: /lastName: is required\n')
  assert.equal(code, 1)
  assert.equal((await listed(world, '/recall')).length, 1)
})

test('a dry run refuses the same lines and keeps nothing', async (t) => {
  const world = await startImports(t)
  const text = [
    '{"kind":"client","externalId":"1","firstName":"Ada","lastName":"Okafor"}',
    '{"kind":"recall","clientExternalId":"1","dueTime":1800000000000}',
    '{"kind":"recall","clientExternalId":"9","dueTime":1800000000000}',
    `{"kind":"client","clientId":${world.ids.clientId},"externalId":"1"}`,
    '{"kind":"client","externalId":"3","firstName":"Cy","lastName":"Li"}',
  ].join('\n')
  const { code, stdout, stderr } = await world.run('all.ndjson', text, '--dry-run')
  assert.equal(stdout, 'Would be accepted: 2 client, 1 recall. Refused: 2.\n')
  assert.equal(
    stderr,
    'line 4: another object of this kind has this externalId\nline 3: /clientExternalId: there is no client with the externalId 9\n',
  )
  assert.equal(code, 1)
  assert.equal((await listed(world, '/client')).length, 1)
})

test('a CSV file is imported by its header, with columns mapped and times in a zone', async (t) => {
  const world = await startImports(t)
  const { ids } = world
  await world.save('/client', { clientId: ids.clientId, externalId: 'anna' })
  const text = [
    '\ufeffID;Kunde;Start Time;end_time;professionalId;reasonId;locationId;Farbe;tags;active',
    `1;anna;2026-07-01 09:00;2026-07-01T10:00:00+02:00;${ids.professionalId};${ids.reasonId};${ids.locationId};rot;"level=gold|silver;source=web";yes`,
    `2;anna;01.12.2026 09:00;1796200000000;${ids.professionalId};${ids.reasonId};${ids.locationId};;;`,
    `3;nobody;2026-07-01 09:00;2026-07-01 08:00;x;${ids.reasonId};${ids.locationId};;;`,
    `4;anna`,
    `5;anna;next week;2026-07-01 08:00;1;${ids.reasonId};${ids.locationId};;;maybe`,
    '',
  ].join('\r\n')
  const { stdout, stderr, code } = await world.run(
    'visits.csv',
    text,
    ...'--kind calendar --map ID=externalId --map Kunde=clientExternalId'.split(' '),
    '--zone',
    'Europe/Berlin',
  )
  assert.equal(stdout, 'Accepted: 2 calendar. Refused: 3.\n', stderr)
  assert.equal(code, 1)
  assert.match(stderr, /^Columns not read: Farbe\. Use --map column=field to read one\.$/m)
  assert.match(stderr, /line 4: professionalId: must be an id: an integer above 0; Kunde: .*nobody/)
  assert.match(stderr, /line 5: Start Time: is required; end_time: is required\n/)
  assert.match(stderr, /line 6: “next week” is not a date or time: write it as 2026-07-01 09:30\n/)
  const [summer, winter] = await listed(world, '/calendar')
  assert.equal(new Date(summer.startTime).toISOString(), '2026-07-01T07:00:00.000Z')
  assert.equal(new Date(summer.endTime).toISOString(), '2026-07-01T08:00:00.000Z')
  assert.deepEqual(summer.tags, { level: ['gold', 'silver'], source: ['web'] })
  assert.equal(new Date(winter.startTime).toISOString(), '2026-12-01T08:00:00.000Z')
})

test('only the CSV row with broken quotes is refused, also if a quote is never closed', async (t) => {
  const world = await startImports(t)
  const text = [
    'externalId,firstName,lastName',
    '1,Ada,"Oka ""Lucky"" for"',
    '2,"Be"n,Smith',
    '3,Cy,"Li',
    'of the hills"',
    '4,"Dora',
    '5,Eve,Moss',
    '6,Fay,',
    '7,Gil,Hopper',
  ].join('\n')
  const { stdout, stderr } = await world.run('clients.csv', text, '--kind', 'client')
  assert.equal(stdout, 'Accepted: 3 client. Refused: 4.\n', stderr)
  assert.deepEqual(stderr.trim().split('\n').toSorted(), [
    'New: 3, changed: 0, as before: 0.',
    'Undo it within a day: bellwether import --undo 1',
    'line 3: text stands behind a closing quote: write a quote twice if it is part of the text',
    'line 4: lastName: must be one line without control characters',
    'line 6: a quote is opened and not closed: close it, or write it twice if it is part of the text',
    'line 8: lastName: is required',
  ])
  const names = (await listed(world, '/client')).map((item: { lastName: string }) => item.lastName)
  assert.deepEqual(names.slice(1), ['Oka "Lucky" for', 'Moss', 'Hopper'])
})

test('--refused writes refused lines to a file', async (t) => {
  const world = await startImports(t)
  const refused = path.join(world.folder, 'refused.ndjson')
  const { stderr } = await world.run('a.ndjson', '{"kind":"client"}\n{', '--refused', refused)
  assert.equal(stderr, '')
  assert.deepEqual(
    readFileSync(refused, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { line: 2, reason: 'is not JSON' },
      { line: 1, reason: '/firstName: is required; /lastName: is required' },
    ],
  )
})

test('an export is read as it is, its refused rows are written with a reason, and it is undone', async (t) => {
  const world = await startImports(t)
  const text = [
    'Datum;Zeit;Dauer;Kunde;Status',
    '03.05.2032;09:30;45;Keller, Anna;bestätigt',
    'morgen;09:30;45;Keller, Anna;bestätigt',
  ].join('\n')
  const refused = path.join(world.folder, 'refused.csv')
  const options = ['--create', 'client', '--events', 'none', '--refused', refused]
  const { stdout, stderr, code } = await world.run('may.csv', text, ...options)
  assert.equal(stdout, 'Accepted: 1 client, 1 calendar. Refused: 1.\n', stderr)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^Columns: Datum = startDate, Zeit = startTimeOfDay, Dauer = durationMinutes/,
  )
  assert.equal(
    readFileSync(refused, 'utf8'),
    '\ufeffDatum,Zeit,Dauer,Kunde,Status,why\r\nmorgen,09:30,45,"Keller, Anna",bestätigt,“morgen” is not a date or time: write it as 2026-07-01\r\n',
  )
  assert.match(stderr, /^line 3: “morgen” is not a date or time/m)
  const [, fileImportId] = /--undo (\d+)/.exec(stderr)!
  const undone = await world.run('may.csv', text, '--undo', fileImportId!)
  assert.equal(undone.stdout, 'Undone: 2. Kept, because they were changed or used since: 0.\n')
  assert.equal((await listed(world, '/calendar')).length, 0)
})

test('a dry run of a file shows its rows as they are read, and an import what it changed', async (t) => {
  const world = await startImports(t)
  const text = 'Datum;Zeit;Dauer;Kunde;Status\n03.05.2032;09:30;45;Keller, Anna;bestätigt'
  const options = ['--create', 'client', '--events', 'none']
  const tried = await world.run('may.csv', text, ...options, '--dry-run')
  assert.match(tried.stderr, /^Status: bestätigt = CONFIRMED\.\nAre created: 1 client\.$/m)
  assert.match(
    tried.stderr,
    /^row 2: client Anna Keller, .*startTime 2032-05-03T09:30\+02:00, .*status CONFIRMED$/m,
  )
  const first = await world.run('may.csv', text, ...options)
  assert.match(first.stderr, /^New: 1, changed: 0, as before: 0\.$/m)
  const again = await world.run('may.csv', text, ...options)
  assert.match(again.stderr, /^New: 0, changed: 0, as before: 1\.$/m)
  const calendar = await world.run('salon.ics', 'BEGIN:VCALENDAR\r\n')
  assert.deepEqual([calendar.code, /Settings, Feeds/.test(calendar.stderr)], [2, true])
})

test('the first 20 refused rows of a file are printed, and how many more there are', async (t) => {
  const world = await startImports(t)
  const bad = Array.from({ length: 23 }, (_, i) => `when ${i},45,anna@example.org`)
  const good = bad.map((_, i) => `2032-05-${10 + (i % 20)} 09:00,45,anna@example.org`)
  const text = ['Start,Duration,Client email', ...bad, ...good].join('\n')
  const { stderr } = await world.run('x.csv', text, '--dry-run')
  assert.equal(
    stderr.match(/^line \d+: “when \d+” is not a date or time: write it as/gm)?.length,
    20,
  )
  assert.match(stderr, /^line 2: [^]*^line 21: .*\n… and 3 more: use --refused to write all/m)
})

test('an invalid command is one line and exit code 2', async (t) => {
  const world = await startImports(t)
  for (const [text, options, line] of [
    ['a,b\n1,2', [], /^No column is a property of an appointment/],
    [
      'Date,Email\n1/2/2032,a@example.org',
      [],
      /^1\/2\/2032 can be read in two ways\. Use --dates dmy if/,
    ],
    ['', ['--kind', 'client'], /^The file is empty/],
    ['a,b\n1,2', ['--kind', 'client'], /^No column is a property of a client/],
    ['a,firstName\n1,2', ['--kind', 'client', '--map', 'x=phone'], /no column x\.$/],
    ['a,firstName\n1,2', ['--kind', 'client', '--map', 'a=colour'], /a client has no colour, but/],
    ['a\n1', ['--kind', 'unicorn'], /--kind <kind>' argument 'unicorn' is invalid/],
    ['a\n1', ['--kind', 'client', '--zone', 'Mars'], /^--zone Mars is not a time zone/],
    ['a\n1', ['--kind', 'client', '--business', '999'], /^There is no business 999\.$/],
  ] as const) {
    const { code, stderr, stdout } = await world.run('x.csv', text, ...options)
    assert.equal(code, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr.trimEnd(), line)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  }
})

test('progress is a bar with rate and time left', () => {
  assert.equal(
    lineOf({ share: 0.25, done: 30_000 }, 10, 'lines'),
    '██████░░░░░░░░░░░░░░░░░░  25 %  30,000 lines  3,000/s  0:30 left',
  )
  assert.match(lineOf({ share: 0.001, done: 1 }, 10, 'lines'), /2:46:30 left$/)
})
