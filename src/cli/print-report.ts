import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { SECURITY_FUNCTIONS } from '../auth/permissions.ts'
import { readConfig } from '../config.ts'
import {
  COMPARED_PERIODS,
  DIMENSIONS,
  REPORT_FORMATS,
  type ReportFormat,
} from '../contract/report.ts'
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
  staff?: number[]
  service?: number[]
  client?: number[]
  status?: string[]
  tag?: string[]
  groupBy?: string[]
  compareWith?: string
}

export const command = new Command()
  .argument('<report>', 'number or name of the report, such as 101 or appointment-list')
  .requiredOption('--from <day>', 'first day, YYYY-MM-DD')
  .requiredOption('--to <day>', 'last day, inclusive, YYYY-MM-DD')
  .addOption(
    new Option(
      '--format <format>',
      'format (default: by the extension of --out, else pdf)',
    ).choices(REPORT_FORMATS),
  )
  .option(
    '--out <file>',
    'output file; - is standard output (default: named after report and range)',
  )
  .option(
    '--business <businessId>',
    'business of the report; required if there are several',
    wholeNumber,
  )
  .option('--location <locationId>', 'only this location, in its time zone', wholeNumber)
  .option('--staff <professionalId...>', 'only these members of staff', collectNumbers)
  .option('--service <reasonId...>', 'only these services', collectNumbers)
  .option('--client <clientId...>', 'only these clients', collectNumbers)
  .option('--status <status...>', 'only these statuses')
  .option('--tag <name=value...>', 'only with one of the values of each tag')
  .option('--group-by <dimension...>', `one or two of ${DIMENSIONS.join(', ')}`)
  .addOption(
    new Option('--compare-with <period>', 'what the figures are compared with').choices(
      COMPARED_PERIODS,
    ),
  )
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
        filters: filtersOf(options),
        groupBy: options.groupBy,
        compareWith: options.compareWith,
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
        await saveFile(file, options.out ?? file.fileName)
      } catch (error) {
        throw error instanceof RequestError ? new StartError(nameOptions(error)) : error
      }
    }),
  )

function collectNumbers(value: string, before: number[] = []) {
  return [...before, wholeNumber(value)]
}

function filtersOf({ staff, service, client, status, tag }: Options) {
  const tags = Map.groupBy(tag ?? [], (one) => one.split('=')[0]!)
  const valueOf = (one: string) => one.slice(one.indexOf('=') + 1)
  return {
    professionalIdList: staff,
    reasonIdList: service,
    clientIdList: client,
    statusList: status,
    tags: tag && Object.fromEntries([...tags].map(([name, all]) => [name, all.map(valueOf)])),
  }
}

function lineOf({ reportId, reportFileName, description }: (typeof REPORTS)[number]) {
  return `  ${reportId}  ${reportFileName.padEnd(20)} ${description}`
}

/** The format by the file extension. */
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

/** Writes to `<out>.part` and renames it at the end. */
async function saveFile({ handle, size }: PrintedFile, out: string) {
  const content = handle.createReadStream({ start: 0 })
  if (out === '-') return pipeline(content, process.stdout, { end: false })
  const partial = `${out}.part`
  try {
    await pipeline(content, createWriteStream(partial))
    await rename(partial, out)
  } catch (error) {
    await rm(partial, { force: true })
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
  '/filters/professionalIdList': '--staff',
  '/filters/reasonIdList': '--service',
  '/filters/clientIdList': '--client',
  '/filters/statusList': '--status',
  '/filters/tags': '--tag',
  '/groupBy': '--group-by',
}

const nameOptions = ({ message, errors }: RequestError) =>
  errors?.map(({ pointer, detail }) => `${nameOption(pointer)} ${detail}`).join('; ') ?? message

/** The option for a JSON pointer, which may point to an item such as `/groupBy/0`. */
const nameOption = (pointer: string) =>
  Object.entries(OPTIONS).find(([start]) => `${pointer}/`.startsWith(`${start}/`))?.[1] ?? pointer
