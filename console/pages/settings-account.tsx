import { Button, PasswordInput, Radio } from '@mantine/core'
import { useState } from 'react'
import { chooseLanguage, useLanguage } from '../texts/texts.ts'
import { LANGUAGES, useTranslation, type Language } from '../texts/translate.ts'
import { changePassword } from '../api/passwords.ts'
import { readAgain, saveLanguage, useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useForm } from '../components/form.ts'
import { PageHead } from '../shell/page-head.tsx'
import { FormState } from '../components/form-state.tsx'
import classes from '../setup/settings.module.css'
import { SettingsColumns } from '../setup/settings-frame.tsx'

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
            <h2>{t('words.language')}</h2>
          </header>
          <LanguageField />
        </section>
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

/** Every language has its own name, so that everybody finds theirs. */
const nameOf = (language: Language) =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language

function LanguageField() {
  const { t } = useTranslation()
  const [error, setError] = useState<unknown>()
  const choose = async (language: Language) => {
    try {
      await saveLanguage(language)
      await chooseLanguage(language)
      // Not earlier: requests until then are in the former language.
      await readAgain()
    } catch (failed) {
      setError(failed)
    }
  }
  return (
    <>
      <Radio.Group
        aria-label={t('words.language')}
        description={t('settings.account.languageHint')}
        value={useLanguage()}
        onChange={(value) => void choose(value as Language)}
      >
        <div className="column" style={{ gap: 10, marginTop: 10 }}>
          {LANGUAGES.map((language) => (
            <Radio
              key={language}
              value={language}
              label={<span lang={language}>{nameOf(language)}</span>}
            />
          ))}
        </div>
      </Radio.Group>
      {error !== undefined && (
        <p role="alert" className="clay small">
          <ErrorMessage error={error} />
        </p>
      )}
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
        {...form.required('currentPassword')}
        label={t('settings.account.current')}
        autoComplete="current-password"
      />
      <PasswordInput
        {...form.required('newPassword')}
        label={t('password.new')}
        description={t('password.rule')}
        autoComplete="new-password"
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
