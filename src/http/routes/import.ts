import type { Caller } from '../../auth/caller.ts'
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
import { readPieces } from '../server/body.ts'
import { clientGone } from '../server/client-gone.ts'
import { answerStreamOnce, ok } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

/** Lines come in order window by window; within one, kind by kind. */
const MOST_KEPT = MAX_LISTED_REFUSALS + WINDOW

/** A dry run holds its locks until it ends: it does not wait for the body in its transaction. */
const MAX_DRY_RUN_BYTES = 32 * 1_048_576

const DESCRIPTION = `NDJSON of any length: one object on each line, as its POST takes it, with its
\`kind\` beside it. Good lines are kept whatever becomes of the others; the same file again changes
nothing where lines carry an \`externalId\`. What a line refers to stands before it, and may be named
by its own \`externalId\`: \`clientExternalId\` in the place of \`clientId\`.`

const CSV_DESCRIPTION = `A CSV file of any length, whose rows are all of one kind. The first row names
the columns. Good lines are kept whatever becomes of the others; the same file again changes nothing if
its rows have an \`externalId\`. See docs/import.md for dates, lists and separators.`

export const imports: Routes = async (app, { bodySeconds, clock, queues }) => {
  // Every content type is read as NDJSON, piece by piece.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) =>
    done(null, readPieces(payload, bodySeconds)),
  )

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
        ok(await run(importLines, caller, readNdjson(body), query.events))
      return queues.imports.run({ businessId: caller.businessId, signal: clientGone(reply) }, () =>
        answerStreamOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )

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
        const read = (pieces: AsyncIterable<Buffer>) =>
          readCsv(pieces, { kind, map, zone, onHeader: (found) => void (columns = found) })
        const counted = query.dryRun
          ? await run(tryLines, caller, read(await readWhole(body)), query.events)
          : await run(importLines, caller, read(body), query.events)
        return ok({ ...counted, columns, fields: fieldsOf(kind) })
      }
      return queues.imports.run({ businessId: caller.businessId, signal: clientGone(reply) }, () =>
        answerStreamOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )

  async function run(
    work: typeof importLines,
    caller: Caller,
    lines: AsyncIterable<Line[]>,
    events: 'none' | undefined,
  ) {
    const refused: { line: number; reason: string }[] = []
    const imported = await work(caller.db, lines, {
      businessId: caller.businessId,
      user: caller.user,
      now: () => clock.now(),
      visibility: caller.scope,
      history: events === 'none',
      refusalOf: (kind) => refusalOf(caller, kind),
      onRefused: (line, reason) => {
        if (refused.length < MOST_KEPT) refused.push({ line, reason })
      },
    })
    const first = refused.toSorted((a, b) => a.line - b.line).slice(0, MAX_LISTED_REFUSALS)
    return { ...imported, refused: first }
  }
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
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MAX_DRY_RUN_BYTES) {
      throw new RequestError(413, 'A dry run takes files of up to 32 MiB: send a part of the file.')
    }
    pieces.push(piece)
  }
  return (async function* () {
    yield* pieces
  })()
}

/** An import may hold what its sender may not write: those lines are refused, not the rest. */
function refusalOf({ functions }: Caller, kind: string) {
  const needed = functionFor(kind)
  return functions.has(needed) ? undefined : `You lack the function ${needed}.`
}

function functionFor(kind: string): SecurityFunction {
  if (kind === 'business') return 'MANAGE_BUSINESS'
  if (kind === 'eventDefinition') return 'EDIT_DEFINITIONS'
  if (kind === 'suppression') return 'SEND_EMAILS'
  if (kind.startsWith('email')) return 'EDIT_TEMPLATES'
  return kind === 'client' || objectKind(kind)?.objectType ? 'EDIT_SCHEDULE' : 'EDIT_SETUP'
}
