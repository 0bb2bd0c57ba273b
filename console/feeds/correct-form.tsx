import { Button, Checkbox } from '@mantine/core'
import { useState } from 'react'
import { correctEntry, type Feed, type FeedEntry } from '../api/feeds.ts'
import { ClientSelect } from '../clients/client-select.tsx'
import { useForm } from '../components/form.ts'
import { SubmitRow } from '../components/windows.tsx'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { DefaultFields } from './default-fields.tsx'

type Props = { feed: Feed; entry: FeedEntry; onDone: () => void }

/** Decides about one entry; what is empty stays as the source, rules, matches and defaults say. */
export function CorrectForm({ feed, entry, onDone }: Props) {
  const { t } = useTranslation()
  const { entryId } = entry
  const [correction, setCorrection] = useState(entry.correction ?? {})
  const { clientId, professionalId, reasonId, locationId, skip } = correction
  const form = useForm(async () => {
    const given = Object.entries(correction).filter(([, value]) => value != null)
    const isEmpty = given.length === 0
    // Only `skip: false` lets an entry in that a rule leaves out.
    const kept = entry.reasonCode === 'rule' && skip !== true ? { skip: false } : {}
    const decided = isEmpty ? null : { ...Object.fromEntries(given), ...kept }
    await correctEntry(feed.feedId, entryId, decided)
    onDone()
  })
  const faultOf = (field: string) => form.faultAt(field.replace('defaults', 'correction'))
  return (
    <>
      <form onSubmit={form.onSubmit} className={settings.form}>
        <p className="soft small" style={{ margin: 0 }}>
          <span dir="auto">{entry.title ?? entry.key}</span>. {t('settings.feeds.correctHint')}
        </p>
        <Checkbox
          label={t('settings.feeds.notAppointment')}
          checked={skip === true}
          onChange={(event) =>
            setCorrection({ ...correction, skip: event.currentTarget.checked ? true : null })
          }
        />
        {skip !== true && (
          <>
            <ClientSelect
              label={t('settings.feeds.fields.clientId')}
              value={clientId ?? undefined}
              error={form.faultAt('correction/clientId')}
              onChange={(id) => setCorrection({ ...correction, clientId: id })}
            />
            <DefaultFields
              value={{
                professionalId: professionalId ?? null,
                reasonId: reasonId ?? null,
                locationId: locationId ?? null,
              }}
              faultOf={faultOf}
              onChange={(more) => setCorrection({ ...correction, ...more })}
            />
          </>
        )}
        <SubmitRow label={t('words.apply')} form={form} />
      </form>
      {entry.correction !== null && <UndoForm feed={feed} entry={entry} onDone={onDone} />}
    </>
  )
}

/** Removes the correction. */
function UndoForm({ feed, entry, onDone }: Props) {
  const { t } = useTranslation()
  const form = useForm(async () => {
    await correctEntry(feed.feedId, entry.entryId, null)
    onDone()
  })
  return (
    <form onSubmit={form.onSubmit} style={{ marginTop: 12 }}>
      <Button type="submit" variant="default" size="compact-sm" loading={form.isBusy}>
        {t('settings.feeds.undoCorrection')}
      </Button>
      <span role="alert" className="small clay">
        {form.message}
      </span>
    </form>
  )
}
