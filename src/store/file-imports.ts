import type { ObjectKind } from '../contract/objects.ts'
import { objectKind, toColumn } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import type { By } from './rows.ts'
import type { StoredObject } from './objects.ts'

export type FileImport = {
  fileImportId: number
  fileName: string | null
  kind: string
  objects: number
  createdDate: Temporal.Instant
  createdUser: string
  undoneDate: Temporal.Instant | null
  undoneUser: string | null
}

export async function insertFileImport(
  db: Db,
  businessId: number,
  { fileName, kind }: { fileName: string | undefined; kind: string },
  { user, now }: By,
) {
  const row = await db.getRow<{ fileImportId: number }>(sql`
    insert into file_import (business_id, file_name, kind, created_date, created_user)
    values (${businessId}, ${fileName ?? null}, ${kind}, ${now}, ${user})
    returning file_import_id as "fileImportId"`)
  return row.fileImportId
}

type ImportKey = { businessId: number; fileImportId: number }

type ImportedObject =
  | { refused: Error }
  | { refused?: never; object: StoredObject; before: StoredObject | undefined }

/** Records what a window of an import has created or changed. An object may be written several times. */
export async function insertImportedObjects(
  tx: Db,
  { businessId, fileImportId }: ImportKey,
  kind: ObjectKind,
  outcomes: ImportedObject[],
) {
  const changes = outcomes.flatMap((outcome) =>
    outcome.refused || outcome.object === outcome.before ? [] : outcome,
  )
  if (changes.length === 0) return
  await tx.query(sql`
    insert into file_import_object as o
      (business_id, file_import_id, kind, object_id, version_before, version)
    select ${businessId}, ${fileImportId}, ${kind.kind}, id,
           case when bool_and(before is not null) then min(before) end, max(version)
    from unnest(${changes.map(({ object }) => String(object[kind.id]))}::text[],
                ${changes.map(({ before }) => before?.version ?? null)}::bigint[],
                ${changes.map(({ object }) => object.version)}::bigint[]) as c (id, before, version)
    group by id
    on conflict (business_id, file_import_id, kind, object_id) do update set version = excluded.version`)
}

/** Imports since a time, newest first. */
export const listFileImports = (db: Db, businessId: number, since: Temporal.Instant) =>
  db.query<FileImport>(sql`
    select i.file_import_id as "fileImportId", i.file_name as "fileName", i.kind,
           (select count(*) from file_import_object o
            where o.business_id = i.business_id and o.file_import_id = i.file_import_id) as objects,
           i.created_date as "createdDate", i.created_user as "createdUser",
           i.undone_date as "undoneDate", i.undone_user as "undoneUser"
    from file_import i
    where i.business_id = ${businessId} and i.created_date > ${since}
    order by i.file_import_id desc limit 100`)

export const findFileImport = (db: Db, { businessId, fileImportId }: ImportKey) =>
  db.findRow<{
    createdDate: Temporal.Instant
    undoneDate: Temporal.Instant | null
  }>(sql`
    select created_date as "createdDate", undone_date as "undoneDate" from file_import
    where business_id = ${businessId} and file_import_id = ${fileImportId}`)

export const markUndone = (db: Db, { businessId, fileImportId }: ImportKey, { user, now }: By) =>
  db.query(sql`
    update file_import set undone_date = ${now}, undone_user = ${user}
    where business_id = ${businessId} and file_import_id = ${fileImportId} and undone_date is null`)

/** Whether a mail about an object of the import has left since, or may have. */
export async function wasSomethingSent(
  db: Db,
  { businessId, fileImportId }: ImportKey,
  since: Temporal.Instant,
) {
  const row = await db.getRow<{ sent: boolean }>(sql`
    select exists (
      select from email e
      join file_import_object o on o.business_id = e.business_id
        and o.file_import_id = ${fileImportId} and o.object_id = coalesce(e.object_uuid, e.object_id::text)
        and o.kind = case e.object_type when 'CALENDAR' then 'calendar'
          when 'CLASS_SCHEDULE' then 'classSchedule' else lower(e.object_type) end
      where e.business_id = ${businessId} and e.created_date >= ${since}
        and e.status in ('SENT', 'UNCERTAIN')) as sent`)
  return row.sent
}

export type UndoableObject = {
  kind: string
  id: string
  versionBefore: number | null
  version: number
}

/** Objects of an import that are not undone yet: those that refer to others first. */
export const listUndoableObjects = (
  db: Db,
  { businessId, fileImportId }: ImportKey,
  { kind, after, limit }: { kind: string; after: string; limit: number },
) =>
  db.query<UndoableObject>(sql`
    select kind, object_id as id, version_before as "versionBefore", version
    from file_import_object
    where business_id = ${businessId} and file_import_id = ${fileImportId} and kind = ${kind}
      and object_id > ${after}
    order by object_id limit ${limit}`)

export const deleteImportedObjects = (
  tx: Db,
  { businessId, fileImportId }: ImportKey,
  kind: string,
  ids: string[],
) =>
  tx.query(sql`
    delete from file_import_object
    where business_id = ${businessId} and file_import_id = ${fileImportId} and kind = ${kind}
      and object_id = any (${ids}::text[])`)

/** The properties of objects as they were at a version, from the audit. */
export async function readVersions(
  db: Db,
  businessId: number,
  kind: ObjectKind,
  wanted: { id: string; version: number }[],
): Promise<Map<string, Record<string, unknown>>> {
  const rows = await db.query<{ id: string; after: Record<string, unknown> }>(sql`
    select a.id, a.after
    from unnest(${wanted.map(({ id }) => id)}::text[], ${wanted.map(({ version }) => version)}::bigint[])
      as w (id, version)
    join audit a on a.business_id = ${businessId} and a.object = ${kind.kind} and a.id = w.id
      and (a.after ->> 'version')::bigint = w.version`)
  return new Map(rows.map(({ id, after }) => [id, propertiesOf(kind, after)]))
}

function propertiesOf(kind: ObjectKind, row: Record<string, unknown>) {
  const properties: Record<string, unknown> = { active: row.active, externalId: row.external_id }
  for (const [property, field] of Object.entries(kind.fields)) {
    const value = row[toColumn(property)]
    if (value === undefined) continue
    properties[property] =
      field.instant && typeof value === 'string'
        ? Temporal.Instant.from(value).epochMilliseconds
        : value
  }
  return properties
}

/** Of these clients, services, members of staff or locations, those that live objects refer to. */
export async function listReferredIds(tx: Db, businessId: number, kind: string, ids: string[]) {
  const column = raw(`${kind}_id`)
  const inClasses =
    kind === 'client'
      ? sql`or exists (select from class_schedule t where t.business_id = ${businessId} and t.active
              and w.id = any (t.client_id_list))`
      : sql``
  const rows = await tx.query<{ id: string }>(sql`
    select w.id::text as id from unnest(${ids}::bigint[]) as w (id)
    where exists (select from calendar t
                  where t.business_id = ${businessId} and t.active and t.${column} = w.id) ${inClasses}`)
  return new Set(rows.map(({ id }) => id))
}

export const isReferredKind = (kind: string) =>
  ['client', 'reason', 'professional', 'location'].includes(objectKind(kind)?.kind ?? '')

/** Deletes records of imports that cannot be undone any more. Returns how many. */
export async function deleteOldFileImports(engine: Db, before: Temporal.Instant, limit: number) {
  const rows = await engine.query(sql`
    delete from file_import i
    using (select business_id, file_import_id from file_import where created_date < ${before}
           limit ${limit}) old
    where i.business_id = old.business_id and i.file_import_id = old.file_import_id
    returning i.file_import_id`)
  return rows.length
}
