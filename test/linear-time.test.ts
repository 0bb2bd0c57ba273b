import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import type { TSchema } from 'typebox'
import { refusals } from '../src/automation/match.ts'
import {
  hideAddresses,
  parseAddress,
  parseDomain,
  parseMailbox,
} from '../src/contract/addresses.ts'
import { parseFilterTags, type Definition } from '../src/contract/event-definition.ts'
import { schemaFaults } from '../src/contract/find-faults.ts'
import { OBJECT_KINDS, objectKind } from '../src/contract/objects.ts'
import { readMailReport } from '../src/email/bounce.ts'
import { templateFaults } from '../src/email/check-template.ts'
import { readBounceAddress } from '../src/email/verp.ts'
import { parseCalendars } from '../src/feeds/calendar/content-lines.ts'
import { readCalendar } from '../src/feeds/calendar/read.ts'
import { readMultistatus } from '../src/feeds/sources/multistatus.ts'
import { readAppointment } from '../src/file-import/appointment-rows.ts'
import { readerOf } from '../src/file-import/cells.ts'
import { readCsvRecords } from '../src/file-import/csv-records.ts'
import { guessFields } from '../src/file-import/headings.ts'
import { readJsonBodies } from '../src/http/server/body.ts'
import { openLog } from '../src/log.ts'
import { readNdjson } from '../src/scheduling/ndjson.ts'
import { searchableWordsOf, searchWordsOf } from '../src/store/client-words.ts'
import type { Subject } from '../src/store/subject.ts'
import { XmlReader } from '../src/xml.ts'
import { findSlowRuns, measureGrowth, unitsFor } from './support/hostile-text.ts'

/** Work that once took quadratic time: seconds for the size 1. */
const cases: { name: string; work: (size: number) => unknown }[] = [
  {
    name: 'unknown tokens at the ends of many lines',
    work: (size) =>
      templateFaults({ emailBodyText: `${'\n'.repeat(4)}%NO_SUCH%`.repeat(300_000 * size) }),
  },
  {
    name: 'an import whose line arrives one byte at a time',
    work: (size) => readPieces(Buffer.from('a'), 50_000 * size),
  },
  {
    name: 'an import of a large file whose end arrives one byte at a time',
    work: (size) =>
      readPieces(Buffer.from(`{"kind":"fileLibrary"`.padEnd(1_100_000)), 50_000 * size),
  },
  {
    name: 'a definition that asks for many tags, for many objects',
    work: (size) => {
      const wanted = Array.from({ length: 12_000 * size }, (_, i) => `v${i}`)
      const definition = {
        eventTypeId: 3,
        objectType: 'CALENDAR',
        filterTagMapJson: JSON.stringify({ level: wanted }),
        locationIdList: [],
        professionalIdList: [],
        reasonIdList: [],
        disclaimerFormIdList: [],
      } as unknown as Definition
      const own = Array.from({ length: 100 }, (_, i) => `w${i}`)
      const subject = {
        objectType: 'CALENDAR',
        tags: { level: own },
        clientTags: { level: own },
      } as unknown as Subject
      for (let i = 0; i < 1_000 * size; i++)
        assert.notEqual(refusals(definition, subject).length, 0)
    },
  },
  {
    name: 'an error message that repeats what a caller sent',
    work: (size) => {
      const log = openLog('error', { write: () => {} })
      log.error({ err: new Error('x'.repeat(400_000 * size)) }, 'failed')
    },
  },
]

for (const { name, work } of cases)
  test(`${name} take${name.startsWith('unknown') ? '' : 's'} linear time`, async (t) => {
    const { small, large, isLinear } = await measureGrowth(work)
    const took = `${small.toFixed(1)} ms, four times the size ${large.toFixed(1)} ms`
    t.diagnostic(took)
    assert.ok(isLinear, took)
  })

async function readPieces(first: Buffer, others: number) {
  async function* pieces() {
    yield first
    for (let i = 0; i < others; i++) yield Buffer.from('a')
  }
  for await (const lines of readNdjson(pieces())) assert.equal(lines.length, 1)
}

/** Quadratic time for this many characters is a quarter of a second. */
const LENGTH = 16_384
/** Reading a line takes much longer than reading a character. */
const lengthOf = (unit: string) => (unit.includes('\n') ? 4_096 : LENGTH)

async function readAll(lines: AsyncIterable<unknown[]>) {
  for await (const some of lines) assert.ok(some.length <= 1_000)
}

async function* inPieces(text: string) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 8_192) yield bytes.subarray(at, at + 8_192)
}

async function* inTextPieces(text: string) {
  for (let at = 0; at < text.length; at += 8_192) yield text.slice(at, at + 8_192)
}

/** Reads a file as a row of each field of the kind. */
async function csvOf(name: string, text: string) {
  const kind = objectKind(name)!
  const rules = { kind, order: 'dmy', zone: 'Europe/Zurich' } as const
  let fields: (string | null)[] | undefined
  for await (const rows of readCsvRecords(inTextPieces(text))) {
    assert.ok(rows.length <= 1_000)
    for (const row of rows) {
      if ('fault' in row) continue
      fields ??= guessFields(kind, row.cells, [])
      if (name === 'calendar') readAppointment(row.cells, fields, rules)
      else
        for (const [i, cell] of row.cells.entries()) readerOf(rules, fields[i] ?? '')(cell.trim())
    }
  }
}

function readXml(text: string) {
  const events = { onOpen: () => {}, onText: () => {}, onClose: () => {} }
  const reader = new XmlReader(events, () => new Error('damaged'))
  for (let at = 0; at < text.length; at += 8_192) reader.write(text.slice(at, at + 8_192))
}

/** Fields of different kinds that are checked in the same way are one. */
const fields = new Map<string, TSchema>(
  OBJECT_KINDS.flatMap((kind) => Object.values(kind.fields)).map(({ schema }) => {
    const shape = { ...schema, description: '', examples: [] }
    return [JSON.stringify(shape), schema]
  }),
)

const app = fastify()
readJsonBodies(app, {})
app.post('/', async () => 'read')
const post = (payload: string) =>
  app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json' } })

const report = (head: string, type: string, content: string) =>
  `Content-Type: multipart/report; boundary="b"\r\n${head}\r\n--b\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--b--\r\n`

const ignoringRefusals = (read: (text: string) => unknown) => (text: string) => {
  try {
    read(text)
  } catch {}
}

const MARCH = Date.UTC(2026, 2, 1)

/** Everything that reads text of callers on the event loop, and the parser of mail reports. */
const readers: {
  name: string
  read: (text: string) => unknown
  length?: (unit: string) => number
}[] = [
  { name: 'NDJSON', read: (text) => readAll(readNdjson(inPieces(text))) },
  { name: 'CSV rows', read: (text) => csvOf('client', `firstName,lastName\n${text}`) },
  { name: 'a CSV header', read: (text) => csvOf('client', `${text},lastName\nx`).catch(() => {}) },
  {
    name: 'CSV cells',
    read: (text) => {
      const cell = `"${text.replaceAll('"', '""')}"`
      const columns = ['startTime', 'tags', 'clientId', 'professionalIdList', 'note', 'active']
      return csvOf('calendar', `${columns.join()}\n${columns.map(() => cell).join()}\n`)
    },
  },
  {
    name: 'cells of appointments',
    read: (text) => {
      const fields = ['client', 'professional', 'reason', 'startTime', 'durationMinutes', 'price']
      const rules = { kind: objectKind('calendar')!, order: 'dmy', zone: 'Europe/Zurich' } as const
      return readAppointment(
        fields.map(() => text),
        fields,
        rules,
      )
    },
  },
  {
    name: 'a header of appointments',
    read: (text) => guessFields(objectKind('calendar')!, [text, 'Kunde'], [[text, text]]),
  },
  {
    name: 'the XML of a workbook',
    read: (text) => {
      try {
        readXml(`<a b="${text}">${text}</a>`)
      } catch {}
    },
  },
  { name: 'a calendar file', read: ignoringRefusals((text) => parseCalendars(text)) },
  {
    name: 'the properties of a calendar file',
    read: ignoringRefusals((text) => {
      const event = ['UID', 'SUMMARY', 'LOCATION', 'ATTENDEE', 'RRULE', 'EXDATE', 'DURATION']
      const lines = event.map((name) => `${name};X=${text}:${text}`)
      lines.unshift('BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'DTSTART:20260302T090000Z')
      const calendar = [...lines, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n')
      return readCalendar({
        text: calendar,
        zone: 'Europe/Zurich',
        fromMs: MARCH,
        toMs: MARCH + 30 * 86_400_000,
      })
    }),
    // Seven properties, each twice.
    length: (unit) => lengthOf(unit) / 8,
  },
  {
    name: 'an answer of a CalDAV server',
    read: ignoringRefusals((text) => {
      const property = `<propstat><prop><getetag>${text}</getetag></prop></propstat>`
      const response = `<response><href>${text}</href>${property}</response>`
      const answer = `<multistatus xmlns="DAV:">${response}</multistatus>`
      return readMultistatus(Buffer.from(answer))
    }),
  },
  { name: 'a JSON body', read: post },
  { name: 'a string in a JSON body', read: (text) => post(JSON.stringify({ text })) },
  {
    name: 'fields of objects',
    read: (text) => {
      for (const schema of fields.values()) schemaFaults(schema, text)
    },
  },
  {
    name: 'a list or an object in a field',
    read: (text) => {
      for (const schema of fields.values())
        for (const value of [[text], { [text]: [text] }]) schemaFaults(schema, value)
    },
  },
  {
    name: 'the texts of a template',
    read: (text) =>
      templateFaults({
        subject: text,
        emailBodyText: text,
        fromAddress: text,
        replyToAddress: text,
      }),
  },
  {
    name: 'addresses',
    read: (text) =>
      [parseAddress, parseMailbox, parseDomain, hideAddresses].map((parse) => parse(text)),
  },
  { name: 'an address with a domain', read: (text) => parseAddress(`a@${text}.example`) },
  { name: 'a bounce address', read: (text) => readBounceAddress(text, 'b.example') },
  { name: 'words of a search', read: (text) => [searchWordsOf(text), searchableWordsOf(text)] },
  { name: 'tags of a definition', read: (text) => parseFilterTags(text) },
  ...[
    { name: 'a message', read: (text: string) => readMailReport(text) },
    {
      name: 'the text of a bounce',
      read: (text: string) => readMailReport(report('', 'text/plain', text)),
    },
    {
      name: 'a recipient of a bounce',
      read: (text: string) => readMailReport(report(`To: ${text}\r\n`, 'text/plain', 'x')),
    },
    {
      name: 'the status of a bounce',
      read: (text: string) =>
        readMailReport(
          report('', 'message/delivery-status', `A: b\r\n\r\nFinal-Recipient: ${text}`),
        ),
    },
    {
      name: 'the mail that a bounce quotes',
      read: (text: string) => readMailReport(report('', 'message/rfc822', `Message-ID: ${text}`)),
    },
    {
      name: 'a complaint',
      read: (text: string) =>
        readMailReport(
          report(
            '',
            'message/feedback-report',
            `Feedback-Type: abuse\r\nOriginal-Rcpt-To: ${text}`,
          ),
        ),
    },
    // They are short, because the parser is slow: a line takes 30 µs. It runs on a thread.
  ].map((reader) => ({
    ...reader,
    length: (unit: string) => (unit.includes('\n') ? 512 : LENGTH / 4),
  })),
]

for (const [i, { name, read, length = lengthOf }] of readers.entries())
  test(`${name}: long runs of any character or pair of separators are read in linear time`, async () => {
    assert.deepEqual(await findSlowRuns(read, length, unitsFor(i)), [])
  })

test('a reader that takes quadratic time for one pair of separators is found', async () => {
  const read = (text: string) => /(?:, )*;/.test(text)
  const slow = await findSlowRuns(read, () => 4 * LENGTH, [', ', ',', ' ', 'a'])
  assert.equal(slow.length, 1, slow.join())
})
