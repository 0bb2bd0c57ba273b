import type { ReportFormat } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import type { PrintedFile } from '../reports/print-to-file.ts'
import {
  deleteRunsBefore,
  findRunPart,
  insertRun,
  insertRunPart,
  updateRun,
  type ReaderRights,
} from '../store/report-runs.ts'

const RETENTION = { hours: 24 }
const PART_BYTES = 262_144

type RunKey = { businessId: number; runId: number }

/** Stores a printed file in the database, so that any node can answer with it, and closes it. */
export async function storeFile(db: Db, { businessId, runId }: RunKey, file: PrintedFile) {
  const { handle, size } = file
  try {
    for (let part = 0, at = 0; at < size; part++) {
      const bytes = Buffer.alloc(Math.min(PART_BYTES, size - at))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, at)
      if (bytesRead !== bytes.length)
        throw new Error('the printed file was truncated while it was read')
      await insertRunPart(db, businessId, runId, part, bytes)
      at += bytesRead
    }
  } finally {
    await handle.close()
  }
}

type FileToStore = {
  file: PrintedFile
  credential: string
  reportId: number
  format: ReportFormat
  reader: ReaderRights
}

/** Stores a file that was printed outside a run, as a completed run. Returns its id. */
export async function storeAsRun(
  db: Db,
  businessId: number,
  { file, ...run }: FileToStore,
  now: Temporal.Instant,
) {
  const stored = { ...run, attach: true, fileName: file.fileName }
  const { runId } = await insertRun(db, businessId, stored, now)
  await storeFile(db, { businessId, runId }, file)
  const done = { runId, status: 'COMPLETED' as const, rowsDone: 0, fileSize: file.size }
  await updateRun(db, businessId, done, now)
  return runId
}

export async function* readStoredFile(db: Db, { businessId, runId }: RunKey) {
  for (let part = 0; ; part++) {
    const bytes = await findRunPart(db, businessId, runId, part)
    if (!bytes) return
    yield bytes
  }
}

/** Deletes files that are older than a day and have no link. */
export const deleteOldFiles = (db: Db, businessId: number, now: Temporal.Instant) =>
  deleteRunsBefore(db, businessId, { before: now.subtract(RETENTION), now })
