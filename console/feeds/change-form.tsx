import { PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { saveFeed, type Feed } from '../api/feeds.ts'
import { useForm } from '../components/form.ts'
import { SubmitRow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { DefaultFields, type Defaults } from './default-fields.tsx'
import { isRead, secretLabel } from './words.ts'

/** Changes the name, the credential and the defaults. */
export function ChangeForm({ feed, onDone }: { feed: Feed; onDone: () => void }) {
  const { t } = useTranslation()
  const { feedId, source } = feed
  const [name, setName] = useState(feed.name)
  const [secret, setSecret] = useState('')
  const [defaults, setDefaults] = useState<Defaults>(feed.defaults)
  const form = useForm(async () => {
    await saveFeed({ feedId, name, defaults, ...(secret !== '' && { secret: secret.trim() }) })
    onDone()
  })
  return (
    <form onSubmit={form.onSubmit} className={settings.form}>
      <TextInput
        label={t('words.name')}
        required
        withAsterisk={false}
        value={name}
        error={form.faultAt('name')}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {isRead(feed) && (
        <PasswordInput
          label={t(secretLabel(source))}
          description={t('settings.feeds.secretStays')}
          autoComplete="new-password"
          value={secret}
          error={form.faultAt('secret')}
          visibilityToggleButtonProps={{ 'aria-label': t('settings.feeds.showSecret') }}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
      )}
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.defaultsHint')} {t('settings.feeds.changeHint')}
      </p>
      <DefaultFields
        value={defaults}
        faultOf={(field) => form.faultAt(field)}
        onChange={setDefaults}
      />
      <SubmitRow label={t('words.save')} form={form} />
    </form>
  )
}
