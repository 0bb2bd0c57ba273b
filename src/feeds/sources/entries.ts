import { UnreadableCalendar } from '../calendar/content-lines.ts'
import type { CalendarEvent, CalendarSeries } from '../calendar/read.ts'
import { readCalendarFile } from '../calendar/reader-pool.ts'
import { SourceError, type Entry, type Resource, type SourceAccount } from '../source.ts'
import { entryWithout, makeStorable } from '../stored-entry.ts'
import { listedWindow } from '../window.ts'

/** Reads a calendar file on a worker thread. `name` is how the owner knows it. */
export async function readSeries(account: SourceAccount, text: string, name: string) {
  const { businessId, zone } = account
  const window = listedWindow(account.window)
  const limits = { fromMs: window.from.epochMilliseconds, toMs: window.to.epochMilliseconds }
  try {
    return await readCalendarFile(businessId, { text, zone, ...limits })
  } catch (error) {
    if (!(error instanceof UnreadableCalendar)) throw error
    throw new SourceError('ANSWER', `The calendar file ${name} ${error.message}.`, { cause: error })
  }
}

/** `calendarName` is what people call the calendar; rules and matches name it so. */
export type Place = Pick<Resource, 'key' | 'calendar' | 'version'> & { calendarName: string | null }

/** What belongs together in the source, with its entries. */
export function resourceOf(
  place: Place,
  series: CalendarSeries[],
  account: SourceAccount,
): Resource {
  const { key, calendar, version } = place
  const nextMs = series.map((one) => one.nextMs).filter((ms) => ms !== null)
  const entries = series.flatMap(({ events, later }) =>
    [...events, ...later].map((event) => entryOf(event, place)),
  )
  const readAgainAt = nextMs.length === 0 ? null : readAgain(Math.min(...nextMs), account)
  return makeStorable({ key, calendar, version, entries, readAgainAt })
}

const DAY_MS = 86_400_000

/** When what is listed reaches the next occurrence, at most once a day. */
function readAgain(nextMs: number, { now, window }: SourceAccount) {
  const aheadMs = Math.max(nextMs - listedWindow(window).to.epochMilliseconds, DAY_MS)
  return now.add({ milliseconds: aheadMs })
}

/** A resource that cannot be read, in an answer that was whole: it is held, and the others are read. */
export function unreadableResource({ key, calendar, version }: Place, reason: string): Resource {
  const entry = entryWithout({ key, problem: { state: 'HELD', code: 'bad-event', reason } })
  return makeStorable({ key, calendar, version, entries: [entry], readAgainAt: null })
}

function entryOf(event: CalendarEvent, { calendarName }: Place): Entry {
  const { startMs, endMs, createdMs, changedMs, held, location, status, ...same } = event
  return {
    ...same,
    calendar: calendarName,
    // CONFIRMED is the organizer's word. Whether the client confirmed is in PARTSTAT.
    status: status === 'CANCELLED' ? status : null,
    start: momentOf(startMs),
    end: momentOf(endMs),
    clients: [],
    service: null,
    staff: null,
    location: location === null ? null : { name: location },
    isClass: false,
    createdTime: momentOf(createdMs),
    changedTime: momentOf(changedMs),
    problem: held && { state: 'HELD', ...held },
  }
}

/** A listing that has the content of all resources. */
export const listingOf = (resources: Resource[]) => ({
  versions: new Map(resources.map(({ key, version }) => [key, version])),
  resources,
})

export const momentOf = (ms: number | null | undefined) =>
  ms == null ? null : Temporal.Instant.fromEpochMilliseconds(ms)
