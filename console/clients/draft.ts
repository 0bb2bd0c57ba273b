import type { Client, ClientBody } from '../api/clients.ts'
import type { Difference } from '../components/difference.ts'
import type { Translate } from '../components/form.ts'
import { readTags, writeTags } from './tags.ts'

/** The fields of one line, in the order of the form. */
export const LINES = [
  'firstName',
  'lastName',
  'emailAddress',
  'phone',
  'language',
  'timeZone',
] as const
const FIELDS = [...LINES, 'tags'] as const
export type Field = (typeof FIELDS)[number]

/** A client as the form shows it. */
export type Draft = Record<Field, string>

export const LABELS = {
  firstName: 'client.firstName',
  lastName: 'client.lastName',
  emailAddress: 'clients.emailAddress',
  phone: 'clients.phone',
  language: 'clients.language',
  timeZone: 'client.timeZone',
  tags: 'clients.tags',
} as const

export const draftOf = (client: Client | undefined) =>
  Object.fromEntries(
    FIELDS.map((field) => [
      field,
      field === 'tags' ? writeTags(client?.tags ?? {}) : (client?.[field] ?? ''),
    ]),
  ) as Draft

/** The changed fields, as the body of a save: the others stay as another user may have saved them. */
export const changesOf = (base: Draft, draft: Draft): ClientBody =>
  Object.fromEntries(
    changedFields(base, draft).map((field) => [
      field,
      // Without a name the service says that it is required.
      field === 'tags' ? readTags(draft.tags) : draft[field].trim() || null,
    ]),
  )

/** Keeps my changes; everything else is as the other user saved it. */
export const mergeDrafts = (base: Draft, mine: Draft, theirs: Draft): Draft => ({
  ...theirs,
  ...Object.fromEntries(changedFields(base, mine).map((field) => [field, mine[field]])),
})

/** Whether both changed a field, to different values. */
export const isConflict = (base: Draft, mine: Draft, theirs: Draft) =>
  changedFields(base, theirs).some(
    (field) => mergeDrafts(base, mine, theirs)[field].trim() !== theirs[field],
  )

export const differences = (from: Draft, to: Draft, t: Translate): Difference[] =>
  changedFields(from, to).map((field) => ({
    key: field,
    label: t(LABELS[field]),
    from: from[field] || '–',
    to: to[field] || '–',
  }))

const changedFields = (base: Draft, draft: Draft) =>
  FIELDS.filter((field) => draft[field].trim() !== base[field].trim())
