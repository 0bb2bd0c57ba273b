import { Radio } from '@mantine/core'
import { useState } from 'react'
import { deleteFeed, type Feed } from '../api/feeds.ts'
import { useForm } from '../components/form.ts'
import { SubmitRow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'

/** Deletes a feed; its appointments are kept as own ones, or the upcoming ones are deleted. */
export function DeleteForm({ feed, onDone }: { feed: Feed; onDone: () => void }) {
  const { t } = useTranslation()
  const [choice, setChoice] = useState<'keep' | 'remove'>()
  const form = useForm(async () => {
    if (!choice) return
    await deleteFeed(feed.feedId, choice)
    onDone()
  })
  return (
    <form onSubmit={form.onSubmit} className={settings.form}>
      <Radio.Group
        label={t('settings.feeds.removeQuestion')}
        value={choice ?? null}
        onChange={(value) => setChoice(value as 'keep' | 'remove')}
      >
        <div className="column" style={{ marginTop: 8 }}>
          <Radio
            value="keep"
            label={t('words.keepThem')}
            description={t('settings.feeds.removeKeepHint')}
          />
          <Radio
            value="remove"
            label={t('settings.feeds.removeAll')}
            description={t('settings.feeds.removeAllHint')}
          />
        </div>
      </Radio.Group>
      <SubmitRow
        label={t('settings.feeds.removeConfirm')}
        form={form}
        disabled={!choice}
        color="clay"
      />
    </form>
  )
}
