import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { insertEmails, type NewEmail } from '../../src/store/emails.ts'
import { gatherCrowd } from '../support/crowd.ts'
import { cloneDatabase } from '../support/database.ts'

const now = Temporal.Instant.from('2026-03-02T09:00Z')

test('a mail that names what its business does not have is refused, whatever it names', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const [own, other] = await gatherCrowd(url, {
    businesses: 2,
    appointments: () => 1,
    dueFrom: () => now,
    spreadMs: 0,
  })
  const named = await namesOf(url, own!.businessId)
  const foreign = await namesOf(url, other!.businessId)
  let emailId = 1000
  const insert = (given: Partial<NewEmail>) =>
    database.engine.transaction(async (tx) =>
      insertEmails(
        tx,
        [
          mail({ businessId: own!.businessId, emailId: (emailId += 1), ...named }),
          mail({
            businessId: own!.businessId,
            emailId: (emailId += 1),
            recipientKey: 'x',
            ...given,
          }),
        ],
        'pass over',
      ),
    )

  await insert(named)
  await insert({ eventTriggerId: null, eventActionId: null, emailTemplateId: null, clientId: null })
  for (const name of Object.keys(named) as (keyof typeof named)[]) {
    for (const id of [foreign[name], 999_999_999]) {
      const bad = insert({ [name]: id })
      await assert.rejects(bad, { code: '23503', constraint: 'email_names' }, `${name} ${id}`)
    }
  }
  await assert.rejects(insert({ emailCategoryId: 999_999_999 }), { code: '23503' })
  await assert.rejects(insert({ businessId: 999_999_999, eventTriggerId: null }), { code: '23503' })
})

async function namesOf(url: string, businessId: number) {
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
  html: '<p>x</p>',
  text: 'x',
  message: null,
  messageId: `<${given.emailId}@example.org>`,
  test: false,
  status: 'CAPTURED',
  statusReason: null,
  createdDate: now,
  ...given,
})
