import { createReadStream, createWriteStream, statSync, type WriteStream } from 'node:fs'
import { open as openFile, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { instant, isTimeZone } from '../contract/fields.ts'
import { schemaFaults } from '../contract/find-faults.ts'
import { OBJECT_KINDS, objectKind } from '../contract/objects.ts'
import { countOf } from '../texts/count-of.ts'
import type { Db } from '../database/database.ts'
import { StartError } from '../errors.ts'
import { readChoices, toKept, type GivenChoices } from '../file-import/choices.ts'
import { describePlan } from '../file-import/describe-plan.ts'
import { fieldKey } from '../file-import/fields.ts'
import { planFile, type FilePlan } from '../file-import/plan-file.ts'
import { spool } from '../file-import/read-rows.ts'
import { undoImport } from '../file-import/undo.ts'
import {
  importLines,
  tryLines,
  type Imported,
  type Importing,
  type ImportLine,
} from '../scheduling/import.ts'
import { readNdjson } from '../scheduling/ndjson.ts'
import { insertFileImport, insertImportedObjects } from '../store/file-imports.ts'
import { findImportMapping, saveImportMapping } from '../store/import-mappings.ts'
import { NAMED_KINDS, type NamedKind } from '../store/named-objects.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = {
  business?: number
  format?: 'ndjson' | 'csv'
  kind?: string
  map: string[]
  zone?: string
  dates?: 'dmy' | 'mdy'
  status: string[]
  match: string[]
  default: string[]
  create?: NamedKind[]
  mapping?: string
  keepAs?: string
  events?: 'none'
  refused?: string
  dryRun?: boolean
  undo?: number
}

/** Refused rows of a CSV or XLSX file; `--refused` writes all. */
const MAX_PRINTED = 20

/** Files that are read as tables, or refused with what to do instead. */
const TABLE = /\.(?:csv|tsv|txt|xlsx?|xlsm|ods|numbers|ics|html?|pdf)$/i

const collect = (text: string, earlier: string[]) => [...earlier, text]

export const command = new Command()
  .argument('[file]', 'NDJSON, CSV or XLSX file; - is standard input')
  .option(
    '--business <businessId>',
    'business to import into; required if there are several',
    wholeNumber,
  )
  .addOption(
    new Option(
      '--format <format>',
      'format of the file (default: csv for *.csv, *.tsv, *.txt, *.xlsx and other tables, else ndjson)',
    ).choices(['ndjson', 'csv']),
  )
  .addOption(
    new Option(
      '--kind <kind>',
      'kind of the rows of a CSV or XLSX file (default: calendar)',
    ).choices(OBJECT_KINDS.map(({ kind }) => kind)),
  )
  .option(
    '--map <column=field>',
    'field of a column that is read wrongly; may be repeated',
    collect,
    [],
  )
  .option(
    '--zone <zone>',
    'time zone of times without one in a CSV or XLSX file (default: that of the location)',
  )
  .addOption(
    new Option('--dates <order>', 'whether the day or the month comes first in 03/04/2026').choices(
      ['dmy', 'mdy'],
    ),
  )
  .option('--status <word=STATUS>', 'what a status word means; may be repeated', collect, [])
  .option('--match <kind:name=id>', 'which object a name means; may be repeated', collect, [])
  .option('--default <kind=name>', 'for rows that name none; may be repeated', collect, [])
  .addOption(
    new Option('--create <kind...>', 'create objects of these kinds that do not exist').choices(
      NAMED_KINDS,
    ),
  )
  .option('--mapping <name>', 'use a kept mapping')
  .option('--keep-as <name>', 'keep the mapping and the answers under this name')
  .addOption(
    new Option(
      '--events <events>',
      'none: import history; only future reminders are scheduled',
    ).choices(['none']),
  )
  .option('--dry-run', 'show what would be imported and refused; saves nothing')
  .option(
    '--refused <file>',
    'output file for refused lines; of a CSV or XLSX file as CSV with a column why (default: standard error, the first 20 of a CSV or XLSX file)',
  )
  .option('--undo <fileImportId>', 'undo an import of a CSV or XLSX file instead', wholeNumber)
  .addHelpText(
    'after',
    '\nExits with 1 if lines were refused; the others are saved. See docs/import.md.',
  )
  .action((file: string | undefined, options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await chooseBusiness(database, options.business)
      const db = database.forBusiness(businessId, 'SYSTEM')
      if (options.undo !== undefined) return undo(db, businessId, options.undo, now)
      if (file === undefined) throw new StartError('Name the file to import.')
      const importing: Importing = {
        businessId,
        user: 'SYSTEM',
        now: () => now,
        history: options.events === 'none',
        // The operator may set creation dates.
        recordedAt: readCreatedDate,
      }
      const format = options.format ?? (TABLE.test(file) ? 'csv' : 'ndjson')
      const imported =
        format === 'csv'
          ? await importFile(db, file, options, importing)
          : await importNdjson(db, file, options, importing)
      console.log(summary(imported, options.dryRun ?? false))
      if (imported.refusedCount > 0) process.exitCode = 1
    }),
  )

async function undo(db: Db, businessId: number, fileImportId: number, now: Temporal.Instant) {
  const { undone, kept } = await undoImport(db, { businessId, user: 'SYSTEM', now, fileImportId })
  console.log(`Undone: ${undone}. Kept, because they were changed or used since: ${kept}.`)
}

async function importNdjson(db: Db, file: string, options: Options, importing: Importing) {
  const source = open(file)
  const refusals = openRefusals(options.refused)
  const imported = await withProgress(`Importing ${file}`, 'lines', (report) => {
    const work = options.dryRun ? tryLines : importLines
    return work(db, ndjsonLines(source, options), {
      ...importing,
      onRefused: refusals.write,
      onProgress: (done) => report({ share: shareOf(source), done }),
    })
  })
  await refusals.close()
  return imported
}

/** A CSV or XLSX file: reads it once to plan, and again to import. */
async function importFile(db: Db, file: string, options: Options, importing: Importing) {
  const handle = await openForReading(file)
  try {
    return await withProgress(`Importing ${file}`, 'rows', async (report) => {
      const plan = await planOf(db, handle, options, {
        businessId: importing.businessId,
        onProgress: (done) => report({ share: 0, done }),
      })
      if (!options.dryRun && plan.unclearDate !== undefined) {
        throw new StartError(
          `${plan.unclearDate} can be read in two ways. Use --dates dmy if the day comes first, --dates mdy if the month does.`,
        )
      }
      describe(plan)
      if (options.dryRun) showRows(plan)
      const reasons = new Map<number, string>()
      let refused = 0
      const running: Importing = {
        ...importing,
        onRefused: (line, reason) => {
          const why = plan.inWords(reason)
          refused += 1
          if (refused <= MAX_PRINTED) console.error(`line ${line}: ${why}`)
          if (options.refused !== undefined) reasons.set(line, why)
        },
        onProgress: (done) => report({ share: Math.min(1, done / plan.survey.rowCount), done }),
      }
      const imported: Imported = options.dryRun
        ? await tryLines(db, plan.lines(), running)
        : await importPlanned(db, plan, running, { ...options, file })
      if (refused > MAX_PRINTED) {
        const where = options.refused ?? 'use --refused to write all to a file'
        console.error(`… and ${refused - MAX_PRINTED} more: ${where}.`)
      }
      const changes = imported.changes[plan.kind.kind]
      if (changes) {
        const { created, changed, unchanged } = changes
        console.error(`New: ${created}, changed: ${changed}, as before: ${unchanged}.`)
      }
      const { planned } = imported
      if (planned) {
        console.error(
          `It would plan ${countOf(planned.triggers, 'reminder')} and send ${countOf(planned.mailsAtOnce, 'mail')} at once.`,
        )
      }
      if (options.refused !== undefined) {
        await pipeline(plan.refusedRows(reasons), createWriteStream(options.refused))
      }
      return imported
    })
  } finally {
    await handle.close()
  }
}

async function planOf(
  db: Db,
  handle: FileHandle,
  options: Options,
  { businessId, onProgress }: { businessId: number; onProgress: (rows: number) => void },
) {
  const { zone, mapping } = options
  if (zone !== undefined && !isTimeZone(zone)) {
    throw new StartError(`--zone ${zone} is not a time zone; use a name such as Europe/Zurich.`)
  }
  const kept = mapping === undefined ? undefined : await findImportMapping(db, businessId, mapping)
  if (mapping !== undefined && !kept) throw new StartError(`There is no mapping ${mapping}.`)
  const given: GivenChoices = { ...options, timeZone: zone }
  const { choices, faults } = readChoices(given, kept?.choices)
  if (faults.length > 0) {
    const [{ pointer, detail }] = faults as [(typeof faults)[0]]
    throw new StartError(`--${pointer.slice(1).replace(/\/.*/, '')} ${detail}.`)
  }
  const kind = objectKind(options.kind ?? kept?.kind ?? 'calendar')!
  return planFile(db, handle, { businessId, kind, choices, onProgress })
}

async function importPlanned(
  db: Db,
  plan: FilePlan,
  importing: Importing,
  { file, keepAs }: Options & { file: string },
) {
  const { businessId, user } = importing
  const by = { user, now: importing.now() }
  const { kind } = plan.kind
  const fileName = file === '-' ? undefined : basename(file)
  const fileImportId = await insertFileImport(db, businessId, { fileName, kind }, by)
  const imported = await importLines(db, plan.lines(), {
    ...importing,
    onSaved: (tx, kind, outcomes) =>
      insertImportedObjects(tx, { businessId, fileImportId }, kind, outcomes),
  })
  if (keepAs !== undefined) {
    const choices = toKept(plan.choices, plan.survey)
    await saveImportMapping(db, businessId, { name: keepAs, kind, choices }, by)
  }
  console.error(`Undo it within a day: bellwether import --undo ${fileImportId}`)
  return imported
}

/** Says how the file is read, on standard error. */
function describe(plan: FilePlan) {
  const { headerRow, columns, questions, newCounts, clients, statusWords } = describePlan(plan)
  const read = columns.filter(({ field }) => field !== null)
  const unread = columns.filter(({ field }) => field === null).map(({ column }) => column)
  const guessed = read.filter(({ column, field }) => fieldKey(column) !== fieldKey(field ?? ''))
  if (headerRow > 1) console.error(`The header is row ${headerRow}.`)
  if (guessed.length > 0) {
    const pairs = guessed.map(({ column, field }) => `${column} = ${field}`)
    console.error(`Columns: ${pairs.join(', ')}.`)
  }
  if (unread.length > 0 && read.length > 0) {
    console.error(`Columns not read: ${unread.join(', ')}. Use --map column=field to read one.`)
  }
  if (clients.withAddress + clients.withoutAddress > 0) {
    console.error(
      `Clients: ${clients.withAddress} with an address, ${clients.withoutAddress} without.`,
    )
  }
  const words = statusWords.flatMap(({ word, status }) => (status ? `${word} = ${status}` : []))
  if (words.length > 0) console.error(`Status: ${words.join(', ')}.`)
  const isCreated = ([kind]: [string, number]) =>
    plan.choices.create.some((created) => created === kind)
  const missing = Object.entries(newCounts).filter(([, count]) => count > 0)
  for (const [what, some, advice] of [
    ['Are created', missing.filter(isCreated), ''],
    ['Do not exist', missing.filter((one) => !isCreated(one)), ' Use --create'],
  ] as const) {
    if (some.length === 0) continue
    const counts = some.map(([kind, count]) => `${count} ${kind}`).join(', ')
    const kinds = some.map(([kind]) => ` ${kind}`).join('')
    console.error(`${what}: ${counts}.${advice && `${advice}${kinds}.`}`)
  }
  for (const question of questions) {
    const { about, kind = '', name = '', rows, examples = [] } = question
    const what = about === 'dates' ? examples.join(', ') : [kind, name].filter(Boolean).join(':')
    console.error(
      `Question: --${about} for ${what}${rows === undefined ? '' : ` (${countOf(rows, 'row')})`}`,
    )
  }
}

/** The first rows as they are read. */
function showRows(plan: FilePlan) {
  const shown = (value: unknown, name: string) =>
    typeof value === 'number' && name.endsWith('Time')
      ? Temporal.Instant.fromEpochMilliseconds(value)
          .toZonedDateTimeISO(plan.timeZone)
          .toString({ smallestUnit: 'minute', timeZoneName: 'never' })
      : String(value)
  for (const { line, values } of plan.shownRows()) {
    const parts = Object.entries(values).filter(([, value]) => value !== '' && value !== null)
    const texts = parts.map(([name, value]) => `${name} ${shown(value, name)}`)
    console.error(`row ${line}: ${texts.join(', ')}`)
  }
}

function readCreatedDate({ createdDate }: Record<string, unknown>) {
  if (typeof createdDate !== 'number') return undefined
  const isMoment = schemaFaults(instant().schema, createdDate).length === 0
  return isMoment ? Temporal.Instant.fromEpochMilliseconds(createdDate) : undefined
}

type Source = { stream: Readable; size: number; read: number }

async function openForReading(file: string): Promise<FileHandle> {
  if (file === '-') return spool(process.stdin, Number.MAX_SAFE_INTEGER)
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw noFile(file)
  return openFile(file)
}

const noFile = (file: string) => new StartError(`There is no file ${file}.`)

function open(file: string): Source {
  const source: Source = { stream: process.stdin, size: 0, read: 0 }
  if (file !== '-') {
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found?.isFile()) throw noFile(file)
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

async function* ndjsonLines(source: Source, { kind }: Options): AsyncIterable<ImportLine[]> {
  for await (const lines of readNdjson(countBytes(source))) {
    if (kind) for (const line of lines) setKind(line, kind)
    yield lines
  }
}

/** A `kind` in the line has precedence. */
function setKind(line: ImportLine, kind: string) {
  if (!('body' in line) || typeof line.body !== 'object' || line.body === null) return
  if (!Object.hasOwn(line.body, 'kind')) Object.assign(line.body, { kind })
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
