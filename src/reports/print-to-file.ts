import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportFormat } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { CONTENT_TYPES } from './formats/formats.ts'
import { writeInThread } from './formats/writer-pool.ts'
import { filePartOf } from './filters.ts'
import type { PrintJob } from './print-request.ts'
import { toPdf, type PageSize } from './formats/pdf.ts'
import { printReport } from './print.ts'
import { watchForContent, writeMailSummary, type MailSummary } from './mail-summary.ts'
import type { ReportResult } from './report.ts'

export type PrintedFile = {
  fileName: string
  contentType: string
  size: number
  reportName: string
  /** For the text of a mail; absent unless requested. */
  summary?: MailSummary
  /** The file is unlinked already: the system deletes it when the handle is closed or the process ends. */
  handle: FileHandle
}

export type Printing = {
  format: ReportFormat
  pageSize: PageSize
  signal: AbortSignal
  onProgress?: (rowsRead: number) => void
  /** Also returns what the text of a mail shows. */
  hasSummary?: boolean
}

/** Prints to a temporary file, so that a client gets a complete report or an error. */
export async function printToFile(db: Db, job: PrintJob, printing: Printing): Promise<PrintedFile> {
  const { format, pageSize, signal, onProgress, hasSummary = false } = printing
  const path = join(tmpdir(), `bellwether-report-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    let size = 0
    let summary: MailSummary | undefined
    let { reportName } = job.report
    await printReport(
      db,
      job,
      async (result, inEnglish) => {
        // A replica may have cancelled a first try.
        await handle.truncate(0)
        reportName = result.report.reportName
        const { result: printed, watched } = watchForContent(format === 'csv' ? inEnglish : result)
        size =
          format === 'pdf'
            ? await writePdf(printed, { handle, pageSize, signal })
            : await writeInThread(printed, { format, fd: handle.fd, signal })
        if (hasSummary) summary = { ...writeMailSummary(result), isEmpty: !watched.hasContent }
      },
      {
        rowsOnly: format === 'csv' && !hasSummary,
        hasRowFilters: format === 'json',
        signal,
        ...(onProgress ? { onProgress } : {}),
      },
    )
    const fileName = fileNameOf(job, format)
    const file = { fileName, contentType: CONTENT_TYPES[format], size, reportName, handle }
    return summary ? { ...file, summary } : file
  } catch (error) {
    await handle.close()
    throw error
  }
}

type PdfWriting = { handle: FileHandle; pageSize: PageSize; signal: AbortSignal }

/** A child process makes the PDF; this function only copies its bytes. */
async function writePdf(result: ReportResult, { handle, pageSize, signal }: PdfWriting) {
  let size = 0
  for await (const bytes of toPdf(result, pageSize, signal)) {
    signal.throwIfAborted()
    await handle.write(bytes, 0, bytes.length, size)
    size += bytes.length
  }
  return size
}

/** The name contains no input of users, so it needs no escaping. */
export const fileNameOf = (
  { report, scope, locationId, filters, groupBy }: PrintJob,
  format: ReportFormat,
) => {
  const location = locationId === null ? '' : `-location-${locationId}`
  const isAsked = report.groupedBy?.(scope).join() !== groupBy.join()
  const grouping = groupBy.length > 0 && isAsked ? `-by-${groupBy.join('-and-')}` : ''
  const part = `${location}${filePartOf(filters)}${grouping}`
  return `${report.reportFileName}${part}_${scope.startDate}_${scope.endDate}.${format}`
}
