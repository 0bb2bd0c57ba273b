import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { lackOf, type SecurityFunction } from '../../auth/permissions.ts'
import type { Clock } from '../../clock.ts'
import { isTimeZone } from '../../contract/fields.ts'
import {
  CsvImportResult,
  CsvQuery,
  FileImports,
  ImportMapping,
  ImportMappings,
  ImportQuery,
  ImportResult,
  MAX_LISTED_REFUSALS,
  UndoResult,
} from '../../contract/import.ts'
import { objectKind } from '../../contract/objects.ts'
import { invalid, notFound, RequestError, type Fault } from '../../errors.ts'
import { readChoices, toKept } from '../../file-import/choices.ts'
import { describePlan } from '../../file-import/describe-plan.ts'
import { planFile, type FilePlan } from '../../file-import/plan-file.ts'
import { spool } from '../../file-import/read-rows.ts'
import { undoImport, UNDO_HOURS } from '../../file-import/undo.ts'
import {
  importLines,
  tryLines,
  WINDOW,
  type Imported,
  type Importing,
} from '../../scheduling/import.ts'
import { readNdjson } from '../../scheduling/ndjson.ts'
import {
  insertFileImport,
  insertImportedObjects,
  listFileImports,
} from '../../store/file-imports.ts'
import {
  deleteImportMapping,
  findImportMapping,
  listImportMappings,
  saveImportMapping,
} from '../../store/import-mappings.ts'
import { readChunks } from '../server/body.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { answerLongOnce, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

/** Lines are refused in the order of their windows, but not of their numbers within a window. */
const MAX_COLLECTED = MAX_LISTED_REFUSALS + WINDOW

const MIB = 1_048_576
/** A dry run keeps its accepted lines in memory. */
const MAX_DRY_RUN_BYTES = 64 * MIB
const MAX_FILE_BYTES = 1_024 * MIB

const DESCRIPTION = `NDJSON of any length: each line is the body of a POST plus its \`kind\`. Valid lines
are saved even if others are refused. Importing the same file again changes nothing if its lines have an
\`externalId\`, or if it is an export of the same business. An object must come before the lines that refer
to it; a line can refer to it by its \`externalId\`: \`clientExternalId\` instead of \`clientId\`.`

const CSV_DESCRIPTION = `A CSV or XLSX file as another program exported it. The columns are recognised by
their headings and values; the answer says how, and corrections are parameters. Valid rows are saved even if
others are refused. Importing the same file again changes nothing. See docs/import.md.`

export const imports: Routes = async (app, services) => {
  await inOrder(() => [getFileImports, getMappings, deleteMapping])(app, services)
  await app.register(async (streaming) => {
    // The body is read as it arrives, with any content type.
    streaming.removeAllContentTypeParsers()
    streaming.addContentTypeParser('*', (_request, payload, done) =>
      done(null, readChunks(payload, services.bodySeconds)),
    )
    for (const route of [postNdjson, postCsv, postUndo])
      await route(streaming as typeof app, services)
  })
}

const postNdjson: Routes = async (app, { clock, queues }) => {
  app.post(
    '/import',
    operation('importObjects', 'Import objects of any kind', {
      config: { scope: 'scheduling:write', streams: true, idempotent: true },
      tags: ['import'],
      description: DESCRIPTION,
      consumes: ['application/x-ndjson'],
      querystring: ImportQuery,
      response: { 200: ImportResult },
    }),
    async (request, reply) => {
      const { caller, query } = request
      const importBody = async (body: AsyncIterable<Buffer>) => {
        const refusals = new Refusals()
        const importing = importingOf(caller, clock, query.events)
        const { changes: _changes, ...imported } = await importLines(caller.db, readNdjson(body), {
          ...importing,
          onRefused: refusals.add,
        })
        return ok({ ...imported, refused: refusals.first() })
      }
      return queues.imports.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => answerLongOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )
}

const postCsv: Routes = async (app, { clock, queues }) => {
  app.post(
    '/import/csv',
    operation('importCsv', 'Import the rows of a CSV or XLSX file', {
      config: { scope: 'scheduling:write', streams: true, idempotent: true },
      tags: ['import'],
      description: CSV_DESCRIPTION,
      consumes: ['text/csv'],
      querystring: CsvQuery,
      response: { 200: CsvImportResult },
    }),
    async (request, reply) => {
      const { caller, query } = request
      checkQuery(query)
      const importBody = async (body: AsyncIterable<Buffer>) => {
        const file = await spool(body, query.dryRun ? MAX_DRY_RUN_BYTES : MAX_FILE_BYTES)
        try {
          return ok(await importFile(file, { caller, clock, query }))
        } finally {
          await file.close()
        }
      }
      return queues.imports.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () =>
          query.refused
            ? sendRefused(
                (request.body ?? []) as AsyncIterable<Buffer>,
                { caller, clock, query },
                reply,
              )
            : answerLongOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )
}

type CsvImport = { caller: Caller; clock: Clock; query: Static<typeof CsvQuery> }

function checkQuery({
  timeZone,
  refused,
  dryRun,
  match,
  default: defaults,
  status,
  map,
}: CsvImport['query']) {
  const faults: Fault[] = []
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    faults.push({ pointer: '?timeZone', detail: 'must be a time zone such as Europe/Zurich' })
  }
  if (refused && !dryRun) faults.push({ pointer: '?refused', detail: 'needs dryRun=true' })
  faults.push(...readChoices({ map, status, match, default: defaults }).faults)
  if (faults.length > 0) throw invalid(faults)
}

async function planOf(file: FileHandle, { caller, query }: CsvImport): Promise<FilePlan> {
  const { db, businessId } = caller
  const kept =
    query.mapping === undefined ? undefined : await findImportMapping(db, businessId, query.mapping)
  if (query.mapping !== undefined && !kept) {
    throw new RequestError(422, `?mapping: there is no mapping ${query.mapping}.`)
  }
  return planFile(db, file, {
    businessId,
    kind: objectKind(query.kind ?? kept?.kind ?? 'calendar')!,
    choices: readChoices(query, kept?.choices).choices,
    refusalOf: (kind) => refusalOf(caller, kind),
  })
}

async function importFile(file: FileHandle, given: CsvImport): Promise<CsvImportResult> {
  const { caller, clock, query } = given
  const { db, businessId, user } = caller
  const plan = await planOf(file, given)
  const refusals = new Refusals((reason) => plan.inWords(reason))
  const importing = { ...importingOf(caller, clock, query.events), onRefused: refusals.add }
  if (query.dryRun) {
    const tried = await tryLines(db, plan.lines(), importing)
    return { ...tried, ...rowsOf(tried, plan, refusals) }
  }
  if (plan.unclearDate !== undefined) {
    throw new RequestError(
      422,
      `?dates: ${plan.unclearDate} can be read in two ways. Send dates=dmy if the day comes first, dates=mdy if the month does.`,
    )
  }
  const { kind } = plan.kind
  const by = { user, now: clock.now() }
  const fileImportId = await insertFileImport(
    db,
    businessId,
    { fileName: query.fileName, kind },
    by,
  )
  const imported = await importLines(db, plan.lines(), {
    ...importing,
    onSaved: (tx, kind, outcomes) =>
      insertImportedObjects(tx, { businessId, fileImportId }, kind, outcomes),
  })
  if (query.keepAs !== undefined) {
    const choices = toKept(plan.choices, plan.survey)
    await saveImportMapping(db, businessId, { name: query.keepAs, kind, choices }, by)
  }
  return { ...imported, ...rowsOf(imported, plan, refusals), fileImportId }
}

const rowsOf = ({ changes }: Imported, plan: FilePlan, refusals: Refusals) => ({
  ...describePlan(plan),
  changes: changes[plan.kind.kind] ?? { created: 0, changed: 0, unchanged: 0 },
  refused: refusals.first(),
})

/** A dry run that answers with the refused rows. */
async function sendRefused(body: AsyncIterable<Buffer>, given: CsvImport, reply: FastifyReply) {
  const { caller, clock, query } = given
  const file = await spool(body, MAX_DRY_RUN_BYTES)
  try {
    const plan = await planOf(file, given)
    const reasons = new Map<number, string>()
    await tryLines(caller.db, plan.lines(), {
      ...importingOf(caller, clock, query.events),
      onRefused: (line, reason) => void reasons.set(line, plan.inWords(reason)),
    })
    // The file is complete before the handle is closed.
    const rows = await Array.fromAsync(plan.refusedRows(reasons))
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="refused-rows.csv"')
      .send(Readable.from(rows))
  } finally {
    await file.close()
  }
}

const importingOf = (caller: Caller, clock: Clock, events: 'none' | undefined): Importing => ({
  businessId: caller.businessId,
  user: caller.user,
  now: () => clock.now(),
  visibility: caller.visibility,
  history: events === 'none',
  refusalOf: (kind) => refusalOf(caller, kind),
})

/** Collects the first refused lines. */
class Refusals {
  readonly #refused: { line: number; reason: string }[] = []
  readonly #inWords: (reason: string) => string

  constructor(inWords = (reason: string) => reason) {
    this.#inWords = inWords
  }

  add = (line: number, reason: string) => {
    if (this.#refused.length < MAX_COLLECTED)
      this.#refused.push({ line, reason: this.#inWords(reason) })
  }

  first = () => this.#refused.toSorted((a, b) => a.line - b.line).slice(0, MAX_LISTED_REFUSALS)
}

const getFileImports: Routes = async (app, { clock }) => {
  app.get(
    '/import/file',
    operation('listFileImports', 'List the imports of files of the last day', {
      config: { scope: 'scheduling:write' },
      tags: ['import'],
      response: { 200: FileImports },
    }),
    async ({ caller: { db, businessId } }) => {
      const since = clock.now().subtract({ hours: UNDO_HOURS })
      return toWire({ items: await listFileImports(db, businessId, since) })
    },
  )
}

const postUndo: Routes = async (app, { clock, queues }) => {
  app.post(
    '/import/file/:fileImportId/undo',
    operation('undoFileImport', 'Undo an import of a file', {
      config: { scope: 'scheduling:write', streams: true, idempotent: true, emptyBody: true },
      tags: ['import'],
      description:
        'Deletes what the import created and restores what it changed. Possible within a day, as long as no mail about it was sent.',
      params: Type.Object({
        fileImportId: Type.Integer({ minimum: 1, description: 'The id of the import.' }),
      }),
      response: { 200: UndoResult },
    }),
    (request, reply) => {
      const { db, businessId, user, visibility } = request.caller
      const { fileImportId } = request.params
      const undo = async () => {
        const now = clock.now()
        return ok(await undoImport(db, { businessId, user, visibility, now, fileImportId }))
      }
      return queues.imports.run({ businessId, signal: abortOnDisconnect(reply) }, () =>
        answerLongOnce(db, request, reply, clock, undo),
      )
    },
  )
}

const getMappings: Routes = async (app) => {
  app.get(
    '/import/mapping',
    operation('listImportMappings', 'List kept mappings of files', {
      config: { scope: 'scheduling:write' },
      tags: ['import'],
      response: { 200: ImportMappings },
    }),
    async ({ caller: { db, businessId } }) =>
      toWire({ items: await listImportMappings(db, businessId) }),
  )
}

const deleteMapping: Routes = async (app) => {
  app.delete(
    '/import/mapping/:name',
    operation('deleteImportMapping', 'Delete a kept mapping', {
      config: { scope: 'scheduling:write' },
      tags: ['import'],
      params: Type.Object({
        name: Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'The name of the mapping.',
          examples: ['Salon export'],
        }),
      }),
      response: { 200: ImportMapping },
    }),
    async ({ caller: { db, businessId }, params: { name } }) => {
      const deleted = await deleteImportMapping(db, businessId, name)
      if (!deleted) throw notFound('mapping', name)
      return toWire(deleted)
    },
  )
}

/** Lines that the caller may not write are refused; the others are imported. */
const refusalOf = (caller: Caller, kind: string) => lackOf(caller, functionFor(kind))

function functionFor(kind: string): SecurityFunction {
  if (kind === 'business') return 'EDIT_BUSINESS'
  if (kind === 'eventDefinition') return 'EDIT_DEFINITIONS'
  if (kind === 'suppression') return 'EDIT_SUPPRESSIONS'
  if (kind.startsWith('email') || kind === 'fileLibrary') return 'EDIT_TEMPLATES'
  return kind === 'client' || objectKind(kind)?.objectType ? 'EDIT_SCHEDULE' : 'EDIT_SETUP'
}
