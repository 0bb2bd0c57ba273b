import { Type } from 'typebox'
import { CountedObjectPage, ReportRowsQuery } from '../../contract/report-rows.ts'
import { untilAborted } from '../../database/until-aborted.ts'
import { invalid, notFound } from '../../errors.ts'
import { readerOf } from '../../report-delivery/readers.ts'
import { REPORTS } from '../../reports/catalog/catalog.ts'
import { readObjects } from '../../reports/drill-down.ts'
import { checkPrintRequest } from '../../reports/print-request.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { toWire } from '../server/serialize.ts'
import type { Routes } from '../server/services.ts'

export const reportRows: Routes = async (app, { database, clock, queues }) => {
  app.get(
    '/report/:reportId/rows',
    {
      config: { scope: 'reports:print' },
      schema: {
        operationId: 'listReportRows',
        tags: ['Reports'],
        summary: 'List the objects behind a figure of a report',
        description:
          'The address is `drillDown.path` of a report that was printed as JSON, followed by an entry of `rowFilters`, and of `drillDown.columns` or `drillDown.kpis`.',
        params: Type.Object({ reportId: Type.Integer({ minimum: 1 }) }),
        querystring: ReportRowsQuery,
        response: { 200: CountedObjectPage },
      },
    },
    async ({ caller, params: { reportId }, query }, reply) => {
      const signal = abortOnDisconnect(reply)
      if (!REPORTS.some((report) => report.reportId === reportId && report.drillDown)) {
        throw notFound('report with a drill-down', reportId)
      }
      const { limit: _limit, cursor: _cursor, ...asked } = query
      const list = JSON.stringify(['reportRows', reportId, asked])
      const { limit, after } = readPage(query, list, ['moment', 'text'])
      const { startDate, endDate, locationId, filters, printedTime, ...wanted } = asked
      const db = untilAborted(database.reportsOf(caller.businessId), signal)
      const request = { reportId, startDate, endDate, locationId, filters: parseFilters(filters) }
      const now = earlierOf(clock.now(), printedTime)
      const found = await queues.interactive.run(
        { businessId: caller.businessId, signal },
        async () => {
          const job = await checkPrintRequest(db, request, readerOf(caller), now)
          return readObjects(db, job, wanted, {
            after: after && { time: after[0], key: after[1] },
            limit: limit + 1,
          })
        },
      )
      const { objects, ...sums } = found
      const page = pageOf(objects, limit, list, ({ time, rowKey }) => [time.toString(), rowKey])
      const items = page.items.map(({ rowKey: _rowKey, ...object }) => object)
      return toWire({ ...page, items, ...sums })
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
