import { foreignBusiness, isUnchanged, readFields, readId } from '../contract/read-fields.ts'
import { VIEW_BODY } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { forbidden, notFound } from '../errors.ts'
import type { By } from '../store/rows.ts'
import {
  insertReportView,
  lockReportView,
  updateReportView,
  type ReportViewFields,
  type ReportViewRow,
} from '../store/report-views.ts'
import { findReportFaults, throwFaults } from './check-report.ts'

export type ViewSave = By & {
  businessId: number
  /** The person who saves; null for a key. */
  userId: number | null
  /** Whether the caller may share views, and change those that others have shared. */
  mayShare: boolean
  /** Called with the stored view before an update. */
  onCurrent(current: ReportViewRow): void
}

/** Creates or changes a view, in the caller's transaction. */
export async function saveView(tx: Db, body: unknown, saving: ViewSave) {
  const { businessId } = saving
  const id = readId(body, 'reportViewId')
  const current = id === undefined ? undefined : await lockReportView(tx, saving, id)
  if (id !== undefined && !current) throw notFound('report view', id)
  if (current) {
    refuseForeignView(current, saving)
    saving.onCurrent(current)
  }
  const { values, faults } = readFields<ReportViewFields>(VIEW_BODY, body, current)
  faults.push(...foreignBusiness(body, businessId))
  throwFaults(faults, await findReportFaults(tx, businessId, values, saving.now))
  if (values.shared && !current?.shared && !saving.mayShare) {
    throw forbidden('Your role lacks the function SCHEDULE_REPORTS, which sharing a view needs.')
  }
  if (current && isUnchanged(values, current)) return { view: current, isNew: false }
  return current
    ? { view: await updateReportView(tx, current, values, saving), isNew: false }
    : { view: await insertReportView(tx, saving, values, saving), isNew: true }
}

/** A shared view of somebody else is changed only by those who may share views. */
export function refuseForeignView(
  view: ReportViewRow,
  { userId, mayShare }: Pick<ViewSave, 'userId' | 'mayShare'>,
) {
  if (view.userId === userId || mayShare) return
  throw forbidden('This view belongs to another person. Save one of your own instead.')
}
