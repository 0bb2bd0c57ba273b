import { businessIdOf, emailIdOf } from './message.ts'

/** A mail of ours that a mail server has taken. */
export type TakenMail = {
  businessId: number
  emailId: number
  messageId: string
  /** In lower case. */
  toAddress: string
}

/** Lines such as `4Xyz1: message-id=<…>` and `4Xyz1: to=<…>, …, status=sent (250 ok)`. */
const POSTFIX = {
  taken: /: ([0-9A-Za-z]{6,}): message-id=(<[^>]+>)/,
  delivery: /: ([0-9A-Za-z]{6,}): to=<([^>]+)>,(?: orig_to=<([^>]+)>,)?.*\bstatus=\w+/,
  end: /: ([0-9A-Za-z]{6,}): removed$/,
}

/** Lines such as `1abcDE-000000-XX <= … id=…` and `1abcDE-000000-XX => …`. */
const EXIM = {
  taken: / (\w{6}-\w{6,11}-\w{2,4}) <= .*\bid=(\S+@\S+)/,
  delivery: / (\w{6}-\w{6,11}-\w{2,4}) (?:=>|->|>>|==|\*\*|\*>) ([^\s<]+)(?: <([^>]+)>)?/,
  end: / (\w{6}-\w{6,11}-\w{2,4}) Completed$/,
}

/**
 * Reads the log of Postfix or Exim and yields our mails with their recipients. A mail that the server tried
 * to deliver counts, whatever came of it: the service sent it.
 */
export async function* readMailLog(lines: AsyncIterable<string>): AsyncGenerator<TakenMail> {
  const messageIds = new Map<string, string>()
  for await (const line of lines) {
    for (const { taken, delivery, end } of [POSTFIX, EXIM]) {
      const [, id, messageId] = taken.exec(line) ?? []
      if (id !== undefined && messageId !== undefined) {
        messageIds.set(id, messageId.startsWith('<') ? messageId : `<${messageId}>`)
        continue
      }
      const [, delivered = '', to, original] = delivery.exec(line) ?? []
      const mail = mailOf(messageIds.get(delivered), original ?? to)
      if (mail) yield mail
      messageIds.delete(end.exec(line)?.[1] ?? '')
    }
  }
}

/** Whether a line is one that `readMailLog` understands. */
export const isMailLogLine = (line: string) =>
  [POSTFIX, EXIM].some((log) => Object.values(log).some((pattern) => pattern.test(line)))

function mailOf(messageId = '', toAddress: string | undefined): TakenMail | undefined {
  const [businessId, emailId] = [businessIdOf(messageId), emailIdOf(messageId)]
  if (businessId === undefined || emailId === undefined || toAddress === undefined) return undefined
  return { businessId, emailId, messageId, toAddress: toAddress.toLowerCase() }
}
