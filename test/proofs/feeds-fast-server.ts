import http from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * A process with a fast CalDAV server, one calendar at every path: the first `series` of its `files` are
 * series of twelve weeks. Its parent changes so many files at once.
 */

const [files, series] = process.argv.slice(2).map(Number) as [number, number]
/** The version of each file, and of the calendar, which is its sync token. */
const versions = Array.from({ length: files }, () => 1)
const changedAt = Array.from({ length: files }, () => 1)
let version = 1

const NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
const found = (href: string, prop: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${prop}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
const CALENDAR = '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>'
const START = Temporal.PlainDateTime.from('2026-03-16T06:00')

function fileOf(at: number) {
  const start = START.add({ days: at % 200, minutes: (versions[at]! * 15 + (at % 40) * 15) % 720 })
  const time = start.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  return [
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    `UID:e${at}`,
    `DTSTART;TZID=Europe/Zurich:${time}`,
    'DURATION:PT30M',
    'SUMMARY:Knee',
    ...(at < series ? ['RRULE:FREQ=WEEKLY;COUNT=12'] : []),
    `ATTENDEE:mailto:client${at % 1_000}@example.org`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')
}

const etag = (at: number) => `<d:getetag>"${versions[at]}"</d:getetag>`
const all = versions.map((_, at) => at)

function answer(path: string, method: string, body: string) {
  if (method === 'PROPFIND') {
    const isListing = body.includes('getetag')
    return [
      found(path, CALENDAR),
      ...(isListing ? all.map((at) => found(`${path}${at}.ics`, etag(at))) : []),
    ]
  }
  if (body.includes('sync-collection')) {
    const since = Number(/sync-token>(\d+)</.exec(body)?.[1] ?? 0)
    const changed = all.filter((at) => changedAt[at]! > since)
    return [
      ...changed.map((at) => found(`${path}${at}.ics`, etag(at))),
      `<d:sync-token>${version}</d:sync-token>`,
    ]
  }
  const asked = [...body.matchAll(/<d:href>[^<]*?(\d+)\.ics</g)].map(([, at]) => Number(at))
  return asked.map((at) =>
    found(`${path}${at}.ics`, `${etag(at)}<c:calendar-data>${fileOf(at)}</c:calendar-data>`),
  )
}

const server = http.createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const parts = answer(request.url!, request.method!, Buffer.concat(chunks).toString())
  response.writeHead(207, { 'content-type': 'application/xml' })
  response.end(
    `<?xml version="1.0"?><d:multistatus ${NAMESPACES}>${parts.join('')}</d:multistatus>`,
  )
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit(1)) // the parent has ended
process.on('message', (count: number) => {
  version += 1
  for (let at = 0; at < count; at += 1) {
    versions[files - 1 - at]! += 1
    changedAt[files - 1 - at] = version
  }
  process.send!(0)
})
