import type { FeedFields } from '../../src/contract/feed.ts'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { claimPull, runPull, type FeedLoopParts } from '../../src/feeds/loop.ts'
import type { Entry, Resource, Source } from '../../src/feeds/source.ts'
import { entryWithout } from '../../src/feeds/stored-entry.ts'
import { insertFeed, planPulls } from '../../src/store/feeds.ts'
import type { SettingsCache } from '../../src/store/settings.ts'
import { partsOf } from '../feeds/loop-parts.ts'
import type { Random } from './random.ts'

const HOUR = 3_600_000
/** Not at the times of own appointments, which a feed would adopt. */
const OFFSET_MS = 123

type Ids = { locationId: number; professionalId: number; reasonId: number }
type Setting = {
  random: Random
  businessId: number
  ids: Ids
  clock: { now(): Temporal.Instant }
  settings: SettingsCache
  onError(error: unknown): void
}

/** A calendar elsewhere that changes at random, and the LIVE feed that mirrors it. */
export class SimulatedFeed {
  /** Appointments that the feed made. */
  readonly appointments: number[] = []
  readonly #setting: Setting
  readonly #resources = new Map<string, Resource>()
  #feedId = 0
  #made = 0
  #versions = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  /** In a process that never crashes. */
  async open(database: Database) {
    const { businessId, clock, ids } = this.#setting
    const by = { user: 'key:simulation', now: clock.now() }
    const { locationId, professionalId, reasonId } = ids
    const fields: FeedFields = {
      name: 'Salon',
      source: 'CALDAV',
      mode: 'LIVE',
      connection: {},
      defaults: { locationId, professionalId, reasonId },
      rules: [],
      statusMap: {},
      pullMinutes: null,
      horizonDays: 400,
      historyDays: 30,
      closeAfterHours: null,
      severalClients: 'HOLD',
      clientsWithoutAddress: 'SKIP',
      vanishLimit: 1_000,
    }
    await database.forBusiness(businessId, by.user).transaction(async (tx) => {
      const feed = await insertFeed(tx, businessId, fields, by)
      await planPulls(tx, feed, { from: by.now, lateTime: by.now, isFresh: true })
      this.#feedId = feed.feedId
    })
  }

  /** Changes a few entries of the source. */
  change() {
    const { random, clock } = this.#setting
    for (let changes = random.below(3); changes > 0; changes -= 1) {
      const start = clock.now().add({ milliseconds: random.below(40) * HOUR + OFFSET_MS })
      const keys = [...this.#resources.keys()]
      const kind = random.below(5)
      if (keys.length === 0 || kind === 0) this.#put(`e${(this.#made += 1)}`, { start })
      else if (kind === 1) this.#resources.delete(random.pick(keys))
      else if (kind === 2) this.#put(random.pick(keys), { start, status: 'CANCELLED' })
      else this.#put(random.pick(keys), { start })
    }
  }

  #put(key: string, more: { start: Temporal.Instant } & Partial<Entry>) {
    const attendees = [{ emailAddress: 'anna@example.org' }]
    const end = more.start.add({ minutes: 30 })
    const entry = entryWithout({
      key,
      uid: key,
      calendar: 'salon',
      title: 'x',
      attendees,
      end,
      ...more,
    })
    const version = String((this.#versions += 1))
    this.#resources.set(key, {
      key,
      calendar: 'salon',
      version,
      entries: [entry],
      readAgainAt: null,
    })
  }

  /** Pulls as a worker of a node does. */
  async pull(database: Database) {
    const { businessId, random, onError } = this.#setting
    const resources = new Map(this.#resources)
    const real = partsOf({ ...this.#setting, database })
    const parts: FeedLoopParts = {
      ...real,
      access: { ...real.access, sources: { find: () => sourceOf(resources) } },
      random: (size) => Buffer.from(Array.from({ length: size }, () => random.below(256))),
      // Renewed in real time, which a simulated run does not take.
      leaseSeconds: 600,
      onError,
    }
    const { engine } = database
    const key = { businessId, feedId: this.#feedId }
    // A first pull, and one 72 hours after the last, brings history, which fires no events: the model knows none.
    const later = this.#setting.clock.now().add({ hours: 24 * 365 })
    await engine.query(
      sql`update feed_state set success_time = ${later}, complete_time = ${later} where feed_id = ${key.feedId}`,
    )
    const claimed = await claimPull(parts, key)
    if (!claimed) return
    const pulled = await runPull(parts, claimed)
    if ('error' in pulled) return
    for (const { objectId } of pulled.summary.samples) {
      if (objectId !== null && !this.appointments.includes(objectId))
        this.appointments.push(objectId)
    }
  }

  /** Entries that are not mirrored as the source has them, one line each. */
  async findDifferences(database: Database) {
    const { businessId, clock } = this.#setting
    const rows = await database.forBusiness(businessId, 'key:simulation').query<{
      key: string
      start: Temporal.Instant
      status: string
    }>(sql`
      select e.entry_key as key, c.start_time as start, c.status
      from feed_entry e join calendar c on c.business_id = e.business_id and c.calendar_id = e.object_id
      where e.business_id = ${businessId}`)
    const mirrored = Map.groupBy(rows, ({ key }) => key)
    const faults: string[] = []
    for (const { key, entries } of this.#resources.values()) {
      const found = mirrored.get(key) ?? []
      const isEqual = found.length === 1 && found[0]!.start.equals(entries[0]!.start!)
      if (!isEqual) faults.push(`${key} of the source is mirrored as ${JSON.stringify(found)}`)
    }
    const alive = rows.filter(
      ({ key, start, status }) =>
        !this.#resources.has(key) &&
        status === 'OPEN' &&
        Temporal.Instant.compare(start, clock.now()) > 0,
    )
    return [...faults, ...alive.map((row) => `${JSON.stringify(row)} is not in the source`)]
  }
}

/** What the calendar had when the pull began. */
const sourceOf = (resources: Map<string, Resource>): Source => ({
  source: 'CALDAV',
  minutes: { usual: 5, least: 1 },
  test: async () => ({ ok: true, checks: [], calendars: [], otherHosts: [] }),
  async *pull(_account, { versionOf }) {
    const changed = [...resources.values()].filter(({ key, version }) => versionOf(key) !== version)
    if (changed.length > 0) yield { resources: changed, deleted: [] }
    return { cursor: 1, complete: { keys: new Set(resources.keys()), window: null }, requests: 1 }
  },
  list: async () => ({
    versions: new Map([...resources.values()].map(({ key, version }) => [key, version])),
    window: null,
    resources: null,
  }),
  read: async (_account, keys) =>
    new Map(keys.map((key) => [key, resources.get(key) ?? ('GONE' as const)])),
})
