import type { AuditFilters } from '../api/audit.ts'
import type { TimeFormat } from '../components/time.ts'
import { momentsOf } from '../messages/filters.ts'

/** The filters of the audit in its URL. */
export type AuditSearch = {
  /** A username, `key:<name>`, `OPERATOR`, `SYSTEM` or `CLIENT`. */
  user?: string
  /** A kind of object, such as `calendar`. */
  object?: string
  /** The id of one object of this kind. */
  id?: string | number
  /** The first and the last day, both included: "2026-11-17". */
  from?: string
  to?: string
}

/** The filters as the API expects them. The router reads digits in the URL as a number. */
export const filtersOf = (
  { user, object, id, from, to }: AuditSearch,
  format: TimeFormat,
): AuditFilters => ({
  ...(user !== undefined && { user: String(user) }),
  ...(object !== undefined && { object: String(object) }),
  ...(id !== undefined && { id: String(id) }),
  ...momentsOf({ ...(from && { from }), ...(to && { to }) }, format),
})
