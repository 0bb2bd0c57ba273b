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
  bulk_limit    as "bulkLimit",
  quiet_hours   as "quietHours",
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
  | 'bulkLimit'
  | 'quietHours'
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

/** A new business has the default settings unless it is given others. */
type NewBusiness = Omit<BusinessFields, Setting> & Partial<Pick<BusinessFields, Setting>>
type Setting = 'bulkLimit' | 'quietHours'

export async function insertBusiness(db: Db, fields: NewBusiness, { user, now }: By) {
  const [business] = await db.query<BusinessRow>(sql`
    insert into business (name, time_zone, email_address, phone, language, external_id, sender_domains,
                          bulk_limit, quiet_hours, active, created_date, created_user, modified_date, modified_user)
    values (${fields.name}, ${fields.timeZone}, ${fields.emailAddress}, ${fields.phone},
            ${fields.language}, ${fields.externalId}, ${wireDomains(fields)}::text[],
            ${fields.bulkLimit ?? null}, ${wireQuietHours(fields)}::jsonb, ${fields.active}, ${now}, ${user},
            ${now}, ${user})
    returning ${columns}`)
  return business!
}

export async function updateBusiness(db: Db, businessId: number, fields: BusinessFields, by: By) {
  const [business] = await db.query<BusinessRow>(sql`
    update business
    set name = ${fields.name}, time_zone = ${fields.timeZone}, email_address = ${fields.emailAddress},
        phone = ${fields.phone}, language = ${fields.language}, external_id = ${fields.externalId},
        sender_domains = ${wireDomains(fields)}::text[], bulk_limit = ${fields.bulkLimit},
        quiet_hours = ${wireQuietHours(fields)}::jsonb, active = ${fields.active}, version = version + 1,
        modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId}
    returning ${columns}`)
  return business!
}

/** Each domain once, in lower case. */
const wireDomains = ({ senderDomains }: Pick<BusinessFields, 'senderDomains'>) => [
  ...new Set(senderDomains.flatMap((domain) => parseDomain(domain) ?? [])),
]

const wireQuietHours = ({ quietHours }: Partial<BusinessFields>) =>
  quietHours == null ? null : JSON.stringify({ from: quietHours.from, to: quietHours.to })
