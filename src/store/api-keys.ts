import type { ApiKey } from '../contract/credentials.ts'
import type { Role, KeyScope } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import type { By, Stored } from './rows.ts'
import type { PageAfter } from './pages.ts'

const columns = sql`
  k.business_id    as "businessId",
  k.api_key_id     as "apiKeyId",
  k.name,
  k.prefix,
  k.maker_user_id  as "makerUserId",
  k.scopes,
  k.expires_time   as "expiresTime",
  u.last_used_time as "lastUsedTime",
  k.active,
  k.version,
  k.created_date   as "createdDate",
  k.created_user   as "createdUser",
  k.modified_date  as "modifiedDate",
  k.modified_user  as "modifiedUser"`

const keys = sql`api_key k left join api_key_use u using (business_id, api_key_id)`

export type ApiKeyRow = Stored<ApiKey>

export const findApiKey = (db: Db, businessId: number, apiKeyId: number, lock = empty) =>
  db.findRow<ApiKeyRow>(sql`
    select ${columns} from ${keys}
    where k.business_id = ${businessId} and k.api_key_id = ${apiKeyId} ${lock}`)

export const lockApiKey = (tx: Db, businessId: number, apiKeyId: number) =>
  findApiKey(tx, businessId, apiKeyId, sql`for update of k`)

export function listApiKeys(db: Db, businessId: number, { after, limit }: PageAfter) {
  return db.query<ApiKeyRow>(sql`
    select ${columns} from ${keys}
    where k.business_id = ${businessId} and k.active and k.api_key_id > ${after}
    order by k.api_key_id
    limit ${limit}`)
}

export type NewApiKey = {
  name: string
  prefix: string
  keyHash: Buffer
  scopes: readonly KeyScope[]
  expiresTime: Temporal.Instant | null
  /** Null: it belongs to the business. */
  makerUserId: number | null
}

export const insertApiKey = (db: Db, businessId: number, key: NewApiKey, by: By) =>
  db.getRow<ApiKeyRow>(sql`
    with k as (
      insert into api_key (business_id, name, prefix, key_hash, scopes, expires_time, maker_user_id,
                           created_date, created_user, modified_date, modified_user)
      values (${businessId}, ${key.name}, ${key.prefix}, ${key.keyHash}, ${key.scopes}::text[],
              ${key.expiresTime}, ${key.makerUserId}, ${by.now}, ${by.user}, ${by.now}, ${by.user})
      returning *
    )
    select ${columns} from k left join api_key_use u using (business_id, api_key_id)`)

type ApiKeyChange = Pick<ApiKeyRow, 'apiKeyId' | 'name' | 'scopes' | 'expiresTime' | 'active'>

export const updateApiKey = (db: Db, businessId: number, change: ApiKeyChange, by: By) =>
  db.getRow<ApiKeyRow>(sql`
    with k as (
      update api_key
      set name = ${change.name}, scopes = ${change.scopes}::text[],
          expires_time = ${change.expiresTime}, active = ${change.active}, version = version + 1,
          modified_date = ${by.now}, modified_user = ${by.user}
      where business_id = ${businessId} and api_key_id = ${change.apiKeyId}
      returning *
    )
    select ${columns} from k left join api_key_use u using (business_id, api_key_id)`)

export function revokeKeysOfMaker(tx: Db, businessId: number, userId: number, by: By) {
  return tx.query(sql`
    update api_key
    set active = false, version = version + 1, modified_date = ${by.now}, modified_user = ${by.user}
    where business_id = ${businessId} and maker_user_id = ${userId} and active`)
}

export type KnownKey = {
  businessId: number
  apiKeyId: number
  name: string
  scopes: KeyScope[]
  expiresTime: Temporal.Instant | null
  lastUsedTime: Temporal.Instant | null
  /** The user it is bound to; null: it belongs to the business. */
  maker: { userId: number; role: Role } | null
}

/** Needs the operator role: the business is not known before the key is found. */
export function listLiveKeysByHash(operator: Db, keyHashes: Buffer[]) {
  return operator.query<KnownKey & { keyHash: Buffer }>(sql`
    select k.key_hash as "keyHash", k.business_id as "businessId", k.api_key_id as "apiKeyId", k.name, k.scopes,
           k.expires_time as "expiresTime", u.last_used_time as "lastUsedTime",
           case when m.user_id is not null
                then json_build_object('userId', m.user_id, 'role', m.role) end as maker
    from api_key k
    join business b using (business_id)
    left join api_key_use u using (business_id, api_key_id)
    left join user_account m on m.business_id = k.business_id and m.user_id = k.maker_user_id
    where k.key_hash = any (${keyHashes}::bytea[]) and k.active and b.active
      and (k.maker_user_id is null or m.active)`)
}

export function recordKeyUse(operator: Db, key: KnownKey, now: Temporal.Instant) {
  return operator.query(sql`
    insert into api_key_use (business_id, api_key_id, last_used_time)
    values (${key.businessId}, ${key.apiKeyId}, ${now})
    on conflict (business_id, api_key_id)
    do update set last_used_time = greatest(api_key_use.last_used_time, excluded.last_used_time)`)
}

/** Stores the hash of the operator's key if none is stored yet; returns whether it did. */
export async function insertOperatorKey(operator: Db, keyHash: Buffer) {
  const inserted = await operator.query(sql`
    insert into operator_key (key_hash) values (${keyHash})
    on conflict do nothing returning 1`)
  return inserted.length === 1
}

export function replaceOperatorKeyHash(operator: Db, keyHash: Buffer) {
  return operator.query(sql`
    insert into operator_key (key_hash) values (${keyHash})
    on conflict (only_one) do update set key_hash = excluded.key_hash`)
}

export async function findOperatorKeyHash(operator: Db) {
  const row = await operator.findRow<{ keyHash: Buffer }>(sql`
    select key_hash as "keyHash" from operator_key`)
  return row?.keyHash
}
