import { VIEW_FIELDS, type ReportView } from '../contract/report-delivery.ts'
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
import type { PageAfter } from './pages.ts'

export type ReportViewRow = Stored<ReportView>

/** The fields that a caller may write. */
export type ReportViewFields = Pick<ReportView, keyof typeof VIEW_FIELDS>

const FIELDS = columnsOf(VIEW_FIELDS)
const OWNER = columnsFor<Viewer>({ businessId: 'bigint', userId: 'bigint' })
const columns = sql`
  t.report_view_id as "reportViewId", ${selectList([...OWNER, ...FIELDS])}, ${SAVED_COLUMNS}`

/** `userId`: the calling user; null for an API key, which sees shared views and those of keys. */
type Viewer = { businessId: number; userId: number | null }

const visibleTo = ({ businessId, userId }: Viewer) => sql`
  business_id = ${businessId} and (shared or user_id is not distinct from ${userId}::bigint)`

export const findReportView = (db: Db, viewer: Viewer, reportViewId: number, lock = empty) =>
  db.findRow<ReportViewRow>(sql`
    select ${columns} from report_view t
    where ${visibleTo(viewer)} and report_view_id = ${reportViewId} ${lock}`)

export const lockReportView = (tx: Db, viewer: Viewer, reportViewId: number) =>
  findReportView(tx, viewer, reportViewId, sql`for update`)

export function listReportViews(
  db: Db,
  viewer: Viewer,
  reportId: number | undefined,
  { after, limit }: PageAfter,
) {
  return db.query<ReportViewRow>(sql`
    select ${columns} from report_view t
    where ${visibleTo(viewer)} and active and report_view_id > ${after}
      ${reportId === undefined ? empty : sql`and report_id = ${reportId}`}
    order by report_view_id limit ${limit}`)
}

export async function insertReportView(tx: Db, viewer: Viewer, view: ReportViewFields, by: By) {
  const row = { ...view, ...viewer }
  return tx.getRow<ReportViewRow>(sql`
    ${insertSaved<typeof row>('report_view', [...OWNER, ...FIELDS], row, by)} returning ${columns}`)
}

export const updateReportView = (
  tx: Db,
  { businessId, reportViewId }: Pick<ReportViewRow, 'businessId' | 'reportViewId'>,
  view: ReportViewFields,
  by: By,
) =>
  tx.getRow<ReportViewRow>(sql`
    ${updateSaved('report_view', FIELDS, view, by)}
    where t.business_id = ${businessId} and t.report_view_id = ${reportViewId}
    returning ${columns}`)
