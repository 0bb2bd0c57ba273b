import { foreignBusiness, isUnchanged, readFields, readId } from '../contract/read-fields.ts'
import { SCHEDULE_BODY, type ReportSchedule } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { notFound, type Fault } from '../errors.ts'
import { mayPrint, REPORTS } from '../reports/catalog/catalog.ts'
import type { By } from '../store/rows.ts'
import {
  findTimeZone,
  insertSchedule,
  lockSchedule,
  updateSchedule,
  type ScheduleFields,
  type ScheduleObject,
  type ScheduleRow,
} from '../store/report-schedules.ts'
import { listUsersById, type UserRow } from '../store/users.ts'
import { findReportFaults, throwFaults } from './check-report.ts'
import { readerOfUser, unreachableReason } from './readers.ts'
import { nextScheduledTime } from './timing.ts'

export type ScheduleSave = By & {
  businessId: number
  /** The signed-in person; null: a key. */
  userId: number | null
  /** Called with the stored schedule before an update. */
  onCurrent(current: ScheduleObject): void
}

/** Creates or changes a schedule, in the caller's transaction. A save never sends anything at once. */
export async function saveSchedule(tx: Db, body: unknown, saving: ScheduleSave) {
  const { businessId, now } = saving
  const id = readId(body, 'reportScheduleId')
  const current = id === undefined ? undefined : await lockSchedule(tx, businessId, id)
  if (id !== undefined && !current) throw notFound('report schedule', id)
  if (current) saving.onCurrent(current.schedule)

  const read = await readSchedule(tx, body, current?.schedule, saving)
  const fields = { ...read, ...recipientsAfter(read, current?.schedule, saving) }
  const timeZone = await findTimeZone(tx, businessId, fields.locationId)
  if (!current) {
    const nextRunTime = nextScheduledTime(fields, timeZone, now)
    const row = await insertSchedule(
      tx,
      businessId,
      fields,
      { nextRunTime, doneUntil: now },
      saving,
    )
    return { row, isNew: true }
  }
  // A save of a schedule that failed makes it run again at once.
  const isRunAgain = current.state.attempts > 0
  if (!isRunAgain && isUnchanged(fields, current.schedule)) return { row: current, isNew: false }
  const next = nextRunOf(current, fields, timeZone, now)
  return { row: await updateSchedule(tx, current.schedule, fields, next, saving), isNew: false }
}

const TIMING = [
  'frequency',
  'weekday',
  'dayOfMonth',
  'timeOfDay',
  'locationId',
  'active',
  'paused',
] as const

/** A changed timing applies from now on. A failed run is retried at once. */
function nextRunOf(
  { schedule, state }: ScheduleRow,
  fields: ScheduleFields,
  timeZone: string,
  now: Temporal.Instant,
) {
  const isRetimed = TIMING.some((name) => schedule[name] !== fields[name])
  if (isRetimed) return { nextRunTime: nextScheduledTime(fields, timeZone, now), doneUntil: now }
  const { nextRunTime, doneUntil, attempts } = state
  return { nextRunTime: attempts > 0 ? now : nextRunTime, doneUntil }
}

/** A person who is removed and added again gets the mails again. */
function recipientsAfter(
  { userIdList, addressList }: ScheduleFields,
  current: ScheduleObject | undefined,
  { userId }: ScheduleSave,
) {
  return {
    linkUserId:
      current && isSameList(addressList, current.addressList) ? current.linkUserId : userId,
    stoppedUserIdList: (current?.stoppedUserIdList ?? []).filter((id) => userIdList.includes(id)),
    stoppedAddressList: (current?.stoppedAddressList ?? []).filter((one) =>
      addressList.includes(one),
    ),
  }
}

const isSameList = (a: string[], b: string[]) => a.join('\n') === b.join('\n')

async function readSchedule(
  tx: Db,
  body: unknown,
  current: ScheduleObject | undefined,
  saving: ScheduleSave,
) {
  const { businessId, now } = saving
  const { values, faults } = readFields<ScheduleFields>(SCHEDULE_BODY, body, current)
  faults.push(...foreignBusiness(body, businessId))
  const { frequency, weekday, dayOfMonth, userIdList } = values
  const more: Fault[] = []
  const add = (pointer: string, detail: string) => void more.push({ pointer, detail })
  if (frequency === 'WEEKLY' && weekday === null) add('/weekday', 'is required for WEEKLY')
  if (frequency === 'MONTHLY' && dayOfMonth === null) add('/dayOfMonth', 'is required for MONTHLY')
  const isListValid = !faults.some(({ pointer }) => pointer.startsWith('/userIdList'))
  const areAddressesValid = !faults.some(({ pointer }) => pointer.startsWith('/addressList'))
  if (isListValid && areAddressesValid && userIdList.length + values.addressList.length === 0) {
    add('/userIdList', 'must name at least one person, or addressList an address')
  }
  if (areAddressesValid) more.push(...(await findAddressFaults(tx, values, current, saving)))
  if (isListValid) more.push(...(await findRecipientFaults(tx, values, current, businessId)))
  more.push(...(await findReportFaults(tx, businessId, values, now)))
  throwFaults(faults, more)
  return {
    ...values,
    userIdList: [...new Set(userIdList)],
    addressList: [...new Set(values.addressList)],
  }
}

/** The links of the addresses have the rights of who changes them, so it must be a person with rights. */
async function findAddressFaults(
  tx: Db,
  { reportId, locationId, addressList }: ScheduleFields,
  current: ScheduleObject | undefined,
  { businessId, userId }: ScheduleSave,
): Promise<Fault[]> {
  if (addressList.length === 0 || isSameList(addressList, current?.addressList ?? [])) return []
  const [user] = userId === null ? [] : await listUsersById(tx, businessId, [userId])
  const detail = user
    ? rightsFault(user, { reportId, locationId })
    : 'can only be changed by a signed-in person, whose rights the links then have'
  return detail === undefined ? [] : [{ pointer: '/addressList', detail }]
}

/** People who were recipients before are not checked again unless report or location change. */
async function findRecipientFaults(
  tx: Db,
  { reportId, locationId, userIdList }: ScheduleFields,
  current: ScheduleObject | undefined,
  businessId: number,
): Promise<Fault[]> {
  const isSameReport = current?.reportId === reportId && current.locationId === locationId
  const known = isSameReport ? current.userIdList : []
  const users = await listUsersById(tx, businessId, userIdList)
  return userIdList.flatMap((userId, i) => {
    if (known.includes(userId)) return []
    const user = users.find((one) => one.userId === userId)
    const detail = user ? recipientFault(user, { reportId, locationId }) : 'there is no such user'
    return detail === undefined ? [] : [{ pointer: `/userIdList/${i}`, detail }]
  })
}

type Wanted = Pick<ReportSchedule, 'reportId' | 'locationId'>

/** Why a person cannot get the report; undefined if they can. */
function recipientFault(user: UserRow, wanted: Wanted) {
  const reason = unreachableReason(user)
  return rightsFault(user, wanted) ?? (reason && `${user.username} ${reason}`)
}

function rightsFault(user: UserRow, { reportId, locationId }: Wanted) {
  const report = REPORTS.find((one) => one.reportId === reportId)
  const { functions, locationIds } = readerOfUser(user)
  if (report && !mayPrint(report, functions)) {
    return `${user.username} may not see this report: the role ${user.role} lacks a function that it needs`
  }
  if (locationId !== null && locationIds && !locationIds.includes(locationId)) {
    return `${user.username} may not see this location`
  }
  return undefined
}
