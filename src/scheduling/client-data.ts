import { readMailBody } from '../automation/mail-bodies.ts'
import type { ClientData } from '../contract/client-data.ts'
import type { Db } from '../database/database.ts'
import { contentOf } from '../email/message.ts'
import {
  readAuditOf,
  readClientRows,
  readFeedRows,
  readSuppressionsOf,
  readTriggersOf,
  type Row,
} from '../store/client-data.ts'
import { findEmail, listEmails, type StoredEmail } from '../store/emails.ts'
import { pagesOf } from '../store/pages.ts'

type ClientKey = { businessId: number; clientId: number }

const ID_OF = {
  client: 'clientId',
  calendar: 'calendarId',
  classSchedule: 'classScheduleId',
  invitation: 'invitationUUID',
  recall: 'recallId',
  disclaimer: 'disclaimerId',
} as const

const OBJECTS = [
  { kind: 'calendar', type: 'CALENDAR' },
  { kind: 'classSchedule', type: 'CLASS_SCHEDULE' },
  { kind: 'invitation', type: 'INVITATION' },
  { kind: 'recall', type: 'RECALL' },
  { kind: 'disclaimer', type: 'DISCLAIMER' },
] as const

/** Everything that is stored about a client, in one snapshot; undefined if there is no such client. */
export function readClientData(db: Db, key: ClientKey): Promise<ClientData | undefined> {
  return db.snapshot(async (tx) => {
    const rows = await readClientRows(tx, key)
    if (!rows) return undefined
    const { businessId } = key
    const idsOf = (kind: keyof typeof ID_OF) =>
      [rows[kind]].flat().map((row: Row) => row[ID_OF[kind]] as number | string)
    // A class belongs to all of its students: its audit names the others.
    const audited = (['client', 'calendar', 'invitation', 'recall', 'disclaimer'] as const).map(
      (kind) => ({ object: kind, ids: idsOf(kind).map(String) }),
    )
    const objects = OBJECTS.flatMap(({ kind, type }) => idsOf(kind).map((id) => ({ type, id })))
    const email = await readMails(tx, key)
    const address = rows.client.emailAddress
    const addresses = [address, ...email.map(({ to }) => to)]
      .filter((one) => typeof one === 'string')
      .map((one) => one.toLowerCase())
    return {
      ...rows,
      ...(await readFeedRows(tx, key)),
      eventTrigger: await readTriggersOf(tx, businessId, objects),
      email,
      suppression: await readSuppressionsOf(tx, businessId, [...new Set(addresses)]),
      audit: await readAuditOf(tx, businessId, audited),
    }
  })
}

const PAGE = 200

/** The mails to the client, the newest first, with their content as long as it is stored. */
async function readMails(tx: Db, { businessId, clientId }: ClientKey) {
  const mails: Row[] = []
  const pages = pagesOf(PAGE, (last: StoredEmail | undefined) => {
    const after = last && { createdDate: String(last.createdDate), emailId: last.emailId }
    return listEmails(tx, businessId, { clientId, visibility: null }, { after, limit: PAGE })
  })
  for await (const page of pages) {
    for (const { emailId } of page) {
      const mail = await findEmail(tx, businessId, emailId, null)
      if (!mail) continue
      const body = await readMailBody(tx, mail)
      const { html, text } = body ? contentOf(body.text) : { html: null, text: null }
      const { to, subject, status, createdDate, sentTime, messageId } = mail
      const times = {
        createdDate: createdDate.epochMilliseconds,
        sentTime: sentTime?.epochMilliseconds ?? null,
      }
      mails.push({ emailId, to, subject, status, messageId, ...times, html, text })
    }
  }
  return mails
}
