import { Button, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { askForPasswordLink } from '../api/passwords.ts'
import { Bell } from '../components/bell.tsx'
import { useForm } from '../components/form.ts'
import classes from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.tsx'

/** Mails a link to choose a new password. */
export function PasswordForgottenPage() {
  const { t } = useTranslation()
  const form = useForm((value) => askForPasswordLink(value('emailAddress')), ['emailAddress'])
  return (
    <SignInFrame>
      <form className={classes.form} onSubmit={form.onSubmit}>
        <Bell size={44} />
        <h1 className={classes.title}>{t('password.forgottenTitle')}</h1>
        <p className="soft" style={{ margin: '0 0 24px' }}>
          {t('password.forgottenLede')}
        </p>
        <TextInput
          name="emailAddress"
          type="email"
          label={t('form.emailAddress')}
          size="md"
          autoComplete="email"
          autoFocus
          required
          withAsterisk={false}
          error={form.faultAt('emailAddress') ?? form.message}
        />
        <Button type="submit" fullWidth size="md" mt="lg" loading={form.isBusy}>
          {t('password.sendLink')}
        </Button>
        <p role="status" className="soft small">
          {form.isDone && t('password.linkSent')}
        </p>
        <hr className={classes.line} />
        <Link to="/sign-in" className="small">
          {t('password.backToSignIn')}
        </Link>
      </form>
    </SignInFrame>
  )
}
