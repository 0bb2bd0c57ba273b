import { kindNamed } from '../contract/event-definition.ts'
import { refName, textRefName } from '../contract/object-body.ts'
import { OBJECT_KINDS, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { getBusiness, type BusinessRow } from '../store/businesses.ts'
import { listAllActions } from '../store/event-actions.ts'
import { listAllDefinitions, type StoredDefinition } from '../store/event-definitions.ts'
import {
  listReferredIds,
  streamObjects,
  type ExportedObject,
  type ReferredIds,
} from '../store/exported-objects.ts'
import { listAllFiles, readContent, type StoredFile } from '../store/files.ts'
import { OWN_FIELDS } from './business.ts'
import { withItemRefs } from './inner-references.ts'
import { originOf } from './origins.ts'
import { pagesOf } from '../store/pages.ts'
import { listAllStatuses } from '../store/statuses.ts'
import { listSuppressions, positionOf, type Suppression } from '../store/suppressions.ts'

export type ExportLine = { kind: string } & Record<string, unknown>

/**
 * Writes one snapshot of a business as lines that can be imported. Lines refer to each other by their
 * position and not by id, so that exporting an import gives the same lines, except for their `origin`. `begin` may be called again: a
 * replica can cancel a snapshot.
 */
export async function exportBusiness(
  db: Db,
  businessId: number,
  begin: () => Promise<(lines: ExportLine[]) => Promise<void>>,
) {
  await db.snapshot(async (tx) => {
    const write = await begin()
    const business = await getBusiness(tx, businessId)
    await write([businessLine(business)])
    await write((await listAllStatuses(tx, [businessId])).map(statusLine))
    const files = await listAllFiles(tx, businessId)
    for (const file of files) await write([await fileLine(tx, file)])

    const refs = new Refs(await listReferredIds(tx, businessId), files)
    for (const kind of OBJECT_KINDS) {
      for await (const page of streamObjects(tx, businessId, kind)) {
        await write(page.map((object) => objectLine(kind, object, refs, business)))
      }
    }
    await write(await definitionLines(tx, businessId, refs))
    const suppressions = pagesOf(500, (last: Suppression | undefined) =>
      listSuppressions(tx, businessId, { after: last && positionOf(last), limit: 500 }),
    )
    for await (const page of suppressions) {
      await write(
        page.map(({ emailAddress: address, reason, detail, emailCategoryId, createdDate }) => ({
          kind: 'suppression',
          emailAddress: address,
          reason,
          detail,
          ...(emailCategoryId === null
            ? {}
            : { emailCategoryRef: refs.refFor('emailCategory', emailCategoryId) }),
          createdDate: createdDate.epochMilliseconds,
        })),
      )
    }
  })
}

/** Files keep their UUIDs, which are unique in a business, because templates and the logo name them. */
async function fileLine(tx: Db, { businessId, fileUUId, name, active }: StoredFile) {
  const bytes = await readContent(tx, businessId, fileUUId)
  return { kind: 'fileLibrary', fileUUId, name, active, content: bytes!.toString('base64') }
}

const businessLine = (business: BusinessRow) => {
  const fields = new Map<string, unknown>(Object.entries(business))
  return {
    kind: 'business',
    ...Object.fromEntries(OWN_FIELDS.map((field) => [field, fields.get(field)])),
  }
}

/** The objects that were written, each with the number of its line within its kind. */
class Refs {
  readonly #places = new Map<string, Map<unknown, number>>()
  readonly #counts = new Map<string, number>()
  readonly #referred: ReferredIds

  readonly #files: Set<unknown>

  constructor(referred: ReferredIds, files: StoredFile[]) {
    this.#referred = referred
    this.#files = new Set(files.map(({ fileUUId }) => fileUUId))
  }

  /** Keeps only files that were written: a template may name others, which were never stored here. */
  withLines(fileUUIds: unknown[]) {
    return fileUUIds.filter((fileUUId) => this.#files.has(fileUUId))
  }

  /** The ref of a line; undefined if nothing refers to its object, as for most appointments. */
  assign(kind: ObjectKind, id: unknown): string | undefined {
    const place = (this.#counts.get(kind.kind) ?? 0) + 1
    this.#counts.set(kind.kind, place)
    if (!this.#isNamed(kind, id)) return undefined
    if (!this.#places.has(kind.kind)) this.#places.set(kind.kind, new Map())
    this.#places.get(kind.kind)!.set(id, place)
    return refOf(kind.kind, place)
  }

  #isNamed({ kind }: ObjectKind, id: unknown) {
    const referred = this.#referred[kind as keyof ReferredIds] as Set<unknown> | undefined
    return referred ? referred.has(id) : NAMED.has(kind)
  }

  has(kind: string, id: unknown) {
    return this.#places.get(kind)?.has(id) ?? false
  }

  /** Whether the text is the id of an object that was written. */
  hasText(kind: string, text: unknown) {
    return String(Number(text)) === text && this.has(kind, Number(text))
  }

  refFor(kind: string, id: unknown) {
    const place = this.#places.get(kind)?.get(id)
    if (place === undefined) throw new Error(`no line was written for ${kind} ${String(id)}`)
    return refOf(kind, place)
  }
}

const refOf = (kind: string, place: number) => `${kind}-${place}`

const NAMED = new Set([
  ...OBJECT_KINDS.flatMap(({ references }) => references.map(({ refersTo }) => refersTo)),
  'classSchedule',
  'recall',
  'emailTemplate',
])

function objectLine(
  kind: ObjectKind,
  object: ExportedObject,
  refs: Refs,
  business: BusinessRow,
): ExportLine {
  const line: ExportLine = { kind: kind.kind }
  const ref = refs.assign(kind, object[kind.id])
  if (ref) line.ref = ref
  line.origin = originOf(business, object[kind.id])
  if (object.externalId !== null) line.externalId = object.externalId
  for (const [property, field] of Object.entries(kind.fields)) {
    const { refersTo, textRefersTo, itemsReferTo, isServerOwned } = field
    if (isServerOwned) continue
    const value = object[property]
    if (itemsReferTo) {
      line[property] = withItemRefs(itemsReferTo, value, (id) =>
        refs.refFor(itemsReferTo.refersTo, id),
      )
      continue
    }
    if (refersTo && value !== null) {
      line[refName(property)] = Array.isArray(value)
        ? value.map((id) => refs.refFor(refersTo, id))
        : refs.refFor(refersTo, value)
    } else if (textRefersTo && refs.hasText(textRefersTo, value)) {
      line[textRefName(property)] = refs.refFor(textRefersTo, Number(value))
    } else if (property === 'attachFileLibraryUUids') {
      line[property] = refs.withLines(value as unknown[])
    } else line[property] = value
  }
  line.active = object.active
  line.createdDate = object.createdDate
  return line
}

type Statuses = Awaited<ReturnType<typeof listAllStatuses>>

const statusLine = ({
  objectType,
  status,
  label,
  outcome,
  live,
  liveAfter,
  active,
}: Statuses[number]) => ({
  kind: 'status',
  objectType,
  status,
  label,
  outcome,
  live,
  liveAfter,
  active,
})

async function definitionLines(tx: Db, businessId: number, refs: Refs): Promise<ExportLine[]> {
  const [definitions, actions] = await Promise.all([
    listAllDefinitions(tx, businessId),
    listAllActions(tx, businessId),
  ])
  const actionsOf = Map.groupBy(actions, (action) => action.eventDefnId)
  return definitions.map((definition) => ({
    ...definitionLine(definition, refs),
    eventActions: (actionsOf.get(definition.eventDefnId) ?? []).map((action) => ({
      actionType: action.actionType,
      active: action.active,
      emailTemplateRef: refs.refFor('emailTemplate', action.emailTemplateId),
      ...(action.emailCategoryId === null
        ? {}
        : { emailCategoryRef: refs.refFor('emailCategory', action.emailCategoryId) }),
      ...(action.recipient === null ? {} : { recipient: { value: action.recipient } }),
    })),
  }))
}

function definitionLine(definition: StoredDefinition, refs: Refs): ExportLine {
  const { eventTypeId, objectType, objectId, objectUUId } = definition
  const list = (property: (typeof LISTS)[number]) => [
    refName(property),
    definition[property].map((id) => refs.refFor(property.replace('IdList', ''), id)),
  ]
  return {
    kind: 'eventDefinition',
    active: definition.active,
    description: definition.description,
    eventType: { eventTypeId },
    objectType,
    ...(objectId === null ? {} : { objectRef: refs.refFor(kindNamed(definition), objectId) }),
    ...(refs.has('invitation', objectUUId)
      ? { objectUURef: refs.refFor('invitation', objectUUId) }
      : { objectUUId }),
    oldStatus: definition.oldStatus,
    newStatus: definition.newStatus,
    ...Object.fromEntries(LISTS.map(list)),
    groupIdList: definition.groupIdList,
    filterTagMapJson: definition.filterTagMapJson,
    triggerMonths: definition.triggerMonths,
    triggerHours: definition.triggerHours,
    triggerMinutes: definition.triggerMinutes,
    offsetMode: definition.offsetMode,
    latePolicy: definition.latePolicy,
    allowPast: definition.allowPast,
    triggerAnchor: definition.triggerAnchor,
    changes: definition.changes,
    onlyIfStatus: definition.onlyIfStatus,
  }
}

const LISTS = [
  'locationIdList',
  'professionalIdList',
  'reasonIdList',
  'disclaimerFormIdList',
] as const
