import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { SetupItem, Stored } from '../api/setup-objects.ts'
import { Conflict } from '../components/conflict.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { Failure, Loading } from '../components/states.tsx'
import classes from '../pages/settings.module.css'
import { SubmitRow } from '../components/windows.tsx'
import { differences, mergeDrafts, type Words } from './changes.ts'
import { isConflict, useSetupForm, type FormOptions, type SetupForm } from './setup-form-state.ts'

export type FormProps<Item extends SetupItem, Draft extends object> = Omit<
  FormOptions<Item, Draft>,
  'opened'
> & {
  fields: (form: SetupForm<Draft>) => ReactNode
  /** The text keys of the names of the fields begin with it. */
  labels?: string
  /** Writes the values that are not a text or a number. */
  valueInWords?: (name: keyof Draft, draft: Draft) => string | undefined
  /** False for a draft whose fault the fields show before it is sent. */
  canSave?: (draft: Draft) => boolean
}

type OpenedProps<Item extends SetupItem, Draft extends object> = FormProps<Item, Draft> & {
  item: Item
}

/** Reads the object first: its version tells whether another user saved it meanwhile. */
export function StoredForm<Item extends SetupItem, Draft extends object>({
  item,
  ...props
}: OpenedProps<Item, Draft>) {
  const { data, error, refetch } = useQuery(props.kind.oneQuery(item))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  return <SetupFormView {...props} opened={data} />
}

export function SetupFormView<Item extends SetupItem, Draft extends object>(
  props: FormProps<Item, Draft> & { opened: Stored<Item> | undefined },
) {
  const { t } = useTranslation()
  const { fields, draftOf, labels = 'settings.setup.fields', valueInWords, canSave } = props
  const { form, base, theirs, isBusy, error, onSave, show } = useSetupForm(props)
  const words: Words<Draft> = {
    label: (name) => t(`${labels}.${String(name)}`),
    value: (name, draft) => valueInWords?.(name, draft) ?? String(draft[name] ?? '–'),
  }
  return (
    <form
      className={classes.form}
      style={{ maxWidth: 'none' }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      {theirs && (
        <Conflict
          theirs={theirs.item}
          theirChanges={differences(base, draftOf(theirs.item), words)}
          myChanges={differences(base, form.draft, words)}
          replaced={differences(
            draftOf(theirs.item),
            mergeDrafts(base, form.draft, draftOf(theirs.item)),
            words,
          )}
          onTakeTheirs={() => show(theirs, draftOf(theirs.item))}
          onKeepMine={() => show(theirs, mergeDrafts(base, form.draft, draftOf(theirs.item)))}
        />
      )}
      {fields(form)}
      <SubmitRow
        label={t('form.save')}
        disabled={theirs !== undefined || canSave?.(form.draft) === false}
        form={{
          isBusy,
          message: error ? (
            isConflict(error) ? (
              t('editor.conflict.unread')
            ) : (
              <ErrorMessage error={error} />
            )
          ) : undefined,
        }}
      />
    </form>
  )
}
