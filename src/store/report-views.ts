import type { ReportView } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import type { By } from './businesses.ts'

export type ReportViewRow = Omit<ReportView, 'createdDate' | 'modifiedDate'> & {
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
}

/** The fields that a caller may write. */
export type ReportViewFields = Pick<
  ReportViewRow,
  'name' | 'reportId' | 'filters' | 'groupBy' | 'compareWith' | 'locationId' | 'shared' | 'active'
>

const columns = sql`
  report_view_id as "reportViewId",
  business_id    as "businessId",
  name,
  report_id      as "reportId",
  filters,
  group_by       as "groupBy",
  compare_with   as "compareWith",
  location_id    as "locationId",
  shared,
  user_id        as "userId",
  active,
  version,
  created_date   as "createdDate",
  created_user   as "createdUser",
  modified_date  as "modifiedDate",
  modified_user  as "modifiedUser"`

/** `userId`: the calling user; null for an API key, which sees shared views and those of keys. */
type Viewer = { businessId: number; userId: number | null }

const visibleTo = ({ businessId, userId }: Viewer) => sql`
  business_id = ${businessId} and (shared or user_id is not distinct from ${userId}::bigint)`

export const findReportView = (db: Db, viewer: Viewer, reportViewId: number) =>
  readView(db, viewer, reportViewId, empty)

export const lockReportView = (tx: Db, viewer: Viewer, reportViewId: number) =>
  readView(tx, viewer, reportViewId, sql`for update`)

async function readView(db: Db, viewer: Viewer, reportViewId: number, lock: Sql) {
  const [view] = await db.query<ReportViewRow>(sql`
    select ${columns} from report_view
    where ${visibleTo(viewer)} and report_view_id = ${reportViewId} ${lock}`)
  return view
}

/** Lists the active views that the caller sees, oldest first. */
export function listReportViews(
  db: Db,
  viewer: Viewer,
  reportId: number | undefined,
  { after, limit }: { after: number; limit: number },
) {
  return db.query<ReportViewRow>(sql`
    select ${columns} from report_view
    where ${visibleTo(viewer)} and active and report_view_id > ${after}
      ${reportId === undefined ? empty : sql`and report_id = ${reportId}`}
    order by report_view_id limit ${limit}`)
}

export async function insertReportView(
  tx: Db,
  { businessId, userId }: Viewer,
  view: ReportViewFields,
  by: By,
) {
  const [row] = await tx.query<ReportViewRow>(sql`
    insert into report_view (business_id, name, report_id, filters, group_by, compare_with, location_id, shared, user_id,
      active, created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${view.name}, ${view.reportId}, ${jsonOf(view.filters)}::jsonb,
            ${jsonOf(view.groupBy)}::jsonb, ${view.compareWith}, ${view.locationId}, ${view.shared}, ${userId}, ${view.active},
            ${by.now}, ${by.user}, ${by.now}, ${by.user})
    returning ${columns}`)
  return row!
}

export async function updateReportView(
  tx: Db,
  { businessId, reportViewId }: Pick<ReportViewRow, 'businessId' | 'reportViewId'>,
  view: ReportViewFields,
  by: By,
) {
  const [row] = await tx.query<ReportViewRow>(sql`
    update report_view
    set name = ${view.name}, report_id = ${view.reportId}, filters = ${jsonOf(view.filters)}::jsonb,
        group_by = ${jsonOf(view.groupBy)}::jsonb, compare_with = ${view.compareWith},
        location_id = ${view.locationId}, shared = ${view.shared}, active = ${view.active},
        version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId} and report_view_id = ${reportViewId}
    returning ${columns}`)
  return row!
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))
