import type { ObjectSum } from '../api/report-pictures.ts'
import type { CountedObject } from '../api/reports.ts'
import { addDays } from '../components/days.ts'

/** Shapes of the pictures in the gallery, as numbers. The figures themselves are in the reports. */

export const WIDTH = 240
export const HEIGHT = 84

export type VisitOutcome = CountedObject['outcome']
export type Rect = {
  x: number
  y: number
  width: number
  height: number
  tone: VisitOutcome | 'rest'
}
export type Dot = { x: number; y: number; radius: number; share: number }

const total = (sums: ObjectSum[]) => sums.reduce((all, { count }) => all + count, 0)
const byFirstKey = (sums: ObjectSum[]) => Map.groupBy(sums, ({ keys }) => keys[0] ?? '')

const TONES: VisitOutcome[] = ['KEPT', 'PENDING', 'MISSED', 'CANCELLED']
const MAX_DAYS = 31

/** A bar for each day, with a part for each outcome; `sums` are by day and outcome. */
export function dayBars(sums: ObjectSum[], only?: VisitOutcome): Rect[] {
  const byDay = byFirstKey(sums)
  const known = [...byDay.keys()].toSorted()
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined) return []
  const days = Array.from({ length: MAX_DAYS }, (_, i) => addDays(first, i)).filter(
    (day) => day <= last,
  )
  const highest = Math.max(...[...byDay.values()].map(total))
  const step = WIDTH / days.length
  return days.flatMap((day, i) => {
    let top = HEIGHT
    return TONES.flatMap((tone) => {
      const found = (byDay.get(day) ?? []).filter(({ keys }) => (only ?? keys[1]) === tone)
      const height = (total(found) / highest) * HEIGHT
      top -= height
      const bar = { x: i * step, y: top, width: Math.min(step * 0.8, 14), height, tone }
      return height > 0 ? bar : []
    })
  })
}

const MAX_BARS = 6

/** A bar for each of the largest groups: what was neither missed nor cancelled, and the rest. */
export function groupBars(sums: ObjectSum[]): Rect[] {
  const groups = [...byFirstKey(sums.filter(({ keys }) => keys[0] !== null)).values()]
  const largest = groups.toSorted((a, b) => total(b) - total(a)).slice(0, MAX_BARS)
  const most = largest[0] ? total(largest[0]) : 1
  const step = HEIGHT / Math.max(largest.length, 4)
  return largest.flatMap((group, i): Rect[] => {
    const kept = total(group.filter(({ keys }) => keys[1] === 'KEPT' || keys[1] === 'PENDING'))
    const place = { x: 0, y: i * step, height: Math.min(step * 0.6, 9) }
    return [
      { ...place, width: (total(group) / most) * WIDTH, tone: 'rest' },
      { ...place, width: (kept / most) * WIDTH, tone: 'KEPT' },
    ]
  })
}

export type Cell = { x: number; y: number; width: number; height: number; share: number }

const MAX_HOURS = 12

/** Weekdays by hours, darker where more begins. */
export function heatCells(sums: ObjectSum[]): Cell[] {
  const hours = sums.map(({ keys }) => Number(keys[1]))
  const firstHour = Math.min(...hours)
  const columns = Math.min(Math.max(...hours) - firstHour + 1, MAX_HOURS)
  if (sums.length === 0) return []
  const counts = new Map(sums.map(({ keys, count }) => [keys.join(' '), count]))
  const most = Math.max(...counts.values())
  const [width, height] = [WIDTH / columns, HEIGHT / 7]
  return Array.from({ length: 7 * columns }, (_, i) => {
    const [weekday, hour] = [Math.floor(i / columns), i % columns]
    return {
      x: hour * width,
      y: weekday * height,
      width: width - 2.5,
      height: height - 2.5,
      share: (counts.get(`${weekday + 1} ${firstHour + hour}`) ?? 0) / most,
    }
  })
}

const DOTS_PER_ROW = 10

/** A dot for each client, larger for one who came more often. */
export function clientDots(sums: ObjectSum[]): Dot[] {
  const most = Math.max(...sums.map(({ count }) => count))
  return sums.map(({ count }, i) => ({
    x: 12 + (i % DOTS_PER_ROW) * 24,
    y: 14 + Math.floor(i / DOTS_PER_ROW) * 28,
    radius: 4 + (count / most) * 6,
    share: 0.35 + (count / most) * 0.65,
  }))
}

const PLACES_SHOWN = 12

/** A row for each class: a full dot for a place that was taken. */
export function placeDots(classes: CountedObject[]): Dot[] {
  const most = Math.min(Math.max(...classes.map(({ amount }) => amount)), PLACES_SHOWN)
  if (most <= 0) return []
  return classes.flatMap(({ amount }, i) =>
    Array.from({ length: most }, (_, place) => ({
      x: 10 + place * (220 / Math.max(most - 1, 8)),
      y: 12 + i * 20,
      radius: 6,
      share: place < amount ? 1 : 0,
    })),
  )
}
