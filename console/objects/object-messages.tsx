import { IconArrowRight } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import type { NamedTrigger as Trigger } from '../../src/contract/event-trigger.ts'
import type { SavePlan as Plan } from '../../src/contract/save-plan.ts'
import { objectMessagesQuery, type EventKind } from '../api/objects.ts'
import { BellShape } from '../components/bell.tsx'
import { markOf, MarkShape, type MarkName } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import type { RecordId } from '../records/kind.ts'
import classes from './objects.module.css'

type Texts = ReturnType<typeof useTranslation>['t']

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

type Named = Partial<Pick<Plan['samples'][number], 'description' | 'templateName'>>

/** The name of the mail, else of its automation. */
const nameOf = ({ templateName, description }: Named, t: Texts) =>
  templateName ?? description ?? t('editor.unnamed')

type MessagesProps = {
  kind: Pick<EventKind<never, never>, 'objectType' | 'messages'>
  id: RecordId
  /** What the messages are about, and its new time if a change is not saved yet. */
  anchor?: { text: string; time: number; to?: number | undefined } | undefined
  plan?: Plan | undefined
}

/** Messages about an object on a timeline, with the effect of the plan. */
export function ObjectMessages({ kind, id, anchor, plan }: MessagesProps) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(objectMessagesQuery(kind, id))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  const now = Date.now()
  const samples = plan?.samples ?? []
  const messages = [...storedEntries(data, samples, t), ...newEntries(samples, t)]
  const entries: Entry[] = [
    ...messages,
    { key: 'now', time: now, text: t('appointment.now'), mark: 'now' as const },
    ...(anchor ? [{ key: 'visit', ...anchor, mark: 'visit' as const }] : []),
  ].toSorted((a, b) => a.time - b.time)
  return (
    <>
      <ol className={classes.rope}>
        {entries.map((entry) => (
          <EntryRow key={entry.key} entry={entry} isPast={entry.time < now} />
        ))}
      </ol>
      {messages.length === 0 && <p className="soft small">{t('objects.noMessages')}</p>}
    </>
  )
}

type Samples = Plan['samples']

/** The messages that exist, with the effect of the plan on each. */
const storedEntries = (triggers: Trigger[], samples: Samples, t: Texts) =>
  triggers.map((trigger): Entry => {
    const sample = samples.find((one) => one.eventTriggerId === trigger.eventTriggerId)
    return {
      key: String(trigger.eventTriggerId),
      eventTriggerId: trigger.eventTriggerId,
      time: trigger.scheduledTime,
      to: sample && sample.change !== 'cancel' ? (sample.to ?? undefined) : undefined,
      ending: sample && endingOf(sample.change, t),
      text: nameOf(trigger, t),
      mark: markOf(trigger),
    }
  })

/** The messages that saving would schedule. */
const newEntries = (samples: Samples, t: Texts) =>
  samples
    .filter((sample) => sample.eventTriggerId === null && sample.to !== null)
    .map((sample, place): Entry => ({
      key: `new ${place}`,
      isNew: true,
      time: sample.to!,
      ending: sample.change === 'create' ? undefined : endingOf(sample.change, t),
      text: nameOf(sample, t),
      mark: sample.change === 'expired' ? 'late' : 'waiting',
    }))

function EntryRow({ entry, isPast }: { entry: Entry; isPast: boolean }) {
  return (
    <li data-past={isPast || undefined}>
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
