import { TARGET_FIELDS, type ReportTarget } from '../contract/report-target.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import {
  columnsFor,
  columnsOf,
  insertSaved,
  SAVED_COLUMNS,
  selectList,
  updateSaved,
  type By,
  type Stored,
} from './rows.ts'
import { NOT_HELD } from './installation.ts'
import type { PageAfter } from './pages.ts'

/** The fields that a caller may write. */
export type TargetFields = Pick<ReportTarget, keyof typeof TARGET_FIELDS>

/** `float8` would keep fewer digits. */
const FIELDS = columnsOf({
  ...TARGET_FIELDS,
  value: { ...TARGET_FIELDS.value, sqlType: 'numeric' },
})

/** What the checks found. */
export type TargetState = Stored<ReportTarget['state']>

export type TargetRow = Stored<Omit<ReportTarget, 'state'>> & { state: TargetState }

type FlatRow = Omit<TargetRow, 'state'> & TargetState

const columns = sql`
  t.report_target_id as "reportTargetId", t.business_id as "businessId",
  ${selectList(FIELDS)}, ${SAVED_COLUMNS}, t.last_value as "lastValue", t.checked_time as "checkedTime",
  t.crossed_time as "crossedTime", t.last_error as "lastError"`

function withState(row: FlatRow): TargetRow {
  const { lastValue, checkedTime, crossedTime, lastError, ...target } = row
  return { ...target, state: { lastValue, checkedTime, crossedTime, lastError } }
}

export async function findTarget(db: Db, businessId: number, id: number, lock = empty) {
  const row = await db.findRow<FlatRow>(sql`
    select ${columns} from report_target t
    where business_id = ${businessId} and report_target_id = ${id} ${lock}`)
  return row && withState(row)
}

export const lockTarget = (tx: Db, businessId: number, reportTargetId: number) =>
  findTarget(tx, businessId, reportTargetId, sql`for update`)

export async function listTargets(db: Db, businessId: number, { after, limit }: PageAfter) {
  const rows = await db.query<FlatRow>(sql`
    select ${columns} from report_target t
    where business_id = ${businessId} and active and report_target_id > ${after}
    order by report_target_id limit ${limit}`)
  return rows.map(withState)
}

export async function insertTarget(tx: Db, businessId: number, fields: TargetFields, by: By) {
  const row = { ...fields, businessId, nextCheckTime: by.now }
  const written = [
    ...FIELDS,
    ...columnsFor<typeof row>({ businessId: 'bigint', nextCheckTime: 'timestamptz' }),
  ]
  const inserted = await tx.getRow<FlatRow>(sql`
    ${insertSaved<typeof row>('report_target', written, row, by)} returning ${columns}`)
  return withState(inserted)
}

/** A changed target is checked at once, as if it were new. */
export async function updateTarget(
  tx: Db,
  { businessId, reportTargetId }: Pick<TargetRow, 'businessId' | 'reportTargetId'>,
  fields: TargetFields,
  by: By,
) {
  const asNew = sql`, next_check_time = ${by.now}, last_value = null, checked_time = null,
    crossed_time = null, last_error = null`
  const updated = await tx.getRow<FlatRow>(sql`
    ${updateSaved('report_target', FIELDS, fields, by, asNew)}
    where t.business_id = ${businessId} and t.report_target_id = ${reportTargetId}
    returning ${columns}`)
  return withState(updated)
}

/** The business whose check is due longest; undefined if none is. */
export async function findBusinessWithDueTarget(engine: Db, now: Temporal.Instant) {
  const found = await engine.findRow<{ businessId: number }>(sql`
    select t.business_id as "businessId"
    from report_target t join business b using (business_id)
    where t.active and not t.paused and b.active and t.next_check_time <= ${now} and ${NOT_HELD}
    order by t.next_check_time, t.business_id limit 1`)
  return found?.businessId
}

export async function findDueTarget(db: Db, businessId: number, now: Temporal.Instant) {
  const row = await db.findRow<FlatRow>(sql`
    select ${columns} from report_target t
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
