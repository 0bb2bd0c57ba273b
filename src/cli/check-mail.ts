import { Resolver } from 'node:dns/promises'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { dkimSigner } from '../email/dkim.ts'
import { mailHints } from '../email/mail-doctor.ts'
import type { Outcome, Phase } from '../email/mailer.ts'
import { buildMessage } from '../email/message.ts'
import { parseSmtpUrl } from '../email/smtp.ts'
import { makeMailer } from './make-mailer.ts'

export type Finding = { state: 'ok' | 'note' | 'bad'; about: string; says: string; todo?: string }

/** Sends one mail to this address, and says what receivers will hold against such mails. */
export async function checkMail(config: Config, to: string, clock: Clock): Promise<Finding[]> {
  const signer =
    config.dkim && dkimSigner(config.dkim.domain, config.dkim.selector, config.dkim.key)
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const [sent, hints] = await Promise.all([
    sendOne(config, to, clock.now()),
    mailHints(config.mailFrom.address, signer, resolver),
  ])
  return [
    sent,
    ...hints.map(({ check, ok, hint }): Finding => {
      return ok
        ? { state: 'ok', about: check, says: hint }
        : { state: 'note', about: check, says: 'not as receivers like it', todo: hint }
    }),
  ]
}

async function sendOne(config: Config, to: string, now: Temporal.Instant): Promise<Finding> {
  const about = 'Mail'
  if (config.smtpUrl === undefined) {
    const says = 'nothing was sent: without SMTP_URL every mail is kept here and none leaves'
    return { state: 'note', about, says, todo: 'set SMTP_URL=smtp://user:password@host:port' }
  }
  const { host, port } = parseSmtpUrl(config.smtpUrl)
  const mailer = makeMailer(config)
  const outcome = await mailer.send({
    from: config.mailFrom.address,
    to,
    message: testMessage(config, to, now),
    onMessageEnded: async () => {},
  })
  await mailer.close()
  if (outcome.kind === 'sent') {
    const says = `${host}:${port} took a mail for ${to}: ${outcome.reply}`
    return { state: 'ok', about, says }
  }
  const says = `${host}:${port} did not take a mail for ${to}, at ${outcome.phase}: ${outcome.reply}`
  return { state: 'bad', about, says, todo: TODO[outcome.phase] ?? lookAt(outcome) }
}

function testMessage({ mailFrom, publicUrl }: Config, to: string, now: Temporal.Instant) {
  const { hostname } = new URL(publicUrl)
  const text = `This mail was sent by "bellwether doctor --mail" at ${publicUrl}.\n\nIt arrived: so will those of your automations.\n`
  return buildMessage({
    messageId: `<doctor.${now.epochMilliseconds}@${hostname.replace(/[^A-Za-z0-9.-]/g, '') || 'localhost'}>`,
    date: now,
    from: mailFrom,
    to: { name: '', address: to },
    cc: null,
    replyTo: null,
    subject: 'Bellwether can send mail',
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

const TODO: Partial<Record<Phase, string>> = {
  connect: 'are host and port in SMTP_URL right, and does a firewall let this machine reach them?',
  greeting:
    'is it a mail server? smtps:// speaks TLS from the first byte (465), smtp:// does not (587)',
  ehlo: 'the server wants none of this machine: its words say why',
  starttls:
    'the server must offer TLS with a certificate for its name; in a network that you trust, SMTP_URL=smtp://…?tls=never',
  auth: 'are user and password in SMTP_URL right? Write @ : / in them as %40 %3A %2F',
  mail: 'set MAIL_FROM to an address of a domain for which this server may send',
  rcpt: 'is the address right? A server that does not relay for this machine wants a user and password',
}

const lookAt = ({ kind }: Outcome) =>
  kind === 'uncertain'
    ? 'it may have arrived: look for it, and ask whoever runs the server why it hung up'
    : 'the server did not want this message: its words say why'
