import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import { changesOf, mergeVersions } from './changes.ts'
import { editorOf, recordQuery, retain, type EditorOptions } from './editor.ts'
import type { RecordId, RecordKind, Stored } from './kind.ts'

export type Fault = ProblemError['errors'][number]

/** What a field of the form shows, and how it changes. */
export type At<Value> = { value: Value; error: string; onChange: (value: Value) => void }

/** The part of a record that the fields of a form need. */
export type Form<Draft extends object> = {
  draft: Draft
  faultsOf: (name: keyof Draft & string) => Fault[]
  at: <Name extends keyof Draft & string>(name: Name) => At<Draft[Name]>
}

type Options<Item, Draft extends object> = EditorOptions<Item, Draft> & {
  kind: RecordKind<Item, Draft>
  /** Undefined for a new record. */
  id: RecordId | undefined
  isEnabled?: boolean
}

export type EditedRecord<Item, Draft extends object> = ReturnType<typeof useRecord<Item, Draft>>

/**
 * Edits a stored record, or a new one: the only way in which pages do. The changes belong to the
 * record, so a page that shows another record has none of them. Leaving the record asks first.
 */
export function useRecord<Item, Draft extends object>({
  kind,
  id,
  isEnabled = true,
  suggested,
  isShownAt,
  onDiscarded,
  onSaved,
}: Options<Item, Draft>) {
  const query = useQuery({
    ...recordQuery(kind, id ?? ''),
    enabled: isEnabled && id !== undefined,
  })
  // A kind never changes while its page is open, but pages may build its object in each render.
  const editor = useMemo(() => editorOf(kind, id), [kind.queryKey.join(), id])
  const state = useSyncExternalStore(editor.subscribe, editor.state)
  editor.use({ suggested, isShownAt, onDiscarded, onSaved })
  useEffect(() => (isEnabled ? retain(editor) : undefined), [editor, isEnabled])
  useEffect(() => {
    if (query.data) editor.keepBase()
  }, [editor, query.data])

  const base = useMemo(() => editor.base(), [editor, state, query.data])
  const draft = useMemo(() => editor.draft(), [editor, state, query.data, suggested])
  const { theirs, error } = state
  const faults = error instanceof ProblemError ? error.errors : []
  /** A field that was changed since loses its faults. */
  const faultsOf = (name: keyof Draft & string) =>
    draft[name] === state.sent?.[name]
      ? faults.filter(({ pointer }) => propertyOf(pointer) === name)
      : []
  /** Another user saved the record meanwhile: continues with that version, or with both. */
  const conflictOf = (version: Stored<Item>) => {
    const theirDraft = kind.draftOf(version.item)
    const { merged } = mergeVersions(kind, { base, mine: draft, theirs: theirDraft })
    return {
      item: version.item,
      theirDraft,
      merged,
      takeTheirs: () => editor.restart(version, {}),
      keepMine: () => editor.restart(version, changesOf(theirDraft, merged)),
    }
  }
  const names = Object.keys(base)
  const areAtFields =
    faults.length > 0 && faults.every(({ pointer }) => names.includes(propertyOf(pointer)))
  return {
    id,
    /** The record as stored; undefined while it is new or loading. */
    item: query.data?.item,
    /** The fields can be shown: the record is read, or it is new. */
    isReady: id === undefined || (query.data !== undefined && query.isFetchedAfterMount),
    readError: query.data ? null : query.error,
    readAgain: () => void query.refetch(),
    /** The fields of the version that the changes apply to. */
    base,
    draft,
    changes: useMemo(() => changesOf(base, draft), [base, draft]),
    /** How many settings the user has changed. */
    count: editor.count(),
    change: editor.change,
    /** Like `change`, for fields that keep their own text. */
    replace: (change: Partial<Draft>) => {
      editor.change(change)
      editor.set({ revision: editor.state().revision + 1 })
    },
    discard: editor.discard,
    save: editor.save,
    isSaving: state.isSaving === true,
    isSaved: state.isSaved === true,
    error,
    /** The error that no field shows. */
    formError: areAtFields ? undefined : error,
    form: {
      draft,
      faultsOf,
      at: (name) => ({
        value: draft[name],
        error: faultsOf(name)
          .map(({ detail }) => detail)
          .join('; '),
        onChange: (value) => editor.change({ [name]: value } as unknown as Partial<Draft>),
      }),
    } satisfies Form<Draft> as Form<Draft>,
    conflict: theirs && conflictOf(theirs),
    theirsMissing: state.theirsMissing,
    revision: state.revision,
  }
}

/** `/workingHours/0/to` → `workingHours` */
const propertyOf = (pointer: string) => pointer.split(/[/?]/)[1] ?? ''
