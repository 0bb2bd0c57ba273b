import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type Named = { id: number; name: string }
export type Names = { locations: Named[]; staff: Named[]; reasons: Named[] }

/** The part of a business that a reader may see. `null`: everything. */
type ReaderScope = { businessId: number; locationIds: number[] | null }

/** `professionalIds`: those of the filter that the reader may see. */
type Filters = {
  professionalIds: number[] | null
  professionalIdList: number[] | null
  reasonIdList: number[] | null
  statusList: string[] | null
}

/** The filters as the head of a report shows them, so that a part is not taken for the whole. */
export function describeFilters(
  { professionalIds, reasonIdList, statusList }: Filters,
  { staff, reasons }: Names,
): [label: string, value: string][] {
  const shown = staff.filter(({ id }) => professionalIds?.includes(id))
  const facts: [string, string | null][] = [
    ['Staff', professionalIds && (joinNames(shown) ?? 'none')],
    ['Services', reasonIdList && joinNames(reasons)],
    ['Status', statusList && statusList.join(', ')],
  ]
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value]]))
}

/** The locations that a reader may see; null if all. */
export const describeLocations = ({ locationIds }: ReaderScope, { locations }: Names) =>
  locationIds && (joinNames(locations) ?? 'none')

/** The names of the filtered locations, staff and services. Unknown ids have none. */
export async function findFilterNames(
  db: Db,
  { businessId, locationIds }: ReaderScope,
  { professionalIds, professionalIdList, reasonIdList }: Filters,
): Promise<Names> {
  const none: Names = { locations: [], staff: [], reasons: [] }
  if (!locationIds && !professionalIds && !reasonIdList) return none
  const staffIds = [...(professionalIds ?? []), ...(professionalIdList ?? [])]
  const [names] = await db.query<Names>(sql`
    select (select coalesce(json_agg(json_build_object('id', location_id, 'name', name) order by name collate name_order), '[]')
            from location
            where business_id = ${businessId} and location_id = any (${locationIds ?? []}::bigint[])) as locations,
           (select coalesce(json_agg(json_build_object('id', professional_id, 'name', first_name || ' ' || last_name)
                                     order by first_name collate name_order, last_name collate name_order), '[]')
            from professional
            where business_id = ${businessId} and professional_id = any (${staffIds}::bigint[])) as staff,
           (select coalesce(json_agg(json_build_object('id', reason_id, 'name', name) order by name collate name_order), '[]')
            from reason
            where business_id = ${businessId} and reason_id = any (${reasonIdList ?? []}::bigint[])) as reasons`)
  return names!
}

const MAX_LISTED = 3

/** Lists the first names and counts the others. */
function joinNames(named: Named[]) {
  const first = named.slice(0, MAX_LISTED).map(({ name }) => name)
  if (first.length === 0) return null
  const more = named.length - first.length
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ')
}
