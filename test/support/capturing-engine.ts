import { randomBytes } from 'node:crypto'
import { CaptureMailer } from '../../src/email/capture.ts'
import { SettingsCache } from '../../src/store/settings.ts'

/** The parts of an engine that captures mails, without database, clock and notifications. */
export const capturing = () => ({
  settings: new SettingsCache(),
  random: randomBytes,
  leaseSeconds: 10,
  mailer: new CaptureMailer(),
  captures: true,
  mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
  host: 'localhost',
  calendarLink: () => null,
  unsubscribeLink: () => null,
})
