import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { adviceFor } from '../../src/automation/failure-advice.ts'
import { REASONS } from '../../src/contract/reasons.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer, Outcome } from '../../src/email/mailer.ts'
import { saveMailOutage } from '../../src/store/mail-servers.ts'
import { mailerParts } from '../support/scripted-mailer.ts'
import { startEngine, startWorld } from '../support/world.ts'
import { readStored } from '../support/stored-mails.ts'

const SENT: Outcome = { kind: 'sent', phase: 'end', reply: '250 taken' }
const REFUSED: Outcome = {
  kind: 'failed',
  phase: 'rcpt',
  reply: '550 5.1.1 <anna@example.org> no such user',
}
const BUSY: Outcome = { kind: 'retry', phase: 'rcpt', reply: '451 4.3.0 try again later' }
const LATER: Outcome = { kind: 'retry', phase: 'rcpt', reply: '450 4.2.0 greylisted' }
const UNAVAILABLE: Outcome = { kind: 'unavailable', phase: 'connect', reply: 'ECONNREFUSED' }

/** A business in Zurich that mails a confirmation of each booking. It is 10:00 on 2 March 2026. */
async function startMailing(t: TestContext) {
  const world = await startWorld(t, { SMTP_URL: 'smtp://mail.test:25?tls=never' })
  const { businessId, save, clock } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Confirmation',
    subject: 'Booked',
    emailBody: '<p>Booked</p>',
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    description: 'Confirmation',
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const person = (username: string, role: string, more: object = {}) =>
    save('/user', {
      username,
      password: 'long enough',
      role,
      emailAddress: `${username}@praxis.example`,
      ...more,
    })
  await person('olga', 'OWNER')
  await person('anna', 'ADMINISTRATOR', { failureMails: true })

  const server = { answer: SENT }
  const mailer: Mailer = {
    ...mailerParts,
    async send(mail) {
      const answer = mail.to.startsWith('busy@') ? BUSY : server.answer
      if (answer.kind === 'sent') await mail.beforeMessageEnd()
      return mail.to.endsWith('@praxis.example') && answer.kind === 'failed' ? SENT : answer
    },
    check: async () => (server.answer.kind === 'unavailable' ? server.answer : undefined),
  }
  const engine = startEngine(world, { mailer, captures: false, publicUrl: 'https://bw.example' })
  const step = async (by: Temporal.DurationLike) => {
    clock.advance(by)
    await engine.loops.notices.runOnce()
    await engine.runEngine()
  }
  const notices = async () => {
    const mails = await world.db.query<Stored>(sql`
      select email_id as "emailId", to_address as to, subject, status
      from email where event_trigger_id is null order by email_id`)
    const read = async ({ emailId, ...mail }: Stored) => ({
      ...mail,
      text: await readStored(world.db, emailId),
    })
    return Promise.all(mails.map(read))
  }
  const book = (more: object = {}) => world.book(clock.in({ hours: 200 }), more)
  return { ...world, book, engine, server, step, notices, person }
}

type Stored = { emailId: number; to: string; subject: string; status: string }

/** Without the quoted-printable encoding. */
const textOf = ({ text }: { text: string }) =>
  Buffer.from(
    text
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString()

const toAndSubject = (notices: { to: string; subject: string }[]) =>
  notices.map(({ to, subject }) => `${to}: ${subject}`).toSorted()

test('one mail in the morning reports the refused mails to the users who want it', async (t) => {
  const { book, server, step, notices, person } = await startMailing(t)
  await person('otto', 'OWNER', { failureMails: false })
  await person('adam', 'ADMINISTRATOR')
  await person('oda', 'OWNER', { emailAddress: null })
  await book()
  server.answer = REFUSED
  await step({ seconds: 0 })
  await step({ hours: 12 })
  assert.deepEqual(await notices(), [], 'not before the next morning')
  await step({ hours: 9, minutes: 59 })
  assert.deepEqual(await notices(), [])
  await step({ minutes: 1 })
  const sent = await notices()
  assert.deepEqual(toAndSubject(sent), [
    'anna@praxis.example: One message could not be sent',
    'olga@praxis.example: One message could not be sent',
  ])
  assert.doesNotMatch(sent[0]!.text, /anna@example/)
  assert.match(textOf(sent[0]!), /Confirmation: 550 5\.1\.1 … no such user/)
  assert.match(sent[0]!.text, /What to do: the mailbox does not exist/)
  assert.match(sent[0]!.text, /https:\/\/bw\.example\/console\/activity/)
  await step({ hours: 1 })
  await step({ hours: 24 })
  await step({ hours: 24 })
  assert.equal((await notices()).length, 2, 'nothing failed since')
})

test('a day without failures has no mail, and a notice that fails is not reported', async (t) => {
  const { book, server, step, notices, save, businessId } = await startMailing(t)
  await book()
  await step({ seconds: 0 })
  await step({ hours: 23 })
  assert.deepEqual(await notices(), [])
  await save('/business', { businessId, name: 'Praxis' })
  server.answer = REFUSED
  await book()
  await step({ seconds: 0 })
  server.answer = { ...BUSY }
  await step({ hours: 24 })
  assert.equal((await notices()).length, 2)
  server.answer = UNAVAILABLE
  for (let hour = 0; hour < 3; hour += 1) await step({ hours: 1 })
  assert.equal((await notices()).length, 2, 'an outage that delays only notices is not reported')
  server.answer = BUSY
  for (let day = 0; day < 6; day += 1) await step({ hours: 24 })
  assert.equal((await notices()).length, 2)
})

test('users are notified when no mail could be sent for an hour, once for each outage', async (t) => {
  const { book, save, server, step, notices } = await startMailing(t)
  server.answer = UNAVAILABLE
  await book()
  await step({ seconds: 0 })
  await step({ minutes: 59 })
  assert.deepEqual(await notices(), [])
  await step({ minutes: 1 })
  const sent = await notices()
  assert.deepEqual(toAndSubject(sent), [
    'anna@praxis.example: No mail could be sent for an hour',
    'olga@praxis.example: No mail could be sent for an hour',
  ])
  assert.match(
    sent[0]!.text,
    /1 mail has been waiting since 2 March 2026 at 10:00 \(Z=C3=BCrich time\)/,
  )
  for (let hour = 0; hour < 20; hour += 1) await step({ hours: 1 })
  assert.equal((await notices()).length, 2)

  server.answer = SENT
  for (let minute = 0; minute < 60; minute += 10) await step({ minutes: 10 })
  assert.deepEqual(
    (await notices()).map(({ status }) => status),
    ['SENT', 'SENT'],
    'they are sent when the server is back',
  )
  server.answer = BUSY
  await book()
  for (let minute = 0; minute < 70; minute += 10) await step({ minutes: 10 })
  assert.equal((await notices()).length, 2, 'one mail that is deferred is not an outage')
  const { clientId } = await save('/client', {
    firstName: 'Cleo',
    lastName: 'Busy',
    emailAddress: 'cleo@b.example',
  })
  await book({ clientId })
  for (let minute = 0; minute < 70; minute += 10) await step({ minutes: 10 })
  assert.equal((await notices()).length, 4, 'a second outage is reported too')
})

test('an outage is not reported to a business whose mail is paused, until it resumes', async (t) => {
  const { book, businessId, save, server, step, notices } = await startMailing(t)
  server.answer = UNAVAILABLE
  await book()
  await step({ seconds: 0 })
  await save('/business', { businessId, mailPaused: true })
  await step({ hours: 2 })
  assert.deepEqual(await notices(), [])
  await save('/business', { businessId, mailPaused: false })
  await step({ minutes: 1 })
  assert.equal((await notices()).length, 2)
})

test('users are notified if the mails of all clients are deferred for an hour', async (t) => {
  const { book, save, server, step, notices } = await startMailing(t)
  server.answer = BUSY
  const bookFor = async (name: string) => {
    const emailAddress = `${name}@example.org`
    const { clientId } = await save('/client', { firstName: name, lastName: 'B', emailAddress })
    await book({ clientId })
  }
  await bookFor('client1')
  for (let minute = 0; minute < 70; minute += 10) await step({ minutes: 10 })
  assert.deepEqual(await notices(), [])
  await bookFor('client2')
  for (let minute = 0; minute < 70; minute += 10) await step({ minutes: 10 })
  assert.equal((await notices()).length, 2)
})

test('a notice quotes the newest answer of the deferred mails', async (t) => {
  const { book, save, server, step, notices } = await startMailing(t)
  const bookAt = async (domain: string) => {
    const emailAddress = `cleo@${domain}`
    const { clientId } = await save('/client', { firstName: 'C', lastName: 'D', emailAddress })
    await book({ clientId })
  }
  server.answer = BUSY
  await bookAt('a.example')
  await step({ seconds: 0 })
  server.answer = LATER
  for (const domain of ['b.example', 'c.example']) await bookAt(domain)
  await step({ seconds: 30 })
  await step({ minutes: 61 })
  const [notice] = await notices()
  assert.match(textOf(notice!), /The last answer was: 450 4\.2\.0 greylisted/)
})

test('an outage of a mail server that is not used any more is not reported', async (t) => {
  const { book, server, step, notices, database, clock } = await startMailing(t)
  await saveMailOutage(
    database.engine,
    'former.test:25',
    { since: clock.now().subtract({ hours: 48 }), phase: 'connect', reply: 'ECONNREFUSED' },
    clock.now(),
  )
  server.answer = BUSY
  await book()
  for (let minute = 0; minute < 90; minute += 10) await step({ minutes: 10 })
  assert.deepEqual(await notices(), [])
})

test('a server that accepts some mails is not an outage', async (t) => {
  const { book, save, step, notices } = await startMailing(t)
  for (const domain of ['a.example', 'b.example', 'c.example']) {
    const emailAddress = `busy@${domain}`
    const { clientId } = await save('/client', { firstName: 'B', lastName: 'C', emailAddress })
    await book({ clientId })
  }
  for (let minute = 0; minute < 180; minute += 20) {
    await book()
    await step({ minutes: 20 })
  }
  assert.deepEqual(await notices(), [])
  for (let minute = 0; minute < 60; minute += 20) await step({ minutes: 20 })
  assert.equal((await notices()).length, 2, 'none was accepted for an hour')
})

test('users are notified of a bulk call that waits for approval', async (t) => {
  const { call, ids, clock, step, notices, save, businessId } = await startMailing(t)
  await save('/business', { businessId, bulkLimit: 1 })
  const startTime = clock.in({ hours: 50 }).epochMilliseconds
  const line = { kind: 'calendar', ...ids, startTime, endTime: startTime + 60_000 }
  await call('POST', '/import', `${JSON.stringify(line)}\n${JSON.stringify(line)}`, {
    'content-type': 'application/x-ndjson',
  })
  await step({ seconds: 0 })
  await step({ minutes: 1 })
  const sent = await notices()
  assert.deepEqual(toAndSubject(sent), [
    'anna@praxis.example: 2 mails wait for your approval',
    'olga@praxis.example: 2 mails wait for your approval',
  ])
  assert.match(sent[0]!.text, /An import by key:test would send 2 mails at once/)
  assert.match(sent[0]!.text, /The console lists them on Today\..*:\s+https?:\S+\/console\/\s/s)
  assert.doesNotMatch(sent[0]!.text, /POST/)
})

test('a user gets at most ten notices a day', async (t) => {
  const { call, ids, clock, step, notices, save, businessId } = await startMailing(t)
  await save('/business', { businessId, bulkLimit: 1 })
  const startTime = clock.in({ hours: 50 }).epochMilliseconds
  const line = JSON.stringify({ kind: 'calendar', ...ids, startTime, endTime: startTime + 60_000 })
  const importTwo = (minutes: number) => {
    clock.advance({ minutes })
    return call('POST', '/import', `${line}\n${line}`, { 'content-type': 'application/x-ndjson' })
  }
  for (let count = 0; count < 11; count += 1) await importTwo(1)
  await step({ seconds: 0 })
  const countTo = async (to: string) => (await notices()).filter((one) => one.to === to).length
  assert.equal(await countTo('olga@praxis.example'), 10)
  assert.equal(await countTo('anna@praxis.example'), 10)
  await importTwo(24 * 60)
  await step({ seconds: 0 })
  assert.equal(await countTo('olga@praxis.example'), 11)
})

test('notices are written in the language of the business', async (t) => {
  const { book, server, step, notices, save, businessId } = await startMailing(t)
  const outages = {
    'de-CH': [
      'Seit einer Stunde konnte keine E-Mail gesendet werden',
      /1 E-Mail wartet seit 2\. März 2026 um 10:00 \(Ortszeit Zürich\), .*Die letzte Antwort war: ECONNREFUSED.*Einstellungen, Personen/s,
    ],
    fr: [
      'Aucun e-mail n’a pu être envoyé depuis une heure',
      /1 e-mail attend depuis le 2 mars 2026 à 11:20 \(heure locale à Zurich\), .*La dernière réponse était\s: ECONNREFUSED/s,
    ],
  } as const
  for (const [language, [subject, text]] of Object.entries(outages)) {
    await save('/business', { businessId, language })
    server.answer = UNAVAILABLE
    await book()
    await step({ seconds: 0 })
    await step({ hours: 1 })
    const notice = (await notices()).at(-1)!
    assert.equal(notice.subject, subject)
    assert.match(textOf(notice), text)
    server.answer = SENT
    for (let minute = 0; minute < 20; minute += 5) await step({ minutes: 5 })
  }
})

test('the advice depends on the answer of the server', () => {
  for (const [reason, advice] of [
    ['550 5.1.1 no such user', 'address'],
    ['550 5.7.1 listed on a block list', 'policy'],
    ['552 5.2.2 over quota', 'full'],
    ['gave up after 40 attempts: 451 4.3.0 later', 'retried'],
    [`${REASONS.maybeSent}: gave up after 11 attempts: connection lost`, 'maybeSent'],
    ['gave up after 3 failed attempts: bad template', 'ours'],
    [`${REASONS.serverTookNone}: 554 5.7.1 not welcome`, 'outage'],
    ['554 no', 'refused'],
  ] as const) {
    assert.equal(adviceFor(reason), advice, reason)
  }
})
