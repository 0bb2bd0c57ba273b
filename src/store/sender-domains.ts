import type { SenderCheck } from '../contract/sender-domain.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** A sender domain without its private keys. */
export type SenderDomainRow = {
  businessId: number
  domain: string
  selector: string
  /** Null until the keys are made. */
  rsaPublic: string | null
  ed25519Public: string | null
  checks: SenderCheck[]
  checkedTime: Temporal.Instant | null
  nextCheckTime: Temporal.Instant
  createdDate: Temporal.Instant
}

export type SenderDomainKey = { businessId: number; domain: string }

const columns = sql`
  s.business_id as "businessId", s.domain, s.selector, s.rsa_public as "rsaPublic",
  s.ed25519_public as "ed25519Public", s.checks, s.checked_time as "checkedTime",
  s.next_check_time as "nextCheckTime", s.created_date as "createdDate"`

/** Only domains that are allowed now; former ones keep their rows and keys. */
const allowed = sql`
  sender_domain s join business b on b.business_id = s.business_id
    and s.domain = any (b.sender_domains) and b.active`

/** A page of the sender domains: of all businesses for the operator, of its own for a business. */
export function listSenderDomains(
  db: Db,
  { after, limit }: { after: [number, string] | undefined; limit: number },
) {
  const [businessId, domain] = after ?? [0, '']
  return db.query<SenderDomainRow>(sql`
    select ${columns} from ${allowed}
    where (s.business_id, s.domain) > (${businessId}, ${domain})
    order by s.business_id, s.domain limit ${limit}`)
}

export const findSenderDomain = (db: Db, { businessId, domain }: SenderDomainKey) =>
  db.findRow<SenderDomainRow>(sql`
    select ${columns} from ${allowed}
    where s.business_id = ${businessId} and s.domain = ${domain}`)

/** Claims due domains. Another node claims them again if they are not checked by `leaseUntil`. */
export function claimDueSenderDomains(
  engine: Db,
  {
    now,
    leaseUntil,
    limit,
  }: { now: Temporal.Instant; leaseUntil: Temporal.Instant; limit: number },
) {
  return engine.query<SenderDomainRow & { timeZone: string }>(sql`
    with due as materialized (
      select s.business_id, s.domain, b.time_zone from ${allowed}
      where s.next_check_time <= ${now}
      order by s.next_check_time limit ${limit} for update of s skip locked)
    update sender_domain s set next_check_time = ${leaseUntil}
    from due where (s.business_id, s.domain) = (due.business_id, due.domain)
    returning ${columns}, due.time_zone as "timeZone"`)
}

export async function saveSenderChecks(
  db: Db,
  { businessId, domain }: SenderDomainKey,
  result: { checks: SenderCheck[]; checkedTime: Temporal.Instant; nextCheckTime: Temporal.Instant },
) {
  await db.query(sql`
    update sender_domain
    set checks = ${JSON.stringify(result.checks)}::jsonb, checked_time = ${result.checkedTime},
        next_check_time = ${result.nextCheckTime}
    where business_id = ${businessId} and domain = ${domain}`)
}

/** The domains whose keys are not made yet. */
export const listDomainsWithoutKeys = (engine: Db, limit: number) =>
  engine.query<SenderDomainKey>(sql`
    select s.business_id as "businessId", s.domain from ${allowed}
    where s.rsa_key is null order by s.business_id, s.domain limit ${limit}`)

type StoredKeys = {
  rsaKey: string
  ed25519Key: string
  rsaPublic: string
  ed25519Public: string
}

/** Does not replace keys that another node has stored meanwhile. */
export async function saveSenderKeys(
  engine: Db,
  { businessId, domain }: SenderDomainKey,
  { rsaKey, ed25519Key, rsaPublic, ed25519Public }: StoredKeys,
) {
  await engine.query(sql`
    update sender_domain
    set rsa_key = ${rsaKey}, ed25519_key = ${ed25519Key}, rsa_public = ${rsaPublic},
        ed25519_public = ${ed25519Public}
    where business_id = ${businessId} and domain = ${domain} and rsa_key is null`)
}

/** The private keys, for the engine alone. */
export const findSenderKeys = (engine: Db, { businessId, domain }: SenderDomainKey) =>
  engine.findRow<{ selector: string; rsaKey: string; ed25519Key: string }>(sql`
    select selector, rsa_key as "rsaKey", ed25519_key as "ed25519Key" from sender_domain
    where business_id = ${businessId} and domain = ${domain} and rsa_key is not null`)
