import { SCHEDULE_FIELDS, type ReportSchedule } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import { NOT_HELD } from './installation.ts'
import { revokeLinksOfCredential } from './report-links.ts'
import {
  columnsFor,
  columnsOf,
  insertRows,
  insertSaved,
  SAVED_COLUMNS,
  selectList,
  updateSaved,
  type By,
  type Stored,
} from './rows.ts'
import type { PageAfter } from './pages.ts'

/** The fields that a caller may write. */
export type ScheduleFields = Pick<ReportSchedule, keyof typeof SCHEDULE_FIELDS>

/** What follows from a change of the recipients. */
export type RecipientState = Pick<
  ReportSchedule,
  'linkUserId' | 'stoppedUserIdList' | 'stoppedAddressList'
>

const RECIPIENT_COLUMNS = columnsFor<RecipientState>({
  linkUserId: 'bigint',
  stoppedUserIdList: 'bigint[]',
  stoppedAddressList: 'text[]',
})
const FIELDS = columnsOf(SCHEDULE_FIELDS)

/** A schedule as the API returns it, without the state of its runs. */
export type ScheduleObject = Stored<Omit<ReportSchedule, 'delivery'>>

/** The part of a schedule that its runs change. */
export type ScheduleState = {
  /** When a worker checks the schedule next. */
  nextRunTime: Temporal.Instant
  /** Scheduled times up to this one are finished. */
  doneUntil: Temporal.Instant
  /** Attempts for the scheduled time that is due. */
  attempts: number
  lastError: string | null
}

export type ScheduleRow = { schedule: ScheduleObject; state: ScheduleState }

type FlatRow = ScheduleObject & ScheduleState

const columns = sql`
  t.report_schedule_id as "reportScheduleId", t.business_id as "businessId",
  ${selectList([...FIELDS, ...RECIPIENT_COLUMNS])}, ${SAVED_COLUMNS},
  t.next_run_time as "nextRunTime", t.done_until as "doneUntil", t.attempts,
  t.last_error as "lastError"`

function splitRow(row: FlatRow): ScheduleRow {
  const { nextRunTime, doneUntil, attempts, lastError, ...schedule } = row
  return { schedule, state: { nextRunTime, doneUntil, attempts, lastError } }
}

export async function findSchedule(db: Db, businessId: number, id: number, lock = empty) {
  const row = await db.findRow<FlatRow>(sql`
    select ${columns} from report_schedule t
    where business_id = ${businessId} and report_schedule_id = ${id} ${lock}`)
  return row && splitRow(row)
}

export const lockSchedule = (tx: Db, businessId: number, reportScheduleId: number) =>
  findSchedule(tx, businessId, reportScheduleId, sql`for update`)

export async function listSchedules(db: Db, businessId: number, { after, limit }: PageAfter) {
  const rows = await db.query<FlatRow>(sql`
    select ${columns} from report_schedule t
    where business_id = ${businessId} and active and report_schedule_id > ${after}
    order by report_schedule_id limit ${limit}`)
  return rows.map(splitRow)
}

type NextRun = Pick<ScheduleState, 'nextRunTime' | 'doneUntil'>

const NEXT_RUN_COLUMNS = columnsFor<NextRun>({
  nextRunTime: 'timestamptz',
  doneUntil: 'timestamptz',
})

export async function insertSchedule(
  tx: Db,
  businessId: number,
  fields: ScheduleFields & Pick<RecipientState, 'linkUserId'>,
  nextRun: NextRun,
  by: By,
) {
  const row = { ...fields, ...nextRun, businessId }
  const written = [
    ...FIELDS,
    ...NEXT_RUN_COLUMNS,
    ...columnsFor<typeof row>({ businessId: 'bigint', linkUserId: 'bigint' }),
  ]
  const inserted = await tx.getRow<FlatRow>(sql`
    ${insertSaved<typeof row>('report_schedule', written, row, by)} returning ${columns}`)
  return splitRow(inserted)
}

/**
 * Resets the attempts, which belong to the old version. Deactivating it, or removing an address, revokes
 * the links in its mails.
 */
export async function updateSchedule(
  tx: Db,
  {
    businessId,
    reportScheduleId,
    addressList,
  }: Pick<ScheduleObject, 'businessId' | 'reportScheduleId' | 'addressList'>,
  fields: ScheduleFields & RecipientState,
  nextRun: NextRun,
  by: By,
) {
  const row = { ...fields, ...nextRun }
  const written = [...FIELDS, ...RECIPIENT_COLUMNS, ...NEXT_RUN_COLUMNS]
  const again = sql`, attempts = 0, last_error = null`
  const updated = await tx.getRow<FlatRow>(sql`
    ${updateSaved<typeof row>('report_schedule', written, row, by, again)}
    where t.business_id = ${businessId} and t.report_schedule_id = ${reportScheduleId}
    returning ${columns}`)
  if (!fields.active || addressList.some((one) => !fields.addressList.includes(one))) {
    const credential = credentialOfSchedule(reportScheduleId)
    await revokeLinksOfCredential(tx, { businessId, credential }, by)
  }
  return splitRow(updated)
}

type StoppingRecipient = { userId: number } | { address: string }

export const isStopped = (
  { stoppedUserIdList, stoppedAddressList }: RecipientState,
  recipient: StoppingRecipient,
) =>
  'userId' in recipient
    ? stoppedUserIdList.includes(recipient.userId)
    : stoppedAddressList.includes(recipient.address)

/** Also changes the version, so that a run that prints for the recipient begins again. */
export const saveStopped = (
  tx: Db,
  schedule: ScheduleObject,
  change: { recipient: StoppingRecipient; isStopped: boolean },
  by: By,
) => {
  const { recipient } = change
  const stopped = (isPerson: boolean) =>
    isPerson ? sql`stopped_user_id_list` : sql`stopped_address_list`
  const list = stopped('userId' in recipient)
  const value =
    'userId' in recipient ? sql`${recipient.userId}::bigint` : sql`${recipient.address}::text`
  const changed = change.isStopped
    ? sql`array_append(${list}, ${value})`
    : sql`array_remove(${list}, ${value})`
  return tx.query(sql`
    update report_schedule
    set ${list} = ${changed}, version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${schedule.businessId} and report_schedule_id = ${schedule.reportScheduleId}`)
}

/** The credential of the runs whose files its mails link to. */
export const credentialOfSchedule = (reportScheduleId: number) =>
  `reportSchedule:${reportScheduleId}`

/** Businesses with a due schedule: first those after `after`, then those from the start. */
export async function listBusinessesWithDueSchedules(
  engine: Db,
  { now, after, limit }: { now: Temporal.Instant; after: number; limit: number },
) {
  const rows = await engine.query<{ businessId: number }>(sql`
    select s.business_id as "businessId"
    from report_schedule s join business b using (business_id)
    where s.active and not s.paused and b.active and s.next_run_time <= ${now} and ${NOT_HELD}
    group by s.business_id
    order by s.business_id <= ${after}, s.business_id limit ${limit}`)
  return rows.map(({ businessId }) => businessId)
}

export async function findDueSchedule(db: Db, businessId: number, now: Temporal.Instant) {
  const row = await db.findRow<FlatRow>(sql`
    select ${columns} from report_schedule t
    where business_id = ${businessId} and active and not paused and next_run_time <= ${now}
    order by next_run_time, report_schedule_id limit 1`)
  return row && splitRow(row)
}

/** False if the schedule was saved or run since the worker read it. */
const unchanged = ({ schedule, state }: ScheduleRow) => sql`
  business_id = ${schedule.businessId} and report_schedule_id = ${schedule.reportScheduleId}
  and active and version = ${schedule.version} and done_until = ${state.doneUntil}`

/** Changes only when a worker checks the schedule next. */
export const postponeSchedule = (db: Db, row: ScheduleRow, nextRunTime: Temporal.Instant) =>
  db.query(sql`
    update report_schedule set next_run_time = ${nextRunTime} where ${unchanged(row)}`)

/** Counts an attempt before it starts, so that a report that stops its node is given up. */
export async function beginAttempt(db: Db, row: ScheduleRow) {
  const rows = await db.query(sql`
    update report_schedule set attempts = attempts + 1 where ${unchanged(row)} returning 1`)
  return rows.length === 1
}

/** An attempt that was interrupted by a stop or an outage does not count. */
export const forgetAttempt = (db: Db, row: ScheduleRow) =>
  db.query(sql`
    update report_schedule set attempts = ${row.state.attempts} where ${unchanged(row)}`)

export const recordFailedAttempt = (
  db: Db,
  row: ScheduleRow,
  { error, retryTime }: { error: string; retryTime: Temporal.Instant },
) =>
  db.query(sql`
    update report_schedule set last_error = ${error}, next_run_time = ${retryTime}
    where ${unchanged(row)}`)

/** Marks scheduled times up to `doneUntil` as finished. Returns false if it was saved or run meanwhile. */
export async function finishScheduledTime(
  tx: Db,
  row: ScheduleRow,
  { doneUntil, nextRunTime }: NextRun,
) {
  const rows = await tx.query(sql`
    update report_schedule
    set done_until = ${doneUntil}, next_run_time = ${nextRunTime}, attempts = 0, last_error = null
    where ${unchanged(row)} returning 1`)
  return rows.length === 1
}

/** A clock that was set back makes a scheduled time due again. */
export async function hasRun(
  db: Db,
  { businessId, reportScheduleId }: ScheduleObject,
  scheduledTime: Temporal.Instant,
) {
  const rows = await db.query(sql`
    select from report_schedule_run
    where business_id = ${businessId} and report_schedule_id = ${reportScheduleId}
      and scheduled_time = ${scheduledTime}`)
  return rows.length > 0
}

type RunOfSchedule = ReportSchedule['delivery']['runs'][number]

export type NewScheduleRun = Pick<ScheduleObject, 'businessId' | 'reportScheduleId'> &
  Stored<Omit<RunOfSchedule, 'reportScheduleRunId' | 'recipients'>>

export type NewReportDelivery = {
  /** One of both. */
  userId: number | null
  address: string | null
  emailId: number | null
  reason: string | null
}

/** Writes a run, and its delivery to each recipient. */
export async function insertScheduleRun(
  tx: Db,
  run: NewScheduleRun,
  deliveries: NewReportDelivery[],
) {
  const { businessId } = run
  const row = await tx.getRow<{ reportScheduleRunId: number }>(sql`
    insert into report_schedule_run (business_id, report_schedule_id, scheduled_time, first_day,
      last_day, status, status_reason, ended_time)
    values (${businessId}, ${run.reportScheduleId}, ${run.scheduledTime}, ${run.startDate}::date,
            ${run.endDate}::date, ${run.status}, ${run.statusReason}, ${run.endedTime})
    returning report_schedule_run_id as "reportScheduleRunId"`)
  const { reportScheduleRunId } = row
  if (deliveries.length === 0) return
  const rows = deliveries.map((one) => Object.assign({ businessId, reportScheduleRunId }, one))
  await tx.query(insertRows('report_delivery', DELIVERY_COLUMNS, rows))
}

const DELIVERY_COLUMNS = columnsFor<
  NewReportDelivery & { businessId: number; reportScheduleRunId: number }
>({
  businessId: 'bigint',
  reportScheduleRunId: 'bigint',
  userId: 'bigint',
  address: 'text',
  emailId: 'bigint',
  reason: 'text',
})

export type ScheduleRun = Stored<RunOfSchedule> & { reportScheduleId: number }

/** The newest runs of each of these schedules, newest first. */
export function listScheduleRuns(
  db: Db,
  businessId: number,
  reportScheduleIds: number[],
  limit: number,
) {
  return db.query<ScheduleRun>(sql`
    select r.report_schedule_run_id as "reportScheduleRunId",
           r.report_schedule_id as "reportScheduleId", r.scheduled_time as "scheduledTime",
           r.first_day::text as "startDate", r.last_day::text as "endDate", r.status,
           r.status_reason as "statusReason", r.ended_time as "endedTime",
           (select coalesce(json_agg(json_build_object('userId', d.user_id,
                     'username', coalesce(u.username, d.address),
                     'emailId', d.email_id, 'emailStatus', e.status,
                     'reason', coalesce(d.reason, e.status_reason)) order by d.report_delivery_id), '[]')
            from report_delivery d
            left join user_account u using (business_id, user_id)
            left join email e using (business_id, email_id)
            where d.business_id = r.business_id
              and d.report_schedule_run_id = r.report_schedule_run_id) as recipients
    from unnest(${reportScheduleIds}::bigint[]) as s (report_schedule_id)
    cross join lateral (
      select * from report_schedule_run n
      where n.business_id = ${businessId} and n.report_schedule_id = s.report_schedule_id
      order by n.scheduled_time desc limit ${limit}) r
    order by r.report_schedule_id, r.scheduled_time desc`)
}

/** The report that a mail contains; undefined if it contains none. */
export async function findReportInEmail(db: Db, businessId: number, emailId: number) {
  const found = await db.findRow<{ reportId: number }>(sql`
    select s.report_id as "reportId"
    from report_delivery d
    join report_schedule_run r using (business_id, report_schedule_run_id)
    join report_schedule s using (business_id, report_schedule_id)
    where d.business_id = ${businessId} and d.email_id = ${emailId}`)
  return found?.reportId
}

/** The time zone of the location, else of the business. */
export async function findTimeZone(db: Db, businessId: number, locationId: number | null) {
  const found = await db.getRow<{ timeZone: string }>(sql`
    select coalesce(l.time_zone, b.time_zone) as "timeZone"
    from business b
    left join location l on l.business_id = b.business_id and l.location_id = ${locationId}
    where b.business_id = ${businessId}`)
  return found.timeZone
}
