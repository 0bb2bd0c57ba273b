import { createHash } from 'node:crypto'
import { MAX_TIME, MIN_TIME } from '../contract/schema.ts'
import type { Entry, Resource } from './source.ts'

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

const MAX_KEY = 800

/** The key, or a shorter one that PostgreSQL can store and index. */
export function safeKey(key: string) {
  if (key.length <= MAX_KEY && isText(key)) return key
  const digest = createHash('sha256').update(JSON.stringify(key)).digest('base64url')
  return `${key
    .slice(0, MAX_KEY / 2)
    .replaceAll('\0', '')
    .toWellFormed()}~${digest}`
}

/** The resource as PostgreSQL can store it: an entry that it cannot store is held, and the others are read. */
export const makeStorable = (resource: Resource): Resource => ({
  ...resource,
  key: safeKey(resource.key),
  entries: resource.entries.map((entry) => {
    const key = safeKey(entry.key)
    const reason = faultOf(entry)
    if (reason) return entryWithout({ key, problem: { state: 'HELD', code: 'bad-event', reason } })
    // Some programs write 1900 if they do not know it.
    const createdTime = isUsual(entry.createdTime) ? entry.createdTime : null
    const changedTime = isUsual(entry.changedTime) ? entry.changedTime : null
    return { ...entry, key, createdTime, changedTime }
  }),
})

function faultOf(entry: Entry) {
  const name = Object.keys(entry).find((one) => !isText(entry[one as keyof Entry]))
  if (name)
    return `Its ${name} holds a NUL character or half a character: correct it in the source.`
  if (isUsual(entry.start) && isUsual(entry.end)) return undefined
  return 'It is not between 2000 and 2200: correct its time in the source.'
}

/** Whether all texts in the value can be stored. */
const isText = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.isWellFormed() && !value.includes('\0')
    : Object.values(value ?? {}).every(isText)

const isUsual = (time: Temporal.Instant | null) =>
  time === null || (time.epochMilliseconds >= MIN_TIME && time.epochMilliseconds <= MAX_TIME)

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
