import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ProblemError } from '../../src/client/client.ts'
import { faultsIn, propertyOf } from '../components/faults.ts'
import { changesOf, mergeVersions } from './changes.ts'
import { editorOf, recordQuery, retain, type Editor, type EditorOptions } from './editor.ts'
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
export function useRecord<Item, Draft extends object>(options: Options<Item, Draft>) {
  const { kind, id } = options
  const { query, editor, state, base, draft } = useEditor(options)
  const { theirs, error } = state
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
    formError: areAtFields(error, base) ? undefined : error,
    form: formOf(editor, draft),
    conflict: theirs && conflictOf(editor, kind, theirs),
    theirsMissing: state.theirsMissing,
    revision: state.revision,
  }
}

/** The editor of the record while the page shows it, and the record as read. */
function useEditor<Item, Draft extends object>({
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
  return { query, editor, state, base, draft }
}

/** Whether a field shows each fault of the error. */
function areAtFields(error: unknown, fields: object) {
  const faults = faultsIn(error)
  const names = Object.keys(fields)
  return faults.length > 0 && faults.every(({ pointer }) => names.includes(propertyOf(pointer)))
}

function formOf<Item, Draft extends object>(
  editor: Editor<Item, Draft>,
  draft: Draft,
): Form<Draft> {
  const { error, sent } = editor.state()
  /** A field that was changed since loses its faults. */
  const faultsOf = (name: keyof Draft & string) =>
    draft[name] === sent?.[name]
      ? faultsIn(error).filter(({ pointer }) => propertyOf(pointer) === name)
      : []
  return {
    draft,
    faultsOf,
    at: (name) => ({
      value: draft[name],
      error: faultsOf(name)
        .map(({ detail }) => detail)
        .join('; '),
      onChange: (value) => editor.change({ [name]: value } as unknown as Partial<Draft>),
    }),
  }
}

/** Another user saved the record meanwhile: continues with that version, or with both. */
function conflictOf<Item, Draft extends object>(
  editor: Editor<Item, Draft>,
  kind: RecordKind<Item, Draft>,
  version: Stored<Item>,
) {
  const theirDraft = kind.draftOf(version.item)
  const versions = { base: editor.base(), mine: editor.draft(), theirs: theirDraft }
  const { merged } = mergeVersions(kind, versions)
  return {
    item: version.item,
    theirDraft,
    merged,
    takeTheirs: () => editor.restart(version, {}),
    keepMine: () => editor.restart(version, changesOf(theirDraft, merged)),
  }
}
