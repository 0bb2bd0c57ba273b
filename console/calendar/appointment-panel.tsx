import { Button, CloseButton, Group, Tabs } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import type { AnswerOf } from '../../src/client/client.ts'
import {
  appointmentMessages,
  planQuery,
  type Appointment,
  type AppointmentFields,
} from '../api/calendar.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { MirroredNotice } from '../feeds/mirrored-notice.tsx'
import { differencesOf, type Words } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import type { EditedRecord } from '../records/use-record.ts'
import { useTimeFormat } from '../components/time.ts'
import { ObjectExplanations } from '../objects/object-explanations.tsx'
import { ObjectMessages } from '../objects/object-messages.tsx'
import { EditFields, MoveFields } from './appointment-fields.tsx'
import { AppointmentHistory } from './appointment-history.tsx'
import { BookingWarnings } from './booking-warnings.tsx'
import classes from './calendar.module.css'
import { staffName, type Column } from './columns.ts'
import { DeskButtons, type Desk } from './desk.tsx'
import { lookOf, statusLabel, useVisitDetails } from './visit.tsx'
import { Consequences, isPlanOf, Refusal, shortConsequences } from './what-if.tsx'

/** Debounce of the plan request after a change. */
const TYPING_MS = 250

type Props = {
  appointment: Appointment
  setup: Setup
  columns: Column[]
  record: AppointmentRecord
  desk: Desk
  onClose: () => void
}

export type AppointmentRecord = EditedRecord<AnswerOf<'getAppointment'>, AppointmentFields>

/** One appointment: its messages, explanations, history, and the effect of a change. */
export function AppointmentPanel(props: Props) {
  const { appointment, setup, columns, record, desk, onClose } = props
  const { functions } = useSession()
  const change = useChange(props)
  const words = useAppointmentWords(setup)
  return (
    <section className={classes.panel} aria-label={appointment.clientName ?? undefined}>
      <Head appointment={appointment} setup={setup} desk={desk} onClose={onClose} />
      <RecordConflict
        record={record}
        modifiedOf={(one) => one}
        differences={(from, to) => differencesOf(from, to, words)}
      />
      {appointment.feedId != null && (
        <div style={{ margin: '8px 16px 0' }}>
          <MirroredNotice feedId={appointment.feedId} />
        </div>
      )}
      <Details appointment={appointment} setup={setup} change={change} />
      {functions.includes('EDIT_SCHEDULE') && (
        <WhatIf
          appointment={appointment}
          setup={setup}
          columns={columns}
          change={change}
          onDiscard={record.discard}
        />
      )}
    </section>
  )
}

type AppointmentMutation = ReturnType<typeof useChange>

/** The changes of the draft, what saving them would do, and saving them. */
function useChange({ appointment, setup, record }: Props) {
  const { calendarId } = appointment
  const fields = record.changes
  const typed = JSON.stringify(fields)
  const [settled] = useDebouncedValue(typed, TYPING_MS)
  const isChanged = Object.keys(fields).length > 0
  const settledFields = JSON.parse(settled) as AppointmentFields
  const plan = useQuery({
    ...planQuery(settled === '{}' ? undefined : { calendarId, ...settledFields }),
    placeholderData: keepPreviousData,
  })
  return {
    /** The fields that differ from the stored appointment. */
    fields,
    isChanged,
    /** The appointment with the changes. */
    value: { ...appointment, price: record.draft.price, ...fields },
    /** The same, without the latest typing. */
    settledValue: { ...appointment, ...settledFields },
    /** It would take place at another time, with another person, or again. */
    takesTime:
      (isMove(fields) || fields.status !== undefined) &&
      lookOf({ status: fields.status ?? appointment.status }, setup) !== 'off',
    plan: isChanged ? plan.data : undefined,
    planRequest: plan,
    canSave: isPlanOf(typed, settled, plan) && record.isReady && !record.conflict,
    error: record.error ?? (isChanged ? plan.error : undefined),
    isSaving: record.isSaving,
    save: record.save,
    to: record.change,
  }
}

/** How the panel names the fields and writes their values. */
function useAppointmentWords(setup: Setup): Words<AppointmentFields> {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { professionals, locations, services } = setup
  return {
    label: (name) => t(LABELS[name]),
    value: (name, fields) => {
      const value = fields[name]
      if (value === null || value === undefined) return ''
      if (name === 'startTime' || name === 'endTime') return format.moment(Number(value))
      if (name === 'status') return statusLabel(setup, String(value))
      const staff = professionals.find((one) => one.professionalId === value)
      if (name === 'professionalId') return staff ? staffName(staff) : ''
      if (name === 'locationId') {
        return locations.find((one) => one.locationId === value)?.name ?? ''
      }
      if (name === 'reasonId') return services.find((one) => one.reasonId === value)?.name ?? ''
      return String(value)
    },
  }
}

const LABELS = {
  clientId: 'words.client',
  reasonId: 'words.service',
  professionalId: 'calendar.staff',
  locationId: 'words.location',
  startTime: 'calendar.start',
  endTime: 'calendar.end',
  status: 'calendar.status',
  note: 'calendar.note',
  changeNote: 'calendar.changeNote',
  price: 'desk.price',
  currency: 'desk.currency',
} as const satisfies Record<keyof AppointmentFields, string>

const isMove = ({ startTime, professionalId, locationId }: AppointmentFields) =>
  startTime !== undefined || professionalId !== undefined || locationId !== undefined

type HeadProps = Pick<Props, 'appointment' | 'setup' | 'desk' | 'onClose'>

function Head({ appointment, setup, desk, onClose }: HeadProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const detailsOf = useVisitDetails()
  const { startTime, endTime, status, note, answerNote } = appointment
  return (
    <div className={classes.panelHead}>
      <div className="row">
        <h2 className="ellipsis" dir="auto">
          {appointment.clientName}
        </h2>
        <span className="chip">{statusLabel(setup, status)}</span>
        <span className="grow" />
        <CloseButton aria-label={t('words.close')} onClick={onClose} />
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
        {answerNote && (
          <>
            {' · '}
            <span dir="auto">{t('calendar.clientReason', { reason: answerNote })}</span>
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
      <Group gap={6} mt={8}>
        <DeskButtons desk={desk} visit={appointment} hasKeys />
      </Group>
    </div>
  )
}

type DetailsProps = Pick<Props, 'appointment' | 'setup'> & { change: AppointmentMutation }

function Details({ appointment, setup, change }: DetailsProps) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { calendarId, startTime } = appointment
  return (
    <Tabs defaultValue="messages" mt={10} keepMounted={false}>
      <Tabs.List px={10}>
        <Tabs.Tab className={classes.tab} value="messages">
          {t('words.messages')}
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
        <ObjectMessages
          kind={appointmentMessages}
          id={calendarId}
          plan={change.plan}
          anchor={{ text: t('appointment.visit'), time: startTime, to: change.fields.startTime }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="why" className={classes.panelBody}>
        <ObjectExplanations objectType="CALENDAR" id={calendarId} />
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
  change: AppointmentMutation
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
          <BookingWarnings
            body={change.settledValue}
            setup={setup}
            columns={columns}
            isMoved={fields.startTime !== undefined}
          />
        )}
        {error ? (
          <Refusal error={error} plan={change.planRequest} />
        ) : (
          change.plan && <Consequences plan={change.plan} />
        )}
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

type LabelProps = { appointment: Appointment; changes: AppointmentFields }

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
