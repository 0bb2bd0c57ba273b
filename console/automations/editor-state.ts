import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import type { StoredAutomation } from '../api/automation.ts'
import { discardRecipe } from '../api/recipes.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { useRecord, type EditedRecord } from '../records/use-record.ts'
import { automationKind, bodyOf, differences, type Draft } from './draft.ts'
import type { Word } from './sentence.ts'

/** `on`: a recipe created it paused; the editor opens with the switch on, ready to save. */
export type EditorSearch = { on?: boolean }

type AutomationRecord = EditedRecord<StoredAutomation, Draft>

export type EditorState = ReturnType<typeof useEditorState>

/** The automation as stored, the draft of the user, and saving it. */
export function useEditorState(eventDefnId: number | undefined, setup: Setup | undefined) {
  const { on } = useSearch({ strict: false }) as EditorSearch
  const { functions } = useSession()
  const canEdit = functions.includes('EDIT_DEFINITIONS')
  /** The word of the sentence whose drawer is open. */
  const [word, setWord] = useState<Word>()
  const openSaved = useOpenSaved()
  const navigate = useNavigate()
  const record: AutomationRecord = useRecord({
    kind: automationKind,
    id: eventDefnId,
    onDiscarded: () => {
      // What a recipe created is not wanted: neither the automation nor its mail stays.
      if (on && record.item) void discardRecipe(record.item)
    },
    onSaved: (saved) => {
      setWord(undefined)
      if (eventDefnId === undefined || on) openSaved(saved)
    },
  })
  const { base, draft, isReady, change } = record
  useEffect(() => {
    if (isReady && on && canEdit) change({ active: true })
  }, [isReady, on, canEdit, change])
  const changes = useMemo(
    () => (setup ? differences(base, draft, setup) : []),
    [base, draft, setup],
  )
  const isUnsaved = changes.length > 0
  /** An automation that is switched on needs a mail to send. */
  const lacksMail =
    isUnsaved &&
    draft.active &&
    draft.mails.every(({ emailTemplateId }) => emailTemplateId === null)
  return {
    record,
    draft,
    setDraft: change,
    word,
    setWord,
    isNew: eventDefnId === undefined,
    changes,
    isUnsaved,
    body: useMemo(() => bodyOf(draft, base), [draft, base]),
    canEdit,
    lacksMail,
    canSave: canEdit && isUnsaved && !lacksMail && !record.isSaving && !record.conflict,
    discard: () => {
      record.discard()
      setWord(undefined)
      if (on) void navigate({ to: '/automations' })
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
