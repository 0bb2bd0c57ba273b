import { parseAddress } from '../contract/addresses.ts'
import { reasonText } from '../contract/reasons.ts'
import type { Mailer, Outcome, Outgoing } from './mailer.ts'

/** Used without a mail server: runs all steps up to the end of the message, and sends nothing. */
export class CaptureMailer implements Mailer {
  readonly server = null

  async send({ to, beforeMessageEnd }: Outgoing): Promise<Outcome> {
    if (parseAddress(to) === undefined) {
      return { kind: 'failed', phase: 'rcpt', reply: reasonText('notOneAddress') }
    }
    await beforeMessageEnd()
    return { kind: 'captured', phase: 'end', reply: reasonText('noServer') }
  }

  room() {
    return 500
  }

  isFull() {
    return false
  }

  async check() {
    return undefined
  }

  throttledProviders() {
    return []
  }

  async close() {}
}
