import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import { readAutomation, saveAutomation, type StoredAutomation } from '../api/automation.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { bodyOf, differences, draftOf, mergeDrafts, newDraft, type Draft } from './draft.ts'
import type { Word } from './sentence.ts'

/** `on`: a recipe created it paused; the editor opens with the switch on, ready to save. */
export type EditorSearch = { on?: boolean }

export type EditorState = ReturnType<typeof useEditorState>

/** The automation as stored, the draft of the user, and saving it. */
export function useEditorState(setup: Setup, opened: StoredAutomation | undefined) {
  const { on } = useSearch({ strict: false }) as EditorSearch
  const { business, functions } = useSession()
  const canEdit = functions.includes('EDIT_DEFINITIONS')
  /** The stored automation; undefined while it is new. */
  const [stored, setStored] = useState(opened)
  const base = useMemo(() => (stored ? draftOf(stored) : undefined), [stored])
  const start = useMemo(() => base ?? newDraft(), [base])
  const [draft, setDraft] = useState<Draft>(() => ({
    ...start,
    ...(on && canEdit ? { active: true } : {}),
  }))
  const [word, setWord] = useState<Word>()
  const changes = useMemo(() => differences(start, draft, setup), [start, draft, setup])
  const body = useMemo(() => bodyOf(draft, base, business.businessId), [draft, base, business])
  const show = (saved: StoredAutomation) => {
    setStored(saved)
    setDraft(draftOf(saved))
  }
  const conflict = useConflict({ setup, base, draft, show, setStored })
  const openSaved = useOpenSaved()
  const save = useMutation({
    mutationFn: () => saveAutomation(body, stored?.etag ?? null),
    onMutate: conflict.clear,
    onSuccess: (saved) => {
      show(saved)
      setWord(undefined)
      if (!stored || on) openSaved(saved)
    },
    onError: async (error) => {
      if (stored && isStatus(error, 412)) await conflict.read(stored.definition.eventDefnId)
    },
  })
  const isUnsaved = changes.length > 0
  return {
    stored,
    draft,
    setDraft,
    /** The word of the sentence whose drawer is open. */
    word,
    setWord,
    changes,
    isUnsaved,
    body,
    canEdit,
    canSave: canEdit && isUnsaved && !save.isPending && !conflict.theirs,
    save,
    conflict,
    discard: () => {
      setDraft(start)
      setWord(undefined)
      save.reset()
    },
    takeTheirs: (theirs: StoredAutomation) => {
      show(theirs)
      conflict.clear()
      save.reset()
    },
    keepMine: (theirs: StoredAutomation, merged: Draft) => {
      show(theirs)
      setDraft(merged)
      conflict.clear()
      save.reset()
    },
  }
}

type ConflictOptions = {
  setup: Setup
  base: Draft | undefined
  draft: Draft
  show: (saved: StoredAutomation) => void
  setStored: (change: (known: StoredAutomation | undefined) => StoredAutomation | undefined) => void
}

/** What another user saved while the automation was edited. */
function useConflict({ setup, base, draft, show, setStored }: ConflictOptions) {
  const [theirs, setTheirs] = useState<StoredAutomation>()
  const [hasFailed, setFailed] = useState(false)
  return {
    base,
    theirs,
    /** Their version could not be read. */
    hasFailed,
    clear: () => {
      setTheirs(undefined)
      setFailed(false)
    },
    read: async (eventDefnId: number) => {
      try {
        const other = await readAutomation(eventDefnId)
        const theirDraft = draftOf(other)
        const isSaved =
          base && differences(theirDraft, mergeDrafts(base, draft, theirDraft), setup).length === 0
        // This draft was saved before, but the answer was lost.
        if (isSaved) show(other)
        else setTheirs(other)
      } catch (error) {
        // It was deleted in the meantime: saving without a version restores it.
        if (isStatus(error, 404)) setStored((known) => known && { ...known, etag: null })
        else setFailed(true)
      }
    },
  }
}

/** Replaces the address of a new automation by that of the stored one. */
function useOpenSaved() {
  const navigate = useNavigate()
  return ({ definition }: StoredAutomation) =>
    void navigate({
      to: '/automations/$eventDefnId',
      params: { eventDefnId: String(definition.eventDefnId) },
      search: {},
      replace: true,
      ignoreBlocker: true,
    })
}

export const isStatus = (error: unknown, status: number) =>
  error instanceof ProblemError && error.status === status
