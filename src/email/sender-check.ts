import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { CheckResult, DnsRecord, SenderCheck } from '../contract/sender-domain.ts'
import { isAligned, publishedKey, type DkimSigner } from './dkim.ts'

/** The keys that DNS must publish for a domain. */
export type PublicKeys = {
  domain: string
  selector: string
  /** Null until the keys are made. */
  rsaPublic: string | null
  ed25519Public: string | null
}

/** How mails of this installation reach other servers. */
export type MailRoute = {
  /** The mechanism with which an SPF record covers the mail server; undefined: not known. */
  spfMechanism: string | undefined
  /** The domain of the envelope sender, for which receivers check SPF. */
  envelopeDomain: string
}

/** DNS look-ups; in production those of `node:dns/promises`. */
export type Resolver = {
  resolve(name: string, type: string): Promise<unknown>
  resolveTxt(name: string): Promise<string[][]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

/** RSA and Ed25519 keys have separate selectors, because some servers support only RSA. */
export const selectorsOf = ({ selector }: Pick<PublicKeys, 'selector'>) => ({
  rsa: `${selector}r`,
  ed25519: `${selector}e`,
})

/** The records that the owner of the domain publishes. */
export function dnsRecordsOf(keys: PublicKeys, { spfMechanism }: MailRoute): DnsRecord[] {
  const { domain } = keys
  const dkim = dkimRecordsOf(keys).map(({ name, value }) => txt('DKIM', name, value))
  const spf = spfMechanism ? [txt('SPF', domain, `v=spf1 ${spfMechanism} ~all`)] : []
  return [...dkim, ...spf, txt('DMARC', `_dmarc.${domain}`, 'v=DMARC1; p=none')]
}

const txt = (purpose: DnsRecord['purpose'], name: string, value: string): DnsRecord => ({
  purpose,
  type: 'TXT',
  name,
  value,
})

function dkimRecordsOf(keys: PublicKeys) {
  const { domain, rsaPublic, ed25519Public } = keys
  const selectors = selectorsOf(keys)
  return [
    ...(rsaPublic === null ? [] : [dkimRecord(domain, selectors.rsa, 'rsa', rsaPublic)]),
    ...(ed25519Public === null
      ? []
      : [dkimRecord(domain, selectors.ed25519, 'ed25519', ed25519Public)]),
  ]
}

/** The TXT record that publishes a key. */
const dkimRecord = (domain: string, selector: string, algorithm: string, key: string) => ({
  domain,
  key,
  name: `${selector}._domainkey.${domain}`,
  value: `v=DKIM1; k=${algorithm}; p=${key}`,
})

/** The TXT record for the key of the operator. */
export const recordOfSigner = ({ domain, selector, key }: DkimSigner) =>
  dkimRecord(domain, selector, key.asymmetricKeyType!, publishedKey(key))

/** The worst of the results; UNKNOWN if nothing was checked. */
export function statusOf(checks: SenderCheck[]): CheckResult {
  if (checks.some(({ result }) => result === 'FAIL')) return 'FAIL'
  return checks.length > 0 && checks.every(({ result }) => result === 'PASS') ? 'PASS' : 'UNKNOWN'
}

/** Checks in DNS whether receivers will accept mails from this domain as its own. */
export const checkSenderDomain = (keys: PublicKeys, route: MailRoute, resolver: Resolver) =>
  checkSender(
    { domain: keys.domain, records: dkimRecordsOf(keys), unsigned: KEYS_ARE_MADE },
    route,
    resolver,
  )

/** The same checks for the domain of `MAIL_FROM`, whose mails the key of the operator signs. */
export function checkOperatorDomain(
  domain: string,
  signer: DkimSigner | undefined,
  route: MailRoute,
  resolver: Resolver,
) {
  const records = signer && isAligned(domain, signer) ? [recordOfSigner(signer)] : []
  const unsigned = signer ? notAligned(domain, signer) : NOT_SIGNED
  return checkSender({ domain, records, unsigned }, route, resolver)
}

type Sender = {
  domain: string
  /** The records of the keys that sign the mails. */
  records: ReturnType<typeof dkimRecord>[]
  /** Why there are none. */
  unsigned: { detail: string; todo: string }
}

const KEYS_ARE_MADE = {
  detail: 'the keys are being made',
  todo: 'Wait a moment; the check is repeated.',
}
const NOT_SIGNED = {
  detail: 'mails are not signed here',
  todo: 'Set DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR, or let the mail provider sign.',
}
const notAligned = (domain: string, signer: DkimSigner) => ({
  detail: `mails are not signed: DKIM_DOMAIN ${signer.domain} does not match the From domain ${domain}`,
  todo: `Set DKIM_DOMAIN to ${domain} or to a domain above it.`,
})

async function checkSender(
  sender: Sender,
  route: MailRoute,
  resolver: Resolver,
): Promise<SenderCheck[]> {
  const [spf, dkim] = await Promise.all([
    checkSpf(sender.domain, route, resolver),
    checkDkim(sender, resolver),
  ])
  return [spf, dkim, await checkDmarc(sender, { spf, dkim, route, resolver })]
}

const pass = (check: SenderCheck['check'], detail: string): SenderCheck => ({
  check,
  result: 'PASS',
  detail,
  todo: null,
})
const fail = (check: SenderCheck['check'], detail: string, todo: string): SenderCheck => ({
  check,
  result: 'FAIL',
  detail,
  todo,
})
const unknown = (
  check: SenderCheck['check'],
  detail: string,
  todo?: string | null,
): SenderCheck => ({
  check,
  result: 'UNKNOWN',
  detail,
  todo: todo ?? 'Check that DNS works for this service; the check is repeated.',
})

async function checkSpf(
  domain: string,
  { spfMechanism }: MailRoute,
  resolver: Resolver,
): Promise<SenderCheck> {
  try {
    const records = await textsOf(resolver, domain, /^v=spf1(?: |$)/i)
    const wanted = spfMechanism ?? 'include:<your mail provider>'
    if (records.length === 0) {
      const todo = `Add a TXT record at ${domain}: "v=spf1 ${wanted} ~all".`
      return fail('SPF', `${domain} has no SPF record`, todo)
    }
    if (records.length > 1) {
      const todo = `Merge the SPF records of ${domain} into one.`
      return fail('SPF', `${domain} has ${records.length} SPF records, so none counts`, todo)
    }
    if (spfMechanism === undefined) {
      const todo = 'The operator must set SMTP_SPF to what the mail provider asks for.'
      return unknown('SPF', 'the public address of the mail server is not known', todo)
    }
    const covers = await coversRelay(domain, spfMechanism, resolver)
    if (covers === true) return pass('SPF', `the SPF record covers ${spfMechanism}`)
    if (covers === undefined) return unknown('SPF', `${spfMechanism} could not be resolved`)
    const todo = `Add "${spfMechanism}" to the SPF record of ${domain}, before its "all".`
    return fail(
      'SPF',
      `the SPF record does not cover the mail server: ${covers || 'no match'}`,
      todo,
    )
  } catch (error) {
    return unknown('SPF', troubleOf(error))
  }
}

/** True if the SPF record covers the mail server, else the reason; undefined if it is unknown. */
async function coversRelay(domain: string, mechanism: string, resolver: Resolver) {
  const [, kind, value = ''] = /^(include|a|ip4|ip6):(.+)$/i.exec(mechanism) ?? []
  if (kind?.toLowerCase() === 'include') {
    return (await listMechanisms(domain, resolver)).has(mechanism.toLowerCase()) || ''
  }
  const addresses = kind === 'a' ? await addressesOf(value, resolver) : [value.split('/')[0]!]
  const results: string[] = []
  for (const ip of addresses) {
    const { result, comment } = await evaluateSpf(domain, ip, resolver)
    if (result === 'pass') return true
    if (result !== 'temperror') results.push(comment)
  }
  return results[0]
}

/** The addresses of a host that other servers can see. */
async function addressesOf(host: string, resolver: Resolver) {
  const found = await Promise.all([
    resolver.resolve4(host).catch(emptyIfMissing),
    resolver.resolve6(host).catch(emptyIfMissing),
  ])
  return found.flat().filter(isPublic)
}

const isPublic = (address: string) => !INTERNAL.has(ipaddr.parse(address).range())

const INTERNAL = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'unspecified'])

async function evaluateSpf(domain: string, ip: string, resolver: Resolver) {
  // Loaded when it is first needed: it takes 0.2 s and 30 MB, and most nodes check no domain.
  const { spf } = await import('mailauth/lib/spf/index.js')
  const { status } = await spf({
    sender: `postmaster@${domain}`,
    ip,
    helo: domain,
    mta: 'SPF',
    resolver: (name, type) => resolver.resolve(name, type) as Promise<string[]>,
    maxElapsedTime: 20_000,
  })
  return { result: status.result, comment: String(status.comment ?? '').replace(/^SPF: /, '') }
}

/** The mechanisms of an SPF record and of those that it includes or redirects to. */
async function listMechanisms(domain: string, resolver: Resolver) {
  const mechanisms = new Set<string>()
  const waiting = [domain]
  for (let lookups = 0; waiting.length > 0 && lookups <= MAX_SPF_LOOKUPS; lookups += 1) {
    const [record = ''] = await textsOf(resolver, waiting.shift()!, /^v=spf1(?: |$)/i)
    for (const term of record.toLowerCase().split(/ +/).slice(1)) {
      const [, mechanism, next] = /^\+?((?:include:|redirect=)([a-z0-9._-]+))$/.exec(term) ?? []
      if (!mechanism || !next || mechanisms.has(`include:${next}`)) continue
      mechanisms.add(`include:${next}`)
      waiting.push(next)
    }
  }
  return mechanisms
}

const MAX_SPF_LOOKUPS = 10

async function checkDkim({ records, unsigned }: Sender, resolver: Resolver): Promise<SenderCheck> {
  if (records.length === 0) return unknown('DKIM', unsigned.detail, unsigned.todo)
  try {
    const faults: { detail: string; todo: string }[] = []
    for (const { name, key, value } of records) {
      const [found] = await textsOf(resolver, name, /\bp=/)
      if (found === undefined) {
        faults.push({
          detail: `${name} does not exist`,
          todo: `Add a TXT record at ${name}: "${value}".`,
        })
      } else if (/\bp=([^;]*)/.exec(found)?.[1]?.replace(/\s/g, '') !== key) {
        const todo = `Replace the TXT record at ${name} by "${value}".`
        faults.push({ detail: `${name} holds another key`, todo })
      }
    }
    if (faults.length === 0)
      return pass('DKIM', records.length === 1 ? 'the key is published' : 'both keys are published')
    const details = faults.map(({ detail }) => detail).join('; ')
    return fail('DKIM', details, faults.map(({ todo }) => todo).join(' '))
  } catch (error) {
    return unknown('DKIM', troubleOf(error))
  }
}

type DmarcParts = { spf: SenderCheck; dkim: SenderCheck; route: MailRoute; resolver: Resolver }

/** DMARC passes if DKIM or SPF passes for a domain that is aligned with the From domain (RFC 7489, 3.1). */
async function checkDmarc({ domain, records }: Sender, parts: DmarcParts): Promise<SenderCheck> {
  const { dkim, resolver } = parts
  try {
    const { dmarc } = await import('mailauth/lib/dmarc/index.js')
    const verdict = await dmarc({
      headerFrom: [domain],
      spfDomains: await alignableSpfDomains(domain, parts),
      dkimDomains: dkim.result === 'PASS' ? [{ id: 'dkim', domain: records[0]!.domain }] : [],
      resolver: (name, type) => resolver.resolve(name, type) as Promise<string[]>,
    })
    const result = verdict ? verdict.status.result : 'permerror'
    if (result === 'pass') return pass('DMARC', 'mails from this domain are aligned')
    if (result === 'temperror') return unknown('DMARC', 'the DMARC record could not be read')
    if (result === 'fail') {
      if (dkim.result === 'UNKNOWN') return unknown('DMARC', dkim.detail, dkim.todo)
      const todo = dkim.todo ?? 'Publish the DKIM records of this domain.'
      return fail(
        'DMARC',
        'mails are not aligned: neither DKIM nor SPF passes for this domain',
        todo,
      )
    }
    const todo = `Add a TXT record at _dmarc.${domain}: "v=DMARC1; p=none".`
    return fail('DMARC', `${domain} has no valid DMARC record`, todo)
  } catch (error) {
    return unknown('DMARC', troubleOf(error))
  }
}

/** The envelope domain, if its SPF record covers the mail server. DMARC decides about alignment. */
async function alignableSpfDomains(domain: string, { spf, route, resolver }: DmarcParts) {
  const { envelopeDomain } = route
  const { result } =
    envelopeDomain === domain ? spf : await checkSpf(envelopeDomain, route, resolver)
  return result === 'PASS' ? [envelopeDomain] : []
}

async function textsOf(resolver: Resolver, name: string, wanted: RegExp) {
  const records = await resolver.resolveTxt(name).catch(emptyIfMissing)
  return records.map((pieces) => pieces.join('')).filter((text) => wanted.test(text))
}

/** A missing record gives an empty list; a DNS server that does not answer is an error. */
export function emptyIfMissing(error: unknown): never[] {
  const { code } = error as { code?: string }
  if (code === 'ENOTFOUND' || code === 'ENODATA') return []
  throw error
}

export const troubleOf = (error: unknown) => {
  const { code, message } = error as { code?: string; message: string }
  return `the name service does not answer (${code ?? message})`
}

/** The SPF mechanism for this mail server; undefined if other servers see another address. */
export function spfMechanismOf(host: string): string | undefined {
  const version = isIP(host)
  if (version === 0) return host === 'localhost' ? undefined : `a:${host}`
  return isPublic(host) ? `ip${version}:${host}` : undefined
}
