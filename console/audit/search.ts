import { day, readSearch, text, textOrNumber } from '../components/search.ts'

/**
 * The filters of the audit in its address: a user (a username, `key:<name>`, `OPERATOR`, `SYSTEM` or
 * `CLIENT`), a kind of object and the id of one, and the first and the last day, both included.
 */
export const readAuditSearch = readSearch({
  user: text,
  object: text,
  id: textOrNumber,
  from: day,
  to: day,
})
export type AuditSearch = ReturnType<typeof readAuditSearch>
