import { heloName, type Config } from '../config.ts'
import { CaptureMailer } from '../email/capture.ts'
import { dkimSigner } from '../email/dkim.ts'
import type { Mailer } from '../email/mailer.ts'
import { DEFAULT_LIMITS } from '../email/send-limits.ts'
import { DEFAULT_TIMEOUTS, parseSmtpUrl, SmtpMailer } from '../email/smtp.ts'

/** Sends email through SMTP_URL; without it, captures email. */
export function makeMailer(config: Config): Mailer {
  const { smtpUrl, dkim } = config
  if (smtpUrl === undefined) return new CaptureMailer()
  const signers = dkim ? [dkimSigner(dkim.domain, dkim.selector, dkim.key)] : []
  return new SmtpMailer(parseSmtpUrl(smtpUrl), {
    dkim: signers,
    connections: config.smtpConnections,
    timeouts: { ...DEFAULT_TIMEOUTS, end: config.smtpAnswerSeconds * 1_000 },
    name: heloName(config),
    providerLimits: { ...DEFAULT_LIMITS, ...config.sendLimits },
  })
}
