import { day, flag, id, oneOf, readSearch } from '../components/search.ts'

export const VIEWS = ['day', 'week', 'list'] as const

/** The state of the calendar in its address. `client`: of a new appointment. */
export const readCalendarSearch = readSearch({
  day,
  view: oneOf(VIEWS),
  location: id,
  staff: id,
  appointment: id,
  book: flag,
  client: id,
})
export type CalendarSearch = ReturnType<typeof readCalendarSearch>
