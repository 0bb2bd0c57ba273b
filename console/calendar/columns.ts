import type { Appointment } from '../api/calendar.ts'
import type { Session } from '../api/session.ts'
import type { Location, Professional, Setup } from '../api/setup.ts'

/** A member of staff at a location: a column of the day, and a choice in the forms. */
export type Column = { location: Location; professional: Professional }

type Ids = { locationId?: number | undefined; professionalId?: number | undefined }

export const columnKey = (ids: Ids) => `${ids.professionalId}:${ids.locationId}`

export const keyOf = ({ location, professional }: Column) =>
  columnKey({ locationId: location.locationId, professionalId: professional.professionalId })

/** The time zone of the working hours. The clock that the user has chosen does not change it. */
export const zoneOf = ({ location }: Pick<Column, 'location'>, business: Session['business']) =>
  location.timeZone ?? business.timeZone

export const staffName = ({ firstName, lastName }: Professional) => `${firstName} ${lastName}`

const has = (setup: Pick<Setup, 'locations' | 'professionals'>, visit: Appointment) =>
  setup.professionals.some(({ professionalId }) => professionalId === visit.professionalId) &&
  setup.locations.some(({ locationId }) => locationId === visit.locationId)

/** Whether an appointment is with staff or at a location that was deactivated. */
export const hasFormer = (setup: Setup, visits: Appointment[]) =>
  visits.some((visit) => !has(setup, visit))

/** With the deactivated staff and locations of these appointments, so that all of them are shown. */
export function withFormer(
  setup: Setup,
  former: Pick<Setup, 'locations' | 'professionals'> | undefined,
  visits: Appointment[],
): Setup {
  if (!former) return setup
  const { locations, professionals } = former
  const booked = (name: 'locationId' | 'professionalId', id: number) =>
    visits.some((visit) => visit[name] === id)
  return {
    ...setup,
    locations: [
      ...setup.locations,
      ...locations.filter((one) => booked('locationId', one.locationId)),
    ],
    professionals: [
      ...setup.professionals,
      ...professionals
        .filter((one) => booked('professionalId', one.professionalId))
        // Only the columns of their appointments are shown.
        .map((one) => ({ ...one, locationIdList: [NOWHERE] })),
    ],
  }
}

const NOWHERE = 0

/** The staff who work or have an appointment at each location, as far as the user may see them. */
export function columnsOf(
  setup: Setup,
  appointments: Appointment[],
  session: Session,
  { locationId, professionalId }: Ids = {},
): Column[] {
  const booked = new Set(appointments.map(columnKey))
  const seenLocations = session.role === 'LOCATION_SUPER_USER' ? session.locationIdList : undefined
  const seenStaff = session.role === 'USER' ? session.professionalId : undefined
  const locations = setup.locations.filter(
    (location) =>
      (locationId === undefined || location.locationId === locationId) &&
      (!seenLocations || seenLocations.includes(location.locationId)),
  )
  const isOnlyLocation = setup.locations.filter(({ active }) => active).length === 1
  return locations.flatMap((location) =>
    setup.professionals
      .filter(
        (one) =>
          (seenStaff === undefined || one.professionalId === seenStaff) &&
          (professionalId === undefined || one.professionalId === professionalId),
      )
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

/** Visits that share the last track. */
export type FoldedVisits = { startTime: number; endTime: number; count: number }

/** Keeps `max` tracks: of the visits in the others, the last track shows the number and the time. */
export function foldTracks<T extends { startTime: number; endTime: number }>(
  placed: PlacedVisit<T>[],
  max: number,
) {
  const last = max - 1
  const isHidden = ({ track, tracks }: PlacedVisit<T>) => tracks > max && track >= last
  const folded: FoldedVisits[] = []
  for (const { visit } of placed.filter(isHidden)) {
    const before = folded.at(-1)
    if (before && visit.startTime < before.endTime) {
      before.endTime = Math.max(before.endTime, visit.endTime)
      before.count += 1
    } else {
      folded.push({ startTime: visit.startTime, endTime: visit.endTime, count: 1 })
    }
  }
  const shown = placed
    .filter((one) => !isHidden(one))
    .map((one) => ({ ...one, tracks: Math.min(one.tracks, max) }))
  return { shown, folded }
}
