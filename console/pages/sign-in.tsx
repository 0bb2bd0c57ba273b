import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconArrowRight, IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { readinessQuery } from '../api/readiness.ts'
import { OfflineError, ProblemError } from '../api/request.ts'
import { signIn } from '../api/session.ts'
import { Bell, BellShape } from '../components/bell.tsx'
import classes from './sign-in.module.css'

export function SignInPage() {
  return (
    <div className={classes.page}>
      <Promise />
      <main className={classes.main}>
        <div className={classes.center}>
          <SignInForm />
        </div>
        <Footer />
      </main>
    </div>
  )
}

function SignInForm() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(undefined)
    try {
      await signIn({
        username: String(form.get('username')),
        password: String(form.get('password')),
      })
      await navigate({ to: isOwnPage(next) ? next : '/' })
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form className={classes.form} onSubmit={(event) => void submit(event)}>
      <Bell size={44} />
      <h1 className={classes.title}>{t('signIn.title')}</h1>
      <p className="soft" style={{ margin: '0 0 24px' }}>
        {t('signIn.lede')}
      </p>
      <TextInput
        name="username"
        label={t('signIn.username')}
        size="md"
        autoComplete="username"
        autoCapitalize="none"
        autoFocus
        required
        withAsterisk={false}
      />
      <PasswordInput
        name="password"
        label={t('signIn.password')}
        size="md"
        mt="md"
        autoComplete="current-password"
        required
        withAsterisk={false}
        error={error ? messageOf(error, t) : undefined}
      />
      <Button
        type="submit"
        fullWidth
        size="md"
        mt="lg"
        loading={isBusy}
        rightSection={<IconArrowRight size={17} aria-hidden />}
      >
        {t('signIn.button')}
      </Button>
      <p className="faint small" style={{ margin: '14px 0 0' }}>
        {t('signIn.forgotten')}
      </p>
      <hr className={classes.line} />
      <div className="row small" style={{ alignItems: 'flex-start', gap: 12 }}>
        <IconKey size={18} className="soft" style={{ flex: 'none' }} aria-hidden />
        <div>
          <b className="strong">{t('signIn.firstStart')}</b>{' '}
          <span className="soft">{t('signIn.firstStartHint')}</span>
        </div>
      </div>
    </form>
  )
}

/** Never to an address of another site. */
const isOwnPage = (next: string | undefined): next is string =>
  next !== undefined && /^\/(?!\/)/.test(next)

function messageOf(error: unknown, t: ReturnType<typeof useTranslation>['t']): string {
  if (error instanceof OfflineError) return t('errors.offline')
  if (error instanceof ProblemError) {
    if (error.status === 401) return t('signIn.refused')
    if (error.status === 429) return t('signIn.tooMany', { count: error.retryAfterSeconds ?? 60 })
  }
  return error instanceof Error ? error.message : String(error)
}

function Promise() {
  const { t } = useTranslation()
  return (
    <aside className={classes.aside}>
      <div className={classes.brand}>Bellwether</div>
      <RingingBell />
      <div style={{ flex: 1 }} />
      <p className={classes.sentence}>
        <Trans i18nKey="signIn.sentence" components={{ u: <span className={classes.word} /> }} />
      </p>
      <p className={classes.promise}>{t('signIn.promise')}</p>
    </aside>
  )
}

const RINGS = [92, 136, 186, 242, 304]
const SENT_AT = [58, 124, 184, 250, 306]
const WAITING_AT = [470, 528, 600, 664, 722]

function RingingBell() {
  return (
    <svg viewBox="0 0 760 420" className={classes.bell} aria-hidden>
      {RINGS.map((radius, i) => (
        <circle
          key={radius}
          cx="384"
          cy="196"
          r={radius}
          fill="none"
          stroke="#f6d68a"
          strokeWidth="1.25"
          opacity={0.34 - i * 0.062}
        />
      ))}
      <path
        d="M0 78 C 180 78 300 92 384 92 S 590 78 760 78"
        fill="none"
        stroke="#8fc7b3"
        strokeWidth="3"
      />
      {SENT_AT.map((x) => (
        <circle key={x} cx={x} cy={78 + Math.max(0, (x - 90) / 20)} r="7.5" fill="#8fc7b3" />
      ))}
      {WAITING_AT.map((x) => (
        <circle
          key={x}
          cx={x}
          cy={78 + Math.max(0, (680 - x) / 20)}
          r="6.5"
          fill="#234a3f"
          stroke="#8fc7b3"
          strokeWidth="2.25"
        />
      ))}
      <g transform="translate(276 66) scale(6.75)">
        <BellShape body="#f6d68a" strap="#e3b04b" />
      </g>
    </svg>
  )
}

function Footer() {
  const { t } = useTranslation()
  const { data = 'well' } = useQuery(readinessQuery)
  const color = data === 'well' ? 'var(--mark)' : 'var(--clay)'
  return (
    <footer className="row faint small" style={{ gap: 18, justifyContent: 'center' }}>
      <span className="row" style={{ gap: 7 }} aria-live="polite">
        <svg width="8" height="8" aria-hidden>
          <circle cx="4" cy="4" r="4" fill={color} />
        </svg>
        {t(data === 'well' ? 'health.ready' : `health.${data}`)}
      </span>
      <a href="/docs">{t('signIn.apiDescription')}</a>
    </footer>
  )
}
