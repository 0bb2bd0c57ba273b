import { Button, CloseButton, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { planQuery, type AppointmentFields } from '../api/calendar.ts'
import { clientKind } from '../api/clients.ts'
import type { Setup } from '../api/setup.ts'
import { faultAt } from '../components/faults.ts'
import { ClientForm } from '../clients/client-form.tsx'
import { ClientSelect } from '../clients/client-select.tsx'
import { FormWindow } from '../components/windows.tsx'
import { MoveFields, ServiceSelect, TermsFields, termsOf } from './appointment-fields.tsx'
import { BookingWarnings } from './booking-warnings.tsx'
import classes from './calendar.module.css'
import type { Column } from './columns.ts'
import type { AppointmentRecord } from './appointment-panel.tsx'
import { MissingSetup } from './missing-setup.tsx'
import { Consequences, isPlanOf, Refusal } from './what-if.tsx'

const TYPING_MS = 250

type Props = {
  setup: Setup
  columns: Column[]
  record: AppointmentRecord
  onClose: () => void
}

/** A new appointment, with the messages that it will cause. */
export function BookingPanel({ setup, columns, record, onClose }: Props) {
  const { t } = useTranslation()
  const booking = useBookingPlan(record)
  /** The name of a client who is added. */
  const [newClient, setNewClient] = useState<string>()
  return (
    <section className={classes.panel} aria-label={t('calendar.book')}>
      <div className={`${classes.panelHead} row`}>
        <h2 className="grow">{t('calendar.book')}</h2>
        <CloseButton aria-label={t('words.close')} onClick={onClose} />
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          record.save()
        }}
      >
        <Fields
          setup={setup}
          columns={columns}
          draft={record.draft}
          error={booking.error}
          onChange={record.change}
          onNewClient={setNewClient}
        />
        <div className={classes.whatIf}>
          <h3 style={{ margin: '0 0 8px' }}>{t('whatIf.isBooked')}</h3>
          <WhatIfBooked booking={booking} setup={setup} columns={columns} />
          <div className="row">
            <Button
              type="submit"
              className="grow"
              disabled={!booking.isPlanned}
              loading={record.isSaving}
            >
              {t('whatIf.book')}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                record.discard()
                onClose()
              }}
            >
              {t('whatIf.leave')}
            </Button>
          </div>
        </div>
      </form>
      <NewClientWindow
        name={newClient}
        onSaved={(clientId) => record.change({ clientId })}
        onClose={() => setNewClient(undefined)}
      />
    </section>
  )
}

/** What booking the draft would do, once typing pauses. */
function useBookingPlan(record: AppointmentRecord) {
  const typed = JSON.stringify(record.draft)
  const [settled] = useDebouncedValue(typed, TYPING_MS)
  const draft = JSON.parse(settled) as AppointmentFields
  const isComplete = hasRequired(record.draft)
  const plan = useQuery({
    ...planQuery(hasRequired(draft) ? draft : undefined),
    placeholderData: keepPreviousData,
  })
  return {
    draft,
    isComplete,
    plan,
    isPlanned: isComplete && isPlanOf(typed, settled, plan),
    error: record.error ?? (isComplete ? plan.error : undefined),
  }
}

type WhatIfProps = Pick<Props, 'setup' | 'columns'> & {
  booking: ReturnType<typeof useBookingPlan>
}

function WhatIfBooked({ booking, setup, columns }: WhatIfProps) {
  const { draft, isComplete, plan, error } = booking
  return (
    <div aria-live="polite" className="small" style={{ margin: '0 0 12px' }}>
      <BookingWarnings body={draft} setup={setup} columns={columns} isMoved />
      {error ? (
        <Refusal error={error} plan={plan} />
      ) : (
        isComplete && plan.data && <Consequences plan={plan.data} />
      )}
    </div>
  )
}

type NewClientProps = {
  /** What was typed; undefined while the window is closed. */
  name: string | undefined
  onSaved: (clientId: number) => void
  onClose: () => void
}

/** Adds a client without leaving the booking. */
function NewClientWindow({ name, onSaved, onClose }: NewClientProps) {
  const { t } = useTranslation()
  const [firstName, ...lastNames] = (name ?? '').trim().split(/\s+/)
  return (
    <FormWindow
      isOpen={name !== undefined}
      title={t('clients.new')}
      leaving={{ kind: clientKind }}
      onClose={onClose}
    >
      <ClientForm
        suggested={{ firstName: firstName || null, lastName: lastNames.join(' ') || null }}
        onSaved={({ clientId }) => {
          onSaved(clientId)
          onClose()
        }}
        onClose={onClose}
      />
    </FormWindow>
  )
}

type FieldsProps = Pick<Props, 'setup' | 'columns'> & {
  draft: AppointmentFields
  error: unknown
  onChange: (more: AppointmentFields) => void
  onNewClient: (name: string) => void
}

function Fields({ setup, columns, draft, error, onChange, onNewClient }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <div className={`${classes.panelBody} column`} style={{ gap: 12 }}>
      <MissingSetup setup={setup} columns={columns} />
      <ClientSelect
        label={t('words.client')}
        isFirst
        value={draft.clientId}
        error={faultAt(error, 'clientId')}
        onChange={(clientId) => onChange({ clientId })}
        onNew={onNewClient}
      />
      <ServiceSelect
        setup={setup}
        value={draft.reasonId}
        error={faultAt(error, 'reasonId')}
        onChange={(service) => onChange(termsOf(service, draft))}
      />
      <MoveFields value={draft} columns={columns} error={error} onChange={onChange} />
      <TermsFields value={draft} error={error} onChange={onChange} />
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

const hasRequired = (draft: AppointmentFields) =>
  REQUIRED.every((field) => draft[field] !== undefined)
