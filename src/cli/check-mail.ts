import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { dkimSigner } from '../email/dkim.ts'
import { mailHints } from '../email/mail-doctor.ts'
import type { Outcome, Phase } from '../email/mailer.ts'
import { buildMessage } from '../email/message.ts'
import { makeResolver } from '../email/resolver.ts'
import { parseSmtpUrl } from '../email/smtp.ts'
import { makeMailer } from './make-mailer.ts'

export const SET_SMTP_URL = 'set SMTP_URL=smtp://user:password@host:port'

export type Finding = { state: 'ok' | 'note' | 'bad'; about: string; says: string; todo?: string }

/** Sends one email to this address, and checks the DNS records that receiving servers look for. */
export async function checkMail(config: Config, to: string, clock: Clock): Promise<Finding[]> {
  const signer =
    config.dkim && dkimSigner(config.dkim.domain, config.dkim.selector, config.dkim.key)
  const resolver = makeResolver(config.dnsServers)
  const [sent, hints] = await Promise.all([
    sendOne(config, to, clock.now()),
    mailHints(config.mailFrom.address, signer, resolver),
  ])
  return [
    sent,
    ...hints.map(({ check, ok, hint }): Finding => {
      return ok
        ? { state: 'ok', about: check, says: hint }
        : {
            state: 'note',
            about: check,
            says: 'receiving servers may reject or mark email',
            todo: hint,
          }
    }),
  ]
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
  return { state: 'bad', about, says, todo: ADVICE_BY_PHASE[outcome.phase] ?? adviceFor(outcome) }
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

export const ADVICE_BY_PHASE: Partial<Record<Phase, string>> = {
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

const adviceFor = ({ kind }: Outcome) =>
  kind === 'uncertain'
    ? 'it may have arrived: check the mailbox, and ask the operator of the server why it closed the connection'
    : 'the server refused this message: its reply tells why'
