import type { ReactNode } from 'react'
import type { CountedObject } from '../api/reports.ts'
import { MARK_OF_STATUS, MarkShape, type MarkName } from '../components/mark.tsx'
import {
  clientDots,
  dayBars,
  groupBars,
  heatCells,
  HEIGHT,
  placeDots,
  toneOf,
  WIDTH,
  type Dot,
  type Rect,
} from './picture-shapes.ts'

/** The pictures of the gallery, each drawn from the rows of a report. */
export const DRAWINGS = {
  days: (rows) => bars(dayBars(rows)),
  missedDays: (rows) => bars(dayBars(rows, 'missed')),
  cancelledDays: (rows) => bars(dayBars(rows, 'cancelled')),
  staff: (rows) => bars(groupBars(rows, 'staff')),
  names: (rows) => bars(groupBars(rows, 'name')),
  locations: (rows) => bars(groupBars(rows, 'location')),
  clients: (rows) => dots(clientDots(rows)),
  places: (rows) => dots(placeDots(rows)),
  heat,
  messages,
  list,
} satisfies Record<string, (rows: CountedObject[]) => ReactNode>

export type DrawingName = keyof typeof DRAWINGS

const COLORS: Record<Rect['tone'], string> = {
  kept: 'var(--mark)',
  missed: 'var(--clay)',
  cancelled: 'color-mix(in srgb, var(--line-strong) 55%, var(--card))',
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

function heat(rows: CountedObject[]) {
  return heatCells(rows).map(({ share, ...place }, i) => (
    <rect
      key={i}
      {...place}
      rx="2"
      fill={share > 0 ? 'var(--mark)' : 'var(--line)'}
      fillOpacity={share > 0 ? 0.15 + share * 0.85 : 0.6}
    />
  ))
}

const MARKS_PER_LINE = 12
const LINES = 3

/** The last messages on three lines, each with the mark of its outcome. */
function messages(rows: CountedObject[]) {
  const last = rows.slice(-MARKS_PER_LINE * LINES)
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
      {last.map(({ status }, i) => (
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

const LIST_LINES = 5

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
  return rows.slice(0, LIST_LINES).map(({ client, name, status }, i) => (
    <g key={i}>
      <rect x="0" y={6 + i * step} width="34" height="6" rx="3" fill="var(--accent-line)" />
      {line(46, i, client ?? name, 'color-mix(in srgb, var(--line-strong) 55%, var(--card))')}
      {line(136, i, name, 'var(--line)')}
      <circle cx="228" cy={9 + i * step} r="4" fill={COLORS[toneOf(status)]} />
    </g>
  ))
}
