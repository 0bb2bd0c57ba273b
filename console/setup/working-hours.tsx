import { ActionIcon, Button, Input, Select, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Location } from '../api/setup.ts'
import classes from './setup.module.css'
import type { At, Fault } from './setup-form-state.ts'
import { longName, nextHours, WEEKDAYS, type Weekday, type WorkingHours } from './weekdays.ts'

type Props = Omit<At<WorkingHours[]>, 'error'> & {
  faults: Fault[]
  /** The locations to choose from. */
  locations: Location[]
}

/** One row for each span of time. */
export function WorkingHoursField({ value, faults, onChange, locations }: Props) {
  const { t } = useTranslation()
  const replace = (place: number, hours: WorkingHours) => onChange(value.with(place, hours))
  return (
    <Input.Wrapper
      component="fieldset"
      className={classes.hours}
      label={t('settings.setup.fields.workingHours')}
      labelElement="div"
      description={t('settings.staff.hoursHint')}
      error={textOf(faults.filter(({ pointer }) => !/\d/.test(pointer)))}
    >
      {value.map((hours, place) => (
        <HoursRow
          key={place}
          hours={hours}
          faultAt={(part) =>
            textOf(faults.filter(({ pointer }) => pointer.endsWith(`/${place}/${part}`)))
          }
          locations={locations}
          onChange={(next) => replace(place, next)}
          onRemove={() => onChange(value.toSpliced(place, 1))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onChange([...value, nextHours(value)])}
      >
        {t('settings.staff.addHours')}
      </Button>
    </Input.Wrapper>
  )
}

const textOf = (faults: Fault[]) => faults.map(({ detail }) => detail).join('; ')

type RowProps = {
  hours: WorkingHours
  faultAt: (part: keyof WorkingHours) => string
  locations: Location[]
  onChange: (hours: WorkingHours) => void
  onRemove: () => void
}

function HoursRow({ hours, faultAt, locations, onChange, onRemove }: RowProps) {
  const { t } = useTranslation()
  const { weekday, from, to, locationId } = hours
  const day = longName(weekday)
  return (
    <div className={classes.span}>
      <Select
        aria-label={t('settings.staff.weekday')}
        className={classes.weekday}
        value={weekday}
        allowDeselect={false}
        data={WEEKDAYS.map((one) => ({ value: one, label: longName(one) }))}
        onChange={(chosen) => chosen && onChange({ ...hours, weekday: chosen as Weekday })}
      />
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
