import { Type } from 'typebox'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { ReportTarget, ReportTargetWrite } from '../../contract/report-target.ts'
import { notFound } from '../../errors.ts'
import { saveTarget } from '../../report-delivery/save-target.ts'
import { findTarget, listTargets, lockTarget, updateTarget } from '../../store/report-targets.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['Reports']
/** Only an OWNER sets targets. */
const access = { scope: 'admin', function: 'EDIT_BUSINESS' } as const
/** `state` changes with every check, so it is not part of the ETag. */
const tagged = { etag: true, untagged: 'state' } as const
const ById = Type.Object({ reportTargetId: Type.Integer({ minimum: 1 }) })

export const reportTargets: Routes = inOrder(() => [
  getTargets,
  getTarget,
  postTarget,
  deleteTarget,
])

const getTargets: Routes = async (app) => {
  app.get(
    '/reportTarget',
    operation('listReportTargets', 'List the active targets on figures of reports', {
      config: access,
      tags,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(ReportTarget, 'ReportTargetPage') },
    }),
    async ({ caller: { db, businessId }, query }) => {
      const { limit, after } = readPage(query, 'reportTarget')
      const position = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listTargets(db, businessId, position)
      return toWire(pageOf(rows, limit, 'reportTarget', (row) => [row.reportTargetId]))
    },
  )
}

const getTarget: Routes = async (app) => {
  app.get(
    '/reportTarget/:reportTargetId',
    operation('getReportTarget', 'Read a target with what its checks found', {
      config: { ...access, ...tagged },
      tags,
      params: ById,
      response: { 200: ReportTarget },
    }),
    async ({ caller: { db, businessId }, params: { reportTargetId } }) => {
      const target = await findTarget(db, businessId, reportTargetId)
      if (!target) throw notFound('report target', reportTargetId)
      return toWire(target)
    },
  )
}

const postTarget: Routes = async (app, { clock }) => {
  app.post(
    '/reportTarget',
    operation('createReportTarget', 'Create or change a target on a figure of a report', {
      config: { ...access, ...tagged, idempotent: true, readsBody: true },
      tags,
      description:
        'The figure is checked once an hour. When it crosses `value`, the people of `userIdList` get one ' +
        'mail with the entries behind it; another one only after the figure was back. A change starts anew.',
      body: ReportTargetWrite,
      response: { 200: ReportTarget, 201: ReportTarget },
    }),
    (request, reply) => {
      const { db, businessId, user } = request.caller
      const now = clock.now()
      const onCurrent = (current: object) => requireMatch(request, current)
      return answerOnce(db, request, reply, now, async (tx) => {
        const saving = { businessId, user, now, onCurrent }
        const { target, isNew } = await saveTarget(tx, request.body, saving)
        return isNew ? created(target, `/reportTarget/${target.reportTargetId}`) : ok(target)
      })
    },
  )
}

const deleteTarget: Routes = async (app, { clock }) => {
  app.delete(
    '/reportTarget/:reportTargetId',
    operation('deleteReportTarget', 'Deactivate a target', {
      config: { ...access, ...tagged },
      tags,
      params: ById,
      response: { 200: ReportTarget },
    }),
    async (request) => {
      const { db, businessId, user } = request.caller
      const { reportTargetId } = request.params
      const target = await db.transaction(async (tx) => {
        const current = await lockTarget(tx, businessId, reportTargetId)
        if (!current) throw notFound('report target', reportTargetId)
        requireMatch(request, current)
        if (!current.active) return current
        return updateTarget(tx, current, { ...current, active: false }, { user, now: clock.now() })
      })
      return toWire(target)
    },
  )
}
