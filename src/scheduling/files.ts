import { createHash, randomUUID } from 'node:crypto'
import {
  FILE_BODY,
  MAX_ATTACHED_BYTES,
  MAX_FILE_BYTES,
  MAX_LIBRARY_BYTES,
  MAX_LOGO_BYTES,
} from '../contract/file-library.ts'
import { fileTypeOf, isContentOf } from '../contract/file-types.ts'
import { isPlainObject } from '../contract/json.ts'
import { fileUUId } from '../contract/fields.ts'
import { foreignBusiness, readFields, readKey } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, notFound, type Fault } from '../errors.ts'
import { lockSettings } from '../store/event-definitions.ts'
import {
  countContents,
  findFileUses,
  insertFile,
  lockActiveFiles,
  lockFile,
  sumFileSizes,
  updateFile,
  type HashedFile,
  type StoredFile,
} from '../store/files.ts'
import type { Author } from './saving.ts'

type Allow = (current: StoredFile | undefined) => void
type FileFields = { name: string; active: boolean }
type SavedFile = { file: StoredFile; isNew: boolean }

/** Creates a file, or renames, deletes or restores the one that the body names. */
export async function saveFile(
  tx: Db,
  body: unknown,
  saving: Author,
  allow?: Allow,
): Promise<SavedFile> {
  const fileUUId = readUUId(body)
  if (fileUUId === undefined) return createFile(tx, body, saving)
  lockSettings(tx, saving.businessId)
  const before = await lockFile(tx, saving.businessId, fileUUId)
  if (!before) throw notFound('file', fileUUId)
  allow?.(withoutHash(before))
  return { file: await changeFile(tx, before, body, saving), isNew: false }
}

/** A file in an import. It keeps the UUID by which templates of the same import name it. */
export async function saveFileLine(tx: Db, body: unknown, saving: Author): Promise<SavedFile> {
  const fileUUId = readUUId(body)
  lockSettings(tx, saving.businessId)
  const before = fileUUId ? await lockFile(tx, saving.businessId, fileUUId) : undefined
  if (!before) return createFile(tx, body, saving, fileUUId)
  const { content: _content, ...rest } = body as Record<string, unknown>
  const { bytes } = readContentOf(body)
  if (bytes && hashOf(bytes) !== before.sha256) throw invalid([UNCHANGEABLE])
  return { file: await changeFile(tx, before, rest, saving), isNew: false }
}

/** Deletes a file that nothing uses. Queued mails that refer to it are still sent with it. */
export async function removeFile(tx: Db, fileUUId: string, saving: Author, allow: Allow) {
  const { file } = await saveFile(tx, { fileUUId, active: false }, saving, allow)
  return file
}

async function createFile(tx: Db, body: unknown, saving: Author, fileUUId?: string) {
  const { values, faults } = readFields<FileFields>(FILE_BODY, body)
  const { bytes, faults: contentFaults } = readContentOf(body)
  faults.push(...foreignBusiness(body, saving.businessId), ...contentFaults)
  if (faults.length === 0) faults.push(...mismatches(body, values.name, bytes!))
  if (faults.length > 0) throw invalid(faults)
  const { businessId } = saving
  if ((await sumFileSizes(tx, businessId)) + bytes!.length > MAX_LIBRARY_BYTES) {
    const detail = `does not fit: all files together may have ${sizeText(MAX_LIBRARY_BYTES)}`
    throw invalid([{ pointer: '/content', detail }])
  }
  const file = await insertFile(
    tx,
    {
      ...values,
      businessId,
      fileUUId: fileUUId ?? randomUUID().replaceAll('-', ''),
      type: fileTypeOf(values.name)!,
      bytes: bytes!,
      sha256: hashOf(bytes!),
    },
    saving,
  )
  return { file, isNew: true }
}

async function changeFile(tx: Db, before: HashedFile, body: unknown, saving: Author) {
  const { values, faults } = readFields<FileFields>(FILE_BODY, body, before)
  faults.push(...foreignBusiness(body, saving.businessId))
  if (isPlainObject(body) && body.content != null) faults.push(UNCHANGEABLE)
  const type = faults.length === 0 ? fileTypeOf(values.name) : before.type
  if (type !== before.type) {
    faults.push({ pointer: '/name', detail: `must have an extension of ${before.type}` })
  }
  if (isPlainObject(body) && (body.type ?? before.type) !== before.type) {
    faults.push({ pointer: '/type', detail: `the content is ${before.type}` })
  }
  if (faults.length > 0) throw invalid(faults)
  const { businessId, fileUUId } = before
  if (values.name === before.name && values.active === before.active) return withoutHash(before)
  if (before.active && !values.active) await refuseWhileUsed(tx, before)
  if (!before.active && values.active && (await countContents(tx, businessId, [fileUUId])) === 0) {
    throw conflict('The content of this deleted file is no longer stored. Upload it again.')
  }
  return updateFile(tx, { businessId, fileUUId, ...values }, saving)
}

async function refuseWhileUsed(tx: Db, { businessId, fileUUId }: StoredFile) {
  const { templates, isLogo } = await findFileUses(tx, businessId, fileUUId)
  if (isLogo) throw conflict('This file is the logo of the business. Choose another logo first.')
  if (templates.length === 0) return
  const names = templates.map((name) => `“${name}”`).join(', ')
  throw conflict(`This file is attached by the template ${names}. Remove it there first.`)
}

const withoutHash = ({ sha256: _sha256, ...file }: HashedFile): StoredFile => file

const readUUId = (body: unknown) => readKey(body, 'fileUUId', fileUUId().schema)

/** The decoded bytes, or their faults. */
function readContentOf(body: unknown): { bytes?: Buffer; faults: Fault[] } {
  const { content } = isPlainObject(body) ? body : {}
  const refuse = (detail: string) => ({ faults: [{ pointer: '/content', detail }] })
  if (content === undefined || content === null) return refuse('is required')
  if (typeof content !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) {
    return refuse('must be base64')
  }
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length === 0) return refuse('must not be empty')
  if (bytes.length > MAX_FILE_BYTES) {
    return refuse(`may have ${sizeText(MAX_FILE_BYTES)}, has ${sizeText(bytes.length)}`)
  }
  return { bytes, faults: [] }
}

function mismatches(body: unknown, name: string, bytes: Buffer): Fault[] {
  const type = fileTypeOf(name)!
  const given = isPlainObject(body) ? (body.type ?? type) : type
  if (given !== type) return [{ pointer: '/type', detail: `must be ${type}, as ${name} says` }]
  if (isContentOf(name, bytes)) return []
  return [{ pointer: '/content', detail: `is not ${type}, as ${name} says` }]
}

const UNCHANGEABLE = {
  pointer: '/content',
  detail: 'cannot be changed. Upload a new file and use its fileUUId',
}

/** Faults of a template's attachments: missing or repeated files, or too many bytes in total. */
export function attachmentFaults(fileUUIds: string[], files: Map<string, StoredFile>): Fault[] {
  const at = (index: number) => `/attachFileLibraryUUids/${index}`
  const faults = fileUUIds.flatMap((fileUUId, i) => {
    if (fileUUIds.indexOf(fileUUId) < i) return [{ pointer: at(i), detail: 'is listed twice' }]
    return files.has(fileUUId) ? [] : [{ pointer: at(i), detail: `there is no file ${fileUUId}` }]
  })
  const bytes = fileUUIds.reduce((sum, fileUUId) => sum + (files.get(fileUUId)?.size ?? 0), 0)
  if (faults.length > 0 || bytes <= MAX_ATTACHED_BYTES) return faults
  const detail = `have ${sizeText(bytes)} together; a mail may have ${sizeText(MAX_ATTACHED_BYTES)}`
  return [{ pointer: '/attachFileLibraryUUids', detail }]
}

/** Faults of a business's logo. Locks the file against deletion. */
export async function logoFaults(tx: Db, businessId: number, logo: string): Promise<Fault[]> {
  const [file] = await lockActiveFiles(tx, businessId, [logo])
  const pointer = '/logo'
  if (!file) return [{ pointer, detail: `there is no file ${logo}` }]
  if (!LOGO_TYPES.includes(file.type)) return [{ pointer, detail: 'must be a PNG or JPEG' }]
  if (file.size <= MAX_LOGO_BYTES) return []
  return [{ pointer, detail: `may have ${sizeText(MAX_LOGO_BYTES)}, has ${sizeText(file.size)}` }]
}

const LOGO_TYPES = ['image/png', 'image/jpeg']

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Rounded up, so that a file above a limit never shows the limit itself. */
const sizeText = (bytes: number) =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} KB` : `${Math.ceil(bytes / 104_857.6) / 10} MB`
