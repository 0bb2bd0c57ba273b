import { Group } from '@mantine/core'
import type { Appointment } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { addDays, momentAt } from '../components/days.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { DeskButtons, type Desk } from './desk.tsx'
import { lookOf, statusLabel, VisitMarks } from './visit.tsx'

type Props = {
  /** The first of seven days. */
  day: string
  visits: Appointment[]
  setup: Setup
  desk: Desk
  chosen: number | undefined
  onChoose: (visit: Appointment) => void
}

/** Seven days below each other, with a row for each appointment. */
export function ListView({ day, visits, ...props }: Props) {
  const format = useTimeFormat()
  const byDay = Map.groupBy(visits, ({ startTime }) => format.isoDay(startTime))
  return Array.from({ length: 7 }, (_, place) => addDays(day, place))
    .filter((one) => byDay.has(one))
    .map((one) => (
      <section key={one}>
        <h2 className={classes.listDay}>
          {format.longDay(momentAt(one, '12:00', format.timeZone))}
        </h2>
        <div className="card">
          {byDay.get(one)!.map((visit) => (
            <Row key={visit.calendarId} {...props} visit={visit} />
          ))}
        </div>
      </section>
    ))
}

type RowProps = Omit<Props, 'day' | 'visits'> & { visit: Appointment }

function Row({ visit, setup, desk, chosen, onChoose }: RowProps) {
  const format = useTimeFormat()
  return (
    <div className={classes.listRow} data-visit={visit.calendarId}>
      <button
        type="button"
        className={classes.listVisit}
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
      <Group gap={6} wrap="nowrap" className={classes.listSteps}>
        <DeskButtons desk={desk} visit={visit} />
      </Group>
    </div>
  )
}
