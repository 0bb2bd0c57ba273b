import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { automationsQuery } from '../api/automations.ts'
import { runsQuery, testFeed, type Feed } from '../api/feeds.ts'
import { setupQuery } from '../api/setup.ts'
import { Sentence } from '../automations/sentence-view.tsx'
import { sentenceOf } from '../automations/sentence.ts'
import { Failure, Loading } from '../components/states.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { CalendarsStep } from './calendars-step.tsx'
import { TestResult } from './connect-form.tsx'
import classes from './feeds.module.css'
import { HookPanel } from './hook-panel.tsx'
import { ModePanel } from './mode-panel.tsx'
import { RunButton } from './run-button.tsx'
import { RunResult } from './run-result.tsx'
import { StepList, STEPS, type Step } from './steps.tsx'
import { isRead } from './words.ts'

/** The steps of a draft, until its appointments are read. */
export function DraftSteps({ feed, step }: { feed: Feed; step: Step }) {
  const navigate = useNavigate()
  const { feedId } = feed
  const goOn = () => {
    const next = STEPS[STEPS.indexOf(step) + 1]!
    void navigate({ to: '/settings/feeds/$feedId', params: { feedId }, search: { step: next } })
  }
  const content: Record<Step, () => ReactNode> = {
    source: () => <SourceStep feed={feed} onNext={goOn} />,
    calendars: () => <CalendarsStep feed={feed} onDone={goOn} />,
    automations: () => <AutomationsStep onNext={goOn} />,
    dryRun: () => <DryRunStep feed={feed} onNext={goOn} />,
    start: () => (
      <>
        <ModePanel feed={feed} />
        <HookPanel feed={feed} />
      </>
    ),
  }
  return (
    <>
      <StepList feedId={feedId} />
      {step === 'start' ? content.start() : <StepPanel step={step}>{content[step]()}</StepPanel>}
    </>
  )
}

function StepPanel({ step, children }: { step: Step; children: ReactNode }) {
  const { t } = useTranslation()
  const title = t(`settings.feeds.steps.${step}`)
  return (
    <section className="card panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </section>
  )
}

function NextButton({ onNext }: { onNext: () => void }) {
  const { t } = useTranslation()
  return (
    <Button onClick={onNext} style={{ justifySelf: 'start' }}>
      {t('settings.feeds.next')}
    </Button>
  )
}

function SourceStep({ feed, onNext }: { feed: Feed; onNext: () => void }) {
  const { t } = useTranslation()
  const { feedId, source, connection } = feed
  const test = useMutation({ mutationFn: () => testFeed({ feedId }) })
  return (
    <div className={settings.form}>
      <p style={{ margin: 0 }}>
        {t(`settings.feeds.sources.${source}`)} <bdi className="soft">{connection.url}</bdi>
      </p>
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.sourceStepHint')}
      </p>
      {isRead(feed) && (
        <>
          <Button
            size="compact-sm"
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate()}
            style={{ justifySelf: 'start' }}
          >
            {t('settings.feeds.test')}
          </Button>
          <TestResult error={test.error} result={test.data} />
        </>
      )}
      <NextButton onNext={onNext} />
    </div>
  )
}

/** Which automations will write about the appointments and classes of the feed. */
function AutomationsStep({ onNext }: { onNext: () => void }) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const { data: automations, error, refetch } = useQuery(automationsQuery)
  if (error && !automations) return <Failure error={error} onRetry={() => void refetch()} />
  if (!automations || !setup) return <Loading />
  const active = automations.filter(
    ({ active, eventType }) =>
      active && ['CALENDAR', 'CLASS_SCHEDULE'].includes(eventType.objectType),
  )
  return (
    <div className={settings.form}>
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.automationsHint')}{' '}
        <Link to="/automations" className={settings.textLink}>
          {t('words.automations')}
        </Link>
      </p>
      {active.length === 0 && <p className="soft">{t('settings.feeds.noAutomation')}</p>}
      <ul className={classes.plain}>
        {active.map((automation) => (
          <li key={automation.eventDefnId}>
            <Sentence parts={sentenceOf(automation, automation.eventActions ?? [], setup)} />
          </li>
        ))}
      </ul>
      <NextButton onNext={onNext} />
    </div>
  )
}

/** The latest dry run stays, also after a reload. */
function DryRunStep({ feed, onNext }: { feed: Feed; onNext: () => void }) {
  const { t } = useTranslation()
  const { data: runs } = useQuery(runsQuery(feed.feedId))
  const dryRuns = (runs ?? []).filter(({ kind }) => kind === 'DRY_RUN')
  const latest = dryRuns.find(({ status }) => status !== 'RUNNING')
  const begunId = dryRuns.find(({ status }) => status === 'RUNNING')?.feedRunId
  return (
    <div className={settings.form}>
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.dryRunHint')}
      </p>
      <div className={classes.actions}>
        <RunButton feed={feed} action="dryRun" begunId={begunId} isResultElsewhere />
      </div>
      {latest && <RunResult run={latest} isWhole />}
      <NextButton onNext={onNext} />
    </div>
  )
}
