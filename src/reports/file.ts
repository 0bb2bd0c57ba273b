import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportFormat } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { CONTENT_TYPES, write } from './formats/formats.ts'
import type { Order } from './order.ts'
import type { PageSize } from './formats/pdf.ts'
import { printReport } from './print.ts'

export type PrintedFile = {
  fileName: string
  contentType: string
  size: number
  /** Open, and already without a name: it is gone when it is closed, whatever happens to us. */
  handle: FileHandle
}

export type Printing = {
  format: ReportFormat
  pageSize: PageSize
  signal: AbortSignal
  onProgress?: (rowsRead: number) => void
}

/** Prints to a file of its own first: what is handed out is whole, or is not handed out at all. */
export async function printToFile(db: Db, order: Order, printing: Printing): Promise<PrintedFile> {
  const { format, pageSize, signal, onProgress } = printing
  const path = join(tmpdir(), `bellwether-report-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    let size = 0
    await printReport(
      db,
      order,
      async (result) => {
        for await (const bytes of write(format, result, pageSize, signal)) {
          signal.throwIfAborted()
          const chunk = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
          await handle.write(chunk, 0, chunk.length, size)
          size += chunk.length
        }
      },
      { rowsOnly: format === 'csv', signal, ...(onProgress ? { onProgress } : {}) },
    )
    return { fileName: fileNameOf(order, format), contentType: CONTENT_TYPES[format], size, handle }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Of report, range and format; all of it ours, so that nothing in it can lead elsewhere. */
export const fileNameOf = ({ report, scope, locationId }: Order, format: ReportFormat) =>
  `${report.reportFileName}${locationId === null ? '' : `-location-${locationId}`}_${scope.startDate}_${scope.endDate}.${format}`
