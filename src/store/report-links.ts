import type { Role } from '../contract/credentials.ts'
import type { ReportLink } from '../contract/report-delivery.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { By } from './businesses.ts'

export type ReportLinkRow = Omit<ReportLink, 'expiresTime' | 'createdDate' | 'modifiedDate'> & {
  expiresTime: Temporal.Instant
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
}

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

type NewReportLink = {
  businessId: number
  runId: number
  /** The link works while this person may see the report; null: it was created with a key. */
  userId: number | null
  tokenHash: Buffer
  expiresTime: Temporal.Instant
}

/** Also keeps the file of the run until the link expires. */
export async function insertReportLink(tx: Db, link: NewReportLink, by: By) {
  await tx.query(sql`
    update report_run set keep_until = greatest(keep_until, ${link.expiresTime}::timestamptz)
    where business_id = ${link.businessId} and run_id = ${link.runId}`)
  const [row] = await tx.query<ReportLinkRow>(sql`
    insert into report_link (business_id, run_id, user_id, token_hash, expires_time,
      created_date, created_user, modified_date, modified_user)
    values (${link.businessId}, ${link.runId}, ${link.userId}, ${link.tokenHash},
            ${link.expiresTime}, ${by.now}, ${by.user}, ${by.now}, ${by.user})
    returning ${columns}`)
  return row!
}

type LinkKey = { businessId: number; runId: number; reportLinkId: number }

export async function lockReportLink(tx: Db, { businessId, runId, reportLinkId }: LinkKey) {
  const [row] = await tx.query<ReportLinkRow>(sql`
    select ${columns} from report_link
    where business_id = ${businessId} and run_id = ${runId} and report_link_id = ${reportLinkId}
    for update`)
  return row
}

/** The links of a run that are not revoked, oldest first. */
export function listReportLinks(
  db: Db,
  { businessId, runId }: { businessId: number; runId: number },
  { after, limit }: { after: number; limit: number },
) {
  return db.query<ReportLinkRow>(sql`
    select ${columns} from report_link
    where business_id = ${businessId} and run_id = ${runId} and active
      and report_link_id > ${after}
    order by report_link_id limit ${limit}`)
}

export async function revokeReportLink(
  tx: Db,
  { businessId, reportLinkId }: Pick<LinkKey, 'businessId' | 'reportLinkId'>,
  by: By,
) {
  const [row] = await tx.query<ReportLinkRow>(sql`
    update report_link
    set active = false, version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId} and report_link_id = ${reportLinkId}
    returning ${columns}`)
  return row!
}

type OpenedLink = {
  businessId: number
  runId: number
  active: boolean
  expiresTime: Temporal.Instant
  /** The person by whose rights it works; null if it was created with a key. */
  user: { active: boolean; role: Role } | null
}

/** Needs the operator role: the business is not known before the link is found. */
export async function findOpenedLink(operator: Db, tokenHash: Buffer) {
  const [link] = await operator.query<OpenedLink>(sql`
    select l.business_id as "businessId", l.run_id as "runId", l.active and b.active as active,
           l.expires_time as "expiresTime",
           case when l.user_id is not null then
             json_build_object('active', u.active, 'role', u.role) end as user
    from report_link l
    join business b using (business_id)
    left join user_account u on (u.business_id, u.user_id) = (l.business_id, l.user_id)
    where l.token_hash = ${tokenHash}`)
  return link
}
