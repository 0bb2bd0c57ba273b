import { randomBytes } from 'node:crypto'
import { CaptureMailer } from '../../src/email/capture.ts'
import { SettingsCache } from '../../src/store/settings.ts'

/** What an engine is given whose mails are kept and not sent: all but database, clock and ears. */
export const capturing = () => ({
  settings: new SettingsCache(),
  random: randomBytes,
  leaseSeconds: 10,
  mailer: new CaptureMailer(),
  captures: true,
  mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
  host: 'localhost',
  unsubscribeLink: () => null,
})
