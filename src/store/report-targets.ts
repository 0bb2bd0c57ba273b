import type { ReportTarget } from '../contract/report-target.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import type { By } from './businesses.ts'
import { NOT_HELD } from './installation.ts'

/** The fields that a caller may write. */
export type TargetFields = Pick<
  ReportTarget,
  | 'name'
  | 'reportId'
  | 'kpi'
  | 'currency'
  | 'direction'
  | 'value'
  | 'range'
  | 'filters'
  | 'locationId'
  | 'userIdList'
  | 'paused'
  | 'active'
>

/** What the checks found. */
export type TargetState = {
  lastValue: number | null
  checkedTime: Temporal.Instant | null
  crossedTime: Temporal.Instant | null
  lastError: string | null
}

export type TargetRow = Omit<ReportTarget, 'createdDate' | 'modifiedDate' | 'state'> & {
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
  state: TargetState
}

type FlatRow = Omit<TargetRow, 'state'> & TargetState

const columns = sql`
  report_target_id as "reportTargetId",
  business_id      as "businessId",
  name,
  report_id        as "reportId",
  kpi,
  currency,
  direction,
  value::float8    as value,
  range,
  filters,
  location_id      as "locationId",
  user_id_list     as "userIdList",
  paused,
  active,
  version,
  created_date     as "createdDate",
  created_user     as "createdUser",
  modified_date    as "modifiedDate",
  modified_user    as "modifiedUser",
  last_value::float8 as "lastValue",
  checked_time     as "checkedTime",
  crossed_time     as "crossedTime",
  last_error       as "lastError"`

function withState({
  lastValue,
  checkedTime,
  crossedTime,
  lastError,
  ...target
}: FlatRow): TargetRow {
  return { ...target, state: { lastValue, checkedTime, crossedTime, lastError } }
}

export const findTarget = (db: Db, businessId: number, reportTargetId: number) =>
  readTarget(db, businessId, reportTargetId, empty)

export const lockTarget = (tx: Db, businessId: number, reportTargetId: number) =>
  readTarget(tx, businessId, reportTargetId, sql`for update`)

async function readTarget(db: Db, businessId: number, id: number, lock: Sql) {
  const [row] = await db.query<FlatRow>(sql`
    select ${columns} from report_target
    where business_id = ${businessId} and report_target_id = ${id} ${lock}`)
  return row && withState(row)
}

/** Lists active targets, oldest first. */
export async function listTargets(
  db: Db,
  businessId: number,
  { after, limit }: { after: number; limit: number },
) {
  const rows = await db.query<FlatRow>(sql`
    select ${columns} from report_target
    where business_id = ${businessId} and active and report_target_id > ${after}
    order by report_target_id limit ${limit}`)
  return rows.map(withState)
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))

export async function insertTarget(tx: Db, businessId: number, fields: TargetFields, by: By) {
  const [row] = await tx.query<FlatRow>(sql`
    insert into report_target (business_id, name, report_id, kpi, currency, direction, value, range, filters,
      location_id, user_id_list, paused, active, next_check_time, created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${fields.name}, ${fields.reportId}, ${fields.kpi}, ${fields.currency},
            ${fields.direction}, ${fields.value}, ${fields.range}, ${jsonOf(fields.filters)}::jsonb,
            ${fields.locationId}, ${fields.userIdList}::bigint[], ${fields.paused}, ${fields.active}, ${by.now},
            ${by.now}, ${by.user}, ${by.now}, ${by.user})
    returning ${columns}`)
  return withState(row!)
}

/** A changed target is checked at once, as if it were new. */
export async function updateTarget(
  tx: Db,
  { businessId, reportTargetId }: Pick<TargetRow, 'businessId' | 'reportTargetId'>,
  fields: TargetFields,
  by: By,
) {
  const [row] = await tx.query<FlatRow>(sql`
    update report_target
    set name = ${fields.name}, report_id = ${fields.reportId}, kpi = ${fields.kpi}, currency = ${fields.currency},
        direction = ${fields.direction}, value = ${fields.value}, range = ${fields.range},
        filters = ${jsonOf(fields.filters)}::jsonb, location_id = ${fields.locationId},
        user_id_list = ${fields.userIdList}::bigint[], paused = ${fields.paused}, active = ${fields.active},
        next_check_time = ${by.now}, last_value = null, checked_time = null, crossed_time = null, last_error = null,
        version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId} and report_target_id = ${reportTargetId}
    returning ${columns}`)
  return withState(row!)
}

/** The business whose check is due longest; undefined if none is. */
export async function findBusinessWithDueTarget(engine: Db, now: Temporal.Instant) {
  const [found] = await engine.query<{ businessId: number }>(sql`
    select t.business_id as "businessId"
    from report_target t join business b using (business_id)
    where t.active and not t.paused and b.active and t.next_check_time <= ${now} and ${NOT_HELD}
    order by t.next_check_time, t.business_id limit 1`)
  return found?.businessId
}

export async function findDueTarget(db: Db, businessId: number, now: Temporal.Instant) {
  const [row] = await db.query<FlatRow>(sql`
    select ${columns} from report_target
    where business_id = ${businessId} and active and not paused and next_check_time <= ${now}
    order by next_check_time, report_target_id limit 1`)
  return row && withState(row)
}

/** False if the target was saved since it was read. */
export async function recordCheck(
  tx: Db,
  { businessId, reportTargetId, version }: TargetRow,
  { lastValue, checkedTime, crossedTime, lastError }: TargetState,
  nextCheckTime: Temporal.Instant,
) {
  const rows = await tx.query(sql`
    update report_target
    set last_value = ${lastValue}, checked_time = ${checkedTime}, crossed_time = ${crossedTime},
        last_error = ${lastError}, next_check_time = ${nextCheckTime}
    where business_id = ${businessId} and report_target_id = ${reportTargetId} and active and version = ${version}
    returning 1`)
  return rows.length === 1
}
