import { Type } from 'typebox'
import { ReportOptions } from '../../contract/report.ts'
import { notFound } from '../../errors.ts'
import { readerOf } from '../../report-delivery/readers.ts'
import { REPORTS } from '../../reports/catalog/catalog.ts'
import { findOptions } from '../../reports/options.ts'
import { refuseForbidden } from '../../reports/print-request.ts'
import { operation, type Routes } from '../server/services.ts'

export const reportOptions: Routes = async (app) => {
  app.get(
    '/report/:reportId/options',
    operation('getReportOptions', 'List what a report can be filtered and grouped by', {
      config: { scope: 'reports:print' },
      tags: ['Reports'],
      description:
        'The locations, staff, services and statuses that the caller can filter it by. A list is empty if the report has no such filter.',
      params: Type.Object({ reportId: Type.Integer({ minimum: 1 }) }),
      response: { 200: ReportOptions },
    }),
    async ({ caller, params: { reportId } }) => {
      const report = REPORTS.find((one) => one.reportId === reportId)
      if (!report) throw notFound('report', reportId)
      const reader = readerOf(caller)
      refuseForbidden(report, reader)
      return findOptions(caller.db, report, reader)
    },
  )
}
