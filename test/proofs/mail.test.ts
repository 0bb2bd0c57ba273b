import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startOpenSmtpd } from '../support/opensmtpd.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { EMPTY_QUEUES_MS, isFull, proofSeed, randomFrom } from './random.ts'

/**
 * Real processes are killed while they send; `npm run proof:mail` kills 50 of them. Every mail of every
 * accepted booking arrives. A mail that arrives twice has the same bytes, and its row records that the
 * process died before it read the server's answer.
 */
const KILLS = isFull ? 50 : 2
const BOOKINGS = 30

test(`no mail is lost if the process that sends it is killed, ${KILLS} times`, async (t) => {
  const server = await startMailServer(t, { delay: 15 })
  await killSenders(t, KILLS, {
    port: server.port,
    accepted: () => server.taken.length,
    arrived: async () => server.taken.map((mail) => mail.bytes),
  })
})

if (isFull) {
  test(`no mail is lost with OpenSMTPD if the process that sends it is killed, ${KILLS / 5} times`, async (t) => {
    await killSenders(t, KILLS / 5, await startOpenSmtpd(t))
  })
}

type Receiver = {
  port: number
  /** How many messages it has accepted. */
  accepted(): number
  arrived(): Promise<string[]>
}

async function killSenders(t: TestContext, kills: number, server: Receiver) {
  const random = randomFrom(proofSeed(t))
  const { database, url } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL: url,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    ADMIN_API_KEY: 'proof-operator-key',
    LEASE_SECONDS: '1',
    LOG_LEVEL: 'error',
    RATE_LIMIT: '100000/s,100000',
  }
  const api = await startService(t, { ...settings, ROLE: 'api' })
  const business = await prepare(api.base)

  let uncertain = 0
  for (let kill = 0; kill < kills; kill++) {
    const worker = await startService(t, { ...settings, ROLE: 'worker' })
    await business.book(BOOKINGS)
    const wanted = server.accepted() + 1 + random.below(BOOKINGS)
    await until(() => server.accepted() >= wanted, EMPTY_QUEUES_MS)
    // At any point of the SMTP dialogue, also at its end.
    await new Promise((resolve) => setTimeout(resolve, random.below(30)))
    await worker.stop('SIGKILL')
  }
  await startService(t, { ...settings, ROLE: 'worker' })
  const db = database.engine
  const unfinished = async () => {
    const [row] = await db.query<{ count: number }>(
      sql`select count(*) from any_trigger where status in ('SCHEDULED', 'RUNNING')`,
    )
    return row!.count
  }
  await until(async () => {
    // The full proof waits for the minute until the next attempt.
    if (!isFull)
      await db.query(sql`
        update email_queue set next_attempt_time = now()
        where (business_id, email_id) in (
          select business_id, email_id from email_queue where worker is null for update skip locked)`)
    return (await unfinished()) === 0
  }, EMPTY_QUEUES_MS)

  const rows = await db.query<{ messageId: string; status: string; replies: string[] }>(sql`
    select message_id as "messageId", status,
           array(select a ->> 'phase' || ' ' || (a ->> 'reply') from jsonb_array_elements(attempts) a)
             as replies
    from email`)
  assert.equal(rows.length, kills * BOOKINGS, 'one mail for each booking')
  const triggers = await db.query<{ status: string; count: number }>(
    sql`select status, count(*) from any_trigger group by status`,
  )
  assert.deepEqual(triggers, [{ status: 'COMPLETED', count: kills * BOOKINGS }])

  const arrived = Map.groupBy(await server.arrived(), messageIdOf)
  assert.deepEqual(
    [...arrived.keys()].filter((id) => !rows.some((row) => row.messageId === id)),
    [],
    'every mail that arrived has a row',
  )
  for (const { messageId, status, replies } of rows) {
    const copies = arrived.get(messageId) ?? []
    const deaths = replies.filter((reply) => reply === 'end the worker died').length
    uncertain += deaths
    assert.equal(status, 'SENT')
    assert.ok(copies.length >= 1, `${messageId} never arrived: ${replies.join('; ')}`)
    assert.ok(
      copies.length <= 1 + deaths,
      `${messageId} arrived ${copies.length} times: ${replies.join('; ')}`,
    )
    assert.equal(new Set(copies).size, 1, 'the same bytes')
  }
  const doubled = [...arrived.values()].filter((copies) => copies.length > 1).length
  t.diagnostic(
    `${rows.length} mails, ${kills} processes killed, ${uncertain} left uncertain, ${doubled} arrived twice`,
  )
}

const messageIdOf = (bytes: string) => /^Message-ID: (\S+)/m.exec(bytes)![1]!

/** A business that sends its client a mail at every booking. */
async function prepare(base: string) {
  const postAs =
    (key: string) =>
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
    async (path: string, body: object | string): Promise<any> => {
      const isText = typeof body === 'string'
      const answer = await fetch(new URL(path, base), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': isText ? 'application/x-ndjson' : 'application/json',
        },
        body: isText ? body : JSON.stringify(body),
      })
      const text = await answer.text()
      assert.ok(answer.ok, `POST ${path}: ${answer.status} ${text}`)
      return JSON.parse(text)
    }
  const operator = postAs('proof-operator-key')
  // An import sends many mails at once, which would otherwise need an approval.
  const business = { name: 'Praxis', timeZone: 'Europe/Zurich', bulkLimit: 1_000_000 }
  const { businessId } = await operator('/business', business)
  const { key } = await operator(`/business/${businessId}/apiKey`, { name: 'proof' })
  const post = postAs(key)
  const { locationId } = await post('/location', { name: 'Altstadt' })
  const { professionalId } = await post('/professional', { firstName: 'E', lastName: 'G' })
  const { reasonId } = await post('/reason', { name: 'Consultation' })
  const emailAddress = 'anna@example.org'
  const { clientId } = await post('/client', { firstName: 'A', lastName: 'M', emailAddress })
  const { emailTemplateId } = await post('/emailTemplate', {
    templateName: 'Booked',
    subject: 'Booked: %APPT_START_TIME%',
    emailBody: '<p>Dear %CLIENT_FULLNAME%</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await post('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    eventActions: [action],
  })
  let next = 1_900_000_000_000
  const book = async (count: number) => {
    const lines = Array.from({ length: count }, () => {
      const startTime = (next += 3_600_000)
      const endTime = startTime + 1_800_000
      const ids = { clientId, professionalId, reasonId, locationId }
      return JSON.stringify({ kind: 'calendar', ...ids, startTime, endTime })
    })
    const { accepted } = await post('/import', lines.join('\n'))
    assert.deepEqual(accepted, { calendar: count })
  }
  return { book }
}
