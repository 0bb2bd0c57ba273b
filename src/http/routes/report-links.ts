import { Type } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { readFields } from '../../contract/read-fields.ts'
import {
  LINK_BODY,
  NewReportLink,
  ReportLink,
  ReportLinkWrite,
  SharedFile,
} from '../../contract/report-delivery.ts'
import { conflict, invalid, notFound } from '../../errors.ts'
import {
  createReportLink,
  LINK_LIFETIME,
  MAX_LINK_LIFETIME,
  openReportLink,
} from '../../report-delivery/links.ts'
import {
  listReportLinks,
  listSharedFiles,
  lockReportLink,
  revokeReportLink,
} from '../../store/report-links.ts'
import { findRunOfLink } from '../../store/report-runs.ts'
import { requireRun } from './reports.ts'
import { explainDeadLinks } from './answer-pages.ts'
import { HtmlPage } from './mail-page.ts'
import { PrintedFiles, sendStoredFile } from './report-files.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['Reports']
const access = { scope: 'admin', function: 'SCHEDULE_REPORTS' } as const
const ByRun = Type.Object({ runId: Type.Integer({ minimum: 1 }) })
const ById = Type.Object({
  runId: Type.Integer({ minimum: 1 }),
  reportLinkId: Type.Integer({ minimum: 1 }),
})

export const reportLinks: Routes = inOrder(() => [postLink, getLinks, getSharedFiles, deleteLink])

const postLink: Routes = async (app, { clock, config }) => {
  app.post(
    '/report/run/:runId/link',
    operation('createReportLink', 'Create a public link to the file of a completed report run', {
      config: { ...access, idempotent: true, emptyBody: true, readsBody: true },
      tags,
      description:
        'Anyone with the link can read the file until it expires or is revoked. The file is kept as ' +
        'long as the link works. A link works only while the person or key that created it is active ' +
        'and has the rights with which the file was printed.',
      params: ByRun,
      body: ReportLinkWrite,
      response: { 201: NewReportLink },
    }),
    (request, reply) => {
      const { caller, params } = request
      const { db, businessId, person, apiKeyId, user } = caller
      const now = clock.now()
      const expiresTime = readExpiry(request.body, now)
      return answerOnce(db, request, reply, now, async (tx) => {
        const { runId, status } = await requireRun({ ...caller, db: tx }, params.runId)
        if (status !== 'COMPLETED') {
          throw conflict('The report run has no file. Create the link when it is COMPLETED.')
        }
        const userId = person?.userId ?? null
        const link = { businessId, runId, userId, apiKeyId, expiresTime }
        const body = await createReportLink(tx, link, config.publicUrl, { user, now })
        const headers = { location: `/report/run/${runId}/link` }
        return { status: 201, body, headers, secrets: ['url'] }
      })
    },
  )
}

function readExpiry(body: unknown, now: Temporal.Instant) {
  type Values = { expiresTime: Temporal.Instant | null }
  const { values, faults } = readFields<Values>(LINK_BODY, body ?? {})
  if (faults.length > 0) throw invalid(faults)
  const wanted = values.expiresTime
  if (wanted === null) return now.add(LINK_LIFETIME)
  const isAhead = Temporal.Instant.compare(wanted, now) > 0
  if (isAhead && Temporal.Instant.compare(wanted, now.add(MAX_LINK_LIFETIME)) <= 0) return wanted
  throw invalid([{ pointer: '/expiresTime', detail: 'must be in the future, at most in 30 days' }])
}

const getLinks: Routes = async (app) => {
  app.get(
    '/report/run/:runId/link',
    operation('listReportLinks', 'List the links to the file of a report run', {
      config: access,
      tags,
      description: 'Of any run of the business, also of the runs of schedules.',
      params: ByRun,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(ReportLink, 'ReportLinkPage') },
    }),
    async ({ caller, params, query }) => {
      const { businessId } = caller
      const { runId } = await requireAnyRun(caller, params.runId)
      const list = `report/run/${runId}/link`
      const { limit, after } = readPage(query, list)
      const position = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listReportLinks(caller.db, { businessId, runId }, position)
      return toWire(pageOf(rows, limit, list, (row) => [row.reportLinkId]))
    },
  )
}

const getSharedFiles: Routes = async (app, { clock }) => {
  app.get(
    '/report/link',
    operation('listSharedReportFiles', 'List the files that public links show', {
      config: access,
      tags,
      description:
        'The links of all runs of the business that work now, newest first, with report and file. ' +
        'Revoke one with its `runId` and `reportLinkId`.',
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(SharedFile, 'SharedReportFilePage') },
    }),
    async ({ caller: { db, businessId }, query }) => {
      const list = 'report/link'
      const { limit, after } = readPage(query, list)
      const position = { before: after?.[0] ?? null, limit: limit + 1 }
      const rows = await listSharedFiles(db, { businessId, now: clock.now() }, position)
      return toWire(pageOf(rows, limit, list, (row) => [row.reportLinkId]))
    },
  )
}

/** A run of any user: its file stays hidden, but its links can be listed and revoked. */
async function requireAnyRun({ db, businessId }: Caller, runId: number) {
  const run = await findRunOfLink(db, businessId, runId)
  if (!run) throw notFound('report run', runId)
  return run
}

const deleteLink: Routes = async (app, { clock }) => {
  app.delete(
    '/report/run/:runId/link/:reportLinkId',
    operation('revokeReportLink', 'Revoke a link to the file of a report run', {
      config: { ...access, etag: true },
      tags,
      description: 'Of any creator. The link stops working at once and cannot be reactivated.',
      params: ById,
      response: { 200: ReportLink },
    }),
    async (request) => {
      const { caller, params } = request
      const { businessId } = caller
      const revoked = await caller.db.transaction(async (tx) => {
        await requireAnyRun({ ...caller, db: tx }, params.runId)
        const link = await lockReportLink(tx, { businessId, ...params })
        if (!link) throw notFound('report link', params.reportLinkId)
        requireMatch(request, link)
        if (!link.active) return link
        return revokeReportLink(tx, link, { user: caller.user, now: clock.now() })
      })
      return toWire(revoked)
    },
  )
}

export const linkedFile: Routes = async (app, { clock, database }) => {
  explainDeadLinks(app)
  app.get(
    '/report/link/:token',
    operation('openReportLink', 'Read the file behind a public link', {
      config: { open: true },
      tags,
      description: '410 if the link has expired or was revoked.',
      params: Type.Object({ token: Type.String({ maxLength: 100 }) }),
      response: { 200: PrintedFiles, 404: HtmlPage, 410: HtmlPage },
    }),
    async ({ params }, reply) => {
      const { db, businessId, run } = await openReportLink(database, params.token, clock.now())
      return sendStoredFile(reply, db, businessId, run)
    },
  )
}
