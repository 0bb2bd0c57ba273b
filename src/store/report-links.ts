import type { Role, KeyScope } from '../contract/roles.ts'
import type { ReportLink, SharedFile } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { By, Stored } from './rows.ts'
import type { PageAfter } from './pages.ts'

export type ReportLinkRow = Stored<ReportLink>

const columns = sql`
  report_link_id as "reportLinkId",
  business_id    as "businessId",
  run_id         as "runId",
  user_id        as "userId",
  expires_time   as "expiresTime",
  active,
  version,
  created_date   as "createdDate",
  created_user   as "createdUser",
  modified_date  as "modifiedDate",
  modified_user  as "modifiedUser"`

export type NewReportLink = {
  businessId: number
  runId: number
  /** The link works while this user may see the file's content; null: it was created with a key. */
  userId: number | null
  /** The link works as long as this key. */
  apiKeyId: number | null
  tokenHash: Buffer
  expiresTime: Temporal.Instant
}

/** Also keeps the file of the run until the link expires. */
export async function insertReportLink(tx: Db, link: NewReportLink, by: By) {
  await tx.query(sql`
    update report_run set keep_until = greatest(keep_until, ${link.expiresTime}::timestamptz)
    where business_id = ${link.businessId} and run_id = ${link.runId}`)
  return tx.getRow<ReportLinkRow>(sql`
    insert into report_link (business_id, run_id, user_id, api_key_id, token_hash, expires_time,
      created_date, created_user, modified_date, modified_user)
    values (${link.businessId}, ${link.runId}, ${link.userId}, ${link.apiKeyId},
            ${link.tokenHash}, ${link.expiresTime}, ${by.now}, ${by.user}, ${by.now}, ${by.user})
    returning ${columns}`)
}

type LinkKey = { businessId: number; runId: number; reportLinkId: number }

export const lockReportLink = (tx: Db, { businessId, runId, reportLinkId }: LinkKey) =>
  tx.findRow<ReportLinkRow>(sql`
    select ${columns} from report_link
    where business_id = ${businessId} and run_id = ${runId} and report_link_id = ${reportLinkId}
    for update`)

/** The links of a run that are not revoked, oldest first. */
export function listReportLinks(
  db: Db,
  { businessId, runId }: { businessId: number; runId: number },
  { after, limit }: PageAfter,
) {
  return db.query<ReportLinkRow>(sql`
    select ${columns} from report_link
    where business_id = ${businessId} and run_id = ${runId} and active
      and report_link_id > ${after}
    order by report_link_id limit ${limit}`)
}

export type SharedFileRow = ReportLinkRow & Pick<SharedFile, 'reportId' | 'format' | 'fileName'>

/** The links of all runs that work, newest first. */
export function listSharedFiles(
  db: Db,
  { businessId, now }: { businessId: number; now: Temporal.Instant },
  { before, limit }: { before: number | null; limit: number },
) {
  return db.query<SharedFileRow>(sql`
    select ${columns}, report_id as "reportId", format, file_name as "fileName"
    from (select * from report_link
          where business_id = ${businessId} and active and expires_time > ${now}
            and (${before}::bigint is null or report_link_id < ${before})
          order by report_link_id desc limit ${limit}) link
    join (select business_id, run_id, report_id, format, file_name from report_run) run
      using (business_id, run_id)
    order by report_link_id desc`)
}

export async function revokeReportLink(
  tx: Db,
  { businessId, reportLinkId }: Pick<LinkKey, 'businessId' | 'reportLinkId'>,
  by: By,
) {
  const row = await tx.getRow<ReportLinkRow>(sql`
    update report_link
    set active = false, version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId} and report_link_id = ${reportLinkId}
    returning ${columns}`)
  await forgetUnlinkedFiles(tx, businessId, [row.runId])
  return row
}

/** Revokes all links to the files that were printed with a credential. */
export async function revokeLinksOfCredential(
  tx: Db,
  { businessId, credential }: { businessId: number; credential: string },
  by: By,
) {
  const revoked = await tx.query<{ runId: number }>(sql`
    update report_link l
    set active = false, version = l.version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    from report_run r
    where l.business_id = ${businessId} and l.active
      and r.business_id = l.business_id and r.run_id = l.run_id and r.credential = ${credential}
    returning l.run_id as "runId"`)
  const runIds = revoked.map(({ runId }) => runId)
  await forgetUnlinkedFiles(tx, businessId, runIds)
}

/** Keeps files only until their last active link expires. */
const forgetUnlinkedFiles = (tx: Db, businessId: number, runIds: number[]) =>
  tx.query(sql`
    update report_run r
    set keep_until = (select max(l.expires_time) from report_link l
                      where l.business_id = r.business_id and l.run_id = r.run_id and l.active)
    where r.business_id = ${businessId} and r.run_id = any (${runIds}::bigint[])`)

export type OpenedLink = {
  businessId: number
  runId: number
  active: boolean
  expiresTime: Temporal.Instant
  /** The active user whose rights apply; null if there is none, or it was created with a key. */
  user: { role: Role; locationIdList: number[]; professionalId: number | null } | null
  /** The active key whose rights apply. */
  key: { scopes: KeyScope[]; maker: { role: Role } | null } | null
}

/** Needs the operator role: the business is not known before the link is found. */
export const findOpenedLink = (operator: Db, tokenHash: Buffer, now: Temporal.Instant) =>
  operator.findRow<OpenedLink>(sql`
    select l.business_id as "businessId", l.run_id as "runId", l.active and b.active as active,
           l.expires_time as "expiresTime",
           case when u.active then
             json_build_object('role', u.role, 'locationIdList', u.location_id_list,
                               'professionalId', u.professional_id) end as user,
           case when k.active and (k.maker_user_id is null or m.active)
                  and (k.expires_time is null or k.expires_time > ${now}) then
             json_build_object('scopes', k.scopes,
               'maker', case when m.user_id is not null then json_build_object('role', m.role) end)
           end as key
    from report_link l
    join business b using (business_id)
    left join user_account u on (u.business_id, u.user_id) = (l.business_id, l.user_id)
    left join api_key k on (k.business_id, k.api_key_id) = (l.business_id, l.api_key_id)
    left join user_account m on (m.business_id, m.user_id) = (k.business_id, k.maker_user_id)
    where l.token_hash = ${tokenHash}`)
