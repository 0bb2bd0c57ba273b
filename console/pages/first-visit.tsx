import { Button, PasswordInput } from '@mantine/core'
import {
  IconCheck,
  IconFileImport,
  IconPencilPlus,
  IconPlugConnected,
  IconSparkles,
  type IconProps,
} from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ComponentType, ReactNode } from 'react'
import { insideSentence, useTranslation } from '../texts/translate.ts'
import type { Overview } from '../../src/contract/overview.ts'
import { useSession } from '../api/session.ts'
import { setupQuery } from '../api/setup.ts'
import { acceptOperatorKey, hasOperatorKey } from '../api/operator-key.ts'
import { loadDemo } from '../api/start.ts'
import { BellShape } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import { placeOf } from '../components/time.ts'
import { missingParts } from '../setup/missing.ts'
import { PageHead } from '../shell/page-head.tsx'
import { skipFirstVisit, stepsOf } from './first-visit-steps.ts'
import classes from './first-visit.module.css'

type Props = { overview: Overview; onDismiss: () => void }

/** Shown on Today until the first reminder is scheduled. */
export function FirstVisit({ overview, onDismiss }: Props) {
  const { t } = useTranslation()
  const session = useSession()
  const { username } = session
  return (
    <>
      <PageHead title={t('firstVisit.title', { username })} lede={t('firstVisit.lede')}>
        <Button
          variant="default"
          onClick={() => {
            skipFirstVisit(session)
            onDismiss()
          }}
        >
          {t('firstVisit.skip')}
        </Button>
      </PageHead>
      <div className={classes.columns}>
        <Steps overview={overview} />
        <div className="column" style={{ gap: 20 }}>
          <Quiet />
          <Terminal />
        </div>
      </div>
    </>
  )
}

function Steps({ overview }: Pick<Props, 'overview'>) {
  const { t } = useTranslation()
  const { business, role } = useSession()
  const done = stepsOf(overview)
  const { appointments, automations } = overview.setup
  const current = (['data', 'automation', 'plan'] as const).find((step) => !done[step])
  const stateOf = (step: keyof typeof done): StepState =>
    done[step] ? 'done' : step === current ? 'now' : 'todo'
  return (
    <ol className={classes.steps}>
      <Step
        number={1}
        state="done"
        name="business"
        note={t('firstVisit.businessNote', {
          name: business.name,
          place: placeOf(business.timeZone),
          role: insideSentence(t(`roles.${role}`)),
        })}
      />
      <Step
        number={2}
        state={stateOf('data')}
        name="data"
        note={
          done.data ? t('firstVisit.dataDone', { count: appointments }) : t('firstVisit.dataNote')
        }
      >
        {!done.data && <Ways />}
      </Step>
      <Step
        number={3}
        state={stateOf('automation')}
        name="automation"
        note={
          done.automation
            ? t('firstVisit.automationDone', { count: automations })
            : t('firstVisit.automationNote')
        }
      >
        {stateOf('automation') === 'now' && (
          <Button component={Link} to="/automations" mt="sm">
            {t('firstVisit.automationButton')}
          </Button>
        )}
      </Step>
      <Step
        number={4}
        state={stateOf('mail')}
        name="mail"
        note={t(done.mail ? 'firstVisit.mailDone' : 'firstVisit.mailCaptured')}
      />
      <Step number={5} state={stateOf('plan')} name="plan" note={t('firstVisit.planNote')} />
    </ol>
  )
}

type StepState = 'done' | 'now' | 'todo'

type StepProps = {
  number: number
  state: StepState
  name: keyof ReturnType<typeof stepsOf>
  note: string
  children?: ReactNode
}

function Step({ number, state, name, note, children }: StepProps) {
  const { t } = useTranslation()
  return (
    <li
      className={classes.step}
      data-state={state}
      {...(state === 'now' ? { 'aria-current': 'step' as const } : {})}
    >
      <span className={classes.number}>
        {state === 'done' ? (
          <IconCheck size={17} stroke={2.5} role="img" aria-label={t('firstVisit.isDone')} />
        ) : (
          number
        )}
      </span>
      <div className={classes.body}>
        <h2>{t(`firstVisit.${name}`)}</h2>
        <div className="soft small" dir="auto">
          {note}
        </div>
        {children}
      </div>
    </li>
  )
}

function Ways() {
  const { t } = useTranslation()
  return (
    <>
      <div className={classes.ways}>
        <Way icon={IconFileImport} title={t('words.importAFile')} hint={t('firstVisit.fileHint')}>
          <Button size="xs" component={Link} to="/import">
            {t('words.chooseAFile')}
          </Button>
        </Way>
        <Way icon={IconPencilPlus} title={t('firstVisit.hand')} hint={t('firstVisit.handHint')}>
          <NextByHand />
        </Way>
        <Way icon={IconPlugConnected} title={t('firstVisit.api')} hint={t('firstVisit.apiHint')}>
          <Button size="xs" variant="default" component={Link} to="/settings/keys">
            {t('words.createAKey')}
          </Button>
        </Way>
        <Way icon={IconSparkles} title={t('firstVisit.demo')} hint={t('firstVisit.demoHint')}>
          <DemoForm />
        </Way>
      </div>
      <p className="faint small" style={{ margin: '12px 0 0' }}>
        {t('firstVisit.history')}
      </p>
    </>
  )
}

/** Leads to what is still missing, and in the end to the first appointment. */
function NextByHand() {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const next = setup && missingParts(setup)[0]
  if (!setup) return null
  return next ? (
    <Link to={next.path} className="button">
      {t(`settings.${next.name}.add`)}
    </Link>
  ) : (
    <Link to="/calendar" search={{ book: true }} className="button">
      {t('palette.book')}
    </Link>
  )
}

type WayProps = {
  icon: ComponentType<IconProps>
  title: string
  hint: string
  children: ReactNode
}

function Way({ icon: Icon, title, hint, children }: WayProps) {
  return (
    <div className={classes.way}>
      <Icon size={21} stroke={1.6} className="accent" aria-hidden />
      <h3>{title}</h3>
      <p>{hint}</p>
      <div>{children}</div>
    </div>
  )
}

/** Needs the operator's key; asks for it unless the first run still has it. */
function DemoForm() {
  const { t } = useTranslation()
  const { business } = useSession()
  const needsKey = !hasOperatorKey()
  const form = useForm(async (value) => {
    if (needsKey) await acceptOperatorKey(value('key').trim())
    await loadDemo(business.businessId)
  })
  return (
    <form onSubmit={form.onSubmit}>
      {needsKey && (
        <PasswordInput
          name="key"
          size="xs"
          mb="xs"
          label={t('words.operatorsKey')}
          autoComplete="off"
          required
          withAsterisk={false}
        />
      )}
      <Button type="submit" size="xs" variant="default" loading={form.isBusy}>
        {t('firstVisit.demoButton')}
      </Button>
      <div role="alert" className="tiny clay">
        {form.message}
      </div>
    </form>
  )
}

const HOLLOW = [
  [36, 34],
  [84, 42],
  [206, 41],
  [256, 34],
] as const

function Quiet() {
  const { t } = useTranslation()
  return (
    <aside className={`card ${classes.quiet}`}>
      <svg viewBox="0 6 300 126" width="100%" aria-hidden>
        <path
          d="M6 34 C 90 34 120 44 150 44 S 220 34 294 34"
          fill="none"
          stroke="var(--line-strong)"
          strokeWidth="2"
          strokeDasharray="1 7"
          strokeLinecap="round"
        />
        <g transform="translate(90 26) scale(3.75)">
          <BellShape body="var(--line)" strap="var(--line-strong)" />
        </g>
        {HOLLOW.map(([x, y]) => (
          <circle
            key={x}
            cx={x}
            cy={y}
            r="6"
            fill="var(--card)"
            stroke="var(--line-strong)"
            strokeWidth="1.5"
            strokeDasharray="2.5 2.5"
          />
        ))}
      </svg>
      <h2>{t('firstVisit.quiet')}</h2>
      <p className="soft small" style={{ margin: 0 }}>
        {t('firstVisit.quietHint')}
      </p>
    </aside>
  )
}

function Terminal() {
  const { t } = useTranslation()
  const { business } = useSession()
  return (
    <aside className="card" style={{ padding: '18px 22px' }}>
      <h2 style={{ margin: 0, fontSize: 14, fontWeight: 620 }}>{t('firstVisit.terminal')}</h2>
      <p className="soft small" style={{ margin: '2px 0 10px' }}>
        {t('firstVisit.terminalHint')}
      </p>
      <pre className={classes.code}>
        {`npx bellwether import visits.csv\n  --kind calendar --events none\n  --zone ${business.timeZone} --dry-run`}
      </pre>
    </aside>
  )
}
