import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconArrowRight, IconKey } from '../components/icons.tsx'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'
import { signIn } from '../api/session.ts'
import { Bell } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import classes from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.tsx'

export function SignInPage() {
  return (
    <SignInFrame>
      <SignInForm />
    </SignInFrame>
  )
}

function SignInForm() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }
  const form = useForm(async (value) => {
    await signIn({ username: value('username'), password: value('password') })
    await navigate({ to: isOwnPage(next) ? next : '/' })
  })
  return (
    <form className={classes.form} onSubmit={form.onSubmit}>
      <Bell size={44} />
      <h1 className={classes.title}>{t('signIn.title')}</h1>
      <p className="soft" style={{ margin: '0 0 24px' }}>
        {t('signIn.lede')}
      </p>
      <TextInput
        {...form.required('username')}
        label={t('signIn.username')}
        size="md"
        autoComplete="username"
        autoCapitalize="none"
        autoFocus
      />
      <PasswordInput
        {...form.required('password')}
        label={t('signIn.password')}
        size="md"
        mt="md"
        autoComplete="current-password"
        error={form.error ? messageOf(form.error, t) : undefined}
      />
      <Button
        type="submit"
        fullWidth
        size="md"
        mt="lg"
        loading={form.isBusy}
        rightSection={<IconArrowRight size={17} aria-hidden />}
      >
        {t('signIn.button')}
      </Button>
      <p className="faint small" style={{ margin: '14px 0 0' }}>
        <Link to="/password-forgotten">{t('signIn.forgotten')}</Link>
      </p>
      <hr className={classes.line} />
      <FirstStart />
    </form>
  )
}

/** The ways for the operator, who has no business yet. */
function FirstStart() {
  const { t } = useTranslation()
  return (
    <div className="row small" style={{ alignItems: 'flex-start', gap: 12 }}>
      <IconKey size={18} className="soft" style={{ flex: 'none' }} aria-hidden />
      <div>
        <b className="strong">{t('signIn.firstStart')}</b>{' '}
        <span className="soft">{t('signIn.firstStartHint')}</span>{' '}
        <Link to="/start" className="strong">
          {t('signIn.makeBusiness')}
        </Link>
        <br />
        <Link to="/operator" style={{ display: 'inline-block', lineHeight: '24px' }}>
          {t('signIn.operator')}
        </Link>
      </div>
    </div>
  )
}

/** Never redirects to another site. */
const isOwnPage = (next: string | undefined): next is string =>
  next !== undefined && /^\/(?!\/)/.test(next)

function messageOf(error: unknown, t: ReturnType<typeof useTranslation>['t']): string {
  if (error instanceof ConnectionError) return t('errors.offline')
  if (error instanceof ProblemError) {
    if (error.status === 401) return t('signIn.refused')
    if (error.status === 429) return t('signIn.tooMany', { count: error.retryAfterSeconds ?? 60 })
  }
  return error instanceof Error ? error.message : String(error)
}
