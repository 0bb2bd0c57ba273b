import type { Professional } from '../api/setup.ts'

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
  new Intl.DateTimeFormat('en-GB', { weekday: form, timeZone: 'UTC' }).format(
    Date.UTC(2024, 0, 1 + WEEKDAYS.indexOf(weekday)),
  )

/** "Mon, Tue, Thu" */
export const daysInWords = (hours: WorkingHours[]) =>
  WEEKDAYS.filter((weekday) => hours.some((one) => one.weekday === weekday))
    .map(shortName)
    .join(', ')

/** "Mon 09:00–17:30, Tue 09:00–12:00" */
export const hoursInWords = (hours: WorkingHours[]) =>
  hours.map(({ weekday, from, to }) => `${shortName(weekday)} ${from}–${to}`).join(', ')

/** The same times on the day after the last entry. */
export function nextHours(hours: WorkingHours[]): WorkingHours {
  const last = hours.at(-1)
  if (!last) return { weekday: 'MONDAY', from: '09:00', to: '17:00' }
  const place = (WEEKDAYS.indexOf(last.weekday) + 1) % WEEKDAYS.length
  return { ...last, weekday: WEEKDAYS[place]! }
}
