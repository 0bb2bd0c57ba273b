import { parseDomain } from '../contract/addresses.ts'
import type { Business } from '../contract/business.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { lockSettings } from './event-definitions.ts'

const columns = sql`
  business_id   as "businessId",
  name,
  time_zone     as "timeZone",
  email_address as "emailAddress",
  phone,
  language,
  external_id   as "externalId",
  sender_domains as "senderDomains",
  mail_paused   as "mailPaused",
  mail_paused_reason as "mailPausedReason",
  active,
  version,
  created_date  as "createdDate",
  created_user  as "createdUser",
  modified_date as "modifiedDate",
  modified_user as "modifiedUser"`

export type BusinessRow = Omit<Business, 'createdDate' | 'modifiedDate'> & {
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
}

/** What a caller may write. */
export type BusinessFields = Pick<
  Business,
  | 'name'
  | 'timeZone'
  | 'emailAddress'
  | 'phone'
  | 'language'
  | 'externalId'
  | 'senderDomains'
  | 'mailPaused'
  | 'mailPausedReason'
  | 'active'
>

export type By = { user: string; now: Temporal.Instant }

export async function findBusiness(db: Db, businessId: number) {
  const [business] = await db.query<BusinessRow>(sql`
    select ${columns} from business where business_id = ${businessId}`)
  return business
}

/** The business of a caller, which exists. */
export async function getBusiness(db: Db, businessId: number) {
  const business = await findBusiness(db, businessId)
  if (!business) throw new Error(`there is no business ${businessId}`)
  return business
}

export async function lockBusiness(tx: Db, businessId: number) {
  lockSettings(tx, businessId)
  const [business] = await tx.query<BusinessRow>(sql`
    select ${columns} from business where business_id = ${businessId} for no key update`)
  return business
}

export async function lockBusinessByExternalId(tx: Db, externalId: string) {
  const [found] = await tx.query<{ businessId: number }>(sql`
    select business_id as "businessId" from business where external_id = ${externalId}`)
  const business = found && (await lockBusiness(tx, found.businessId))
  return business?.externalId === externalId ? business : undefined
}

/** All active businesses for the operator; for a business only itself. */
export function listBusinesses(db: Db, { after, limit }: { after: number; limit: number }) {
  return db.query<BusinessRow>(sql`
    select ${columns} from business
    where active and business_id > ${after}
    order by business_id
    limit ${limit}`)
}

export async function insertBusiness(db: Db, fields: BusinessFields, { user, now }: By) {
  const [business] = await db.query<BusinessRow>(sql`
    insert into business (name, time_zone, email_address, phone, language, external_id, sender_domains,
                          mail_paused, mail_paused_reason, active, created_date, created_user, modified_date, modified_user)
    values (${fields.name}, ${fields.timeZone}, ${fields.emailAddress}, ${fields.phone},
            ${fields.language}, ${fields.externalId}, ${wireDomains(fields)}::text[],
            ${fields.mailPaused}, ${pausedReason(fields)}, ${fields.active}, ${now}, ${user}, ${now}, ${user})
    returning ${columns}`)
  return business!
}

export async function updateBusiness(db: Db, businessId: number, fields: BusinessFields, by: By) {
  const [business] = await db.query<BusinessRow>(sql`
    update business
    set name = ${fields.name}, time_zone = ${fields.timeZone}, email_address = ${fields.emailAddress},
        phone = ${fields.phone}, language = ${fields.language}, external_id = ${fields.externalId},
        sender_domains = ${wireDomains(fields)}::text[], active = ${fields.active},
        mail_paused = ${fields.mailPaused}, mail_paused_reason = ${pausedReason(fields)},
        mail_resumed_time = case when mail_paused and not ${fields.mailPaused}::boolean
                                 then ${by.now}::timestamptz else mail_resumed_time end, version = version + 1,
        modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId}
    returning ${columns}`)
  return business!
}

/** The end of a pause ends its reason. */
const pausedReason = ({ mailPaused, mailPausedReason }: BusinessFields) =>
  mailPaused ? mailPausedReason : null

/** A pause of the mail of a business, or the end of its last one. */
export type MailPause = {
  businessId: number
  isPaused: boolean
  resumedTime: Temporal.Instant | null
}

/** Only businesses whose mail is paused, or was. */
export async function listMailPauses(db: Db, rows: { businessId: number }[]) {
  const pauses = await db.query<MailPause>(sql`
    select business_id as "businessId", mail_paused as "isPaused", mail_resumed_time as "resumedTime"
    from business
    where business_id = any (${idsOf(rows)}::bigint[]) and (mail_paused or mail_resumed_time is not null)`)
  return new Map(pauses.map((pause) => [pause.businessId, pause]))
}

/** Those of the businesses whose mail is still paused. They cannot resume before the transaction ends. */
export async function lockPausedBusinesses(tx: Db, rows: { businessId: number }[]) {
  const paused = await tx.query<{ businessId: number }>(sql`
    select business_id as "businessId" from business
    where business_id = any (${idsOf(rows)}::bigint[]) and mail_paused
    order by business_id for share`)
  return new Set(paused.map((row) => row.businessId))
}

const idsOf = (rows: { businessId: number }[]) => [...new Set(rows.map((row) => row.businessId))]

/** Each domain once, in lower case. */
const wireDomains = ({ senderDomains }: BusinessFields) => [
  ...new Set(senderDomains.flatMap((domain) => parseDomain(domain) ?? [])),
]
