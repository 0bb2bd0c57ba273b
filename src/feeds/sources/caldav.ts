import type { FeedTest } from '../../contract/feed.ts'
import { countOf } from '../../texts/count-of.ts'
import { Fetcher, OtherHost, unusableStatus } from '../fetch.ts'
import {
  MAX_RESOURCE_LENGTH,
  MAX_RESOURCES,
  SourceError,
  type Pull,
  type Pulling,
  type Resource,
  type Source,
  type SourceAccount,
} from '../source.ts'
import { readMultistatus } from '../calendar/reader-pool.ts'
import { safeKey } from '../stored-entry.ts'
import { readSeries, resourceOf, unreadableResource, type Place } from './entries.ts'
import { isSuccess, type DavResponse } from './multistatus.ts'
import { inSessions } from './sessions.ts'

/** CalDAV (RFC 4791) with sync-collection (RFC 6578): Nextcloud, Radicale, iCloud and others. */
export function makeCaldav(privateHosts: readonly string[]): Source {
  const { once, ...sessions } = inSessions(
    (account, requestsPerMinute) => new Session(account, privateHosts, requestsPerMinute),
    { pull: pullCalendars, list: listVersions, read: readKeys },
  )
  return {
    source: 'CALDAV',
    minutes: { usual: 5, least: 1 },
    test: (account) => testAccount((work) => once(account, work)),
    findMissingCalendars: (account) => once(account, listMissing),
    ...sessions,
  }
}

const MULTIGET = 50
/** Answers of one listing that was cut with 507. */
const MAX_CONTINUATIONS = 200

/** A calendar of the account. The key is its path, or its address on another host. */
type Calendar = { key: string; url: string; name: string }

/** Where calendars were found, and how far each was read; null: read it whole. */
type Cursor = { homes: string[]; tokens: Record<string, string | null> }

/** The resources of a calendar with their etags. */
type Listing = { etags: Map<string, { href: string; etag: string }>; token: string | null }
type Delta = Listing & { deleted: string[] }

/** The requests of one pull. */
class Session {
  readonly account: SourceAccount
  readonly base: string
  readonly #fetcher: Fetcher

  constructor(account: SourceAccount, privateHosts: readonly string[], requestsPerMinute: number) {
    const { connection, secret, signal } = account
    const { url, username, hosts } = connection
    if (!url || !URL.canParse(url)) throw new SourceError('ANSWER', 'The feed has no address.')
    this.account = account
    this.base = url
    const credential = Buffer.from(`${username ?? ''}:${secret ?? ''}`).toString('base64')
    this.#fetcher = new Fetcher({
      url,
      hosts: hosts ?? [],
      ...((username || secret) && { authorization: `Basic ${credential}` }),
      privateHosts,
      signal,
      requestsPerMinute,
    })
  }

  close() {
    this.#fetcher.close()
  }

  get host() {
    return new URL(this.base).host
  }

  /** Equal for all spellings of a path that a server may use. */
  keyOf(href: string, from: string) {
    const url = URL.parse(href, from)
    if (!url) return safeKey(href)
    const { host, pathname, href: whole } = url
    const path = pathname.split('/').map(normalizeSegment).join('/')
    return safeKey(host === this.host ? path : new URL(path, whole).href)
  }

  async send(method: 'PROPFIND' | 'REPORT', url: string, depth: '0' | '1', body: string) {
    const headers = { depth, 'content-type': 'application/xml; charset=utf-8' }
    const xml = `<?xml version="1.0" encoding="utf-8"?>${body}`
    return this.#fetcher.fetch({ method, url, headers, body: xml })
  }

  /** The responses to a request that must succeed, and the address that answered. */
  async ask(method: 'PROPFIND' | 'REPORT', url: string, depth: '0' | '1', body: string) {
    const answer = await this.send(method, url, depth, body)
    if (answer.status !== 207) throw unusableStatus(answer)
    const read = await readMultistatus(this.account.businessId, answer.body)
    if (!('unusable' in read)) return { ...read, url: answer.url }
    throw new SourceError('ANSWER', `${this.host} sends an answer that ${read.unusable}.`)
  }
}

function normalizeSegment(segment: string) {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return segment
  }
}

const DAV = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
const propfind = (...names: string[]) =>
  `<d:propfind ${DAV}><d:prop>${names.map((name) => `<${name}/>`).join('')}</d:prop></d:propfind>`
const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Finds where the calendars are: the address itself, or that of the principal (RFC 6764). */
async function findHomes(session: Session): Promise<string[]> {
  const wellKnown = new URL('/.well-known/caldav', session.base).href
  let lastError: unknown
  for (const start of [session.base, wellKnown]) {
    try {
      const homes = await homesFrom(session, start)
      if (homes.length > 0) return homes
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'ANSWER') throw error
      lastError = error
    }
  }
  throw (
    lastError ??
    new SourceError('ANSWER', `${session.host} has no calendars at this address. Check it.`)
  )
}

async function homesFrom(session: Session, start: string): Promise<string[]> {
  const asked = ['d:resourcetype', 'd:current-user-principal', 'c:calendar-home-set']
  const { responses, url } = await session.ask('PROPFIND', start, '0', propfind(...asked))
  const properties = responses[0]?.properties
  if (isCalendar(responses[0])) return [url]
  const home = properties?.get('calendar-home-set')
  if (home) return splitHrefs(home, url)
  const principal = splitHrefs(properties?.get('current-user-principal') ?? '', url)[0]
  if (!principal) return []
  const found = await session.ask('PROPFIND', principal, '0', propfind('c:calendar-home-set'))
  return splitHrefs(found.responses[0]?.properties.get('calendar-home-set') ?? '', found.url)
}

/** The addresses in a property that holds `href` elements; empty elements are named `href`. */
const splitHrefs = (value: string, from: string) =>
  value
    .split(/\s+/)
    .filter((href) => href !== '' && href !== 'href' && href !== 'unauthenticated')
    .flatMap((href) => URL.parse(href, from)?.href ?? [])

const isCalendar = (response: DavResponse | undefined) =>
  response?.properties.get('resourcetype')?.split(' ').includes('calendar') ?? false

async function listCalendars(session: Session, homes: string[]): Promise<Calendar[]> {
  const asked = ['d:resourcetype', 'd:displayname', 'c:supported-calendar-component-set']
  const found: Calendar[] = []
  for (const home of homes) {
    const { responses, url } = await session.ask('PROPFIND', home, '1', propfind(...asked))
    for (const response of responses.filter(isCalendar)) {
      const components = response.properties.get('supported-calendar-component-set')
      if (components && !components.split(' ').includes('VEVENT')) continue
      const address = URL.parse(response.href, url)?.href
      const key = session.keyOf(response.href, url)
      if (address) found.push({ key, url: address, name: nameOf(response, key) })
    }
  }
  return found
}

/** Those that a person chose, or all that the account has. */
async function chosenCalendars(session: Session, cursor: Cursor | null) {
  const { calendars } = session.account.connection
  if (calendars && calendars.length > 0) {
    const chosen: Calendar[] = []
    for (const key of calendars) chosen.push(await findCalendar(session, key))
    return { homes: [], calendars: nameApart(chosen) }
  }
  const homes = cursor?.homes.length ? cursor.homes : await findHomes(session)
  const all = await listCalendars(session, homes)
  if (all.length === 0) throw new SourceError('ANSWER', `${session.host} shows no calendars.`)
  return { homes, calendars: nameApart(all) }
}

/** A calendar by its key, with its name. */
async function findCalendar(session: Session, key: string): Promise<Calendar> {
  const url = URL.parse(key, session.base)?.href
  if (!url) throw gone(key)
  return { key, url, name: nameOf(await requireCalendar(session, { url, name: key }), key) }
}

const describe = async (session: Session, url: string) =>
  (await session.ask('PROPFIND', url, '0', propfind('d:resourcetype', 'd:displayname'))).responses

/** A calendar is missing only if the account itself answers. */
async function listMissing(session: Session) {
  await describe(session, session.base)
  const missing: string[] = []
  for (const key of session.account.connection.calendars ?? []) {
    const url = URL.parse(key, session.base)?.href
    if (url === undefined) {
      missing.push(key)
      continue
    }
    const { status } = await session.send('PROPFIND', url, '0', propfind('d:resourcetype'))
    const isGone = status === 404 || status === 410
    if (isGone || !isCalendar((await describe(session, url))[0])) missing.push(key)
  }
  return missing
}

const nameOf = ({ properties }: DavResponse, key: string) =>
  properties.get('displayname')?.trim().slice(0, 300).toWellFormed() || key

/** Calendars of one name get their keys as well: rules and matches know a calendar by its name. */
function nameApart(calendars: Calendar[]): Calendar[] {
  const counts = Map.groupBy(calendars, ({ name }) => name)
  return calendars.map((calendar) => {
    const { name, key } = calendar
    return counts.get(name)!.length > 1 ? { ...calendar, name: `${name} (${key})` } : calendar
  })
}

async function* pullCalendars(session: Session, { cursor, versionOf, again }: Pull): Pulling {
  const known = cursor as Cursor | null
  const { homes, calendars } = await chosenCalendars(session, known)
  const deltas = await readDeltas(session, calendars, known)
  const listings = deltas ?? (await listAll(session, calendars, known === null))
  const tokens: Cursor['tokens'] = {}
  const keys = new Set<string>()
  for (const [at, calendar] of calendars.entries()) {
    const { etags, token } = listings[at]!
    tokens[calendar.key] = token
    for (const key of etags.keys()) keys.add(key)
    if (keys.size > MAX_RESOURCES) {
      throw new SourceError('LIMIT', `The calendars have more than ${MAX_RESOURCES} events.`)
    }
    const changed = [...etags].filter(
      ([key, { etag }]) => versionOf(key) !== etag || again.has(key),
    )
    const [named, unnamed] = [true, false].map((isNamed) =>
      changed.filter(([, { href }]) => URL.canParse(href, calendar.url) === isNamed),
    ) as [typeof changed, typeof changed]
    if (unnamed.length > 0) {
      const resources = unnamed.map(([key, { etag }]) =>
        unreadableResource(placeOf(calendar, key, etag), NO_ADDRESS),
      )
      yield { resources, deleted: [] }
    }
    const asked = new Map(named.map(([key, { href }]) => [key, href]))
    if (deltas) for (const key of again) if (belongsTo(key, calendar)) asked.set(key, key)
    for (const hrefs of inBatches([...asked.values()])) {
      const { resources } = await readBodies(session, calendar, hrefs)
      yield { resources, deleted: [] }
    }
  }
  // Last, because a resource that left one calendar may be in another.
  const deleted = (deltas ?? []).flatMap((delta) => delta.deleted)
  if (deleted.length > 0) yield { resources: [], deleted }
  const complete = deltas ? null : { keys, window: null }
  return { cursor: { homes, tokens } satisfies Cursor, complete }
}

const NO_ADDRESS = 'The calendar server names it by an address that cannot be read.'

const placeOf = ({ key, name }: Calendar, resourceKey: string, version: string): Place => ({
  key: resourceKey,
  calendar: key,
  calendarName: name,
  version,
})

const belongsTo = (key: string, calendar: Calendar) => key.startsWith(withSlash(calendar.key))
const withSlash = (path: string) => (path.endsWith('/') ? path : `${path}/`)

function inBatches(hrefs: string[]) {
  const count = Math.ceil(hrefs.length / MULTIGET)
  return Array.from({ length: count }, (_, at) => hrefs.slice(at * MULTIGET, (at + 1) * MULTIGET))
}

/** The changes of all calendars; undefined if one has to be read whole. */
async function readDeltas(session: Session, calendars: Calendar[], cursor: Cursor | null) {
  const deltas: Delta[] = []
  for (const calendar of calendars) {
    const token = cursor?.tokens[calendar.key]
    if (!token) return undefined
    const delta = await syncCalendar(session, calendar, token)
    if (!delta) return undefined
    deltas.push(delta)
  }
  // A calendar that is no longer there: its resources are absent from a full listing.
  if (Object.keys(cursor?.tokens ?? {}).length !== calendars.length) return undefined
  return deltas
}

async function listAll(session: Session, calendars: Calendar[], isFirst: boolean) {
  const listings: Listing[] = []
  for (const calendar of calendars) {
    const synced = isFirst ? await syncCalendar(session, calendar, '') : undefined
    listings.push(synced ?? (await listCalendar(session, calendar)))
  }
  return listings
}

/** What changed since the token; undefined if the server does not accept it. */
async function syncCalendar(session: Session, calendar: Calendar, since: string) {
  const delta: Delta = { etags: new Map(), token: since, deleted: [] }
  for (let answers = 0; answers < MAX_CONTINUATIONS; answers += 1) {
    const answer = await session.send('REPORT', calendar.url, '0', syncReport(delta.token ?? ''))
    if (answer.status === 401) throw unusableStatus(answer)
    if (answer.status !== 207) return undefined
    const read = await readMultistatus(session.account.businessId, answer.body)
    if ('unusable' in read) return undefined
    const { responses, syncToken } = read
    if (!syncToken || !addChanges(session, delta, responses, answer.url)) return undefined
    delta.token = syncToken
    const isCut = responses.some(({ status }) => status === 507)
    if (isCut) continue
    // A server without its disk answers that everything is gone.
    if (delta.deleted.length > 0) await requireCalendar(session, calendar)
    return delta
  }
  return undefined
}

const syncReport = (token: string) =>
  `<d:sync-collection ${DAV}><d:sync-token>${escapeXml(token)}</d:sync-token>` +
  `<d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>`

/** False if the calendar itself is said to be gone. */
function addChanges(session: Session, delta: Delta, responses: DavResponse[], from: string) {
  const own = withSlash(session.keyOf(from, from))
  for (const { href, status, properties } of responses) {
    const key = session.keyOf(href, from)
    if (withSlash(key) === own) {
      if (status === 404) return false
      continue
    }
    const etag = properties.get('getetag')
    if (status === 404) {
      delta.etags.delete(key)
      delta.deleted.push(key)
    } else if (etag) delta.etags.set(key, { href, etag })
  }
  return true
}

const gone = (name: string) =>
  new SourceError('ANSWER', `The calendar ${name} does not answer. Check that it still exists.`)

/** Throws unless the calendar itself answers that it is one. */
async function requireCalendar(session: Session, { url, name }: Pick<Calendar, 'url' | 'name'>) {
  const [itself] = await describe(session, url)
  if (!itself || !isCalendar(itself)) throw gone(name)
  return itself
}

/** All resources by PROPFIND. */
async function listCalendar(session: Session, calendar: Calendar): Promise<Listing> {
  const asked = propfind('d:getetag', 'd:resourcetype', 'd:sync-token')
  const { responses, url } = await session.ask('PROPFIND', calendar.url, '1', asked)
  const own = withSlash(session.keyOf(url, url))
  const itself = responses.find(({ href }) => withSlash(session.keyOf(href, url)) === own)
  if (!isCalendar(itself)) throw gone(calendar.name)
  const etags: Listing['etags'] = new Map()
  for (const { href, properties, status } of responses) {
    const etag = properties.get('getetag')
    const isResource = !properties.get('resourcetype')?.includes('collection')
    const key = session.keyOf(href, url)
    if (etag && isResource && withSlash(key) !== own && (status === null || isSuccess(status))) {
      etags.set(key, { href, etag })
    }
  }
  return { etags, token: itself?.properties.get('sync-token')?.trim() || null }
}

async function listVersions(session: Session) {
  const { calendars } = await chosenCalendars(session, null)
  const versions = new Map<string, string>()
  for (const calendar of calendars) {
    const { etags } = await listCalendar(session, calendar)
    for (const [key, { etag }] of etags) versions.set(key, etag)
  }
  return { versions, window: null, resources: null }
}

/** The resources of a calendar by name; `missing` are those that it says to be absent. */
async function readBodies(session: Session, calendar: Calendar, hrefs: string[]) {
  const list = hrefs.map((href) => `<d:href>${escapeXml(href)}</d:href>`).join('')
  const asked = '<d:prop><d:getetag/><c:calendar-data/></d:prop>'
  const body = `<c:calendar-multiget ${DAV}>${asked}${list}</c:calendar-multiget>`
  const { responses, url } = await session.ask('REPORT', calendar.url, '1', body)
  const resources: Resource[] = []
  const missing: string[] = []
  for (const { href, status, properties } of responses) {
    const key = session.keyOf(href, url)
    const [version, text] = [properties.get('getetag'), properties.get('calendar-data')]
    if (status === 404) missing.push(key)
    if (!version || text === undefined) continue
    if (text.length > MAX_RESOURCE_LENGTH) {
      throw new SourceError('LIMIT', `The event ${key} is larger than 1 MiB.`)
    }
    resources.push(await readBody(session.account, text, placeOf(calendar, key, version)))
  }
  return { resources, missing }
}

/** The answer around it was whole: a file that cannot be read is held, and the others are read. */
async function readBody(account: SourceAccount, text: string, place: Place) {
  try {
    return resourceOf(place, await readSeries(account, text, place.key), account)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return unreadableResource(place, error.message)
  }
}

/** Asks for single resources. One is gone only if its calendar itself answers. */
async function readKeys(session: Session, keys: string[]) {
  const found = new Map<string, Resource | 'GONE'>()
  const { calendars } = await chosenCalendars(session, null)
  for (const calendar of calendars) {
    for (const hrefs of inBatches(keys.filter((key) => belongsTo(key, calendar)))) {
      await requireCalendar(session, calendar)
      const { resources, missing } = await readBodies(session, calendar, hrefs)
      for (const resource of resources) found.set(resource.key, resource)
      for (const key of missing) found.set(key, 'GONE')
    }
  }
  return found
}

const MAX_COUNTED = 10

async function testAccount(once: (work: (session: Session) => Promise<void>) => Promise<void>) {
  const checks: FeedTest['checks'] = []
  const otherHosts: string[] = []
  let calendars: FeedTest['calendars'] = []
  try {
    await once(async (session) => {
      const homes = await findHomes(session)
      checks.push({ check: 'login', ok: true, detail: `${session.host} accepts the credential.` })
      calendars = await countCalendars(session, await listCalendars(session, homes))
      const detail = `The account has ${countOf(calendars.length, 'calendar')}.`
      checks.push({ check: 'calendars', ok: calendars.length > 0, detail })
    })
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    if (error instanceof OtherHost) otherHosts.push(error.host)
    const check = checks.length === 0 ? 'login' : 'calendars'
    checks.push({ check, ok: false, detail: error.message })
  }
  return { ok: checks.every(({ ok }) => ok), checks, calendars, otherHosts }
}

async function countCalendars(session: Session, calendars: Calendar[]) {
  const counted: FeedTest['calendars'] = []
  for (const calendar of calendars) {
    const isCounted = counted.length < MAX_COUNTED
    const entries = isCounted ? (await listCalendar(session, calendar)).etags.size : null
    counted.push({ key: calendar.key, name: calendar.name, entries })
  }
  return counted
}
