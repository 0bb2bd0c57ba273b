import { createReadStream, createWriteStream, statSync, type WriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { instant, isTimeZone } from '../contract/fields.ts'
import { OBJECT_KINDS, objectKind } from '../contract/objects.ts'
import type { Database } from '../database/database.ts'
import { StartError } from '../errors.ts'
import { readCsv, readMapping } from '../scheduling/csv-lines.ts'
import { importLines, tryLines, type Imported, type Line } from '../scheduling/import.ts'
import { readNdjson } from '../scheduling/ndjson.ts'
import { findBusiness } from '../store/businesses.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = {
  business?: number
  format?: 'ndjson' | 'csv'
  kind?: string
  map: Record<string, string>
  zone?: string
  events?: 'none'
  refused?: string
  dryRun?: boolean
}

export const command = new Command()
  .argument('<file>', 'NDJSON or CSV file; - is standard input')
  .option(
    '--business <businessId>',
    'business to import into; required if there are several',
    wholeNumber,
  )
  .addOption(
    new Option(
      '--format <format>',
      'format of the file (default: csv for *.csv, else ndjson)',
    ).choices(['ndjson', 'csv']),
  )
  .addOption(
    new Option('--kind <kind>', 'kind of the rows of a CSV file').choices(
      OBJECT_KINDS.map(({ kind }) => kind),
    ),
  )
  .option(
    '--map <column=field>',
    'field of a column with another name; may be repeated',
    readMap,
    {},
  )
  .option(
    '--zone <zone>',
    'time zone of times without one in a CSV file (default: that of the business)',
  )
  .addOption(
    new Option(
      '--events <events>',
      'none: import history; only future reminders are scheduled',
    ).choices(['none']),
  )
  .option('--dry-run', 'show which lines would be refused; saves nothing')
  .option('--refused <file>', 'output file for refused lines (default: standard error)')
  .addHelpText(
    'after',
    '\nExits with 1 if lines were refused; the others are saved. See docs/import.md.',
  )
  .action((file: string, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
      if (format === 'csv' && !options.kind) {
        throw new StartError('A CSV file needs --kind: the kind of objects in its rows.')
      }
      const businessId = await chooseBusiness(database, options.business)
      const source = open(file)
      const zone = await chooseZone(database, businessId, options.zone)
      const lines =
        format === 'csv' ? csvLines(source, zone, options) : ndjsonLines(source, options)
      const refusals = openRefusals(options.refused)
      const imported = await withProgress(`Importing ${file}`, 'lines', (report) => {
        const work = options.dryRun ? tryLines : importLines
        return work(database.forBusiness(businessId, 'SYSTEM'), lines, {
          businessId,
          user: 'SYSTEM',
          now: () => now,
          history: options.events === 'none',
          // The operator may set creation dates.
          recordedAt: readCreatedDate,
          onRefused: refusals.write,
          onProgress: (done) => report({ share: shareOf(source), done }),
        })
      })
      await refusals.close()
      console.log(summary(imported, options.dryRun ?? false))
      if (imported.refusedCount > 0) process.exitCode = 1
    }),
  )

function readCreatedDate({ createdDate }: Record<string, unknown>) {
  const isMoment = instant().faults(createdDate).length === 0
  return isMoment ? Temporal.Instant.fromEpochMilliseconds(createdDate as number) : undefined
}

function readMap(text: string, map: Record<string, string>) {
  const mapping = readMapping(text)
  if (!mapping) throw new StartError(`--map ${text}: write it as column=field.`)
  return { ...map, [mapping[0]]: mapping[1] }
}

type Source = { stream: Readable; size: number; read: number }

function open(file: string): Source {
  const source: Source = { stream: process.stdin, size: 0, read: 0 }
  if (file !== '-') {
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found?.isFile()) throw new StartError(`There is no file ${file}.`)
    source.size = found.size
    source.stream = createReadStream(file, { highWaterMark: 262_144 })
  }
  return source
}

/** The share of the file that was read; 0 for standard input, whose size is unknown. */
const shareOf = ({ size, read }: Source) => (size > 0 ? Math.min(1, read / size) : 0)

async function* countBytes(source: Source): AsyncIterable<Buffer> {
  for await (const chunk of source.stream) {
    source.read += chunk.length
    yield chunk
  }
}

function csvLines(source: Source, zone: string, { kind, map }: Options) {
  return readCsv(countBytes(source), {
    kind: objectKind(kind!)!,
    map,
    zone,
    onHeader: (columns) => {
      const unread = columns.filter(({ field }) => field === null).map(({ column }) => column)
      // If no column is read, the import is refused with a message of its own.
      if (unread.length === 0 || unread.length === columns.length) return
      console.error(`Columns not read: ${unread.join(', ')}. Use --map column=field to read one.`)
    },
  })
}

async function* ndjsonLines(source: Source, { kind }: Options): AsyncIterable<Line[]> {
  for await (const lines of readNdjson(countBytes(source))) {
    if (kind) for (const line of lines) setKind(line, kind)
    yield lines
  }
}

/** A `kind` in the line has precedence. */
function setKind(line: Line, kind: string) {
  if (!('body' in line) || typeof line.body !== 'object' || line.body === null) return
  if (!Object.hasOwn(line.body, 'kind')) Object.assign(line.body, { kind })
}

async function chooseZone(database: Database, businessId: number, zone: string | undefined) {
  if (zone === undefined) return (await findBusiness(database.operator, businessId))!.timeZone
  if (!isTimeZone(zone))
    throw new StartError(`--zone ${zone} is not a time zone; use a name such as Europe/Zurich.`)
  return zone
}

function openRefusals(file: string | undefined) {
  const out: WriteStream | undefined = file === undefined ? undefined : createWriteStream(file)
  const write = (line: number, reason: string) => {
    if (out) out.write(`${JSON.stringify({ line, reason })}\n`)
    else console.error(`line ${line}: ${reason}`)
  }
  const close = async () => {
    out?.end()
    if (out) await finished(out)
  }
  return { write, close }
}

function summary({ accepted, refusedCount }: Imported, isTrial: boolean) {
  const kinds = Object.entries(accepted).map(([kind, count]) => `${count} ${kind}`)
  const kept = `${isTrial ? 'Would be accepted' : 'Accepted'}: ${kinds.join(', ') || 'nothing'}.`
  return `${kept} Refused: ${refusedCount}.`
}
