import { hash } from 'node:crypto'
import type { Db } from '../database/database.ts'
import { dkimSigner, makeDkimKeys, type DkimSigner } from '../email/dkim.ts'
import {
  checkSenderDomain,
  selectorsOf,
  type MailRoute,
  type Resolver,
} from '../email/sender-check.ts'
import { RecentlyUsed } from '../recently-used.ts'
import {
  claimDueSenderDomains,
  findSenderKeys,
  listDomainsWithoutKeys,
  saveSenderChecks,
  saveSenderKeys,
  type SenderDomainKey,
  type SenderDomainRow,
} from '../store/sender-domains.ts'
import { pause, type Loop } from '../repeat.ts'

/** Makes the keys of domains that have none yet. Returns how many domains had none. */
export async function makeMissingKeys(engine: Db): Promise<number> {
  const missing = await listDomainsWithoutKeys(engine, MAX_DOMAINS)
  for (const key of missing) await saveSenderKeys(engine, key, await makeDkimKeys())
  return missing.length
}

const MAX_DOMAINS = 100

/** A cache of the signing keys of recently used domains. Keys never change. */
export class SenderKeys {
  readonly #engine: Db
  readonly #signers = new RecentlyUsed<string, DkimSigner[]>(MAX_CACHED)

  constructor(engine: Db) {
    this.#engine = engine
  }

  /** Makes the keys if there are none yet, so that no mail is sent unsigned. */
  async signersOf(key: SenderDomainKey): Promise<DkimSigner[]> {
    const name = `${key.businessId} ${key.domain}`
    const known = this.#signers.get(name)
    if (known) return known
    let stored = await findSenderKeys(this.#engine, key)
    if (!stored) {
      await saveSenderKeys(this.#engine, key, await makeDkimKeys())
      stored = await findSenderKeys(this.#engine, key)
    }
    if (!stored) return []
    const selectors = selectorsOf(stored)
    const signers = [
      dkimSigner(key.domain, selectors.rsa, stored.rsaKey),
      dkimSigner(key.domain, selectors.ed25519, stored.ed25519Key),
    ]
    this.#signers.set(name, signers)
    return signers
  }

  /** Reads the keys again: they cannot sign, and the operator may replace them. */
  forget({ businessId, domain }: SenderDomainKey) {
    this.#signers.delete(`${businessId} ${domain}`)
  }
}

const MAX_CACHED = 1_000

export type SenderCheckParts = { route: MailRoute; resolver: Resolver }

/** Checks one domain, and decides when it is checked again. */
export async function checkDomain(
  domain: SenderDomainRow & { timeZone: string },
  { route, resolver, now }: SenderCheckParts & { now(): Temporal.Instant },
) {
  const checks = await checkSenderDomain(domain, route, resolver)
  const checkedTime = now()
  const isUnknown = checks.some(({ result }) => result === 'UNKNOWN')
  const nextCheckTime = isUnknown
    ? checkedTime.add({ minutes: RETRY_MINUTES })
    : nextNight(domain, checkedTime)
  return { checks, checkedTime, nextCheckTime }
}

const RETRY_MINUTES = 60

/** Between 2:00 and 5:00 in the business's time zone, spread over the domains. */
function nextNight(
  { domain, timeZone }: Pick<SenderDomainRow, 'domain'> & { timeZone: string },
  now: Temporal.Instant,
) {
  const minutes = hash('sha1', domain, 'buffer').readUInt16BE() % 180
  const tomorrow = now.toZonedDateTimeISO(timeZone).add({ days: 1 }).startOfDay()
  return tomorrow.add({ hours: 2, minutes }).toInstant()
}

/** Makes missing keys and checks the domains that are due. Safe to run on any number of nodes. */
export function createSenderLoop(
  parts: SenderCheckParts & { db: Db; now(): Temporal.Instant },
): Loop {
  const { db, now } = parts
  const runOnce = async () => {
    await makeMissingKeys(db)
    const moment = now()
    const leaseUntil = moment.add({ minutes: LEASE_MINUTES })
    const due = await claimDueSenderDomains(db, { now: moment, leaseUntil, limit: MAX_AT_ONCE })
    await Promise.all(
      due.map(async (domain) => saveSenderChecks(db, domain, await checkDomain(domain, parts))),
    )
    return due.length
  }
  return { name: 'senders', runOnce, rest: (stopping) => pause(REST_MS, stopping) }
}

/** Longer than a check can take. */
const LEASE_MINUTES = 10
const MAX_AT_ONCE = 5
const REST_MS = 5_000
