import { ActionIcon, Button, Input, Select, TextInput, VisuallyHidden } from '@mantine/core'
import { IconPlus, IconX } from '../components/icons.tsx'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Location } from '../api/setup.ts'
import classes from './setup.module.css'
import type { At, Fault } from '../records/use-record.ts'
import {
  hoursOf,
  longName,
  nextRow,
  rowsOf,
  shortName,
  WEEKDAYS,
  weekdaysInWords,
  type HoursRow,
  type WorkingHours,
} from './weekdays.ts'

type Props = Omit<At<WorkingHours[]>, 'error'> & {
  faults: Fault[]
  /** The locations to choose from. */
  locations: Location[]
}

/** One row for each span of time, with the days that have it. */
export function WorkingHoursField({ value, faults, onChange, locations }: Props) {
  const { t } = useTranslation()
  // Rows keep their place while their times are typed, also if they become equal.
  const [typed, setTyped] = useState<HoursRow[]>([])
  const isTyped = JSON.stringify(hoursOf(typed).map(({ hours }) => hours)) === JSON.stringify(value)
  const rows = isTyped ? typed : rowsOf(value)
  const change = (next: HoursRow[]) => {
    setTyped(next)
    onChange(hoursOf(next).map(({ hours }) => hours))
  }
  const faultAt = (row: number, part: string) =>
    textOf(
      faults.filter(({ pointer }) => {
        const [place, name] = pointer.split('/').slice(-2)
        return name === part && hoursOf(rows)[Number(place)]?.row === row
      }),
    )
  return (
    <Input.Wrapper
      component="fieldset"
      className={classes.hours}
      label={t('settings.setup.fields.workingHours')}
      labelElement="div"
      description={t('settings.staff.hoursHint')}
      error={textOf(faults.filter(({ pointer }) => !/\d/.test(pointer)))}
    >
      {rows.map((hours, row) => (
        <HoursOfDays
          key={row}
          hours={hours}
          faultAt={(part) => faultAt(row, part)}
          locations={locations}
          onChange={(next) => change(rows.with(row, next))}
          onRemove={() => change(rows.toSpliced(row, 1))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => change([...rows, nextRow(rows)])}
      >
        {t('settings.staff.addHours')}
      </Button>
    </Input.Wrapper>
  )
}

/** The same fault of several days is said once. */
const textOf = (faults: Fault[]) => [...new Set(faults.map(({ detail }) => detail))].join('; ')

type RowProps = {
  hours: HoursRow
  faultAt: (part: keyof WorkingHours) => string
  locations: Location[]
  onChange: (hours: HoursRow) => void
  onRemove: () => void
}

function HoursOfDays({ hours, faultAt, locations, onChange, onRemove }: RowProps) {
  const { t } = useTranslation()
  const { weekdays, from, to, locationId } = hours
  const day = weekdaysInWords(weekdays)
  return (
    <div className={classes.span}>
      <DayButtons weekdays={weekdays} onChange={(weekdays) => onChange({ ...hours, weekdays })} />
      <TextInput
        type="time"
        aria-label={t('settings.staff.from', { day })}
        value={from}
        error={faultAt('from')}
        onChange={(event) => onChange({ ...hours, from: event.currentTarget.value })}
      />
      <span aria-hidden>–</span>
      <TextInput
        type="time"
        aria-label={t('settings.staff.to', { day })}
        error={faultAt('to')}
        value={to === '24:00' ? '00:00' : to}
        onChange={({ currentTarget: { value } }) =>
          // The end of the day is written 24:00.
          onChange({ ...hours, to: value === '00:00' ? '24:00' : value })
        }
      />
      {locations.length > 1 && (
        <Select
          aria-label={t('settings.staff.hoursAt', { day })}
          className={classes.place}
          placeholder={t('calendar.anyLocation')}
          value={locationId ? String(locationId) : null}
          clearable
          error={faultAt('locationId')}
          data={locations.map((one) => ({ value: String(one.locationId), label: one.name }))}
          onChange={(id) => onChange({ ...hours, locationId: id === null ? null : Number(id) })}
        />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('settings.staff.removeHours', { day })}
        onClick={onRemove}
      >
        <IconX size={15} aria-hidden />
      </ActionIcon>
    </div>
  )
}

type Weekdays = HoursRow['weekdays']
type DayProps = { weekdays: Weekdays; onChange: (weekdays: Weekdays) => void }

function DayButtons({ weekdays, onChange }: DayProps) {
  const { t } = useTranslation()
  return (
    <div role="group" aria-label={t('settings.staff.weekdays')} className={classes.days}>
      {WEEKDAYS.map((weekday) => (
        <button
          key={weekday}
          type="button"
          className={classes.day}
          title={longName(weekday)}
          aria-pressed={weekdays.includes(weekday)}
          onClick={() =>
            onChange(
              weekdays.includes(weekday)
                ? weekdays.filter((one) => one !== weekday)
                : [...weekdays, weekday],
            )
          }
        >
          <span aria-hidden>{shortName(weekday)}</span>
          <VisuallyHidden>{longName(weekday)}</VisuallyHidden>
        </button>
      ))}
    </div>
  )
}
