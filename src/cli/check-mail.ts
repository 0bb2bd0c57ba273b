import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { domainOf } from '../contract/addresses.ts'
import { dkimSigner, type DkimSigner } from '../email/dkim.ts'
import { mailRouteOf } from '../email/mail-route.ts'
import type { Outcome, Phase } from '../email/mailer.ts'
import { buildMessage } from '../email/message.ts'
import { makeResolver } from '../email/resolver.ts'
import {
  checkOperatorDomain,
  emptyIfMissing,
  recordOfSigner,
  troubleOf,
  type Resolver,
} from '../email/sender-check.ts'
import { parseSmtpUrl } from '../email/smtp.ts'
import { makeMailer } from './make-mailer.ts'

export const SET_SMTP_URL = 'set SMTP_URL=smtp://user:password@host:port'

export type Finding = { state: 'ok' | 'note' | 'bad'; about: string; says: string; todo?: string }

/** Sends one email to this address, and checks the DNS records that receiving servers look for. */
export async function checkMail(config: Config, to: string, clock: Clock): Promise<Finding[]> {
  const signer =
    config.dkim && dkimSigner(config.dkim.domain, config.dkim.selector, config.dkim.key)
  const resolver = makeResolver(config.dnsServers)
  const [sent, records] = await Promise.all([
    sendOne(config, to, clock.now()),
    checkDns(config, signer, resolver),
  ])
  return [sent, ...records]
}

type MailResolver = Resolver & { resolveMx(name: string): Promise<unknown[]> }

/** What receiving servers find in DNS about the domain of `MAIL_FROM`. */
export async function checkDns(
  config: Parameters<typeof mailRouteOf>[0],
  signer: DkimSigner | undefined,
  resolver: MailResolver,
): Promise<Finding[]> {
  const domain = domainOf(config.mailFrom.address)
  try {
    const hosts = await resolver.resolveMx(domain).catch(emptyIfMissing)
    const checks = await checkOperatorDomain(domain, signer, mailRouteOf(config), resolver)
    return [
      hosts.length > 0 ? { ...FROM_DOMAIN, says: `${domain} takes mail` } : takesNoMail(domain),
      ...checks.map(({ check: about, result, detail, todo }): Finding =>
        result === 'PASS'
          ? { state: 'ok', about, says: detail }
          : {
              state: 'note',
              about,
              says: `receiving servers may reject or mark email: ${detail}`,
              todo: todo!,
            },
      ),
    ]
  } catch (error) {
    return [
      { state: 'note', about: 'DNS', says: troubleOf(error), todo: recordsToCheck(domain, signer) },
    ]
  }
}

const FROM_DOMAIN = { state: 'ok', about: 'From domain' } as const

const takesNoMail = (domain: string): Finding => ({
  ...FROM_DOMAIN,
  state: 'note',
  says: `${domain} takes no mail`,
  todo: 'set MAIL_FROM to a domain with an MX record, so that bounces arrive',
})

function recordsToCheck(domain: string, signer: DkimSigner | undefined) {
  const needed = `${domain} needs an MX record, an SPF record ("v=spf1 …") and a DMARC record at _dmarc.${domain}`
  if (!signer)
    return `${needed}; mails are not signed: DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR are unset`
  const { name, value } = recordOfSigner(signer)
  return `${needed}, and the DKIM key at ${name}: "${value}"`
}

async function sendOne(config: Config, to: string, now: Temporal.Instant): Promise<Finding> {
  const about = 'Mail'
  if (config.smtpUrl === undefined) {
    const says = 'nothing was sent: without SMTP_URL, emails are captured and not sent'
    return { state: 'note', about, says, todo: SET_SMTP_URL }
  }
  const { host, port } = parseSmtpUrl(config.smtpUrl)
  const mailer = makeMailer(config)
  const outcome = await mailer.send({
    businessId: 0,
    from: config.mailFrom.address,
    to,
    message: testMessage(config, to, now),
    beforeMessageEnd: async () => {},
  })
  await mailer.close()
  if (outcome.kind === 'sent') {
    const says = `${host}:${port} accepted an email for ${to}: ${outcome.reply}`
    return { state: 'ok', about, says }
  }
  const says = `${host}:${port} did not accept an email for ${to}, at ${outcome.phase}: ${outcome.reply}`
  return { state: 'bad', about, says, todo: adviceFor(outcome) }
}

function testMessage({ mailFrom, publicUrl }: Config, to: string, now: Temporal.Instant) {
  const { hostname } = new URL(publicUrl)
  const text = `This email was sent by "bellwether doctor --mail" at ${publicUrl}.\n\nThe mail server works: your automations can send email.\n`
  return buildMessage({
    messageId: `<doctor.${now.epochMilliseconds}@${hostname.replace(/[^A-Za-z0-9.-]/g, '') || 'localhost'}>`,
    date: now,
    from: mailFrom,
    to: { name: '', address: to },
    cc: null,
    replyTo: null,
    subject: 'Bellwether can send email',
    text,
    html: text
      .trim()
      .split('\n\n')
      .map((line) => `<p>${line.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}</p>`)
      .join('\n'),
    calendar: null,
    unsubscribeLink: null,
  })
}

/** What to do about a failure of the mail server. */
export const adviceFor = (outcome: Outcome) =>
  ADVICE_BY_REPLY.find(([reply]) => reply.test(outcome.reply))?.[1] ??
  ADVICE_BY_PHASE[outcome.phase] ??
  (outcome.kind === 'uncertain'
    ? 'it may have arrived: check the mailbox, and ask the operator of the server why it closed the connection'
    : 'the server refused this message: its reply tells why')

const ADVICE_BY_REPLY: [RegExp, string][] = [
  // What TLS says of a greeting in plain text.
  [
    /wrong version number|packet length too long/i,
    'this port does not begin with TLS: write smtp:// instead of smtps:// in SMTP_URL, or name the port for TLS, which is 465 at most servers',
  ],
  [
    /^530\b/,
    'the server demands a sign-in: write the user and password into SMTP_URL, as smtp://user:password@host:port',
  ],
]

const ADVICE_BY_PHASE: Partial<Record<Phase, string>> = {
  connect: 'check host and port in SMTP_URL, and whether a firewall blocks them',
  greeting:
    'check the port in SMTP_URL: smtps:// is for TLS from the start (465), smtp:// for STARTTLS (587); a reply that begins with 4 or 5 refuses this machine: ask the operator of the server',
  ehlo: 'the server refuses this machine: its reply tells why',
  starttls:
    'the server must offer TLS with a certificate for its name; in a trusted network, use SMTP_URL=smtp://…?tls=never',
  auth: 'check user and password in SMTP_URL; write @ : / in them as %40 %3A %2F',
  mail: 'set MAIL_FROM to an address of a domain for which this server may send',
  rcpt: 'check the address; a server that does not relay for this machine needs a user and password',
}
