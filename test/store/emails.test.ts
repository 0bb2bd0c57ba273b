import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { sql } from '../../src/database/sql.ts'
import { insertEmails, type NewEmail } from '../../src/store/emails.ts'
import { encodeBody, makeDictionary } from '../../src/store/message-bodies.ts'
import { FIRE_ALL_SQL, insertDueReminders } from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'

const now = Temporal.Instant.from('2026-03-02T09:00Z')

test('a mail that refers to a missing row, or a row of another business, is refused', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const [own, other] = await insertDueReminders(url, {
    businesses: 2,
    appointments: () => 1,
    dueFrom: () => now,
    spreadMs: 0,
  })
  await asOwner(database, FIRE_ALL_SQL)
  const references = await referencesOf(url, own!.businessId)
  const foreign = await referencesOf(url, other!.businessId)
  let emailId = 1000
  const insert = (given: Partial<NewEmail>) =>
    database.engine.transaction(async (tx) =>
      insertEmails(
        tx,
        [
          mail({ businessId: own!.businessId, emailId: (emailId += 1), ...references }),
          mail({
            businessId: own!.businessId,
            emailId: (emailId += 1),
            recipientKey: 'x',
            ...given,
          }),
        ],
        { ifExists: 'skip' },
      ),
    )

  await insert(references)
  await insert({ eventTriggerId: null, eventActionId: null, emailTemplateId: null, clientId: null })
  for (const name of Object.keys(references) as (keyof typeof references)[]) {
    for (const id of [foreign[name], 999_999_999]) {
      const bad = insert({ [name]: id })
      await assert.rejects(bad, { code: '23503', constraint: 'check_references' }, `${name} ${id}`)
    }
  }
  await assert.rejects(insert({ emailCategoryId: 999_999_999 }), { code: '23503' })
  await assert.rejects(insert({ businessId: 999_999_999, eventTriggerId: null }), { code: '23503' })
})

test('mails are stored as given, whichever values they have in common', async (t) => {
  const dictionary = makeDictionary('Subject: x')
  const { database, url } = await cloneDatabase(t)
  const [one, two] = await insertDueReminders(url, {
    businesses: 2,
    appointments: () => 1,
    dueFrom: () => now,
    spreadMs: 0,
  })
  const { eventActionId, emailTemplateId } = await referencesOf(url, one!.businessId)
  const first = mail({ businessId: one!.businessId, emailId: 1, eventActionId, emailTemplateId })
  const others: Partial<NewEmail>[] = [
    {},
    { businessId: two!.businessId, eventActionId: null, emailTemplateId: null },
    { fromAddress: 'other@example.org' },
    { eventActionId: null },
    { objectType: 'INVITATION', objectId: null, objectUUId: 'u' },
    { status: 'SUPPRESSED', statusReason: 'unsubscribed' },
    { status: 'QUEUED', message: encodeBody('Subject: x', null) },
    { message: encodeBody('Subject: x and more', dictionary), dictionary },
    { test: true, clientId: null, toAddress: '', subject: 'NULL' },
  ]
  let emailId = 1
  const batches = [
    ...others.map((other) => [first, { ...first, ...other }]),
    [first],
    others.map((other) => ({ ...first, ...other })),
  ].map((batch) => batch.map((email) => ({ ...email, emailId: (emailId += 1) })))
  for (const batch of batches) {
    await database.engine.transaction(async (tx) => insertEmails(tx, batch))
  }
  const rows = await database.engine.query<NewEmail>(sql`
    select business_id as "businessId", email_id as "emailId", event_trigger_id as "eventTriggerId",
           event_action_id as "eventActionId", email_template_id as "emailTemplateId",
           email_category_id as "emailCategoryId", object_type as "objectType", object_id as "objectId",
           object_uuid as "objectUUId", client_id as "clientId", recipient_key as "recipientKey",
           to_address as "toAddress", from_address as "fromAddress", subject, message,
           message_id as "messageId",
           test, status, status_reason as "statusReason", created_date as "createdDate"
    from email order by email_id`)
  const plain = ({ createdDate, ...rest }: Omit<NewEmail, 'usefulUntil' | 'dictionary'>) => ({
    ...rest,
    createdDate: `${createdDate}`,
  })
  assert.deepEqual(
    rows.map(plain),
    batches
      .flat()
      .map(({ usefulUntil: _useful, dictionary: _dictionary, ...email }) => plain(email)),
  )
  const queued = await database.engine.query<{ id: number }>(
    sql`select email_id as id from email_queue`,
  )
  assert.equal(queued.length, 2)
})

async function referencesOf(url: string, businessId: number) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select (select min(event_trigger_id) from event_trigger where business_id = $1)::int as "eventTriggerId",
            (select min(event_action_id) from event_action where business_id = $1)::int as "eventActionId",
            (select min(email_template_id) from email_template where business_id = $1)::int as "emailTemplateId",
            (select min(client_id) from client where business_id = $1)::int as "clientId"`,
    [businessId],
  )
  await client.end()
  return rows[0] as Record<
    'eventTriggerId' | 'eventActionId' | 'emailTemplateId' | 'clientId',
    number
  >
}

const mail = (given: Partial<NewEmail> & { businessId: number; emailId: number }): NewEmail => ({
  eventTriggerId: null,
  eventActionId: null,
  emailTemplateId: null,
  emailCategoryId: null,
  objectType: 'CALENDAR',
  objectId: 1,
  objectUUId: null,
  clientId: null,
  recipientKey: '',
  toAddress: 'anna@example.org',
  fromAddress: 'no-reply@example.org',
  subject: 'A "quoted" subject, \\ and {braces}',
  message: encodeBody('x', null),
  dictionary: null,
  messageId: `<${given.emailId}@example.org>`,
  test: false,
  status: 'CAPTURED',
  statusReason: null,
  createdDate: now,
  usefulUntil: Temporal.Instant.from('2026-03-05T09:00:00Z'),
  ...given,
})
