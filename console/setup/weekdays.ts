import type { Professional } from '../api/setup.ts'
import { currentLocale } from '../texts/translate.ts'

export type WorkingHours = Professional['workingHours'][number]
export type Weekday = WorkingHours['weekday']

export const WEEKDAYS: Weekday[] = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
]

/** "Mon" */
export const shortName = (weekday: Weekday) => formatted(weekday, 'short')

/** "Monday" */
export const longName = (weekday: Weekday) => formatted(weekday, 'long')

/** 1 January 2024 was a Monday. */
const formatted = (weekday: Weekday, form: 'short' | 'long') =>
  Temporal.PlainDate.from('2024-01-01')
    .add({ days: WEEKDAYS.indexOf(weekday) })
    .toLocaleString(currentLocale(), { weekday: form })

/** "Mon, Tue, Thu" */
export const daysInWords = (hours: WorkingHours[]) =>
  WEEKDAYS.filter((weekday) => hours.some((one) => one.weekday === weekday))
    .map(shortName)
    .join(', ')

/** "Mon–Thu 09:00–17:30, Friday 09:00–12:00" */
export const hoursInWords = (hours: WorkingHours[]) =>
  rowsOf(hours)
    .map(({ weekdays, from, to }) => `${weekdaysInWords(weekdays)} ${from}–${to}`)
    .join(', ')

/** Times that hold on several weekdays; the working hours of a form. */
export type HoursRow = Omit<WorkingHours, 'weekday'> & { weekdays: Weekday[] }

/** One row for all days with the same times at the same place. */
export function rowsOf(hours: WorkingHours[]): HoursRow[] {
  const rows: HoursRow[] = []
  for (const { weekday, ...times } of hours) {
    const row = rows.find(
      (one) =>
        one.from === times.from &&
        one.to === times.to &&
        (one.locationId ?? null) === (times.locationId ?? null) &&
        !one.weekdays.includes(weekday),
    )
    if (row) row.weekdays.push(weekday)
    else rows.push({ ...times, weekdays: [weekday] })
  }
  return rows
}

/** The hours of the rows from Monday to Sunday, each with the place of its row. */
export const hoursOf = (rows: HoursRow[]) =>
  WEEKDAYS.flatMap((weekday) =>
    rows.flatMap(({ weekdays, ...times }, row) =>
      weekdays.includes(weekday) ? [{ row, hours: { weekday, ...times } }] : [],
    ),
  )

/** Monday to Friday for the first row, then the days that have no hours yet. */
export function nextRow(rows: HoursRow[]): HoursRow {
  const last = rows.at(-1)
  if (!last) return { weekdays: WEEKDAYS.slice(0, 5), from: '09:00', to: '17:00' }
  const free = WEEKDAYS.filter((weekday) => !rows.some((row) => row.weekdays.includes(weekday)))
  return { ...last, weekdays: free.slice(0, 1) }
}

/** "Monday" of one day, "Mon–Fri" or "Mon, Tue, Thu" of more. */
export function weekdaysInWords(weekdays: Weekday[]) {
  const places = WEEKDAYS.flatMap((weekday, place) => (weekdays.includes(weekday) ? [place] : []))
  const [first, last] = [places[0], places.at(-1)]
  if (first === undefined || last === undefined) return '–'
  if (first === last) return longName(WEEKDAYS[first]!)
  const isRange = places.length > 2 && last - first === places.length - 1
  return isRange
    ? `${shortName(WEEKDAYS[first]!)}–${shortName(WEEKDAYS[last]!)}`
    : places.map((place) => shortName(WEEKDAYS[place]!)).join(', ')
}
