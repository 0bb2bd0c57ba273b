import { Button } from '@mantine/core'
import {
  IconBellOff,
  IconMailOff,
  IconMapPin,
  IconPlayerPause,
  IconPlugConnected,
  IconStack2,
} from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Overview } from '../../src/contract/overview.ts'
import { waitingApprovalsQuery, type Approval } from '../api/approvals.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import { Filled, part } from '../components/filled.tsx'
import { Mark } from '../components/mark.tsx'
import { Empty } from '../components/states.tsx'
import { asSentence, isQuoted, useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import { useAllowedActions, useHeldAction } from '../messages/actions.ts'
import { CorrectAddress } from '../messages/correct-address.tsx'
import { meaningOf } from '../messages/meaning.ts'
import { nameOfUser } from '../components/user-name.ts'
import { ApprovalWindow } from './approval-window.tsx'
import { isIntended, setIntended } from './intended.ts'
import { Panel } from './panel.tsx'
import classes from './today.module.css'
import { PauseButton } from '../mail/pause-button.tsx'
import { TryMailServerNow } from '../mail/try-now.tsx'

/** The page Activity has the others. */
const SHOWN_FAILURES = 5

/** Items that need a decision: a pause, mails to approve, failures, automations that stopped matching. */
export function NeedsYou({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const { failures, mail } = overview
  const approvals = useApprovals(overview)
  const stopped = useStoppedAutomations()
  const feeds = overview.feeds.filter(needsPerson)
  const count =
    failures.length +
    approvals.length +
    feeds.length +
    stopped.automations.length +
    (mail.problem ? 1 : 0) +
    (mail.withoutPostalAddress > 0 ? 1 : 0)
  return (
    <Panel
      title={t('today.needsYou')}
      aside={count > 0 && <span className="chip numbers">{count}</span>}
    >
      {count === 0 && (
        <Empty title={t('today.nothingFailed')}>{t('today.nothingFailedHint')}</Empty>
      )}
      <ul className={classes.items}>
        {mail.paused ? (
          <PausedItem waiting={mail.waiting} />
        ) : (
          mail.problem && <NoMailItem mail={mail} />
        )}
        {mail.withoutPostalAddress > 0 && (
          <PostalAddressItem automations={mail.withoutPostalAddress} />
        )}
        {approvals.map((approval) => (
          <ApprovalItem key={approval.approvalId} approval={approval} />
        ))}
        {feeds.map((feed) => (
          <FeedItem key={feed.feedId} feed={feed} />
        ))}
        {failures.slice(0, SHOWN_FAILURES).map((failure) => (
          <FailureItem key={failure.eventTriggerId} failure={failure} />
        ))}
        {stopped.automations.map((automation) => (
          <StoppedItem
            key={automation.eventDefnId}
            automation={automation}
            onIntended={() => stopped.markIntended(automation)}
          />
        ))}
      </ul>
      {failures.length > SHOWN_FAILURES && (
        <Link to="/activity" search={{ outcome: 'failed' }} className={`small ${classes.all}`}>
          {t('today.allFailed')}
        </Link>
      )}
    </Panel>
  )
}

function useApprovals({ approvalsWaiting }: Overview) {
  const { functions } = useSession()
  const { data } = useQuery({
    ...waitingApprovalsQuery,
    enabled: approvalsWaiting > 0 && functions.includes('VIEW_EMAILS'),
  })
  return approvalsWaiting > 0 ? (data?.items ?? []) : []
}

function useStoppedAutomations() {
  const { functions } = useSession()
  const { data = [] } = useQuery({
    ...automationsQuery,
    enabled: functions.includes('VIEW_DEFINITIONS'),
  })
  const [, setMarked] = useState(0)
  return {
    automations: data.filter(
      (automation) =>
        automation.active && automation.activity?.hasStoppedMatching && !isIntended(automation),
    ),
    markIntended: (automation: Automation) => {
      setIntended(automation)
      setMarked((marked) => marked + 1)
    },
  }
}

type ItemProps = { icon: ReactNode; title: ReactNode; aside?: string; children: ReactNode }

function Item({ icon, title, aside, children }: ItemProps) {
  return (
    <li className={classes.item}>
      <span className={classes.icon}>{icon}</span>
      <div className="grow">
        <div className={classes.title}>
          <span className="strong grow" dir="auto">
            {title}
          </span>
          {aside && <span className="faint numbers small">{aside}</span>}
        </div>
        {children}
      </div>
    </li>
  )
}

function PausedItem({ waiting }: { waiting: number }) {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  return (
    <Item
      icon={<IconPlayerPause size={17} stroke={1.9} className="amber" aria-hidden />}
      title={t('words.mailIsPaused')}
    >
      <div className="small soft" dir="auto">
        {business.mailPausedReason ?? t('today.paused.noReason')}
      </div>
      <div className="small soft">{t('today.paused.waiting', { count: waiting })}</div>
      {functions.includes('EDIT_BUSINESS') && (
        <div className={classes.actions}>
          <PauseButton size="compact-sm" />
        </div>
      )}
    </Item>
  )
}

type NoMailProps = { mail: Overview['mail'] }

/** The mail server takes no mail, or the daily limit is reached. */
function NoMailItem({ mail }: NoMailProps) {
  const { t } = useTranslation()
  const say = useReasonWords()
  return (
    <Item
      icon={<IconMailOff size={17} stroke={1.9} className="clay" aria-hidden />}
      title={t('today.noMail.title')}
    >
      <div className="small soft" dir="auto">
        {asSentence(say(mail.problems), mail.problems)}
      </div>
      <div className="small soft">{t('today.noMail.waiting', { count: mail.waiting })}</div>
      {mail.failingSince !== null && <div className="small">{t('today.noMail.operator')}</div>}
      {mail.failingSince !== null && <TryMailServerNow />}
    </Item>
  )
}

/** Mails that readers can unsubscribe from, without the address that many countries require. */
function PostalAddressItem({ automations }: { automations: number }) {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  return (
    <Item
      icon={<IconMapPin size={17} stroke={1.9} className="amber" aria-hidden />}
      title={t('today.postalAddress.title')}
    >
      <div className="small soft">
        {t(
          business.postalAddressRequired
            ? 'today.postalAddress.skipped'
            : 'today.postalAddress.sent',
          {
            count: automations,
          },
        )}
      </div>
      {functions.includes('EDIT_BUSINESS') && (
        <div className={classes.actions}>
          <Link to="/settings/business" className="button">
            {t('today.postalAddress.add')}
          </Link>
        </div>
      )}
    </Item>
  )
}

function ApprovalItem({ approval }: { approval: Approval }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { functions } = useSession()
  const [isOpen, setOpen] = useState(false)
  const { source, mails, createdUser, createdDate, byDefinition } = approval
  return (
    <Item
      icon={<IconStack2 size={17} stroke={1.9} className="amber" aria-hidden />}
      title={t('today.approval.title', { count: mails })}
      aside={format.moment(createdDate)}
    >
      <div className="small soft" dir="auto">
        {t(`today.approval.sources.${source}`, { user: nameOfUser(createdUser, t) })}
      </div>
      <div className="small soft" dir="auto">
        {byDefinition
          .map(({ description, mails: count }) =>
            t('today.approval.part', { count, name: description ?? t('editor.unnamed') }),
          )
          .join(', ')}
      </div>
      {functions.includes('MANAGE_BUSINESS') ? (
        <div className={classes.actions}>
          <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
            {t('today.approval.decide')}
          </Button>
          {isOpen && <ApprovalWindow approval={approval} onClose={() => setOpen(false)} />}
        </div>
      ) : (
        <div className="small soft">{t('today.approval.others')}</div>
      )}
    </Item>
  )
}

type FeedOverview = Overview['feeds'][number]

/** The other faults end by themselves. */
const needsPerson = ({ health, heldSoon }: FeedOverview) =>
  health === 'NEEDS_LOGIN' ||
  health === 'NEEDS_DECISION' ||
  health === 'KEY_MISSING' ||
  heldSoon > 0

/** A feed that needs a login or a decision, or holds entries of the next days. */
function FeedItem({ feed }: { feed: FeedOverview }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { feedId, name, health, since, heldSoon } = feed
  return (
    <Item
      icon={<IconPlugConnected size={17} stroke={1.9} className="amber" aria-hidden />}
      title={name}
      {...(health !== 'OK' && { aside: format.moment(since) })}
    >
      {health !== 'OK' && (
        <div className="small soft">
          {t(`settings.feeds.healths.${health}`)}. {t(`settings.feeds.todo.${health}`)}
        </div>
      )}
      {heldSoon > 0 && (
        <div className="small soft">{t('today.feedHolds', { count: heldSoon })}</div>
      )}
      <div className={classes.actions}>
        <Link to="/settings/feeds/$feedId" params={{ feedId }} className="button">
          {t('today.openFeed')}
        </Link>
      </div>
    </Item>
  )
}

type Failure = Overview['failures'][number]

/** A message of a class goes to many students. */
const countPeople = ({ count, emailIds }: Failure) => Math.max(count, emailIds.length)

/** Failures that need the same step are one card. */
function FailureItem({ failure }: { failure: Failure }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const say = useReasonWords()
  const { names, emailId, statusReason, statusReasons } = failure
  const count = countPeople(failure)
  return (
    <Item
      icon={<Mark mark="failed" size={13} />}
      title={
        <Filled
          text={
            count === 1
              ? t('today.gotNo', { who: part('who'), what: part('what') })
              : t('today.gotNoMany', { count, what: part('what') })
          }
          parts={{
            who: names[0] ?? '',
            what: <i>{failure.templateName ?? failure.description}</i>,
          }}
        />
      }
      aside={format.moment(failure.scheduledTime)}
    >
      {count > 1 && (
        <div className="small soft" dir="auto">
          {names.join(', ')}
          {count > names.length && ', …'}
        </div>
      )}
      <div
        className={`clay ${isQuoted(statusReasons) ? 'mono' : 'small'} ${classes.words}`}
        dir="auto"
      >
        {asSentence(say(statusReasons), statusReasons)}
      </div>
      {statusReason && emailId !== null && (
        <div className="small soft">
          {t(`attempt.meanings.${meaningOf({ phase: 'recipient', reply: statusReason })}`)}
        </div>
      )}
      <FailureActions failure={failure} />
    </Item>
  )
}

function FailureActions({ failure }: { failure: Failure }) {
  const { t } = useTranslation()
  const allowed = useAllowedActions()
  const hold = useHeldAction()
  const { count, emailIds } = failure
  const again = emailIds.map((emailId) => ({
    ...failure,
    status: 'FAILED' as const,
    emailIds: [emailId],
  }))
  return (
    <div className={classes.actions}>
      {countPeople(failure) === 1 && (
        <CorrectAddress clientId={failure.clientId} to={failure.to} reply={failure.statusReason} />
      )}
      {again.length > 0 && allowed.includes('sendAgain') && (
        <Button size="compact-sm" variant="default" onClick={() => hold('sendAgain', again)}>
          {again.length === 1
            ? t('today.sendAgain')
            : t('today.sendManyAgain', { count: again.length })}
        </Button>
      )}
      {count === 1 ? (
        <Link
          to="/activity/$eventTriggerId"
          params={{ eventTriggerId: failure.eventTriggerId }}
          search={{ outcome: 'failed' }}
          className="small strong"
        >
          {t('today.whatHappened')}
        </Link>
      ) : (
        <Link to="/activity" search={{ outcome: 'failed' }} className="small strong">
          {t('today.allFailed')}
        </Link>
      )}
    </div>
  )
}

type StoppedProps = { automation: Automation; onIntended: () => void }

function StoppedItem({ automation, onIntended }: StoppedProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { eventDefnId, description, modifiedUser, modifiedDate } = automation
  return (
    <Item
      icon={<IconBellOff size={17} stroke={1.9} className="amber" aria-hidden />}
      title={t('today.stopped.title', { name: description ?? t('editor.unnamed') })}
    >
      <div className="small soft">{t('automations.stoppedHint')}</div>
      {modifiedDate !== null && (
        <div className="small soft" dir="auto">
          {t('today.stopped.changed', {
            user: nameOfUser(modifiedUser, t),
            time: format.moment(modifiedDate),
          })}
        </div>
      )}
      <div className={classes.actions}>
        <Link
          to="/automations/$eventDefnId"
          params={{ eventDefnId: String(eventDefnId) }}
          className="small strong"
        >
          {t('today.stopped.open')}
        </Link>
        <Button size="compact-sm" variant="subtle" onClick={onIntended}>
          {t('today.stopped.intended')}
        </Button>
      </div>
    </Item>
  )
}
