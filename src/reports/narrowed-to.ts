import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type Named = { id: number; name: string }
export type Names = { locations: Named[]; staff: Named[]; reasons: Named[] }

/** What a reader may see at most, `null`: everything. */
type Visibility = { businessId: number; locationIds: number[] | null }

/** What is left of it, and what was asked for. */
type Narrowing = {
  professionalIds: number[] | null
  professionalIdList: number[] | null
  reasonIdList: number[] | null
  statusList: string[] | null
}

/** A report says in its head what it leaves out: nobody shall take a part for the whole. */
export function narrowedTo(
  { professionalIds, reasonIdList, statusList }: Narrowing,
  { staff, reasons }: Names,
): [label: string, value: string][] {
  const shown = staff.filter(({ id }) => professionalIds?.includes(id))
  const facts: [string, string | null][] = [
    ['Staff', professionalIds && (listed(shown) ?? 'nobody')],
    ['Services', reasonIdList && listed(reasons)],
    ['Status', statusList && statusList.join(', ')],
  ]
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value]]))
}

/** The locations that a reader sees, where those are not all. */
export const locationsOf = ({ locationIds }: Visibility, { locations }: Names) =>
  locationIds && (listed(locations) ?? 'none')

/** The names of all that a report may be narrowed to; what is not there has none. */
export async function findNames(
  db: Db,
  { businessId, locationIds }: Visibility,
  { professionalIds, professionalIdList, reasonIdList }: Narrowing,
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

const MOST_NAMED = 3

/** The first few by name, the others by number. */
function listed(named: Named[]) {
  const first = named.slice(0, MOST_NAMED).map(({ name }) => name)
  if (first.length === 0) return null
  const more = named.length - first.length
  return more > 0 ? `${first.join(', ')} and ${more} more` : first.join(', ')
}
