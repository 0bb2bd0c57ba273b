import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import {
  PrintQuery,
  PrintBody,
  REPORT_FORMATS,
  ReportCategory,
  ReportRun,
  type ReportFormat,
} from '../../contract/report.ts'
import { unknownParameters, unknownProperties } from '../../contract/unknown-properties.ts'
import { untilAborted } from '../../database/until-aborted.ts'
import { invalid, notFound, RequestError, type Fault } from '../../errors.ts'
import { listCategories } from '../../reports/catalog/catalog.ts'
import { fileNameOf, printToFile } from '../../reports/print-to-file.ts'
import { refuseTooManyRows } from '../../reports/print.ts'
import { countRows } from '../../reports/print.ts'
import { checkPrintRequest, findReport, type PrintJob } from '../../reports/print-request.ts'
import { mayReadFile, readerOf, rightsOf } from '../../report-delivery/readers.ts'
import { chooseLocale, readLocales, wordsOf } from '../../reports/words.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { answerOnce } from '../server/idempotency.ts'
import { PrintedFiles, sendFile, sendStoredFile } from './report-files.ts'
import { ReportRuns } from './report-runs.ts'
import { findRun, insertRun, type ReportRun as StoredRun } from '../../store/report-runs.ts'
import { findReportView } from '../../store/report-views.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const tags = ['Reports']
const access = { scope: 'reports:print' } as const
const ById = Type.Object({ runId: Type.Integer({ minimum: 1 }) })

export const reports: Routes = async (app, services) => {
  const { database, clock, log, queues, config } = services
  const { pageSize } = config
  const runs = new ReportRuns({ database, clock, log, queue: queues.background, pageSize })
  app.addHook('onClose', () => runs.stop())
  await inOrder(() => [getCategories, postPrint(runs), getRun, getRunFile])(app, services)
}

const getCategories: Routes = async (app) => {
  app.get(
    '/reports/category',
    operation('listReportCategories', 'List the reports that the caller may print, by category', {
      config: access,
      tags,
      response: { 200: Type.Array(ReportCategory) },
    }),
    async ({ caller: { businessId, functions, person }, headers }) => {
      // Programs get the English names, which the API description shows.
      const locales = person ? [person.language, ...readLocales(headers['accept-language'])] : []
      return listCategories(businessId, functions, wordsOf(chooseLocale(locales)))
    },
  )
}

const postPrint =
  (runs: ReportRuns): Routes =>
  async (app, services) => {
    app.post(
      '/report/print/file',
      {
        ...operation('printReport', 'Print a report for a range of days', {
          config: { ...access, emptyBody: true, idempotent: true },
          tags,
          description:
            'With `Prefer: respond-async` the answer is 202 at once; the file is then at `/report/run/{runId}`. Only then it writes something, so that an `Idempotency-Key` counts.',
          headers: Type.Object({ prefer: Type.Optional(Type.String()) }),
          querystring: PrintQuery,
          body: PrintBody,
          response: { 200: PrintedFiles, 202: ReportRun },
        }),
        attachValidation: true, // readRequest reports the faults of query and body together
      },
      async (request, reply) => {
        // Created first: a client may disconnect while its request is checked.
        const signal = abortOnDisconnect(reply)
        const wanted = await readRequest(request, services, signal)
        signal.throwIfAborted()
        const printing = { request, reply, services, signal, ...wanted }
        return prefersAsync(request) ? printInBackground(runs, printing) : printNow(printing)
      },
    )
  }

type Printing = {
  request: FastifyRequest
  reply: FastifyReply
  services: Services
  signal: AbortSignal
  job: PrintJob
  format: ReportFormat
  attach: boolean
}

async function printInBackground(
  runs: ReportRuns,
  { request, reply, services, signal, job, format, attach }: Printing,
) {
  const { database, clock, queues } = services
  const { businessId, credential, db } = request.caller
  const reportsDb = untilAborted(database.reportsOf(businessId), signal)
  const rowsTotal = await queues.interactive.run({ businessId, signal }, async () => {
    await refuseTooManyRows(reportsDb, job, format)
    return countRows(reportsDb, job)
  })
  const { reportId } = job.report
  const fileName = fileNameOf(job, format)
  const reader = rightsOf(readerOf(request.caller))
  const stored = { credential, reportId, format, attach, fileName, reader }
  const slot = runs.reserve(businessId)
  let isStarted = false
  try {
    return await answerOnce(db, request, reply, clock.now(), async (tx) => {
      const run = await insertRun(tx, businessId, stored, clock.now())
      const { runId } = run
      return {
        status: 202,
        body: answerOf({ ...run, rowsTotal }, clock.now()),
        headers: { location: `/report/run/${runId}`, 'preference-applied': 'respond-async' },
        afterCommit: async () => {
          isStarted = true
          runs.start({ businessId, runId }, slot, { job, format, rowsTotal })
          return {}
        },
      }
    })
  } finally {
    if (!isStarted) slot.release()
  }
}

async function printNow({ request, reply, services, signal, job, format, attach }: Printing) {
  const { database, queues, config } = services
  const { businessId } = request.caller
  const db = untilAborted(database.reportsOf(businessId), signal)
  const file = await queues.background.run({ businessId, signal }, async () => {
    await refuseTooManyRows(db, job, format)
    return printToFile(db, job, { format, pageSize: config.pageSize, signal })
  })
  return sendFile(reply, file.handle.createReadStream({ start: 0 }), { ...file, format, attach })
}

const getRun: Routes = async (app, { clock }) => {
  app.get(
    '/report/run/:runId',
    operation('getReportRun', 'Read the progress of a report run', {
      config: { ...access, quiet: true, etag: true },
      tags,
      params: ById,
      response: { 200: ReportRun },
    }),
    async ({ caller, params }) => answerOf(await requireRun(caller, params.runId), clock.now()),
  )
}

const getRunFile: Routes = async (app) => {
  app.get(
    '/report/run/:runId/file',
    operation('getReportRunFile', 'Read the file of a completed report run', {
      config: access,
      tags,
      description:
        'Files are kept for a day. 404 if the caller has lost a right with which the file was printed.',
      params: ById,
      response: { 200: PrintedFiles },
    }),
    async ({ caller, params }, reply) => {
      const { db, businessId } = caller
      const run = await requireRun(caller, params.runId)
      if (run.status !== 'COMPLETED') throw notFound('file of run', params.runId)
      return sendStoredFile(reply, db, businessId, run)
    },
  )
}

/** The run, if the caller has started it and still has the rights that its file was printed with. */
export async function requireRun(caller: Caller, runId: number) {
  const run = await findRun(caller.db, caller.businessId, runId, caller.credential)
  if (!run || !mayReadFile(readerOf(caller), run.reader)) throw notFound('report run', runId)
  return run
}

/** Reports all faults of the query and the body at once. */
async function readRequest(
  request: FastifyRequest,
  { database, clock }: Services,
  signal: AbortSignal,
) {
  const query = request.query as Record<string, unknown>
  const body = request.body ?? {}
  const faults: Fault[] = [
    ...unknownParameters(PrintQuery, query),
    ...unknownProperties(PrintBody, body),
  ]
  const format = String(query.format || 'pdf').toLowerCase() as ReportFormat
  const attach = ATTACH.get(String(query.attach ?? '').toLowerCase())
  if (!REPORT_FORMATS.includes(format)) {
    faults.push({ pointer: '?format', detail: `must be one of ${REPORT_FORMATS.join(', ')}` })
  }
  if (attach === undefined) faults.push({ pointer: '?attach', detail: 'must be true or false' })
  if (typeof body !== 'object' || Array.isArray(body)) {
    faults.push({ pointer: '', detail: 'must be an object' })
  }
  const { businessId } = body as { businessId?: unknown }
  if (businessId != null && businessId !== request.caller.businessId) {
    faults.push({ pointer: '/businessId', detail: 'must be your own business' })
  }
  const { startDate, endDate, locationId, compareWith } = query
  const view = await findViewOf(request.caller, body, faults)
  const named = {
    ...view,
    ...withoutNulls({ ...body, locationId: locationId === '' ? null : locationId }),
  }
  const days = { startDate, endDate, ...withoutNulls({ compareWith }) }
  const wanted = { ...readReportOfQuery(query, named, faults), ...named, ...days }
  const db = untilAborted(database.reportsOf(request.caller.businessId), signal)
  const locales = readLocales(request.headers['accept-language'])
  const reader = { ...readerOf(request.caller), locales }
  const job = await checkPrintRequest(db, wanted, reader, clock.now()).catch(
    (error: unknown): PrintJob => {
      if (faults.length === 0 || !(error instanceof RequestError) || !error.errors) throw error
      const known = new Set(faults.map(({ pointer }) => pointer))
      throw invalid([...faults, ...error.errors.filter(({ pointer }) => !known.has(pointer))])
    },
  )
  if (faults.length > 0) throw invalid(faults)
  return { job, format, attach: attach === true }
}

const ATTACH = new Map([
  ['', true],
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const DEFAULT_REPORT_ID = 101

/** The report that the query names. If the body names one too, it must be the same. */
function readReportOfQuery(
  { reportId, reportFileName }: Record<string, unknown>,
  named: { reportId?: unknown; reportFileName?: unknown },
  faults: Fault[],
) {
  const isNamed = named.reportId !== undefined || named.reportFileName !== undefined
  if (!reportId && !reportFileName) return isNamed ? {} : { reportId: DEFAULT_REPORT_ID }
  const report = findReport(
    {
      reportId: reportId ? Number(reportId) : undefined,
      reportFileName: reportFileName || undefined,
    },
    (pointer, detail) => void faults.push({ pointer: pointer.replace('/', '?'), detail }),
  )
  const { reportId: id = report?.reportId, reportFileName: name = report?.reportFileName } = named
  if (report && (id !== report.reportId || name !== report.reportFileName)) {
    const pointer = reportId ? '?reportId' : '?reportFileName'
    faults.push({ pointer, detail: 'must be the report that the body names' })
  }
  return { reportId: report?.reportId ?? DEFAULT_REPORT_ID }
}

/** The report, filters, comparison and location of the view that a body names. The request overrides them. */
async function findViewOf({ db, businessId, person }: Caller, body: object, faults: Fault[]) {
  const { reportViewId: id, reportFileName } = body as Record<string, unknown>
  if (id === undefined || id === null) return {}
  const viewer = { businessId, userId: person?.userId ?? null }
  const view = Number.isSafeInteger(id) ? await findReportView(db, viewer, Number(id)) : undefined
  if (!view?.active) {
    faults.push({ pointer: '/reportViewId', detail: 'there is no such view, or it was deleted' })
    return {}
  }
  const { reportId, filters, groupBy, compareWith, locationId } = view
  const isNamed = typeof reportFileName === 'string'
  return { ...(isNamed ? {} : { reportId }), filters, groupBy, compareWith, locationId }
}

const withoutNulls = (object: object) =>
  Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  )

/** RFC 7240. */
const prefersAsync = (request: FastifyRequest) =>
  [request.headers.prefer ?? []]
    .flat()
    .some((value) => value.split(',').some((one) => one.trim().toLowerCase() === 'respond-async'))

/** A run without a heartbeat for this long belongs to a crashed node. */
const HEARTBEAT_TIMEOUT_SECONDS = 60

function answerOf(run: StoredRun, now: Temporal.Instant): ReportRun {
  const { runId, reportId, rowsDone, rowsTotal, createdDate } = run
  const isDead =
    (run.status === 'QUEUED' || run.status === 'RUNNING') &&
    now.since(run.beatTime).total('seconds') > HEARTBEAT_TIMEOUT_SECONDS
  const status = isDead ? 'FAILED' : run.status
  return {
    runId,
    reportId,
    format: run.format as ReportFormat,
    status,
    statusReason: isDead
      ? 'The node that printed it has stopped. Request the report again.'
      : run.failure,
    rowsDone,
    rowsTotal,
    file: status === 'COMPLETED' ? `/report/run/${runId}/file` : null,
    createdDate: createdDate.epochMilliseconds,
  }
}
