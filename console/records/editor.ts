import { queryOptions } from '@tanstack/react-query'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'
import { queryClient } from '../api/query-client.ts'
import { changesOf, countChanges, mergeVersions } from './changes.ts'
import type { RecordId, RecordKind, Stored } from './kind.ts'

/** A location of the router, as far as it decides whether a record stays on the page. */
export type Place = { pathname: string; search: object }

/** What a user has changed of one record, and how far saving it is. */
export type EditorState<Item, Draft> = {
  /** The version that the changes began with. Undefined: nothing is changed, or the record is new. */
  base?: Stored<Item> | undefined
  /** The fields that the user has touched. */
  typed: Partial<Draft>
  /** The draft of the last save. */
  sent?: Draft | undefined
  isSaving?: boolean
  /** The last save succeeded, and nothing is changed since. */
  isSaved?: boolean
  error?: unknown
  /** What another user saved meanwhile. */
  theirs?: Stored<Item> | undefined
  /** Why their version is not shown: it could not be read, or it was deleted. */
  theirsMissing?: 'unread' | 'deleted' | undefined
  /** Counts replaced drafts. Fields that keep their own text use it as their key. */
  revision: number
}

export type EditorOptions<Item, Draft> = {
  /** Values that a new record most likely has. */
  suggested?: Partial<Draft> | undefined
  /** Whether the record is still shown at another location. Default: on the same path. */
  isShownAt?: ((place: Place) => boolean) | undefined
  /** After the user has given up the changes. */
  onDiscarded?: (() => void) | undefined
  /** `isComplete`: nothing was typed while the save ran. */
  onSaved?: ((item: Item, isComplete: boolean, sent: Draft) => void) | undefined
}

export const recordQuery = <Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  id: RecordId,
) =>
  queryOptions({
    queryKey: [...kind.queryKey, 'record', id],
    // A form begins with a fresh version. After that only live updates replace an unchanged record.
    refetchOnMount: 'always',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => kind.read(id, signal),
  })

/** The changes of a record: the state, and the draft that follows from it and from the record as read. */
function createEdit<Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  id: RecordId | undefined,
) {
  let state: EditorState<Item, Draft> = { typed: {}, revision: 0 }
  const listeners = new Set<() => void>()
  const set = (change: Partial<EditorState<Item, Draft>>) => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
    notifyAll()
  }
  const read = () =>
    id === undefined ? undefined : queryClient.getQueryData<Stored<Item>>(queryKeyOf(kind, id))
  const base = () => kind.draftOf((state.base ?? read())?.item)
  const edit = {
    kind,
    id,
    options: {} as EditorOptions<Item, Draft>,
    /** The same for every attempt to create the record, until the service has answered. */
    idempotencyKey: crypto.randomUUID() as string,
    state: () => state,
    set,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    read,
    base,
    /** The draft before the user typed anything. */
    start: (): Draft => (id === undefined ? { ...base(), ...edit.options.suggested } : base()),
    draft: (): Draft => ({ ...edit.start(), ...state.typed }),
    change: (typed: Partial<Draft>) =>
      set({
        typed: { ...state.typed, ...typed },
        base: state.base ?? read(),
        isSaved: false,
      }),
    /** Continues with this version and these changes. */
    restart: (next: Stored<Item> | undefined, typed: Partial<Draft>) =>
      set({
        base: next,
        typed,
        sent: undefined,
        error: undefined,
        theirs: undefined,
        theirsMissing: undefined,
        revision: state.revision + 1,
      }),
  }
  return edit
}

type Edit<Item, Draft extends object> = ReturnType<typeof createEdit<Item, Draft>>

async function save<Item, Draft extends object>(edit: Edit<Item, Draft>) {
  const { kind, id, idempotencyKey } = edit
  const state = edit.state()
  if (state.isSaving || state.theirs) return
  const sent = edit.draft()
  const stored = state.base ?? edit.read()
  const base = edit.base()
  edit.set({ isSaving: true, isSaved: false, sent, error: undefined, theirsMissing: undefined })
  try {
    const saved = await kind.save({
      id,
      draft: sent,
      base,
      changes: changesOf(base, sent),
      options:
        id === undefined ? { ifMatch: null, idempotencyKey } : { ifMatch: stored?.etag ?? null },
    })
    edit.idempotencyKey = crypto.randomUUID()
    accept(edit, saved, sent)
  } catch (error) {
    // Without an answer the record may be stored: the next attempt must not store it twice.
    if (!(error instanceof ConnectionError)) edit.idempotencyKey = crypto.randomUUID()
    await refuse(edit, error, stored)
  }
}

/** Continues with the saved version. Fields that were typed while the save ran stay unsaved. */
function accept<Item, Draft extends object>(
  edit: Edit<Item, Draft>,
  saved: Stored<Item>,
  sent: Draft,
) {
  const { kind } = edit
  const savedId = kind.idOf(saved.item)
  const typed = changesOf(sent, edit.draft())
  const isComplete = Object.keys(typed).length === 0
  const isRewritten = Object.keys(changesOf(kind.draftOf(saved.item), sent)).length > 0
  queryClient.setQueryData(queryKeyOf(kind, savedId), saved)
  const end = { base: isComplete ? undefined : saved, typed, isSaved: isComplete }
  const isNew = edit.id === undefined
  edit.set({
    ...(isNew ? { base: undefined, typed: {}, isSaved: isComplete } : end),
    isSaving: false,
    sent: undefined,
    // The service may have stored another text than the fields show.
    revision: edit.state().revision + (isComplete && !isNew && isRewritten ? 1 : 0),
  })
  if (isNew && !isComplete) editorOf(kind, savedId).set(end)
  edit.options.onSaved?.(saved.item, isComplete, sent)
}

/** Shows why nothing was saved. What another user saved meanwhile is merged, if the changes allow it. */
async function refuse<Item, Draft extends object>(
  edit: Edit<Item, Draft>,
  error: unknown,
  stored: Stored<Item> | undefined,
) {
  const { kind, id } = edit
  const isStale = error instanceof ProblemError && error.status === 412
  if (!isStale || id === undefined) return edit.set({ isSaving: false, error })
  const { theirs, theirsMissing } = await readTheirs(kind, id)
  if (!theirs) {
    return edit.set({
      isSaving: false,
      error,
      theirsMissing,
      // Saving without a version restores a deleted record.
      ...(theirsMissing === 'deleted' && stored && { base: { ...stored, etag: null } }),
    })
  }
  const versions = { base: edit.base(), mine: edit.draft(), theirs: kind.draftOf(theirs.item) }
  const { merged, isSaved, isConflict } = mergeVersions(kind, versions)
  // The same draft was saved before, but the answer was lost.
  if (isSaved) return accept(edit, theirs, versions.mine)
  edit.set({ isSaving: false })
  if (isConflict || kind.hasEffects) return edit.set({ theirs })
  edit.restart(theirs, changesOf(versions.theirs, merged))
  await save(edit)
}

async function readTheirs<Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  id: RecordId,
): Promise<Pick<EditorState<Item, Draft>, 'theirs' | 'theirsMissing'>> {
  try {
    return { theirs: await kind.read(id) }
  } catch (error) {
    const isDeleted = error instanceof ProblemError && error.status === 404
    return { theirsMissing: isDeleted ? 'deleted' : 'unread' }
  }
}

export type Editor<Item, Draft extends object> = ReturnType<typeof createEditor<Item, Draft>>

/** Edits one record. It outlives the components that show it until the last one releases it. */
function createEditor<Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  id: RecordId | undefined,
) {
  const edit = createEdit(kind, id)
  const { state, set, read, start, draft, restart } = edit
  const isTyped = () => Object.keys(state().typed).length > 0
  return {
    key: keyOf(kind, id),
    /** How many components show it. */
    users: 0,
    subscribe: edit.subscribe,
    state,
    set,
    use: (options: EditorOptions<Item, Draft>) => {
      edit.options = options
    },
    draft,
    base: edit.base,
    start,
    change: edit.change,
    restart,
    save: () => void save(edit),
    /** Keeps the version that the changes apply to, once it is read. */
    keepBase: () => {
      if (!state().base && isTyped()) set({ base: read() })
    },
    discard: () => {
      const hasChanges = isTyped()
      restart(undefined, {})
      if (hasChanges) edit.options.onDiscarded?.()
    },
    count: () => countChanges(start(), draft(), kind.settings),
    isShownAt: (from: Place, to: Place) =>
      edit.options.isShownAt ? edit.options.isShownAt(to) : from.pathname === to.pathname,
  }
}

const queryKeyOf = <Item, Draft extends object>(kind: RecordKind<Item, Draft>, id: RecordId) =>
  recordQuery(kind, id).queryKey

const keyOf = <Item, Draft extends object>(
  { queryKey }: RecordKind<Item, Draft>,
  id: RecordId | undefined,
) => JSON.stringify([queryKey, id ?? 'new'])

/** What all editors have in common, whatever they edit. */
type AnyEditor = Pick<
  Editor<unknown, object>,
  'key' | 'users' | 'count' | 'isShownAt' | 'discard' | 'state'
>

const editors = new Map<string, AnyEditor>()
const watchers = new Set<() => void>()

const notifyAll = () => {
  for (const watcher of watchers) watcher()
}

/** The editor of a record; the same one for every caller while it is in use. */
export function editorOf<Item, Draft extends object>(
  kind: RecordKind<Item, Draft>,
  id: RecordId | undefined,
): Editor<Item, Draft> {
  const key = keyOf(kind, id)
  const known = editors.get(key) as Editor<Item, Draft> | undefined
  if (known) return known
  const editor = createEditor(kind, id)
  editors.set(key, editor as AnyEditor)
  return editor
}

/** Keeps the editor until the returned function is called and nothing else uses it. */
export function retain(editor: AnyEditor) {
  editors.set(editor.key, editor)
  editor.users += 1
  notifyAll()
  return () => {
    editor.users -= 1
    // React may show the same record again at once.
    setTimeout(() => {
      if (editor.users > 0 || editors.get(editor.key) !== editor) return
      editors.delete(editor.key)
      notifyAll()
    })
  }
}

/** The records that the user leaves: those that a location does not show, or one kind. */
export type Leaving = { from: Place; to: Place } | { kind: { queryKey: readonly string[] } }

/** The editors with unsaved changes of the records that the user leaves; of all by default. */
export const unsavedEditors = (leaving?: Leaving) =>
  [...editors.values()].filter((editor) => {
    if (editor.users === 0 || editor.count() === 0) return false
    if (!leaving) return true
    return 'kind' in leaving
      ? editor.key.startsWith(JSON.stringify([leaving.kind.queryKey]).slice(0, -1))
      : !editor.isShownAt(leaving.from, leaving.to)
  })

export const isEditing = () => [...editors.values()].some(({ users }) => users > 0)

export const watchEditors = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}
