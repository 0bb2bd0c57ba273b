import { Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { AppointmentBody } from '../api/calendar.ts'
import { faultAt } from '../components/faults.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { columnKey, keyOf, staffName, type Column } from './columns.ts'
import { isDay, momentAt } from './days.ts'

type Props = {
  value: AppointmentBody
  columns: Column[]
  error: unknown
  onChange: (more: AppointmentBody) => void
}

const HALF_HOUR_MS = 1_800_000

/** Day, time and staff of an appointment; its length stays when it moves. */
export function MoveFields({ value, columns, error, onChange }: Props) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { startTime, endTime, professionalId, locationId } = value
  const day = startTime === undefined ? '' : format.isoDay(startTime)
  const time = startTime === undefined ? '' : format.time(startTime)
  const moveTo = (toDay: string, toTime: string) => {
    if (!isDay(toDay) || !/^\d\d:\d\d$/.test(toTime)) return
    const start = momentAt(toDay, toTime, format.timeZone)
    const length =
      startTime !== undefined && endTime !== undefined ? endTime - startTime : HALF_HOUR_MS
    onChange({ startTime: start, endTime: start + length })
  }
  const chosen =
    professionalId !== undefined && locationId !== undefined
      ? columnKey({ professionalId, locationId })
      : null
  return (
    <div className={classes.moveFields}>
      <TextInput
        type="date"
        label={t('calendar.day')}
        value={day}
        error={faultAt(error, 'startTime')}
        onChange={(event) => moveTo(event.currentTarget.value, time)}
      />
      <TextInput
        type="time"
        label={t('calendar.start')}
        value={time}
        onChange={(event) => moveTo(day, event.currentTarget.value)}
      />
      <Select
        label={t('calendar.staff')}
        searchable
        allowDeselect={false}
        value={chosen}
        error={faultAt(error, 'professionalId', 'locationId')}
        data={columns.map((column) => ({
          value: keyOf(column),
          label: `${staffName(column.professional)}, ${column.location.name}`,
        }))}
        onChange={(key) => {
          const column = columns.find((one) => keyOf(one) === key)
          if (!column) return
          onChange({
            professionalId: column.professional.professionalId,
            locationId: column.location.locationId,
          })
        }}
      />
    </div>
  )
}
