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
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['Reports']
const access = { scope: 'admin', function: 'PRINT_REPORTS' } as const
const ById = Type.Object({ reportViewId: Type.Integer({ minimum: 1 }) })

export const reportViews: Routes = inOrder(() => [getViews, getView, postView, deleteView])

/** A person sees and changes their own views; a key those that were saved with a key. */
const viewerOf = ({ businessId, person, functions }: Caller) => ({
  businessId,
  userId: person?.userId ?? null,
  mayShare: functions.has('SCHEDULE_REPORTS'),
})

const getViews: Routes = async (app) => {
  app.get(
    '/reportView',
    operation('listReportViews', 'List your own and the shared views of reports', {
      config: access,
      tags,
      querystring: Type.Object({
        ...PageQuery,
        reportId: Type.Optional(Type.Integer({ description: 'Only views of this report.' })),
      }),
      response: { 200: PageOf(ReportView, 'ReportViewPage') },
    }),
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
    operation('getReportView', 'Read a view of a report', {
      config: { ...access, etag: true },
      tags,
      params: ById,
      response: { 200: ReportView },
    }),
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
    operation('createReportView', 'Create or change a view of a report', {
      config: { ...access, etag: true, idempotent: true, readsBody: true },
      tags,
      description:
        'Print it with `{ "reportViewId" }` in the body of `POST /report/print/file`. A shared ' +
        'view is listed for everybody; each prints it with their own rights.',
      body: ReportViewWrite,
      response: { 200: ReportView, 201: ReportView },
    }),
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
    operation('deleteReportView', 'Deactivate a view of a report', {
      config: { ...access, etag: true },
      tags,
      params: ById,
      response: { 200: ReportView },
    }),
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
