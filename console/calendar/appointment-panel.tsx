import { Button, CloseButton, Tabs } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import {
  planQuery,
  saveAppointment,
  type Appointment,
  type AppointmentBody,
} from '../api/calendar.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import { AppointmentExplanations } from './appointment-explanations.tsx'
import { EditFields, MoveFields } from './appointment-fields.tsx'
import { AppointmentHistory } from './appointment-history.tsx'
import { AppointmentMessages } from './appointment-messages.tsx'
import { BookingWarnings } from './booking-warnings.tsx'
import classes from './calendar.module.css'
import type { Column } from './columns.ts'
import { lookOf, statusLabel, useVisitDetails } from './visit.tsx'
import { Consequences, Refusal, shortConsequences } from './what-if.tsx'

/** Debounce of the plan request after a change. */
const TYPING_MS = 250

type Props = {
  appointment: Appointment
  setup: Setup
  columns: Column[]
  /** Unsaved changes of the user. */
  draft: AppointmentBody
  onDraft: (draft: AppointmentBody) => void
  onSaved: (saved: Appointment) => void
  onClose: () => void
}

/** One appointment: its messages, explanations, history, and the effect of a change. */
export function AppointmentPanel(props: Props) {
  const { appointment, setup, columns, onDraft, onClose } = props
  const { functions } = useSession()
  const change = useChange(props)
  return (
    <section className={classes.panel} aria-label={appointment.clientName ?? undefined}>
      <Head appointment={appointment} setup={setup} onClose={onClose} />
      <Details appointment={appointment} setup={setup} change={change} />
      {functions.includes('EDIT_SCHEDULE') && (
        <WhatIf
          appointment={appointment}
          setup={setup}
          columns={columns}
          change={change}
          onDiscard={() => onDraft({})}
        />
      )}
    </section>
  )
}

type Change = ReturnType<typeof useChange>

/** The changes of the draft, what saving them would do, and saving them. */
function useChange({ appointment, setup, draft, onDraft, onSaved }: Props) {
  const { calendarId } = appointment
  const fields = changedFields(appointment, draft)
  const [settled] = useDebouncedValue(JSON.stringify(fields), TYPING_MS)
  const isChanged = Object.keys(fields).length > 0
  const settledFields = JSON.parse(settled) as AppointmentBody
  const plan = useQuery({
    ...planQuery(settled === '{}' ? undefined : { calendarId, ...settledFields }),
    placeholderData: keepPreviousData,
  })
  const save = useMutation({
    mutationFn: () => saveAppointment({ calendarId, ...fields }),
    onSuccess: onSaved,
  })
  return {
    /** The fields that differ from the stored appointment. */
    fields,
    isChanged,
    /** The appointment with the changes. */
    value: { ...appointment, ...draft },
    /** The same, without the latest typing. */
    settledValue: { ...appointment, ...settledFields },
    /** It would take place at another time, with another person, or again. */
    takesTime:
      (isMove(fields) || fields.status !== undefined) &&
      lookOf({ status: fields.status ?? appointment.status }, setup) !== 'off',
    plan: isChanged ? plan.data : undefined,
    canSave: !plan.error,
    error: save.error ?? (isChanged ? plan.error : undefined),
    isSaving: save.isPending,
    save: () => save.mutate(),
    to: (more: AppointmentBody) => {
      save.reset()
      onDraft({ ...draft, ...more })
    },
  }
}

/** The fields whose values differ from the stored ones. */
function changedFields(appointment: Appointment, draft: AppointmentBody): AppointmentBody {
  const known: Record<string, unknown> = { ...appointment }
  return Object.fromEntries(
    Object.entries(draft).filter(([field, value]) => (value ?? '') !== (known[field] ?? '')),
  )
}

const isMove = ({ startTime, professionalId, locationId }: AppointmentBody) =>
  startTime !== undefined || professionalId !== undefined || locationId !== undefined

type HeadProps = Pick<Props, 'appointment' | 'setup' | 'onClose'>

function Head({ appointment, setup, onClose }: HeadProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const detailsOf = useVisitDetails()
  const { startTime, endTime, status, note } = appointment
  return (
    <div className={classes.panelHead}>
      <div className="row">
        <h2 className="ellipsis" dir="auto">
          {appointment.clientName}
        </h2>
        <span className="chip">{statusLabel(setup, status)}</span>
        <span className="grow" />
        <CloseButton aria-label={t('calendar.close')} onClick={onClose} />
      </div>
      <div className="soft small">
        {detailsOf(appointment)}
        <br />
        <b className="numbers" style={{ color: 'var(--ink)', fontWeight: 600 }}>
          {format.day(startTime)}, {format.time(startTime)}–{format.time(endTime)}
        </b>
        {note && (
          <>
            {' · '}
            <span dir="auto">“{note}”</span>
          </>
        )}
        {' · '}
        <Link
          to="/clients/$clientId"
          params={{ clientId: String(appointment.clientId) }}
          style={{ textDecoration: 'underline' }}
        >
          {t('appointment.openClient')}
        </Link>
      </div>
    </div>
  )
}

type DetailsProps = Pick<Props, 'appointment' | 'setup'> & { change: Change }

function Details({ appointment, setup, change }: DetailsProps) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { calendarId, startTime } = appointment
  return (
    <Tabs defaultValue="messages" mt={10} keepMounted={false}>
      <Tabs.List px={10}>
        <Tabs.Tab className={classes.tab} value="messages">
          {t('appointment.tabs.messages')}
        </Tabs.Tab>
        <Tabs.Tab className={classes.tab} value="why">
          {t('appointment.tabs.why')}
        </Tabs.Tab>
        {functions.includes('VIEW_AUDIT') && (
          <Tabs.Tab className={classes.tab} value="history">
            {t('appointment.tabs.history')}
          </Tabs.Tab>
        )}
        {functions.includes('EDIT_SCHEDULE') && (
          <Tabs.Tab className={classes.tab} value="edit">
            {t('appointment.tabs.edit')}
          </Tabs.Tab>
        )}
      </Tabs.List>
      <Tabs.Panel value="messages" className={classes.panelBody}>
        <AppointmentMessages
          appointment={appointment}
          plan={change.plan}
          startTime={change.fields.startTime ?? startTime}
        />
      </Tabs.Panel>
      <Tabs.Panel value="why" className={classes.panelBody}>
        <AppointmentExplanations calendarId={calendarId} />
      </Tabs.Panel>
      <Tabs.Panel value="history" className={classes.panelBody}>
        <AppointmentHistory calendarId={calendarId} setup={setup} />
      </Tabs.Panel>
      <Tabs.Panel value="edit" className={classes.panelBody}>
        <EditFields value={change.value} setup={setup} error={change.error} onChange={change.to} />
      </Tabs.Panel>
    </Tabs>
  )
}

type WhatIfProps = Pick<Props, 'appointment' | 'setup' | 'columns'> & {
  change: Change
  onDiscard: () => void
}

/** The form that moves or changes the appointment, with the effect on its messages. */
function WhatIf({ appointment, setup, columns, change, onDiscard }: WhatIfProps) {
  const { t } = useTranslation()
  const { fields, isChanged, error } = change
  return (
    <form
      className={classes.whatIf}
      onSubmit={(event) => {
        event.preventDefault()
        change.save()
      }}
    >
      <div className="row" style={{ marginBottom: 8 }}>
        <h3>{t(isChanged && !isMove(fields) ? 'whatIf.changes' : 'whatIf.moves')}</h3>
        <span className="amber tiny">{t('whatIf.notYet')}</span>
      </div>
      <MoveFields value={change.value} columns={columns} error={error} onChange={change.to} />
      <div aria-live="polite" className="small" style={{ margin: '10px 0' }}>
        {change.takesTime && (
          <BookingWarnings body={change.settledValue} setup={setup} columns={columns} />
        )}
        {error ? <Refusal error={error} /> : change.plan && <Consequences plan={change.plan} />}
      </div>
      {!isChanged && (
        <CancelAlternative
          appointment={appointment}
          setup={setup}
          onChoose={() => change.to({ status: 'CANCELLED' })}
        />
      )}
      {isChanged && (
        <div className="row">
          <Button
            type="submit"
            className="grow"
            loading={change.isSaving}
            disabled={!change.canSave}
          >
            <SaveLabel appointment={appointment} changes={fields} />
          </Button>
          <Button variant="default" onClick={onDiscard}>
            {t('whatIf.leave')}
          </Button>
        </div>
      )}
    </form>
  )
}

type LabelProps = { appointment: Appointment; changes: AppointmentBody }

/** The label of the button. */
function SaveLabel({ appointment, changes }: LabelProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { startTime, status } = changes
  if (status === 'CANCELLED') return t('appointment.cancelIt')
  if (startTime === undefined) return t('whatIf.save')
  const isSameDay = format.isoDay(startTime) === format.isoDay(appointment.startTime)
  return isSameDay
    ? t('whatIf.moveTo', { time: format.time(startTime) })
    : t('whatIf.moveToDay', { moment: format.moment(startTime) })
}

type AlternativeProps = { appointment: Appointment; setup: Setup; onChoose: () => void }

function CancelAlternative({ appointment, setup, onChoose }: AlternativeProps) {
  const { t } = useTranslation()
  const { calendarId, status } = appointment
  const canCancel = setup.statuses.some(
    (one) => one.objectType === 'CALENDAR' && one.status === 'CANCELLED',
  )
  const isOffered = canCancel && status !== 'CANCELLED'
  const { data } = useQuery(planQuery(isOffered ? { calendarId, status: 'CANCELLED' } : undefined))
  if (!isOffered) return null
  return (
    <button type="button" className={classes.alternative} onClick={onChoose}>
      <b>{t('appointment.cancelIt')}</b>
      <span className="soft">{data && shortConsequences(data, t)}</span>
    </button>
  )
}
