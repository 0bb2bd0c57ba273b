import { Button } from '@mantine/core'
import { IconBellOff, IconMailOff, IconPlayerPause, IconStack2 } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Overview } from '../../src/contract/overview.ts'
import { waitingApprovalsQuery, type Approval, type Decision } from '../api/approvals.ts'
import { automationsQuery, type Automation } from '../api/automations.ts'
import { resumeMail } from '../api/business.ts'
import { useSession } from '../api/session.ts'
import { Filled, part } from '../components/filled.tsx'
import { Mark } from '../components/mark.tsx'
import { Empty } from '../components/states.tsx'
import { useTimeFormat, withLocalTimes } from '../components/time.ts'
import { useAllowedActions, useHeldAction, useHeldDecision } from '../messages/actions.ts'
import { CorrectAddress } from '../messages/correct-address.tsx'
import { meaningOf } from '../messages/meaning.ts'
import { nameOfUser } from '../components/user-name.ts'
import { isIntended, setIntended } from './intended.ts'
import { Panel } from './panel.tsx'
import classes from './today.module.css'
import { ErrorMessage } from '../components/error-message.tsx'

/** The page Activity has the others. */
const SHOWN_FAILURES = 5

/** Items that need a decision: a pause, mails to approve, failures, automations that stopped matching. */
export function NeedsYou({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const { failures, mail } = overview
  const approvals = useApprovals(overview)
  const stopped = useStoppedAutomations()
  const count =
    failures.length + approvals.length + stopped.automations.length + (mail.problem ? 1 : 0)
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
          mail.problem && <NoMailItem mail={mail} problem={mail.problem} />
        )}
        {approvals.map((approval) => (
          <ApprovalItem key={approval.approvalId} approval={approval} />
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
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => resumeMail(business.businessId),
  })
  return (
    <Item
      icon={<IconPlayerPause size={17} stroke={1.9} className="amber" aria-hidden />}
      title={t('today.paused.title')}
    >
      <div className="small soft" dir="auto">
        {business.mailPausedReason ?? t('today.paused.noReason')}
      </div>
      <div className="small soft">{t('today.paused.waiting', { count: waiting })}</div>
      {functions.includes('EDIT_BUSINESS') && (
        <div className={classes.actions}>
          <Button size="compact-sm" variant="default" loading={isPending} onClick={() => mutate()}>
            {t('today.paused.resume')}
          </Button>
          {error && (
            <span className="small clay">
              <ErrorMessage error={error} />
            </span>
          )}
        </div>
      )}
    </Item>
  )
}

type NoMailProps = { mail: Overview['mail']; problem: string }

/** The mail server takes no mail, or the daily limit is reached. */
function NoMailItem({ mail, problem }: NoMailProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <Item
      icon={<IconMailOff size={17} stroke={1.9} className="clay" aria-hidden />}
      title={t('today.noMail.title')}
    >
      <div className="small soft" dir="auto">
        {withLocalTimes(problem, format)}
      </div>
      <div className="small soft">{t('today.noMail.waiting', { count: mail.waiting })}</div>
      {mail.failingSince !== null && <div className="small">{t('today.noMail.operator')}</div>}
    </Item>
  )
}

function ApprovalItem({ approval }: { approval: Approval }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { functions } = useSession()
  const hold = useHeldDecision()
  const { source, mails, createdUser, createdDate, byDefinition } = approval
  const decide = (decision: Decision) => () => hold(decision, approval)
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
          .map(({ description, eventDefnId, mails: count }) =>
            t('today.approval.part', { count, name: description ?? `#${eventDefnId}` }),
          )
          .join(', ')}
      </div>
      {functions.includes('MANAGE_BUSINESS') ? (
        <div className={classes.actions}>
          <Button size="compact-sm" variant="default" onClick={decide('release')}>
            {t('today.approval.release', { count: mails })}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={decide('cancel')}>
            {t('today.approval.cancel')}
          </Button>
        </div>
      ) : (
        <div className="small soft">{t('today.approval.others')}</div>
      )}
    </Item>
  )
}

function FailureItem({ failure }: { failure: Overview['failures'][number] }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const allowed = useAllowedActions()
  const hold = useHeldAction()
  const { emailId, statusReason } = failure
  return (
    <Item
      icon={<Mark mark="failed" size={13} />}
      title={
        <Filled
          text={t('today.gotNo', { who: part('who'), what: part('what') })}
          parts={{
            who: failure.clientName ?? failure.to,
            what: <i>{failure.templateName ?? failure.description}</i>,
          }}
        />
      }
      aside={format.moment(failure.scheduledTime)}
    >
      <div className={`mono clay ${classes.words}`} dir="auto">
        {statusReason}
      </div>
      {statusReason && emailId !== null && (
        <div className="small soft">
          {t(`attempt.meanings.${meaningOf({ phase: 'recipient', reply: statusReason })}`)}
        </div>
      )}
      <div className={classes.actions}>
        <CorrectAddress clientId={failure.clientId} to={failure.to} reply={statusReason} />
        {emailId !== null && allowed.includes('sendAgain') && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() =>
              hold('sendAgain', [{ ...failure, status: 'FAILED', emailIds: [emailId] }])
            }
          >
            {t('today.sendAgain')}
          </Button>
        )}
        <Link
          to="/activity/$eventTriggerId"
          params={{ eventTriggerId: failure.eventTriggerId }}
          search={{ outcome: 'failed' }}
          className="small strong"
        >
          {t('today.whatHappened')}
        </Link>
      </div>
    </Item>
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
      title={t('today.stopped.title', { name: description ?? `#${eventDefnId}` })}
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
