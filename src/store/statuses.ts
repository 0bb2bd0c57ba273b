import { EVENT_TYPES, type ObjectType } from '../contract/event-type.ts'
import type { Status as ShownStatus } from '../contract/status.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { tableOf } from './object-tables.ts'
import {
  columnsFor,
  insertSaved,
  SAVED_COLUMNS,
  selectList,
  updateSaved,
  type By,
  type Stored,
} from './rows.ts'

export type Status = Stored<ShownStatus>

const KEY = columnsFor<StatusKey>({ businessId: 'bigint', objectType: 'text', status: 'text' })
const FIELDS = columnsFor<StatusInput>({
  label: 'text',
  outcome: 'text',
  live: 'boolean',
  liveAfter: 'boolean',
  active: 'boolean',
})
const columns = sql`${selectList([...KEY, ...FIELDS])}, ${SAVED_COLUMNS}`

export const listStatuses = (db: Db, businessId: number) =>
  listWhere(
    db,
    sql`business_id = ${businessId} and active order by created_date, object_type, status`,
  )

export const listAllStatuses = (db: Db, businessIds: number[]) =>
  listWhere(
    db,
    sql`business_id = any (${businessIds}::bigint[]) order by business_id, object_type, status`,
  )

export const listStatusesOf = (db: Db, businessId: number, objectType: ObjectType) =>
  listWhere(db, sql`business_id = ${businessId} and object_type = ${objectType} order by status`)

type StatusKey = { businessId: number; objectType: string; status: string }

export const findStatus = (db: Db, { businessId, objectType, status }: StatusKey, lock = empty) =>
  db.findRow<Status>(sql`
    select ${columns} from status t
    where business_id = ${businessId} and object_type = ${objectType} and status = ${status} ${lock}`)

export const lockStatus = (tx: Db, key: StatusKey) => findStatus(tx, key, sql`for no key update`)

const listWhere = (db: Db, condition: Sql) =>
  db.query<Status>(sql`select ${columns} from status t where ${condition}`)

export type StatusInput = Pick<
  Status,
  'objectType' | 'status' | 'label' | 'outcome' | 'live' | 'liveAfter' | 'active'
>

type Who = By & { businessId: number }

/** Returns undefined if another transaction has just created it. */
export async function insertStatus(tx: Db, who: Who, input: StatusInput) {
  const row = { ...input, businessId: who.businessId }
  return tx.findRow<Status>(sql`
    ${insertSaved<typeof row>('status', [...KEY, ...FIELDS], row, who)}
    on conflict (business_id, object_type, status) do nothing
    returning ${columns}`)
}

export const updateStatus = (tx: Db, who: Who, input: StatusInput) =>
  tx.getRow<Status>(sql`
    ${updateSaved('status', FIELDS, input, who)}
    where t.business_id = ${who.businessId} and t.object_type = ${input.objectType}
      and t.status = ${input.status}
    returning ${columns}`)

/** Whether an object has this status, or a definition or the business refers to it. */
export async function isStatusUsed(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  status: string,
) {
  const { table } = tableOf(objectType)
  const row = await tx.getRow<{ used: boolean }>(sql`
    select exists (select from ${table} where business_id = ${businessId} and status = ${status})
        or exists (select from event_definition
                   where business_id = ${businessId} and active
                     and (event_type_id = any (${changeTypesOf(objectType)}::int[])
                            and ${status} in (old_status, new_status)
                          or event_type_id = any (${typesOf(objectType)}::int[])
                            and ${status} = any (only_if_status)))
        or (${objectType} = 'CALENDAR' and exists (
              select from business where business_id = ${businessId}
                and ${status} in (confirm_status, cancel_status))) as used`)
  return row.used
}

/** Definitions of other event types store `oldStatus` and `newStatus` without using them. */
const changeTypesOf = (objectType: ObjectType) =>
  idsOf((type) => type.objectType === objectType && type.eventType.endsWith('_CHANGED'))

const typesOf = (objectType: ObjectType) => idsOf((type) => type.objectType === objectType)

const idsOf = (isWanted: (type: (typeof EVENT_TYPES)[number]) => boolean) =>
  EVENT_TYPES.filter(isWanted).map((type) => type.eventTypeId)
