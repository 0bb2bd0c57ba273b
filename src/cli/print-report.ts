import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { SECURITY_FUNCTIONS } from '../auth/permissions.ts'
import { readConfig } from '../config.ts'
import { REPORT_FORMATS, type ReportFormat } from '../contract/report.ts'
import { RequestError, StartError } from '../errors.ts'
import { REPORTS } from '../reports/catalog/catalog.ts'
import { printToFile, type PrintedFile } from '../reports/print-to-file.ts'
import { refuseTooManyRows } from '../reports/print.ts'
import { checkPrintRequest } from '../reports/print-request.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

type Options = {
  from: string
  to: string
  format?: ReportFormat
  out?: string
  business?: number
  location?: number
}

export const command = new Command()
  .argument('<report>', 'its number or its name, such as 101 or appointment-list')
  .requiredOption('--from <day>', 'the first day, as YYYY-MM-DD')
  .requiredOption('--to <day>', 'the last day, itself included')
  .addOption(
    new Option('--format <format>', 'pdf, or what the name of the file says').choices(
      REPORT_FORMATS,
    ),
  )
  .option('--out <file>', 'where to; - is standard output; else a name of report and range')
  .option('--business <businessId>', 'whose report; needed where there are several', wholeNumber)
  .option('--location <locationId>', 'of this location alone, in its time zone', wholeNumber)
  .addHelpText('after', `\nReports:\n${REPORTS.map(lineOf).join('\n')}`)
  .action((report: string, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await chooseBusiness(database, options.business)
      const format = options.format ?? formatOf(options.out)
      const wanted = {
        ...(/^\d+$/.test(report) ? { reportId: Number(report) } : { reportFileName: report }),
        startDate: options.from,
        endDate: options.to,
        locationId: options.location,
      }
      const functions = new Set<string>(SECURITY_FUNCTIONS)
      const reader = { businessId, functions, locationIds: null, professionalIds: null }
      const db = database.reportsOf(businessId)
      try {
        const job = await checkPrintRequest(db, wanted, reader, now)
        await refuseTooManyRows(db, job, format)
        const file = await printToFile(db, job, {
          format,
          pageSize: readConfig(process.env).pageSize,
          signal: AbortSignal.timeout(3_600_000),
          onProgress: showProgress,
        })
        await put(file, options.out ?? file.fileName)
      } catch (error) {
        throw error instanceof RequestError ? new StartError(inOptions(error)) : error
      }
    }),
  )

function lineOf({ reportId, reportFileName, description }: (typeof REPORTS)[number]) {
  return `  ${reportId}  ${reportFileName.padEnd(20)} ${description}`
}

/** A name that ends in a format's letters asks for that format. */
function formatOf(out: string | undefined): ReportFormat {
  const ending = path
    .extname(out ?? '')
    .slice(1)
    .toLowerCase()
  return REPORT_FORMATS.find((format) => format === ending) ?? 'pdf'
}

function showProgress(rows: number) {
  if (process.stderr.isTTY) process.stderr.write(`\r${rows.toLocaleString('en')} rows `)
}

/** Under its name only when it is whole. */
async function put({ handle, size }: PrintedFile, out: string) {
  const content = handle.createReadStream({ start: 0 })
  if (out === '-') return pipeline(content, process.stdout, { end: false })
  const unfinished = `${out}.part`
  try {
    await pipeline(content, createWriteStream(unfinished))
    await rename(unfinished, out)
  } catch (error) {
    await rm(unfinished, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    throw code ? new StartError(`${out} cannot be written: ${message}`) : error
  }
  console.error(`${process.stderr.isTTY ? '\r' : ''}${out}, ${size.toLocaleString('en')} bytes`)
}

const OPTIONS: Record<string, string> = {
  '?startDate': '--from',
  '?endDate': '--to',
  '?locationId': '--location',
  '?format': '--format',
  '/reportId': 'The report:',
  '/reportFileName': 'The report:',
}

const inOptions = ({ message, errors }: RequestError) =>
  errors?.map(({ pointer, detail }) => `${OPTIONS[pointer] ?? pointer} ${detail}`).join('; ') ??
  message
