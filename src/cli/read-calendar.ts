import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { StartError } from '../errors.ts'
import { UnreadableCalendar } from '../feeds/calendar/content-lines.ts'
import type { CalendarEvent } from '../feeds/calendar/read.ts'
import { readCalendarFile } from '../feeds/calendar/reader-pool.ts'

type Options = { zone: string; from: string; to: string }

export const command = new Command()
  .argument('<file>', 'calendar file (.ics)')
  .requiredOption(
    '--zone <zone>',
    'time zone of days and of times without one, such as Europe/Zurich',
  )
  .requiredOption('--from <day>', 'first day, YYYY-MM-DD')
  .requiredOption('--to <day>', 'last day, inclusive, YYYY-MM-DD')
  .addHelpText(
    'after',
    '\nPrints one JSON line for each event and each occurrence of a series, as a feed reads them.\nNeeds no database.',
  )
  .action(async (file: string, { zone, from, to }: Options) => {
    const window = { fromMs: startOf(from, zone, '--from'), toMs: startOf(to, zone, '--to', 1) }
    const series = await readCalendarFile(0, { text: readText(file), zone, ...window }).catch(
      (error: unknown) => {
        if (!(error instanceof UnreadableCalendar)) throw error
        throw new StartError(`${file} ${error.message}.`)
      },
    )
    const events = series.flatMap((one) => one.events)
    const sorted = events.toSorted((one, other) => (one.startMs ?? 0) - (other.startMs ?? 0))
    for (const event of sorted) console.log(JSON.stringify(lineOf(event, zone)))
  })

function readText(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function startOf(day: string, zone: string, option: string, days = 0) {
  try {
    const date = Temporal.PlainDate.from(day).add({ days })
    return date.toZonedDateTime(zone).epochMilliseconds
  } catch {
    throw new StartError(`${option} and --zone must be a day such as 2026-11-18 and a time zone.`)
  }
}

function lineOf(event: CalendarEvent, zone: string) {
  const { key, startMs, endMs, allDay, status, attendees } = event
  const timeOf = (ms: number | null) => {
    if (ms === null) return null
    const instant = Temporal.Instant.fromEpochMilliseconds(ms)
    return String(allDay ? instant.toZonedDateTimeISO(zone).toPlainDate() : instant)
  }
  const times = { start: timeOf(startMs), end: timeOf(endMs), allDay }
  return { key, ...times, status, ...stateOf(event), attendees }
}

/** As far as the file alone decides it. */
function stateOf({ held, allDay, isPrivate, startMs, endMs }: CalendarEvent) {
  if (held) return { state: 'HELD', reasonCode: held.code }
  const isLong = (endMs ?? 0) - (startMs ?? 0) > 86_400_000
  const skipped = [allDay && 'all-day', isPrivate && 'private', isLong && 'too-long'].find(Boolean)
  return skipped
    ? { state: 'SKIPPED', reasonCode: skipped }
    : { state: 'MIRRORED', reasonCode: null }
}
