import { RecentlyUsed } from '../../recently-used.ts'
import { propertiesOf, propertyOf, type Component } from './content-lines.ts'
import { expandRule, parseRule, type Window } from './series.ts'
import { HeldEvent, parseLocal, type ZoneOf } from './times.ts'
import windowsZones from './windows-zones.json' with { type: 'json' }

/**
 * Finds the IANA zone of each TZID of a file: by its name, by its name of Windows, or by a VTIMEZONE that
 * has the same offsets. Floating times are in `floating`. Nothing is guessed, and the zone of the process
 * never matters.
 */
export function makeZoneOf(calendar: Component, floating: string, window: Window): ZoneOf {
  const definitions = new Map(
    calendar.components
      .filter(({ name }) => name === 'VTIMEZONE')
      .map((definition) => [propertyOf(definition, 'TZID')?.value ?? '', definition]),
  )
  const known = new Map<string, string | undefined>()
  return (tzid) => {
    if (tzid === undefined) return floating
    if (!known.has(tzid)) {
      const definition = definitions.get(tzid)
      const found = zoneNamed(tzid) ?? (definition && zoneLike(definition, floating, window))
      known.set(tzid, found)
    }
    const zone = known.get(tzid)
    if (zone !== undefined) return zone
    throw new HeldEvent('unknown-zone', `Its time zone is not known: ${tzid.slice(0, 60)}.`)
  }
}

/** The zone of each name that Outlook and Exchange write: the table windowsZones of CLDR. */
const WINDOWS = new Map(
  Object.entries(windowsZones).map(([name, zone]) => [name.toLowerCase(), zone]),
)

/** Also behind a prefix, such as `/freeassociation.sourceforge.net/Europe/Zurich`. */
function zoneNamed(tzid: string) {
  const name = tzid.trim().replace(/^"(.*)"$/, '$1')
  const ofWindows = WINDOWS.get(name.toLowerCase())
  if (ofWindows) return ofWindows
  const parts = name.split('/').filter(Boolean)
  const endings = [3, 2].map((count) => parts.slice(-count).join('/'))
  const candidates = [name, ...endings.filter((ending) => ending.includes('/')), utcOf(parts)]
  return candidates.map(ianaZone).find((zone) => zone !== undefined)
}

/** `tzone://Microsoft/Utc`. */
const utcOf = (parts: string[]) => (/^(?:utc|gmt|z)$/i.test(parts.at(-1) ?? '') ? 'UTC' : '')

/** Undefined if it is not a name of the IANA database; offsets such as `+01:00` are not. */
function ianaZone(name: string) {
  if (!/^[a-z][\w+-]*(?:\/[\w+-]+)*$/i.test(name) || /unknown$/i.test(name)) return undefined
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId
  } catch {
    return undefined
  }
}

/** The zone whose offsets equal those of the definition in the whole window; the floating one if it does. */
function zoneLike(definition: Component, floating: string, window: Window) {
  try {
    const wanted = offsetsOfDefinition(definition, window)
    const candidates = [floating, 'UTC', ...Intl.supportedValuesOf('timeZone')]
    return candidates.find((zone) => offsetsOf(zone, window) === wanted)
  } catch {
    return undefined
  }
}

/** The offset in seconds at the beginning, and each change: equal texts are equal clocks. */
const describe = (offset: number, changes: { atMs: number; offset: number }[]) =>
  [offset, ...changes.map(({ atMs, offset }) => `${atMs}:${offset}`)].join(' ')

const offsets = new RecentlyUsed<string, string>(2_000)

/** Kept for one window: 400 zones take a tenth of a second. */
const offsetsOf = (zone: string, { fromMs, toMs }: Window) =>
  offsets.getOrMake(`${zone} ${fromMs} ${toMs}`, () => {
    const start = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(zone)
    const changes: { atMs: number; offset: number }[] = []
    let next = start.getTimeZoneTransition('next')
    while (next && next.epochMilliseconds < toMs) {
      changes.push({ atMs: next.epochMilliseconds, offset: next.offsetNanoseconds / 1e9 })
      next = next.getTimeZoneTransition('next')
    }
    return describe(start.offsetNanoseconds / 1e9, changes)
  })

function offsetsOfDefinition({ components }: Component, { fromMs, toMs }: Window) {
  const onsets = components.flatMap((part) => onsetsOf(part, toMs))
  const sorted = onsets.toSorted((one, other) => one.atMs - other.atMs)
  const before = sorted.findLast(({ atMs }) => atMs <= fromMs)
  // Before its first change a zone has the offset from which that changes.
  let offset = before?.offset ?? sorted[0]!.from
  const initially = offset
  const changes: { atMs: number; offset: number }[] = []
  for (const onset of sorted.filter(({ atMs }) => atMs > fromMs && atMs < toMs)) {
    if (onset.offset !== offset) changes.push(onset)
    ;({ offset } = onset)
  }
  return describe(initially, changes)
}

/** When a STANDARD or DAYLIGHT part begins to hold. */
function onsetsOf(part: Component, toMs: number) {
  const offset = parseOffset(propertyOf(part, 'TZOFFSETTO')?.value)
  const from = parseOffset(propertyOf(part, 'TZOFFSETFROM')?.value)
  const { local } = parseLocal(propertyOf(part, 'DTSTART')?.value ?? '')
  const asUtcMs = (time: Temporal.PlainDateTime) => time.toZonedDateTime('UTC').epochMilliseconds
  const startMs = asUtcMs(local)
  const [rule] = propertiesOf(part, 'RRULE')
  const byRule = rule && {
    ...parseRule(rule.value),
    // UNTIL is in UTC here, the other times are local.
    ...(/UNTIL=/i.test(rule.value) && { until: shiftUntil(rule.value, from) }),
  }
  const window = { fromMs: startMs, toMs: toMs + 86_400_000 }
  const dates = propertiesOf(part, 'RDATE').flatMap(({ value }) => value.split(','))
  const localMs = byRule
    ? expandRule(byRule, { local, zone: 'UTC', isDate: false }, window).startsMs
    : [startMs, ...dates.map((date) => asUtcMs(parseLocal(date.split('/')[0]!).local))]
  return localMs.map((ms) => ({ atMs: ms - from * 1_000, offset, from }))
}

function shiftUntil(rule: string, fromOffset: number) {
  const [, until = ''] = /UNTIL=([^;]+)/i.exec(rule) ?? []
  const { local, isUtc } = parseLocal(until)
  const shifted = isUtc ? local.add({ seconds: fromOffset }) : local
  return `${shifted.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')}Z`
}

function parseOffset(value = '') {
  const [whole, sign, hours, minutes, seconds = '0'] =
    /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(value.trim()) ?? []
  if (whole === undefined) throw new HeldEvent('unknown-zone', 'Its time zone has no offset.')
  const total = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -total : total
}
