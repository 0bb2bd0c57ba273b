import type { Appointment } from '../api/calendar.ts'
import type { Session } from '../api/session.ts'
import type { Location, Professional, Setup } from '../api/setup.ts'

/** A member of staff at a location: a column of the day, and a choice in the forms. */
export type Column = { location: Location; professional: Professional }

export const columnKey = (ids: { locationId: number; professionalId: number }) =>
  `${ids.professionalId}:${ids.locationId}`

export const keyOf = ({ location, professional }: Column) =>
  columnKey({ locationId: location.locationId, professionalId: professional.professionalId })

export const staffName = ({ firstName, lastName }: Professional) => `${firstName} ${lastName}`

/** The staff who work or have an appointment at each location, as far as the user may see them. */
export function columnsOf(
  setup: Setup,
  appointments: Appointment[],
  session: Session,
  locationId?: number,
): Column[] {
  const booked = new Set(appointments.map(columnKey))
  const seenLocations = session.role === 'LOCATION_SUPER_USER' ? session.locationIdList : undefined
  const seenStaff = session.role === 'USER' ? session.professionalId : undefined
  const locations = setup.locations.filter(
    (location) =>
      (locationId === undefined || location.locationId === locationId) &&
      (!seenLocations || seenLocations.includes(location.locationId)),
  )
  const isOnlyLocation = setup.locations.length === 1
  return locations.flatMap((location) =>
    setup.professionals
      .filter(({ professionalId }) => seenStaff === undefined || professionalId === seenStaff)
      .map((professional) => ({ location, professional }))
      .filter((column) => {
        const places = column.professional.locationIdList ?? []
        const worksHere = places.includes(location.locationId)
        return worksHere || (places.length === 0 && isOnlyLocation) || booked.has(keyOf(column))
      }),
  )
}

/** A visit with its position among the visits that overlap it. */
export type PlacedVisit<T> = { visit: T; track: number; tracks: number }

export function placeVisits<T extends { startTime: number; endTime: number }>(
  visits: T[],
  minShownMs: number,
): PlacedVisit<T>[] {
  const shownEnd = ({ startTime, endTime }: T) => Math.max(endTime, startTime + minShownMs)
  const sorted = visits.toSorted((a, b) => a.startTime - b.startTime || b.endTime - a.endTime)
  const placed: PlacedVisit<T>[] = []
  let group: PlacedVisit<T>[] = []
  let groupEnd = -Infinity
  const closeGroup = () => {
    const tracks = Math.max(0, ...group.map(({ track }) => track)) + 1
    for (const one of group) one.tracks = tracks
    group = []
  }
  for (const visit of sorted) {
    if (visit.startTime >= groupEnd) closeGroup()
    const taken = group
      .filter((other) => shownEnd(other.visit) > visit.startTime)
      .map(({ track }) => track)
    let track = 0
    while (taken.includes(track)) track += 1
    const one = { visit, track, tracks: 1 }
    group.push(one)
    placed.push(one)
    groupEnd = Math.max(groupEnd, shownEnd(visit))
  }
  closeGroup()
  return placed
}
