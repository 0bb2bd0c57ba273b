import { textOr } from '../texts/translate.ts'

const MAX_CODE = 60

/** "On the waiting list" → "ON_THE_WAITING_LIST" */
export const codeOf = (label: string) =>
  label
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join('_')
    .slice(0, MAX_CODE)

/** A status in the user's language, unless the business gave it a label of its own. */
export const withOwnWords = <Status extends { status: string; label: string }>(item: Status) =>
  codeOf(item.label) === item.status
    ? { ...item, label: textOr(`statuses.${item.status}`, item.label) }
    : item
