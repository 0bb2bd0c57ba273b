import { createHash } from 'node:crypto'
import { parseAddress } from '../../contract/addresses.ts'
import { readPerson } from '../../matching/people.ts'
import {
  MAX_ATTENDEES,
  MAX_RESOURCE_LENGTH,
  MAX_RESOURCES,
  type Attendee,
  type Entry,
  type SourcePerson,
} from '../source.ts'
import { safeKey } from '../stored-entry.ts'
import {
  listOf,
  parseCalendars,
  propertiesOf,
  propertyOf,
  textOf,
  UnreadableCalendar,
  type Component,
  type Property,
} from './content-lines.ts'
import { expandRule, MAX_OCCURRENCES, parseRule, type Window } from './series.ts'
import {
  badEvent,
  HeldEvent,
  msOf,
  parseDuration,
  parseLocal,
  parseTime,
  timeOf,
  type CalendarTime,
  type HeldCode,
  type ZoneOf,
} from './times.ts'
import { makeZoneOf } from './zones.ts'

type AsInEntry =
  | 'key'
  | 'allDay'
  | 'status'
  | 'title'
  | 'isPrivate'
  | 'isBusy'
  | 'organizer'
  | 'attendees'
  | 'categories'
  | 'addressesInText'

/** An event, or one occurrence of a series. Times are milliseconds: it comes from a thread. */
export type CalendarEvent = Pick<Entry, AsInEntry> & {
  uid: string
  startMs: number | null
  endMs: number | null
  location: string | null
  createdMs: number | null
  changedMs: number | null
  held: { code: HeldCode; reason: string } | null
}

/** The events of one UID. */
export type CalendarSeries = {
  uid: string
  /** Equal for equal content; times of export and of change do not count. */
  digest: string
  events: CalendarEvent[]
  /** Single events after the window: what is mirrored and moves there is not gone. */
  later: CalendarEvent[]
  /** The first start after the window. */
  nextMs: number | null
}

export type CalendarFile = { text: string; zone: string } & Window

const MAX_ENTRIES = 100_000
const MAX_ADDRESSES = 10
const DAY_MS = 86_400_000

/** Reads the events that touch the window. Throws `UnreadableCalendar` if the file is not whole. */
export function readCalendar({ text, zone, fromMs, toMs }: CalendarFile): CalendarSeries[] {
  const window = { fromMs, toMs }
  const found: CalendarSeries[] = []
  let entries = 0
  for (const calendar of parseCalendars(text)) {
    const zoneOf = makeZoneOf(calendar, zone, { fromMs: fromMs - DAY_MS, toMs: toMs + DAY_MS })
    const events = calendar.components.filter(({ name }) => name === 'VEVENT')
    for (const [uid, parts] of Map.groupBy(events, uidOf)) {
      const length = parts.reduce((sum, part) => sum + charactersOf(part), 0)
      if (length > MAX_RESOURCE_LENGTH) throw new UnreadableCalendar('has an event above 1 MiB')
      const series = readSeries(uid, parts, { zoneOf, window })
      found.push(series)
      entries += series.events.length + series.later.length
      // What is read here is copied to another thread, which must not stop for it.
      if (found.length > MAX_RESOURCES) throw tooMany(MAX_RESOURCES, 'events')
      if (entries > MAX_ENTRIES) throw tooMany(MAX_ENTRIES, 'occurrences in the mirrored days')
    }
  }
  return found
}

const tooMany = (most: number, what: string) =>
  new UnreadableCalendar(`has more than ${most} ${what}`)

const charactersOf = ({ properties }: Component) =>
  properties.reduce((sum, { value }) => sum + value.length, 0)

type Surroundings = { zoneOf: ZoneOf; window: Window }

const uidOf = (event: Component) => safeKey(propertyOf(event, 'UID')?.value.trim() ?? '')

function readSeries(uid: string, parts: Component[], surroundings: Surroundings): CalendarSeries {
  const { window } = surroundings
  const found = expandParts(uid, parts, surroundings)
  const isNear = (event: CalendarEvent) => event.startMs === null || touches(event, window)
  const later = found.events.filter(({ startMs }) => startMs !== null && startMs >= window.toMs)
  const laterMs = later
    .map(({ startMs }) => startMs)
    .concat(found.nextMs)
    .filter((ms) => ms !== null && ms >= window.toMs) as number[]
  const events = found.events.filter(isNear)
  if (events.length > MAX_OCCURRENCES) {
    const reason = `It repeats more than ${MAX_OCCURRENCES} times.`
    const held = hold(uid, parts[0]!, new HeldEvent('unsupported-rule', reason))
    return { uid, digest: digestOf(parts), events: [held], later: [], nextMs: null }
  }
  const nextMs = laterMs.length > 0 ? Math.min(...laterMs) : null
  return { uid, digest: digestOf(parts), events, later, nextMs }
}

const touches = ({ startMs, endMs }: CalendarEvent, { fromMs, toMs }: Window) =>
  startMs! < toMs && (startMs! >= fromMs || (endMs ?? startMs!) > fromMs)

/** One bad part is held; the others are read. */
function expandParts(uid: string, parts: Component[], surroundings: Surroundings) {
  const events: CalendarEvent[] = []
  let nextMs: number | null = null
  const attempt = (part: Component, read: () => void) => {
    try {
      read()
    } catch (error) {
      if (!(error instanceof HeldEvent)) throw error
      if (!hasPassed(part, surroundings.window)) events.push(hold(uid, part, error))
    }
  }
  const { master, overrides } = newestParts(parts)
  if (uid === '') attempt(parts[0]!, () => fail('It has no UID.'))
  else if (overrides.some(({ parameters }) => parameters.has('RANGE'))) {
    const reason = 'It repeats with a change of all later occurrences (RANGE).'
    attempt(master ?? parts[0]!, () => {
      throw new HeldEvent('unsupported-rule', reason)
    })
  } else {
    const replaced = new Set<number>()
    const masterTime = master && tryTime(master, surroundings.zoneOf)
    for (const { event, property } of overrides) {
      attempt(event, () => {
        const originalMs = originalStart(property, masterTime, surroundings.zoneOf)
        replaced.add(originalMs)
        events.push(
          occurrenceOf(
            event,
            occurrenceKey(uid, originalMs),
            readTimes(event, surroundings.zoneOf),
          ),
        )
      })
    }
    if (master) {
      attempt(master, () => {
        const series = expandMaster(uid, master, replaced, surroundings)
        events.push(...series.events)
        ;({ nextMs } = series)
      })
    }
  }
  return { events, nextMs }
}

const fail = (reason: string): never => {
  throw badEvent(reason)
}

const occurrenceKey = (uid: string, originalMs: number) =>
  `${uid}/${Temporal.Instant.fromEpochMilliseconds(originalMs)}`

/** The highest SEQUENCE of each part wins, then the latest LAST-MODIFIED. */
function newestParts(parts: Component[]) {
  const newest = new Map<string, Component>()
  for (const part of parts) {
    const key = propertyOf(part, 'RECURRENCE-ID')
    const id = key ? `${key.parameters.get('TZID') ?? ''}:${key.value}` : ''
    const known = newest.get(id)
    if (!known || !isNewer(known, part)) newest.set(id, part)
  }
  const master = newest.get('')
  newest.delete('')
  const overrides = [...newest.values()].map((event) => {
    const property = propertyOf(event, 'RECURRENCE-ID')!
    return { event, property, parameters: property.parameters }
  })
  return { master, overrides }
}

function isNewer(one: Component, other: Component) {
  const [mine, its] = [one, other].map((event) => Number(propertyOf(event, 'SEQUENCE')?.value ?? 0))
  if (mine !== its) return mine! > its!
  const [changed, itsChanged] = [one, other].map(
    (event) => propertyOf(event, 'LAST-MODIFIED')?.value ?? '',
  )
  return changed! > itsChanged!
}

/** A held event that has certainly passed is of no use to anybody. */
function hasPassed(event: Component, { fromMs }: Window) {
  const rule = propertyOf(event, 'RRULE')?.value
  const last = rule === undefined ? lastTimeOf(event) : /UNTIL=([^;]+)/i.exec(rule)?.[1]
  if (last === undefined) return false
  try {
    const { local } = parseLocal(last)
    // No zone is more than a day from UTC.
    return local.toZonedDateTime('UTC').epochMilliseconds + 2 * DAY_MS < fromMs
  } catch {
    return false
  }
}

const lastTimeOf = (event: Component) =>
  propertyOf(event, 'RDATE') || propertyOf(event, 'EXRULE')
    ? undefined
    : (propertyOf(event, 'DTEND') ?? propertyOf(event, 'DTSTART'))?.value

function hold(uid: string, event: Component, { code, message }: HeldEvent): CalendarEvent {
  const original = propertyOf(event, 'RECURRENCE-ID')?.value
  const key = uid === '' ? `without-uid/${digestOf([event])}` : uid
  const entry = occurrenceOf(event, original ? `${key}/${original}` : key, NO_TIMES)
  return { ...entry, held: { code, reason: message } }
}

type Times = { startMs: number | null; endMs: number | null; allDay: boolean }
const NO_TIMES: Times = { startMs: null, endMs: null, allDay: false }

function tryTime(event: Component, zoneOf: ZoneOf) {
  try {
    return startOf(event, zoneOf)
  } catch {
    return undefined
  }
}

function startOf(event: Component, zoneOf: ZoneOf) {
  const property = propertyOf(event, 'DTSTART')
  return property ? timeOf(property, zoneOf) : fail('It has no start.')
}

/** The instant of RECURRENCE-ID. A date names the occurrence of that day. */
function originalStart(property: Property, master: CalendarTime | undefined, zoneOf: ZoneOf) {
  const time = timeOf(property, zoneOf)
  if (!time.isDate || !master || master.isDate) return msOf(time)
  return msOf({
    ...master,
    local: time.local.toPlainDate().toPlainDateTime(master.local.toPlainTime()),
  })
}

function readTimes(event: Component, zoneOf: ZoneOf): Times {
  const start = startOf(event, zoneOf)
  return timesAt(msOf(start), start, lengthOf(event, start, zoneOf))
}

/** How long an event takes: exactly so long (DTEND), or by the clock of its zone (DURATION, days). */
type Length = { ms: number } | { duration: Temporal.Duration } | undefined

function lengthOf(event: Component, start: CalendarTime, zoneOf: ZoneOf): Length {
  const end = propertyOf(event, 'DTEND')
  const duration = propertyOf(event, 'DURATION')
  if (end) {
    const time = timeOf(end, zoneOf)
    const days = start.local.until(time.local, { largestUnit: 'days' })
    const ms = msOf(time) - msOf(start)
    if (ms < 0) fail('It ends before it starts.')
    return start.isDate && time.isDate ? { duration: days } : { ms }
  }
  if (duration) return { duration: parseDuration(duration.value) }
  return start.isDate ? { duration: Temporal.Duration.from({ days: 1 }) } : undefined
}

function timesAt(startMs: number, { zone, isDate: allDay }: CalendarTime, length: Length): Times {
  if (!length) return { startMs, endMs: null, allDay }
  if ('ms' in length) return { startMs, endMs: startMs + length.ms, allDay }
  const start = Temporal.Instant.fromEpochMilliseconds(startMs).toZonedDateTimeISO(zone)
  return { startMs, endMs: start.add(length.duration).epochMilliseconds, allDay }
}

function expandMaster(
  uid: string,
  master: Component,
  replaced: Set<number>,
  { zoneOf, window }: Surroundings,
) {
  const start = startOf(master, zoneOf)
  const length = lengthOf(master, start, zoneOf)
  const rules = propertiesOf(master, 'RRULE')
  const extra = propertiesOf(master, 'RDATE').flatMap((property) => datesOf(property, zoneOf))
  if (rules.length === 0 && extra.length === 0) {
    const times = timesAt(msOf(start), start, length)
    const isReplaced = replaced.has(times.startMs!)
    return { events: isReplaced ? [] : [occurrenceOf(master, uid, times)], nextMs: null }
  }
  if (rules.length > 1) throw new HeldEvent('unsupported-rule', 'It has several rules.')
  if (propertyOf(master, 'EXRULE')) throw new HeldEvent('unsupported-rule', 'It has an EXRULE.')
  const earliest = { ...window, fromMs: window.fromMs - lengthMs(length) }
  const ruled = rules[0]
    ? expandStarts(rules[0].value, start, earliest)
    : { startsMs: [msOf(start)], nextMs: null }
  const excluded = excludedFrom(master, start, zoneOf)
  const periods = new Map(extra.map(({ startMs, length: own }) => [startMs, own]))
  const startsMs = [...new Set([...ruled.startsMs, ...periods.keys()])].filter(
    (ms) => !excluded(ms) && !replaced.has(ms),
  )
  const template = occurrenceOf(master, uid, NO_TIMES)
  const events = startsMs.map((ms) => ({
    ...template,
    key: occurrenceKey(uid, ms),
    ...timesAt(ms, start, periods.get(ms) ?? length),
  }))
  return { events, nextMs: ruled.nextMs }
}

const lengthMs = (length: Length) => {
  if (!length) return 0
  return 'ms' in length
    ? length.ms
    : length.duration.total({ unit: 'hours', relativeTo: '2026-01-01' }) * 3_600_000
}

/** Days of a series are counted without a zone; a time zone must not move the end of the rule. */
function expandStarts(rule: string, start: CalendarTime, window: Window) {
  const parsed = parseRule(rule)
  if (!start.isDate) return expandRule(parsed, start, window)
  const wide = { fromMs: window.fromMs - DAY_MS, toMs: window.toMs + DAY_MS }
  const { startsMs, nextMs } = expandRule(parsed, { ...start, zone: 'UTC' }, wide)
  const inZone = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms)
      .toZonedDateTimeISO('UTC')
      .toPlainDate()
      .toZonedDateTime(start.zone).epochMilliseconds
  return { startsMs: startsMs.map(inZone), nextMs: nextMs === null ? null : inZone(nextMs) }
}

/** RDATE: times, dates or periods. */
function datesOf({ parameters, value }: Property, zoneOf: ZoneOf) {
  return listOf(value).map((item) => {
    const [first = '', end] = item.split('/')
    const time = parseTime(first, parameters.get('TZID'), zoneOf)
    const startMs = msOf(time)
    if (end === undefined) return { startMs, length: undefined }
    if (/^[+-]?P/i.test(end)) return { startMs, length: { duration: parseDuration(end) } }
    return {
      startMs,
      length: { ms: msOf(parseTime(end, parameters.get('TZID'), zoneOf)) - startMs },
    }
  })
}

/** A date in EXDATE excludes the occurrence of that day. */
function excludedFrom(master: Component, start: CalendarTime, zoneOf: ZoneOf) {
  const moments = new Set<number>()
  const days = new Set<string>()
  for (const { parameters, value } of propertiesOf(master, 'EXDATE')) {
    for (const item of listOf(value)) {
      const time = parseTime(item, parameters.get('TZID'), zoneOf)
      if (time.isDate && !start.isDate) days.add(String(time.local.toPlainDate()))
      else moments.add(msOf(time))
    }
  }
  const dayOf = (ms: number) =>
    String(Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(start.zone).toPlainDate())
  return (ms: number) => moments.has(ms) || (days.size > 0 && days.has(dayOf(ms)))
}

function occurrenceOf(event: Component, key: string, times: Times): CalendarEvent {
  const valueOf = (name: string) => propertyOf(event, name)?.value.trim()
  const textIn = (name: string) => textOf(valueOf(name) ?? '').trim()
  const isPrivate = !/^(?:PUBLIC)?$/i.test(valueOf('CLASS') ?? '')
  const attendees = propertiesOf(event, 'ATTENDEE')
  if (attendees.length > MAX_ATTENDEES) {
    throw new UnreadableCalendar(`has an event with more than ${MAX_ATTENDEES} attendees`)
  }
  const organizer = propertyOf(event, 'ORGANIZER')
  return {
    key,
    uid: uidOf(event),
    ...times,
    status: valueOf('STATUS')?.toUpperCase() || null,
    title: isPrivate ? null : textIn('SUMMARY'),
    isPrivate,
    isBusy: valueOf('TRANSP')?.toUpperCase() !== 'TRANSPARENT',
    organizer: organizer ? personOf(organizer) : null,
    attendees: isPrivate ? [] : attendees.map(attendeeOf),
    location: isPrivate ? null : textIn('LOCATION') || null,
    categories: propertiesOf(event, 'CATEGORIES').flatMap(({ value }) =>
      listOf(value).map((category) => textOf(category).trim()),
    ),
    addressesInText: isPrivate ? [] : addressesIn(`${textIn('SUMMARY')} ${textIn('DESCRIPTION')}`),
    createdMs: momentOf(valueOf('CREATED')),
    changedMs: momentOf(valueOf('LAST-MODIFIED')),
    held: null,
  }
}

const TYPES = ['INDIVIDUAL', 'GROUP', 'RESOURCE', 'ROOM', 'UNKNOWN'] as const

function attendeeOf(property: Property): Attendee {
  const type = TYPES.find((known) => known === property.parameters.get('CUTYPE')?.toUpperCase())
  const participation = property.parameters.get('PARTSTAT')?.toUpperCase()
  return { ...personOf(property), ...(type && { type }), ...(participation && { participation }) }
}

/** iCloud writes the address as a parameter, and a name of its own as the value. */
function personOf({ parameters, value }: Property): SourcePerson {
  const mail = /^\s*mailto:(.*)$/is.exec(value)?.[1] ?? parameters.get('EMAIL') ?? value
  const emailAddress = parseAddress(mail.trim())
  const { firstName, lastName } = readPerson(parameters.get('CN') ?? '')
  return {
    ...(emailAddress && { emailAddress }),
    ...(firstName && { firstName }),
    ...(lastName && { lastName }),
  }
}

/** Addresses in a text, each once. */
function addressesIn(text: string) {
  const found = new Set<string>()
  for (const word of text.split(/[\s<>(),;:"'[\]|]+/)) {
    const address = word.includes('@') ? parseAddress(word.replace(/[.!?]+$/, '')) : undefined
    if (address && found.add(address.toLowerCase()).size >= MAX_ADDRESSES) break
  }
  return [...found]
}

/** CREATED and LAST-MODIFIED are in UTC; others cannot be trusted. */
function momentOf(value: string | undefined) {
  try {
    const time = value === undefined ? undefined : parseLocal(value)
    return time?.isUtc ? time.local.toZonedDateTime('UTC').epochMilliseconds : null
  } catch {
    return null
  }
}

const NOT_CONTENT = new Set(['CREATED', 'LAST-MODIFIED', 'SEQUENCE'])

function digestOf(parts: Component[]) {
  const lines = parts.map(({ properties }) =>
    properties
      .filter(({ name }) => !NOT_CONTENT.has(name))
      .map(({ name, parameters, value }) =>
        JSON.stringify([name, ...[...parameters].flat(), value]),
      )
      .toSorted()
      .join('\n'),
  )
  return createHash('sha256').update(lines.toSorted().join('\n\n')).digest('base64url')
}
