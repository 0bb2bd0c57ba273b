import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { serviceHealthQuery, type ServiceHealth } from '../api/operator.ts'
import { restoreQuery } from '../api/restore.ts'
import { forgetOperatorKey, hasOperatorKey } from '../api/operator-key.ts'
import { Bell } from '../components/bell.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { formatIn } from '../components/time.ts'
import { guessTimeZone } from '../components/time-zone-select.tsx'
import { BusinessesPanel } from '../operator/businesses-panel.tsx'
import {
  countTriggerFaults,
  MailPanel,
  NodePanel,
  NodesPanel,
  ProblemsPanel,
  QueuePanel,
} from '../operator/health-panels.tsx'
import { Lost, Release, Waiting } from '../operator/hold.tsx'
import { OperatorKeyForm } from '../operator/key-form.tsx'
import classes from '../operator/operator.module.css'
import { Panel } from '../today/panel.tsx'
import signIn from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.tsx'

/** The page of the person who runs the service, with the operator's key. */
export function OperatorPage() {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(hasOperatorKey)
  if (isOpen) {
    return (
      <Overview
        onLeave={() => {
          forgetOperatorKey()
          setOpen(false)
        }}
      />
    )
  }
  return (
    <SignInFrame>
      <div className={signIn.form}>
        <Bell size={44} />
        <h1 className={signIn.title}>{t('operator.title')}</h1>
        <p className="soft" style={{ margin: '0 0 24px' }}>
          {t('operator.hint')}
        </p>
        <OperatorKeyForm hint={t('start.keyHint')} onDone={() => setOpen(true)} />
        <hr className={signIn.line} />
        <Link to="/sign-in" className="small">
          {t('password.backToSignIn')}
        </Link>
      </div>
    </SignInFrame>
  )
}

function Overview({ onLeave }: { onLeave: () => void }) {
  const { t } = useTranslation()
  const format = formatIn(guessTimeZone())
  const { data: health, error, refetch } = useQuery(serviceHealthQuery)
  const restored = useQuery(restoreQuery('operator'))
  const restore = restored.data
  /** What is shown may be old: then nothing says that everything works. */
  const failed = error ?? restored.error
  const faults = health ? countFaults(health) + (restore?.held ? 1 : 0) : 0
  return (
    <main className={classes.page}>
      <header className="page-head">
        <Bell size={36} />
        <div className="grow">
          <h1>{t('operator.title')}</h1>
          <p className="lede" role="status">
            {health && restore && !failed ? t('operator.lede', { count: faults }) : '\u00a0'}
          </p>
        </div>
        <button type="button" className="button" onClick={onLeave}>
          {t('operator.leave')}
        </button>
      </header>
      {restore?.hold && (
        <div className={classes.wide}>
          <Panel title={t('restored.title')}>
            <Lost hold={restore.hold} format={format} />
            <Waiting hold={restore.hold} />
            <Release />
          </Panel>
        </div>
      )}
      {failed && (
        <Failure
          error={failed}
          onRetry={() => {
            void refetch()
            void restored.refetch()
          }}
        />
      )}
      {!health && !error && <Loading />}
      {health && (
        <div className={classes.columns}>
          <ProblemsPanel health={health} format={format} />
          <MailPanel health={health} format={format} />
          <QueuePanel health={health} format={format} />
          <NodePanel health={health} format={format} />
          <NodesPanel health={health} format={format} />
        </div>
      )}
      <BusinessesPanel format={format} />
    </main>
  )
}

const countFaults = ({ mail, problems, queue, reconciliation }: ServiceHealth) =>
  problems.length +
  [
    mail.failingSince,
    queue.overdueTriggers,
    queue.stuckLeases,
    queue.expiredTriggers,
    queue.gaveUpTriggers,
    countTriggerFaults(reconciliation),
  ].filter((fault) => fault !== null && fault > 0).length
