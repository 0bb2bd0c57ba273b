import type { MailServerChange } from '../automation/mail-server.ts'
import type { Log } from '../log.ts'

export function logMailServer(log: Log, { isWorking, since, ...change }: MailServerChange) {
  const fields = { ...change, since: String(since) }
  if (isWorking) log.info(fields, 'the mail server takes mails again: delivery has resumed')
  else
    log.error(fields, 'the mail server takes no mail: delivery is paused and will resume by itself')
}
