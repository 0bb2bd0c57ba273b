import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { RecentlyUsed } from './recently-used.ts'
import type { Status } from './statuses.ts'

/** What is the same for most objects of a business, and few ever change. */
export type Surroundings = {
  business: MailContext['business'] & { active: boolean }
  statuses: Map<string, { label: string; live: boolean; liveAfter: boolean }>
  locations: Map<number, NonNullable<MailContext['location']>>
  professionals: Map<number, NonNullable<MailContext['professional']>>
  reasons: Map<number, NonNullable<MailContext['reason']>>
}

/** What an object names of it. */
export type Named = {
  businessId: number
  locationId?: number | null
  professionalId?: number | null
  reasonId?: number | null
}

export const statusKey = (objectType: ObjectType, status: string) => `${objectType} ${status}`

export type Mark = { businessId: number; mark: string | null }

/** Another one as soon as anything of it was changed (migrations/0023). */
export const readMarks = (db: Db, businessIds: number[]) =>
  db.query<Mark>(
    sql`
      select k.business_id as "businessId", m.mark
      from unnest(${businessIds}::bigint[]) as k (business_id)
      left join setup_mark m on m.business_id = k.business_id`,
  )

/** The surroundings of these objects; only what is not known under these marks is read. */
export async function readSurroundings(
  db: Db,
  named: Named[],
  marks: Mark[],
): Promise<Map<number, Surroundings>> {
  const found = new Map<number, Kept>()
  for (const { businessId, mark } of marks) {
    const known = remembered.get(businessId)
    found.set(businessId, mark && known?.mark === mark ? known : emptyUnder(mark))
  }
  const missing = missingOf(named, found)
  if (missing.size > 0) {
    await Promise.all([...missing].map(([part, keys]) => PARTS[part].read(db, keys, found)))
    for (const [businessId, known] of found) remembered.set(businessId, known)
  }
  return found
}

/** Kept from batch to batch: read for each mail, it is a third of what reading costs. */
const remembered = new RecentlyUsed<number, Kept>(1_000)

type Kept = Surroundings & { mark: string | null }

const emptyUnder = (mark: string | null): Kept => ({
  mark,
  business: undefined as never, // read before anybody sees it
  statuses: new Map(),
  locations: new Map(),
  professionals: new Map(),
  reasons: new Map(),
})

type Key = { businessId: number; id: number }
type Part = 'business' | 'locations' | 'professionals' | 'reasons'

function missingOf(named: Named[], found: Map<number, Kept>) {
  const missing = new Map<Part, Map<number, Key>>()
  const ask = (part: Part, businessId: number, id: number) => {
    const keys = missing.get(part) ?? new Map<number, Key>()
    missing.set(part, keys.set(id, { businessId, id }))
  }
  for (const { businessId, locationId, professionalId, reasonId } of named) {
    const known = found.get(businessId)!
    if (!known.business) ask('business', businessId, businessId)
    if (locationId && !known.locations.has(locationId)) ask('locations', businessId, locationId)
    if (professionalId && !known.professionals.has(professionalId))
      ask('professionals', businessId, professionalId)
    if (reasonId && !known.reasons.has(reasonId)) ask('reasons', businessId, reasonId)
  }
  return new Map([...missing].map(([part, keys]) => [part, [...keys.values()]]))
}

type Reader = { read(db: Db, keys: Key[], found: Map<number, Kept>): Promise<unknown> }

const keysIn = (keys: Key[]) => sql`
  unnest(${keys.map((key) => key.businessId)}::bigint[], ${keys.map((key) => key.id)}::bigint[])
    as k (business_id, id)`

type Row = { businessId: number; id: number }

/** Rows by their keys, each put where its business keeps such. */
const reader = <Kind>(
  columns: Sql,
  from: Sql,
  into: (known: Kept) => Map<number, Kind>,
): Reader => ({
  read: async (db, keys, found) => {
    const rows = await db.query<Row & Kind>(
      sql`select k.business_id as "businessId", k.id, ${columns} from ${keysIn(keys)} ${from}`,
    )
    for (const row of rows) into(found.get(row.businessId)!).set(row.id, row)
  },
})

const PARTS: Record<Part, Reader> = {
  business: {
    read: async (db, keys, found) => {
      const [businesses, statuses] = await Promise.all([
        db.query<Row & Surroundings['business']>(
          sql`
            select b.business_id as "businessId", b.active, b.name, b.email_address as "emailAddress",
                   b.phone, b.time_zone as "timeZone", b.language, b.sender_domains as "senderDomains"
            from ${keysIn(keys)} join business b using (business_id)`,
        ),
        db.query<StatusRow>(
          sql`
            select s.business_id as "businessId", s.object_type as "objectType", s.status, s.label,
                   s.live, s.live_after as "liveAfter"
            from ${keysIn(keys)} join status s using (business_id)`,
        ),
      ])
      for (const row of businesses) found.get(row.businessId)!.business = row
      for (const row of statuses) {
        found.get(row.businessId)!.statuses.set(statusKey(row.objectType, row.status), row)
      }
    },
  },
  locations: reader(
    sql`l.name, l.address, l.email_address as "emailAddress", l.phone, l.directions,
        l.time_zone as "timeZone"`,
    sql`join location l on l.business_id = k.business_id and l.location_id = k.id`,
    (known) => known.locations,
  ),
  professionals: reader(
    sql`p.first_name as "firstName", p.last_name as "lastName",
        p.email_address as "emailAddress", p.time_zone as "timeZone"`,
    sql`join professional p on p.business_id = k.business_id and p.professional_id = k.id`,
    (known) => known.professionals,
  ),
  reasons: reader(
    sql`r.name, r.duration_minutes as "durationMinutes", r.price, r.currency`,
    sql`join reason r on r.business_id = k.business_id and r.reason_id = k.id`,
    (known) => known.reasons,
  ),
}

type StatusRow = Pick<
  Status,
  'businessId' | 'objectType' | 'status' | 'label' | 'live' | 'liveAfter'
>
