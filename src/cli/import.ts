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
  .argument('<file>', 'NDJSON or CSV; - is the standard input')
  .option('--business <businessId>', 'into which; needed where there are several', wholeNumber)
  .addOption(
    new Option('--format <format>', 'csv where the file is called so, else ndjson').choices([
      'ndjson',
      'csv',
    ]),
  )
  .addOption(
    new Option('--kind <kind>', 'what the rows of a CSV file are').choices(
      OBJECT_KINDS.map(({ kind }) => kind),
    ),
  )
  .option('--map <column=field>', 'a column that is called otherwise; may be repeated', readMap, {})
  .option('--zone <zone>', 'of times in a CSV file without one; the business’s unless given')
  .addOption(
    new Option(
      '--events <events>',
      'none: history, for which nothing is sent but reminders still ahead',
    ).choices(['none']),
  )
  .option('--dry-run', 'say what would be refused, and keep nothing')
  .option('--refused <file>', 'where refused lines are written; else on standard error')
  .addHelpText(
    'after',
    '\nExits 1 where lines were refused; the others are kept. See docs/import.md.',
  )
  .action((file: string, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
      if (format === 'csv' && !options.kind) {
        throw new StartError('A CSV file needs --kind: which objects are its rows?')
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
          // Whoever has the database may say when things began.
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
  if (!mapping) throw new StartError(`--map ${text}: it is written column=field.`)
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

/** As far as it has been read; of the standard input nobody knows. */
const shareOf = ({ size, read }: Source) => (size > 0 ? Math.min(1, read / size) : 0)

async function* counted(source: Source): AsyncIterable<Buffer> {
  for await (const piece of source.stream) {
    source.read += piece.length
    yield piece
  }
}

function csvLines(source: Source, zone: string, { kind, map }: Options) {
  return readCsv(counted(source), {
    kind: objectKind(kind!)!,
    map,
    zone,
    onHeader: (columns) => {
      const unread = columns.filter(({ field }) => field === null).map(({ column }) => column)
      // If none is read, the refusal says so.
      if (unread.length === 0 || unread.length === columns.length) return
      console.error(`Not read: ${unread.join(', ')}. --map column=field says what a column is.`)
    },
  })
}

async function* ndjsonLines(source: Source, { kind }: Options): AsyncIterable<Line[]> {
  for await (const lines of readNdjson(counted(source))) {
    if (kind) for (const line of lines) giveKind(line, kind)
    yield lines
  }
}

/** A line that says what it is stays that. */
function giveKind(line: Line, kind: string) {
  if (!('body' in line) || typeof line.body !== 'object' || line.body === null) return
  if (!Object.hasOwn(line.body, 'kind')) Object.assign(line.body, { kind })
}

async function chooseZone(database: Database, businessId: number, zone: string | undefined) {
  if (zone === undefined) return (await findBusiness(database.operator, businessId))!.timeZone
  if (!isTimeZone(zone)) throw new StartError(`--zone ${zone} is no time zone: Europe/Zurich is.`)
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
