import { Button, InputLabel } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import { clientKind, type Client, type ClientFields } from '../api/clients.ts'
import { LanguageSelect } from '../components/language-select.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { TagFields } from '../components/tag-fields.tsx'
import { tagsInWords } from '../components/tags.ts'
import { TimeZoneSelect } from '../components/time-zone-select.tsx'
import { differencesOf } from '../records/changes.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { useEffectOfSaving } from '../records/effect.tsx'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type Form } from '../records/use-record.ts'
import { LineField } from '../setup/fields.tsx'
import classes from './clients.module.css'

type Props = {
  /** Undefined for a new client. */
  clientId?: number
  /** Values that a new client most likely has. */
  suggested?: Partial<ClientFields>
  onSaved: (saved: Client) => void
  onClose: () => void
}

const LABELS = {
  firstName: 'client.firstName',
  lastName: 'client.lastName',
  emailAddress: 'clients.emailAddress',
  phone: 'words.phone',
  language: 'words.language',
  timeZone: 'client.timeZone',
  tags: 'clients.tags',
} as const satisfies Record<keyof ClientFields, string>

/** The form of a client; errors are shown at their fields. */
export function ClientForm({ clientId, suggested, onSaved, onClose }: Props) {
  const { t } = useTranslation()
  const record = useRecord({
    kind: clientKind,
    id: clientId,
    suggested,
    onSaved: (saved, isComplete) => isComplete && onSaved(saved),
  })
  const effect = useEffectOfSaving(clientKind, record)
  if (record.readError) return <Failure error={record.readError} onRetry={record.readAgain} />
  if (!record.isReady) return <Loading />
  return (
    <form
      className="column"
      style={{ gap: 12 }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        record.save()
      }}
    >
      <RecordConflict
        record={record}
        modifiedOf={(client) => client}
        differences={(from, to) =>
          differencesOf(from, to, {
            label: (name) => t(LABELS[name]),
            value: (name, draft) =>
              name === 'tags' ? tagsInWords(draft.tags) : (draft[name] ?? ''),
          })
        }
      />
      <Fields key={record.revision} form={record.form} />
      {effect.shown}
      <div role="alert" className="clay small">
        <SaveError record={record} />
      </div>
      <div className="row">
        <Button
          type="submit"
          loading={record.isSaving}
          disabled={effect.isWaiting || record.conflict !== undefined}
        >
          {t('client.save')}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            record.discard()
            onClose()
          }}
        >
          {t('client.cancel')}
        </Button>
      </div>
    </form>
  )
}

function Fields({ form: { at } }: { form: Form<ClientFields> }) {
  const { t } = useTranslation()
  const tags = at('tags')
  return (
    <div className={classes.fields}>
      <LineField {...at('firstName')} label={t(LABELS.firstName)} required />
      <LineField {...at('lastName')} label={t(LABELS.lastName)} required />
      <LineField {...at('emailAddress')} label={t(LABELS.emailAddress)} type="email" />
      <LineField {...at('phone')} label={t(LABELS.phone)} type="tel" />
      <LanguageSelect
        {...at('language')}
        label={t(LABELS.language)}
        description={t('client.languageHint')}
      />
      <TimeZoneSelect
        {...at('timeZone')}
        label={t(LABELS.timeZone)}
        description={t('client.timeZoneHint')}
        clearable
        clearButtonProps={{ 'aria-label': t('settings.setup.clearTimeZone') }}
      />
      <div role="group" aria-labelledby="client-tags">
        <InputLabel id="client-tags">{t(LABELS.tags)}</InputLabel>
        <TagFields value={tags.value} onChange={tags.onChange} hint={t('client.tagsHint')} />
        <div className="clay small">{tags.error}</div>
      </div>
    </div>
  )
}
