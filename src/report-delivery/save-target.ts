import { TARGET_BODY } from '../contract/report-target.ts'
import { foreignBusiness, isUnchanged, readFields, readId } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { notFound, type Fault } from '../errors.ts'
import { mayPrint, REPORTS, visibleTo } from '../reports/catalog/catalog.ts'
import type { Report } from '../reports/report.ts'
import type { By } from '../store/rows.ts'
import {
  insertTarget,
  lockTarget,
  updateTarget,
  type TargetFields,
  type TargetRow,
} from '../store/report-targets.ts'
import { listUsersById, type UserRow } from '../store/users.ts'
import { findReportFaults, throwFaults } from './check-report.ts'
import { readerOfUser, unreachableReason } from './readers.ts'

export type TargetSave = By & { businessId: number; onCurrent(current: TargetRow): void }

/** Creates or changes a target, in the caller's transaction. */
export async function saveTarget(tx: Db, body: unknown, saving: TargetSave) {
  const { businessId } = saving
  const id = readId(body, 'reportTargetId')
  const current = id === undefined ? undefined : await lockTarget(tx, businessId, id)
  if (id !== undefined && !current) throw notFound('report target', id)
  if (current) saving.onCurrent(current)
  const fields = await readTarget(tx, body, current, saving)
  if (!current) return { target: await insertTarget(tx, businessId, fields, saving), isNew: true }
  if (isUnchanged(fields, current)) return { target: current, isNew: false }
  return { target: await updateTarget(tx, current, fields, saving), isNew: false }
}

async function readTarget(
  tx: Db,
  body: unknown,
  current: TargetRow | undefined,
  { businessId, now }: TargetSave,
) {
  const { values, faults } = readFields<TargetFields>(TARGET_BODY, body, current)
  faults.push(...foreignBusiness(body, businessId))
  const more: Fault[] = await findReportFaults(tx, businessId, { ...values, groupBy: null }, now)
  const report = REPORTS.find(({ reportId }) => reportId === values.reportId)
  const kpi = report?.kpis.find(({ name }) => name === values.kpi)
  if (report && !kpi) {
    const names = report.kpis.map(({ name }) => name).join(', ')
    more.push({ pointer: '/kpi', detail: `must be a figure of the report: ${names}` })
  }
  if (kpi && kpi.unit !== 'money' && values.currency !== null) {
    more.push({ pointer: '/currency', detail: 'is only for amounts of money' })
  }
  const isListValid = !faults.some(({ pointer }) => pointer.startsWith('/userIdList'))
  if (isListValid && values.userIdList.length === 0) {
    more.push({ pointer: '/userIdList', detail: 'must name at least one person' })
  }
  if (isListValid) {
    const users = await listUsersById(tx, businessId, values.userIdList)
    more.push(
      ...values.userIdList.flatMap((userId, i) => {
        const user = users.find((one) => one.userId === userId)
        const detail = user ? recipientFault(user, values) : 'there is no such user'
        return detail === undefined ? [] : [{ pointer: `/userIdList/${i}`, detail }]
      }),
    )
  }
  throwFaults(faults, more)
  return { ...values, userIdList: [...new Set(values.userIdList)] }
}

type Wanted = Pick<TargetFields, 'reportId' | 'kpi' | 'locationId'>

/** Whether the figure is an amount that a reader with these functions may not see. */
const hidesMoney = (report: Report, kpi: string, functions: ReadonlySet<string>) =>
  report.kpis.some(({ name }) => name === kpi) &&
  !visibleTo(report, functions).kpis.some(({ name }) => name === kpi)

/** Why a person cannot get the mail; undefined if they can. They must see all that the figure counts. */
export function recipientFault(user: UserRow, { reportId, kpi, locationId }: Wanted) {
  const report = REPORTS.find((one) => one.reportId === reportId)
  const { functions, locationIds, professionalIds } = readerOfUser(user)
  const sees =
    !report ||
    (mayPrint(report, functions) &&
      !hidesMoney(report, kpi, functions) &&
      professionalIds === null &&
      (locationIds === null || (locationId !== null && locationIds.includes(locationId))))
  if (!sees) return `${user.username} may not see all that this figure counts`
  const reason = unreachableReason(user)
  return reason && `${user.username} ${reason}`
}
