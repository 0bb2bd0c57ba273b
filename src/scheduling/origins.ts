import { isId } from '../contract/json.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import type { BusinessRow } from '../store/businesses.ts'
import { listCreations } from '../store/exported-objects.ts'
import type { LineBody } from './earlier-lines.ts'

export type OriginBusiness = Pick<BusinessRow, 'businessId' | 'createdDate'>

/**
 * Names the object of an exported line, so that importing the line into the same business finds it. Ids
 * repeat in other installations; a business that was created in the same millisecond does not.
 */
export const originOf = (business: OriginBusiness, id: unknown) => prefixOf(business) + String(id)

const prefixOf = ({ businessId, createdDate }: OriginBusiness) =>
  `${businessId}-${createdDate.epochMilliseconds}-`

type Found = { body: LineBody } | { fault: string }

/**
 * Lines without an externalId get the ids of the objects that they came from, as far as these are in this
 * business. Ids repeat in a restored copy of it, so the object must have been created when the line says.
 */
export async function withKnownObjects(
  db: Db,
  kind: ObjectKind,
  bodies: LineBody[],
  business: BusinessRow,
): Promise<Found[]> {
  const ids = bodies.map(({ origin }) => idOfOrigin(kind, origin, business))
  const wanted = ids.filter((id) => id !== undefined)
  const creations = await listCreations(db, business.businessId, kind, wanted)
  const byId = new Map(creations.map((creation) => [creation.id, creation]))
  return bodies.map((body, i) => {
    const known = byId.get(ids[i]!)
    if (!known || known.createdDate !== body.createdDate) return { body }
    // An export of after the erasure has the client as it is.
    if (known.isErased && body.firstName !== 'Erased') return { fault: WAS_ERASED }
    const { externalId = null, [kind.id]: given = null } = body
    return { body: externalId === null && given === null ? { ...body, [kind.id]: known.id } : body }
  })
}

const WAS_ERASED = '/origin: this client was erased. Remove the line'

/** The id in the origin of a line, if it is of this business. */
export function idOfOrigin(kind: ObjectKind, origin: unknown, business: OriginBusiness) {
  const prefix = prefixOf(business)
  if (typeof origin !== 'string' || !origin.startsWith(prefix)) return undefined
  const id = origin.slice(prefix.length)
  if (kind.id === 'invitationUUID') return /^[a-z0-9]{32}$/.test(id) ? id : undefined
  return isId(Number(id)) ? Number(id) : undefined
}
