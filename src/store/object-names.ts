import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { tableOf } from './object-tables.ts'
import { objectIdOf } from './subject.ts'

/** The names by which people recognise an object: client, staff, service, location and time. */
export type ObjectNames = {
  clientId: number | null
  clientName: string | null
  professionalName: string | null
  reasonName: string | null
  locationId: number | null
  locationName: string | null
  /** The name of a class, a campaign or a form. */
  objectName: string | null
  /** When it starts, is due or expires. */
  objectTime: Temporal.Instant | null
  objectStatus: string | null
}

export type ObjectReference = {
  objectType: ObjectType | null
  objectId: number | null
  objectUUId: string | null
}

export type DescribedObject = ObjectNames & KnownReference

type KnownReference = ObjectReference & { objectType: ObjectType }

const NO_NAMES: ObjectNames = {
  clientId: null,
  clientName: null,
  professionalName: null,
  reasonName: null,
  locationId: null,
  locationName: null,
  objectName: null,
  objectTime: null,
  objectStatus: null,
}

export async function readObjectNames(
  db: Db,
  businessId: number,
  references: ObjectReference[],
): Promise<(reference: ObjectReference) => ObjectNames> {
  const byType = Map.groupBy(references, ({ objectType }) => objectType)
  const found = new Map<string, ObjectNames>()
  await Promise.all(
    [...byType].map(async ([objectType, group]) => {
      if (objectType === null) return
      const rows = await listNamesOfType(db, businessId, objectType, group.map(textIdOf))
      for (const { id, ...names } of rows) found.set(`${objectType} ${id}`, names)
    }),
  )
  return (reference) => found.get(`${reference.objectType} ${textIdOf(reference)}`) ?? NO_NAMES
}

/** Adds the names of each object, in the same order. */
export async function describeObjects(
  db: Db,
  businessId: number,
  references: KnownReference[],
): Promise<DescribedObject[]> {
  const namesOf = await readObjectNames(db, businessId, references)
  return references.map((reference) => {
    const { objectType, objectId, objectUUId } = reference
    return { objectType, objectId, objectUUId, ...namesOf(reference) }
  })
}

const textIdOf = (reference: ObjectReference) => String(objectIdOf(reference))

function listNamesOfType(db: Db, businessId: number, objectType: ObjectType, ids: string[]) {
  const { table, id, idType } = tableOf(objectType)
  const { columns, joins } = NAMES[objectType]
  return db.query<ObjectNames & { id: string }>(sql`
    select o.${id}::text as id, o.status as "objectStatus", ${columns}
    from ${table} o ${joins}
    where o.business_id = ${businessId} and o.${id} = any (${[...new Set(ids)]}::text[]::${idType}[])`)
}

const NO_CLIENT = sql`null::bigint as "clientId", null as "clientName"`
const NO_PLACE = sql`
  null as "professionalName", null as "reasonName", null::bigint as "locationId",
  null as "locationName"`

const CLIENT = sql`o.client_id as "clientId", c.first_name || ' ' || c.last_name as "clientName"`
const WITH_CLIENT = sql`
  left join client c on c.business_id = o.business_id and c.client_id = o.client_id`

const PLACE = sql`
  p.first_name || ' ' || p.last_name as "professionalName", r.name as "reasonName",
  o.location_id as "locationId", l.name as "locationName"`
const WITH_PLACE = sql`
  left join professional p on p.business_id = o.business_id and p.professional_id = o.professional_id
  left join reason r on r.business_id = o.business_id and r.reason_id = o.reason_id
  left join location l on l.business_id = o.business_id and l.location_id = o.location_id`

const NAMES: Record<ObjectType, { columns: Sql; joins: Sql }> = {
  CALENDAR: {
    columns: sql`${CLIENT}, ${PLACE}, null as "objectName", o.start_time as "objectTime"`,
    joins: sql`${WITH_CLIENT} ${WITH_PLACE}`,
  },
  CLASS_SCHEDULE: {
    columns: sql`${NO_CLIENT}, ${PLACE}, o.name as "objectName", o.start_time as "objectTime"`,
    joins: WITH_PLACE,
  },
  INVITATION: {
    columns: sql`
      ${CLIENT}, ${NO_PLACE}, g.name as "objectName",
      coalesce(o.expires_time, g.expires_time) as "objectTime"`,
    joins: sql`${WITH_CLIENT}
      left join invitation_campaign g
        on g.business_id = o.business_id and g.invitation_campaign_id = o.invitation_campaign_id`,
  },
  RECALL: {
    columns: sql`${CLIENT}, ${PLACE}, null as "objectName", o.due_time as "objectTime"`,
    joins: sql`${WITH_CLIENT} ${WITH_PLACE}`,
  },
  DISCLAIMER: {
    columns: sql`${CLIENT}, ${NO_PLACE}, f.name as "objectName", o.created_date as "objectTime"`,
    joins: sql`${WITH_CLIENT}
      left join disclaimer_form f
        on f.business_id = o.business_id and f.disclaimer_form_id = o.disclaimer_form_id`,
  },
}
