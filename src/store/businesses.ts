import { parseDomain } from '../contract/addresses.ts'
import { BUSINESS_FIELDS, type Business } from '../contract/business.ts'
import { initialValues } from '../contract/fields.ts'
import type { ActiveFilter } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import { isChanged, type Changes } from './change-positions.ts'
import { lockSettings } from './event-definitions.ts'
import {
  columnsOf,
  insertSaved,
  SAVED_COLUMNS,
  selectList,
  updateSaved,
  type By,
  type Stored,
} from './rows.ts'
import type { PageAfter } from './pages.ts'

/** The fields that a caller may write. */
export type BusinessFields = Pick<Business, keyof typeof BUSINESS_FIELDS>

export type BusinessRow = Stored<Business>

const FIELDS = columnsOf(BUSINESS_FIELDS)
const columns = sql`
  t.business_id as "businessId", ${selectList(FIELDS)}, ${SAVED_COLUMNS}`

export const findBusiness = (db: Db, businessId: number) =>
  db.findRow<BusinessRow>(sql`
    select ${columns} from business t where business_id = ${businessId}`)

/** The business of a caller, which exists. */
export async function getBusiness(db: Db, businessId: number) {
  const business = await findBusiness(db, businessId)
  if (!business) throw new Error(`there is no business ${businessId}`)
  return business
}

export async function lockBusiness(tx: Db, businessId: number) {
  lockSettings(tx, businessId)
  return tx.findRow<BusinessRow>(sql`
    select ${columns} from business t where business_id = ${businessId} for no key update`)
}

export async function lockBusinessByExternalId(tx: Db, externalId: string) {
  const found = await tx.findRow<{ businessId: number }>(sql`
    select business_id as "businessId" from business t where external_id = ${externalId}`)
  const business = found && (await lockBusiness(tx, found.businessId))
  return business?.externalId === externalId ? business : undefined
}

type BusinessFilters = {
  externalId?: string | undefined
  active?: ActiveFilter | undefined
  modifiedSince?: Temporal.Instant | undefined
}

/** All businesses for the operator; for a business only itself. */
export function listBusinesses(db: Db, filters: BusinessFilters, { after, limit }: PageAfter) {
  return db.query<BusinessRow>(sql`
    select ${columns} from business t
    where business_id > ${after} ${isListed({ ...filters, active: filters.active ?? 'true' })}
    order by business_id
    limit ${limit}`)
}

export function listChangedBusinesses(
  db: Db,
  filters: BusinessFilters,
  { changes, limit }: { changes: Changes; limit: number },
) {
  return db.query<BusinessRow & { changedIn: string }>(sql`
    select ${columns}, changed_in::text as "changedIn" from business t
    where true ${isListed(filters)} ${isChanged(changes, sql`changed_in`, sql`business_id`)}
    order by changed_in, business_id
    limit ${limit}`)
}

const isListed = ({ externalId, active = 'all', modifiedSince }: BusinessFilters) => sql`
  ${active === 'all' ? empty : sql`and active = ${active === 'true'}`}
  ${externalId === undefined ? empty : sql`and external_id = ${externalId}`}
  ${modifiedSince === undefined ? empty : sql`and modified_date >= ${modifiedSince}`}`

const DEFAULTS = initialValues(BUSINESS_FIELDS)

type NewBusiness = Pick<BusinessFields, 'name' | 'timeZone'> & Partial<BusinessFields>

export async function insertBusiness(db: Db, given: NewBusiness, by: By) {
  const row = asStored({ ...DEFAULTS, ...given })
  return db.getRow<BusinessRow>(sql`
    ${insertSaved('business', FIELDS, row, by)} returning ${columns}`)
}

export async function updateBusiness(db: Db, businessId: number, fields: BusinessFields, by: By) {
  const resumed = sql`,
      mail_resumed_time = case when t.mail_paused and not r.mail_paused then ${by.now}::timestamptz
                               else t.mail_resumed_time end`
  return db.getRow<BusinessRow>(sql`
    ${updateSaved('business', FIELDS, asStored(fields), by, resumed)}
    where t.business_id = ${businessId}
    returning ${columns}`)
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

/**
 * Locks the businesses that no other transaction has locked; returns for each whether its mail is paused.
 * A pause cannot begin or end before the transaction ends.
 */
export async function lockFreeBusinesses(tx: Db, rows: { businessId: number }[]) {
  const free = await tx.query<Pick<MailPause, 'businessId' | 'isPaused'>>(sql`
    select business_id as "businessId", mail_paused as "isPaused" from business
    where business_id = any (${idsOf(rows)}::bigint[]) for share skip locked`)
  return new Map(free.map(({ businessId, isPaused }) => [businessId, isPaused]))
}

/** The businesses that a row can refer to now: no other transaction has locked them for update. */
export async function lockReferableBusinesses(tx: Db, rows: { businessId: number }[]) {
  const free = await tx.query<{ businessId: number }>(sql`
    select business_id as "businessId" from business
    where business_id = any (${idsOf(rows)}::bigint[]) for key share skip locked`)
  return new Set(free.map(({ businessId }) => businessId))
}

const idsOf = (rows: { businessId: number }[]) => [...new Set(rows.map((row) => row.businessId))]

/** Each domain once; domains and the colour in lower case. The reason is deleted when a pause ends. */
const asStored = (fields: BusinessFields): BusinessFields => ({
  ...fields,
  mailPausedReason: fields.mailPaused ? fields.mailPausedReason : null,
  accentColor: fields.accentColor?.toLowerCase() ?? null,
  senderDomains: [...new Set(fields.senderDomains.flatMap((domain) => parseDomain(domain) ?? []))],
})
