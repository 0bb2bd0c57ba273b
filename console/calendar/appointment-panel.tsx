import { Button, CloseButton, Select, Tabs, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowRight, IconCheck, IconX } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Trans, useTranslation } from 'react-i18next'
import {
  appointmentHistoryQuery,
  appointmentMessagesQuery,
  explanationsQuery,
  planQuery,
  saveAppointment,
  type Appointment,
  type AppointmentBody,
  type HistoryEntry,
  type Plan,
} from '../api/calendar.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import type { Check } from '../../src/contract/check.ts'
import { BellShape } from '../components/bell.tsx'
import { faultAt } from '../components/faults.ts'
import { markOf, MarkShape, type MarkName } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { MoveFields } from './appointment-fields.tsx'
import { BookingWarnings } from './booking-warnings.tsx'
import classes from './calendar.module.css'
import type { Column } from './columns.ts'
import { statusLabel, useVisitDetails } from './visit.tsx'
import { Consequences, shortConsequences } from './what-if.tsx'
import { ErrorMessage } from '../components/error-message.tsx'

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
  const { appointment, setup, columns, draft, onDraft, onSaved, onClose } = props
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { functions } = useSession()
  const detailsOf = useVisitDetails()
  const canEdit = functions.includes('EDIT_SCHEDULE')
  const { calendarId } = appointment
  const changes = changedFields(appointment, draft)
  const [settled] = useDebouncedValue(JSON.stringify(changes), TYPING_MS)
  const isChanged = Object.keys(changes).length > 0
  const plan = useQuery({
    ...planQuery(
      settled === '{}' ? undefined : { calendarId, ...(JSON.parse(settled) as AppointmentBody) },
    ),
    placeholderData: keepPreviousData,
  })
  const shownPlan = isChanged ? plan.data : undefined
  const save = useMutation({
    mutationFn: () => saveAppointment({ calendarId, ...changes }),
    onSuccess: onSaved,
  })
  const change = (more: AppointmentBody) => {
    save.reset()
    onDraft({ ...draft, ...more })
  }
  const error = save.error ?? (isChanged ? plan.error : undefined)
  const { startTime, endTime, status, note } = appointment
  return (
    <section className={classes.panel} aria-label={appointment.clientName ?? undefined}>
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
          {canEdit && (
            <Tabs.Tab className={classes.tab} value="edit">
              {t('appointment.tabs.edit')}
            </Tabs.Tab>
          )}
        </Tabs.List>
        <Tabs.Panel value="messages" className={classes.panelBody}>
          <Messages
            appointment={appointment}
            plan={shownPlan}
            startTime={changes.startTime ?? startTime}
          />
        </Tabs.Panel>
        <Tabs.Panel value="why" className={classes.panelBody}>
          <Explanations calendarId={calendarId} />
        </Tabs.Panel>
        <Tabs.Panel value="history" className={classes.panelBody}>
          <History calendarId={calendarId} setup={setup} />
        </Tabs.Panel>
        <Tabs.Panel value="edit" className={classes.panelBody}>
          <EditFields
            value={{ ...appointment, ...draft }}
            setup={setup}
            error={error}
            onChange={change}
          />
        </Tabs.Panel>
      </Tabs>
      {canEdit && (
        <form
          className={classes.whatIf}
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate()
          }}
        >
          <div className="row" style={{ marginBottom: 8 }}>
            <h3>{t(isChanged && !isMove(changes) ? 'whatIf.changes' : 'whatIf.moves')}</h3>
            <span className="amber tiny">{t('whatIf.notYet')}</span>
          </div>
          <MoveFields
            value={{ ...appointment, ...draft }}
            columns={columns}
            error={error}
            onChange={change}
          />
          <div aria-live="polite" className="small" style={{ margin: '10px 0' }}>
            {isMove(changes) && changes.status === undefined && (
              <BookingWarnings
                body={{ ...appointment, ...changes }}
                setup={setup}
                columns={columns}
              />
            )}
            {error ? (
              <Refusal error={error} />
            ) : (
              shownPlan && (
                <p style={{ margin: 0 }} data-plan>
                  <Consequences plan={shownPlan} />
                </p>
              )
            )}
          </div>
          {!isChanged && (
            <CancelAlternative
              appointment={appointment}
              setup={setup}
              onChoose={() => change({ status: 'CANCELLED' })}
            />
          )}
          {isChanged && (
            <div className="row">
              <Button
                type="submit"
                className="grow"
                loading={save.isPending}
                disabled={!!plan.error}
              >
                <SaveLabel appointment={appointment} changes={changes} />
              </Button>
              <Button variant="default" onClick={() => onDraft({})}>
                {t('whatIf.leave')}
              </Button>
            </div>
          )}
        </form>
      )}
    </section>
  )
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

export function Refusal({ error }: { error: unknown }) {
  const { t } = useTranslation()
  return (
    <p role="alert" className="clay" style={{ margin: 0 }}>
      {t('whatIf.refused')}: <ErrorMessage error={error} />
    </p>
  )
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

type EditProps = {
  value: AppointmentBody
  setup: Setup
  error: unknown
  onChange: (more: AppointmentBody) => void
}

function EditFields({ value, setup, error, onChange }: EditProps) {
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
      <Select
        label={t('calendar.service')}
        allowDeselect={false}
        searchable
        value={value.reasonId ? String(value.reasonId) : null}
        error={faultAt(error, 'reasonId')}
        data={setup.services.map(({ reasonId, name }) => ({
          value: String(reasonId),
          label: name,
        }))}
        onChange={(reasonId) => reasonId && onChange({ reasonId: Number(reasonId) })}
      />
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

type Entry = {
  key: string
  /** The message, if there is one already. */
  eventTriggerId?: number
  time: number
  to?: number | undefined
  /** It is not scheduled yet. */
  isNew?: boolean
  /** The reason if it has no new time. */
  ending?: string | undefined
  text: string
  mark: MarkName | 'visit' | 'now'
}

type Named = Partial<Pick<Plan['samples'][number], 'description' | 'templateName'>> & {
  eventDefnId: number
}

/** The name of the mail, else of its automation. */
const nameOf = ({ templateName, description, eventDefnId }: Named) =>
  templateName ?? description ?? `#${eventDefnId}`

type MessagesProps = { appointment: Appointment; plan: Plan | undefined; startTime: number }

/** Messages and the visit on a timeline, with the effect of the plan. */
function Messages({ appointment, plan, startTime }: MessagesProps) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(appointmentMessagesQuery(appointment.calendarId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  const now = Date.now()
  const samples = plan?.samples ?? []
  const messages = data.map((trigger): Entry => {
    const sample = samples.find((one) => one.eventTriggerId === trigger.eventTriggerId)
    return {
      key: String(trigger.eventTriggerId),
      eventTriggerId: trigger.eventTriggerId,
      time: trigger.scheduledTime,
      to: sample && sample.change !== 'cancel' ? (sample.to ?? undefined) : undefined,
      ending: sample && endingOf(sample.change, t),
      text: nameOf(trigger),
      mark: markOf(trigger),
    }
  })
  const added = samples
    .filter((sample) => sample.eventTriggerId === null && sample.to !== null)
    .map((sample, place): Entry => ({
      key: `new ${place}`,
      isNew: true,
      time: sample.to!,
      ending: sample.change === 'create' ? undefined : endingOf(sample.change, t),
      text: nameOf(sample),
      mark: sample.change === 'expired' ? 'late' : 'waiting',
    }))
  const entries: Entry[] = [
    ...messages,
    ...added,
    { key: 'now', time: now, text: t('appointment.now'), mark: 'now' as const },
    {
      key: 'visit',
      time: appointment.startTime,
      to: startTime === appointment.startTime ? undefined : startTime,
      text: t('appointment.visit'),
      mark: 'visit' as const,
    },
  ].toSorted((a, b) => a.time - b.time)
  return (
    <>
      <ol className={classes.rope}>
        {entries.map((entry) => (
          <li key={entry.key} data-past={entry.time < now || undefined}>
            <svg width="22" height="22" viewBox="-11 -11 22 22" aria-hidden>
              <circle r="8" fill="var(--card)" />
              <EntryMark mark={entry.mark} />
            </svg>
            <span className={`ellipsis ${entry.mark === 'now' ? 'amber strong' : 'strong'}`}>
              {entry.eventTriggerId === undefined ? (
                entry.text
              ) : (
                <Link
                  to="/activity/$eventTriggerId"
                  params={{ eventTriggerId: entry.eventTriggerId }}
                  className={classes.message}
                >
                  {entry.text}
                </Link>
              )}
            </span>
            <span className="numbers soft small">
              <EntryTime entry={entry} />
            </span>
          </li>
        ))}
      </ol>
      {messages.length + added.length === 0 && (
        <p className="soft small">{t('appointment.noMessages')}</p>
      )}
    </>
  )
}

function EntryTime({ entry }: { entry: Entry }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { time, to, ending, isNew, mark } = entry
  if (isNew) return <b className="amber">{ending ?? format.moment(time)}</b>
  const change = ending ?? (to !== undefined && shortMoment(time, to, format))
  if (!change && mark === 'cancelled') {
    return (
      <>
        <s>{format.moment(time)}</s> {t('appointment.cancelled')}
      </>
    )
  }
  if (!change) return format.moment(time)
  return (
    <>
      <s>{format.moment(time)}</s>{' '}
      <IconArrowRight size={12} style={{ verticalAlign: -1 }} aria-hidden />{' '}
      <b className="amber">{change}</b>
    </>
  )
}

type Texts = ReturnType<typeof useTranslation>['t']

function endingOf(change: Plan['samples'][number]['change'], t: Texts) {
  if (change === 'cancel') return t('appointment.cancelled')
  if (change === 'expired') return t('appointment.tooLate')
  return change === 'atOnce' ? t('appointment.atOnce') : undefined
}

/** Shows only the time if the move is within a day. */
const shortMoment = (from: number, to: number, format: ReturnType<typeof useTimeFormat>) =>
  format.isoDay(from) === format.isoDay(to) ? format.time(to) : format.moment(to)

function EntryMark({ mark }: { mark: Entry['mark'] }) {
  if (mark === 'visit') {
    return <rect x="-6" y="-6" width="12" height="12" rx="3" fill="var(--accent)" />
  }
  if (mark === 'now') {
    return (
      <g transform="translate(-10.5 -11) scale(.66)">
        <BellShape body="var(--brass)" strap="var(--brass-edge)" />
      </g>
    )
  }
  return <MarkShape mark={mark} r={6} />
}

function Explanations({ calendarId }: { calendarId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data, error, refetch } = useQuery(explanationsQuery(calendarId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={6} />
  if (data.length === 0) return <p className="soft small">{t('appointment.noAutomations')}</p>
  return (
    <div className="column" style={{ gap: 14 }}>
      {data.map(({ eventDefnId, description, outcome, scheduledTime, checks }) => (
        <details key={eventDefnId} open={outcome === 'NOT' ? undefined : true}>
          <summary>
            <b className="strong">{description ?? `#${eventDefnId}`}</b>{' '}
            <span className="soft small numbers">
              {outcome === 'NOT'
                ? checks.find(({ ok }) => !ok)?.reason
                : t(`appointment.outcome.${outcome}`)}
              {outcome !== 'NOT' && scheduledTime !== null && `, ${format.moment(scheduledTime)}`}
            </span>
          </summary>
          {checks.filter(isWorthSaying).map(({ check, ok, reason }) => (
            <div key={check} className={classes.check}>
              {ok ? (
                <IconCheck size={15} className="accent" aria-hidden />
              ) : (
                <IconX size={15} className="clay" aria-hidden />
              )}
              <span className={ok ? 'soft' : undefined}>{reason}</span>
            </div>
          ))}
        </details>
      ))}
    </div>
  )
}

/** Hides checks that every automation of appointments passes. */
const isWorthSaying = ({ check, ok }: Check) => !ok || !ALWAYS_PASSED.has(check)
const ALWAYS_PASSED = new Set(['business', 'event type', 'disclaimer form'])

function History({ calendarId, setup }: { calendarId: number; setup: Setup }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data, error, refetch } = useQuery(appointmentHistoryQuery(calendarId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  return (
    <ol className="column" style={{ margin: 0, padding: 0, listStyle: 'none', gap: 10 }}>
      {data.items.map((entry) => (
        <li key={`${entry.time} ${entry.change}`} className="small">
          <Trans
            i18nKey={`appointment.historyEntry.${entry.change}`}
            values={{
              user: nameOfUser(entry.user, t),
              fields: fieldsOf(entry)
                .map((field) => t(`appointment.fields.${field}`))
                .join(', '),
            }}
            components={{ b: <b /> }}
          />{' '}
          <span className="faint numbers">{format.moment(entry.time)}</span>
          <HistoryDetails entry={entry} setup={setup} />
        </li>
      ))}
    </ol>
  )
}

/** The old and the new status and start, if they changed. */
function HistoryDetails({ entry, setup }: { entry: HistoryEntry; setup: Setup }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { before, after } = entry
  const changes: { from: string; to: string }[] = []
  if (typeof before?.startTime === 'number' && typeof after.startTime === 'number') {
    changes.push({ from: format.moment(before.startTime), to: format.moment(after.startTime) })
  }
  if (typeof before?.status === 'string' && typeof after.status === 'string') {
    changes.push({ from: statusLabel(setup, before.status), to: statusLabel(setup, after.status) })
  }
  return changes
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) => (
      <div key={from} className="soft numbers">
        {t('appointment.fromTo', { from, to })}
      </div>
    ))
}

const SHOWN_FIELDS = [
  'startTime',
  'endTime',
  'status',
  'professionalId',
  'locationId',
  'reasonId',
  'clientId',
  'note',
  'changeNote',
  'tags',
  'price',
] as const

function fieldsOf({ before, after }: HistoryEntry) {
  const changed = SHOWN_FIELDS.filter(
    (field) => JSON.stringify(before?.[field]) !== JSON.stringify(after[field]),
  )
  return changed.length > 0 ? changed : (['other'] as const)
}
