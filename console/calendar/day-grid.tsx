import { useRef, useState, type PointerEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Appointment, AppointmentBody } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import { useNow } from '../shell/page-head.tsx'
import classes from './calendar.module.css'
import {
  columnKey,
  keyOf,
  placeVisits,
  staffName,
  type Column,
  type PlacedVisit,
} from './columns.ts'
import { momentAt, offsetMs } from '../components/days.ts'
import { lookOf, statusLabel, useVisitLabel, VisitMarks } from './visit.tsx'
import { shiftsOn } from './working-time.ts'

const HOUR_MS = 3_600_000
const HOUR_PX = 52
/** WCAG 2.2 requires targets of 24 px, so shorter appointments are drawn at this height. */
const MIN_SHOWN_MS = HOUR_MS / 2
const SNAP_MINUTES = 15
/** The distance in px after which a press becomes a drag. */
const DRAG_PX = 5

type Props = {
  day: string
  columns: Column[]
  visits: Appointment[]
  setup: Setup
  chosen: number | undefined
  /** The selected appointment with the changes of the draft. */
  ghost: Slot | undefined
  canEdit: boolean
  onChoose: (visit: Appointment) => void
  onMove: (visit: Appointment, slot: Slot) => void
  onBook: (slot: Slot) => void
}

export type Slot = Required<
  Pick<AppointmentBody, 'startTime' | 'endTime' | 'professionalId' | 'locationId'>
>

/** A day with one column per member of staff and the hours from top to bottom. */
export function DayGrid(props: Props) {
  const { day, visits, ghost, canEdit, onMove, onBook } = props
  const { t } = useTranslation()
  const format = useTimeFormat()
  const columns = props.columns.filter(
    (column) =>
      shiftsOn(column, day, zoneOf(column, format)).length > 0 ||
      [...visits, ...(ghost ? [ghost] : [])].some((visit) => columnKey(visit) === keyOf(column)),
  )
  const body = useRef<HTMLDivElement>(null)
  const hours = hoursOf(visits, ghost, format.hourOfDay)

  /** The column and the time under a point of the screen. */
  const slotAt = (x: number, y: number, durationMs: number): Slot | undefined => {
    const cells = [...(body.current?.querySelectorAll('[data-column]') ?? [])]
    const at = cells.findIndex((cell) => {
      const { left, right } = cell.getBoundingClientRect()
      return x >= left && x < right
    })
    const column = columns[at]
    if (!column) return undefined
    const hour = hours.from + (y - cells[at]!.getBoundingClientRect().top) / HOUR_PX
    const startTime = momentAt(day, clockTime(hour), format.timeZone)
    return {
      startTime,
      endTime: startTime + durationMs,
      professionalId: column.professional.professionalId,
      locationId: column.location.locationId,
    }
  }
  const drag = useDrag({ canEdit, slotAt, onMove })
  const template = `46px repeat(${columns.length}, minmax(92px, 1fr))`
  return (
    <div
      className={`card ${classes.gridScroll}`}
      tabIndex={0}
      role="region"
      aria-label={t('calendar.grid')}
    >
      <GridHead day={day} columns={columns} template={template} />
      <div
        ref={body}
        className={classes.gridBody}
        style={{ gridTemplateColumns: template, height: topOf(hours.to, hours) }}
      >
        <HourLabels hours={hours} />
        {columns.map((column, place) => (
          <GridColumn
            key={keyOf(column)}
            {...props}
            column={column}
            isFirst={isFirstOfLocation(columns, place)}
            hours={hours}
            drag={drag}
            onBookAt={(x, y) => {
              const slot = slotAt(x, y, HOUR_MS / 2)
              if (slot) onBook(slot)
            }}
          />
        ))}
        <NowLine day={day} top={(hour) => topOf(hour, hours)} until={hours.to} />
      </div>
    </div>
  )
}

type Hours = { from: number; to: number }

const topOf = (hour: number, { from }: Hours) => (hour - from) * HOUR_PX

const heightOf = ({ startTime, endTime }: { startTime: number; endTime: number }) =>
  (Math.max(endTime - startTime, MIN_SHOWN_MS) / HOUR_MS) * HOUR_PX - 2

type Drag = {
  visit: Appointment
  startX: number
  startY: number
  /** The offset of the pointer within the appointment. */
  grabY: number
  slot?: Slot
}

type DragOptions = Pick<Props, 'canEdit' | 'onMove'> & {
  slotAt: (x: number, y: number, durationMs: number) => Slot | undefined
}

/** Moves an appointment with the pointer. `slot` is its new place. */
function useDrag({ canEdit, slotAt, onMove }: DragOptions) {
  const [drag, setDrag] = useState<Drag>()
  const hasDragged = useRef(false)
  return {
    slot: drag?.slot,
    /** True if the click that follows belongs to a drag. */
    hasDragged: () => hasDragged.current,
    start: (visit: Appointment, event: PointerEvent<HTMLElement>) => {
      hasDragged.current = false
      // Touch scrolls; on touch screens the form in the panel moves an appointment.
      if (!canEdit || event.button !== 0 || event.pointerType === 'touch') return
      event.currentTarget.setPointerCapture(event.pointerId)
      const grabY = event.clientY - event.currentTarget.getBoundingClientRect().top
      setDrag({ visit, startX: event.clientX, startY: event.clientY, grabY })
    },
    move: (event: PointerEvent<HTMLElement>) => {
      if (!drag) return
      const distance = Math.hypot(event.clientX - drag.startX, event.clientY - drag.startY)
      if (distance < DRAG_PX && !drag.slot) return
      hasDragged.current = true
      const { startTime, endTime } = drag.visit
      const slot = slotAt(event.clientX, event.clientY - drag.grabY, endTime - startTime)
      if (slot) setDrag({ ...drag, slot })
    },
    end: () => {
      if (drag?.slot) onMove(drag.visit, drag.slot)
      setDrag(undefined)
    },
    cancel: () => setDrag(undefined),
  }
}

type HeadProps = { day: string; columns: Column[]; template: string }

/** Locations above the names of their staff. */
function GridHead({ day, columns, template }: HeadProps) {
  return (
    <div className={classes.gridHead} style={{ gridTemplateColumns: template }}>
      <span />
      {groupByLocation(columns).map(({ location, count }) => (
        <span
          key={location.locationId}
          className={classes.location}
          style={{ gridColumn: `span ${count}` }}
        >
          <span className="ellipsis">{location.name}</span>
          <ZoneDifference day={day} timeZone={location.timeZone} />
        </span>
      ))}
      <span />
      {columns.map((column, place) => (
        <span
          key={keyOf(column)}
          className={`ellipsis ${classes.staff}`}
          data-first={isFirstOfLocation(columns, place) || undefined}
          title={staffName(column.professional)}
          dir="auto"
        >
          {column.professional.firstName}{' '}
          <span className="soft">{column.professional.lastName.slice(0, 1)}.</span>
        </span>
      ))}
    </div>
  )
}

function HourLabels({ hours }: { hours: Hours }) {
  return (
    <div className={classes.hours} aria-hidden>
      {hourList(hours.from, hours.to).map((hour) => (
        <span key={hour} className="numbers faint" style={{ top: topOf(hour, hours) - 9 }}>
          {String(hour).padStart(2, '0')}:00
        </span>
      ))}
    </div>
  )
}

type ColumnProps = Props & {
  column: Column
  isFirst: boolean
  hours: Hours
  drag: ReturnType<typeof useDrag>
  onBookAt: (x: number, y: number) => void
}

function GridColumn(props: ColumnProps) {
  const { column, day, visits, canEdit, isFirst, hours, drag, onBookAt } = props
  const format = useTimeFormat()
  const ghost = drag.slot ?? props.ghost
  const own = visits.filter((visit) => columnKey(visit) === keyOf(column))
  return (
    <div
      data-column={keyOf(column)}
      data-first={isFirst || undefined}
      className={classes.column}
      onClick={(event) => {
        if (canEdit && event.target === event.currentTarget) onBookAt(event.clientX, event.clientY)
      }}
    >
      {shiftsOn(column, day, zoneOf(column, format)).map(({ begin, end }) => {
        const from = format.hourOfDay(begin)
        const to = from + (end - begin) / HOUR_MS
        const top = Math.max(0, topOf(from, hours))
        const height = Math.max(0, topOf(Math.min(to, hours.to), hours) - top)
        return <span key={begin} className={classes.working} style={{ top, height }} />
      })}
      {hourList(hours.from, hours.to).map((hour) => (
        <span key={hour} className={classes.hourLine} style={{ top: topOf(hour, hours) }} />
      ))}
      {placeVisits(own, MIN_SHOWN_MS).map((placed) => (
        <VisitButton key={placed.visit.calendarId} {...props} placed={placed} />
      ))}
      {ghost && columnKey(ghost) === keyOf(column) && isOn(ghost, day, format) && (
        <Ghost slot={ghost} hours={hours} />
      )}
    </div>
  )
}

type VisitProps = ColumnProps & { placed: PlacedVisit<Appointment> }

function VisitButton({ placed, setup, chosen, hours, drag, onChoose }: VisitProps) {
  const { visit, track, tracks } = placed
  const format = useTimeFormat()
  const label = useVisitLabel(setup)
  const height = heightOf(visit)
  return (
    <button
      type="button"
      className={classes.visit}
      data-look={lookOf(visit, setup)}
      data-chosen={chosen === visit.calendarId || undefined}
      data-visit={visit.calendarId}
      aria-pressed={chosen === visit.calendarId}
      title={label(visit)}
      style={{
        top: topOf(format.hourOfDay(visit.startTime), hours) + 1,
        height,
        left: `calc(3px + (100% - 6px) * ${track / tracks})`,
        width: `calc((100% - 6px) / ${tracks} - ${tracks > 1 ? 2 : 0}px)`,
      }}
      onPointerDown={(event) => drag.start(visit, event)}
      onPointerMove={drag.move}
      onPointerUp={drag.end}
      onPointerCancel={drag.cancel}
      onClick={() => {
        if (!drag.hasDragged()) onChoose(visit)
      }}
    >
      <span className="visually-hidden">
        {format.time(visit.startTime)}–{format.time(visit.endTime)}{' '}
      </span>
      <span className="row" style={{ gap: 4 }}>
        <b className="ellipsis grow" dir="auto">
          {visit.clientName}
        </b>
        <span className={tracks === 1 ? undefined : 'visually-hidden'}>
          <VisitMarks visit={visit} />
        </span>
      </span>
      <span className={height > 32 ? `ellipsis soft ${classes.service}` : 'visually-hidden'}>
        {' '}
        {visit.reasonName}
      </span>
      <span className="visually-hidden">
        {' '}
        {visit.professionalName}, {statusLabel(setup, visit.status)}
      </span>
    </button>
  )
}

/** The new place of the appointment. */
function Ghost({ slot, hours }: { slot: Slot; hours: Hours }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <div
      className={classes.ghost}
      data-ghost
      style={{
        top: topOf(format.hourOfDay(slot.startTime), hours) + 1,
        height: heightOf(slot),
      }}
    >
      <b>
        {format.time(slot.startTime)}–{format.time(slot.endTime)}
      </b>{' '}
      {t('calendar.here')}
    </div>
  )
}

type Format = ReturnType<typeof useTimeFormat>

const isOn = ({ startTime }: Slot, day: string, format: Format) => format.isoDay(startTime) === day

/** Working hours, extended if an appointment is earlier or later. */
function hoursOf(
  visits: Appointment[],
  ghost: Slot | undefined,
  hourOfDay: (ms: number) => number,
) {
  const all = [...visits, ...(ghost ? [ghost] : [])]
  const starts = all.map(({ startTime }) => Math.floor(hourOfDay(startTime)))
  const ends = all.map(
    ({ startTime, endTime }) => hourOfDay(startTime) + (endTime - startTime) / HOUR_MS,
  )
  return {
    from: Math.min(8, ...starts) - 0.5,
    to: Math.min(24, Math.max(19, ...ends.map(Math.ceil)) + 0.25),
  }
}

const hourList = (from: number, to: number) => {
  const first = Math.ceil(from)
  return Array.from({ length: Math.floor(to) - first + 1 }, (_, place) => first + place)
}

/** 14.3 → 14:15 */
function clockTime(hour: number) {
  const steps = Math.round((hour * 60) / SNAP_MINUTES)
  const minutes = Math.min(Math.max(steps * SNAP_MINUTES, 0), 24 * 60 - SNAP_MINUTES)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function groupByLocation(columns: Column[]) {
  const groups = Map.groupBy(columns, ({ location }) => location.locationId)
  return [...groups.values()].map((some) => ({ location: some[0]!.location, count: some.length }))
}

const isFirstOfLocation = (columns: Column[], place: number) =>
  columns[place]!.location !== columns[place - 1]?.location

/** The time zone of the working hours. */
const zoneOf = ({ location }: Column, format: Format) => location.timeZone ?? format.timeZone

/** "1 h behind": the difference between the time zones of location and business. */
function ZoneDifference({ day, timeZone }: { day: string; timeZone: string | null }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const noon = Date.parse(`${day}T12:00:00Z`)
  const hours = timeZone
    ? (offsetMs(noon, timeZone) - offsetMs(noon, format.timeZone)) / HOUR_MS
    : 0
  if (hours === 0) return null
  const key = hours > 0 ? 'calendar.ahead' : 'calendar.behind'
  return <span className="amber">&nbsp;· {t(key, { hours: Math.abs(hours) })}</span>
}

function NowLine({
  day,
  top,
  until,
}: {
  day: string
  top: (hour: number) => number
  until: number
}) {
  const format = useTimeFormat()
  const now = useNow()
  const hour = format.hourOfDay(now)
  if (format.isoDay(now) !== day || top(hour) < 0 || hour > until) return null
  return <span className={classes.now} style={{ top: top(hour) }} aria-hidden />
}
