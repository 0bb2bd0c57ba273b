import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCalendar } from '../../src/feeds/calendar/read.ts'
import { readCalendarFile } from '../../src/feeds/calendar/reader-pool.ts'
import windowsZones from '../../src/feeds/calendar/windows-zones.json' with { type: 'json' }

const msOf = (time: string) => Temporal.Instant.from(time).epochMilliseconds

const window = {
  zone: 'Europe/Zurich',
  fromMs: msOf('2026-03-01T00:00:00Z'),
  toMs: msOf('2027-03-01T00:00:00Z'),
}

const fileOf = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')

const eventOf = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n')

const read = (...events: string[]) => readCalendar({ text: fileOf(...events), ...window })

const readEvents = (...lines: string[]) =>
  read(eventOf('UID:a', ...lines)).flatMap(({ events }) => events)

const timeOf = (ms: number | null) =>
  ms === null ? '–' : Temporal.Instant.fromEpochMilliseconds(ms).toString().slice(0, 16)

/** `start/end` of each event, or why it is held. */
const times = (...lines: string[]) =>
  readEvents(...lines).map(
    ({ startMs, endMs, held }) => held?.code ?? `${timeOf(startMs)}/${timeOf(endMs)}`,
  )

const starts = (...lines: string[]) => times(...lines).map((time) => time.split('/')[0])

test('an event is read with its people, texts and times', () => {
  const [event] = readEvents(
    'DTSTAMP:20260101T000000Z',
    'DTSTART;TZID=Europe/Zurich:20260610T090000',
    'DTEND;TZID=Europe/Zurich:20260610T093000',
    'SUMMARY:Knee\\, second visit\\; new',
    'DESCRIPTION:Write to anna@example.com. Or <Anna@Example.com>',
    'LOCATION:Alt\r\n stadt',
    'CATEGORIES:one\\,two,three',
    'STATUS:tentative',
    'TRANSP:TRANSPARENT',
    'ORGANIZER;CN=Salon:mailto:salon@example.com',
    'ATTENDEE;CN="Keller; Anna: ^\'A^\'";PARTSTAT=accepted;ROLE=REQ-PARTICIPANT:MAILTO:anna@example.com',
    'ATTENDEE;CUTYPE=ROOM;CN=Room 1:urn:uuid:1234',
    'ATTENDEE;EMAIL=ben@example.com:urn:uuid:5678',
    'X-OTHER;X=1:unknown',
    'BEGIN:VALARM\r\nDESCRIPTION:not this\r\nDURATION:PT5H\r\nEND:VALARM',
    'LAST-MODIFIED:20260102T030405Z',
  )
  assert.deepEqual(event, {
    key: 'a',
    uid: 'a',
    startMs: msOf('2026-06-10T07:00:00Z'),
    endMs: msOf('2026-06-10T07:30:00Z'),
    allDay: false,
    status: 'TENTATIVE',
    title: 'Knee, second visit; new',
    isPrivate: false,
    isBusy: false,
    organizer: { emailAddress: 'salon@example.com', firstName: 'Salon', lastName: '–' },
    attendees: [
      {
        emailAddress: 'anna@example.com',
        firstName: 'Keller Anna:',
        lastName: 'A',
        participation: 'ACCEPTED',
      },
      { firstName: 'Room', lastName: '1', type: 'ROOM' },
      { emailAddress: 'ben@example.com' },
    ],
    location: 'Altstadt',
    categories: ['one,two', 'three'],
    addressesInText: ['anna@example.com'],
    createdMs: null,
    changedMs: msOf('2026-01-02T03:04:05Z'),
    held: null,
  })
})

test('of a private event nothing but its time is passed on', () => {
  const [event] = readEvents(
    'DTSTART:20260610T090000Z',
    'CLASS:CONFIDENTIAL',
    'SUMMARY:secret',
    'DESCRIPTION:x@example.com',
    'LOCATION:there',
    'ATTENDEE:mailto:anna@example.com',
  )
  const { isPrivate, title, location, attendees, addressesInText } = event!
  assert.deepEqual(
    [isPrivate, title, location, attendees, addressesInText],
    [true, null, null, [], []],
  )
})

test('zones are found by name, behind a prefix, by the name of Windows, and never guessed', () => {
  const at = (tzid: string) => times(`DTSTART;TZID=${tzid}:20260610T120000`)[0]!.slice(11, 16)
  for (const [tzid, expected] of [
    ['Europe/Berlin', '10:00'],
    ['europe/berlin', '10:00'],
    ['America/Argentina/Buenos_Aires', '15:00'],
    ['"/mozilla.org/20050126_1/Europe/Berlin"', '10:00'],
    ['/freeassociation.sourceforge.net/America/Indiana/Indianapolis', '16:00'],
    ['W. Europe Standard Time', '10:00'],
    ['"Eastern Standard Time"', '16:00'],
    ['"tzone://Microsoft/Utc"', '12:00'],
  ] as const) {
    assert.equal(at(tzid), expected, tzid)
  }
  for (const tzid of ['Berlin', 'Customized Time Zone', '"+01:00"', 'Mars/Olympus', 'Etc/Unknown'])
    assert.deepEqual(times(`DTSTART;TZID=${tzid}:20260610T120000`), ['unknown-zone'], tzid)
})

test('every zone of Windows leads to a zone that exists', () => {
  for (const [name, zone] of Object.entries(windowsZones))
    assert.doesNotThrow(() => new Temporal.ZonedDateTime(0n, zone), name)
  assert.ok(Object.keys(windowsZones).length > 130)
})

const zoneOf = (tzid: string, october: string) =>
  `BEGIN:VTIMEZONE\r\nTZID:${tzid}
BEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYDAY=${october};BYMONTH=10\r\nEND:STANDARD
BEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE`

test('a VTIMEZONE counts if its offsets equal those of a zone; otherwise its events are held', () => {
  const event = eventOf('UID:a', 'DTSTART;TZID=Salon:20260610T120000')
  const startOf = (zone: string) => read(zone, event)[0]!.events[0]!
  assert.equal(timeOf(startOf(zoneOf('Salon', '-1SU')).startMs), '2026-06-10T10:00')
  assert.equal(startOf(zoneOf('Salon', '2SU')).held?.code, 'unknown-zone')
  const fixed = `BEGIN:VTIMEZONE\r\nTZID:Salon\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000
TZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE`
  assert.equal(timeOf(startOf(fixed).startMs), '2026-06-10T06:30')
  const odd = fixed.replaceAll('+0530', '+0517')
  assert.equal(startOf(odd).held?.code, 'unknown-zone')
})

test('floating times and days are those of the given zone', () => {
  assert.deepEqual(times('DTSTART:20260610T120000', 'DURATION:PT45M'), [
    '2026-06-10T10:00/2026-06-10T10:45',
  ])
  const [day] = readEvents('DTSTART;VALUE=DATE:20260610')
  assert.deepEqual(
    [day!.allDay, timeOf(day!.startMs), timeOf(day!.endMs)],
    [true, '2026-06-09T22:00', '2026-06-10T22:00'],
  )
})

test('a series keeps its local time through days of 23 and 25 hours', () => {
  const daily = ['DTSTART;TZID=Europe/Zurich:20260328T090000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY']
  assert.deepEqual(starts(...daily).slice(0, 3), [
    '2026-03-28T08:00',
    '2026-03-29T07:00',
    '2026-03-30T07:00',
  ])
  const autumn = starts('DTSTART;TZID=Europe/Zurich:20261024T090000', 'RRULE:FREQ=DAILY;COUNT=2')
  assert.deepEqual(autumn, ['2026-10-24T07:00', '2026-10-25T08:00'])
})

test('occurrences in the hour that the clock skips are left out, and a repeated hour counts once', () => {
  const skipped = starts('DTSTART;TZID=Europe/Zurich:20260328T023000', 'RRULE:FREQ=DAILY;COUNT=3')
  assert.deepEqual(skipped, ['2026-03-28T01:30', '2026-03-30T00:30', '2026-03-31T00:30'])
  assert.deepEqual(starts('DTSTART;TZID=Europe/Zurich:20260329T023000'), ['2026-03-29T01:30'])
  const repeated = starts('DTSTART;TZID=Europe/Zurich:20261024T023000', 'RRULE:FREQ=DAILY;COUNT=2')
  assert.deepEqual(repeated, ['2026-10-24T00:30', '2026-10-25T00:30'])
})

test('an end is exactly as long after each start, a duration in days follows the clock', () => {
  const night = ['DTSTART;TZID=Europe/Zurich:20260327T220000', 'RRULE:FREQ=DAILY;COUNT=2']
  assert.equal(
    times(...night, 'DTEND;TZID=Europe/Zurich:20260328T060000')[1],
    '2026-03-28T21:00/2026-03-29T05:00',
  )
  assert.equal(times(...night, 'DURATION:P1D')[1], '2026-03-28T21:00/2026-03-29T20:00')
})

test('EXDATE, RDATE and changed occurrences follow their original start', () => {
  const [series] = read(
    eventOf(
      'UID:a',
      'DTSTART;TZID=Europe/Zurich:20260601T090000',
      'DTEND;TZID=Europe/Zurich:20260601T100000',
      'RRULE:FREQ=WEEKLY;COUNT=5',
      'EXDATE:20260608T070000Z',
      'EXDATE;VALUE=DATE:20260615',
      'RDATE;TZID=Europe/Zurich:20260603T090000',
      'RDATE;VALUE=PERIOD:20260604T070000Z/PT2H',
    ),
    eventOf('UID:a', 'RECURRENCE-ID:20260622T070000Z', 'DTSTART:20260623T120000Z', 'SEQUENCE:1'),
    eventOf('UID:a', 'RECURRENCE-ID:20260622T070000Z', 'DTSTART:20260624T120000Z', 'SEQUENCE:2'),
    eventOf(
      'UID:a',
      'RECURRENCE-ID:20260629T070000Z',
      'DTSTART:20260629T070000Z',
      'STATUS:CANCELLED',
    ),
  )
  const found = series!.events.map(
    ({ key, startMs, endMs, status }) => `${key} ${timeOf(startMs)}/${timeOf(endMs)} ${status}`,
  )
  assert.deepEqual(found.toSorted(), [
    'a/2026-06-01T07:00:00Z 2026-06-01T07:00/2026-06-01T08:00 null',
    'a/2026-06-03T07:00:00Z 2026-06-03T07:00/2026-06-03T08:00 null',
    'a/2026-06-04T07:00:00Z 2026-06-04T07:00/2026-06-04T09:00 null',
    'a/2026-06-22T07:00:00Z 2026-06-24T12:00/– null',
    'a/2026-06-29T07:00:00Z 2026-06-29T07:00/– CANCELLED',
  ])
})

test('DTSTART counts as the first occurrence, also if the rule does not name its day', () => {
  assert.deepEqual(starts('DTSTART:20260602T100000Z', 'RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=3'), [
    '2026-06-02T10:00',
    '2026-06-08T10:00',
    '2026-06-15T10:00',
  ])
  const counted = ['DTSTART:20260203T100000Z', 'RRULE:FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1;COUNT=10']
  assert.equal(starts(...counted).at(-1), '2026-04-06T10:00')
  assert.equal(starts('DTSTART:20260602T100000Z', 'RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=1').length, 1)
  for (const rule of ['FREQ=WEEKLY;BYDAY=MO', 'FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1']) {
    const endless = starts('DTSTART;TZID=Africa/Cairo:20260602T100000', `RRULE:${rule}`)
    assert.deepEqual(endless.slice(0, 2), ['2026-06-02T07:00', '2026-06-08T07:00'], rule)
  }
})

test('UNTIL includes its moment, and a date its whole day', () => {
  const until = (value: string) =>
    starts('DTSTART;TZID=Europe/Zurich:20260601T090000', `RRULE:FREQ=DAILY;UNTIL=${value}`).length
  assert.deepEqual(
    ['20260603T070000Z', '20260603T065959Z', '20260603', '20260603T090000'].map(until),
    [3, 2, 3, 3],
  )
  const days = starts('DTSTART;VALUE=DATE:20260601', 'RRULE:FREQ=DAILY;UNTIL=20260603')
  assert.equal(days.length, 3)
})

test('rules that cannot be followed are held before they are expanded', () => {
  for (const rule of [
    'FREQ=HOURLY',
    'FREQ=SECONDLY;COUNT=2',
    'FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=1,2,3;BYSECOND=1,2,3',
    'FREQ=DAILY;INTERVAL=0',
    'FREQ=DAILY;COUNT=200000',
    'FREQ=DAILY;COUNT=2;UNTIL=20260603T070000Z',
    'FREQ=WEEKLY;BYDAY=1MO',
    'FREQ=WEEKLY;BYMONTHDAY=1',
    'FREQ=MONTHLY;BYYEARDAY=1',
    'FREQ=YEARLY;BYYEARDAY=366;BYWEEKNO=1',
    'FREQ=MONTHLY;BYMONTHDAY=32',
    'FREQ=MONTHLY;BYSETPOS=1',
    'FREQ=YEARLY;RSCALE=HEBREW',
    'FREQ=YEARLY;X-UNKNOWN=1',
    'COUNT=3',
    '',
  ]) {
    assert.deepEqual(times('DTSTART:20260601T100000Z', `RRULE:${rule}`), ['unsupported-rule'], rule)
  }
  const weekly = ['DTSTART:20260601T100000Z', 'RRULE:FREQ=WEEKLY']
  assert.deepEqual(times(...weekly, 'RRULE:FREQ=DAILY'), ['unsupported-rule'])
  assert.deepEqual(times(...weekly, 'EXRULE:FREQ=MONTHLY'), ['unsupported-rule'])
  const [series] = read(
    eventOf('UID:a', ...weekly),
    eventOf(
      'UID:a',
      'RECURRENCE-ID;RANGE=THISANDFUTURE:20260608T100000Z',
      'DTSTART:20260609T100000Z',
    ),
  )
  assert.deepEqual(
    series!.events.map(({ key, held }) => `${key} ${held?.code}`),
    ['a unsupported-rule'],
  )
})

test('one bad event is held, and the others of the file are read', () => {
  const found = read(
    eventOf('UID:no-start'),
    eventOf('UID:no-day', 'DTSTART:20260631T100000Z'),
    eventOf('UID:backwards', 'DTSTART:20260601T100000Z', 'DTEND:20260601T090000Z'),
    eventOf('DTSTART:20260601T100000Z'),
    eventOf('UID:passed', 'DTSTART;TZID=Nowhere:20150601T100000'),
    eventOf('UID:good', 'DTSTART:20260601T100000Z'),
  ).flatMap(({ uid, events }) => events.map(({ held }) => `${uid} ${held?.code}`))
  assert.deepEqual(found, [
    'no-start bad-event',
    'no-day bad-event',
    'backwards bad-event',
    ' bad-event',
    'good undefined',
  ])
})

test('a file that was cut, or that is something else, is refused as a whole', () => {
  const whole = fileOf(eventOf('UID:a', 'DTSTART:20260601T100000Z'))
  const refused = (text: string, message: RegExp) =>
    assert.throws(() => readCalendar({ text, ...window }), { message })
  for (const end of ['END:VCALENDAR', 'END:VEVENT', 'DTSTART'])
    refused(whole.slice(0, whole.indexOf(end)), /ends in the middle/)
  refused('', /is not a calendar file/)
  refused('<html><body>Sign in</body></html>', /is not a calendar file/)
  refused(whole.replace('END:VEVENT', 'END:VTODO'), /is damaged/)
  refused('BEGIN:VCALENDAR\n'.repeat(50), /nests too deeply/)
  refused(whole.replace('UID:a', `UID:${'a'.repeat(100_001)}`), /line above 100 KB/)
  const attendees = 'ATTENDEE:mailto:a@example.com\r\n'.repeat(201)
  refused(whole.replace('END:VEVENT', `${attendees}END:VEVENT`), /more than 200 attendees/)
  const words = `DESCRIPTION:${'a'.repeat(90_000)}\r\n`.repeat(12)
  refused(whole.replace('END:VEVENT', `${words}END:VEVENT`), /an event above 1 MiB/)
})

test('events outside of the window are left out, and the next one is named', () => {
  const [series] = read(
    eventOf(
      'UID:a',
      'DTSTART:20250101T230000Z',
      'DURATION:PT2H',
      'RRULE:FREQ=MONTHLY;BYMONTHDAY=1,-1',
    ),
  )
  const found = series!.events.map(({ startMs }) => timeOf(startMs))
  assert.deepEqual([found[0], found.at(-1)], ['2026-02-28T23:00', '2027-02-28T23:00'])
  assert.equal(timeOf(series!.nextMs), '2027-03-01T23:00')
  const [later] = read(eventOf('UID:a', 'DTSTART:20290101T230000Z'))
  assert.deepEqual([later!.events, timeOf(later!.nextMs)], [[], '2029-01-01T23:00'])
  assert.deepEqual(
    later!.later.map(({ key, startMs }) => [key, timeOf(startMs)]),
    [['a', '2029-01-01T23:00']],
    'one that is mirrored may have moved there',
  )
  const [ended] = read(eventOf('UID:a', 'DTSTART:20260601T100000Z', 'RRULE:FREQ=DAILY;COUNT=2'))
  assert.equal(ended!.nextMs, null)
})

test('the digest of an event ignores when it was exported, and the order of its lines', () => {
  const digest = (...lines: string[]) => read(eventOf('UID:a', ...lines))[0]!.digest
  const base = digest('DTSTAMP:20260101T000000Z', 'DTSTART:20260601T100000Z', 'SUMMARY:x')
  assert.equal(digest('SUMMARY:x', 'DTSTART:20260601T100000Z', 'SEQUENCE:3'), base)
  assert.notEqual(digest('SUMMARY:y', 'DTSTART:20260601T100000Z'), base)
})

test('a thread reads files, and refuses one in words', async () => {
  const [series] = await readCalendarFile(1, {
    text: fileOf(eventOf('UID:a', 'DTSTART:20260601T100000Z')),
    ...window,
  })
  assert.equal(series!.events.length, 1)
  await assert.rejects(readCalendarFile(1, { text: 'BEGIN:VCALENDAR', ...window }), {
    message: 'ends in the middle',
  })
})
