import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { calendarFile, type CalendarEntry } from '../../src/email/calendar-file.ts'
import { headerValue } from '../../src/email/merge.ts'
import { buildMessage } from '../../src/email/message.ts'
import { readCalendar } from '../../src/feeds/calendar/read.ts'
import { renderDemoMails } from '../support/demo-mails.ts'
import { findProgram, skipLoudly } from '../support/programs.ts'

const FROM = { name: 'Praxis “am See”, Zürich', address: 'praxis@clinic.example' }
const TO = { name: 'Zoë Müller', address: 'zoe@example.org' }
const DATE = Temporal.Instant.from('2026-03-02T09:00:00Z')
const HOUR = 3_600_000

/** Each mail of the demo, with a calendar file if it is about a visit. */
const MAILS = renderDemoMails().map((mail, i) => {
  const { calendar, classSchedule, location, reason } = mail.context
  const visit = calendar ?? classSchedule
  const entry: CalendarEntry | null = visit && {
    uid: `calendar-1-${i}-abc@bellwether.example`,
    sequence: i,
    cancelled: mail.subject.length % 5 === 0,
    startTime: visit.startTime,
    endTime: visit.endTime,
    summary: `${reason?.name ?? 'Yoga'}; Rücken, „Akut“ \\ ${mail.subject}`,
    description: `${mail.text}\nZeile: 1, 2; 3`,
    location: location?.address ?? null,
    organizer: FROM,
    attendee: TO,
    url: 'https://clinic.example/a?b=1&c=ä',
    changedTime: DATE,
  }
  const file = entry && calendarFile(entry)
  const message = buildMessage({
    ...mail,
    messageId: `<${i}.1.0123456789abcdef01234567@bellwether.example>`,
    date: DATE,
    from: FROM,
    to: TO,
    cc: null,
    replyTo: null,
    calendar: file,
    unsubscribeLink: 'https://bellwether.example/unsubscribe/1.2.abcdefghijklmnopqrstuv',
    feedbackId: 'template-7:business-1:bellwether',
    list: { name: 'News', id: 'news.1.bellwether.example' },
  })
  return { mail, entry, file, raw: `${message.headers}\r\n${message.body}` }
})

const lines = (text: string) => text.replaceAll('\r\n', '\n').trim()

test('all mails of the demo are the same mails for postal-mime', async () => {
  for (const { mail, file, raw } of MAILS) {
    const read = await PostalMime.parse(raw)
    assert.deepEqual([read.subject, read.from, read.to], [headerValue(mail.subject), FROM, [TO]])
    assert.equal(lines(read.text!), lines(mail.text))
    assert.equal(lines(read.html!), lines(mail.html))
    assert.equal(read.attachments.length, file ? 1 : 0)
  }
})

test('the feeds read the calendar files of all mails of the demo', () => {
  for (const { entry, file } of MAILS) {
    if (!entry || !file) continue
    const fromMs = entry.startTime.epochMilliseconds - HOUR
    const toMs = entry.endTime.epochMilliseconds + HOUR
    const series = readCalendar({ text: file.content, zone: 'UTC', fromMs, toMs })
    const [event, ...others] = series.flatMap(({ events }) => events)
    assert.deepEqual(others, [])
    assert.ok(event, file.content)
    assert.equal(event.startMs, entry.startTime.epochMilliseconds)
    assert.equal(event.endMs, entry.endTime.epochMilliseconds)
  }
})

/** icalendar before 5 decodes these characters in any text. */
const decoded = (text: string) =>
  text.replaceAll(/%(?:2C|3A|3B|22)/g, (sign) => decodeURIComponent(sign))

type Read = Record<string, unknown> & { calendar: Record<string, unknown> | null }

test('Python reads the same mails and calendar files', (t) => {
  // Debian's own comes first: another Python does not see the packages of Debian.
  const python = ['/usr/bin/python3', findProgram('python3') ?? '']
    .filter((program) => existsSync(program))
    .find((program) => spawnSync(program, ['-c', 'import icalendar']).status === 0)
  if (!python) {
    return skipLoudly(t, 'icalendar is missing; "apt-get install python3-icalendar" installs it')
  }
  const { stdout, stderr, status } = spawnSync(
    python,
    [path.join(import.meta.dirname, 'parse-mails.py')],
    { input: MAILS.map(({ raw }) => JSON.stringify(raw)).join('\n'), maxBuffer: 1e9 },
  )
  assert.equal(status, 0, String(stderr))
  const all = String(stdout)
    .trim()
    .split('\n')
    .map((line): Read => JSON.parse(line))
  assert.equal(all.length, MAILS.length)
  for (const [i, { mail, entry, file }] of MAILS.entries()) {
    const { calendar, text, html, types: _, ...read } = all[i]!
    assert.deepEqual(read, {
      defects: [],
      subject: headerValue(mail.subject),
      from: [FROM.name, FROM.address],
      to: [TO.name, TO.address],
      date: DATE.epochMilliseconds / 1_000,
      language: mail.language,
      method: file?.method ?? null,
    })
    assert.equal(lines(String(text)), lines(mail.text))
    assert.equal(lines(String(html)), lines(mail.html))
    if (!entry) {
      assert.equal(calendar, null)
      continue
    }
    assert.deepEqual(calendar, {
      uid: entry.uid,
      sequence: entry.sequence,
      start: entry.startTime.toString(),
      end: entry.endTime.toString(),
      summary: decoded(headerValue(entry.summary)),
      location: (entry.location ?? '').replaceAll(/\s*\n\s*/g, ' '),
      description: decoded(entry.description!),
      url: new URL(entry.url!).href,
      transparency: 'OPAQUE',
      status: entry.cancelled ? 'CANCELLED' : 'CONFIRMED',
      alarms: entry.cancelled ? [] : [-7_200],
      errors: [],
    })
  }
})
