import { parseAddress } from '../contract/addresses.ts'
import type { Mailer, Outcome, Outgoing } from './mailer.ts'

/** Without a mail server: the same way to the end of the message, and then nothing leaves. */
export class CaptureMailer implements Mailer {
  async send({ to, onMessageEnded }: Outgoing): Promise<Outcome> {
    if (parseAddress(to) === undefined) {
      return { kind: 'failed', phase: 'rcpt', reply: 'not one plain address' }
    }
    await onMessageEnded()
    return { kind: 'captured', phase: 'end', reply: 'captured: no mail server is set' }
  }

  room() {
    return 500
  }

  async close() {}
}
