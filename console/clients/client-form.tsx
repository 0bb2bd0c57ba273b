import { Button, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../src/client/client.ts'
import { readClient, saveClient, type Client } from '../api/clients.ts'
import { Conflict } from '../components/conflict.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { faultAt } from '../components/faults.ts'
import classes from './clients.module.css'
import {
  changesOf,
  differences,
  draftOf,
  isConflict,
  LABELS,
  LINES,
  mergeDrafts,
  type Field,
} from './draft.ts'
import { readTags } from './tags.ts'

type Props = { client?: Client; onSaved: (saved: Client) => void; onClose: () => void }

const HINTS = { language: 'client.languageHint', timeZone: 'client.timeZoneHint' } as const
const REQUIRED = ['firstName', 'lastName']

/** The form of a client; errors are shown at their fields. */
export function ClientForm({ client, onSaved, onClose }: Props) {
  const { t } = useTranslation()
  const editing = useEditing(client, onSaved)
  const { draft, theirs, save, change } = editing
  const { error } = save
  const areTagsRead = readTags(draft.tags) !== undefined
  return (
    <form
      className="column"
      style={{ gap: 12 }}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (areTagsRead && !theirs) save.mutate()
      }}
    >
      {theirs && <ClientConflict editing={editing} theirs={theirs} />}
      <div className={classes.fields}>
        {LINES.map((field) => (
          <TextInput
            key={field}
            label={t(LABELS[field])}
            description={field in HINTS ? t(HINTS[field as keyof typeof HINTS]) : undefined}
            required={REQUIRED.includes(field)}
            type={field === 'emailAddress' ? 'email' : field === 'phone' ? 'tel' : 'text'}
            dir="auto"
            value={draft[field]}
            error={faultAt(error, field)}
            onChange={(event) => change(field, event.currentTarget.value)}
          />
        ))}
        <Textarea
          label={t(LABELS.tags)}
          description={t('client.tagsHint')}
          autosize
          minRows={2}
          value={draft.tags}
          error={areTagsRead ? faultAt(error, 'tags') : t('client.tagsFault')}
          onChange={(event) => change('tags', event.currentTarget.value)}
        />
      </div>
      <SaveError error={error} />
      <div className="row">
        <Button type="submit" loading={save.isPending} disabled={theirs !== undefined}>
          {t('client.save')}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t('client.cancel')}
        </Button>
      </div>
    </form>
  )
}

/** The draft, the version that it began with, and how its changes are saved. */
function useEditing(client: Client | undefined, onSaved: (saved: Client) => void) {
  const [base, setBase] = useState(() => draftOf(client))
  const [draft, setDraft] = useState(base)
  /** What another user saved meanwhile in the same fields. */
  const [theirs, setTheirs] = useState<Client>()
  const save = useMutation({
    mutationFn: async () => {
      const changes = changesOf(base, draft)
      if (!client) return saveClient(changes)
      const { clientId } = client
      const current = await readClient(clientId)
      if (!isConflict(base, draft, draftOf(current.client))) {
        return saveClient({ clientId, ...changes }, current.etag)
      }
      setTheirs(current.client)
      return undefined
    },
    onSuccess: (saved) => saved && onSaved(saved),
  })
  return {
    base,
    draft,
    theirs,
    save,
    change: (field: Field, value: string) => setDraft((known) => ({ ...known, [field]: value })),
    settle: (nextBase: typeof base, nextDraft: typeof base) => {
      setBase(nextBase)
      setDraft(nextDraft)
      setTheirs(undefined)
    },
  }
}

type ConflictProps = { editing: ReturnType<typeof useEditing>; theirs: Client }

function ClientConflict({ editing: { base, draft, settle }, theirs }: ConflictProps) {
  const { t } = useTranslation()
  const theirDraft = draftOf(theirs)
  const merged = mergeDrafts(base, draft, theirDraft)
  return (
    <Conflict
      theirs={theirs}
      theirChanges={differences(base, theirDraft, t)}
      myChanges={differences(base, draft, t)}
      replaced={differences(theirDraft, merged, t)}
      onTakeTheirs={() => settle(theirDraft, theirDraft)}
      onKeepMine={() => settle(theirDraft, merged)}
    />
  )
}

/** An error that belongs to no field. */
function SaveError({ error }: { error: unknown }) {
  const { t } = useTranslation()
  const isShown = error instanceof ProblemError && error.errors.length > 0
  if (!error || isShown) return null
  const isStale = error instanceof ProblemError && error.status === 412
  return (
    <p role="alert" className="clay small" style={{ margin: 0 }}>
      {isStale ? t('editor.conflict.unread') : <ErrorMessage error={error} />}
    </p>
  )
}
