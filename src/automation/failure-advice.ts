import { REASONS } from '../contract/reasons.ts'
import { isNoSuchMailbox, statusOfReply } from '../email/bounce.ts'
import { GAVE_UP } from '../store/trigger-queue.ts'

/** Which advice to give about a failed mail; `src/texts/` has the texts. */
export type Advice =
  | 'ours'
  | 'outage'
  | 'maybeSent'
  | 'address'
  | 'policy'
  | 'full'
  | 'retried'
  | 'refused'

export function adviceFor(reason: string): Advice {
  if (reason.startsWith(GAVE_UP)) return 'ours'
  // First, because it ends with the reply of our own mail server, which is not about the recipient.
  if (reason.startsWith(REASONS.serverTookNone)) return 'outage'
  if (reason.startsWith(REASONS.maybeSent)) return 'maybeSent'
  if (isNoSuchMailbox(statusOfReply(reason))) return 'address'
  if (/\b[45]\.7\.\d+\b|block|spam|reputation/i.test(reason)) return 'policy'
  if (/\b[45]\.2\.2\b|quota|mailbox full/i.test(reason)) return 'full'
  if (/^gave up after|\b4\d\d\b/.test(reason)) return 'retried'
  return 'refused'
}
