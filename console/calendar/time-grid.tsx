import { Link } from '@tanstack/react-router'
import { useRef, useState, type PointerEvent, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Appointment, AppointmentFields } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { momentAt } from '../components/days.ts'
import { useTimeFormat } from '../components/time.ts'
import { useNow } from '../shell/page-head.tsx'
import classes from './calendar.module.css'
import {
  columnKey,
  foldTracks,
  placeVisits,
  type FoldedVisits,
  type PlacedVisit,
} from './columns.ts'
import { lookOf, statusLabel, VisitMarks } from './visit.tsx'
import { useVisitCard, VisitCard } from './visit-card.tsx'
import type { Span } from './working-time.ts'
import type { Desk } from './desk.tsx'

const HOUR_MS = 3_600_000
const HOUR_PX = 52
/** WCAG 2.2 requires targets of 24 px, so shorter appointments are drawn at this height. */
const MIN_SHOWN_MS = HOUR_MS / 2
const SNAP_MINUTES = 15
/** The distance in px after which a press becomes a drag. */
const DRAG_PX = 5

/** Where an appointment is, or would be. */
export type Slot = Pick<Appointment, 'startTime' | 'endTime'> &
  Pick<AppointmentFields, 'professionalId' | 'locationId'>

/** A column of the grid: a day, of one member of staff or of all. */
export type Lane = {
  key: string
  day: string
  /** The working time. */
  shifts: Span[]
  /** Whose column it is; undefined: of everybody. */
  place?: { professionalId: number; locationId: number }
  startsGroup?: boolean
}

export type GridProps = {
  setup: Setup
  desk: Desk
  visits: Appointment[]
  chosen: number | undefined
  /** The selected appointment with the changes of the draft. */
  ghost: Slot | undefined
  canEdit: boolean
  onChoose: (visit: Appointment) => void
  onMove: (visit: Appointment, slot: Slot) => void
  onBook: (slot: Slot) => void
}

type Props = GridProps & {
  label: string
  lanes: Lane[]
  /** How many appointments of the same time are next to each other; the others are counted. */
  maxTracks: number
  head: (columns: string) => ReactNode
}

/** The hours from top to bottom, with the appointments of each lane. */
export function TimeGrid({ label, lanes, head, ...props }: Props) {
  const { visits, ghost, canEdit, onMove, onBook } = props
  const format = useTimeFormat()
  const body = useRef<HTMLDivElement>(null)
  const hours = hoursOf(visits, ghost, format)
  const card = useVisitCard(body, visits)

  /** The lane and the time under a point of the screen. */
  const slotAt = (x: number, y: number, durationMs: number): Slot | undefined => {
    const cells = [...(body.current?.querySelectorAll('[data-column]') ?? [])]
    const at = cells.findIndex((cell) => {
      const { left, right } = cell.getBoundingClientRect()
      return x >= left && x < right
    })
    const lane = lanes[at]
    if (!lane) return undefined
    const hour = hours.from + (y - cells[at]!.getBoundingClientRect().top) / HOUR_PX
    const startTime = momentAt(lane.day, clockTime(hour), format.timeZone)
    return { startTime, endTime: startTime + durationMs, ...lane.place }
  }
  const drag = useDrag({ canEdit, slotAt, onMove })
  const columns = `46px repeat(${lanes.length}, minmax(92px, 1fr))`
  return (
    <div className={`card ${classes.gridScroll}`} tabIndex={0} role="region" aria-label={label}>
      {head(columns)}
      <div
        ref={body}
        className={classes.gridBody}
        style={{ gridTemplateColumns: columns, height: topOf(hours.to, hours) }}
        {...card.follow}
      >
        <HourLabels hours={hours} />
        {lanes.map((lane) => (
          <GridLane
            key={lane.key}
            {...props}
            lane={lane}
            hours={hours}
            drag={drag}
            onBookAt={(x, y) => {
              const slot = slotAt(x, y, HOUR_MS / 2)
              if (slot) onBook(slot)
            }}
          />
        ))}
        {card.shown && !drag.slot && (
          <VisitCard {...card.shown} setup={props.setup} desk={props.desk} hold={card.hold} />
        )}
      </div>
    </div>
  )
}

type Hours = { from: number; to: number }

const topOf = (hour: number, { from }: Hours) => (hour - from) * HOUR_PX

/** As long as on the clock, so that blocks end at their hour also on days of 23 or 25 hours. */
const heightOf = (slot: Pick<Slot, 'startTime' | 'endTime'>, format: Format) =>
  Math.max(hoursOnClock(slot, format), MIN_SHOWN_MS / HOUR_MS) * HOUR_PX - 2

function hoursOnClock({ startTime, endTime }: Pick<Slot, 'startTime' | 'endTime'>, format: Format) {
  const from = format.hourOfDay(startTime)
  return format.hourOfDay(endTime, format.isoDay(startTime)) - from
}

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
  const [slot, setSlot] = useState<Slot>()
  // Not a state: on a slow machine the pointer is released before the last move has been drawn.
  const drag = useRef<Drag>(undefined)
  const hasDragged = useRef(false)
  const stop = () => {
    drag.current = undefined
    setSlot(undefined)
  }
  return {
    slot,
    /** True if the click that follows belongs to a drag. */
    hasDragged: () => hasDragged.current,
    start: (visit: Appointment, event: PointerEvent<HTMLElement>) => {
      hasDragged.current = false
      // Touch scrolls; on touch screens the form in the panel moves an appointment.
      if (!canEdit || event.button !== 0 || event.pointerType === 'touch') return
      event.currentTarget.setPointerCapture(event.pointerId)
      const grabY = event.clientY - event.currentTarget.getBoundingClientRect().top
      drag.current = { visit, startX: event.clientX, startY: event.clientY, grabY }
    },
    move: ({ clientX, clientY }: PointerEvent<HTMLElement>) => {
      if (!drag.current) return
      const { visit, startX, startY, grabY } = drag.current
      if (!hasDragged.current && Math.hypot(clientX - startX, clientY - startY) < DRAG_PX) return
      hasDragged.current = true
      const { startTime, endTime, professionalId, locationId } = visit
      const place = slotAt(clientX, clientY - grabY, endTime - startTime)
      if (!place) return
      drag.current.slot = { professionalId, locationId, ...place }
      setSlot(drag.current.slot)
    },
    end: () => {
      if (drag.current?.slot) onMove(drag.current.visit, drag.current.slot)
      stop()
    },
    cancel: stop,
  }
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

type LaneProps = Omit<Props, 'label' | 'lanes' | 'head'> & {
  lane: Lane
  hours: Hours
  drag: ReturnType<typeof useDrag>
  onBookAt: (x: number, y: number) => void
}

function GridLane(props: LaneProps) {
  const { lane, visits, canEdit, hours, drag, maxTracks, onBookAt } = props
  const format = useTimeFormat()
  const ghost = drag.slot ?? props.ghost
  const own = visits.filter((visit) => isIn(lane, visit, format))
  const { shown, folded } = foldTracks(placeVisits(own, MIN_SHOWN_MS), maxTracks)
  return (
    <div
      data-column={lane.key}
      data-first={lane.startsGroup || undefined}
      className={classes.column}
      onClick={(event) => {
        if (canEdit && event.target === event.currentTarget) onBookAt(event.clientX, event.clientY)
      }}
    >
      {lane.shifts.map(({ begin, end }, place) => {
        const from = format.hourOfDay(begin)
        const to = from + hoursOnClock({ startTime: begin, endTime: end }, format)
        const top = Math.max(0, topOf(from, hours))
        const height = Math.max(0, topOf(Math.min(to, hours.to), hours) - top)
        return <span key={place} className={classes.working} style={{ top, height }} />
      })}
      {hourList(hours.from, hours.to).map((hour) => (
        <span key={hour} className={classes.hourLine} style={{ top: topOf(hour, hours) }} />
      ))}
      <NowLine day={lane.day} hours={hours} />
      {shown.map((placed) => (
        <VisitButton key={placed.visit.calendarId} {...props} placed={placed} />
      ))}
      {folded.map((visits) => (
        <FoldedLink key={visits.startTime} {...props} folded={visits} />
      ))}
      {ghost && isIn(lane, ghost, format) && <Ghost slot={ghost} hours={hours} />}
    </div>
  )
}

/** Position and width among appointments of the same time. */
const trackStyle = (track: number, tracks: number) => ({
  left: `calc(3px + (100% - 6px) * ${track / tracks})`,
  width: `calc((100% - 6px) / ${tracks} - ${tracks > 1 ? 2 : 0}px)`,
})

type VisitProps = LaneProps & { placed: PlacedVisit<Appointment> }

function VisitButton({ placed, setup, chosen, hours, drag, onChoose }: VisitProps) {
  const { visit, track, tracks } = placed
  const format = useTimeFormat()
  const height = heightOf(visit, format)
  return (
    <button
      type="button"
      className={classes.visit}
      data-look={lookOf(visit, setup)}
      data-chosen={chosen === visit.calendarId || undefined}
      data-visit={visit.calendarId}
      aria-pressed={chosen === visit.calendarId}
      style={{
        top: topOf(format.hourOfDay(visit.startTime), hours) + 1,
        height,
        ...trackStyle(track, tracks),
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

type FoldedProps = Pick<LaneProps, 'lane' | 'hours' | 'maxTracks'> & { folded: FoldedVisits }

/** How many more appointments there are at this time; leads to the day. */
function FoldedLink({ lane, hours, maxTracks, folded }: FoldedProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <Link
      to="/calendar"
      search={(before) => ({ ...before, view: 'day', day: lane.day })}
      className={`${classes.visit} ${classes.folded} numbers`}
      aria-label={t('desk.more', { count: folded.count, time: format.time(folded.startTime) })}
      style={{
        top: topOf(format.hourOfDay(folded.startTime), hours) + 1,
        height: heightOf(folded, format),
        ...trackStyle(maxTracks - 1, maxTracks),
      }}
    >
      +{folded.count}
    </Link>
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
        height: heightOf(slot, format),
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

const isIn = ({ day, place }: Lane, slot: Slot, format: Format) =>
  format.isoDay(slot.startTime) === day && (!place || columnKey(place) === columnKey(slot))

/** Working hours, extended if an appointment is earlier or later. */
function hoursOf(visits: Appointment[], ghost: Slot | undefined, format: Format) {
  const all = [...visits, ...(ghost ? [ghost] : [])]
  const starts = all.map(({ startTime }) => Math.floor(format.hourOfDay(startTime)))
  const ends = all.map((slot) => format.hourOfDay(slot.startTime) + hoursOnClock(slot, format))
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

/** The present time. Appointments cover it, so that it crosses no name. */
function NowLine({ day, hours }: { day: string; hours: Hours }) {
  const format = useTimeFormat()
  const now = useNow()
  const hour = format.hourOfDay(now)
  if (format.isoDay(now) !== day || hour < hours.from || hour > hours.to) return null
  return <span className={classes.now} data-now style={{ top: topOf(hour, hours) }} aria-hidden />
}
