import type { DateRange, Scope, Zone } from './report.ts'

export type LocationZone = { locationId: number; timeZone: string }

type Business = { timeZone: string }

/** The zones of a range: one for all rows if all locations have the same. */
export function zonesOf(
  range: DateRange,
  locations: LocationZone[],
  { timeZone }: Business,
): { timeZone: string; zones: Zone[] } {
  const byZone = Map.groupBy(locations, (location) => location.timeZone)
  const only = byZone.size === 1 ? locations[0]!.timeZone : undefined
  if (only !== undefined || byZone.size === 0) {
    const zone = only ?? timeZone
    return { timeZone: zone, zones: [zoneOf(range, zone, null)] }
  }
  const others = [...byZone].filter(([zone]) => zone !== timeZone)
  return {
    timeZone,
    zones: [
      ...others.map(([zone, at]) =>
        zoneOf(
          range,
          zone,
          at.map(({ locationId }) => locationId),
        ),
      ),
      zoneOf(range, timeZone, null),
    ],
  }
}

const zoneOf = (range: DateRange, timeZone: string, locationIds: number[] | null): Zone => ({
  timeZone,
  locationIds,
  ...instantsOf(range, timeZone),
})

/** From the start of the first day to the end of the last one, which can have 23 or 25 hours. */
const instantsOf = ({ startDate, endDate }: DateRange, timeZone: string) => ({
  from: startDate.toZonedDateTime(timeZone).toInstant(),
  until: endDate.add({ days: 1 }).toZonedDateTime(timeZone).toInstant(),
})

/** The same scope for another range. `cut` returns an earlier end for a time zone. */
export function withRange(
  scope: Scope,
  range: DateRange,
  cut: (timeZone: string) => Temporal.Instant | undefined = () => undefined,
): Scope {
  const zones = scope.zones.map((zone) => {
    const { from, until } = instantsOf(range, zone.timeZone)
    // A range that has not begun in a zone is empty there: PostgreSQL refuses one that ends before its start.
    return { ...zone, from, until: later(from, earlier(until, cut(zone.timeZone))) }
  })
  return { ...scope, ...range, zones, ...boundsOf(zones) }
}

/** The earliest start and the latest end. */
export const boundsOf = (zones: Zone[]) => ({
  from: zones.map(({ from }) => from).toSorted(Temporal.Instant.compare)[0]!,
  until: zones
    .map(({ until }) => until)
    .toSorted(Temporal.Instant.compare)
    .at(-1)!,
})

const earlier = (a: Temporal.Instant, b: Temporal.Instant | undefined) =>
  b && Temporal.Instant.compare(b, a) < 0 ? b : a

const later = (a: Temporal.Instant, b: Temporal.Instant) =>
  Temporal.Instant.compare(b, a) < 0 ? a : b
