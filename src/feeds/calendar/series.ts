import { RRuleTemporal } from 'rrule-temporal'
import { HeldEvent, parseLocal, type CalendarTime } from './times.ts'

/*
 * Series are expanded by rrule-temporal. It takes minutes for hostile rules, so that only rules of this
 * grammar reach it: once a day at most. See docs/feeds/calendars.md.
 */

type Rule = {
  freq: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'
  interval?: number
  count?: number
  until?: string
  byDay?: string[]
  byMonth?: number[]
  byMonthDay?: number[]
  byYearDay?: number[]
  byWeekNo?: number[]
  bySetPos?: number[]
  wkst?: string
}

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
const MAX_CANDIDATES = 20_000
export const MAX_OCCURRENCES = 1_500

const unsupported = (what: string) =>
  new HeldEvent('unsupported-rule', `It repeats by a rule that cannot be followed: ${what}.`)

/** Reads a rule that can be expanded; throws `unsupported-rule` for all others. */
export function parseRule(text: string): Rule {
  const parts = new Map<string, string>()
  for (const part of text.toUpperCase().split(';').filter(Boolean)) {
    const [name = '', value = ''] = part.split('=')
    if (!READERS[name] && name !== 'FREQ') throw unsupported(name.slice(0, 20) || 'empty')
    if (parts.has(name)) throw unsupported(`two parts ${name}`)
    parts.set(name, value.trim())
  }
  const freq = FREQUENCIES.find((known) => known === parts.get('FREQ'))
  if (!freq) throw unsupported(`FREQ=${(parts.get('FREQ') ?? '').slice(0, 20)}`)
  const rule: Rule = { freq }
  for (const [name, value] of parts) Object.assign(rule, READERS[name]?.(value, name))
  for (const [isWrong, what] of faultsOf(rule)) if (isWrong) throw unsupported(what)
  return rule
}

/** Combinations that RFC 5545 forbids, or about which programs disagree. */
function faultsOf({ freq, ...rule }: Rule): [boolean, string][] {
  const hasOrdinal = rule.byDay?.some((day) => day.length > 2) ?? false
  const { byDay, byMonth, byMonthDay, byYearDay, byWeekNo } = rule
  return [
    [rule.count !== undefined && rule.until !== undefined, 'COUNT and UNTIL together'],
    [hasOrdinal && freq !== 'MONTHLY' && freq !== 'YEARLY', `numbered days with ${freq}`],
    [hasOrdinal && byWeekNo !== undefined, 'numbered days with BYWEEKNO'],
    [byMonthDay !== undefined && freq === 'WEEKLY', 'BYMONTHDAY with WEEKLY'],
    [byYearDay !== undefined && freq !== 'YEARLY', `BYYEARDAY with ${freq}`],
    [byYearDay !== undefined && byWeekNo !== undefined, 'BYYEARDAY with BYWEEKNO'],
    [byWeekNo !== undefined && freq !== 'YEARLY', `BYWEEKNO with ${freq}`],
    [
      rule.bySetPos !== undefined && !(byDay ?? byMonth ?? byMonthDay ?? byYearDay ?? byWeekNo),
      'BYSETPOS alone',
    ],
    [(rule.count ?? 0) > MAX_CANDIDATES, `COUNT above ${MAX_CANDIDATES}`],
  ]
}

type Reader = (value: string, name: string) => Partial<Rule>

const numbers =
  (property: keyof Rule, max: number, isSigned: boolean): Reader =>
  (value, name) => {
    const found = new Set(value.split(',').map((text) => wholeNumber(text, max, isSigned, name)))
    return { [property]: [...found].toSorted((one, other) => one - other) }
  }

function wholeNumber(text: string, max: number, isSigned: boolean, name: string) {
  const number = (isSigned ? /^[+-]?\d{1,6}$/ : /^\d{1,6}$/).test(text) ? Number(text) : 0
  if (number === 0 || Math.abs(number) > max) throw unsupported(`${name}=${text.slice(0, 20)}`)
  return number
}

const WEEKDAY = /^(?:[+-]?0?(?:[1-9]|[1-4]\d|5[0-3]))?(?:MO|TU|WE|TH|FR|SA|SU)$/

const READERS: Record<string, Reader> = {
  INTERVAL: (value, name) => ({ interval: wholeNumber(value, 100_000, false, name) }),
  COUNT: (value, name) => ({ count: wholeNumber(value, 999_999, false, name) }),
  UNTIL: (until) => ({ until }),
  BYDAY: (value, name) => {
    const byDay = [...new Set(value.split(','))]
    if (!byDay.every((day) => WEEKDAY.test(day))) throw unsupported(`${name}=${value.slice(0, 20)}`)
    return { byDay }
  },
  BYMONTH: numbers('byMonth', 12, false),
  BYMONTHDAY: numbers('byMonthDay', 31, true),
  BYYEARDAY: numbers('byYearDay', 366, true),
  BYWEEKNO: numbers('byWeekNo', 53, true),
  BYSETPOS: numbers('bySetPos', 366, true),
  WKST: (wkst, name) => {
    if (!/^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(wkst)) throw unsupported(`${name}=${wkst.slice(0, 20)}`)
    return { wkst }
  },
}

/** Milliseconds since 1970. */
export type Window = { fromMs: number; toMs: number }

/** The starts of a series in a window, and the first one after it; DTSTART counts as the first (3.8.5.3). */
export function expandRule(rule: Rule, first: CalendarTime, { fromMs, toMs }: Window) {
  const start = first.local.toZonedDateTime(first.zone)
  const firstMs = start.epochMilliseconds
  try {
    const rest = followRule(rule, first, start)
    const startsMs = rest?.between(new Date(fromMs), new Date(toMs), true).map(msOfStart) ?? []
    const inWindow = startsMs.filter((ms) => ms < toMs)
    if (firstMs >= fromMs && firstMs < toMs && inWindow[0] !== firstMs) inWindow.unshift(firstMs)
    const next = firstMs >= toMs ? start : rest?.next(new Date(toMs), true)
    return { startsMs: inWindow, nextMs: next ? msOfStart(next) : null }
  } catch (error) {
    if (!/exceeded/.test((error as Error).message)) throw error
    throw unsupported(`more than ${MAX_CANDIDATES} candidates`)
  }
}

const msOfStart = ({ epochMilliseconds }: { epochMilliseconds: number }) => epochMilliseconds

/** If the rule does not name the day of DTSTART, the rule itself gives one occurrence less than COUNT. */
function followRule(rule: Rule, first: CalendarTime, start: Temporal.ZonedDateTime) {
  const series = seriesOf(rule, first, start)
  const { count } = rule
  if (count === undefined) return series
  const found = series.next(new Date(start.epochMilliseconds), true)
  if (found?.epochMilliseconds === start.epochMilliseconds) return series
  return count === 1 ? undefined : seriesOf({ ...rule, count: count - 1 }, first, start)
}

function seriesOf({ until, ...parts }: Rule, first: CalendarTime, start: Temporal.ZonedDateTime) {
  return new RRuleTemporal({
    ...parts,
    dtstart: start,
    tzid: first.zone,
    ...(until !== undefined && { until: lastOf(until, first) }),
    maxCandidateEvaluations: MAX_CANDIDATES,
    maxIterations: MAX_CANDIDATES,
  })
}

/** The last moment at which an occurrence can start. A date includes its whole day. */
function lastOf(until: string, { zone }: CalendarTime) {
  const { local, isUtc, isDate } = parseLocal(until)
  if (isUtc) return local.toZonedDateTime('UTC').withTimeZone(zone)
  const last = isDate ? local.with({ hour: 23, minute: 59, second: 59 }) : local
  return last.toZonedDateTime(zone)
}
