import type { LibraryFile } from '../contract/file-library.ts'
import type { Db } from '../database/database.ts'
import type { By, Stored } from './rows.ts'
import { empty, sql, type Sql } from '../database/sql.ts'

export type StoredFile = Stored<LibraryFile>

export type HashedFile = StoredFile & { sha256: string }

const columns = sql`
  file_uuid as "fileUUId", business_id as "businessId", name, type, size, active, version,
  created_date as "createdDate", created_user as "createdUser", modified_date as "modifiedDate",
  modified_user as "modifiedUser"`

export function listFiles(
  db: Db,
  businessId: number,
  { after, limit }: { after: [string, string] | undefined; limit: number },
) {
  return db.query<StoredFile>(sql`
    select ${columns} from file_library
    where business_id = ${businessId} and active
      ${after ? sql`and (created_date, file_uuid) > (${after[0]}::timestamptz, ${after[1]})` : empty}
    order by created_date, file_uuid limit ${limit}`)
}

/** Every file whose content is stored, also deleted ones. */
export const listAllFiles = (db: Db, businessId: number) =>
  db.query<StoredFile>(sql`
    select ${columns} from file_library
    where business_id = ${businessId} and ${hasContent} order by file_uuid`)

const hasContent = sql`
  exists (select from file_content c where (c.business_id, c.file_uuid)
                                         = (file_library.business_id, file_library.file_uuid))`

export const findFile = (db: Db, businessId: number, fileUUId: string) =>
  db.findRow<StoredFile>(sql`
    select ${columns} from file_library
    where business_id = ${businessId} and file_uuid = ${fileUUId}`)

/** Locks a file against other changes, and against saves that refer to it. */
export const lockFile = (tx: Db, businessId: number, fileUUId: string) =>
  tx.findRow<HashedFile>(sql`
    select ${columns}, sha256 from file_library
    where business_id = ${businessId} and file_uuid = ${fileUUId} for update`)

/** The active ones of these files, locked against deletion. */
export const lockActiveFiles = (tx: Db, businessId: number, fileUUIds: string[]) =>
  tx.query<StoredFile>(sql`
    select ${columns} from file_library
    where business_id = ${businessId} and file_uuid = any (${fileUUIds}::text[]) and active
    order by file_uuid for share`)

export type NewFile = Pick<StoredFile, 'businessId' | 'fileUUId' | 'name' | 'type' | 'active'> & {
  bytes: Buffer
  sha256: string
}

export async function insertFile(tx: Db, file: NewFile, { user, now }: By) {
  const { businessId, fileUUId, bytes } = file
  const stored = await tx.getRow<StoredFile>(sql`
    insert into file_library (business_id, file_uuid, name, type, size, sha256, active,
                              created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${fileUUId}, ${file.name}, ${file.type}, ${bytes.length},
            ${file.sha256}, ${file.active}, ${now}, ${user}, ${now}, ${user})
    returning ${columns}`)
  await tx.query(sql`
    insert into file_content (business_id, file_uuid, bytes)
    values (${businessId}, ${fileUUId}, ${bytes})`)
  return stored
}

export const updateFile = (
  tx: Db,
  { businessId, fileUUId, name, active }: Omit<NewFile, 'type' | 'bytes' | 'sha256'>,
  { user, now }: By,
) =>
  tx.getRow<StoredFile>(sql`
    update file_library
    set name = ${name}, active = ${active}, version = version + 1, modified_date = ${now},
        modified_user = ${user}
    where business_id = ${businessId} and file_uuid = ${fileUUId}
    returning ${columns}`)

/** Undefined if there is no such file, or if its content was deleted. */
export async function readContent(db: Db, businessId: number, fileUUId: string) {
  const content = await db.findRow<{ bytes: Buffer }>(sql`
    select bytes from file_content
    where business_id = ${businessId} and file_uuid = ${fileUUId}`)
  return content?.bytes
}

export async function countContents(db: Db, businessId: number, fileUUIds: string[]) {
  const row = await db.getRow<{ count: number }>(sql`
    select count(*) as count from file_content
    where business_id = ${businessId} and file_uuid = any (${fileUUIds}::text[])`)
  return row.count
}

export async function sumFileSizes(db: Db, businessId: number) {
  const row = await db.getRow<{ bytes: number }>(sql`
    select coalesce(sum(size), 0)::bigint as bytes from file_library
    where business_id = ${businessId} and ${hasContent}`)
  return row.bytes
}

/** The names of active templates that use a file, and whether it is the logo. */
export const findFileUses = (tx: Db, businessId: number, fileUUId: string) =>
  tx.getRow<{ templates: string[]; isLogo: boolean }>(sql`
    select array(select template_name from email_template
                 where business_id = ${businessId} and active
                   and attach_file_library_uuids @> array[${fileUUId}]
                 order by email_template_id limit 5) as templates,
           exists (select from business
                   where business_id = ${businessId} and logo = ${fileUUId}) as "isLogo"`)

/**
 * Deletes the content of files that were deleted before this time, unless a queued mail may refer to
 * them. Returns how many.
 */
export async function forgetContents(engine: Db, before: Temporal.Instant, limit: number) {
  const rows = await engine.query(sql`
    delete from file_content c
    using (select f.business_id, f.file_uuid from file_library f
           join file_content using (business_id, file_uuid)
           where not f.active and f.modified_date < ${before}
             and not exists (select from email_queue q where q.business_id = f.business_id
                               and q.created_date <= f.modified_date)
           limit ${limit}) old
    where (c.business_id, c.file_uuid) = (old.business_id, old.file_uuid)
    returning c.file_uuid`)
  return rows.length
}

/** The attachments of a template `t`, in the order in which it names them. */
export const attachmentsOfTemplate: Sql = sql`
  case when t.attach_file_library_uuids = '{}' then null else (
    select jsonb_agg(jsonb_build_object('fileUUId', f.file_uuid, 'name', f.name, 'type', f.type,
                                        'size', f.size) order by n.place)
    from unnest(t.attach_file_library_uuids) with ordinality as n (file_uuid, place)
    join file_library f on f.business_id = t.business_id and f.file_uuid = n.file_uuid and f.active
  ) end`
