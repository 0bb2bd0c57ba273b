import { kindNamed, type Definition } from '../contract/event-definition.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { recordedColumns, recordedEntries, type Recorded } from './audit.ts'
import { isChanged, type Changes } from './change-positions.ts'
import { columnsFor, insertSaved, SAVED_COLUMNS, selectList, updateSaved, type By } from './rows.ts'

export type StoredDefinition = Definition & {
  eventDefnId: number
  version: number
  /** The version whose plan is complete. */
  plannedVersion: number
  /** When the change was made that is not completely planned yet; null if all is planned. */
  askedSince: Temporal.Instant | null
  /** Set if it was deleted; null if it is active or paused. */
  deletedDate: Temporal.Instant | null
  createdDate: Temporal.Instant
  createdUser: string
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

/** The columns that a save sets. */
const WRITTEN = columnsFor<Definition>({
  businessId: 'bigint',
  active: 'boolean',
  description: 'text',
  eventTypeId: 'int',
  objectType: 'text',
  objectId: 'bigint',
  objectUUId: 'text',
  oldStatus: 'text',
  newStatus: 'text',
  locationIdList: 'bigint[]',
  professionalIdList: 'bigint[]',
  reasonIdList: 'bigint[]',
  disclaimerFormIdList: 'bigint[]',
  groupIdList: 'jsonb',
  filterTagMapJson: 'text',
  triggerMonths: 'int',
  triggerHours: 'int',
  triggerMinutes: 'int',
  offsetMode: 'text',
  latePolicy: 'text',
  allowPast: 'boolean',
  triggerAnchor: 'text',
  changes: 'text[]',
  onlyIfStatus: 'text[]',
})

const columns = sql`
  ${selectList(WRITTEN)}, t.event_defn_id as "eventDefnId", t.planned_version as "plannedVersion",
  t.asked_since as "askedSince", t.deleted_date as "deletedDate", ${SAVED_COLUMNS}`

export const findDefinition = (db: Db, businessId: number, eventDefnId: number, lock = empty) =>
  db.findRow<StoredDefinition>(sql`
    select ${columns} from event_definition t
    where business_id = ${businessId} and event_defn_id = ${eventDefnId} ${lock}`)

export const lockDefinition = (tx: Db, businessId: number, eventDefnId: number) =>
  findDefinition(tx, businessId, eventDefnId, sql`for no key update`)

/** The definition after each of its audited changes up to a given time, oldest first. */
export function listDefinitionStates(
  db: Db,
  businessId: number,
  eventDefnId: number,
  page: { until: Temporal.Instant; limit: number },
) {
  const about = { object: 'eventDefinition', id: eventDefnId, ...page }
  return db.query<StoredDefinition & Recorded>(sql`
    select ${recordedColumns}, d.* from ${recordedEntries(businessId, about)} a
    cross join lateral (
      select ${columns} from (
        select r.* from event_definition o cross join lateral jsonb_populate_record(o, a.after) r
        where o.business_id = a.business_id and o.event_defn_id = ${eventDefnId}) t) d
    order by a.audit_id`)
}

export function listDefinitionsOfTypes(db: Db, businessId: number, eventTypeIds: number[]) {
  return listActiveWhere(db, businessId, sql`event_type_id = any (${eventTypeIds}::int[])`)
}

export const listActiveDefinitions = (db: Db, businessId: number) =>
  listActiveWhere(db, businessId, sql`true`)

/** The `objectId` of a definition about disclaimers is the id of a disclaimer, even with this objectType. */
export async function listDefinitionsOfCampaign(db: Db, businessId: number, campaignId: number) {
  const named = await listActiveWhere(
    db,
    businessId,
    sql`object_type = 'INVITATION_CAMPAIGN' and object_id = ${campaignId}`,
  )
  return named.filter((definition) => kindNamed(definition) === 'invitationCampaign')
}

function listActiveWhere(db: Db, businessId: number, condition: Sql) {
  return db.query<StoredDefinition>(sql`
    select ${columns} from event_definition t
    where business_id = ${businessId} and active and ${condition}
    order by event_defn_id`)
}

type DefinitionFilters = {
  /** Unset: active and paused ones. */
  active?: boolean | undefined
  eventDefnId?: number | undefined
  limit: number
}

export function listDefinitions(
  db: Db,
  businessId: number,
  { afterId, limit, ...filters }: DefinitionFilters & { afterId: number },
) {
  return db.query<StoredDefinition>(sql`
    select ${columns} from event_definition t
    where business_id = ${businessId} and deleted_date is null and event_defn_id > ${afterId}
      ${isListed(filters)}
    order by event_defn_id limit ${limit}`)
}

export function listChangedDefinitions(
  db: Db,
  businessId: number,
  { changes, limit, ...filters }: DefinitionFilters & { changes: Changes },
) {
  return db.query<StoredDefinition & { changedIn: string }>(sql`
    select ${columns}, changed_in::text as "changedIn" from event_definition t
    where business_id = ${businessId} ${isListed(filters)}
      ${isChanged(changes, sql`changed_in`, sql`event_defn_id`)}
    order by changed_in, event_defn_id limit ${limit}`)
}

const isListed = ({
  active,
  eventDefnId,
}: Pick<DefinitionFilters, 'active' | 'eventDefnId'>) => sql`
  ${active === undefined ? empty : sql`and active = ${active}`}
  ${eventDefnId === undefined ? empty : sql`and event_defn_id = ${eventDefnId}`}`

/**
 * Locks definitions of any business for share. The caller passes each key once, in the order in which
 * every transaction locks them.
 */
export const lockDefinitionsForShare = (tx: Db, keys: DefinitionKey[]) =>
  tx.query<StoredDefinition>(definitionsBy(keys, sql`for share`))

/** The same for the definitions that no other transaction has locked. */
export const lockFreeDefinitions = (tx: Db, keys: DefinitionKey[]) =>
  tx.query<StoredDefinition>(definitionsBy(keys, sql`for share skip locked`))

const definitionsBy = (keys: DefinitionKey[], lock: Sql) => sql`
  select d.* from ${definitionKeys(keys)} cross join lateral (
    select ${columns} from event_definition t
    where t.business_id = k.business_id and t.event_defn_id = k.event_defn_id
    limit 1 ${lock}) d`

export type DefinitionKey = { businessId: number; eventDefnId: number }

export const definitionKeys = (keys: DefinitionKey[]) => sql`
  unnest(${keys.map((key) => key.businessId)}::bigint[],
         ${keys.map((key) => key.eventDefnId)}::bigint[]) as k (business_id, event_defn_id)`

/**
 * Definitions of all businesses whose plan is not complete, oldest first, in pages. None if triggers
 * were last planned with another version of the time zone rules than this node has.
 */
export function listUnplannedDefinitions(
  engine: Db,
  { afterId, limit, timeZoneVersion }: { afterId: number; limit: number; timeZoneVersion: string },
) {
  return engine.query<DefinitionKey>(sql`
    select business_id as "businessId", event_defn_id as "eventDefnId" from event_definition
    where planned_version < version and event_defn_id > ${afterId}
      and not exists (select from time_zone_data where version <> ${timeZoneVersion})
    order by event_defn_id limit ${limit}`)
}

/** Marks active definitions with calendar offsets, or of businesses with quiet hours, to be planned again. */
export async function planCalendarDefinitionsAgain(engine: Db) {
  const rows = await engine.query(sql`
    update event_definition set planned_version = least(planned_version, 0) - 1
    where active and (trigger_months <> 0 or (offset_mode = 'CALENDAR' and abs(trigger_hours) >= 24)
      or business_id in (select business_id from business where quiet_hours is not null))
    returning event_defn_id`)
  return rows.length
}

export async function insertDefinition(tx: Db, definition: Definition, by: By) {
  const row = { ...definition, askedSince: by.now }
  const written = [...WRITTEN, ...columnsFor<typeof row>({ askedSince: 'timestamptz' })]
  return tx.getRow<StoredDefinition>(sql`
    ${insertSaved<typeof row>('event_definition', written, row, by)} returning ${columns}`)
}

/** Stores a new version. Triggers of the previous one are planned again before they fire. */
export async function updateDefinition(
  tx: Db,
  eventDefnId: number,
  definition: Definition,
  {
    askedSince,
    deletedDate = null,
    ...by
  }: By & { askedSince?: Temporal.Instant | null; deletedDate?: Temporal.Instant | null },
) {
  const row = {
    ...definition,
    askedSince: askedSince === undefined ? by.now : askedSince,
    deletedDate,
  }
  const written = [
    ...WRITTEN,
    ...columnsFor<typeof row>({ askedSince: 'timestamptz', deletedDate: 'timestamptz' }),
  ]
  return tx.getRow<StoredDefinition>(sql`
    ${updateSaved<typeof row>('event_definition', written, row, by)}
    where t.business_id = ${definition.businessId} and t.event_defn_id = ${eventDefnId}
    returning ${columns}`)
}

/** Does nothing if the definition was saved, or must be planned again, since it was read. */
export function markPlanned(
  tx: Db,
  { businessId, eventDefnId, version, plannedVersion }: StoredDefinition,
) {
  lockSettings(tx, businessId)
  return tx.query(sql`
    update event_definition set planned_version = ${version}, asked_since = null
    where business_id = ${businessId} and event_defn_id = ${eventDefnId}
      and version = ${version} and planned_version = ${plannedVersion}`)
}

/**
 * Lets the engine plan these reminders again, in pages. A change of a time zone, status or campaign
 * affects more objects than one save can plan.
 */
export function planAgain(tx: Db, businessId: number, eventTypeIds: number[]) {
  return tx.query(sql`
    update event_definition set planned_version = least(planned_version, 0) - 1
    where business_id = ${businessId} and active and event_type_id = any (${eventTypeIds}::int[])`)
}

/**
 * Bookings hold this shared lock from before they read the definitions until they commit. With
 * `waitForBookings`, planning a saved definition sees the triggers of bookings that read its old version.
 */
export const lockPlans = (tx: Db, businessId: number) =>
  tx.send(sql`select pg_advisory_xact_lock_shared(${PLANS}::int, hashint8(${businessId}::bigint))`)

export const waitForBookings = (tx: Db, businessId: number) =>
  tx.query(sql`select pg_advisory_xact_lock(${PLANS}::int, hashint8(${businessId}::bigint))`)

const PLANS = 7_230_004

/**
 * One transaction at a time changes the settings of a business. It takes this lock before any row: see
 * docs/engine.md, lock order.
 */
export const lockSettings = (tx: Db, businessId: number) =>
  tx.send(sql`select pg_advisory_xact_lock(${SETTINGS}::int, hashint8(${businessId}::bigint))`)

const SETTINGS = 7_230_006

/** All definitions that were not deleted, also inactive ones. */
export function listAllDefinitions(db: Db, businessId: number) {
  return db.query<StoredDefinition>(sql`
    select ${columns} from event_definition t
    where business_id = ${businessId} and deleted_date is null order by event_defn_id`)
}

export function listNamesakes(
  db: Db,
  businessId: number,
  { eventTypeId, description }: Pick<StoredDefinition, 'eventTypeId' | 'description'>,
) {
  return db.query<StoredDefinition>(sql`
    select ${columns} from event_definition t
    where business_id = ${businessId} and deleted_date is null and event_type_id = ${eventTypeId}
      and description is not distinct from ${description}::text
    order by event_defn_id`)
}
