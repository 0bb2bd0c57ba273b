import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type Status = {
  businessId: number
  objectType: ObjectType
  status: string
  label: string
  live: boolean
  liveAfter: boolean
  active: boolean
  version: number
  createdDate: Temporal.Instant
  createdUser: string
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

const columns = sql`
  business_id as "businessId", object_type as "objectType", status, label, live,
  live_after as "liveAfter", active, version, created_date as "createdDate",
  created_user as "createdUser", modified_date as "modifiedDate", modified_user as "modifiedUser"`

export function listStatuses(db: Db, businessId: number) {
  return db.query<Status>(sql`
    select ${columns} from status
    where business_id = ${businessId} and active
    order by created_date, object_type, status`)
}

export async function findStatus(db: Db, businessId: number, objectType: string, status: string) {
  const [found] = await db.query<Status>(sql`
    select ${columns} from status
    where business_id = ${businessId} and object_type = ${objectType} and status = ${status}`)
  return found
}

/** Those of one type of object, the removed ones too. */
export function listStatusesOf(db: Db, businessId: number, objectType: ObjectType) {
  return db.query<Status>(sql`
    select ${columns} from status where business_id = ${businessId} and object_type = ${objectType}
    order by status`)
}

export type StatusInput = Pick<
  Status,
  'objectType' | 'status' | 'label' | 'live' | 'liveAfter' | 'active'
>

export async function saveStatus(
  tx: Db,
  { businessId, user, now }: { businessId: number; user: string; now: Temporal.Instant },
  input: StatusInput,
) {
  const [saved] = await tx.query<Status>(sql`
    insert into status as s (business_id, object_type, status, label, live, live_after, active,
                             created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${input.objectType}, ${input.status}, ${input.label}, ${input.live},
            ${input.liveAfter}, ${input.active}, ${now}, ${user}, ${now}, ${user})
    on conflict (business_id, object_type, status) do update
    set label = excluded.label, live = excluded.live, live_after = excluded.live_after,
        active = excluded.active, version = s.version + 1, modified_date = excluded.modified_date,
        modified_user = excluded.modified_user
    returning ${columns}`)
  return saved!
}

/** Is any object in this status, or does a definition ask for it? */
export async function isStatusUsed(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  status: string,
) {
  const table = TABLES[objectType]
  const [row] = await tx.query<{ used: boolean }>(sql`
    select exists (select from ${table} where business_id = ${businessId} and status = ${status})
        or exists (select from event_definition
                   where business_id = ${businessId} and active
                     and (old_status = ${status} or new_status = ${status})) as used`)
  return row!.used
}

const TABLES = {
  CALENDAR: sql`calendar`,
  CLASS_SCHEDULE: sql`class_schedule`,
  INVITATION: sql`invitation`,
  RECALL: sql`recall`,
  DISCLAIMER: sql`disclaimer`,
}
