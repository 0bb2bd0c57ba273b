import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { firingTime, type Timing } from '../../src/automation/timing.ts'
import { proofSeed } from '../proofs/random.ts'

/**
 * Computes the same moments independently: without Temporal, only with the local times that
 * Intl.DateTimeFormat shows, and its own day arithmetic.
 */
const ZONES = [
  'America/New_York',
  'America/St_Johns', // its offset has half an hour
  'America/Sao_Paulo', // changed at midnight until 2019
  'America/Santiago', // changes at midnight
  'Europe/Berlin',
  'Europe/Dublin', // summer time is the standard time there
  'Africa/Casablanca', // sets its clock back for a month each year
  'Africa/Cairo', // summer time begins at midnight
  'Asia/Kathmandu', // its offset has a quarter of an hour, and never changes
  'Australia/Lord_Howe', // changes by half an hour
  'Pacific/Apia', // skipped a whole day in 2011
  'Pacific/Chatham', // its offset has three quarters of an hour
]
const CASES = 24_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

test(`${CASES} firing times in ${ZONES.length} zones agree with an independent calendar`, (t) => {
  const seed = proofSeed(t)
  const met = { gap: 0, overlap: 0 }
  const perZone = CASES / ZONES.length
  for (const zone of ZONES) {
    const toLocalTime = localTimeIn(zone)
    const changes = changesOf(toLocalTime)
    const cases = fc.sample(oneCase(changes, toLocalTime), { numRuns: perZone, seed })
    for (const [index, { anchor, timing }] of cases.entries()) {
      const expected = expectedTime(anchor, timing, toLocalTime, met)
      const actual = firingTime(
        { eventTypeId: 3, triggerAnchor: 'START', ...timing },
        { ...NO_TIMES, timeZone: zone, startTime: Temporal.Instant.fromEpochMilliseconds(anchor) },
      )
      assert.equal(
        actual?.scheduledTime.toString(),
        Temporal.Instant.fromEpochMilliseconds(expected).toString(),
        `case ${index} in ${zone}: ${new Date(anchor).toISOString()} ${JSON.stringify(timing)}`,
      )
    }
  }
  assert.ok(met.gap >= 1000, `only ${met.gap} cases fell into a gap`)
  assert.ok(met.overlap >= 1000, `only ${met.overlap} cases fell into an overlap`)
})

type Offsets = Omit<Timing, 'eventTypeId' | 'triggerAnchor'>
type ToLocalTime = (moment: number) => number

const NO_TIMES = {
  objectType: 'CALENDAR',
  endTime: null,
  dueTime: null,
  expiresTime: null,
  createdDate: Temporal.Instant.fromEpochMilliseconds(0),
} as const

/** Most targets are near a clock change, where errors are likely. */
function oneCase(changes: number[], toLocalTime: ToLocalTime) {
  const offsets = fc.record<Offsets>({
    triggerMonths: fc.oneof(fc.constant(0), fc.integer({ min: -14, max: 14 })),
    triggerHours: fc.oneof(
      fc.integer({ min: -60, max: 60 }).map((days) => days * 24),
      fc.integer({ min: -400, max: 400 }),
      fc.constant(0),
    ),
    triggerMinutes: fc.oneof(fc.constant(0), fc.integer({ min: -2000, max: 2000 })),
    offsetMode: fc.constantFrom('ELAPSED', 'CALENDAR'),
  })
  const anywhere = fc
    .tuple(fc.integer({ min: Date.UTC(2009, 0), max: Date.UTC(2031, 0) }), offsets)
    .map(([anchor, timing]) => ({ anchor, timing }))
  if (changes.length === 0) return anywhere

  const nearChange = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -90, max: 150 }), offsets)
    .map(([change, minutes, timing]) => {
      const shown = new Date(toLocalTime(change - 1000) + 1000 + minutes * 60_000)
      const days = timing.offsetMode === 'CALENDAR' ? Math.trunc(timing.triggerHours / 24) : 0
      shown.setUTCDate(shown.getUTCDate() - days)
      shown.setUTCMonth(shown.getUTCMonth() - timing.triggerMonths)
      return { anchor: shown.getTime() - utcOffset(toLocalTime, shown.getTime()), timing }
    })
  return fc.oneof(anywhere, nearChange, nearChange)
}

function expectedTime(
  anchor: number,
  timing: Offsets,
  toLocalTime: ToLocalTime,
  met: { gap: number; overlap: number },
) {
  const { triggerMonths, triggerHours, triggerMinutes, offsetMode } = timing
  const wholeDays =
    offsetMode === 'CALENDAR'
      ? Math.sign(triggerHours) * Math.floor(Math.abs(triggerHours) / 24)
      : 0
  const rest = (triggerHours - wholeDays * 24) * HOUR + triggerMinutes * 60_000
  if (triggerMonths === 0 && wholeDays === 0) return anchor + rest

  const shown = new Date(toLocalTime(anchor))
  const monthsSinceZero = shown.getUTCFullYear() * 12 + shown.getUTCMonth() + triggerMonths
  const year = Math.floor(monthsSinceZero / 12)
  const month = monthsSinceZero - year * 12
  const day = Math.min(shown.getUTCDate(), daysIn(year, month))
  const wanted = Date.UTC(year, month, day) + (shown.getTime() % DAY) + wholeDays * DAY
  return momentShowing(wanted, toLocalTime, met) + rest
}

const daysIn = (year: number, month: number) => {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]!
}

/** Tries every UTC offset that the zone has around that time. */
function momentShowing(
  wanted: number,
  toLocalTime: ToLocalTime,
  met: { gap: number; overlap: number },
) {
  const moments: number[] = []
  for (const moment of new Set(
    [-2, -1, 0, 1, 2].map((days) => wanted - utcOffset(toLocalTime, wanted + days * DAY)),
  )) {
    if (toLocalTime(moment) === wanted) moments.push(moment)
  }
  if (moments.length > 1) met.overlap += 1
  if (moments.length > 0) return Math.min(...moments)
  met.gap += 1
  // The local time does not exist: it moves past the gap by the same distance.
  return wanted - utcOffset(toLocalTime, wanted - 2 * DAY)
}

/** The zone's offset from UTC at a moment. */
const utcOffset = (toLocalTime: ToLocalTime, moment: number) => toLocalTime(moment) - moment

/** The local time at a moment, as if it were UTC. */
function localTimeIn(zone: string): ToLocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (moment) => {
    const [month, day, year, hour, minute, second] = format
      .format(moment)
      .match(/\d+/g)!
      .map(Number)
    return Date.UTC(year!, month! - 1, day, hour, minute, second, moment % 1000)
  }
}

/** Every clock change from 2009 to 2030, found by comparing the offsets of each day. */
function changesOf(toLocalTime: ToLocalTime) {
  const changes: number[] = []
  for (let day = Date.UTC(2009, 0); day < Date.UTC(2031, 0); day += DAY) {
    let [before, after] = [day, day + DAY]
    if (utcOffset(toLocalTime, before) === utcOffset(toLocalTime, after)) continue
    while (after - before > 60_000) {
      const middle = before + Math.round((after - before) / 120_000) * 60_000
      if (utcOffset(toLocalTime, middle) === utcOffset(toLocalTime, before)) before = middle
      else after = middle
    }
    changes.push(after)
  }
  return changes
}
