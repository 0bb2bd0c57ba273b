import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { passwordLinkQuery, setPassword } from '../api/passwords.ts'
import { ProblemError } from '../../src/client/client.ts'
import { signIn } from '../api/session.ts'
import { Bell } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import { Failure, Loading } from '../components/states.tsx'
import classes from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.tsx'

/** The page that links in invitations and password mails open. */
export function SetPasswordPage() {
  const { t } = useTranslation()
  const { token = '' } = useSearch({ strict: false }) as { token?: string }
  const { data: link, error, refetch } = useQuery(passwordLinkQuery(token))
  const isOver = error instanceof ProblemError && [410, 422].includes(error.status)
  return (
    <SignInFrame>
      <div className={classes.form}>
        <Bell size={44} />
        <h1 className={classes.title}>{t('password.setTitle')}</h1>
        {link ? (
          <>
            <p className="soft" style={{ margin: '0 0 24px' }} dir="auto">
              <Trans
                i18nKey={link.purpose === 'INVITATION' ? 'password.invited' : 'password.newFor'}
                values={{ username: link.username, business: link.businessName }}
                components={{ b: <b className="strong" /> }}
              />
            </p>
            <SetPasswordForm token={token} username={link.username} />
          </>
        ) : isOver ? (
          <div role="alert">
            <p className="soft">{t('password.linkOver')}</p>
            <Link to="/password-forgotten">{t('password.askAgain')}</Link>
          </div>
        ) : error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading lines={3} />
        )}
      </div>
    </SignInFrame>
  )
}

function SetPasswordForm({ token, username }: { token: string; username: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm(
    async (value) => {
      const password = value('newPassword')
      await setPassword(token, password)
      await signIn({ username, password })
      await navigate({ to: '/' })
    },
    ['newPassword'],
  )
  return (
    <form onSubmit={form.onSubmit}>
      <input type="hidden" name="username" autoComplete="username" value={username} readOnly />
      <PasswordInput
        name="newPassword"
        label={t('password.new')}
        description={t('password.rule')}
        size="md"
        autoComplete="new-password"
        autoFocus
        required
        withAsterisk={false}
        error={form.faultAt('newPassword') ?? form.message}
      />
      <Button type="submit" fullWidth size="md" mt="lg" loading={form.isBusy}>
        {t('password.setAndSignIn')}
      </Button>
    </form>
  )
}
