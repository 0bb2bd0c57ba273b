import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALENDAR_FILES, listCalendarFiles, readEvents } from '../feeds/calendar-files.ts'
import { openOracle } from './feeds-oracle.ts'

/** A folder with calendar files of one's own; nothing of them is stored or printed but counts. */
const FOLDER = process.env.PROOF_CALENDARS

const ZONE = 'Europe/Zurich'

/** Start and end of each occurrence, as the other library writes them, and how many are held. */
function readFile(text: string, from: string, to: string) {
  const [fromMs, toMs] = [from, to].map((time) => Temporal.Instant.from(`${time}Z`))
  const events = readEvents({
    text,
    zone: ZONE,
    fromMs: fromMs!.epochMilliseconds,
    toMs: toMs!.epochMilliseconds,
  })
  const read = events.filter(({ held }) => held === null)
  const instant = (ms: number | null) => String(Temporal.Instant.fromEpochMilliseconds(ms!))
  return {
    // Without an end both say something else: the length of the service, and no length.
    times: read.map(({ startMs, endMs }) => `${instant(startMs)} ${instant(endMs ?? startMs)}`),
    held: events.length - read.length,
  }
}

async function compareFiles(
  ask: NonNullable<ReturnType<typeof openOracle>>,
  folder: string,
  [from, to]: [string, string],
) {
  const files = listCalendarFiles(folder)
  const tasks = files.map(({ text }) => ({
    text: text.replace('\ufeff', ''),
    zone: ZONE,
    from,
    to,
  }))
  const answers = await ask<string[]>(tasks)
  return files.map(({ name, text }, at) => {
    const { times, held } = readFile(text, from, to)
    const theirs = answers[at]!.map((line) => line.split(' ').slice(0, 2).join(' '))
    return {
      name,
      found: times.length,
      held,
      missing: theirs.filter((time) => !times.includes(time)),
      added: times.filter((time) => !theirs.includes(time)),
    }
  })
}

/** Where this reader means to differ. */
const DIFFERENT: Record<string, string> = {
  'outlook-zone-not-defined.ics': 'a zone that is not known is held, not read as floating',
  'rdate-and-date-exdate.ics': 'a date in EXDATE excludes the occurrence of that day',
  'sabre-davx5.ics': 'a date in UNTIL includes its whole day',
  'zimbra-two-masters.ics': 'the higher SEQUENCE replaces the lower one',
}

test('files of calendars and booking tools have the occurrences that recurring_ical_events finds', async (t) => {
  const ask = openOracle(t, 'recurring_ical_events')
  if (!ask) return
  const compared = await compareFiles(ask, CALENDAR_FILES, [
    '2026-01-01T00:00:00',
    '2027-01-01T00:00:00',
  ])
  const different = compared.filter(({ missing, added }) => missing.length + added.length > 0)
  assert.deepEqual(
    different.map(({ name }) => name),
    Object.keys(DIFFERENT),
    JSON.stringify(different, null, 2),
  )
})

test('the files in PROOF_CALENDARS are read, and have the occurrences of the other library', async (t) => {
  if (FOLDER === undefined) return t.skip('PROOF_CALENDARS names no folder')
  const ask = openOracle(t, 'recurring_ical_events')
  if (!ask) return
  const now = Temporal.Now.plainDateTimeISO('UTC').round('second')
  const window = [now.subtract({ days: 30 }), now.add({ days: 400 })].map(String)
  const compared = await compareFiles(ask, FOLDER, window as [string, string])
  for (const { name, found, held, missing, added } of compared) {
    t.diagnostic(
      `${name}: ${found} read, ${held} held, ${missing.length} missing, ${added.length} more`,
    )
  }
  // What is held is not read on purpose.
  const wrong = compared.filter(
    ({ missing, added, held }) => added.length > 0 || (missing.length > 0 && held === 0),
  )
  assert.deepEqual(wrong, [])
})
