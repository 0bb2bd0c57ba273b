import { OBJECT_TYPES, type ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType, toColumn } from '../contract/objects.ts'
import { raw } from '../database/sql.ts'

/** `key` is the column of triggers and emails that refers to the object; `otherKey` is then null. */
export function tableOf(objectType: ObjectType) {
  const { table, id, fields } = kindOfObjectType(objectType)
  const isInvitation = objectType === 'INVITATION'
  return {
    objectType,
    table: raw(table),
    id: raw(toColumn(id)),
    idType: raw(isInvitation ? 'text' : 'bigint'),
    key: raw(isInvitation ? 'object_uuid' : 'object_id'),
    otherKey: raw(isInvitation ? 'object_id' : 'object_uuid'),
    hasClient: 'clientId' in fields,
    hasLocation: 'locationId' in fields,
  }
}

export const OBJECT_TABLES = OBJECT_TYPES.map(tableOf)
