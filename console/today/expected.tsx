import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { expectedQuery, type Appointment } from '../api/calendar.ts'
import { statusKind } from '../api/setup-objects.ts'
import { DeskButtons, useDesk, useDeskKeys, type Desk } from '../calendar/desk.tsx'
import { expectedStatuses } from '../calendar/desk-steps.ts'
import { addDays, momentAt } from '../components/days.ts'
import { useRowKeys } from '../components/row-keys.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { Panel } from './panel.tsx'
import classes from './today.module.css'

const HOUR_MS = 3_600_000
const QUARTER_MS = 900_000

/** The clients of the last hour and of the rest of the day who have not arrived, with the steps of the front desk. */
export function Expected({ now }: { now: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const today = format.isoDay(now)
  const midnight = momentAt(today, '00:00', format.timeZone)
  /** Changes every quarter of an hour only, because it is part of the query. */
  const anHourAgo = Math.floor((now - HOUR_MS) / QUARTER_MS) * QUARTER_MS
  const { data: statuses } = useQuery(statusKind.listQuery)
  const { data, error, refetch } = useQuery(
    expectedQuery(
      Math.max(midnight, anHourAgo),
      momentAt(addDays(today, 1), '00:00', format.timeZone),
      expectedStatuses(statuses ?? []),
    ),
  )
  const desk = useDesk(statuses)
  const visits = desk.withHeld(data?.items ?? [])
  useDeskKeys(desk, visits)
  useRowKeys()
  return (
    <Panel
      title={t('desk.expected')}
      aside={
        <Link to="/calendar" className="small">
          {t('desk.wholeDay')}
        </Link>
      }
    >
      <Loaded
        query={{ data: data && visits, error, refetch }}
        empty={<Empty title={t('desk.noneExpected')}>{t('desk.noneExpectedHint')}</Empty>}
      >
        {(visits) =>
          visits.map((visit) => <ExpectedVisit key={visit.calendarId} visit={visit} desk={desk} />)
        }
      </Loaded>
    </Panel>
  )
}

function ExpectedVisit({ visit, desk }: { visit: Appointment; desk: Desk }) {
  const format = useTimeFormat()
  const { calendarId, startTime } = visit
  return (
    <div className={classes.expected} data-row data-visit={calendarId}>
      <span className={`numbers small strong ${classes.time}`}>{format.time(startTime)}</span>
      <span className={classes.who}>
        <Link
          to="/calendar"
          search={{ day: format.isoDay(startTime), appointment: calendarId }}
          className="ellipsis strong"
          dir="auto"
        >
          {visit.clientName}
        </Link>
        <span className="ellipsis soft small" dir="auto">
          {visit.professionalName}
        </span>
      </span>
      <Group gap={6} wrap="nowrap">
        <DeskButtons desk={desk} visit={visit} />
      </Group>
    </div>
  )
}
