import type { Correction, FeedDecision, FeedRule, MatchKind } from '../contract/feed.ts'
import { objectKind } from '../contract/objects.ts'
import type { Described, Directory, Match } from '../matching/directory.ts'
import { plainText } from '../matching/plain.ts'
import { findStatusOf, type KnownStatus } from '../matching/status-words.ts'
import type { FeedRow } from '../store/feeds.ts'
import { matchPattern, type Captured } from './patterns.ts'
import { addressOf, clientsOf, describeThing, type NamedClient } from './persons.ts'
import type { Entry, EntryProblem } from './source.ts'
import { THINGS, type Thing } from './things.ts'
import { isWithin, type Window } from './window.ts'

/*
 * What an entry of a source is here. Pure: everything that it needs is in the `Mapping`. Each value is
 * decided by the first of correction, rule, match and default.
 */

export type ObjectType = 'CALENDAR' | 'CLASS_SCHEDULE'

/** What the object of an entry takes from the source; ids and milliseconds. */
export type MirroredValues = {
  clientId?: number
  clientIdList?: number[]
  name?: string
  professionalId?: number
  reasonId?: number
  locationId?: number
  startTime?: number
  endTime?: number
  status?: string
}

export type Mapped = {
  objectType: ObjectType
  /** Null: the entry is mirrored. */
  problem: EntryProblem | null
  /** What is known; complete if there is no problem. */
  values: MirroredValues
  decisions: FeedDecision[]
  clients: NamedClient[]
  /** Its status is COMPLETED because it ended a while ago. */
  isClosed: boolean
  /** Clients that do not exist yet. */
  missing: NamedClient[]
  /** What the entry names, with the object of ours that is meant. */
  named: NamedThing[]
}

export type NamedThing = {
  kind: MatchKind
  key: string
  name: string
  objectId: number | null
  madeBy: 'ADDRESS' | 'NAME' | 'NONE'
}

export type Mapping = {
  feed: FeedRow
  directory: Directory
  /** The object that a person, or an earlier entry, decided for what the source names. */
  matchOf(kind: MatchKind, key: string): { objectId: number; madeBy: string } | undefined
  statusesOf(objectType: ObjectType): KnownStatus[]
  isMirroredElsewhere(uid: string): boolean
  window: Window
  /** What ended by then, and is neither cancelled nor missed, took place; null: people close it. */
  closedUntil: Temporal.Instant | null
}

const MAX_HOURS = 24

/** What became of the entry before. `closedEnd`: the end with which its object was closed. */
export type KnownEntry = { hasObject: boolean; closedEnd: number | undefined }

export function mapEntry(
  entry: Entry,
  correction: Correction | null,
  { hasObject, closedEnd }: KnownEntry,
  mapping: Mapping,
): Mapped {
  const draft = new Draft(entry, correction ?? {}, mapping)
  const excluded = exclusionOf(entry, draft, hasObject, mapping)
  if (excluded) return draft.end(excluded)
  const { feed } = mapping
  const clients = draft.corrected('clientId') ? [] : draft.findClients()
  const several = clients.length > 1 && feed.severalClients
  draft.chooseKind(clients.length > 1 && several === 'CLASS')
  if (several === 'HOLD' && draft.objectType === 'CALENDAR') {
    const names = clients.map(({ described }) => described.name || described.emailAddress)
    draft.hold('several-clients', `It names ${clients.length} clients: ${names.join(', ')}.`)
  }
  draft.chooseClients(several === 'FIRST' ? clients.slice(0, 1) : clients)
  for (const thing of THINGS) draft.chooseThing(thing)
  draft.chooseTimes()
  draft.chooseStatus(clients, closedEnd)
  return draft.end(null)
}

/** Why an entry is not an appointment, or cannot be read. */
function exclusionOf(
  entry: Entry,
  draft: Draft,
  hasObject: boolean,
  { isMirroredElsewhere, window }: Mapping,
): EntryProblem | undefined {
  const { start, end } = entry
  if (draft.corrected('skip'))
    return skip('corrected', 'A person decided that it is not an appointment.')
  if (entry.isPrivate) return skip('private', 'It is private.')
  if (entry.problem) return entry.problem
  if (entry.allDay) return skip('all-day', 'It lasts all day.')
  const rule = draft.skippingRule()
  if (rule !== undefined && draft.corrected('skip') !== false)
    return skip('rule', `Rule ${rule + 1} skips it.`)
  if (entry.uid !== null && isMirroredElsewhere(entry.uid)) {
    return skip('other-feed', 'Another feed mirrors the same event.')
  }
  if (!start) return { state: 'HELD', code: 'no-start', reason: 'It has no start.' }
  if (end && start.until(end).total('hours') > MAX_HOURS) {
    return skip('too-long', `It is longer than ${MAX_HOURS} hours.`)
  }
  // One that was mirrored moves with its entry.
  if (!isWithin(window, start) && !hasObject) {
    return skip('outside-window', 'It starts outside the days that the feed mirrors.')
  }
  return undefined
}

const skip = (code: string, reason: string): EntryProblem => ({ state: 'SKIPPED', code, reason })

/** Collects the decisions about one entry. */
class Draft {
  objectType: ObjectType = 'CALENDAR'
  readonly #entry: Entry
  readonly #correction: Correction
  readonly #mapping: Mapping
  readonly #rules: { rule: FeedRule; index: number }[]
  readonly #captured: Captured = {}
  readonly #values: MirroredValues = {}
  readonly #decisions: FeedDecision[] = []
  readonly #named: NamedThing[] = []
  readonly #missing: NamedClient[] = []
  #clients: NamedClient[] = []
  #problem: EntryProblem | null = null
  #isClosed = false

  constructor(entry: Entry, correction: Correction, mapping: Mapping) {
    this.#entry = entry
    this.#correction = correction
    this.#mapping = mapping
    this.#rules = mapping.feed.rules.flatMap((rule, index) => {
      const captured = matchRule(rule, entry)
      if (!captured) return []
      this.#captured.client ??= captured.client!
      this.#captured.service ??= captured.service!
      return [{ rule, index }]
    })
  }

  /** The index of the first matching rule that decides about skipping, if it skips. */
  skippingRule() {
    const first = this.#rules.find(({ rule }) => typeof rule.then.skip === 'boolean')
    return first?.rule.then.skip ? first.index : undefined
  }

  corrected<F extends keyof Correction>(field: F) {
    return this.#correction[field] ?? undefined
  }

  #ruled<F extends keyof FeedRule['then']>(field: F) {
    const found = this.#rules.find(({ rule }) => (rule.then[field] ?? null) !== null)
    return found && { value: found.rule.then[field]!, detail: `rule ${found.index + 1}` }
  }

  #decide(field: string, value: unknown, by: FeedDecision['by'], detail: string | null = null) {
    this.#decisions.push({ field, value, by, detail })
  }

  /** The first problem counts. */
  #refuse(problem: EntryProblem) {
    this.#problem ??= problem
  }

  hold(code: string, reason: string) {
    this.#refuse({ state: 'HELD', code, reason })
  }

  findClients() {
    const { directory } = this.#mapping
    const staff = new Set(
      directory.list('professional').map(({ emailAddress }) => emailAddress?.toLowerCase()),
    )
    this.#clients = clientsOf(this.#entry, {
      isStaff: (address) => staff.has(address),
      titleName: this.#captured.client,
    })
    return this.#clients
  }

  chooseKind(isClass: boolean) {
    const corrected = this.corrected('kind')
    const ruled = this.#ruled('kind')
    const kind =
      corrected ?? ruled?.value ?? (isClass || this.#entry.isClass ? 'CLASS' : 'APPOINTMENT')
    if (corrected) this.#decide('kind', kind, 'CORRECTION')
    else if (ruled) this.#decide('kind', kind, 'RULE', ruled.detail)
    this.objectType = kind === 'CLASS' ? 'CLASS_SCHEDULE' : 'CALENDAR'
  }

  chooseClients(clients: NamedClient[]) {
    const corrected = this.corrected('clientId')
    if (corrected) {
      this.#decide('clientId', corrected, 'CORRECTION')
      this.#setClients([corrected])
      return
    }
    if (clients.length === 0) {
      this.#refuse(skip('no-client', 'It names no client.'))
      return
    }
    const ids = clients.flatMap((client) => this.#findClient(client) ?? [])
    if (ids.length < clients.length) return
    this.#setClients(ids)
    for (const id of ids) this.#decide('clientId', id, 'MATCH')
  }

  #setClients(ids: number[]) {
    if (this.objectType === 'CALENDAR') this.#values.clientId = ids[0]!
    else {
      this.#values.clientIdList = ids
      const { title, service } = this.#entry
      this.#values.name = (title || service?.name || 'Class').slice(0, 300)
    }
  }

  #findClient(client: NamedClient): number | undefined {
    const { directory, feed, matchOf } = this.#mapping
    const { described, key } = client
    const label = described.name || described.emailAddress || key
    const known = matchOf('client', key)
    const matched = known && directory.findById('client', known.objectId)
    // Several clients can have the address or the name of a match.
    const isOneClient = key.startsWith('#') || known?.madeBy === 'PERSON'
    if (matched && isOneClient) return matched.id
    const match = directory.find(described) ?? (matched && { found: matched })
    if (match && 'found' in match) {
      this.#name('client', key, label, match, described.emailAddress)
      return match.found.id
    }
    if (match) {
      this.hold(
        'ambiguous-client',
        `${match.among.length} clients could be “${label}”: say which one.`,
      )
      return undefined
    }
    if (described.emailAddress === '' && feed.clientsWithoutAddress === 'SKIP') {
      this.#refuse(skip('no-address', `“${label}” has no address, and no client has this name.`))
      return undefined
    }
    if (described.name === '' && described.emailAddress === '') {
      this.hold(
        'unknown-client',
        `The source names its client ${key.slice(1)} without a name: say which one.`,
      )
      return undefined
    }
    this.#missing.push(client)
    return undefined
  }

  #name(kind: MatchKind, key: string, name: string, match: Match, address: string) {
    const found = match && 'found' in match ? match.found : undefined
    const isByAddress =
      address !== '' && found?.emailAddress?.toLowerCase() === address.toLowerCase()
    const madeBy = !found ? 'NONE' : isByAddress ? 'ADDRESS' : 'NAME'
    this.#named.push({ kind, key, name, objectId: found?.id ?? null, madeBy })
  }

  /** A rule can find the service in the title. */
  #thingOf(named: Thing['named']) {
    const { service } = this.#captured
    return this.#entry[named] ?? (named === 'service' && service ? { name: service } : null)
  }

  chooseThing({ field, kind, named: matchKind }: Thing) {
    const code = `no-${matchKind}`
    const { title } = objectKind(kind)!
    const { feed, directory } = this.#mapping
    const thing = this.#thingOf(matchKind)
    const corrected = this.corrected(field)
    const ruled = this.#ruled(field)
    const matched = this.#matchThing(kind, matchKind, thing)
    const fallback = feed.defaults[field] ?? undefined
    const all = [
      { value: corrected, by: 'CORRECTION', detail: null },
      { ...ruled, by: 'RULE' },
      { ...matched, by: 'MATCH' },
      { value: fallback, by: 'DEFAULT', detail: null },
    ] as const
    const chosen = all.find(({ value }) => value !== undefined)
    if (!chosen) {
      if (field === 'reasonId' && this.objectType === 'CLASS_SCHEDULE') return
      const named = thing?.name || thing?.key
      const what = named ? `“${named}” is not a ${title} here` : `It names no ${title}`
      this.hold(code, `${what}: match it, or choose a default.`)
      return
    }
    const id = chosen.value as number
    if (!directory.findById(kind, id)) {
      this.hold(code, `The ${title} ${id} is not active any more: choose another one.`)
      return
    }
    this.#values[field] = id
    this.#decide(field, id, chosen.by, chosen.detail)
  }

  #matchThing(kind: Thing['kind'], matchKind: Thing['named'], thing: Entry['staff']) {
    const named = thing && describeThing(kind, thing)
    const found = named && this.#matchNamed(matchKind, named)
    const { calendar } = this.#entry
    if (found || kind !== 'professional' || calendar === null) return found
    // A calendar of the source often belongs to one member of staff.
    const described = { kind, name: calendar, emailAddress: calendar }
    return this.#matchNamed('calendar', { key: calendar, described })
  }

  #matchNamed(matchKind: MatchKind, { key, described }: { key: string; described: Described }) {
    const { directory, matchOf } = this.#mapping
    const label = described.name || described.emailAddress || key
    const detail = `${matchKind} “${label}”`
    const known = matchOf(matchKind, key)
    // Who left and has a calendar is not replaced by the default: chooseThing holds its entries.
    const isUsable =
      matchKind === 'calendar' || directory.findById(described.kind, known?.objectId ?? 0)
    if (known && isUsable) return { value: known.objectId, detail }
    const match = directory.find(described)
    this.#name(matchKind, key, label, match, addressOf(described) ?? '')
    return match && 'found' in match ? { value: match.found.id, detail } : undefined
  }

  chooseTimes() {
    const start = this.#entry.start!
    const service = this.#mapping.directory.findById('reason', this.#values.reasonId ?? 0)
    const minutes = service?.durationMinutes
    const end = this.#entry.end ?? (minutes ? start.add({ minutes }) : undefined)
    if (!end || Temporal.Instant.compare(end, start) <= 0) {
      this.hold('no-end', 'It has no end, and its service has no usual duration.')
      return
    }
    this.#values.startTime = start.epochMilliseconds
    this.#values.endTime = end.epochMilliseconds
  }

  chooseStatus(clients: NamedClient[], closedEnd: number | undefined) {
    const { feed, statusesOf } = this.#mapping
    const statuses = statusesOf(this.objectType)
    const ruled = this.#ruled('status')
    const word = this.#entry.status ?? this.#participationOf(clients) ?? 'open'
    const status = ruled
      ? findStatusOf(String(ruled.value), statuses)
      : statusOfWord(word, feed, statuses)
    if (status === undefined) {
      this.hold(
        'unknown-status',
        `“${word}” is not a status here: add it to the status map of the feed.`,
      )
      return
    }
    const { closedUntil } = this.#mapping
    const { endTime } = this.#values
    const isOver = Boolean(closedUntil && endTime && endTime <= closedUntil.epochMilliseconds)
    // Another closing time does not reopen a visit that took place.
    const wasClosed = endTime !== undefined && endTime === closedEnd
    const isClosing = (isOver || wasClosed) && isLive(status, statuses)
    const closed = isClosing ? closingStatus(feed, statuses) : undefined
    this.#isClosed = closed !== undefined
    this.#values.status = closed ?? status
    const detail = isOver ? `${feed.closeAfterHours} h after its end` : 'after its end'
    if (closed) this.#decide('status', closed, 'DEFAULT', detail)
    else this.#decide('status', status, ruled ? 'RULE' : 'SOURCE', ruled?.detail ?? word)
  }

  /** Whether the only client accepted or declined the invitation. */
  #participationOf(clients: NamedClient[]) {
    const [client] = clients
    if (!client || clients.length > 1) return undefined
    const attendee = this.#entry.attendees.find(
      (one) => addressOf(one) === addressOf(client.person),
    )
    if (attendee?.participation === 'ACCEPTED') return 'confirmed'
    return attendee?.participation === 'DECLINED' ? 'cancelled' : undefined
  }

  end(excluded: EntryProblem | null): Mapped {
    return {
      objectType: this.objectType,
      problem: excluded ?? this.#problem,
      values: this.#values,
      decisions: this.#decisions,
      clients: this.#clients,
      isClosed: this.#isClosed,
      missing: excluded || this.#problem ? [] : this.#missing,
      named: this.#named,
    }
  }
}

/** Our status for a word of the source; undefined if it is not known. */
export function statusOfWord(word: string, { statusMap }: FeedRow, statuses: KnownStatus[]) {
  const plain = plainText(word)
  const mapped = Object.entries(statusMap).find(([known]) => plainText(known) === plain)?.[1]
  return findStatusOf(mapped ?? word, statuses)
}

export const isLive = (name: string, statuses: KnownStatus[]) =>
  statuses.some(({ status, outcome }) => status === name && outcome === 'PENDING')

/** The status of a visit that took place; undefined if the business has none. */
export function closingStatus(feed: FeedRow, statuses: KnownStatus[]) {
  const status = statusOfWord('completed', feed, statuses)
  return status !== undefined && isLive(status, statuses) ? undefined : status
}

/** What the rule finds in the title, if all its conditions hold. */
function matchRule({ when }: FeedRule, entry: Entry): Captured | undefined {
  const some = (pattern: string | null | undefined, texts: (string | null | undefined)[]) =>
    (pattern ?? null) === null || texts.some((text) => text != null && matchPattern(pattern!, text))
  const textsOf = ({ emailAddress, firstName = '', lastName = '' }: Entry['clients'][number]) => [
    emailAddress,
    `${firstName} ${lastName}`.trim(),
  ]
  const { location, organizer } = entry
  const holds =
    some(when.calendar, [entry.calendar]) &&
    some(when.attendee, [...entry.attendees, ...entry.clients].flatMap(textsOf)) &&
    some(when.organizer, organizer ? textsOf(organizer) : []) &&
    some(when.location, [location?.name, location?.key]) &&
    some(when.category, entry.categories) &&
    (typeof when.busy !== 'boolean' || when.busy === entry.isBusy)
  if (!holds) return undefined
  return (when.title ?? null) === null ? {} : matchPattern(when.title!, entry.title ?? '')
}
