import type { Appointment } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { addDays, momentAt } from '../components/days.ts'
import { lookOf, statusLabel, useVisitLabel, VisitMarks } from './visit.tsx'

type Props = {
  /** The first of seven days. */
  day: string
  visits: Appointment[]
  setup: Setup
  chosen: number | undefined
  onChoose: (visit: Appointment) => void
}

/** Seven days next to each other. */
export function WeekView({ day, visits, setup, chosen, onChoose }: Props) {
  const format = useTimeFormat()
  const label = useVisitLabel(setup)
  const byDay = Map.groupBy(visits, ({ startTime }) => format.isoDay(startTime))
  return (
    <div className={`card ${classes.week}`}>
      {daysFrom(day).map((one) => (
        <section key={one} className={classes.weekDay}>
          <h2>{format.day(momentAt(one, '12:00', format.timeZone))}</h2>
          {(byDay.get(one) ?? []).map((visit) => (
            <button
              key={visit.calendarId}
              type="button"
              className={`${classes.visit} ${classes.weekVisit}`}
              data-look={lookOf(visit, setup)}
              data-chosen={chosen === visit.calendarId || undefined}
              aria-pressed={chosen === visit.calendarId}
              title={label(visit)}
              onClick={() => onChoose(visit)}
            >
              <span className="row" style={{ gap: 4 }}>
                <span className="numbers soft">{format.time(visit.startTime)}</span>
                <span className="grow" />
                <VisitMarks visit={visit} />
              </span>
              <b className="ellipsis" style={{ display: 'block' }} dir="auto">
                {visit.clientName}
              </b>
              <span className="visually-hidden">
                {' '}
                {visit.reasonName}, {visit.professionalName}, {statusLabel(setup, visit.status)}
              </span>
            </button>
          ))}
        </section>
      ))}
    </div>
  )
}

/** Seven days below each other, with a row for each appointment. */
export function ListView({ day, visits, setup, chosen, onChoose }: Props) {
  const format = useTimeFormat()
  const byDay = Map.groupBy(visits, ({ startTime }) => format.isoDay(startTime))
  return daysFrom(day)
    .filter((one) => byDay.has(one))
    .map((one) => (
      <section key={one}>
        <h2 className={classes.listDay}>
          {format.longDay(momentAt(one, '12:00', format.timeZone))}
        </h2>
        <div className="card">
          {byDay.get(one)!.map((visit) => (
            <button
              key={visit.calendarId}
              type="button"
              className={classes.listRow}
              data-look={lookOf(visit, setup)}
              aria-pressed={chosen === visit.calendarId}
              onClick={() => onChoose(visit)}
            >
              <span className="numbers soft">
                {format.time(visit.startTime)}–{format.time(visit.endTime)}
              </span>
              <b className="ellipsis strong" dir="auto">
                {visit.clientName}
              </b>
              <span className="ellipsis">{visit.reasonName}</span>
              <span className="ellipsis">{visit.professionalName}</span>
              <span className="ellipsis">{visit.locationName}</span>
              <span className="ellipsis soft">{statusLabel(setup, visit.status)}</span>
              <span>
                <VisitMarks visit={visit} />
              </span>
            </button>
          ))}
        </div>
      </section>
    ))
}

const daysFrom = (day: string) => Array.from({ length: 7 }, (_, place) => addDays(day, place))
