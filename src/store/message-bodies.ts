import { createHash } from 'node:crypto'
import zlib from 'node:zlib'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { Compressor, MAX_BYTES } from './compressor.ts'
import { columnsFor, rowTable } from './rows.ts'
import { RecentlyUsed } from '../recently-used.ts'

/**
 * How the contents of mails are stored: compressed by zstd with a dictionary of the text that the mails
 * of one template have in common, so that a mail takes the space of what is new in it. See docs/mail.md.
 *
 * A stored content begins with FORM and the key of its dictionary, or zeros if it has none. Contents
 * that older versions stored are plain ASCII, which never begins with FORM.
 */

/** What the mails of one version of a template have in common. It never changes: its key is its hash. */
export type Dictionary = { key: Buffer; bytes: Buffer }

/** The stored content of a mail cannot be read. */
export class UnreadableBody extends Error {}

const FORM = 0x02
const KEY_BYTES = 6
const NO_KEY = Buffer.alloc(KEY_BYTES)
/** The form and the key; the index of mails with content begins with it. */
const HEAD_BYTES = 1 + KEY_BYTES

/** Compressing reads the whole dictionary: a longer one would take more time than it saves space. */
const MAX_DICTIONARY_BYTES = 65_536

/** Dictionaries by their text, so that mails of the next batch do not compute them again. */
const made = new RecentlyUsed<string, Dictionary>(100)
/** Dictionaries that were read, by business and key. */
const read = new RecentlyUsed<string, Dictionary>(100)

export function makeDictionary(text: string): Dictionary {
  return made.getOrMake(text, () => {
    const bytes = Buffer.from(text).subarray(0, MAX_DICTIONARY_BYTES)
    return { key: keyOf(bytes), bytes }
  })
}

const keyOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest().subarray(0, KEY_BYTES)

export function encodeBody(text: string, dictionary: Dictionary | null): Buffer {
  const bytes = Buffer.from(text)
  const compressed = zlib.zstdCompressSync(bytes, {
    ...(dictionary && { dictionary: dictionary.bytes }),
    pledgedSrcSize: bytes.length,
    params: COMPRESSION,
  })
  return stored(compressed, dictionary)
}

/** The same for one of many mails. */
export async function encodeSoon(text: string, dictionary: Dictionary): Promise<Buffer> {
  const bytes = Buffer.from(text)
  const compressor = bytes.length > MAX_BYTES ? null : compressorOf(dictionary)
  if (!compressor) return encodeBody(text, dictionary)
  return stored(await compressor.compress(bytes), dictionary)
}

/** Null for the first mail: what a dictionary of few mails needs is not kept. */
function compressorOf(dictionary: Dictionary) {
  const known = compressors.get(dictionary)
  if (known) return known
  const compressor = known === null ? new Compressor(dictionary.bytes, COMPRESSION) : null
  compressors.set(dictionary, compressor)
  return compressor
}

const compressors = new RecentlyUsed<Dictionary, Compressor | null>(20)

const stored = (compressed: Buffer, dictionary: Dictionary | null) =>
  Buffer.concat([Buffer.of(FORM), dictionary?.key ?? NO_KEY, compressed.subarray(MAGIC.length)])

/** Level 6 is as fast as lower ones for a few kilobytes. The checksum detects damaged contents. */
const COMPRESSION = {
  [zlib.constants.ZSTD_c_compressionLevel]: 6,
  [zlib.constants.ZSTD_c_checksumFlag]: 1,
}

/** The first bytes of what zstd writes, which need not be stored. */
const MAGIC = Buffer.of(0x28, 0xb5, 0x2f, 0xfd)

export function decodeBody(stored: Buffer, dictionary: Dictionary | null): string {
  if (!isEncoded(stored)) return stored.toString('latin1')
  const frame = Buffer.concat([MAGIC, stored.subarray(HEAD_BYTES)])
  try {
    const options = dictionary ? { dictionary: dictionary.bytes } : {}
    return zlib.zstdDecompressSync(frame, options).toString()
  } catch (error) {
    throw new UnreadableBody('the stored content of this mail is damaged', { cause: error })
  }
}

const isEncoded = (stored: Buffer) => stored[0] === FORM

/** The key of the dictionary that a content needs; undefined if it needs none. */
function dictionaryKeyOf(stored: Buffer): Buffer | undefined {
  const key = stored.subarray(1, HEAD_BYTES)
  return isEncoded(stored) && !key.equals(NO_KEY) ? key : undefined
}

/** A content with the dictionary that it was compressed with. */
export type ReadBody = { text: string; dictionary: Dictionary | null }

export async function readBody(db: Db, businessId: number, stored: Buffer): Promise<ReadBody> {
  const key = dictionaryKeyOf(stored)
  const dictionary = key ? await findDictionary(db, businessId, key) : null
  return { text: decodeBody(stored, dictionary), dictionary }
}

async function findDictionary(db: Db, businessId: number, key: Buffer): Promise<Dictionary> {
  const name = `${businessId} ${key.toString('hex')}`
  const known = read.get(name)
  if (known) return known
  const row = await db.findRow<{ content: Buffer }>(sql`
    select content from mail_dictionary
    where business_id = ${businessId} and dictionary_key = ${key}`)
  if (!row)
    throw new UnreadableBody(`the dictionary of this mail is missing: ${key.toString('hex')}`)
  const dictionary = { key, bytes: row.content }
  if (!keyOf(dictionary.bytes).equals(key)) {
    throw new UnreadableBody(`the dictionary of this mail is damaged: ${key.toString('hex')}`)
  }
  read.set(name, dictionary)
  return dictionary
}

/**
 * Stores the dictionaries of mails that this transaction inserts, if they are not stored yet. Locks them
 * until it ends, so that `deleteUnusedDictionaries` leaves them. In the order of their keys, because two
 * transactions may insert the same ones.
 */
export function keepDictionaries(
  tx: Db,
  mails: { businessId: number; dictionary: Dictionary | null }[],
) {
  const used = new Map<string, { businessId: number; dictionary: Dictionary }>()
  for (const { businessId, dictionary } of mails) {
    if (dictionary) {
      const name = `${String(businessId).padStart(16, '0')} ${dictionary.key.toString('hex')}`
      used.set(name, { businessId, dictionary })
    }
  }
  for (const [, { businessId, dictionary }] of [...used].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { key, bytes } = dictionary
    tx.send(sql`select keep_mail_dictionary(${businessId}, ${key}, ${bytes})`)
  }
}

/** Deletes at most `limit` dictionaries that no mail uses. Returns how many. */
export async function deleteUnusedDictionaries(engine: Db, limit: number) {
  return engine.transaction(async (tx) => {
    const found = await tx.query<{ id: string }>(sql`
      select d.ctid::text as id from mail_dictionary d where ${isUnused}
      limit ${limit} for update skip locked`)
    if (found.length === 0) return 0
    // Again, now that they are locked: a transaction that inserted a mail may have ended meanwhile.
    const deleted = await tx.query(sql`
      delete from mail_dictionary d
      where d.ctid = any (${found.map(({ id }) => id)}::tid[]) and ${isUnused}
      returning 1`)
    return deleted.length
  })
}

/** By the index, whatever the planner assumes about the number of mails. */
const isUnused = sql`
  (select true from email e
   where e.business_id = d.business_id and e.message is not null
     and substring(e.message from 1 for 7) = '\\x02'::bytea || d.dictionary_key
   limit 1) is null`

/** The first bytes of stored contents, each once for a business; reads few entries of the index. */
const heads = sql`
  recursive head as (
    (select business_id, substring(message from 1 for 7) as bytes from email
     where message is not null order by 1, 2 limit 1)
    union all
    select next.* from head cross join lateral (
      select e.business_id, substring(e.message from 1 for 7) from email e
      where e.message is not null
        and (e.business_id, substring(e.message from 1 for 7)) > (head.business_id, head.bytes)
      order by 1, 2 limit 1) next)`

export type DictionaryFault = { businessId: number; key: string; fault: 'missing' | 'damaged' }

/** The dictionaries of mails that are missing, or whose content is not what their key says. */
export const findDictionaryFaults = (engine: Db) =>
  engine.query<DictionaryFault>(sql`
    with ${heads}
    select d.business_id as "businessId", encode(d.dictionary_key, 'hex') as key, 'damaged' as fault
    from mail_dictionary d where substring(sha256(d.content) from 1 for 6) <> d.dictionary_key
    union all
    select h.business_id, encode(substring(h.bytes from 2), 'hex'), 'missing'
    from head h
    where substring(h.bytes from 1 for 1) = '\\x02' and substring(h.bytes from 2) <> ${NO_KEY}
      and not exists (select from mail_dictionary d
                      where d.business_id = h.business_id
                        and d.dictionary_key = substring(h.bytes from 2))
    order by 1, 2`)

/** A mail whose content is to be deleted or converted, locked. */
export type LockedBody = {
  businessId: number
  emailId: number
  message: Buffer | null
  html: string | null
  text: string | null
  messageId: string
  createdDate: Temporal.Instant
}

const lockedColumns = sql`
  e.business_id as "businessId", e.email_id as "emailId", e.message, e.html, e.text,
  e.message_id as "messageId", e.created_date as "createdDate"`

/** Locks contents of ended mails that were created before this time. */
export const lockOldBodies = (tx: Db, before: Temporal.Instant, limit: number) =>
  tx.query<LockedBody>(sql`
    with ${heads}
    select old.* from head cross join lateral (
      select ${lockedColumns} from email e
      where e.business_id = head.business_id and e.message is not null
        and substring(e.message from 1 for 7) = head.bytes
        and e.created_date < ${before} and e.next_attempt_time is null
      order by e.created_date limit ${limit} for update skip locked) old
    limit ${limit}`)

/** Locks contents in the form of older versions. */
export const lockBodiesToConvert = (tx: Db, limit: number) =>
  tx.query<LockedBody>(sql`
    select ${lockedColumns} from email e
    where e.html is not null or e.text is not null or substring(e.message from 1 for 1) > '\\x02'
    limit ${limit} for update skip locked`)

/** Replaces contents, or deletes them and stores their hash. */
export const replaceBodies = (
  tx: Db,
  mails: (Pick<LockedBody, 'businessId' | 'emailId' | 'message'> & { bodyHash: string | null })[],
) =>
  tx.query(sql`
    update email e
    set message = r.message, html = null, text = null, body_hash = coalesce(r.body_hash, e.body_hash)
    from ${rowTable(BODY_COLUMNS, mails)}
    where (e.business_id, e.email_id) = (r.business_id, r.email_id)`)

const BODY_COLUMNS = columnsFor<Parameters<typeof replaceBodies>[1][number]>({
  businessId: 'bigint',
  emailId: 'bigint',
  message: 'bytea',
  bodyHash: 'text',
})
