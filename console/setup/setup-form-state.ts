import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import type { SetupItem, SetupKind, Stored } from '../api/setup-objects.ts'
import { changesOf } from './changes.ts'

export type FormOptions<Item extends SetupItem, Draft extends object> = {
  kind: SetupKind<Item, Draft>
  /** The object as it was read; undefined for a new one. */
  opened: Stored<Item> | undefined
  /** The properties of the form. */
  draftOf: (item: Item | undefined) => Draft
  /** Values that a new one most likely has. */
  suggested?: Partial<Draft> | undefined
  onSaved: (item: Item) => void
}

export type Fault = ProblemError['errors'][number]

/** What a field of the form shows, and how it changes. */
export type At<Value> = {
  value: Value
  error: string
  onChange: (value: Value) => void
}

export type SetupForm<Draft> = {
  draft: Draft
  faultsOf: (name: keyof Draft) => Fault[]
  at: <Name extends keyof Draft & string>(name: Name) => At<Draft[Name]>
}

/** The form of an object: sends only what the user changed. */
export function useSetupForm<Item extends SetupItem, Draft extends object>({
  kind,
  opened,
  draftOf,
  suggested,
  onSaved,
}: FormOptions<Item, Draft>) {
  const [stored, setStored] = useState(opened)
  const base = draftOf(stored?.item)
  const [draft, setDraft] = useState<Draft>({ ...base, ...(opened ? {} : suggested) })
  const [theirs, setTheirs] = useState<Stored<Item>>()
  const item = stored?.item
  const save = useMutation({
    mutationFn: (sent: Draft) => kind.save(item, changesOf(base, sent), stored?.etag ?? null),
    onSuccess: onSaved,
    onError: async (error) => {
      if (item && isConflict(error)) setTheirs(await kind.read(item))
    },
  })
  const { error } = save
  const names = Object.keys(base)
  const faults = error instanceof ProblemError ? error.errors : []
  const isAtFields =
    faults.length > 0 && faults.every(({ pointer }) => names.includes(propertyOf(pointer)))
  /** A field that was changed since loses its faults. */
  const faultsOf = (name: keyof Draft) => {
    const isAsSent = draft[name] === save.variables?.[name]
    return isAsSent ? faults.filter(({ pointer }) => propertyOf(pointer) === name) : []
  }
  const form: SetupForm<Draft> = {
    draft,
    faultsOf,
    at: (name) => ({
      value: draft[name],
      error: faultsOf(name)
        .map(({ detail }) => detail)
        .join('; '),
      onChange: (value) => setDraft((known) => ({ ...known, [name]: value })),
    }),
  }
  return {
    form,
    base,
    theirs,
    isBusy: save.isPending,
    /** The error that is not shown at a field. */
    error: isAtFields || theirs ? undefined : error,
    onSave: () => save.mutate(draft),
    /** Continues with the version of another user. */
    show: (next: Stored<Item>, mine: Draft) => {
      setStored(next)
      setDraft(mine)
      setTheirs(undefined)
      save.reset()
    },
  }
}

/** `/workingHours/0/to` → `workingHours` */
const propertyOf = (pointer: string) => pointer.split('/')[1] ?? ''

export const isConflict = (error: unknown) => error instanceof ProblemError && error.status === 412
