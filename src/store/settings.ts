import type { QuietHours } from '../contract/business.ts'
import { eventTypeById, type ObjectType } from '../contract/event-type.ts'
import type { MailContext } from '../contract/mail-context.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { POSTAL_ADDRESS } from './postal-addresses.ts'
import { listActiveDefinitions, type StoredDefinition } from './event-definitions.ts'
import { RecentlyUsed } from '../recently-used.ts'
import { listAllStatuses, type Status } from './statuses.ts'

/** Data of a business that every booking and every email needs, and that rarely changes. */
export type Settings = {
  business: MailContext['business'] & { active: boolean; quietHours: QuietHours | null }
  /** Includes removed statuses. */
  statuses: Map<ObjectType, Status[]>
  /** Only those that objects referred to since the settings were read; the same below. */
  locations: Map<number, NonNullable<MailContext['location']>>
  professionals: Map<number, NonNullable<MailContext['professional']>>
  services: Map<number, NonNullable<MailContext['reason']>>
}

/** Saving also needs the active definitions, by the type of object that they wait for. */
export type SaveSettings = Settings & { definitions: Map<ObjectType, StoredDefinition[]> }

/** The version of a business's settings. Every change creates a new one (migrations/0007_operations.sql). */
export type SettingsVersion = { businessId: number; version: string | null }

export const readSettingsVersions = (db: Db, businessIds: number[]) =>
  db.query<SettingsVersion>(sql`
    select k.business_id as "businessId", v.version
    from unnest(${businessIds}::bigint[]) as k (business_id)
    left join settings_version v on v.business_id = k.business_id`)

/** The settings of its business that an object refers to. */
export type NamesSettings = {
  businessId: number
  locationId?: number | null
  professionalId?: number | null
  reasonId?: number | null
}

const MAX_BUSINESSES = 1_000

/**
 * The settings of the businesses that this process used most recently. Its owner creates it once and
 * passes it to the code that saves objects or writes emails. A caller reads the version in its own
 * transaction, so it gets what the transaction itself would read.
 */
export class SettingsCache {
  readonly #cached = new RecentlyUsed<number, Cached>(MAX_BUSINESSES)

  /** The settings that these objects need, by business. */
  async read(
    db: Db,
    versions: SettingsVersion[],
    named: NamesSettings[],
  ): Promise<Map<number, Settings>> {
    return this.#load(db, versions, named)
  }

  /** The settings that objects of one business need to be saved. */
  async readForSave(
    db: Db,
    version: SettingsVersion,
    named: NamesSettings[],
  ): Promise<SaveSettings> {
    const { businessId } = version
    const settings = (await this.#load(db, [version], named)).get(businessId)!
    settings.definitions ??= Map.groupBy(
      await listActiveDefinitions(db, businessId),
      ({ eventTypeId }) => eventTypeById(eventTypeId)!.objectType,
    )
    return { ...settings, definitions: settings.definitions }
  }

  async #load(db: Db, versions: SettingsVersion[], named: NamesSettings[]) {
    const settings = new Map<number, Cached>()
    const changed: SettingsVersion[] = []
    for (const { businessId, version } of versions) {
      const cached = this.#cached.get(businessId)
      if (version !== null && cached?.version === version) settings.set(businessId, cached)
      else changed.push({ businessId, version })
    }
    const loaded = changed.length > 0 ? await loadBusinesses(db, changed) : []
    for (const [businessId, own] of loaded) {
      settings.set(businessId, own)
      this.#cached.set(businessId, own)
    }
    await loadNamed(db, named, settings)
    return settings
  }
}

/** The settings that these objects need, for readers that run too rarely to need a cache. */
export async function readSettings(db: Db, named: NamesSettings[]) {
  const businessIds = [...new Set(named.map(({ businessId }) => businessId))]
  const settings = await loadBusinesses(
    db,
    businessIds.map((businessId) => ({ businessId, version: null })),
  )
  await loadNamed(db, named, settings)
  return settings
}

export const findStatusInSettings = (settings: Settings, objectType: ObjectType, name: unknown) =>
  settings.statuses.get(objectType)?.find(({ status }) => status === name)

export const timeZoneOf = (settings: Settings, locationId: number | null | undefined) =>
  (locationId ? settings.locations.get(locationId)?.timeZone : null) ?? settings.business.timeZone

type Cached = Settings & Partial<SaveSettings> & { version: string | null }

async function loadBusinesses(db: Db, versions: SettingsVersion[]): Promise<Map<number, Cached>> {
  const versionOf = new Map(versions.map(({ businessId, version }) => [businessId, version]))
  const businessIds = [...versionOf.keys()]
  const [businesses, statuses] = await Promise.all([
    db.query<Settings['business'] & { businessId: number }>(sql`
      select business_id as "businessId", active, name, email_address as "emailAddress", phone,
             ${POSTAL_ADDRESS} as "postalAddress",
             postal_address_required as "postalAddressRequired", time_zone as "timeZone", language, sender_domains as "senderDomains",
             booking_url as "bookingUrl", quiet_hours as "quietHours", accent_color as "accentColor", website,
             reply_to as "replyTo",
             (select jsonb_build_object('fileUUId', f.file_uuid, 'name', f.name, 'type', f.type)
              from file_library f
              where (f.business_id, f.file_uuid) = (b.business_id, b.logo)) as logo
      from business b where business_id = any (${businessIds}::bigint[])`),
    listAllStatuses(db, businessIds),
  ])
  const statusesOf = Map.groupBy(statuses, ({ businessId }) => businessId)
  const settingsOf = (business: (typeof businesses)[number]): Cached => ({
    version: versionOf.get(business.businessId) ?? null,
    business,
    statuses: Map.groupBy(
      statusesOf.get(business.businessId) ?? [],
      ({ objectType }) => objectType,
    ),
    locations: new Map(),
    professionals: new Map(),
    services: new Map(),
  })
  return new Map(businesses.map((business) => [business.businessId, settingsOf(business)]))
}

/** Loads the locations, staff and services that these objects name and the settings lack. */
async function loadNamed(db: Db, named: NamesSettings[], settings: Map<number, Settings>) {
  const load = async <Value>(
    property: 'locationId' | 'professionalId' | 'reasonId',
    mapOf: (settings: Settings) => Map<number, Value>,
    source: Sql,
  ) => {
    const missing = new Map<number, number>()
    for (const { businessId, [property]: id } of named) {
      if (id && !mapOf(settings.get(businessId)!).has(id)) missing.set(id, businessId)
    }
    if (missing.size === 0) return
    const rows = await db.query<Value & { businessId: number; id: number }>(sql`
      select k.business_id as "businessId", k.id, t.*
      from unnest(${[...missing.values()]}::bigint[], ${[...missing.keys()]}::bigint[])
             as k (business_id, id)
      cross join lateral (${source} limit 1) t`)
    for (const row of rows) mapOf(settings.get(row.businessId)!).set(row.id, row)
  }
  await Promise.all([
    load('locationId', ({ locations }) => locations, LOCATION),
    load('professionalId', ({ professionals }) => professionals, PROFESSIONAL),
    load('reasonId', ({ services }) => services, SERVICE),
  ])
}

const LOCATION = sql`
  select name, address, email_address as "emailAddress", phone, directions,
         time_zone as "timeZone", external_id as "externalId"
  from location where business_id = k.business_id and location_id = k.id`

const PROFESSIONAL = sql`
  select first_name as "firstName", last_name as "lastName", email_address as "emailAddress",
         time_zone as "timeZone", external_id as "externalId"
  from professional where business_id = k.business_id and professional_id = k.id`

const SERVICE = sql`
  select name, duration_minutes as "durationMinutes", price, currency, external_id as "externalId"
  from reason where business_id = k.business_id and reason_id = k.id`
