import { parseDomain } from '../contract/addresses.ts'
import type { Business } from '../contract/business.ts'
import type { Db } from '../database/database.ts'
import { empty, raw, sql } from '../database/sql.ts'
import { lockSettings } from './event-definitions.ts'
import { columnsFor, rowTable } from './rows.ts'

/** The fields that a caller may write. */
export type BusinessFields = Omit<
  Business,
  'businessId' | 'version' | 'createdDate' | 'createdUser' | 'modifiedDate' | 'modifiedUser'
>

export type BusinessRow = Omit<Business, 'createdDate' | 'modifiedDate'> & {
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
}

const FIELD_COLUMNS = columnsFor<BusinessFields>({
  name: 'text',
  timeZone: 'text',
  emailAddress: 'text',
  phone: 'text',
  language: 'text',
  logo: 'text',
  confirmStatus: 'text',
  cancelStatus: 'text',
  cancelUntilHours: 'integer',
  bookingUrl: 'text',
  externalId: 'text',
  senderDomains: 'text[]',
  accentColor: 'text',
  website: 'text',
  replyTo: 'text',
  dailyMailLimit: 'integer',
  bulkLimit: 'integer',
  quietHours: 'jsonb',
  mailPaused: 'boolean',
  mailPausedReason: 'text',
  active: 'boolean',
} satisfies Record<keyof BusinessFields, string>)

const columns = sql`
  t.business_id as "businessId",
  ${raw(FIELD_COLUMNS.map(({ property, column }) => `t.${column} as "${property}"`).join(', '))},
  t.version,
  t.created_date  as "createdDate",
  t.created_user  as "createdUser",
  t.modified_date as "modifiedDate",
  t.modified_user as "modifiedUser"`

export type By = { user: string; now: Temporal.Instant }

export async function findBusiness(db: Db, businessId: number) {
  const [business] = await db.query<BusinessRow>(sql`
    select ${columns} from business t where business_id = ${businessId}`)
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
    select ${columns} from business t where business_id = ${businessId} for no key update`)
  return business
}

export async function lockBusinessByExternalId(tx: Db, externalId: string) {
  const [found] = await tx.query<{ businessId: number }>(sql`
    select business_id as "businessId" from business t where external_id = ${externalId}`)
  const business = found && (await lockBusiness(tx, found.businessId))
  return business?.externalId === externalId ? business : undefined
}

/** All active businesses for the operator; for a business only itself. */
export function listBusinesses(
  db: Db,
  filters: { externalId?: string | undefined; modifiedSince?: Temporal.Instant | undefined },
  { after, limit }: { after: number; limit: number },
) {
  const { externalId, modifiedSince } = filters
  return db.query<BusinessRow>(sql`
    select ${columns} from business t
    where active and business_id > ${after}
      ${externalId === undefined ? empty : sql`and external_id = ${externalId}`}
      ${modifiedSince === undefined ? empty : sql`and modified_date >= ${modifiedSince}`}
    order by business_id
    limit ${limit}`)
}

/** The values of a new business that are not given. */
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
  accentColor: null,
  website: null,
  replyTo: null,
  dailyMailLimit: null,
  bulkLimit: null,
  quietHours: null,
  mailPaused: false,
  mailPausedReason: null,
  active: true,
}

type NewBusiness = Pick<BusinessFields, 'name' | 'timeZone'> & Partial<BusinessFields>

export async function insertBusiness(db: Db, given: NewBusiness, { user, now }: By) {
  const names = raw(FIELD_COLUMNS.map(({ column }) => column).join(', '))
  const [business] = await db.query<BusinessRow>(sql`
    insert into business as t (${names}, created_date, created_user, modified_date, modified_user)
    select ${names}, ${now}, ${user}, ${now}, ${user}
    from ${rowTable(FIELD_COLUMNS, [asStored({ ...DEFAULTS, ...given })])}
    returning ${columns}`)
  return business!
}

export async function updateBusiness(
  db: Db,
  businessId: number,
  fields: BusinessFields,
  { user, now }: By,
) {
  const [business] = await db.query<BusinessRow>(sql`
    update business t
    set ${raw(FIELD_COLUMNS.map(({ column }) => `${column} = r.${column}`).join(', '))},
        mail_resumed_time = case when t.mail_paused and not r.mail_paused then ${now}::timestamptz
                                 else t.mail_resumed_time end,
        version = t.version + 1, modified_date = ${now}, modified_user = ${user}
    from ${rowTable(FIELD_COLUMNS, [asStored(fields)])}
    where t.business_id = ${businessId}
    returning ${columns}`)
  return business!
}

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

/** Locks the businesses whose mail is still paused: they cannot resume before the transaction ends. */
export async function lockPausedBusinesses(tx: Db, rows: { businessId: number }[]) {
  const paused = await tx.query<{ businessId: number }>(sql`
    select business_id as "businessId" from business
    where business_id = any (${idsOf(rows)}::bigint[]) and mail_paused
    order by business_id for share`)
  return new Set(paused.map((row) => row.businessId))
}

const idsOf = (rows: { businessId: number }[]) => [...new Set(rows.map((row) => row.businessId))]

/** Each domain once; domains and the colour in lower case. The reason is deleted when a pause ends. */
const asStored = (fields: BusinessFields): BusinessFields => ({
  ...fields,
  mailPausedReason: fields.mailPaused ? fields.mailPausedReason : null,
  accentColor: fields.accentColor?.toLowerCase() ?? null,
  senderDomains: [...new Set(fields.senderDomains.flatMap((domain) => parseDomain(domain) ?? []))],
})
