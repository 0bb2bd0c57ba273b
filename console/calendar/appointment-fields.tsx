import { NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import type { AppointmentFields } from '../api/calendar.ts'
import type { Service, Setup } from '../api/setup.ts'
import { faultAt } from '../components/faults.ts'
import { useTimeFormat } from '../components/time.ts'
import { NumberField } from '../setup/fields.tsx'
import classes from './calendar.module.css'
import { columnKey, keyOf, staffName, type Column } from './columns.ts'
import { isDay, momentAt } from '../components/days.ts'

type Props = {
  value: AppointmentFields
  columns: Column[]
  error: unknown
  onChange: (more: AppointmentFields) => void
}

const HALF_HOUR_MS = 1_800_000
const MINUTE_MS = 60_000

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

/** How long it takes, and what it costs. */
export function TermsFields({ value, error, onChange }: Omit<Props, 'columns'>) {
  const { t } = useTranslation()
  const { startTime, endTime, price = null, currency } = value
  return (
    <div className={classes.terms}>
      <NumberInput
        label={t('calendar.minutes')}
        min={5}
        step={5}
        max={1_440}
        clampBehavior="blur"
        value={startTime && endTime ? (endTime - startTime) / MINUTE_MS : 30}
        error={faultAt(error, 'endTime')}
        onChange={(count) => onChange(endAfter(value, Number(count)))}
      />
      <NumberField
        label={currency ? t('desk.priceIn', { currency }) : t('desk.price')}
        value={price}
        error={faultAt(error, 'price', 'currency') ?? ''}
        onChange={(typed) => onChange({ price: typed })}
      />
    </div>
  )
}

/** The end of an appointment that takes this long. */
const endAfter = ({ startTime }: AppointmentFields, minutes: number): AppointmentFields =>
  startTime === undefined || !(minutes > 0) ? {} : { endTime: startTime + minutes * MINUTE_MS }

/** What choosing a service changes, in addition to the service. */
export const termsOf = (service: Service, value: AppointmentFields): AppointmentFields => ({
  reasonId: service.reasonId,
  price: service.price,
  currency: service.currency,
  ...(service.durationMinutes ? endAfter(value, service.durationMinutes) : {}),
})

type ServiceProps = {
  setup: Setup
  value: number | undefined
  error: string | undefined
  onChange: (service: Service) => void
}

export function ServiceSelect({ setup, value, error, onChange }: ServiceProps) {
  const { t } = useTranslation()
  return (
    <Select
      label={t('words.service')}
      searchable
      allowDeselect={false}
      value={value ? String(value) : null}
      error={error}
      data={setup.services.map(({ reasonId, name }) => ({ value: String(reasonId), label: name }))}
      onChange={(chosen) => {
        const service = setup.services.find(({ reasonId }) => String(reasonId) === chosen)
        if (service) onChange(service)
      }}
    />
  )
}

type EditProps = {
  value: AppointmentFields
  setup: Setup
  error: unknown
  onChange: (more: AppointmentFields) => void
}

/** Status, service, duration, price and notes of an appointment. */
export function EditFields({ value, setup, error, onChange }: EditProps) {
  const { t } = useTranslation()
  return (
    <div className="column" style={{ gap: 12, paddingBottom: 8 }}>
      <Select
        label={t('calendar.status')}
        allowDeselect={false}
        value={value.status ?? null}
        error={faultAt(error, 'status')}
        data={setup.statuses
          .filter(({ objectType }) => objectType === 'CALENDAR')
          .map(({ status, label }) => ({ value: status, label }))}
        onChange={(status) => status && onChange({ status })}
      />
      <ServiceSelect
        setup={setup}
        value={value.reasonId}
        error={faultAt(error, 'reasonId')}
        onChange={(service) => onChange(termsOf(service, value))}
      />
      <TermsFields value={value} error={error} onChange={onChange} />
      <Textarea
        label={t('calendar.note')}
        autosize
        minRows={2}
        value={value.note ?? ''}
        error={faultAt(error, 'note')}
        onChange={(event) => onChange({ note: event.currentTarget.value || null })}
      />
      <Textarea
        label={t('calendar.changeNote')}
        autosize
        minRows={1}
        value={value.changeNote ?? ''}
        error={faultAt(error, 'changeNote')}
        onChange={(event) => onChange({ changeNote: event.currentTarget.value || null })}
      />
    </div>
  )
}
