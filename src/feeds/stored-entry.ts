import type { Entry } from './source.ts'

const TIMES = ['start', 'end', 'createdTime', 'changedTime'] as const

/** An entry as JSON. Of a private one, only its time is stored. */
export function storeEntry(entry: Entry): Record<string, unknown> {
  const shown = entry.isPrivate ? { ...entry, ...HIDDEN } : entry
  return JSON.parse(JSON.stringify(shown)) as Record<string, unknown>
}

const HIDDEN = {
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

export function readStoredEntry(stored: Record<string, unknown>): Entry {
  const entry = { ...stored }
  for (const time of TIMES) {
    const text = stored[time]
    entry[time] = typeof text === 'string' ? Temporal.Instant.from(text) : null
  }
  return entry as Entry
}
