import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import { setupQuery } from '../api/setup.ts'
import { staffName } from '../calendar/columns.ts'
import { ClientSelect } from '../clients/client-select.tsx'
import { isDay, momentAt } from '../components/days.ts'
import { useTimeFormat } from '../components/time.ts'
import type { At } from '../records/use-record.ts'
import classes from './objects.module.css'

/** The client of an object. */
export function ClientField({ value, error, onChange }: At<number | null>) {
  const { t } = useTranslation()
  return (
    <ClientSelect
      label={t('words.client')}
      isFirst
      value={value ?? undefined}
      error={error || undefined}
      onChange={onChange}
    />
  )
}

type ChoiceProps = At<number | null> & {
  of: 'professionals' | 'locations' | 'services'
  required?: boolean
}

/** A member of staff, a location or a service. */
export function SetupField({ of, value, error, onChange, required = false }: ChoiceProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const choices = {
    professionals: () =>
      setup?.professionals.map((one) => ({ id: one.professionalId, label: staffName(one) })),
    locations: () => setup?.locations.map((one) => ({ id: one.locationId, label: one.name })),
    services: () => setup?.services.map((one) => ({ id: one.reasonId, label: one.name })),
  }[of]()
  return (
    <Select
      label={t(`objects.${of}`)}
      searchable
      required={required}
      clearable={!required}
      allowDeselect={!required}
      value={value === null ? null : String(value)}
      error={error}
      data={(choices ?? []).map(({ id, label }) => ({ value: String(id), label }))}
      onChange={(chosen) => onChange(chosen === null ? null : Number(chosen))}
    />
  )
}

type StatusProps = At<string | null> & { objectType: ObjectType }

export function StatusField({ objectType, value, error, onChange }: StatusProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const offered = (setup?.statuses ?? []).filter((one) => one.objectType === objectType)
  return (
    <Select
      label={t('calendar.status')}
      allowDeselect={false}
      value={value}
      error={error}
      data={offered.map(({ status, label }) => ({ value: status, label }))}
      onChange={onChange}
    />
  )
}

const NOON = '12:00'

type MomentProps = At<number | null> & { label: string; required?: boolean }

/** A day and a time in the displayed zone; without a day there is no moment. */
export function MomentField({ label, value, error, onChange, required = false }: MomentProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const day = value === null ? '' : format.isoDay(value)
  const time = value === null ? NOON : format.time(value)
  const change = (toDay: string, toTime: string) => {
    if (toDay === '' && !required) return onChange(null)
    if (!isDay(toDay) || !/^\d\d:\d\d$/.test(toTime)) return
    onChange(momentAt(toDay, toTime, format.timeZone))
  }
  return (
    <div className={classes.moment} role="group" aria-label={label}>
      <TextInput
        type="date"
        label={label}
        required={required}
        value={day}
        error={error}
        onChange={(event) => change(event.currentTarget.value, time)}
      />
      <TextInput
        type="time"
        label={t('calendar.time')}
        disabled={value === null}
        value={value === null ? '' : time}
        onChange={(event) => change(day, event.currentTarget.value)}
      />
    </div>
  )
}
