import { isNoSuchMailbox, statusOfReply } from '../email/bounce.ts'
import { GAVE_UP } from '../store/trigger-queue.ts'

/** What a person can do about a mail that failed for this reason. */
export function adviceFor(reason: string): string {
  if (reason.startsWith(GAVE_UP)) return ADVICE.ours
  const status = statusOfReply(reason)
  if (isNoSuchMailbox(status)) return ADVICE.address
  if (/\b[45]\.7\.\d+\b|block|spam|reputation/i.test(reason)) return ADVICE.policy
  if (/\b[45]\.2\.2\b|quota|mailbox full/i.test(reason)) return ADVICE.full
  if (/^gave up after|\b4\d\d\b/.test(reason)) return ADVICE.retried
  return ADVICE.refused
}

const ADVICE = {
  ours: 'the automation itself failed; ask the operator of this installation to look at the log.',
  address:
    'the mailbox does not exist: correct the address of the client, or reach them by telephone.',
  policy:
    'the server of the recipient does not trust our mails: ask the operator to check SPF, DKIM and DMARC with `bellwether doctor --mail`.',
  full: 'the mailbox is full: reach the client by telephone, and send the message again later.',
  retried:
    'the server of the recipient took no mail for days: check the domain of the address, and reach the client by telephone.',
  refused: 'check the address; the answer of the server may say more. Send the message again then.',
}
