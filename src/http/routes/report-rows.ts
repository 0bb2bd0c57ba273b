import { Type, type Static } from 'typebox'
import type { FastifyReply } from 'fastify'
import type { Caller } from '../../auth/caller.ts'
import {
  CountedObjectPage,
  ObjectSums,
  ReportRowsQuery,
  ReportSumsQuery,
  type SumKey,
} from '../../contract/report-rows.ts'
import type { Db } from '../../database/database.ts'
import { untilAborted } from '../../database/until-aborted.ts'
import { invalid, notFound } from '../../errors.ts'
import { readerOf } from '../../report-delivery/readers.ts'
import { REPORTS } from '../../reports/catalog/catalog.ts'
import { readObjects, readSums, type ObjectsRequest } from '../../reports/drill-down.ts'
import { checkPrintRequest, type PrintJob } from '../../reports/print-request.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

const params = Type.Object({ reportId: Type.Integer({ minimum: 1 }) })

type Asked = Omit<Static<typeof ReportRowsQuery>, 'limit' | 'cursor'>
type Request = { caller: Caller; params: Static<typeof params> }

export const reportRows: Routes = async (app, { database, clock, queues }) => {
  /** Checks the request, and reads objects when it is the turn of the business. */
  async function read<T>(
    { caller, params: { reportId } }: Request,
    reply: FastifyReply,
    asked: Asked,
    work: (db: Db, job: PrintJob, request: ObjectsRequest) => Promise<T>,
  ) {
    const signal = abortOnDisconnect(reply)
    if (!REPORTS.some((report) => report.reportId === reportId && report.drillDown)) {
      throw notFound('report with a drill-down', reportId)
    }
    const { startDate, endDate, locationId, filters, printedTime, ...wanted } = asked
    const db = untilAborted(database.reportsOf(caller.businessId), signal)
    const request = { reportId, startDate, endDate, locationId, filters: parseFilters(filters) }
    const now = earlierOf(clock.now(), printedTime)
    return queues.interactive.run({ businessId: caller.businessId, signal }, async () =>
      work(db, await checkPrintRequest(db, request, readerOf(caller), now), wanted),
    )
  }

  app.get(
    '/report/:reportId/rows',
    operation('listReportRows', 'List the objects behind a figure of a report', {
      config: { scope: 'reports:print' },
      tags: ['Reports'],
      description:
        'The address is `drillDown.path` of a report that was printed as JSON, followed by an entry of `rowFilters`, and of `drillDown.columns` or `drillDown.kpis`.',
      params,
      querystring: ReportRowsQuery,
      response: { 200: CountedObjectPage },
    }),
    async (request, reply) => {
      const { limit: _limit, cursor: _cursor, ...asked } = request.query
      const list = JSON.stringify(['reportRows', request.params.reportId, asked])
      const { limit, after } = readPage(request.query, list, ['moment', 'text'])
      const { objects, ...sums } = await read(request, reply, asked, (db, job, wanted) =>
        readObjects(db, job, wanted, {
          after: after && { time: after[0], key: after[1] },
          limit: limit + 1,
        }),
      )
      const page = pageOf(objects, limit, list, ({ time, rowKey }) => [time.toString(), rowKey])
      const items = page.items.map(({ rowKey: _rowKey, ...object }) => object)
      return toWire({ ...page, items, ...sums })
    },
  )

  app.get(
    '/report/:reportId/sums',
    operation('sumReportRows', 'Count the objects behind a figure of a report', {
      config: { scope: 'reports:print' },
      tags: ['Reports'],
      description:
        'Takes what `GET /report/{reportId}/rows` takes, and counts its objects by one or two of their properties.',
      params,
      querystring: ReportSumsQuery,
      response: { 200: ObjectSums },
    }),
    async (request, reply) => {
      const { by, limit = 200, ...asked } = request.query
      const items = await read(request, reply, asked, (db, job, wanted) =>
        readSums(db, job, wanted, { by: by.split(',') as SumKey[], limit }),
      )
      return { items }
    },
  )
}

/** A report cannot have been printed later than now. */
function earlierOf(now: Temporal.Instant, printedTime: number | undefined) {
  if (printedTime === undefined || printedTime > now.epochMilliseconds) return now
  return Temporal.Instant.fromEpochMilliseconds(printedTime)
}

function parseFilters(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ pointer: '?filters', detail: 'must be JSON' }])
  }
}
