import { externalName, type ObjectInput } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import type { Fault } from '../errors.ts'
import { listFeedNames } from '../store/feeds.ts'
import { lockActiveFiles, type StoredFile } from '../store/files.ts'
import {
  listReferredObjects,
  type ReferredObject,
  type StoredObject,
  type WantedReferences,
} from '../store/objects.ts'
import { readSettingsVersions, type NamesSettings, type SaveSettings } from '../store/settings.ts'
import type { Tags } from '../store/subject.ts'
import { resolveNames } from './line-refs.ts'
import type { Saving } from './saving.ts'

/** The existing objects of the business that the objects of a save refer to. */
export type References = {
  settings: SaveSettings
  has(kind: string, id: number | string): boolean
  tagsOf(clientId: unknown): Tags | null
  campaignEndOf(invitationCampaignId: unknown): Temporal.Instant | null
  /** The files that templates attach, by their UUIDs. */
  files: Map<string, StoredFile>
  /** The names of the feeds that mirror the current objects. */
  feedNames: Map<number, string>
}

/**
 * Reads the objects that the inputs and the current objects refer to. A reference may be given by its
 * `externalId` (`clientExternalId` for `clientId`); its id, or a fault, is added to the input.
 */
export async function resolveReferences(
  tx: Db,
  kind: ObjectKind,
  inputs: ObjectInput[],
  current: StoredObject[],
  { businessId, settings: cache, visibility = null }: Saving,
): Promise<References> {
  const [[version], referred, files, feedNames] = await Promise.all([
    readSettingsVersions(tx, [businessId]),
    listReferredObjects(tx, businessId, wantedReferences(kind, inputs, current), visibility),
    lockAttachedFiles(tx, businessId, kind, [...inputs.map(({ values }) => values), ...current]),
    listFeedNames(tx, businessId, [...new Set(current.flatMap(mirroringFeedOf))]),
  ])
  fillExternalReferences(kind, inputs, referred)
  const named = namedSettings(kind, businessId, [...inputs.map(({ values }) => values), ...current])
  const settings = await cache.readForSave(tx, version!, named)
  const byId = new Map(referred.map((object) => [`${object.kind} ${object.id}`, object]))
  return {
    settings,
    has: (refersTo, id) =>
      byId.has(`${refersTo} ${id}`) ||
      (typeof id === 'number' && (settingsOf(refersTo, settings)?.has(id) ?? false)),
    tagsOf: (clientId) => byId.get(`client ${String(clientId)}`)?.tags ?? null,
    campaignEndOf: (campaignId) =>
      byId.get(`invitationCampaign ${String(campaignId)}`)?.expiresTime ?? null,
    files: new Map(files.map((file) => [file.fileUUId, file])),
    feedNames,
  }
}

const mirroringFeedOf = ({ feedId }: StoredObject) => (typeof feedId === 'number' ? feedId : [])

async function lockAttachedFiles(
  tx: Db,
  businessId: number,
  { kind }: ObjectKind,
  templates: Record<string, unknown>[],
) {
  if (kind !== 'emailTemplate') return []
  const named = templates.flatMap((template) => (template.attachFileLibraryUUids ?? []) as string[])
  return named.length === 0 ? [] : lockActiveFiles(tx, businessId, [...new Set(named)])
}

/** The part of the settings that holds objects of this kind. */
function settingsOf(kind: string, { locations, professionals, services }: SaveSettings) {
  switch (kind) {
    case 'location':
      return locations
    case 'professional':
      return professionals
    case 'reason':
      return services
    default:
      return undefined
  }
}

const IN_SETTINGS = ['location', 'professional', 'reason']
/** Triggers depend on these, even if the body does not name them. */
const READ_OF_CURRENT = ['client', 'invitationCampaign']

function wantedReferences(kind: ObjectKind, inputs: ObjectInput[], current: StoredObject[]) {
  const wanted: WantedReferences = new Map()
  for (const { property, refersTo } of kind.references) {
    const target = objectKind(refersTo)!
    const { ids, externalIds } = wanted.get(target) ?? { ids: new Set(), externalIds: new Set() }
    for (const { values, externals } of inputs) {
      if (!IN_SETTINGS.includes(refersTo)) for (const id of idsIn(values[property])) ids.add(id)
      for (const externalId of [externals?.[property] ?? []].flat()) externalIds.add(externalId)
    }
    if (kind.objectType && READ_OF_CURRENT.includes(refersTo) && !property.endsWith('List')) {
      for (const object of current) for (const id of idsIn(object[property])) ids.add(id)
    }
    if (ids.size + externalIds.size > 0) wanted.set(target, { ids, externalIds })
  }
  return wanted
}

function namedSettings(
  kind: ObjectKind,
  businessId: number,
  objects: Record<string, unknown>[],
): NamesSettings[] {
  return kind.references
    .filter(({ refersTo }) => IN_SETTINGS.includes(refersTo))
    .flatMap(({ property, refersTo }) =>
      objects
        .flatMap((object) => idsIn(object[property]))
        .map((id) => ({ businessId, [`${refersTo}Id`]: id })),
    )
}

const idsIn = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).filter(
    (id): id is number | string => typeof id === 'number' || typeof id === 'string',
  )

function fillExternalReferences(
  kind: ObjectKind,
  inputs: ObjectInput[],
  referred: ReferredObject[],
) {
  const idOf = new Map(referred.map(({ kind, externalId, id }) => [`${kind} ${externalId}`, id]))
  for (const { property, refersTo } of kind.references) {
    for (const { externals, values, faults } of inputs) {
      const named = externals?.[property]
      if (named === undefined) continue
      const found = resolveNames(named, (externalId) => idOf.get(`${refersTo} ${externalId}`))
      for (const externalId of new Set(found.missing)) {
        const index = Array.isArray(named) ? `/${named.indexOf(externalId)}` : ''
        const detail = `there is no ${objectKind(refersTo)!.title} with the externalId ${externalId}`
        faults.push({ pointer: `/${externalName(property)}${index}`, detail })
      }
      if (found.missing.length > 0) continue
      values[property] = Array.isArray(found.ids) ? [...new Set(found.ids)] : found.ids
    }
  }
}

/**
 * A missing id, an id of another business, and one that the caller does not see cause the same fault. A
 * reference by id that stays as it was is none: the caller may not see it.
 */
export function unknownReferences(
  kind: ObjectKind,
  body: unknown,
  { values }: ObjectInput,
  before: StoredObject | undefined,
  references: References,
): Fault[] {
  return kind.references.flatMap(({ property, refersTo }) => {
    if (before && before[property] === values[property]) return []
    const isList = Array.isArray(values[property])
    const unknown = idsIn(values[property]).filter((id) => !references.has(refersTo, id))
    // In the body, an id may be listed twice.
    const given = isList ? (body as Record<string, (number | string)[]>)[property]! : []
    return unknown.map((id) => ({
      pointer: isList ? `/${property}/${given.indexOf(id)}` : `/${property}`,
      detail: `there is no ${objectKind(refersTo)!.title} ${id}`,
    }))
  })
}
