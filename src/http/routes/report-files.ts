import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { PrintedReport, type ReportFormat } from '../../contract/report.ts'
import type { Db } from '../../database/database.ts'
import { CONTENT_TYPES } from '../../reports/formats/formats.ts'
import { readStoredFile } from '../../report-delivery/stored-files.ts'
import type { ReportRun } from '../../store/report-runs.ts'

/** The answer of a route that sends a printed report. */
export const PrintedFiles = {
  description: 'The file.',
  content: {
    'application/pdf': { schema: Type.String() },
    [CONTENT_TYPES.xlsx]: { schema: Type.String() },
    'text/csv': { schema: Type.String() },
    'text/html': { schema: Type.String() },
    'application/json': { schema: PrintedReport },
  },
}

type Description = {
  fileName: string
  contentType: string
  size: number
  format: ReportFormat
  attach: boolean
}

export function sendFile(
  reply: FastifyReply,
  file: Readable,
  { fileName, contentType, size, format, attach }: Description,
) {
  reply
    .header('content-type', contentType)
    .header('content-length', size)
    .header('content-disposition', `${attach ? 'attachment' : 'inline'}; filename="${fileName}"`)
    .header('cache-control', 'no-store')
  if (format === 'html') reply.header('content-security-policy', PAGE_POLICY)
  return reply.send(file)
}

/** A printed page has inline styles and no scripts. The console shows it in an iframe. */
const PAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

/** Sends the file of a completed run. */
export function sendStoredFile(reply: FastifyReply, db: Db, businessId: number, run: ReportRun) {
  const format = run.format as ReportFormat
  const file = Readable.from(readStoredFile(db, { businessId, runId: run.runId }))
  const about = { contentType: CONTENT_TYPES[format], format, size: run.fileSize! }
  return sendFile(reply, file, { ...run, ...about })
}
