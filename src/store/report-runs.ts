import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type ReportRun = {
  runId: number
  reportId: number
  format: string
  attach: boolean
  status: 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED'
  failure: string | null
  rowsDone: number
  rowsTotal: number | null
  fileName: string
  fileSize: number | null
  createdDate: Temporal.Instant
  beatTime: Temporal.Instant
  /** The rights that the file was printed with; null if they were not stored. */
  reader: ReaderRights | null
}

/** The rights on which the content of a printed file depends; null: all locations, all staff. */
export type ReaderRights = {
  functions: string[]
  locationIds: number[] | null
  professionalIds: number[] | null
}

const columns = sql`
  run_id       as "runId",
  report_id    as "reportId",
  format,
  attach,
  status,
  failure,
  rows_done    as "rowsDone",
  rows_total   as "rowsTotal",
  file_name    as "fileName",
  file_size    as "fileSize",
  created_date as "createdDate",
  beat_time    as "beatTime",
  reader`

type NewRun = {
  credential: string
  reportId: number
  format: string
  attach: boolean
  fileName: string
  reader: ReaderRights
}

export const insertRun = (db: Db, businessId: number, run: NewRun, now: Temporal.Instant) =>
  db.getRow<ReportRun>(sql`
    insert into report_run (business_id, credential, report_id, format, attach, file_name, reader, created_date, beat_time)
    values (${businessId}, ${run.credential}, ${run.reportId}, ${run.format}, ${run.attach}, ${run.fileName},
            ${JSON.stringify(run.reader)}::jsonb, ${now}, ${now})
    returning ${columns}`)

/** Only the credential that started a run can read it: the file contains what it may see. */
export const findRun = (db: Db, businessId: number, runId: number, credential: string) =>
  db.findRow<ReportRun>(sql`
    select ${columns}
    from report_run
    where business_id = ${businessId} and run_id = ${runId} and credential = ${credential}`)

/** For links, which have their own rules and need no credential. */
export const findRunOfLink = (db: Db, businessId: number, runId: number) =>
  db.findRow<ReportRun>(sql`
    select ${columns} from report_run where business_id = ${businessId} and run_id = ${runId}`)

export function updateRun(
  db: Db,
  businessId: number,
  { runId, status, failure, rowsDone, rowsTotal, fileSize }: RunProgress,
  now: Temporal.Instant,
) {
  return db.query(sql`
    update report_run
    set status = ${status}, failure = ${failure ?? null}, rows_done = ${rowsDone},
        rows_total = ${rowsTotal ?? null}, file_size = ${fileSize ?? null}, beat_time = ${now}
    where business_id = ${businessId} and run_id = ${runId} and status in ('QUEUED', 'RUNNING')`)
}

type RunProgress = {
  runId: number
  status: ReportRun['status']
  rowsDone: number
  rowsTotal?: number | null
  failure?: string
  fileSize?: number
}

export function insertRunPart(
  db: Db,
  businessId: number,
  runId: number,
  part: number,
  bytes: Buffer,
) {
  return db.query(sql`
    insert into report_run_part (business_id, run_id, part, bytes)
    values (${businessId}, ${runId}, ${part}, ${bytes})`)
}

export async function findRunPart(db: Db, businessId: number, runId: number, part: number) {
  const found = await db.findRow<{ bytes: Buffer }>(sql`
    select bytes from report_run_part
    where business_id = ${businessId} and run_id = ${runId} and part = ${part}`)
  return found?.bytes
}

/** Files with a link are kept until the link expires. */
export function deleteRunsBefore(
  db: Db,
  businessId: number,
  { before, now }: { before: Temporal.Instant; now: Temporal.Instant },
) {
  return db.query(sql`
    delete from report_run
    where business_id = ${businessId} and created_date < ${before}
      and (keep_until is null or keep_until < ${now})`)
}
