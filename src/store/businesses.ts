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
  logo,
  confirm_status as "confirmStatus",
  cancel_status as "cancelStatus",
  cancel_until_hours as "cancelUntilHours",
  booking_url   as "bookingUrl",
  external_id   as "externalId",
  sender_domains as "senderDomains",
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
  | 'logo'
  | 'confirmStatus'
  | 'cancelStatus'
  | 'cancelUntilHours'
  | 'bookingUrl'
  | 'externalId'
  | 'senderDomains'
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

/** Of a new business, unless they are given. */
const DEFAULTS = {
  emailAddress: null,
  phone: null,
  language: null,
  logo: null,
  confirmStatus: null,
  cancelStatus: null,
  cancelUntilHours: null,
  bookingUrl: null,
  externalId: null,
  senderDomains: [],
  active: true,
}

type NewBusiness = Pick<BusinessFields, 'name' | 'timeZone'> & Partial<BusinessFields>

export async function insertBusiness(db: Db, given: NewBusiness, { user, now }: By) {
  const fields: BusinessFields = { ...DEFAULTS, ...given }
  const [business] = await db.query<BusinessRow>(sql`
    insert into business (name, time_zone, email_address, phone, language, logo, confirm_status,
                          cancel_status, cancel_until_hours, booking_url, external_id, sender_domains,
                          active, created_date, created_user, modified_date, modified_user)
    values (${fields.name}, ${fields.timeZone}, ${fields.emailAddress}, ${fields.phone},
            ${fields.language}, ${fields.logo}, ${fields.confirmStatus}, ${fields.cancelStatus},
            ${fields.cancelUntilHours}, ${fields.bookingUrl}, ${fields.externalId},
            ${wireDomains(fields)}::text[],
            ${fields.active}, ${now}, ${user}, ${now}, ${user})
    returning ${columns}`)
  return business!
}

export async function updateBusiness(db: Db, businessId: number, fields: BusinessFields, by: By) {
  const [business] = await db.query<BusinessRow>(sql`
    update business
    set name = ${fields.name}, time_zone = ${fields.timeZone}, email_address = ${fields.emailAddress},
        phone = ${fields.phone}, language = ${fields.language}, logo = ${fields.logo},
        confirm_status = ${fields.confirmStatus}, cancel_status = ${fields.cancelStatus},
        cancel_until_hours = ${fields.cancelUntilHours}, booking_url = ${fields.bookingUrl}, external_id = ${fields.externalId},
        sender_domains = ${wireDomains(fields)}::text[], active = ${fields.active}, version = version + 1,
        modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId}
    returning ${columns}`)
  return business!
}

/** Each domain once, in lower case. */
const wireDomains = ({ senderDomains }: BusinessFields) => [
  ...new Set(senderDomains.flatMap((domain) => parseDomain(domain) ?? [])),
]
