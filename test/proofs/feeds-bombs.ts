import type http from 'node:http'
import { bookingOf } from '../support/feed-sources.ts'

/** A file or an answer that is made to exhaust its reader. */
export type Bomb = {
  what: string
  source: 'ICS' | 'CALDAV' | 'CALCOM'
  answer(response: http.ServerResponse): void
}

const MB = 1_048_576

const times = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at))
const joined = (lines: string | string[]) => (Array.isArray(lines) ? lines.join('\r\n') : lines)
/** Without spreading many lines: arguments are on the stack. */
const calendar = (...lines: (string | string[])[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines.map(joined), 'END:VCALENDAR', ''].join('\r\n')
const event = (...lines: string[]) => {
  const given = (name: string) => lines.some((line) => line.startsWith(name))
  return [
    'BEGIN:VEVENT',
    ...(given('UID') ? [] : ['UID:a']),
    ...(given('DTSTART') ? [] : ['DTSTART:20261120T090000Z']),
    ...lines,
    'END:VEVENT',
  ].join('\r\n')
}
const upTo = (count: number, from = 0) => times(count, (at) => String(from + at)).join(',')
const day = (at: number) =>
  String(Temporal.PlainDate.from('1900-01-01').add({ days: at })).replaceAll('-', '')
const zone = (name: string, ...lines: string[]) =>
  [
    'BEGIN:VTIMEZONE',
    `TZID:${name}`,
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:+0013',
    'TZOFFSETTO:+0013',
    ...lines,
    'END:STANDARD',
    'END:VTIMEZONE',
  ].join('\r\n')

/** Calendar files. */
const FILES: Record<string, () => string> = {
  'lists of seconds, minutes and hours': () =>
    calendar(
      event(`RRULE:FREQ=DAILY;BYHOUR=${upTo(24)};BYMINUTE=${upTo(60)};BYSECOND=${upTo(60)}`),
    ),
  'a rule of seconds': () => calendar(event('RRULE:FREQ=SECONDLY')),
  'a series since 1601': () => calendar(event('DTSTART:16010101T000000Z', 'RRULE:FREQ=DAILY')),
  'a day that does not exist, since 1601': () =>
    calendar(event('DTSTART:16010101T000000Z', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30')),
  'two thousand millions of occurrences': () =>
    calendar(event('RRULE:FREQ=DAILY;COUNT=2000000000')),
  'an interval of none': () => calendar(event('RRULE:FREQ=DAILY;INTERVAL=0')),
  'all days by all their numbers': () =>
    calendar(
      event(
        `RRULE:FREQ=YEARLY;BYDAY=${['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'].flatMap((name) => times(53, (at) => `${at + 1}${name},-${at + 1}${name}`)).join(',')};BYSETPOS=${upTo(366, 1)}`,
      ),
    ),
  'a hundred thousand days in a rule': () =>
    calendar(event(`RRULE:FREQ=YEARLY;BYYEARDAY=${upTo(100_000, 1)}`)),
  'a thousand rules': () => calendar(event(...times(1_000, () => 'RRULE:FREQ=DAILY'))),
  'a million dates left out': () =>
    calendar(
      event(
        'RRULE:FREQ=DAILY',
        ...times(100, () => `EXDATE;VALUE=DATE:${times(10_000, day).join(',')}`),
      ),
    ),
  'a million dates more': () =>
    calendar(
      event(
        ...times(
          100,
          (at) => `RDATE;VALUE=DATE:${times(10_000, (more) => day(at * 400 + more)).join(',')}`,
        ),
      ),
    ),
  'a million attendees': () =>
    calendar(event(times(1_000_000, (at) => `ATTENDEE:mailto:a${at}@b.example`).join('\r\n'))),
  'fifty thousand series': () =>
    calendar(
      times(50_000, (at) =>
        event(`UID:${at}`, 'DTSTART;TZID=Europe/Zurich:20200101T090000', 'RRULE:FREQ=DAILY'),
      ),
    ),
  'half a million events': () => calendar(times(500_000, (at) => event(`UID:${at}`))),
  'a hundred thousand changed occurrences': () =>
    calendar(
      event('RRULE:FREQ=DAILY'),
      times(100_000, (at) => event(`RECURRENCE-ID;VALUE=DATE:${day(at)}`)),
    ),
  'a line of 40 MB': () => calendar(event(`SUMMARY:${'x'.repeat(40 * MB)}`)),
  'a line of ten million folds': () => calendar(event(`SUMMARY:${'x\r\n '.repeat(10_000_000)}`)),
  'components within components': () => 'BEGIN:VEVENT\r\n'.repeat(3_000_000),
  'a hundred thousand changes of a clock': () =>
    calendar(
      zone(
        'X',
        ...times(100, () => `RDATE:${times(1_000, (at) => `${day(at * 30)}T000000`).join(',')}`),
      ),
      event('DTSTART;TZID=X:20261120T090000'),
    ),
  'a clock that changes each second': () =>
    calendar(zone('X', 'RRULE:FREQ=SECONDLY'), event('DTSTART;TZID=X:20261120T090000')),
  'five thousand time zones of its own': () =>
    calendar(
      times(5_000, (at) => zone(`X${at}`)),
      times(5_000, (at) => event(`UID:${at}`, `DTSTART;TZID=X${at}:20261120T090000`)),
    ),
  'a time zone of a hundred thousand parts': () =>
    calendar(event(`DTSTART;TZID=${'a/'.repeat(49_000)}b:20261120T090000`)),
  'a parameter of open quotes': () =>
    calendar(event(`ATTENDEE;CN=${'"",'.repeat(30_000)}":mailto:a@b.example`)),
  'a duration without end': () =>
    calendar(event('DURATION:P99999W99999DT999999H9999999M99999999S', 'RRULE:FREQ=DAILY')),
  'a million parts of an address': () =>
    calendar(
      event(
        `SUMMARY:${'a@'.repeat(45_000)}`,
        ...times(20, () => `DESCRIPTION:${'a.'.repeat(45_000)}@`),
      ),
    ),
  'a file of nothing but line breaks': () => '\r\n'.repeat(30 * MB),
}

const NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
const multistatus = (content: string) =>
  `<?xml version="1.0"?><d:multistatus ${NAMESPACES}>${content}</d:multistatus>`
const response = (href: string, properties: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`

/** Answers of a CalDAV server. */
const ANSWERS: Record<string, () => string> = {
  'entities that grow': () =>
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "${'x'.repeat(1_000)}">${times(20, (at) => `<!ENTITY a${at} "${`&a${at === 0 ? '' : at - 1};`.repeat(10)}">`).join('')}]>${multistatus('&a19;')}`,
  'a million levels': () => multistatus('<a>'.repeat(1_000_000)),
  'half a million responses': () =>
    multistatus(
      times(500_000, (at) => response(`/cal/${at}`, '<d:getetag>"1"</d:getetag>')).join(''),
    ),
  'a million attributes': () =>
    multistatus(`<d:response ${times(1_000_000, (at) => `a${at}="b"`).join(' ')}/>`),
  'a name of 40 MB': () => multistatus(`<${'a'.repeat(40 * MB)}/>`),
  'a text of 60 MB': () =>
    multistatus(response('/cal/', `<d:displayname>${'x'.repeat(60 * MB)}</d:displayname>`)),
}

/** Answers of Cal.com. */
const PAGES: Record<string, () => string> = {
  'lists within lists': () => '['.repeat(4_000_000),
  'a page that is always followed by another': () =>
    JSON.stringify({
      data: times(250, (at) => `b${at}`).map((uid) => bookingOf(uid)),
      pagination: { totalItems: 1e9, hasNextPage: true },
    }),
  'a booking of a million attendees': () =>
    JSON.stringify({
      data: [
        bookingOf('a', {
          attendees: times(100_000, (at) => `{"email":"a${at}@b.example"}`).map((text) =>
            JSON.parse(text),
          ),
        }),
      ],
      pagination: {},
    }),
}

/** Bodies that never end, and what a server can do with its headers. */
const STREAMS: Record<string, (response: http.ServerResponse) => void> = {
  'a line of 1 GB'(response) {
    response.writeHead(200)
    const piece = Buffer.alloc(MB, 'x')
    const more = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', more)
    more()
  },
  'an answer that is compressed a thousandfold': (response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.alloc(MB)),
  'redirects without end': (response) => void response.writeHead(302, { location: '/cal/' }).end(),
}

const bombsOf = (
  source: Bomb['source'],
  status: number,
  bodies: Record<string, () => string>,
): Bomb[] =>
  Object.entries(bodies).map(([what, body]) => ({
    what,
    source,
    answer: (response) => void response.writeHead(status).end(body()),
  }))

export const BOMBS: Bomb[] = [
  ...bombsOf('ICS', 200, FILES),
  ...bombsOf('CALDAV', 207, ANSWERS),
  ...bombsOf('CALCOM', 200, PAGES),
  ...Object.entries(STREAMS).map(([what, answer]) => ({ what, source: 'ICS' as const, answer })),
]
