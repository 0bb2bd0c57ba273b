import { domainOf } from '../contract/addresses.ts'
import { isAligned, publishedKey, type DkimSigner } from './dkim.ts'

type MailHint = { check: string; ok: boolean; hint: string }

/** DNS look-ups; in production those of `node:dns/promises`. */
export type Resolver = {
  resolveTxt(name: string): Promise<string[][]>
  resolveMx(name: string): Promise<unknown[]>
}

/** Problems that receivers will have with mail from this address, and how to fix them. */
export async function mailHints(
  from: string,
  signer: DkimSigner | undefined,
  resolver: Resolver,
): Promise<MailHint[]> {
  const domain = domainOf(from)
  const trouble = await nameServiceTrouble(resolver, domain)
  if (trouble) return [{ check: 'DNS', ok: false, hint: withoutNames(trouble, domain, signer) }]
  const [mx, spf, dmarc, key] = await Promise.all([
    resolver.resolveMx(domain).catch(() => []),
    textOf(resolver, domain, /^v=spf1\b/i),
    textOf(resolver, `_dmarc.${domain}`, /^v=DMARC1\b/i),
    signer && textOf(resolver, `${signer.selector}._domainkey.${signer.domain}`, /\bp=/),
  ])
  return [
    {
      check: 'From domain',
      ok: mx.length > 0,
      hint:
        mx.length > 0
          ? `${domain} takes mail`
          : `${domain} takes no mail: set MAIL_FROM to a domain with an MX record, so that bounces arrive`,
    },
    {
      check: 'SPF',
      ok: spf !== undefined,
      hint: spf ?? `add a TXT record at ${domain}: "v=spf1 include:<your mail provider> ~all"`,
    },
    dkimHint(domain, signer, key),
    {
      check: 'DMARC',
      ok: dmarc !== undefined,
      hint: dmarc ?? `add a TXT record at _dmarc.${domain}: "v=DMARC1; p=none"`,
    },
  ]
}

/** The reason why DNS does not answer, such as a machine without network. */
async function nameServiceTrouble(resolver: Resolver, domain: string) {
  try {
    await resolver.resolveMx(domain)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code && AWAY.has(code)) return code
  }
  return undefined
}

const AWAY = new Set(
  'ETIMEOUT ETIMEDOUT ECONNREFUSED ESERVFAIL EREFUSED ECANCELLED EAI_AGAIN ENETUNREACH EHOSTUNREACH'.split(
    ' ',
  ),
)

const withoutNames = (code: string, domain: string, signer: DkimSigner | undefined) =>
  `the name service does not answer (${code}), so nothing is known of ${domain}: it needs an MX record, ` +
  `an SPF record ("v=spf1 …"), a DMARC record at _dmarc.${domain}` +
  (signer
    ? ` and the DKIM key at ${signer.selector}._domainkey.${signer.domain}: "${dkimRecord(signer)}"`
    : ', and mails are not signed: DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR are unset')

function dkimHint(
  domain: string,
  signer: DkimSigner | undefined,
  record: string | undefined,
): MailHint {
  const hint = (ok: boolean, text: string) => ({ check: 'DKIM', ok, hint: text })
  if (!signer)
    return hint(
      false,
      'mails are not signed: set DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR, or let the mail provider sign',
    )
  const name = `${signer.selector}._domainkey.${signer.domain}`
  const wanted = dkimRecord(signer)
  if (record === undefined) return hint(false, `add a TXT record at ${name}: "${wanted}"`)
  if (keyOf(record) !== keyOf(wanted))
    return hint(false, `the TXT record at ${name} holds another key; it should be "${wanted}"`)
  const aligned = isAligned(domain, signer)
  return hint(
    aligned,
    aligned
      ? `${name} holds our key`
      : `DKIM_DOMAIN ${signer.domain} does not match the From domain ${domain}`,
  )
}

/** The TXT record that publishes the key. */
const dkimRecord = ({ key }: DkimSigner) =>
  `v=DKIM1; k=${key.asymmetricKeyType}; p=${publishedKey(key)}`

const keyOf = (record: string) => /\bp=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')

async function textOf(resolver: Resolver, name: string, wanted: RegExp) {
  const records = await resolver.resolveTxt(name).catch(() => [])
  return records.map((pieces) => pieces.join('')).find((text) => wanted.test(text))
}
