import type { AuditFilters } from '../api/audit.ts'
import type { TimeFormat } from '../components/time.ts'
import { momentsOf } from '../messages/filters.ts'
import type { AuditSearch } from './search.ts'

/** The filters as the API expects them. */
export const filtersOf = (
  { user, object, id, from, to }: AuditSearch,
  format: TimeFormat,
): AuditFilters => ({
  ...(user !== undefined && { user }),
  ...(object !== undefined && { object }),
  ...(id !== undefined && { id: String(id) }),
  ...momentsOf({ ...(from && { from }), ...(to && { to }) }, format),
})
