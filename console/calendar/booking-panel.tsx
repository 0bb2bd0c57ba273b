import { Button, CloseButton, NumberInput, Select, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  planQuery,
  saveAppointment,
  type Appointment,
  type AppointmentBody,
} from '../api/calendar.ts'
import { clientQuery, clientsQuery, nameOf } from '../api/clients.ts'
import type { Setup } from '../api/setup.ts'
import { faultAt } from '../components/faults.ts'
import { MoveFields, ServiceSelect } from './appointment-fields.tsx'
import { BookingWarnings } from './booking-warnings.tsx'
import classes from './calendar.module.css'
import type { Column } from './columns.ts'
import { MissingSetup } from './missing-setup.tsx'
import { Consequences, Refusal } from './what-if.tsx'

const TYPING_MS = 250
const MINUTE_MS = 60_000

type Props = {
  setup: Setup
  columns: Column[]
  draft: AppointmentBody
  onDraft: (draft: AppointmentBody) => void
  onSaved: (saved: Appointment) => void
  onClose: () => void
}

/** A new appointment, with the messages that it will cause. */
export function BookingPanel({ setup, columns, draft, onDraft, onSaved, onClose }: Props) {
  const { t } = useTranslation()
  const [settled] = useDebouncedValue(JSON.stringify(draft), TYPING_MS)
  const settledDraft = JSON.parse(settled) as AppointmentBody
  const isComplete = hasRequired(draft)
  const plan = useQuery({
    ...planQuery(hasRequired(settledDraft) ? settledDraft : undefined),
    placeholderData: keepPreviousData,
  })
  const save = useMutation({ mutationFn: () => saveAppointment(draft), onSuccess: onSaved })
  const error = save.error ?? (isComplete ? plan.error : undefined)
  const change = (more: AppointmentBody) => {
    save.reset()
    onDraft({ ...draft, ...more })
  }
  return (
    <section className={classes.panel} aria-label={t('calendar.book')}>
      <div className={`${classes.panelHead} row`}>
        <h2 className="grow">{t('calendar.book')}</h2>
        <CloseButton aria-label={t('calendar.close')} onClick={onClose} />
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Fields setup={setup} columns={columns} draft={draft} error={error} onChange={change} />
        <div className={classes.whatIf}>
          <h3 style={{ margin: '0 0 8px' }}>{t('whatIf.isBooked')}</h3>
          <div aria-live="polite" className="small" style={{ margin: '0 0 12px' }}>
            <BookingWarnings body={settledDraft} setup={setup} columns={columns} />
            {error ? (
              <Refusal error={error} />
            ) : (
              isComplete && plan.data && <Consequences plan={plan.data} />
            )}
          </div>
          <div className="row">
            <Button
              type="submit"
              className="grow"
              disabled={!isComplete || !!plan.error}
              loading={save.isPending}
            >
              {t('whatIf.book')}
            </Button>
            <Button variant="default" onClick={onClose}>
              {t('whatIf.leave')}
            </Button>
          </div>
        </div>
      </form>
    </section>
  )
}

type FieldsProps = Pick<Props, 'setup' | 'columns' | 'draft'> & {
  error: unknown
  onChange: (more: AppointmentBody) => void
}

function Fields({ setup, columns, draft, error, onChange }: FieldsProps) {
  const { t } = useTranslation()
  const { startTime, endTime } = draft
  const minutes = startTime && endTime ? (endTime - startTime) / MINUTE_MS : 30
  const withMinutes = (count: number) =>
    startTime === undefined ? {} : { endTime: startTime + count * MINUTE_MS }
  return (
    <div className={`${classes.panelBody} column`} style={{ gap: 12 }}>
      <MissingSetup setup={setup} columns={columns} />
      <ClientSelect
        value={draft.clientId}
        error={faultAt(error, 'clientId')}
        onChange={(clientId) => onChange({ clientId })}
      />
      <ServiceSelect
        setup={setup}
        value={draft.reasonId}
        error={faultAt(error, 'reasonId')}
        onChange={({ reasonId, durationMinutes }) =>
          onChange({ reasonId, ...(durationMinutes ? withMinutes(durationMinutes) : {}) })
        }
      />
      <MoveFields value={draft} columns={columns} error={error} onChange={onChange} />
      <NumberInput
        label={t('calendar.minutes')}
        w={110}
        min={5}
        step={5}
        max={1_440}
        clampBehavior="blur"
        value={minutes}
        error={faultAt(error, 'endTime')}
        onChange={(count) => Number(count) > 0 && onChange(withMinutes(Number(count)))}
      />
      <Textarea
        label={t('calendar.note')}
        autosize
        minRows={2}
        value={draft.note ?? ''}
        error={faultAt(error, 'note')}
        onChange={(event) => onChange({ note: event.currentTarget.value || null })}
      />
    </div>
  )
}

const REQUIRED = [
  'clientId',
  'reasonId',
  'professionalId',
  'locationId',
  'startTime',
  'endTime',
] as const

const hasRequired = (draft: AppointmentBody) =>
  REQUIRED.every((field) => draft[field] !== undefined)

type ClientSelectProps = {
  value: number | undefined
  error: string | undefined
  onChange: (clientId: number) => void
}

/** The service searches clients while the user types: a business may have a million. */
function ClientSelect({ value, error, onChange }: ClientSelectProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, TYPING_MS)
  const [chosen, setChosen] = useState<{ value: string; label: string }>()
  /** Whether it was chosen before the form opened. */
  const isGiven = value !== undefined && !chosen
  const { data } = useInfiniteQuery({
    ...clientsQuery(text === chosen?.label ? '' : search),
    placeholderData: keepPreviousData,
  })
  const found = (data?.pages ?? []).flatMap(({ items }) =>
    items.map((client) => ({
      value: String(client.clientId),
      label: client.emailAddress
        ? `${nameOf(client)} · ${client.emailAddress}`
        : `${nameOf(client)} · ${t('clients.noAddress')}`,
    })),
  )
  const { data: given } = useQuery({ ...clientQuery(value ?? 0), enabled: isGiven })
  const shown = chosen ?? (given && { value: String(given.clientId), label: nameOf(given) })
  const options =
    shown && !found.some((one) => one.value === shown.value) ? [shown, ...found] : found
  return (
    <Select
      label={t('calendar.client')}
      placeholder={t('calendar.chooseClient')}
      // For the panel next to the calendar. A drawer uses the attribute to set the focus.
      autoFocus={value === undefined}
      data-autofocus
      searchable
      openOnFocus={false}
      allowDeselect={false}
      value={value ? String(value) : null}
      error={error}
      data={options}
      filter={({ options: all }) => all}
      nothingFoundMessage={t('calendar.noClient')}
      searchValue={text}
      onSearchChange={setText}
      onChange={(clientId, option) => {
        if (!clientId || !option) return
        setChosen({ value: clientId, label: option.label })
        onChange(Number(clientId))
      }}
    />
  )
}
