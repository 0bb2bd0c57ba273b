import { functionsOfKey } from '../auth/permissions.ts'
import { digest, makeSecret } from '../auth/secrets.ts'
import type { Database, Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import type { By } from '../store/rows.ts'
import {
  findOpenedLink,
  insertReportLink,
  type NewReportLink,
  type OpenedLink,
} from '../store/report-links.ts'
import { findRunOfLink } from '../store/report-runs.ts'
import { mayReadFile, readerOf, readerOfUser } from './readers.ts'

export const LINK_LIFETIME = { hours: 7 * 24 }
export const MAX_LINK_LIFETIME = { hours: 30 * 24 }

/** Creates a link to the file of a run. The URL cannot be read again: only a hash is stored. */
export async function createReportLink(
  tx: Db,
  link: Omit<NewReportLink, 'tokenHash'>,
  publicUrl: string,
  by: By,
) {
  const token = makeSecret('bwr_')
  const stored = await insertReportLink(tx, { ...link, tokenHash: digest(token) }, by)
  return { ...stored, url: `${publicUrl}/report/link/${token}` }
}

/** Finds the file of a link, if the person or key of the link may still read it. */
export async function openReportLink(database: Database, token: string, now: Temporal.Instant) {
  const link = await findOpenedLink(database.operator, digest(token), now)
  if (!link) throw new RequestError(404, 'There is no such link.')
  const { businessId, active, expiresTime } = link
  const db = database.forBusiness(businessId, 'SYSTEM')
  const run = await findRunOfLink(db, businessId, link.runId)
  const reader = readerOfLink(link)
  const hasExpired = Temporal.Instant.compare(expiresTime, now) <= 0
  if (
    run?.status !== 'COMPLETED' ||
    !active ||
    hasExpired ||
    !reader ||
    !mayReadFile(reader, run.reader)
  ) {
    throw new RequestError(410, 'This link has expired or was revoked. Ask for a new one.')
  }
  return { db, businessId, run }
}

function readerOfLink({ businessId, user, key }: OpenedLink) {
  if (user) return readerOfUser({ businessId, ...user })
  return key
    ? readerOf({ businessId, functions: functionsOfKey(key), visibility: null })
    : undefined
}
