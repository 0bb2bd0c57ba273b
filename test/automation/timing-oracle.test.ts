import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { firingTime, type Timing } from '../../src/automation/timing.ts'
import { proofSeed } from '../proofs/random.ts'

/**
 * Computes the same moments independently: without Temporal, only with the local times that
 * Intl.DateTimeFormat shows, and own day arithmetic.
 */
const ZONES = [
  'America/New_York',
  'America/St_Johns', // half hours
  'America/Sao_Paulo', // changed at midnight until 2019
  'America/Santiago', // changes at midnight
  'Europe/Berlin',
  'Europe/Dublin', // summer is standard time there
  'Africa/Casablanca', // back for a month each year
  'Africa/Cairo', // begins at midnight
  'Asia/Kathmandu', // a quarter, and never a change
  'Australia/Lord_Howe', // changes by half an hour
  'Pacific/Apia', // left out a whole day in 2011
  'Pacific/Chatham', // three quarters
]
const CASES = 24_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

test(`${CASES} firing times in ${ZONES.length} zones agree with an independent calendar`, (t) => {
  const seed = proofSeed(t)
  const met = { gap: 0, overlap: 0 }
  const perZone = CASES / ZONES.length
  for (const zone of ZONES) {
    const wall = wallOf(zone)
    const changes = changesOf(wall)
    const cases = fc.sample(oneCase(changes, wall), { numRuns: perZone, seed })
    for (const [index, { anchor, timing }] of cases.entries()) {
      const expected = expectedTime(anchor, timing, wall, met)
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
type Wall = (moment: number) => number

const NO_TIMES = {
  objectType: 'CALENDAR',
  endTime: null,
  dueTime: null,
  expiresTime: null,
  createdDate: Temporal.Instant.fromEpochMilliseconds(0),
} as const

/** Most targets are near a clock change, where errors are likely. */
function oneCase(changes: number[], wall: Wall) {
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
      const shown = new Date(wall(change - 1000) + 1000 + minutes * 60_000)
      const days = timing.offsetMode === 'CALENDAR' ? Math.trunc(timing.triggerHours / 24) : 0
      shown.setUTCDate(shown.getUTCDate() - days)
      shown.setUTCMonth(shown.getUTCMonth() - timing.triggerMonths)
      return { anchor: shown.getTime() - away(wall, shown.getTime()), timing }
    })
  return fc.oneof(anywhere, nearChange, nearChange)
}

function expectedTime(
  anchor: number,
  timing: Offsets,
  wall: Wall,
  met: { gap: number; overlap: number },
) {
  const { triggerMonths, triggerHours, triggerMinutes, offsetMode } = timing
  const wholeDays =
    offsetMode === 'CALENDAR'
      ? Math.sign(triggerHours) * Math.floor(Math.abs(triggerHours) / 24)
      : 0
  const rest = (triggerHours - wholeDays * 24) * HOUR + triggerMinutes * 60_000
  if (triggerMonths === 0 && wholeDays === 0) return anchor + rest

  const shown = new Date(wall(anchor))
  const monthsSinceZero = shown.getUTCFullYear() * 12 + shown.getUTCMonth() + triggerMonths
  const year = Math.floor(monthsSinceZero / 12)
  const month = monthsSinceZero - year * 12
  const day = Math.min(shown.getUTCDate(), daysIn(year, month))
  const wanted = Date.UTC(year, month, day) + (shown.getTime() % DAY) + wholeDays * DAY
  return momentShowing(wanted, wall, met) + rest
}

const daysIn = (year: number, month: number) => {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]!
}

/** Tries every UTC offset that the zone has around that time. */
function momentShowing(wanted: number, wall: Wall, met: { gap: number; overlap: number }) {
  const moments: number[] = []
  for (const moment of new Set(
    [-2, -1, 0, 1, 2].map((days) => wanted - away(wall, wanted + days * DAY)),
  )) {
    if (wall(moment) === wanted) moments.push(moment)
  }
  if (moments.length > 1) met.overlap += 1
  if (moments.length > 0) return Math.min(...moments)
  met.gap += 1
  // The local time does not exist: it moves past the gap by the same distance.
  return wanted - away(wall, wanted - 2 * DAY)
}

/** The zone's offset from UTC at a moment. */
const away = (wall: Wall, moment: number) => wall(moment) - moment

/** The local time at a moment, as if it were UTC. */
function wallOf(zone: string): Wall {
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
function changesOf(wall: Wall) {
  const changes: number[] = []
  for (let day = Date.UTC(2009, 0); day < Date.UTC(2031, 0); day += DAY) {
    let [before, after] = [day, day + DAY]
    if (away(wall, before) === away(wall, after)) continue
    while (after - before > 60_000) {
      const middle = before + Math.round((after - before) / 120_000) * 60_000
      if (away(wall, middle) === away(wall, before)) before = middle
      else after = middle
    }
    changes.push(after)
  }
  return changes
}
