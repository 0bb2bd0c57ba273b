import { FEED_BODY, type FeedFields, type FeedMode, type FeedRule } from '../contract/feed.ts'
import { isPlainObject, isSame } from '../contract/json.ts'
import { objectKind } from '../contract/objects.ts'
import { foreignBusiness, isUnchanged, readFields } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, notFound, type Fault } from '../errors.ts'
import { hasEntries } from '../store/feed-entries.ts'
import { failRequestedRuns } from '../store/feed-runs.ts'
import {
  countFeeds,
  findFeed,
  insertFeed,
  isFeedNameTaken,
  lockFeed,
  lockFeedState,
  markMappingChanged,
  planPulls,
  storeFeedSecret,
  updateFeed,
  type FeedRow,
  type FeedState,
} from '../store/feeds.ts'
import { listNamedObjects } from '../store/named-objects.ts'
import { listStatusesOf } from '../store/statuses.ts'
import type { By } from '../store/rows.ts'
import { faultOfUrl } from './fetch.ts'
import { LATE_INTERVALS } from './health.ts'
import { namesParts } from './patterns.ts'
import { secretPlace, type SourceAccess } from './source-access.ts'
import { httpsOf } from './sources/ics.ts'
import { THINGS } from './things.ts'

export type FeedSave = By & {
  businessId: number
  access: SourceAccess
  /** Of the calendars in the body those that the source does not have. */
  missingCalendars?: string[]
  onCurrent(tx: Db, current: FeedRow): Promise<void>
}

const MAX_FEEDS = 50
const USUAL_CLOSE_HOURS = 24
const MAX_PULL_MINUTES = 1_440

/** A change of these needs a complete pull before the feed may go live, and maps its entries again. */
const MAPPING = [
  'connection',
  'defaults',
  'rules',
  'statusMap',
  'severalClients',
  'clientsWithoutAddress',
] as const

/** A change of these needs everything to be read again. */
const READING = ['connection', 'horizonDays', 'historyDays'] as const

/** `mapsAgain`: what is mirrored has to follow. */
export type SavedFeed = { feed: FeedRow; isNew: boolean; mapsAgain: boolean }

/** Creates or changes a feed, in the caller's transaction. */
export async function saveFeed(tx: Db, body: unknown, saving: FeedSave): Promise<SavedFeed> {
  const { businessId } = saving
  const feedId = isPlainObject(body) && Number.isSafeInteger(body.feedId) ? Number(body.feedId) : 0
  const state = feedId === 0 ? undefined : await lockFeedState(tx, { businessId, feedId })
  const current = state && (await lockFeed(tx, { businessId, feedId }))
  if (feedId !== 0 && !current) throw notFound('feed', feedId)
  if (current) await saving.onCurrent(tx, current)
  const secret = isPlainObject(body) ? (body.secret as string | null | undefined) : undefined
  const fields = await readFeed(tx, body, { feed: current, hasSecret: state?.hasSecret }, saving)
  if (!current) {
    if ((await countFeeds(tx, businessId)) >= MAX_FEEDS) {
      throw invalid([{ pointer: '', detail: `a business has at most ${MAX_FEEDS} feeds` }])
    }
    requireMode(fields.mode, 'DRAFT', undefined)
    const feed = await insertFeed(tx, businessId, fields, saving)
    await storeReading(tx, feed, { secret, isFresh: true }, saving)
    return { feed, isNew: true, mapsAgain: false }
  }
  if (isUnchanged(fields, current) && secret === undefined) {
    return { feed: current, isNew: false, mapsAgain: false }
  }
  const isChanged = (name: keyof FeedFields) => !isSame(fields[name], current[name])
  const isElsewhere = current.source === 'ICS' && secret !== undefined
  const isMappingChanged = isElsewhere || MAPPING.some(isChanged)
  if (isMappingChanged) await markMappingChanged(tx, current, saving.now)
  const mapped = isMappingChanged ? { ...state!, mappingChangedTime: saving.now } : state
  requireMode(fields.mode, current.mode, mapped)
  if (fields.mode === 'DRAFT' && current.mode !== 'DRAFT' && (await hasEntries(tx, current))) {
    throw conflict('The feed has entries and cannot be a draft again. Make a new feed.')
  }
  const feed = await updateFeed(tx, current, { ...fields, active: true }, saving)
  const isFresh = secret !== undefined || READING.some(isChanged)
  await storeReading(tx, feed, { secret, isFresh }, saving)
  // LIVE adopts own appointments.
  const isLiveNow = fields.mode === 'LIVE' && current.mode === 'SHADOW'
  return { feed, isNew: false, mapsAgain: isMappingChanged || isLiveNow }
}

/** Stores the secret, and when the source is read next. */
async function storeReading(
  tx: Db,
  feed: FeedRow,
  { secret, isFresh }: { secret: string | null | undefined; isFresh: boolean },
  { access: { secrets, sources }, now }: FeedSave,
) {
  if (secret !== undefined) {
    const sealed = secret === null ? null : secrets.encrypt(secretPlace(feed, 'secret'), secret)
    await storeFeedSecret(tx, feed, sealed)
  }
  const { minutes } = sources.find(feed.source)
  const isPulled = minutes !== null && (feed.mode === 'SHADOW' || feed.mode === 'LIVE')
  const interval = feed.pullMinutes ?? minutes?.usual ?? 0
  const lateTime = now.add({ minutes: LATE_INTERVALS * interval })
  await planPulls(tx, feed, { from: isPulled ? now : null, lateTime, isFresh })
  if (!isPulled) await failRequestedRuns(tx, feed, { error: 'The feed was paused.', now })
}

/** Which modes can follow, and what they need. */
function requireMode(mode: FeedMode, before: FeedMode, state: FeedState | undefined) {
  if (mode === 'PAUSED' && before !== 'PAUSED' && before !== 'LIVE') {
    throw conflict(
      'Only a LIVE feed can be paused: mails about what a SHADOW feed mirrors must not be sent.',
    )
  }
  if (mode !== 'LIVE' || before === 'LIVE') return
  const { completeTime, mappingChangedTime } = state ?? {}
  const isComplete =
    completeTime &&
    mappingChangedTime &&
    Temporal.Instant.compare(completeTime, mappingChangedTime) >= 0
  if (!isComplete) {
    throw conflict(
      'The feed needs one complete pull since the last change of its connection, defaults or rules before it can be LIVE. Use SHADOW first.',
    )
  }
}

type Stored = { feed: FeedRow | undefined; hasSecret: boolean | undefined }

async function readFeed(
  tx: Db,
  body: unknown,
  { feed: current, hasSecret = false }: Stored,
  { businessId, access, missingCalendars = [] }: FeedSave,
) {
  const { values, faults } = readFields<FeedFields>(FEED_BODY, body, current)
  if (!current && isPlainObject(body) && body.closeAfterHours === undefined) {
    values.closeAfterHours = USUAL_CLOSE_HOURS
  }
  faults.push(...foreignBusiness(body, businessId))
  const isFaulty = (name: string) => faults.some(({ pointer }) => pointer.startsWith(`/${name}`))
  const more: Fault[] = []
  if (
    !isFaulty('name') &&
    (await isFeedNameTaken(tx, businessId, values.name, current?.feedId ?? 0))
  ) {
    more.push({ pointer: '/name', detail: 'is the name of another feed' })
  }
  // A body that is refused as a whole may name no source.
  if (values.source) {
    more.push(...sourceFaults(values, body, access))
    more.push(...secretFaults(values, body, { feed: current, hasSecret }, access))
  }
  for (const key of missingCalendars) {
    const pointer = `/connection/calendars/${values.connection.calendars?.indexOf(key)}`
    more.push({ pointer, detail: 'is not a calendar of the source: POST /feed/test lists them' })
  }
  if (current) more.push(...(await fixedFaults(tx, values, current)))
  if (current && !current.active)
    more.push({ pointer: '/feedId', detail: 'is deleted: make a new feed' })
  if (isPlainObject(body) && body.active === false) {
    more.push({
      pointer: '/active',
      detail: 'must be true: use DELETE /feed/{feedId}?appointments=',
    })
  }
  if (!isFaulty('rules')) more.push(...values.rules.flatMap(ruleFaults))
  more.push(...(await referenceFaults(tx, businessId, values)))
  const all = [
    ...faults,
    ...more.filter(({ pointer }) => !isFaulty(pointer.slice(1).split('/')[0]!)),
  ]
  if (all.length > 0) throw invalid(all)
  return values
}

function sourceFaults(
  { source, pullMinutes, connection }: FeedFields,
  body: unknown,
  { sources, privateHosts }: SourceAccess,
): Fault[] {
  const found = sources.find(source)
  const faults: Fault[] = []
  if (pullMinutes !== null && !found.minutes) {
    faults.push({
      pointer: '/pullMinutes',
      detail: 'must be null: the source sends, and is not pulled',
    })
  } else if (pullMinutes !== null && pullMinutes < found.minutes!.least) {
    const detail = `must be between ${found.minutes!.least} and ${MAX_PULL_MINUTES}`
    faults.push({ pointer: '/pullMinutes', detail })
  }
  if (found.minutes && source !== 'ICS') {
    const { url } = connection
    const detail = url == null ? 'is required' : faultOfUrl(url, privateHosts)
    return detail === undefined ? faults : [...faults, { pointer: '/connection/url', detail }]
  }
  const why = source === 'ICS' ? 'send the address of the file as secret' : 'the source sends'
  for (const name of ['url', 'username', 'calendars', 'hosts'] as const) {
    if (connection[name] != null) {
      faults.push({ pointer: `/connection/${name}`, detail: `is not used: ${why}` })
    }
  }
  if (!found.minutes && isPlainObject(body) && body.secret != null) {
    faults.push({
      pointer: '/secret',
      detail: 'is not used: POST /feed/{feedId}/hook makes the signing secret',
    })
  }
  return faults
}

/** The address of a published file is its secret. A credential goes to no address that it was not entered for. */
function secretFaults(
  { source, connection }: FeedFields,
  body: unknown,
  { feed, hasSecret }: { feed: FeedRow | undefined; hasSecret: boolean },
  { privateHosts }: SourceAccess,
): Fault[] {
  const secret = isPlainObject(body) ? body.secret : undefined
  const fault = (detail: string) => [{ pointer: '/secret', detail }]
  if (source === 'ICS') {
    if (secret === null || (secret === undefined && !hasSecret)) {
      return fault('is required: the address of the calendar file')
    }
    const wrong = typeof secret === 'string' ? faultOfUrl(httpsOf(secret), privateHosts) : undefined
    return wrong === undefined ? [] : fault(wrong)
  }
  const isElsewhere =
    !isSame(connection.url ?? null, feed?.connection.url ?? null) ||
    !isSame(connection.hosts ?? [], feed?.connection.hosts ?? [])
  return hasSecret && secret === undefined && isElsewhere
    ? fault('must be sent again, because it goes to another address')
    : []
}

async function fixedFaults(tx: Db, { source, connection }: FeedFields, current: FeedRow) {
  const faults: Fault[] = []
  if (source !== current.source) {
    faults.push({ pointer: '/source', detail: 'cannot be changed: make a new feed' })
  }
  const isMoved = (connection.url ?? null) !== (current.connection.url ?? null)
  if (isMoved && (await hasEntries(tx, current))) {
    faults.push({ pointer: '/connection/url', detail: 'cannot be changed: make a new feed' })
  }
  return faults
}

function ruleFaults({ when, then }: FeedRule, i: number): Fault[] {
  const isSet = (value: unknown) => value !== undefined && value !== null
  const hasEffect = Object.values(then).some(isSet) || namesParts(when.title ?? '')
  const faults: Fault[] = []
  if (!hasEffect)
    faults.push({ pointer: `/rules/${i}/then`, detail: 'has no effect: name at least one value' })
  if (!Object.values(when).some(isSet)) {
    faults.push({ pointer: `/rules/${i}/when`, detail: 'must name at least one condition' })
  }
  return faults
}

/** Ids must exist in the business and be active, and so must statuses. */
async function referenceFaults(
  tx: Db,
  businessId: number,
  { defaults, rules, statusMap }: Pick<FeedFields, 'defaults' | 'rules' | 'statusMap'>,
) {
  const faults: Fault[] = []
  for (const { field, kind } of THINGS) {
    const objects = await listNamedObjects(tx, businessId, kind, { after: 0, limit: 100_000 })
    const known = new Set(objects.map(({ id }) => id))
    const check = (id: number | null | undefined, pointer: string) => {
      if (id == null || known.has(id)) return
      faults.push({ pointer, detail: `there is no active ${objectKind(kind)!.title} ${id}` })
    }
    check(defaults?.[field], `/defaults/${field}`)
    for (const [i, { then }] of (rules ?? []).entries())
      check(then?.[field], `/rules/${i}/then/${field}`)
  }
  const statuses = await listStatusesOf(tx, businessId, 'CALENDAR')
  const usable = statuses.filter(({ active }) => active).map(({ status }) => status)
  const given = [
    ...Object.entries(statusMap ?? {}).map(
      ([word, status]) => [`/statusMap/${word}`, status] as const,
    ),
    ...(rules ?? []).map(({ then }, i) => [`/rules/${i}/then/status`, then?.status] as const),
  ]
  for (const [pointer, status] of given) {
    if (status == null || usable.includes(status)) continue
    faults.push({ pointer, detail: `must be one of ${usable.join(', ')}` })
  }
  return faults
}

/** Refuses rules without effect, or with ids and statuses that cannot be used. */
export async function requireUsableRules(db: Db, businessId: number, rules: FeedRule[]) {
  const faults = [
    ...rules.flatMap(ruleFaults),
    ...(await referenceFaults(db, businessId, { rules, defaults: {}, statusMap: {} })),
  ]
  if (faults.length > 0) throw invalid(faults)
}

/** The feed of a path; 404 if there is none. */
export async function requireFeed(db: Db, businessId: number, feedId: number) {
  const feed = await findFeed(db, { businessId, feedId })
  if (!feed) throw notFound('feed', feedId)
  return feed
}
