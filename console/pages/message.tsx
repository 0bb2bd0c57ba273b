import { Button, CopyButton } from '@mantine/core'
import {
  IconChevronDown,
  IconChevronLeft,
  IconChevronUp,
  IconPlayerPlay,
  IconRefresh,
  IconX,
} from '../components/icons.tsx'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import type { Email } from '../../src/contract/email.ts'
import type { TriggerDetails } from '../../src/contract/event-trigger.ts'
import type { Explanation } from '../../src/contract/explanation.ts'
import {
  explanationQuery,
  messageQuery,
  messagesQuery,
  recentMailCountQuery,
} from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { Mark, markOf, Status, type MarkName } from '../components/mark.tsx'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Failure, Loaded } from '../components/states.tsx'
import { asSentence, useReasonWords, type SayReasons } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import {
  actionableBy,
  hasEnded,
  type QueueStatus,
  useAllowedActions,
  useHeldAction,
  type ActionName,
} from '../messages/actions.ts'
import { useWhy } from '../messages/why.ts'
import { CorrectAddress } from '../messages/correct-address.tsx'
import { listFiltersOf } from '../messages/filters.ts'
import type { ActivitySearch } from '../messages/search.ts'
import { Headline } from '../messages/headline.tsx'
import { Checks, History } from '../messages/history.tsx'
import { Mail, type MailProps } from '../messages/mail.tsx'
import { meaningOf } from '../messages/meaning.ts'
import classes from '../messages/message.module.css'
import { useStatusLabel } from '../objects/object-parts.tsx'
import { usePageKeys } from '../shell/keys.ts'
import { Clock } from '../shell/page-head.tsx'

/** One message: its history, its mails and the replies of the mail server. */
export function MessagePage() {
  const { eventTriggerId } = useParams({ from: '/shell/activity/$eventTriggerId' })
  const search = useSearch({ from: '/shell/activity/$eventTriggerId' })
  const { data, error, refetch } = useQuery(messageQuery(eventTriggerId))
  return (
    <>
      <TopBar id={eventTriggerId} search={search} message={data} />
      {data ? (
        <Message message={data} search={search} />
      ) : error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <LoadingColumns hasHeading />
      )}
    </>
  )
}

type TopBarProps = { id: number; search: ActivitySearch; message: TriggerDetails | undefined }

function TopBar({ id, search, message }: TopBarProps) {
  const { t } = useTranslation()
  return (
    <div className={classes.top}>
      <nav className="row small" aria-label={t('activity.title')}>
        <Link to="/activity" search={search} className="row soft" style={{ gap: 4 }}>
          <IconChevronLeft size={15} aria-hidden />
          {t('activity.title')}
        </Link>
        <span className="faint numbers">/ {t('message.title', { id })}</span>
      </nav>
      <span className="grow" />
      <Clock clientId={message?.clientId ?? undefined} />
      <Neighbours id={id} search={search} />
      {message && <Actions message={message} />}
    </div>
  )
}

/** The messages before and after this one in the list with the filters in the URL. */
function Neighbours({ id, search }: { id: number; search: ActivitySearch }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const format = useTimeFormat()
  const filters = useMemo(() => listFiltersOf(search, format), [search, format])
  const { data } = useInfiniteQuery(messagesQuery(filters))
  const ids = data?.pages.flatMap((page) => page.items.map((one) => one.eventTriggerId)) ?? []
  const place = ids.indexOf(id)
  const go = (to: number | undefined) =>
    to === undefined
      ? undefined
      : () =>
          void navigate({
            to: '/activity/$eventTriggerId',
            params: { eventTriggerId: to },
            search,
            replace: true,
          })
  const previous = go(place < 0 ? undefined : ids[place - 1])
  const next = go(place < 0 ? undefined : ids[place + 1])
  usePageKeys({ k: previous, j: next })
  return (
    <span className="row" style={{ gap: 4 }}>
      <Button
        variant="default"
        px={8}
        disabled={!previous}
        onClick={previous}
        aria-label={t('message.previous')}
      >
        <IconChevronUp size={15} aria-hidden />
        <kbd>K</kbd>
      </Button>
      <Button
        variant="default"
        px={8}
        disabled={!next}
        onClick={next}
        aria-label={t('message.next')}
      >
        <IconChevronDown size={15} aria-hidden />
        <kbd>J</kbd>
      </Button>
    </span>
  )
}

/**
 * Mails that ended. If some of several failed, only those, unless they were sent again since: the others
 * have theirs. One that is being sent again is not offered once more.
 */
function emailsToSendAgain({ emails, sentAgain }: TriggerDetails) {
  const again = sentAgain ?? []
  const isBeingSentAgain = (emailId: number) =>
    again.some((email) => email.repeatsEmailId === emailId && !hasEnded(email))
  const all = (emails ?? []).filter((email) => hasEnded(email) && !isBeingSentAgain(email.emailId))
  const settled = again
    .filter(({ status }) => !['FAILED', 'SUPPRESSED', 'CANCELLED'].includes(status))
    .map(({ repeatsEmailId }) => repeatsEmailId)
  const failed = all.filter(
    ({ emailId, status }) => status === 'FAILED' && !settled.includes(emailId),
  )
  const areAllSent = (emails ?? []).every((email) => hasEnded(email) && email.status !== 'FAILED')
  const isOne = emails?.length === 1
  return (areAllSent || isOne ? all : failed).map(({ emailId }) => emailId)
}

const ICONS: Record<ActionName, typeof IconX> = {
  sendAgain: IconRefresh,
  fire: IconPlayerPlay,
  cancel: IconX,
}

function Actions({ message }: { message: TriggerDetails }) {
  const { t } = useTranslation()
  const hold = useHeldAction()
  const actionable = [{ ...message, emailIds: emailsToSendAgain(message) }]
  const possible = useAllowedActions().filter((name) => actionableBy(name, actionable).length > 0)
  const act = (name: ActionName) => () => hold(name, actionable)
  usePageKeys({ r: possible.includes('sendAgain') ? act('sendAgain') : undefined })
  return possible.map((name) => {
    const Icon = ICONS[name]
    return (
      <Button
        key={name}
        variant="default"
        leftSection={<Icon size={15} aria-hidden />}
        onClick={act(name)}
      >
        {t(`message.${name}`)}
      </Button>
    )
  })
}

function Message({ message, search }: { message: TriggerDetails; search: ActivitySearch }) {
  const { t } = useTranslation()
  const email = message.emails?.[0]
  const mark = markOf(message)
  return (
    <>
      <header className={classes.head}>
        <div className={classes.headline}>
          <h1 dir="auto">
            <Headline message={message} />
          </h1>
          <Status mark={mark} mailStatus={message.email?.status} pill />
        </div>
        <p className={`lede ${classes.detail}`}>
          <Lede message={message} />
        </p>
      </header>
      <div className="two-columns">
        <div className="column" style={{ gap: 20 }}>
          {mark === 'failed' && <WhatFailed message={message} />}
          <section className={`card ${classes.timeline}`}>
            <History message={message} />
          </section>
          {message.status === 'SCHEDULED' && (
            <section className="card panel">
              <header>
                <h2>{t('message.checksNow')}</h2>
              </header>
              <Checks message={message} />
            </section>
          )}
          <EveryAutomation message={message} search={search} />
        </div>
        <aside className="column" style={{ gap: 14 }}>
          <Mail message={message} email={email} />
          <Facts message={message} email={email} />
        </aside>
      </div>
    </>
  )
}

function Lede({ message }: { message: TriggerDetails }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { objectType, objectTime } = message
  const object = objectTime
    ? t(`message.objects.${objectType}`, { time: format.moment(objectTime) })
    : t(`message.objectsWithoutTime.${objectType}`)
  const time = format.moment(message.scheduledTime)
  const outcome = outcomeOf(message, t, useReasonWords())
  return `${t('message.lede', { time, object })}. ${outcome}`
}

function outcomeOf(
  { status, statusReasons, emails }: TriggerDetails,
  t: Translate,
  say: SayReasons,
) {
  if (status === 'COMPLETED') {
    const [email] = emails ?? []
    if (email?.status === 'CAPTURED') return t('message.captured')
    if (email?.status === 'SENT') return t('message.acceptedAt', { count: email.attempts.length })
  }
  const queued = emails?.find((email) => !hasEnded(email))
  if (status === 'RUNNING' && queued) return reasonInQueue(queued, t, say)
  // The reply of the server is shown below, with its meaning.
  if (status === 'FAILED' || statusReasons.length === 0) return ''
  return `${asSentence(say(statusReasons), statusReasons)}.`
}

/** Why a mail is still in the queue. */
const reasonInQueue = ({ status, statusReasons }: Email, t: Translate, say: SayReasons) =>
  status === 'QUEUED' && statusReasons.length > 0
    ? t('message.inQueueBecause', { reason: say(statusReasons) })
    : t(`message.inQueue.${status as QueueStatus}`)

/** The final reply of the server and its meaning. */
function WhatFailed({ message }: { message: TriggerDetails }) {
  const { t } = useTranslation()
  const say = useReasonWords()
  const failed = message.emails?.find(({ status }) => status === 'FAILED')
  const last = failed?.attempts.at(-1)
  return (
    <section className={classes.failed}>
      <div className="strong">
        {last ? t(`attempt.meanings.${meaningOf(last)}`) : t('message.changes.FAILED')}
      </div>
      {last ? (
        <div className="mono clay" dir="auto">
          {last.reply}
        </div>
      ) : (
        <div className="clay" dir="auto">
          {asSentence(say(message.statusReasons), message.statusReasons)}
        </div>
      )}
      <CorrectAddress
        clientId={message.clientId}
        to={failed?.to}
        reply={last?.reply ?? message.statusReason}
      />
    </section>
  )
}

type EveryProps = { message: TriggerDetails; search: ActivitySearch }

function EveryAutomation({ message, search }: EveryProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const whyOf = useWhy()
  const { data, error, refetch } = useQuery(explanationQuery(message))
  return (
    <section className="card panel">
      <header>
        <h2>{t(`message.every.${message.objectType}`)}</h2>
        <span className="faint small">{t('message.why')}</span>
      </header>
      <Loaded query={{ data: data, error, refetch }}>
        {(data) =>
          data.map((explanation) => (
            <div key={explanation.eventDefnId} className={classes.automation}>
              <ExplanationMark explanation={explanation} />
              <AutomationName explanation={explanation} message={message} search={search} />
              <span className={`soft ${classes.reason}`} dir="auto">
                {explanation.eventTriggerId === message.eventTriggerId
                  ? t('message.thisMessage')
                  : whyOf(explanation)}
              </span>
              <span className="faint tiny">
                {explanation.outcome !== 'NOT' &&
                  explanation.scheduledTime !== null &&
                  format.moment(explanation.scheduledTime)}
              </span>
            </div>
          ))
        }
      </Loaded>
    </section>
  )
}

function ExplanationMark({ explanation }: { explanation: Explanation }) {
  const { outcome, checks, status } = explanation
  if (outcome === 'NOT') return <IconX size={13} stroke={2.2} className="faint" aria-hidden />
  const isSent = outcome === 'FIRED' && checks.every(({ ok }) => ok)
  const isSending = outcome === 'FIRED' && status === 'RUNNING'
  const fired: MarkName = isSending ? 'sending' : isSent ? 'sent' : 'failed'
  const mark = outcome === 'FIRED' ? fired : 'waiting'
  return <Mark mark={mark} />
}

type AutomationNameProps = EveryProps & { explanation: Explanation }

function AutomationName({ explanation, message, search }: AutomationNameProps) {
  const { t } = useTranslation()
  const { description, eventTriggerId } = explanation
  const name = description ?? t('editor.unnamed')
  if (eventTriggerId === null || eventTriggerId === message.eventTriggerId) {
    return (
      <span className={classes.name} dir="auto">
        {name}
      </span>
    )
  }
  return (
    <Link
      to="/activity/$eventTriggerId"
      params={{ eventTriggerId }}
      search={search}
      className={classes.name}
      dir="auto"
    >
      {name}
    </Link>
  )
}

function Facts({ message, email }: MailProps) {
  const { t } = useTranslation()
  const { clientId, clientName } = message
  return (
    <dl className={`card ${classes.facts}`}>
      {email && <Fact name={t('words.to')}>{email.to}</Fact>}
      {email && <MessageIdFact messageId={email.messageId} />}
      <CauseFacts message={message} />
      <Fact name={t('message.facts.object')}>
        <ObjectOfMessage message={message} />
      </Fact>
      {message.reasonName && <Fact name={t('words.service')}>{message.reasonName}</Fact>}
      {message.professionalName && (
        <Fact name={t('message.facts.staff')}>{message.professionalName}</Fact>
      )}
      {message.locationName && <Fact name={t('words.location')}>{message.locationName}</Fact>}
      {clientId && (
        <Fact name={t('words.client')}>
          <Link
            to="/clients/$clientId"
            params={{ clientId: String(clientId) }}
            style={{ textDecoration: 'underline' }}
          >
            <bdi>{clientName}</bdi>
          </Link>{' '}
          <MailCount clientId={clientId} />
        </Fact>
      )}
    </dl>
  )
}

function MessageIdFact({ messageId }: { messageId: string }) {
  const { t } = useTranslation()
  return (
    <Fact name={t('message.facts.messageId')}>
      <span className="mono">{messageId}</span>{' '}
      <CopyButton value={messageId}>
        {({ copied, copy }) => (
          <button type="button" className={classes.copy} onClick={copy}>
            {t(copied ? 'message.copied' : 'message.copy')}
          </button>
        )}
      </CopyButton>
    </Fact>
  )
}

/** The automation that planned the message, and the template that it sends. */
function CauseFacts({ message }: Pick<MailProps, 'message'>) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { eventDefnId, emailTemplateId } = message
  const automation = message.description ?? t('editor.unnamed')
  return (
    <>
      <Fact name={t('message.facts.automation')}>
        {functions.includes('VIEW_DEFINITIONS') ? (
          <Link to="/automations/$eventDefnId" params={{ eventDefnId: String(eventDefnId) }}>
            {automation}
          </Link>
        ) : (
          automation
        )}
      </Fact>
      {functions.includes('VIEW_EMAILS') && emailTemplateId && (
        <Fact name={t('words.template')}>
          <Link
            to="/templates/$emailTemplateId"
            params={{ emailTemplateId: String(emailTemplateId) }}
          >
            {message.templateName ?? t('words.noLongerActive')}
          </Link>
        </Fact>
      )}
    </>
  )
}

/** The object by its name, or by its time and status. */
function ObjectOfMessage({ message }: Pick<MailProps, 'message'>) {
  const format = useTimeFormat()
  const { objectType, objectId, objectName, objectTime, objectStatus } = message
  const labelOf = useStatusLabel(objectType)
  const about =
    objectName ??
    [objectTime && format.moment(objectTime), objectStatus && labelOf(objectStatus)]
      .filter(Boolean)
      .join(', ')
  if (objectType !== 'CALENDAR' || objectId === null) return about
  return (
    <Link
      to="/calendar"
      search={{ appointment: objectId, ...(objectTime && { day: format.isoDay(objectTime) }) }}
    >
      {about}
    </Link>
  )
}

/** How much mail the client got, which explains a complaint about too much of it. */
function MailCount({ clientId }: { clientId: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { data } = useQuery({
    ...recentMailCountQuery(clientId),
    enabled: functions.includes('VIEW_EMAILS'),
  })
  if (data === undefined) return null
  return <span className="faint">{t('message.recentMails', { count: data })}</span>
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  )
}
