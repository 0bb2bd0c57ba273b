import type { Column } from './columns.ts'
import { addDays, momentAt, weekdayOf } from '../components/days.ts'

export type Span = { begin: number; end: number }

/**
 * When the member of staff works at the location on this day. Days off and special hours replace
 * the working hours. Without working hours every time of the day is working time.
 */
export function shiftsOn(
  { professional, location }: Column,
  day: string,
  timeZone: string,
): Span[] {
  const hours = professional.workingHours ?? []
  const isHere = ({ locationId }: { locationId?: number | null }) =>
    !locationId || locationId === location.locationId
  const special = (professional.workingExceptions ?? []).filter(
    (entry) => isHere(entry) && entry.startDate <= day && day <= (entry.endDate ?? entry.startDate),
  )
  if (special.length === 0 && hours.length === 0) return [spanOf(day, '00:00', '24:00', timeZone)]
  const entries =
    special.length > 0
      ? special
      : hours.filter((entry) => isHere(entry) && entry.weekday === weekdayOf(day))
  return entries
    .filter(({ from, to }) => from && to)
    .map(({ from, to }) => spanOf(day, from!, to!, timeZone))
    .toSorted((a, b) => a.begin - b.begin)
}

const spanOf = (day: string, from: string, to: string, timeZone: string): Span => ({
  begin: momentAt(day, from, timeZone),
  end: to === '24:00' ? momentAt(addDays(day, 1), '00:00', timeZone) : momentAt(day, to, timeZone),
})

/** Whether the spans, which are in order, cover the whole time without a gap. */
export function covers(spans: Span[], { begin, end }: Span) {
  let covered = begin
  for (const span of spans) if (span.begin <= covered) covered = Math.max(covered, span.end)
  return covered >= end
}
