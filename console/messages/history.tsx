import { IconArrowRight } from '../components/icons.tsx'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { Email } from '../../src/contract/email.ts'
import type { HistoryEntry, TriggerDetails } from '../../src/contract/event-trigger.ts'
import { Mark, type MarkName } from '../components/mark.tsx'
import { useTimeFormat, type TimeFormat } from '../components/time.ts'
import { Timeline, type TimelineItem } from '../components/timeline.tsx'
import { resultOf, type AttemptResult } from './meaning.ts'
import { CheckList } from './check-list.tsx'
import classes from './message.module.css'
import { splitChecks } from './why.ts'
import { ServerWords } from './server-words.tsx'
import { useHistoryWords } from './history-words.ts'
import { nameOfUser } from '../components/user-name.ts'

type HistoryProps = { message: TriggerDetails; isNarrow?: boolean }

/** The history of a message: changes of its object, checks, attempts. */
export function History({ message, isNarrow }: HistoryProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const sayEntry = useHistoryWords()
  const items = [
    ...historyItems(message, t, format, sayEntry),
    ...attemptItems(message.emails ?? [], 'attempt.number', t, format),
    ...attemptItems(message.sentAgain ?? [], 'attempt.again', t, format),
    ...queuedAgainItems(message.sentAgain ?? [], t, format),
  ]
    .toSorted((a, b) => a.at - b.at)
    .map(({ at: _at, ...item }) => item)
  if (message.status === 'SCHEDULED') {
    items.push({
      key: 'ahead',
      time: format.moment(message.scheduledTime),
      title: t('message.ahead'),
      mark: 'waiting',
      isAhead: true,
    })
  }
  return <Timeline items={items} label={t('message.timeline')} isNarrow={isNarrow} />
}

type Placed = TimelineItem & { at: number }

const MARK_OF_CHANGE: Partial<Record<HistoryEntry['change'], MarkName>> = {
  CANCELLED: 'cancelled',
  SKIPPED: 'skipped',
  EXPIRED: 'late',
  FAILED: 'failed',
}

function historyItems(
  message: TriggerDetails,
  t: Translate,
  format: TimeFormat,
  sayEntry: ReturnType<typeof useHistoryWords>,
): Placed[] {
  let scheduledBefore: number | null = null
  return message.history.map((entry, i) => {
    const before = scheduledBefore
    if (isOfObject(entry)) scheduledBefore = entry.scheduledTime
    const mark = MARK_OF_CHANGE[entry.change]
    return {
      key: `history ${i}`,
      at: entry.time,
      time: format.moment(entry.time),
      title: titleOf(entry, t, format),
      ...(mark && { mark }),
      children: (
        <>
          {!isSaidByTitle(entry) && (
            <div className={`soft small ${classes.detail}`} dir="auto">
              {sayEntry(entry)}
            </div>
          )}
          {isOfObject(entry) && (
            <Effect before={before} after={entry.scheduledTime} format={format} t={t} />
          )}
          {entry.change === 'FIRED' && <Checks message={message} />}
        </>
      ),
    }
  })
}

function titleOf({ change, user, objectTime }: HistoryEntry, t: Translate, format: TimeFormat) {
  const values = { user: nameOfUser(user, t) }
  if (objectTime !== null && (change === 'CREATED' || change === 'MOVED')) {
    return t(`message.changesWithTime.${change}`, { ...values, time: format.moment(objectTime) })
  }
  return t(`message.changes.${change}`, values)
}

/** A detail with several parts says more than the title. */
const isSaidByTitle = ({ change, details }: HistoryEntry) =>
  change === 'FIRED' || change === 'FIRED_BY_HAND' || (change === 'MOVED' && details.length === 1)

/** Changes of the object or the automation can move the message; the other entries end it. */
const isOfObject = ({ change }: HistoryEntry) =>
  !['FIRED', 'CANCELLED', 'SKIPPED', 'EXPIRED', 'FAILED'].includes(change)

type EffectProps = {
  before: number | null
  after: number | null
  format: TimeFormat
  t: Translate
}

/** The effect of a change on the time of the message. */
function Effect({ before, after, format, t }: EffectProps) {
  if (before === null && after === null) return null
  if (before === after) return <div className="faint small">{t('message.unchanged')}</div>
  return (
    <div className={`row small ${classes.effect}`}>
      <Mark mark={after === null ? 'cancelled' : 'waiting'} size={11} />
      {after === null ? (
        t('message.unscheduled')
      ) : before === null ? (
        t('message.planned', { time: format.moment(after) })
      ) : (
        <span>
          {t('message.rescheduled')} <s>{format.moment(before)}</s>{' '}
          <IconArrowRight size={13} aria-hidden style={{ verticalAlign: -2 }} />{' '}
          <b className="strong">{format.moment(after)}</b>
        </span>
      )}
    </div>
  )
}

const MARK_OF_RESULT: Record<AttemptResult, MarkName> = {
  accepted: 'sent',
  captured: 'captured',
  later: 'sending',
  refused: 'failed',
  unclear: 'sending',
}

/** For a message to a whole class, only the attempts of the first mails are shown. */
const MAX_EMAILS = 20

/** Mails that were sent again by hand, before their first attempt. */
const queuedAgainItems = (emails: Email[], t: Translate, format: TimeFormat): Placed[] =>
  emails
    .filter(({ attempts }) => attempts.length === 0)
    .map(({ emailId, createdDate, to }) => ({
      key: `again ${emailId}`,
      at: createdDate,
      time: format.timeWithSeconds(createdDate),
      title: t('attempt.queuedAgain', { to }),
      mark: 'sending',
    }))

function attemptItems(
  emails: Email[],
  title: 'attempt.number' | 'attempt.again',
  t: Translate,
  format: TimeFormat,
): Placed[] {
  return emails.slice(0, MAX_EMAILS).flatMap((email) =>
    email.attempts.map((attempt, i) => {
      const result = resultOf(attempt)
      return {
        key: `attempt ${email.emailId} ${i}`,
        at: attempt.time,
        time: format.timeWithSeconds(attempt.time),
        title: t(title, { count: i + 1, to: email.to, result: t(`attempt.results.${result}`) }),
        mark: MARK_OF_RESULT[result],
        children: (
          <>
            {emails.length > 1 && (
              <div className="soft small" dir="auto">
                {email.to}
              </div>
            )}
            <ServerWords attempt={attempt} />
          </>
        ),
      }
    }),
  )
}

export function Checks({ message }: { message: TriggerDetails }) {
  const { t } = useTranslation()
  const { checks } = message
  const outcome = message.status === 'SCHEDULED' ? 'WAITING' : 'FIRED'
  const { deciding, others } = splitChecks({ checks, outcome })
  const label = t('message.checksThen')
  return deciding.length > 0 ? (
    <CheckList deciding={deciding} others={others} label={label} />
  ) : (
    <CheckList deciding={others} others={[]} label={label} />
  )
}
