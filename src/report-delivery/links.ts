import { FUNCTIONS_OF_ROLE } from '../auth/permissions.ts'
import { digest, makeSecret } from '../auth/secrets.ts'
import type { Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import { mayPrint, REPORTS } from '../reports/catalog/catalog.ts'
import type { By } from '../store/businesses.ts'
import { findOpenedLink, insertReportLink } from '../store/report-links.ts'
import { findRunOfLink } from '../store/report-runs.ts'
import type { Database } from '../database/database.ts'

export const LINK_LIFETIME = { hours: 7 * 24 }
export const MAX_LINK_LIFETIME = { hours: 30 * 24 }

type NewLink = {
  businessId: number
  runId: number
  userId: number | null
  expiresTime: Temporal.Instant
}

/** Creates a link to the file of a run. The URL cannot be read again: only a hash is stored. */
export async function createReportLink(tx: Db, link: NewLink, publicUrl: string, by: By) {
  const token = makeSecret('bwr_')
  const stored = await insertReportLink(tx, { ...link, tokenHash: digest(token) }, by)
  return { ...stored, url: `${publicUrl}/report/link/${token}` }
}

/** Finds the file behind a link, as long as the person to whom the link belongs may see the report. */
export async function openReportLink(database: Database, token: string, now: Temporal.Instant) {
  const link = await findOpenedLink(database.operator, digest(token))
  if (!link) throw new RequestError(404, 'There is no such link.')
  const { businessId, active, expiresTime, user } = link
  const db = database.forBusiness(businessId, 'SYSTEM')
  const run = await findRunOfLink(db, businessId, link.runId)
  const report = REPORTS.find(({ reportId }) => reportId === run?.reportId)
  const isReadable =
    user === null ||
    (user.active && report && mayPrint(report, new Set<string>(FUNCTIONS_OF_ROLE[user.role])))
  const hasExpired = Temporal.Instant.compare(expiresTime, now) <= 0
  if (run?.status !== 'COMPLETED' || !active || hasExpired || !isReadable) {
    throw new RequestError(410, 'This link has expired or was revoked. Ask for a new one.')
  }
  return { db, businessId, run }
}
