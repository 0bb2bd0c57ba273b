import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { ReportView, ReportViewWrite } from '../../contract/report-delivery.ts'
import { invalid, notFound } from '../../errors.ts'
import { REPORTS } from '../../reports/catalog/catalog.ts'
import { refuseForeignView, saveView } from '../../report-delivery/save-view.ts'
import {
  findReportView,
  listReportViews,
  lockReportView,
  updateReportView,
} from '../../store/report-views.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import type { Routes } from '../server/services.ts'

const tags = ['Reports']
const access = { scope: 'admin', function: 'PRINT_REPORTS' } as const
const ById = Type.Object({ reportViewId: Type.Integer({ minimum: 1 }) })

export const reportViews: Routes = async (app, services) => {
  for (const route of [getViews, getView, postView, deleteView]) await route(app, services)
}

/** A person sees and changes their own views; a key those that were saved with a key. */
const viewerOf = ({ businessId, person, functions }: Caller) => ({
  businessId,
  userId: person?.userId ?? null,
  mayShare: functions.has('SCHEDULE_REPORTS'),
})

const getViews: Routes = async (app) => {
  app.get(
    '/reportView',
    {
      config: access,
      schema: {
        operationId: 'listReportViews',
        tags,
        summary: 'List your own and the shared views of reports',
        querystring: Type.Object({
          ...PageQuery,
          reportId: Type.Optional(Type.Integer({ description: 'Only views of this report.' })),
        }),
        response: { 200: PageOf(ReportView, 'ReportViewPage') },
      },
    },
    async ({ caller, query }) => {
      refuseUnknownReport(query.reportId)
      const list = JSON.stringify(['reportView', query.reportId])
      const { limit, after } = readPage(query, list)
      const position = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listReportViews(caller.db, viewerOf(caller), query.reportId, position)
      return toWire(pageOf(rows, limit, list, (row) => [row.reportViewId]))
    },
  )
}

function refuseUnknownReport(reportId: number | undefined) {
  if (reportId === undefined || REPORTS.some((report) => report.reportId === reportId)) return
  throw invalid([{ pointer: '?reportId', detail: 'there is no such report' }])
}

const getView: Routes = async (app) => {
  app.get(
    '/reportView/:reportViewId',
    {
      config: { ...access, etag: true },
      schema: {
        operationId: 'getReportView',
        tags,
        summary: 'Read a view of a report',
        params: ById,
        response: { 200: ReportView },
      },
    },
    async ({ caller, params: { reportViewId } }) => {
      const view = await findReportView(caller.db, viewerOf(caller), reportViewId)
      if (!view) throw notFound('report view', reportViewId)
      return toWire(view)
    },
  )
}

const postView: Routes = async (app, { clock }) => {
  app.post(
    '/reportView',
    {
      config: { ...access, etag: true, idempotent: true },
      attachValidation: true,
      schema: {
        operationId: 'createReportView',
        tags,
        summary: 'Create or change a view of a report',
        description:
          'Print it with `{ "reportViewId" }` in the body of `POST /report/print/file`. A shared ' +
          'view is listed for everybody; each prints it with their own rights.',
        body: ReportViewWrite,
        response: { 200: ReportView, 201: ReportView },
      },
    },
    (request, reply) => {
      const { caller } = request
      const now = clock.now()
      const onCurrent = (current: object) => requireMatch(request, current)
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const saving = { ...viewerOf(caller), user: caller.user, now, onCurrent }
        const { view, isNew } = await saveView(tx, request.body, saving)
        return isNew ? created(view, `/reportView/${view.reportViewId}`) : ok(view)
      })
    },
  )
}

const deleteView: Routes = async (app, { clock }) => {
  app.delete(
    '/reportView/:reportViewId',
    {
      config: { ...access, etag: true },
      schema: {
        operationId: 'deleteReportView',
        tags,
        summary: 'Deactivate a view of a report',
        params: ById,
        response: { 200: ReportView },
      },
    },
    async (request) => {
      const { caller, params } = request
      const viewer = viewerOf(caller)
      const view = await caller.db.transaction(async (tx) => {
        const current = await lockReportView(tx, viewer, params.reportViewId)
        if (!current) throw notFound('report view', params.reportViewId)
        refuseForeignView(current, viewer)
        requireMatch(request, current)
        if (!current.active) return current
        const by = { user: caller.user, now: clock.now() }
        return updateReportView(tx, current, { ...current, active: false }, by)
      })
      return toWire(view)
    },
  )
}
