import { kindOfObjectType } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { saveObjects } from '../scheduling/save.ts'
import type { Saving, SaveOutcome } from '../scheduling/saving.ts'
import { lockPlans } from '../store/event-definitions.ts'
import {
  deleteEndedResources,
  drawEntryIds,
  listEntriesOf,
  writeEntries,
  type EntryRow,
} from '../store/feed-entries.ts'
import type { FeedRow } from '../store/feeds.ts'
import type { KnownStatus } from '../matching/status-words.ts'
import { listOwnAppointmentsAt } from '../store/named-objects.ts'
import { lockObjectsForUpdate, type StoredObject } from '../store/objects.ts'
import { createClients, storeNamed, updateClients } from './feed-clients.ts'
import {
  mapEntry,
  statusOfWord,
  type Mapped,
  type MirroredValues,
  type ObjectType,
} from './map-entry.ts'
import { readMapping, type ReadMapping } from './mapping.ts'
import { isCancelled, mergeValues, type Applied } from './merge.ts'
import type { Entry, EntryProblem, Resource } from './source.ts'
import { readStoredEntry, storeEntry } from './stored-entry.ts'
import { isWithin, listedWindow, windowOf } from './window.ts'

/** How entries are written. */
export type Mirroring = {
  feed: FeedRow
  saving: Saving
  /** No events: a first pull, a long gap, or a changed rule, match, default or correction. */
  isHistory: boolean
}

/** What became of a batch. */
export type MirrorResult = {
  created: number
  changed: number
  cancelled: number
  unchanged: number
  entries: EntryRow[]
  /** The definite clients of mirrored entries that have an address. */
  withAddress: number
}

/** A change that the source dates further back than this fires no events. */
const MAX_EVENT_AGE_HOURS = 72

/** One entry on its way from the source to its object. */
type Item = {
  row: EntryRow | undefined
  /** Undefined: it is not in the source any more. */
  entry: Entry | undefined
  resourceKey: string
  correction: EntryRow['correction']
  /** The entry was not read now. */
  isStored: boolean
  mapped?: Mapped
  problem: EntryProblem | null
  /** Of the object that follows the entry. */
  objectType: ObjectType | null
  objectId: number | null
  applied: Applied
  /** What counts as applied if the object is saved. */
  toApply?: Applied
  isHistory: boolean
}

/** Resources as they are now, and keys of those that the source states to be deleted. */
export type Changes = {
  resources: Resource[]
  deleted: string[]
  /** Entries under a new key, with the id of the stored one that each continues: see moved.ts. */
  moved?: Map<string, number>
}

/** Writes what changed in the source. */
export async function mirrorResources(
  tx: Db,
  { resources, deleted, moved = new Map() }: Changes,
  mirroring: Mirroring,
) {
  const rows = await listEntriesOf(tx, mirroring.feed, {
    resourceKeys: [...resources.map(({ key }) => key), ...deleted],
    entryKeys: resources.flatMap(({ entries }) => entries.map(({ key }) => key)),
    ids: [...moved.values()],
  })
  const byKey = new Map(rows.map((row) => [row.entryKey, row]))
  const byId = new Map(rows.map((row) => [row.feedEntryId, row]))
  const items = new Map<string, Item>()
  for (const resource of resources) {
    for (const entry of resource.entries) {
      // One UID in two files: one of them counts.
      if (items.has(entry.key)) continue
      const row = byKey.get(entry.key) ?? byId.get(moved.get(entry.key) ?? 0)
      items.set(entry.key, newItem(row, entry, resource.key))
    }
  }
  const present = new Set([...items.values()].map(({ row }) => row))
  const continued = new Set(moved.values())
  const ended = endedBy(resources, deleted, mirroring)
  const gone = rows.filter(
    (row) => !present.has(row) && row.state !== 'GONE' && !continued.has(row.feedEntryId),
  )
  return mirror(tx, [...items.values(), ...gone.flatMap((row) => ended(row) ?? [])], mirroring)
}

/** What becomes of an entry that its resource does not have any more; undefined: nothing. */
function endedBy(resources: Resource[], deleted: string[], { feed, saving }: Mirroring) {
  const all = new Set([...resources.map(({ key }) => key), ...deleted])
  const problems = new Map(
    resources.flatMap(({ key, entries }) => {
      const held = entries.find(({ problem }) => problem?.state === 'HELD')
      return held ? [[key, held.problem!] as const] : []
    }),
  )
  const window = listedWindow(windowOf(feed, saving.now))
  const isDeleted = new Set(deleted)
  return (row: EntryRow): Item | undefined => {
    if (!all.has(row.resourceKey)) return undefined
    if (isDeleted.has(row.resourceKey)) return newItem(row, undefined, row.resourceKey)
    // Sources do not list other occurrences.
    if (row.startTime !== null && !isWithin(window, row.startTime)) return undefined
    const problem = problems.get(row.resourceKey)
    if (!problem || row.isErased) return newItem(row, undefined, row.resourceKey)
    // A series that cannot be read is not cancelled: a person looks at it.
    return newItem(row, { ...readStoredEntry(row.source), problem }, row.resourceKey)
  }
}

/** Maps stored entries again, after a rule, match, default or correction was changed. */
export const mirrorAgain = (tx: Db, rows: EntryRow[], mirroring: Mirroring) =>
  mirror(
    tx,
    rows
      .filter(({ isErased, state }) => !isErased && state !== 'GONE')
      .map((row) => ({
        ...newItem(row, readStoredEntry(row.source), row.resourceKey),
        isStored: true,
      })),
    mirroring,
  )

/** Ends entries that are not in the source any more. */
export const mirrorGone = (tx: Db, rows: EntryRow[], mirroring: Mirroring) =>
  mirror(
    tx,
    rows.map((row) => newItem(row, undefined, row.resourceKey)),
    mirroring,
  )

const newItem = (
  row: EntryRow | undefined,
  entry: Entry | undefined,
  resourceKey: string,
): Item => ({
  row,
  entry,
  resourceKey,
  correction: row?.correction ?? null,
  isStored: false,
  problem: null,
  objectType: row?.objectType ?? null,
  objectId: row?.objectId ?? null,
  applied: row?.applied ?? {},
  isHistory: false,
})

/** See docs/engine.md, lock order: clients, plans, objects, entries. */
async function mirror(tx: Db, all: Item[], mirroring: Mirroring): Promise<MirrorResult> {
  const { feed, saving } = mirroring
  const items = all.filter(({ row }) => !row?.isErased)
  const entries = items.flatMap(({ entry }) => entry ?? [])
  const corrections = items.flatMap(({ correction }) => correction ?? [])
  const mapping = await readMapping(tx, feed, entries, { corrections, now: saving.now })
  await mapItems(tx, items, mapping, mirroring)
  lockPlans(tx, feed.businessId)
  await adoptOwnAppointments(tx, items, feed)
  const current = await lockObjects(tx, items, feed)
  const planned = items.map((item) => planItem(item, current, mapping, mirroring))
  const outcomes = await saveBodies(tx, planned, mirroring)
  const rows = await writeItems(tx, items, outcomes, mirroring)
  return countOutcomes(items, outcomes, rows, mapping)
}

/** Maps the entries. Clients that are missing are created, and their entries mapped again. */
async function mapItems(
  tx: Db,
  items: Item[],
  mapping: ReadMapping,
  { saving, isHistory }: Mirroring,
) {
  const map = (item: Item) => {
    if (!item.entry) return
    const { isClosed, endTime } = item.applied
    const known = { hasObject: item.objectId !== null, closedEnd: isClosed ? endTime : undefined }
    item.mapped = mapEntry(item.entry, item.correction, known, mapping)
    item.problem = item.mapped.problem
    item.isHistory =
      isHistory ||
      item.mapped.isClosed ||
      isReached(item) ||
      isOld(item.entry, item.row === undefined, saving.now)
  }
  for (const item of items) map(item)
  const mapped = () => items.flatMap((item) => item.mapped ?? [])
  const missing = mapped().flatMap((one) => one.missing)
  const { bulkCall: _bulkCall, feedId: _feedId, ...own } = saving
  const refused = await createClients(tx, mapping, missing, own)
  for (const item of items) {
    const [first] = item.mapped?.missing ?? []
    if (!first) continue
    map(item)
    const reason = refused.get(first.key)
    if (reason) item.problem = { state: 'HELD', code: 'refused-client', reason }
  }
  await storeNamed(tx, mapping, mapped(), own)
  await updateClients(tx, mapping, mapped(), own)
}

/** The days that the feed mirrors have reached it: the source did not change it. */
const isReached = ({ row, entry }: Item) =>
  row?.reasonCode === 'outside-window' && entry?.start?.equals(row.startTime!) === true

function isOld({ createdTime, changedTime }: Entry, isNew: boolean, now: Temporal.Instant) {
  const dated = changedTime ?? (isNew ? createdTime : null)
  const limit = now.subtract({ hours: MAX_EVENT_AGE_HOURS })
  return dated !== null && Temporal.Instant.compare(dated, limit) < 0
}

/** An own appointment with the same client and start becomes the mirrored one. */
async function adoptOwnAppointments(tx: Db, items: Item[], { businessId, mode }: FeedRow) {
  const fresh = items.filter(
    ({ objectId, problem, mapped }) =>
      objectId === null && problem === null && mapped?.objectType === 'CALENDAR',
  )
  if (fresh.length === 0) return
  const nameOf = (clientId: number, startTime: number) => `${clientId} ${startTime}`
  const own = await listOwnAppointmentsAt(tx, businessId, {
    clientIds: fresh.map(({ mapped }) => mapped!.values.clientId!),
    startTimes: fresh.map(({ entry }) => entry!.start!),
  })
  const free = new Map(
    own.map((one) => [nameOf(one.clientId, one.startTime.epochMilliseconds), one.calendarId]),
  )
  for (const item of fresh) {
    const { clientId, startTime } = item.mapped!.values
    const name = nameOf(clientId!, startTime!)
    const calendarId = free.get(name)
    if (calendarId === undefined) continue
    free.delete(name)
    if (mode === 'SHADOW') {
      // Its mails would be captured, and deleting the feed could delete it.
      const reason =
        'An own appointment has the same client and start. LIVE makes it the mirrored one.'
      item.problem = { state: 'HELD', code: 'own-appointment', reason }
      continue
    }
    item.objectType = 'CALENDAR'
    item.objectId = calendarId
    item.isHistory = true
  }
}

/** The objects of the entries, under their locks. */
async function lockObjects(tx: Db, items: Item[], { businessId }: FeedRow) {
  const found = new Map<string, StoredObject>()
  for (const objectType of ['CALENDAR', 'CLASS_SCHEDULE'] as const) {
    const kind = kindOfObjectType(objectType)
    const ids = items.flatMap((item) =>
      item.objectType === objectType && item.objectId !== null ? item.objectId : [],
    )
    const named = { ids, externalIds: [], visibility: null }
    for (const object of await lockObjectsForUpdate(tx, businessId, kind, named)) {
      found.set(`${objectType} ${object[kind.id] as number}`, object)
    }
  }
  return (item: Item) => found.get(`${item.objectType} ${item.objectId}`)
}

/** A body to save for an item. `isObject`: it is the object that follows the entry. */
type Planned = {
  item: Item
  objectType: ObjectType
  body: Record<string, unknown>
  isHistory: boolean
  isObject: boolean
}

function planItem(
  item: Item,
  currentOf: (item: Item) => StoredObject | undefined,
  mapping: ReadMapping,
  { isHistory, saving }: Mirroring,
): Planned[] {
  const current = currentOf(item)
  const { entry, mapped, problem, row } = item
  const plan = (
    objectType: ObjectType,
    values: MirroredValues & { active?: boolean },
    more = {},
  ) => {
    const id = kindOfObjectType(objectType).id
    const isSameType = item.objectType === objectType
    const body = isSameType && item.objectId !== null ? { [id]: item.objectId, ...values } : values
    return { item, objectType, body, isHistory: item.isHistory, isObject: true, ...more }
  }
  if (!entry) {
    const begun = row?.startTime && Temporal.Instant.compare(row.startTime, saving.now) <= 0
    if (!current?.active || begun) return []
    const statuses = mapping.statusesOf(item.objectType!)
    const status =
      statusOfWord('deleted', mapping.feed, statuses) ??
      statusOfWord('cancelled', mapping.feed, statuses)
    if (isCancelled(current.status as string, statuses)) return []
    if (status === undefined) {
      item.problem = { state: 'HELD', code: 'unknown-status', reason: NO_CANCELLED_STATUS }
      return []
    }
    item.toApply = { ...item.applied, status }
    return [plan(item.objectType!, { status }, { isHistory })]
  }
  if (problem?.state === 'SKIPPED') {
    return current?.active ? [plan(item.objectType!, { active: false }, { isHistory: true })] : []
  }
  const { objectType, values, isClosed } = mapped!
  if (current && item.objectType === objectType) {
    const statuses = mapping.statusesOf(objectType)
    const applied = row?.objectId ? item.applied : adoptedValues(values, current, statuses)
    const merged = mergeValues({ values, applied, current, statuses, isClosed })
    item.toApply = { ...item.applied, ...values, isClosed }
    return [plan(objectType, { ...merged, active: true })]
  }
  // One that is held has no object of another type either.
  if (problem) return []
  const deletion = current?.active
    ? [plan(item.objectType!, { active: false }, { isHistory: true, isObject: false })]
    : []
  item.objectType = objectType
  item.objectId = null
  item.applied = {}
  item.toApply = { ...values, isClosed }
  const booked = objectType === 'CALENDAR' && entry.createdTime
  const bookedTime = booked ? { bookedTime: booked.epochMilliseconds } : {}
  return [...deletion, plan(objectType, { ...values, ...bookedTime } as MirroredValues)]
}

const NO_CANCELLED_STATUS =
  'It is not in the source any more, and no active status means cancelled: add “deleted” to the status map.'

/** An own appointment that is adopted keeps its status, unless the source says that it is cancelled. */
const adoptedValues = (
  { status }: MirroredValues,
  current: StoredObject,
  statuses: KnownStatus[],
): MirroredValues => ({
  ...(status && !isCancelled(status, statuses) && { status }),
  startTime: (current.startTime as Temporal.Instant).epochMilliseconds,
  clientId: current.clientId as number,
})

type Outcomes = Map<Item, SaveOutcome>

/** Saves the bodies, those with events and those without apart. */
async function saveBodies(
  tx: Db,
  planned: Planned[][],
  { feed, saving }: Mirroring,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map()
  const all = planned.flat()
  for (const objectType of ['CALENDAR', 'CLASS_SCHEDULE'] as const) {
    for (const history of [false, true]) {
      const some = all.filter((one) => one.objectType === objectType && one.isHistory === history)
      if (some.length === 0) continue
      const kind = kindOfObjectType(objectType)
      const bodies = some.map(({ body }) => body)
      const saved = await saveObjects(tx, kind, bodies, { ...saving, history, feedId: feed.feedId })
      for (const [i, { item, isObject }] of some.entries()) {
        if (isObject) outcomes.set(item, saved[i]!)
      }
    }
  }
  return outcomes
}

/** Stores what became of each entry. */
async function writeItems(tx: Db, items: Item[], outcomes: Outcomes, { feed, saving }: Mirroring) {
  const known = new Set(items.flatMap(({ row }) => row?.feedEntryId ?? []))
  const ids = (await drawEntryIds(tx, items.filter(({ row }) => !row).length)).values()
  const rows = items.map((item) => {
    const outcome = outcomes.get(item)
    if (outcome?.refused) {
      item.problem ??= {
        state: 'HELD',
        code: 'refused',
        reason: outcome.refused.message.slice(0, 1_000),
      }
    } else if (outcome) {
      item.objectId = outcome.object[kindOfObjectType(item.objectType!).id] as number
      item.applied = item.toApply ?? item.applied
    }
    return item.row && !item.entry
      ? goneRow(item.row, item, saving.now)
      : entryRow(item, feed, {
          feedEntryId: item.row?.feedEntryId ?? ids.next().value!,
          now: saving.now,
        })
  })
  await writeEntries(tx, rows, known)
  const left = items.flatMap(({ row, entry, resourceKey }) =>
    row && (!entry || row.resourceKey !== resourceKey) ? row.resourceKey : [],
  )
  await deleteEndedResources(tx, feed, left)
  return rows
}

function goneRow(row: EntryRow, { applied, problem }: Item, now: Temporal.Instant): EntryRow {
  const changed = { ...row, changedTime: now }
  if (problem) return { ...changed, ...stateOf(problem) }
  const [reasonCode, reason] = row.absentTime
    ? ['vanished', 'The source does not list it any more.']
    : ['deleted', 'It was deleted in the source.']
  const gone = { state: 'GONE', reasonCode, reason } as const
  return { ...changed, ...gone, applied: { ...applied }, isKept: false, absentTime: null }
}

const stateOf = (problem: EntryProblem | null) => ({
  state: problem?.state ?? ('MIRRORED' as const),
  reasonCode: problem?.code ?? null,
  reason: problem?.reason ?? null,
})

function entryRow(
  item: Item,
  { businessId, feedId }: FeedRow,
  { feedEntryId, now }: { feedEntryId: number; now: Temporal.Instant },
): EntryRow {
  const { row, entry, isStored, mapped, problem, resourceKey, correction } = item
  const { objectType, objectId, applied } = item
  const { key, uid, title, isPrivate, start, end } = entry!
  const { values, clients, decisions } = mapped!
  const isFollowed = objectId !== null
  return {
    businessId,
    feedId,
    feedEntryId,
    entryKey: key,
    resourceKey,
    uid,
    ...stateOf(problem),
    title: isPrivate ? null : title,
    startTime: start,
    endTime:
      end ?? (values.endTime ? Temporal.Instant.fromEpochMilliseconds(values.endTime) : null),
    objectType: isFollowed ? objectType : null,
    objectId,
    source: storeEntry(entry!),
    applied: isFollowed ? { ...applied } : {},
    decisions,
    correction,
    personKeys: clients.map((client) => client.key),
    isKept: isStored && row!.isKept,
    isErased: false,
    absentTime: isStored ? row!.absentTime : null,
    changedTime:
      row?.changedTime && row.state === (problem?.state ?? 'MIRRORED') ? row.changedTime : now,
  }
}

function countOutcomes(
  items: Item[],
  outcomes: Outcomes,
  entries: EntryRow[],
  { directory, statusesOf }: ReadMapping,
): MirrorResult {
  const result = { created: 0, changed: 0, cancelled: 0, unchanged: 0, entries, withAddress: 0 }
  for (const item of items) {
    const outcome = outcomes.get(item)
    if (!outcome || outcome.refused) continue
    if (!outcome.before) result.created += 1
    else if (outcome.object === outcome.before) result.unchanged += 1
    else if (isEnded(item, outcome, statusesOf)) result.cancelled += 1
    else result.changed += 1
    const { clientId, clientIdList = [] } = item.mapped?.values ?? {}
    const ids = clientId === undefined ? clientIdList : [clientId]
    if (ids.some((id) => directory.findById('client', id)?.emailAddress)) result.withAddress += 1
  }
  return result
}

/** It is not in the source any more, or the source says now that it is cancelled. */
function isEnded(
  { entry, objectType }: Item,
  outcome: SaveOutcome,
  statusesOf: ReadMapping['statusesOf'],
) {
  if (!entry) return true
  if (outcome.refused || !outcome.before) return false
  const { before, object } = outcome
  const statuses = statusesOf(objectType!)
  const [was, is] = [before, object].map(({ status }) => isCancelled(status as string, statuses))
  return Boolean(is && !was)
}
