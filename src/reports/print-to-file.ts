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
import type { ReportResult } from './report.ts'
import { writeSentences } from './sentences.ts'
import { writeSummary } from './summary.ts'

export type PrintedFile = {
  fileName: string
  contentType: string
  size: number
  reportName: string
  /** The figures in words; empty unless requested. */
  sentences: string[]
  /** The file is unlinked already: the system deletes it when the handle is closed or the process ends. */
  handle: FileHandle
}

export type Printing = {
  format: ReportFormat
  pageSize: PageSize
  signal: AbortSignal
  onProgress?: (rowsRead: number) => void
  /** Also writes the figures in words. */
  hasSentences?: boolean
}

/** Prints to a temporary file, so that a client gets a complete report or an error. */
export async function printToFile(db: Db, job: PrintJob, printing: Printing): Promise<PrintedFile> {
  const { format, pageSize, signal, onProgress, hasSentences = false } = printing
  const path = join(tmpdir(), `bellwether-report-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    let size = 0
    let sentences: string[] = []
    let { reportName } = job.report
    await printReport(
      db,
      job,
      async (result, inEnglish) => {
        reportName = result.report.reportName
        if (hasSentences) sentences = writeMailText(result)
        size =
          format === 'pdf'
            ? await writePdf(result, { handle, pageSize, signal })
            : await writeInThread(format === 'csv' ? inEnglish : result, {
                format,
                fd: handle.fd,
                signal,
              })
      },
      {
        rowsOnly: format === 'csv' && !hasSentences,
        hasRowFilters: format === 'json',
        signal,
        ...(onProgress ? { onProgress } : {}),
      },
    )
    const fileName = fileNameOf(job, format)
    return { fileName, contentType: CONTENT_TYPES[format], size, reportName, sentences, handle }
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

/** Three sentences, first those of the report itself, then all figures and the notes. */
function writeMailText(result: ReportResult) {
  const { sentences } = result
  const generated = sentences.length < 3 ? writeSummary(result) : []
  const first = [...sentences, ...generated.slice(0, 3 - sentences.length)]
  return [...new Set([...first, ...writeSentences(result)])]
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
