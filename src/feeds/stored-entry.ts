import type { Entry } from './source.ts'

/** What a private entry does not tell, and what most sources do not know. */
const UNKNOWN = {
  title: null,
  clients: [],
  attendees: [],
  organizer: null,
  service: null,
  staff: null,
  location: null,
  categories: [],
  addressesInText: [],
}

/** An entry of which the source states no more than this. */
export const entryWithout = (known: Pick<Entry, 'key'> & Partial<Entry>): Entry => ({
  uid: null,
  calendar: null,
  start: null,
  end: null,
  allDay: false,
  status: null,
  isPrivate: false,
  isBusy: true,
  isClass: false,
  createdTime: null,
  changedTime: null,
  problem: null,
  ...UNKNOWN,
  ...known,
})

/** An entry as JSON. Of a private one, only its time is stored. */
export function storeEntry(entry: Entry): Record<string, unknown> {
  const shown = entry.isPrivate ? { ...entry, ...UNKNOWN } : entry
  return JSON.parse(JSON.stringify(shown)) as Record<string, unknown>
}

const TIMES = ['start', 'end', 'createdTime', 'changedTime'] as const

export function readStoredEntry(stored: Record<string, unknown>): Entry {
  const entry = { ...stored }
  for (const time of TIMES) {
    const text = stored[time]
    entry[time] = typeof text === 'string' ? Temporal.Instant.from(text) : null
  }
  return entry as Entry
}
