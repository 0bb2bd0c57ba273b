import type { ReactNode } from 'react'
import { client } from '../api/client.ts'
import type { ObjectSum, PictureRequest } from '../api/report-pictures.ts'
import type { CountedObject } from '../api/reports.ts'
import { MARK_OF_STATUS, MarkShape, type MarkName } from '../components/mark.tsx'
import {
  clientDots,
  dayBars,
  groupBars,
  heatCells,
  HEIGHT,
  placeDots,
  WIDTH,
  type Dot,
  type Rect,
} from './picture-shapes.ts'

/** Reads what a picture is drawn from, and draws it; null if there is nothing. */
type Drawing = (
  request: PictureRequest,
  options: { signal: AbortSignal },
) => Promise<ReactNode | null>

/** A picture of sums, whatever the number of objects. */
const ofSums =
  (by: string, draw: (sums: ObjectSum[]) => ReactNode, limit = 200): Drawing =>
  async (request, options) => {
    const { items } = await client.sumReportRows({ ...request, by, limit }, options)
    return items.length > 0 ? draw(items) : null
  }

/** A picture of the first objects. */
const ofRows =
  (limit: number, draw: (rows: CountedObject[]) => ReactNode, measure?: string): Drawing =>
  async (request, options) => {
    const { items } = await client.listReportRows({ ...request, limit, measure }, options)
    return items.length > 0 ? draw(items) : null
  }

const MARKS_PER_LINE = 12
const LINES = 3
const LIST_LINES = 5

/** The pictures of the gallery. */
export const DRAWINGS = {
  days: ofSums('day,outcome', (sums) => bars(dayBars(sums))),
  missedDays: ofSums('day', (sums) => bars(dayBars(sums, 'MISSED'))),
  cancelledDays: ofSums('day', (sums) => bars(dayBars(sums, 'CANCELLED'))),
  staff: ofSums('staff,outcome', (sums) => bars(groupBars(sums)), 24),
  names: ofSums('name,outcome', (sums) => bars(groupBars(sums)), 24),
  services: ofSums('service,outcome', (sums) => bars(groupBars(sums)), 24),
  locations: ofSums('location,outcome', (sums) => bars(groupBars(sums)), 24),
  clients: ofSums('client', (sums) => dots(clientDots(sums)), 30),
  places: ofRows(4, (rows) => dots(placeDots(rows)), 'students'),
  heat: ofSums('weekday,hour', heat),
  messages: ofRows(MARKS_PER_LINE * LINES, messages),
  list: ofRows(LIST_LINES, list),
} satisfies Record<string, Drawing>

export type DrawingName = keyof typeof DRAWINGS

const COLORS: Record<Rect['tone'], string> = {
  KEPT: 'var(--mark)',
  PENDING: 'var(--mark)',
  MISSED: 'var(--clay)',
  CANCELLED: 'color-mix(in srgb, var(--line-strong) 55%, var(--card))',
  rest: 'var(--line)',
}

const bars = (rects: Rect[]) =>
  rects.map(({ tone, ...place }, i) => <rect key={i} {...place} rx="1" fill={COLORS[tone]} />)

const dots = (all: Dot[]) =>
  all.map(({ x, y, radius, share }, i) => (
    <circle
      key={i}
      cx={x}
      cy={y}
      r={radius}
      fill={share > 0 ? 'var(--mark)' : 'none'}
      fillOpacity={share}
      stroke={share > 0 ? 'none' : 'var(--line-strong)'}
    />
  ))

function heat(sums: ObjectSum[]) {
  return heatCells(sums).map(({ share, ...place }, i) => (
    <rect
      key={i}
      {...place}
      rx="2"
      fill={share > 0 ? 'var(--mark)' : 'var(--line)'}
      fillOpacity={share > 0 ? 0.15 + share * 0.85 : 0.6}
    />
  ))
}

/** Messages on three lines, each with the mark of its outcome. */
function messages(rows: CountedObject[]) {
  const marks: Record<string, MarkName> = MARK_OF_STATUS
  return (
    <>
      {Array.from({ length: LINES }, (_, line) => (
        <path
          key={line}
          d={`M0 ${14 + line * 28}H${WIDTH}`}
          stroke="var(--mark)"
          strokeWidth="1.5"
        />
      ))}
      {rows.map(({ status }, i) => (
        <MarkShape
          key={i}
          mark={marks[status] ?? 'waiting'}
          x={10 + (i % MARKS_PER_LINE) * 20}
          y={14 + Math.floor(i / MARKS_PER_LINE) * 28}
        />
      ))}
    </>
  )
}

/** The first rows as lines of text, as long as their words. */
function list(rows: CountedObject[]) {
  const step = HEIGHT / LIST_LINES
  const line = (x: number, i: number, words: string | null, color: string) => (
    <rect
      x={x}
      y={6 + i * step}
      width={Math.min(Math.max((words?.length ?? 0) * 4, 12), 70)}
      height="6"
      rx="3"
      fill={color}
    />
  )
  return rows.map(({ client, name, outcome }, i) => (
    <g key={i}>
      <rect x="0" y={6 + i * step} width="34" height="6" rx="3" fill="var(--accent-line)" />
      {line(46, i, client ?? name, 'color-mix(in srgb, var(--line-strong) 55%, var(--card))')}
      {line(136, i, name, 'var(--line)')}
      <circle cx="228" cy={9 + i * step} r="4" fill={COLORS[outcome]} />
    </g>
  ))
}
