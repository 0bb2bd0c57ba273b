import type { CountedObject } from '../api/reports.ts'
import { addDays } from '../components/days.ts'

/** Shapes of the pictures in the gallery, as numbers. The figures themselves are in the reports. */

export const WIDTH = 240
export const HEIGHT = 84

export type Tone = 'kept' | 'missed' | 'cancelled'
export type Rect = { x: number; y: number; width: number; height: number; tone: Tone | 'rest' }
export type Dot = { x: number; y: number; radius: number; share: number }

/** A guess by the name of the status, which is enough for a colour. */
export function toneOf(status: string): Tone {
  if (/NO_SHOW|MISSED|NOT_ATTENDED|FAILED|BOUNCED/.test(status)) return 'missed'
  return /CANCEL|WITHDRAWN|SUPPRESSED|SKIPPED|EXPIRED/.test(status) ? 'cancelled' : 'kept'
}

const TONES: Tone[] = ['kept', 'missed', 'cancelled']
const MAX_DAYS = 31

/** A bar for each day, with a part for each outcome. */
export function dayBars(rows: CountedObject[], only?: Tone): Rect[] {
  const byDay = Map.groupBy(rows, ({ localTime }) => localTime.slice(0, 10))
  const first = [...byDay.keys()].toSorted()[0]
  if (first === undefined) return []
  const last = [...byDay.keys()].toSorted().at(-1)!
  const days = Array.from({ length: MAX_DAYS }, (_, i) => addDays(first, i)).filter(
    (day) => day <= last,
  )
  const highest = Math.max(...[...byDay.values()].map((all) => all.length))
  const step = WIDTH / days.length
  return days.flatMap((day, i) => {
    let top = HEIGHT
    return TONES.flatMap((tone) => {
      const found = (byDay.get(day) ?? []).filter(({ status }) => (only ?? toneOf(status)) === tone)
      const height = (found.length / highest) * HEIGHT
      top -= height
      const bar = { x: i * step, y: top, width: Math.min(step * 0.8, 14), height, tone }
      return height > 0 ? bar : []
    })
  })
}

const MAX_BARS = 6

/** A horizontal bar for each of the largest groups: the part that was kept, and the rest. */
export function groupBars(rows: CountedObject[], name: 'staff' | 'name' | 'location' | 'client') {
  const groups = Map.groupBy(
    rows.filter((row) => row[name] !== null),
    (row) => row[name],
  )
  const largest = [...groups.values()].toSorted((a, b) => b.length - a.length).slice(0, MAX_BARS)
  const most = largest[0]?.length ?? 1
  const step = HEIGHT / Math.max(largest.length, 4)
  return largest.flatMap((group, i): Rect[] => {
    const kept = group.filter(({ status }) => toneOf(status) === 'kept').length
    const place = { x: 0, y: i * step, height: Math.min(step * 0.6, 9) }
    return [
      { ...place, width: (group.length / most) * WIDTH, tone: 'rest' },
      { ...place, width: (kept / most) * WIDTH, tone: 'kept' },
    ]
  })
}

export type Cell = { x: number; y: number; width: number; height: number; share: number }

const MAX_HOURS = 12

/** Weekdays by hours, darker where more begins. */
export function heatCells(rows: CountedObject[]): Cell[] {
  const hours = rows.map(({ localTime }) => Number(localTime.slice(11, 13)))
  const firstHour = Math.min(...hours)
  const count = Math.min(Math.max(...hours) - firstHour + 1, MAX_HOURS)
  if (rows.length === 0 || count <= 0) return []
  const counts = new Map<string, number>()
  rows.forEach(({ localTime }, i) => {
    const weekday = Temporal.PlainDate.from(localTime.slice(0, 10)).dayOfWeek - 1
    const key = `${weekday} ${hours[i]! - firstHour}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  const most = Math.max(...counts.values())
  const [width, height] = [WIDTH / count, HEIGHT / 7]
  return Array.from({ length: 7 * count }, (_, i) => {
    const [weekday, hour] = [Math.floor(i / count), i % count]
    return {
      x: hour * width,
      y: weekday * height,
      width: width - 2.5,
      height: height - 2.5,
      share: (counts.get(`${weekday} ${hour}`) ?? 0) / most,
    }
  })
}

const DOTS_PER_ROW = 10
const MAX_DOTS = 30

/** A dot for each client, larger for one who came more often. */
export function clientDots(rows: CountedObject[]): Dot[] {
  const counts = [...Map.groupBy(rows, ({ clientId }) => clientId).values()]
    .map(({ length }) => length)
    .slice(0, MAX_DOTS)
  const most = Math.max(...counts)
  return counts.map((count, i) => ({
    x: 12 + (i % DOTS_PER_ROW) * 24,
    y: 14 + Math.floor(i / DOTS_PER_ROW) * 28,
    radius: 4 + (count / most) * 6,
    share: 0.35 + (count / most) * 0.65,
  }))
}

const CLASSES_SHOWN = 4
const PLACES_SHOWN = 12

/** A row for each of the last classes: a full dot for a place that was taken. */
export function placeDots(rows: CountedObject[]): Dot[] {
  const classes = rows.slice(-CLASSES_SHOWN)
  const most = Math.min(Math.max(...rows.map(({ amount }) => amount)), PLACES_SHOWN)
  if (classes.length === 0 || most <= 0) return []
  return classes.flatMap(({ amount }, i) =>
    Array.from({ length: most }, (_, place) => ({
      x: 10 + place * (220 / Math.max(most - 1, 8)),
      y: 12 + i * 20,
      radius: 6,
      share: place < amount ? 1 : 0,
    })),
  )
}
