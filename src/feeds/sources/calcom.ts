import {
  MAX_ATTENDEES,
  SourceError,
  type Entry,
  type Pull,
  type Pulling,
  type Resource,
  type Source,
  type SourceAccount,
  type SourcePerson,
} from '../source.ts'
import { entryWithout } from '../stored-entry.ts'
import { listingOf } from './entries.ts'
import {
  sourceUrlOf,
  isObject,
  JsonApi,
  momentIn,
  objectsIn,
  resourceOfEntry,
  textIn,
  textsIn,
  type JsonObject,
} from './json-api.ts'
import { listedWindow } from '../window.ts'
import { inSessions, testBy } from './sessions.ts'
import { isHmacSigned } from './signatures.ts'

/** The bookings of one person at Cal.com, or at a server of one's own. See docs/feeds/calcom.md. */
export function makeCalcom(privateHosts: readonly string[]): Source {
  const { once, ...sessions } = inSessions(
    (account, requestsPerMinute) => new Session(account, privateHosts, requestsPerMinute),
    {
      pull: pullBookings,
      list: async (session) => {
        const resources = await session.listWindow({ sortStart: 'asc' })
        return { ...listingOf(resources), window: session.window }
      },
      read: (session, keys) => session.readKeys(keys),
    },
  )
  return {
    source: 'CALCOM',
    minutes: { usual: 5, least: 1 },
    hook: {
      isSigned: (headers, body, secrets) =>
        isHmacSigned(headers['x-cal-signature-256'], body, secrets),
      keysIn: keysInHook,
    },
    test: (account) =>
      testBy('login', () =>
        once(account, async (session) => ({
          detail: session.api.acceptance,
          name: (await session.readOwner()).emailAddress ?? session.api.host,
          entries: await session.countBookings(),
        })),
      ),
    ...sessions,
  }
}

const API_VERSION = '2024-08-13'
const PAGE = 250
/** A reschedule makes a new booking. So many in a row are followed. */
const MAX_RESCHEDULES = 50
const OVERLAP = { minutes: 10 }

/** The greatest time of a change that was seen. */
type Cursor = { updatedAt: string }

type Booking = {
  uid: string
  updatedAt: string
  createdAt: string
  /** The booking that it replaced, and the one that replaced it. */
  from: string | undefined
  to: string | undefined
  given: JsonObject
}

type Page = { bookings: Booking[]; total: number; isLast: boolean }

class Session {
  readonly api: JsonApi
  readonly #account: SourceAccount
  readonly #known = new Map<string, Booking>()
  #owner: SourcePerson | undefined

  constructor(account: SourceAccount, privateHosts: readonly string[], requestsPerMinute: number) {
    const base = sourceUrlOf(account).replace(/\/v2$/, '')
    this.#account = account
    this.api = new JsonApi(account, {
      base: `${base}/v2`,
      headers: { 'cal-api-version': API_VERSION },
      privateHosts,
      requestsPerMinute,
    })
  }

  close() {
    this.api.close()
  }

  get window() {
    return listedWindow(this.#account.window)
  }

  /** The person whose key it is. */
  async readOwner(): Promise<SourcePerson> {
    if (this.#owner) return this.#owner
    const answer = await this.api.get('/me')
    const data = isObject(answer) && isObject(answer.data) ? answer.data : undefined
    if (!data) throw this.api.unreadable()
    return (this.#owner = textsIn({ key: data.id, emailAddress: data.email }))
  }

  async countBookings() {
    return (await this.#readPage({ take: 1 })).total
  }

  /** The current state of all bookings from the window on: later pulls do not list those that it reaches. */
  async listWindow(order: Record<string, string>): Promise<Resource[]> {
    const query = { afterStart: String(this.window.from), ...order }
    const bookings = new Map<string, Booking>()
    for (let skip = 0; ;) {
      const page = await this.#readPage({ ...query, take: PAGE, skip })
      for (const booking of page.bookings) bookings.set(booking.uid, booking)
      skip += page.bookings.length
      this.api.checkCount(skip)
      if (!page.isLast) continue
      if (bookings.size >= page.total) break
      const missing = `lists ${bookings.size} of ${page.total} bookings`
      throw new SourceError('ANSWER', `${this.api.host} ${missing}. It is asked again.`)
    }
    return this.resourcesOf([...bookings.values()])
  }

  /** All bookings that changed since, the earliest change first. */
  async listChanged(since: string): Promise<Booking[]> {
    const bookings = new Map<string, Booking>()
    let after = String(Temporal.Instant.from(since).subtract(OVERLAP))
    let skip = 0
    // Bookings that change meanwhile move to the end, so a page begins where the last one ended.
    for (;;) {
      const query = { afterUpdatedAt: after, sortUpdatedAt: 'asc', take: PAGE, skip }
      const page = await this.#readPage(query)
      for (const booking of page.bookings) bookings.set(booking.uid, booking)
      const last = page.bookings.at(-1)
      if (page.isLast || !last) return [...bookings.values()]
      this.api.checkCount(bookings.size + skip)
      skip = last.updatedAt > after ? 0 : skip + page.bookings.length
      if (last.updatedAt > after) after = last.updatedAt
    }
  }

  /** One resource for each chain of reschedules. The booking that was replaced says nothing any more. */
  async resourcesOf(bookings: Booking[]): Promise<Resource[]> {
    for (const booking of bookings) this.#known.set(booking.uid, booking)
    const current = new Map<string, Booking>()
    for (const booking of bookings.filter(({ to }) => to === undefined)) {
      const key = await this.#findFirst(booking)
      const other = current.get(key)
      if (!other || other.createdAt <= booking.createdAt) current.set(key, booking)
    }
    const owner = await this.readOwner()
    return [...current].map(([key, booking]) => toResource(key, booking, owner))
  }

  /** Asks for single bookings, and for those that replaced them. */
  async readKeys(keys: Iterable<string>) {
    const found = new Map<string, Resource | 'GONE'>()
    // A 404 counts only if the API itself answers.
    const owner = await this.readOwner()
    for (const key of keys) {
      const first = await this.#find(key)
      const last = first && (await this.#findLast(first))
      found.set(key, last ? toResource(key, last, owner) : 'GONE')
    }
    return found
  }

  /** The uid that the booking had before it was rescheduled: the key of its appointment. */
  async #findFirst(booking: Booking) {
    let first = booking
    for (let steps = 0; first.from !== undefined && steps < MAX_RESCHEDULES; steps += 1) {
      const before = this.#known.get(first.from) ?? (await this.#find(first.from))
      if (!before) return first.from
      first = before
    }
    return first.uid
  }

  /** The last one that the key can see. */
  async #findLast(booking: Booking) {
    let last = booking
    for (let steps = 0; last.to !== undefined && steps < MAX_RESCHEDULES; steps += 1) {
      const next = await this.#find(last.to)
      if (!next) return last
      last = next
    }
    return last
  }

  async #find(uid: string): Promise<Booking | undefined> {
    const answer = await this.api.find(`/bookings/${encodeURIComponent(uid)}`)
    if (answer === undefined) return undefined
    const booking = isObject(answer) ? readBooking(answer.data) : undefined
    if (!booking) throw this.api.unreadable()
    this.#known.set(booking.uid, booking)
    return booking
  }

  async #readPage(query: Record<string, string | number>): Promise<Page> {
    const answer = await this.api.get('/bookings', query)
    if (!isObject(answer) || !Array.isArray(answer.data)) throw this.api.unreadable()
    const bookings = answer.data.map((given) => {
      const booking = readBooking(given)
      if (!booking) throw this.api.unreadable()
      return booking
    })
    const { totalItems, hasNextPage } = isObject(answer.pagination) ? answer.pagination : {}
    const isFull = bookings.length > 0 && bookings.length >= Number(query.take)
    return {
      bookings,
      total: typeof totalItems === 'number' ? totalItems : bookings.length,
      isLast: bookings.length === 0 || !(typeof hasNextPage === 'boolean' ? hasNextPage : isFull),
    }
  }
}

function readBooking(given: unknown): Booking | undefined {
  if (!isObject(given)) return undefined
  const [uid, updated] = [textIn(given.uid), momentIn(given.updatedAt)]
  if (uid === undefined || !updated) return undefined
  if (objectsIn(given.attendees).length > MAX_ATTENDEES) {
    throw new SourceError('LIMIT', `The booking ${uid} has more than ${MAX_ATTENDEES} attendees.`)
  }
  return {
    uid,
    updatedAt: inMilliseconds(updated),
    createdAt: textIn(given.createdAt) ?? '',
    from: textIn(given.rescheduledFromUid),
    to: textIn(given.rescheduledToUid),
    given,
  }
}

/** Times of one length can be compared as text. */
const inMilliseconds = (time: Temporal.Instant) => time.toString({ smallestUnit: 'millisecond' })

async function* pullBookings(session: Session, { cursor, versionOf, again }: Pull): Pulling {
  const known = cursor as Cursor | null
  const listed = known
    ? await session.resourcesOf(await session.listChanged(known.updatedAt))
    : await session.listWindow({ sortCreated: 'asc' })
  const keys = new Set(listed.map(({ key }) => key))
  const asked = [...again].filter((key) => !keys.has(key))
  const answered = asked.length > 0 ? [...(await session.readKeys(asked))] : []
  const read = answered.flatMap(([, resource]) => (resource === 'GONE' ? [] : [resource]))
  const resources = [...listed, ...read].filter(({ key, version }) =>
    isNewer(version, versionOf(key)),
  )
  const deleted = answered.flatMap(([key, resource]) => (resource === 'GONE' ? [key] : []))
  if (resources.length > 0 || deleted.length > 0) yield { resources, deleted }
  const times = [...(known ? [known.updatedAt] : []), ...listed.map(changeTimeOf)]
  const next: Cursor | null = times.length > 0 ? { updatedAt: times.toSorted().at(-1)! } : null
  const complete = known ? null : { keys, window: session.window }
  return { cursor: next, complete }
}

const changeTimeOf = ({ version }: Resource) => version.split(' ')[0]!

/** A replica of the source can answer with an older state than it did before. */
function isNewer(version: string, known: string | undefined) {
  if (known === undefined) return true
  return version !== known && version.split(' ')[0]! >= known.split(' ')[0]!
}

function toResource(key: string, booking: Booking, owner: SourcePerson): Resource {
  return resourceOfEntry(key, entryOf(key, booking, owner), booking.updatedAt)
}

function entryOf(key: string, { given, updatedAt }: Booking, owner: SourcePerson): Entry {
  const hosts = objectsIn(given.hosts)
  const attendees = objectsIn(given.attendees)
  const guests = new Set(Array.isArray(given.guests) ? given.guests : [])
  const booked = attendees.filter(({ email }) => !guests.has(email))
  const isClass = attendees.some(({ seatUid }) => textIn(seatUid) !== undefined)
  const people = isClass || booked.length === 0 ? attendees : booked
  const status = textIn(given.status)
  const { id, slug } = isObject(given.eventType) ? given.eventType : {}
  return entryWithout({
    key,
    uid: textIn(given.icsUid) ?? null,
    start: momentIn(given.start),
    end: momentIn(given.end),
    status: status === 'accepted' ? absenceOf(people, isClass) : (status ?? null),
    title: textIn(given.title) ?? null,
    clients: people.map(clientOf),
    service: textsIn({ key: id ?? given.eventTypeId, name: slug }),
    staff: hosts[0] ? staffOf(hosts[0]) : null,
    location: placeOf(given.location),
    isClass,
    createdTime: momentIn(given.createdAt),
    changedTime: momentIn(updatedAt),
    problem: problemOf(status, hosts, owner),
  })
}

const absenceOf = (people: JsonObject[], isClass: boolean) =>
  !isClass && people.length === 1 && people[0]!.absent === true ? 'no show' : null

/** `email` can have a suffix that makes it unique at Cal.com. */
const addressIn = ({ displayEmail, email }: JsonObject) => textIn(displayEmail) ?? textIn(email)

const clientOf = (given: JsonObject): SourcePerson =>
  textsIn({
    emailAddress: addressIn(given),
    firstName: given.name,
    phone: given.phoneNumber,
    language: given.language,
    timeZone: given.timeZone,
  })

const staffOf = (host: JsonObject) =>
  textsIn({ key: host.id, name: host.name, emailAddress: addressIn(host) })

/** A place; not the link or the name of a video call. */
function placeOf(location: unknown) {
  const name = textIn(location)
  return name === undefined || /^(https?|integrations|conferencing):/i.test(name) ? null : { name }
}

function problemOf(status: string | undefined, hosts: JsonObject[], owner: SourcePerson) {
  const isHost = hosts.some(
    (host) =>
      textIn(host.id) === owner.key ||
      [addressIn(host), textIn(host.email)].includes(owner.emailAddress),
  )
  if (!isHost) {
    const reason = 'The owner of the key is only an attendee of it.'
    return { state: 'SKIPPED' as const, code: 'not-host', reason }
  }
  if (status !== 'pending') return null
  const reason = 'It waits to be confirmed in Cal.com.'
  return { state: 'SKIPPED' as const, code: 'waits-for-confirmation', reason }
}

/** The booking that a webhook is about; of a reschedule the one that it replaced. */
function keysInHook(body: unknown): string[] {
  const payload = isObject(body) && isObject(body.payload) ? body.payload : {}
  const uid = textIn(payload.rescheduleUid) ?? textIn(payload.uid) ?? textIn(payload.bookingUid)
  return uid === undefined ? [] : [uid]
}
