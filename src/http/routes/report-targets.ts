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
import type { Routes } from '../server/services.ts'

const tags = ['Reports']
/** Only an OWNER sets targets. */
const access = { scope: 'admin', function: 'EDIT_BUSINESS' } as const
/** `state` changes with every check, so it is not part of the ETag. */
const tagged = { etag: true, untagged: 'state' } as const
const ById = Type.Object({ reportTargetId: Type.Integer({ minimum: 1 }) })

export const reportTargets: Routes = async (app, services) => {
  for (const route of [getTargets, getTarget, postTarget, deleteTarget]) await route(app, services)
}

const getTargets: Routes = async (app) => {
  app.get(
    '/reportTarget',
    {
      config: access,
      schema: {
        operationId: 'listReportTargets',
        tags,
        summary: 'List the active targets on figures of reports',
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(ReportTarget, 'ReportTargetPage') },
      },
    },
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
    {
      config: { ...access, ...tagged },
      schema: {
        operationId: 'getReportTarget',
        tags,
        summary: 'Read a target with what its checks found',
        params: ById,
        response: { 200: ReportTarget },
      },
    },
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
    {
      config: { ...access, ...tagged, idempotent: true },
      attachValidation: true,
      schema: {
        operationId: 'createReportTarget',
        tags,
        summary: 'Create or change a target on a figure of a report',
        description:
          'The figure is checked once an hour. When it crosses `value`, the people of `userIdList` get one ' +
          'mail with the entries behind it; another one only after the figure was back. A change starts anew.',
        body: ReportTargetWrite,
        response: { 200: ReportTarget, 201: ReportTarget },
      },
    },
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
    {
      config: { ...access, ...tagged },
      schema: {
        operationId: 'deleteReportTarget',
        tags,
        summary: 'Deactivate a target',
        params: ById,
        response: { 200: ReportTarget },
      },
    },
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
