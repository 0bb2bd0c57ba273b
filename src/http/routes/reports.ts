import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import {
  PrintedReport,
  PrintQuery,
  PrintWish,
  REPORT_FORMATS,
  ReportCategory,
  ReportRun,
  type ReportFormat,
} from '../../contract/report.ts'
import { unknownParameters, unknownProperties } from '../../contract/unknown-properties.ts'
import { invalid, notFound, RequestError, type Fault } from '../../errors.ts'
import { listCategories } from '../../reports/catalog/catalog.ts'
import { fileNameOf, printToFile } from '../../reports/file.ts'
import { CONTENT_TYPES } from '../../reports/formats/formats.ts'
import { refuseTooLong } from '../../reports/limits.ts'
import { countRows } from '../../reports/print.ts'
import { takeOrder, type Order, type Reader } from '../../reports/order.ts'
import { clientGone } from '../server/client-gone.ts'
import { ReportRuns } from './report-runs.ts'
import {
  findRun,
  findRunPart,
  insertRun,
  type ReportRun as StoredRun,
} from '../../store/report-runs.ts'
import type { Routes } from '../server/services.ts'

const tags = ['Reports']
const config = { scope: 'reports:print' } as const
const ById = Type.Object({ runId: Type.Integer({ minimum: 1 }) })

export const reports: Routes = async (app, services) => {
  const { database, clock, log, queues } = services
  const { pageSize } = services.config
  const runs = new ReportRuns({ database, clock, log, queue: queues.background, pageSize })
  app.addHook('onClose', () => runs.stop())

  app.get(
    '/reports/category',
    {
      config,
      schema: {
        tags,
        summary: 'The reports that the caller may print, by category',
        response: { 200: Type.Array(ReportCategory) },
      },
    },
    async ({ caller }) => listCategories(caller.businessId, caller.functions),
  )

  app.post(
    '/report/print/file',
    {
      config: { ...config, emptyBody: true },
      attachValidation: true, // all faults of query and body together: see takeOrder
      schema: {
        tags,
        summary: 'Print a report for a range of days',
        description:
          'With `Prefer: respond-async` the answer is 202 at once; the file waits at `/report/run/{runId}`.',
        headers: Type.Object({ prefer: Type.Optional(Type.String()) }),
        querystring: PrintQuery,
        body: PrintWish,
        response: {
          200: {
            description: 'The file.',
            content: {
              'application/pdf': { schema: Type.String() },
              [CONTENT_TYPES.xlsx]: { schema: Type.String() },
              'text/csv': { schema: Type.String() },
              'text/html': { schema: Type.String() },
              'application/json': { schema: PrintedReport },
            },
          } as never,
          202: ReportRun,
        },
      },
    },
    async (request, reply) => {
      const { caller } = request
      const { businessId } = caller
      const db = database.reportsOf(businessId)
      const gone = clientGone(reply)
      const { order, format, attach } = await readOrder(request)

      if (prefersAsync(request)) {
        const rowsTotal = await queues.interactive.run({ businessId, signal: gone }, async () => {
          await refuseTooLong(db, order, format)
          return countRows(db, order)
        })
        const wanted = {
          credential: caller.credential,
          reportId: order.report.reportId,
          format,
          attach,
          fileName: fileNameOf(order, format),
        }
        const run = await runs.start(
          businessId,
          () => insertRun(caller.db, businessId, wanted, clock.now()),
          { order, format, rowsTotal },
        )
        return reply
          .code(202)
          .header('location', `/report/run/${run.runId}`)
          .header('preference-applied', 'respond-async')
          .send(answerOf({ ...run, rowsTotal }, clock.now()))
      }

      const file = await queues.background.run({ businessId, signal: gone }, async () => {
        await refuseTooLong(db, order, format)
        return printToFile(db, order, { format, pageSize, signal: gone })
      })
      describeFile(reply, { ...file, format, attach })
      return reply.send(file.handle.createReadStream({ start: 0 })) as never
    },
  )

  app.get(
    '/report/run/:runId',
    {
      config: { ...config, quiet: true },
      schema: { tags, summary: 'How far a run is', params: ById, response: { 200: ReportRun } },
    },
    async ({ caller, params }) => answerOf(await theRun(caller, params.runId), clock.now()),
  )

  app.get(
    '/report/run/:runId/file',
    {
      config,
      schema: {
        tags,
        summary: 'The file of a run that has ended well; kept for a day',
        params: ById,
        response: {
          200: {
            description: 'The file.',
            content: { 'application/octet-stream': { schema: Type.String() } },
          } as never,
        },
      },
    },
    async ({ caller, params }, reply) => {
      const { db, businessId } = caller
      const run = await theRun(caller, params.runId)
      if (run.status !== 'COMPLETED') throw notFound('file of run', params.runId)
      const format = run.format as ReportFormat
      const size = run.fileSize!
      describeFile(reply, { ...run, contentType: CONTENT_TYPES[format], format, size })
      return reply.send(Readable.from(partsOf(db, businessId, run.runId))) as never
    },
  )

  async function readOrder(request: FastifyRequest) {
    const query = request.query as Record<string, unknown>
    const body = request.body ?? {}
    const faults: Fault[] = [
      ...unknownParameters(PrintQuery, query),
      ...unknownProperties(PrintWish, body),
    ]
    const format = (query.format ?? 'pdf') as ReportFormat
    const attach = query.attach ?? true
    if (!REPORT_FORMATS.includes(format)) {
      faults.push({ pointer: '?format', detail: `must be one of ${REPORT_FORMATS.join(', ')}` })
    }
    if (!/^(true|false)$/.test(String(attach))) {
      faults.push({ pointer: '?attach', detail: 'must be true or false' })
    }
    if (typeof body !== 'object' || Array.isArray(body)) {
      faults.push({ pointer: '', detail: 'must be an object' })
    }
    const { startDate, endDate, locationId } = query
    const wish = { ...(body as object), startDate, endDate, locationId }
    const db = database.reportsOf(request.caller.businessId)
    const order = await takeOrder(db, wish, readerOf(request.caller), clock.now()).catch(
      (error: unknown): Order => {
        if (faults.length === 0 || !(error instanceof RequestError) || !error.errors) throw error
        throw invalid([...faults, ...error.errors])
      },
    )
    if (faults.length > 0) throw invalid(faults)
    return { order, format, attach: String(attach) === 'true' }
  }

  async function theRun({ db, businessId, credential }: Caller, runId: number) {
    const run = await findRun(db, businessId, runId, credential)
    if (!run) throw notFound('report run', runId)
    return run
  }
}

/** A LOCATION_SUPER_USER prints of their locations, a USER of their own appointments. */
function readerOf({ businessId, functions, scope }: Caller): Reader {
  const locationIds = scope && 'locationIds' in scope ? scope.locationIds : null
  const professionalIds =
    scope && 'professionalId' in scope
      ? scope.professionalId === null
        ? []
        : [scope.professionalId]
      : null
  return { businessId, functions, locationIds, professionalIds }
}

/** RFC 7240. */
const prefersAsync = (request: FastifyRequest) =>
  [request.headers.prefer ?? []]
    .flat()
    .some((value) => value.split(',').some((one) => one.trim().toLowerCase() === 'respond-async'))

type Description = {
  fileName: string
  contentType: string
  size: number
  format: ReportFormat
  attach: boolean
}

function describeFile(
  reply: FastifyReply,
  { fileName, contentType, size, format, attach }: Description,
) {
  reply
    .header('content-type', contentType)
    .header('content-length', size)
    .header('content-disposition', `${attach ? 'attachment' : 'inline'}; filename="${fileName}"`)
    .header('cache-control', 'no-store')
  if (format === 'html') reply.header('content-security-policy', PAGE_POLICY)
}

/** A printed page brings its styles and nothing that runs; the console may frame it. */
const PAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

async function* partsOf(db: Caller['db'], businessId: number, runId: number) {
  for (let part = 0; ; part++) {
    const bytes = await findRunPart(db, businessId, runId, part)
    if (!bytes) return
    yield bytes
  }
}

/** A node that says nothing for so long is gone, and its runs with it. */
const SILENCE_SECONDS = 60

function answerOf(run: StoredRun, now: Temporal.Instant): ReportRun {
  const { runId, reportId, rowsDone, rowsTotal, createdDate } = run
  const silent =
    (run.status === 'QUEUED' || run.status === 'RUNNING') &&
    now.since(run.beatTime).total('seconds') > SILENCE_SECONDS
  const status = silent ? 'FAILED' : run.status
  return {
    runId,
    reportId,
    format: run.format as ReportFormat,
    status,
    statusReason: silent ? 'The node that printed it is gone; ask again.' : run.failure,
    rowsDone,
    rowsTotal,
    file: status === 'COMPLETED' ? `/report/run/${runId}/file` : null,
    createdDate: createdDate.epochMilliseconds,
  }
}
