import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import type { Entry, Resource, Source } from '../../src/feeds/source.ts'
import type { shareWorld } from '../support/world.ts'
import { partsOf } from './loop-parts.ts'

type World = Awaited<ReturnType<ReturnType<typeof shareWorld>>>

/** What a fake source has, and how it behaves. */
export type Shelf = {
  resources: Map<string, Resource>
  /** Thrown by the next pulls. */
  error: Error | null
  /** Keys that the listing leaves out, though a question by key finds them. */
  hidden: Set<string>
  /** Resources that the listing of a pull still has, though they are gone. */
  pretended: Map<string, Resource>
  beforeList?: (() => Promise<void>) | undefined
  /** False: as a published file, which cannot be asked by key. */
  canRead: boolean
  /** It does not answer for a key. */
  isMute?: boolean
  /** Its pulls list changes only. */
  isDelta?: boolean
  pulls: number
  afterPart?: (() => Promise<void>) | undefined
}

function fakeSource(shelf: Shelf): Source {
  return {
    source: 'CALDAV',
    minutes: { usual: 5, least: 1 },
    test: async () => ({ ok: true, checks: [], calendars: [], otherHosts: [] }),
    async *pull(_account, { versionOf, again }) {
      shelf.pulls += 1
      if (shelf.error) throw shelf.error
      const all = [...shelf.resources.values(), ...shelf.pretended.values()]
      const listed = all.filter(({ key }) => !shelf.hidden.has(key))
      const resources = listed.filter(
        ({ key, version }) => versionOf(key) !== version || again.has(key),
      )
      if (resources.length > 0) yield { resources, deleted: [] }
      await shelf.afterPart?.()
      const keys = new Set(listed.map(({ key }) => key))
      const complete = shelf.isDelta ? null : { keys, window: null }
      return { cursor: shelf.pulls, complete }
    },
    list: async () => {
      if (shelf.error) throw shelf.error
      await shelf.beforeList?.()
      const resources = [...shelf.resources.values()]
      const versions = new Map(resources.map(({ key, version }) => [key, version]))
      return { versions, window: null, resources: shelf.canRead ? null : resources }
    },
    ...(shelf.canRead && {
      read: async (_account: unknown, keys: string[]) =>
        new Map(
          shelf.isMute
            ? []
            : keys.map((key) => [key, shelf.resources.get(key) ?? ('GONE' as const)]),
        ),
    }),
  }
}

/** A feed that reads a fake source, and calls for it. */
export async function openPulled(
  world: World,
  { canRead = true, mode = 'SHADOW', source: name = 'CALDAV' } = {},
) {
  const { call, clock, database, ids, save } = world
  const { clientId: _clientId, ...defaults } = ids
  const feed = await save('/feed', {
    name: 'Salon',
    source: name,
    mode: 'SHADOW',
    ...(name === 'ICS'
      ? { secret: 'https://calendar.example/a.ics' }
      : { connection: { url: 'http://127.0.0.1:1/', username: 'salon' }, secret: 'x' }),
    defaults,
  })
  const { feedId } = feed
  // The database is shared with other tests, and a loop pulls the feeds of all businesses.
  await database.engine.query(
    sql`update feed_state set next_pull_time = null where feed_id <> ${feedId}`,
  )
  const path = `/feed/${feedId}`
  const shelf: Shelf = {
    resources: new Map(),
    error: null,
    hidden: new Set(),
    pretended: new Map(),
    canRead,
    pulls: 0,
  }
  const source = fakeSource(shelf)
  const real = partsOf(world)
  const parts = { ...real, access: { ...real.access, sources: { find: () => source } } }
  const [loop] = createFeedLoops(parts)
  const inHours = (hours: number) => clock.now().add({ minutes: hours * 60 })
  /** Entries of half an hour with Anna, by their keys and hours from now. */
  const entryOf = (key: string, hours: number, more: Partial<Entry> = {}): Entry => {
    const start = inHours(hours)
    return {
      key,
      uid: key.split('/')[0]!,
      calendar: 'salon',
      start,
      end: start.add({ minutes: 30 }),
      allDay: false,
      status: null,
      title: 'Knee',
      isPrivate: false,
      isBusy: true,
      clients: [],
      attendees: [{ emailAddress: 'anna@example.org', firstName: 'Anna', lastName: 'Müller' }],
      organizer: null,
      service: null,
      staff: null,
      location: null,
      categories: [],
      addressesInText: [],
      isClass: false,
      createdTime: null,
      changedTime: null,
      problem: null,
      ...more,
    }
  }
  let version = 0
  const put = (key: string, ...entries: Entry[]) => {
    version += 1
    shelf.resources.set(key, {
      key,
      calendar: 'salon',
      version: String(version),
      entries,
      readAgainAt: null,
    })
  }
  /** Pulls as soon as the feed is due; the clock moves. */
  const pull = async (minutes = 6) => {
    clock.advance({ minutes })
    return loop!.runOnce()
  }
  const state = async () => (await call('GET', path)).body.state
  const entries = async () => (await call('GET', `${path}/entry?limit=500`)).body.items
  const find = async (key: string) =>
    (await entries()).find((one: { key: string }) => one.key === key)
  const appointments = async () =>
    (await call('GET', `/calendar?feedId=${feedId}&limit=500`)).body.items as {
      calendarId: number
      status: string
      startTime: number
      active: boolean
    }[]
  if (mode === 'LIVE') {
    await pull(0)
    await call('POST', '/feed', { feedId, mode })
  }
  return {
    feedId,
    path,
    shelf,
    parts,
    loop: loop!,
    inHours,
    entryOf,
    put,
    pull,
    state,
    entries,
    find,
    appointments,
  }
}
