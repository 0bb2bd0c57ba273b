import { Button, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { changePassword } from '../api/passwords.ts'
import { useSession } from '../api/session.ts'
import { useForm } from '../components/form.ts'
import { PageHead } from '../shell/page-head.tsx'
import { FormState } from './settings-business.tsx'
import classes from './settings.module.css'
import { SettingsColumns } from './settings.tsx'

export function SettingsAccountPage() {
  const { t } = useTranslation()
  const { username, role } = useSession()
  const [changes, setChanges] = useState(0)
  return (
    <>
      <PageHead
        title={t('settings.account.title')}
        lede={t('settings.account.lede', { username, role: t(`roles.${role}`) })}
      />
      <SettingsColumns>
        <section className="card panel">
          <header>
            <h2>{t('settings.account.password')}</h2>
          </header>
          <PasswordForm key={changes} onDone={() => setChanges(changes + 1)} />
          <p role="status" className="soft small">
            {changes > 0 && t('settings.account.changed')}
          </p>
        </section>
      </SettingsColumns>
    </>
  )
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation()
  const { username } = useSession()
  const form = useForm(
    async (value) => {
      await changePassword({
        currentPassword: value('currentPassword'),
        newPassword: value('newPassword'),
      })
      onDone()
    },
    ['currentPassword', 'newPassword'],
  )
  return (
    <form className={classes.form} onSubmit={form.onSubmit}>
      <input type="hidden" name="username" autoComplete="username" value={username} readOnly />
      <PasswordInput
        name="currentPassword"
        label={t('settings.account.current')}
        autoComplete="current-password"
        required
        withAsterisk={false}
        error={form.faultAt('currentPassword')}
      />
      <PasswordInput
        name="newPassword"
        label={t('password.new')}
        description={t('password.rule')}
        autoComplete="new-password"
        required
        withAsterisk={false}
        error={form.faultAt('newPassword')}
      />
      <div className="row">
        <Button type="submit" loading={form.isBusy}>
          {t('settings.account.change')}
        </Button>
        <FormState message={form.message} isDone={false} />
      </div>
    </form>
  )
}
