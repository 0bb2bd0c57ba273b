import type { ReactNode } from 'react'
import { textOr, useTranslation } from '../texts/translate.ts'
import type { SetupItem } from '../api/setup-objects.ts'
import { SubmitRow } from '../components/windows.tsx'
import { Failure, Loading } from '../components/states.tsx'
import classes from './settings.module.css'
import { differencesOf, type Words } from '../records/changes.ts'
import type { RecordId, RecordKind } from '../records/kind.ts'
import { RecordConflict } from '../records/conflict.tsx'
import { useEffectOfSaving } from '../records/effect.tsx'
import { SaveError } from '../records/save-error.tsx'
import { useRecord, type Form } from '../records/use-record.ts'

export type FormProps<Item extends SetupItem, Draft extends object> = {
  kind: RecordKind<Item, Draft>
  /** Values that a new one most likely has. */
  suggested?: Partial<Draft> | undefined
  fields: (form: Form<Draft>) => ReactNode
  /** The text keys of the names of the fields begin with it. */
  labels?: string
  /** Writes the values that are not a text or a number. */
  valueInWords?: (name: keyof Draft, draft: Draft) => string | undefined
  /** False for a draft whose fault the fields show before it is sent. */
  canSave?: (draft: Draft) => boolean
  onSaved: (item: Item) => void
}

/** The form of one object; without an id of a new one. */
export function SetupForm<Item extends SetupItem, Draft extends object>({
  id,
  ...props
}: FormProps<Item, Draft> & { id?: RecordId | undefined }) {
  const { t } = useTranslation()
  const { kind, fields, labels = 'settings.setup.fields', valueInWords, canSave } = props
  const record = useRecord({
    kind,
    id,
    suggested: props.suggested,
    // The window stays open if something was typed while the save ran.
    onSaved: (saved, isComplete) => isComplete && props.onSaved(saved),
  })
  const effect = useEffectOfSaving(kind, record)
  if (record.readError) return <Failure error={record.readError} onRetry={record.readAgain} />
  if (!record.isReady) return <Loading />
  const words: Words<Draft> = {
    label: (name) => textOr(`${labels}.${String(name)}`, String(name)),
    value: (name, draft) => valueInWords?.(name, draft) ?? String(draft[name] ?? ''),
  }
  return (
    <form
      className={classes.form}
      style={{ maxWidth: 'none' }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        record.save()
      }}
    >
      <RecordConflict
        record={record}
        modifiedOf={(one) => one}
        differences={(from, to) => differencesOf(from, to, words)}
      />
      {fields(record.form)}
      {effect.shown}
      <SubmitRow
        label={t('words.save')}
        disabled={
          effect.isWaiting || record.conflict !== undefined || canSave?.(record.draft) === false
        }
        form={{ isBusy: record.isSaving, message: <SaveError record={record} /> }}
      />
    </form>
  )
}
