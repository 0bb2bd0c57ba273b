import type { Caller } from '../../auth/caller.ts'
import type { Clock } from '../../clock.ts'
import type { SecurityFunction } from '../../auth/permissions.ts'
import { isTimeZone } from '../../contract/fields.ts'
import {
  CsvImportResult,
  CsvQuery,
  ImportQuery,
  ImportResult,
  MAX_LISTED_REFUSALS,
} from '../../contract/import.ts'
import { objectKind } from '../../contract/objects.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'
import { fieldsOf, readCsv, readMapping, type CsvColumn } from '../../scheduling/csv-lines.ts'
import { importLines, tryLines, WINDOW, type Line } from '../../scheduling/import.ts'
import { readNdjson } from '../../scheduling/ndjson.ts'
import { findBusiness } from '../../store/businesses.ts'
import { readChunks } from '../server/body.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { answerStreamOnce, ok } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

/** Lines are refused in the order of their windows, but not of their numbers within a window. */
const MAX_COLLECTED = MAX_LISTED_REFUSALS + WINDOW

/** A dry run is one transaction, so the body is read completely before it starts. */
const MAX_DRY_RUN_BYTES = 32 * 1_048_576

const DESCRIPTION = `NDJSON of any length: each line is the body of a POST plus its \`kind\`. Valid lines
are saved even if others are refused. Importing the same file again changes nothing if its lines have an
\`externalId\`. An object must come before the lines that refer to it; a line can refer to it by its
\`externalId\`: \`clientExternalId\` instead of \`clientId\`.`

const CSV_DESCRIPTION = `A CSV file of any length with rows of one kind. The first row names the columns.
Valid rows are saved even if others are refused. Importing the same file again changes nothing if its rows
have an \`externalId\`. See docs/import.md for dates, lists and separators.`

export const imports: Routes = async (app, services) => {
  // The body is read as it arrives, with any content type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) =>
    done(null, readChunks(payload, services.bodySeconds)),
  )
  for (const route of [postNdjson, postCsv]) {
    await route(app, services)
  }
}

const postNdjson: Routes = async (app, { clock, queues }) => {
  app.post(
    '/import',
    {
      config: { scope: 'scheduling:write', streams: true, idempotent: true },
      schema: {
        tags: ['import'],
        summary: 'Import objects of any kind',
        description: DESCRIPTION,
        consumes: ['application/x-ndjson'],
        querystring: ImportQuery,
        response: { 200: ImportResult },
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const importBody = async (body: AsyncIterable<Buffer>) =>
        ok(await runImport(importLines, readNdjson(body), { caller, clock, events: query.events }))
      return queues.imports.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => answerStreamOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )
}

const postCsv: Routes = async (app, { clock, queues }) => {
  app.post(
    '/import/csv',
    {
      config: { scope: 'scheduling:write', streams: true, idempotent: true },
      schema: {
        tags: ['import'],
        summary: 'Import the rows of a CSV file',
        description: CSV_DESCRIPTION,
        consumes: ['text/csv'],
        querystring: CsvQuery,
        response: { 200: CsvImportResult },
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const kind = objectKind(query.kind)!
      const map = readMap(query.map ?? [], query.timeZone)
      const zone = query.timeZone ?? (await findBusiness(caller.db, caller.businessId))!.timeZone
      const importBody = async (body: AsyncIterable<Buffer>) => {
        let columns: CsvColumn[] = []
        const read = (chunks: AsyncIterable<Buffer>) =>
          readCsv(chunks, { kind, map, zone, onHeader: (found) => void (columns = found) })
        const options = { caller, clock, events: query.events }
        const counted = query.dryRun
          ? await runImport(tryLines, read(await readWhole(body)), options)
          : await runImport(importLines, read(body), options)
        return ok({ ...counted, columns, fields: fieldsOf(kind) })
      }
      return queues.imports.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => answerStreamOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )
}

type Import = { caller: Caller; clock: Clock; events: 'none' | undefined }

async function runImport(
  importOrTry: typeof importLines,
  lines: AsyncIterable<Line[]>,
  { caller, clock, events }: Import,
) {
  const refused: { line: number; reason: string }[] = []
  const imported = await importOrTry(caller.db, lines, {
    businessId: caller.businessId,
    user: caller.user,
    now: () => clock.now(),
    visibility: caller.visibility,
    history: events === 'none',
    refusalOf: (kind) => refusalOf(caller, kind),
    onRefused: (line, reason) => {
      if (refused.length < MAX_COLLECTED) refused.push({ line, reason })
    },
  })
  const first = refused.toSorted((a, b) => a.line - b.line).slice(0, MAX_LISTED_REFUSALS)
  return { ...imported, refused: first }
}

function readMap(mappings: string[], timeZone: string | undefined) {
  const faults: Fault[] = []
  const map: Record<string, string> = Object.create(null)
  for (const [i, text] of mappings.entries()) {
    const mapping = readMapping(text)
    if (mapping) map[mapping[0]] = mapping[1]
    else faults.push({ pointer: `?map/${i}`, detail: 'must be column=field' })
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    faults.push({ pointer: '?timeZone', detail: 'must be a time zone such as Europe/Zurich' })
  }
  if (faults.length > 0) throw invalid(faults)
  return map
}

async function readWhole(body: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_DRY_RUN_BYTES) {
      throw new RequestError(413, 'A dry run accepts up to 32 MiB. Send a part of the file.')
    }
    chunks.push(chunk)
  }
  return (async function* () {
    yield* chunks
  })()
}

/** Lines that the caller may not write are refused; the others are imported. */
function refusalOf({ functions }: Caller, kind: string) {
  const needed = functionFor(kind)
  return functions.has(needed) ? undefined : `You lack the function ${needed}.`
}

function functionFor(kind: string): SecurityFunction {
  if (kind === 'business') return 'EDIT_BUSINESS'
  if (kind === 'eventDefinition') return 'EDIT_DEFINITIONS'
  if (kind === 'suppression') return 'SEND_EMAILS'
  if (kind.startsWith('email') || kind === 'fileLibrary') return 'EDIT_TEMPLATES'
  return kind === 'client' || objectKind(kind)?.objectType ? 'EDIT_SCHEDULE' : 'EDIT_SETUP'
}
