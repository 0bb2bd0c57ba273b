import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { convertBodies, dictionaryOf } from '../../src/automation/mail-bodies.ts'
import { sql } from '../../src/database/sql.ts'
import { templateLines } from '../../src/demo/messages.ts'
import { insertEmails, type NewEmail } from '../../src/store/emails.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { asOwner, urlOf } from '../support/owner.ts'
import { runCommand } from '../support/command.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { readStored } from '../support/stored-mails.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'
import { placeOf } from '../../src/email/layout-tokens.ts'
import { calendarFile } from '../../src/email/calendar-file.ts'
import {
  contentOf,
  draftContent,
  draftMessage,
  encodeDraft,
  makeMessageId,
  messageText,
  buildMessage,
} from '../../src/email/message.ts'
import {
  decodeBody,
  deleteUnusedDictionaries,
  encodeBody,
  makeDictionary,
} from '../../src/store/message-bodies.ts'
import { renderDemoMails } from '../support/demo-mails.ts'

const link = (path: string) => `https://bellwether.example/${path}/12.90000.0123456789abcdefghijkl`
const links = {
  mailFrom: { name: 'Bellwether', address: 'no-reply@bellwether.example' },
  host: 'bellwether.example',
  unsubscribeLink: () => link('unsubscribe'),
  calendarLink: () => link('addToCalendar'),
}
const { mailFrom } = links

test('bodies of the demo take at most 300 bytes on average, whole mails 360, and are read back byte for byte', () => {
  const start = Temporal.Instant.from('2026-11-03T14:30:00Z')
  const sizes = renderDemoMails().map((mail, i) => {
    const from = { name: 'Lindenhof Physiotherapy', address: mailFrom.address }
    const { context } = mail
    const entry = calendarFile({
      uid: `calendar-12-${48_213 + i}-mh2k3abc@bellwether.example`,
      sequence: 2,
      cancelled: mail.templateName === 'Cancelled',
      startTime: start.add({ minutes: 15 * i }),
      endTime: start.add({ minutes: 15 * i + 45 }),
      summary: 'Physiotherapy, Lindenhof Physiotherapy',
      description: context.location?.directions ?? null,
      location: placeOf(context.location),
      url: context.business.website,
      organizer: from,
      attendee: mail.to!,
      changedTime: start.subtract({ hours: 400 + i }),
    })
    const messageId = makeMessageId(12, 90_000 + i, 'bellwether.example')
    const parts = {
      ...mail,
      from,
      to: mail.to!,
      replyTo: { name: '', address: 'hello@lindenhof.example' },
      messageId,
      date: start.subtract({ hours: 48 }),
      calendar: context.calendar || context.classSchedule ? entry : null,
      unsubscribeLink: mail.templateName.includes('Invitation')
        ? 'https://bellwether.example/unsubscribe/7d1fabcd-1234'
        : null,
    }
    const draft = draftMessage(parts)
    const dictionary = dictionaryOf(mail.compiled, mail.context, links)
    const stored = encodeBody(draft, dictionary)
    const body = encodeBody(draftContent(mail), dictionary)
    assert.deepEqual(contentOf(decodeBody(body, dictionary)), { html: mail.html, text: mail.text })
    assert.equal(
      encodeDraft(decodeBody(stored, dictionary), { messageId, createdDate: parts.date }),
      messageText(buildMessage(parts)),
    )
    return { whole: stored.length, body: body.length }
  })
  const averageOf = (part: 'whole' | 'body') =>
    sizes.reduce((sum, size) => sum + size[part], 0) / sizes.length
  assert.ok(averageOf('body') <= 300, `${averageOf('body')} bytes`)
  assert.ok(averageOf('whole') <= 360, `${averageOf('whole')} bytes`)
})

test('a sent mail of the demo takes at most 1.5 KB with its indexes, and a retry sends the same bytes', async (t) => {
  const world = await startWorld(t)
  const { database, clock } = world
  await insertDueReminders(await urlOf(database), {
    businesses: 1,
    appointments: () => 400,
    dueFrom: () => clock.now().subtract({ seconds: 1 }),
    spreadMs: 0,
  })
  const { subject, emailBody } = templateLines.find((line) =>
    line.templateName.startsWith('Reminder two days'),
  )!
  await asOwner(
    database,
    `update email_template set subject = $t$${subject}$t$, email_body = $t$${emailBody}$t$`,
  )
  const later = { kind: 'retry', phase: 'data', reply: '450 later' } as const
  const { mailer, taken } = scripted(later)
  const attempted: string[] = []
  const send: typeof mailer.send = (mail) => {
    attempted.push(messageText(mail.message))
    return mailer.send(mail)
  }
  const { runEngine } = startEngine(world, {
    mailer: { ...mailer, send, room: () => 500 },
    captures: false,
  })
  while ((await runEngine()) > 0);
  clock.advance({ hours: 1 })
  while ((await runEngine()) > 0);
  assert.equal(taken.length, 400)
  assert.equal(attempted.length, 401)
  const hashes = new Set(attempted.map((text) => createHash('sha256').update(text).digest('hex')))
  assert.equal(hashes.size, 400)

  // In a copy, because the space of old row versions depends on which transactions ran meanwhile.
  const sizeOfCopy = async () => {
    const [row] = await database.engine.query<{ bytes: number }>(
      sql`select pg_total_relation_size('measured') as bytes`,
    )
    return row!.bytes
  }
  await asOwner(
    database,
    'create table measured (like email including all excluding generated) with (fillfactor = 70)',
  )
  const empty = await sizeOfCopy()
  await asOwner(database, 'insert into measured select * from email')
  const bytes = ((await sizeOfCopy()) - empty) / 400
  assert.ok(bytes <= 1_500, `${bytes} bytes`)
})

test('a missing or damaged dictionary fails its own mails only, and doctor reports it', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, call, save, database } = world
  for (const subject of ['First', 'Second']) {
    const template = { templateName: subject, subject, emailBody: `<p>${subject} of two</p>` }
    const { emailTemplateId } = await save('/emailTemplate', template)
    const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
    await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  }
  await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  const { mailer } = scripted()
  const engine = startEngine(world, { mailer, captures: false })
  await engine.fire()
  await asOwner(
    database,
    `update mail_dictionary set content = 'x' where dictionary_key =
       (select substring(message from 2 for 6) from email where subject = 'First')`,
  )
  await engine.runEngine()
  const mails = (await call('GET', '/emails')).body.items as Record<string, string | number>[]
  const bySubject = (subject: string) => mails.find((mail) => mail.subject === subject)!
  assert.equal(bySubject('Second').status, 'SENT')
  assert.equal(bySubject('First').status, 'FAILED')
  assert.match(String(bySubject('First').statusReason), /the dictionary of this mail is damaged/)
  assert.equal((await call('GET', `/emails/${bySubject('Second').emailId}`)).status, 200)
  const read = await call('GET', `/emails/${bySubject('First').emailId}`)
  assert.equal(read.status, 409)
  assert.match(read.body.detail, /cannot be read: the dictionary of this mail is damaged/)

  const settings = { DATABASE_URL: await urlOf(database) }
  const damaged = await runCommand(['doctor'], settings)
  assert.match(damaged.stdout, /^bad +Contents of mails +dictionary \w+ of business 1 is damaged/m)
  await asOwner(database, `delete from mail_dictionary where content = 'x'`)
  assert.equal((await call('GET', `/emails/${bySubject('First').emailId}`)).status, 409)
  const missing = await runCommand(['doctor'], settings)
  assert.match(missing.stdout, /^bad +Contents of mails +dictionary \w+ of business 1 is missing/m)
})

test('mails that older versions stored can be read, and are converted in batches', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, call, save, database, db } = world
  const template = {
    templateName: 'R',
    subject: 'See you',
    emailBody: '<p>Tomorrow, %CLIENT_FULLNAME%</p>',
  }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  for (const minutes of [0, 60]) await world.book(clock.in({ hours: 48, minutes }))
  clock.advance({ hours: 26 })
  const { mailer } = scripted()
  const engine = startEngine(world, { mailer, captures: false })
  await engine.fire()
  const ids = (
    await db.query<{ id: number }>(sql`select email_id as id from email order by 1`)
  ).map(({ id }) => id)
  const [first, second] = ids as [number, number]
  const read = async (id: number) => {
    const { html, text } = (await call('GET', `/emails/${id}`)).body
    return { html, text }
  }
  const before = [await read(first), await read(second)]
  assert.match(before[0]!.html, /Tomorrow, Anna/)
  const wire = await readStored(db, first)
  await db.query(
    sql`update email set message = convert_to(${wire}, 'UTF8') where email_id = ${first}`,
  )
  await db.query(sql`
    update email set message = null, html = ${before[1]!.html}, text = ${before[1]!.text}
    where email_id = ${second}`)
  assert.deepEqual([await read(first), await read(second)], before)
  assert.equal(await convertBodies(database.engine, 1), 1)
  assert.deepEqual([await read(first), await read(second)], before)
  assert.equal(await convertBodies(database.engine, 1), 1)
  assert.equal(await convertBodies(database.engine, 1), 0)
  assert.deepEqual([await read(first), await read(second)], before)
  assert.equal(await readStored(db, first), wire)
  const old = await db.query(sql`
    select from email where html is not null or text is not null or get_byte(message, 0) <> 2`)
  assert.deepEqual(old, [])
})

test('a dictionary is deleted with the last mail that uses it, but not while a mail is inserted', async (t) => {
  const { businessId, clock, database, db } = await startWorld(t)
  const { engine } = database
  const dictionary = makeDictionary('What these mails have in common')
  const mail = (emailId: number): NewEmail => ({
    businessId,
    emailId,
    eventTriggerId: null,
    eventActionId: null,
    emailTemplateId: null,
    emailCategoryId: null,
    objectType: null,
    objectId: null,
    objectUUId: null,
    clientId: null,
    recipientKey: '',
    toAddress: 'anna@example.org',
    fromAddress: 'no-reply@example.org',
    subject: 'x',
    message: encodeBody('What these mails have in common, and more', dictionary),
    dictionary,
    messageId: `<${emailId}@example.org>`,
    test: false,
    status: 'CAPTURED',
    statusReason: null,
    createdDate: clock.now(),
    usefulUntil: clock.now(),
  })
  const insert = (emailId: number) =>
    engine.transaction(async (tx) => insertEmails(tx, [mail(emailId)]))
  await insert(1)
  assert.equal(await deleteUnusedDictionaries(engine, 10), 0)
  await db.query(sql`update email set message = null`)
  // A transaction that has inserted a mail keeps the dictionary until it ends, and the mail after that.
  await engine.transaction(async (tx) => {
    insertEmails(tx, [mail(2)])
    await tx.query(sql`select 1`)
    assert.equal(await deleteUnusedDictionaries(engine, 10), 0)
  })
  assert.equal(await deleteUnusedDictionaries(engine, 10), 0)
  await db.query(sql`update email set message = null`)
  // A mail that is inserted while its dictionary is deleted waits, and stores it again.
  let inserted: Promise<unknown> | undefined
  await engine.transaction(async (tx) => {
    await tx.query(sql`delete from mail_dictionary`)
    inserted = insert(3)
    await until(() => isLockAwaited(db))
  })
  await inserted
  const [row] = await db.query<{ count: number }>(
    sql`select count(*) as count from mail_dictionary`,
  )
  assert.equal(row!.count, 1)
  await db.query(sql`update email set message = null`)
  assert.equal(await deleteUnusedDictionaries(engine, 10), 1)
})
