import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mailer, Outcome, Outgoing } from '../../src/email/mailer.ts'
import { unsubscribeLink } from '../../src/email/unsubscribe.ts'
import { sql } from '../../src/database/sql.ts'
import { forgetBodies } from '../../src/automation/mail-bodies.ts'
import { reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'
import { mailerParts } from '../support/scripted-mailer.ts'
import { readStored } from '../support/stored-mails.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** Sends one reminder of a category that allows unsubscribing. */
async function sendReminder(world: World) {
  const { businessId, clock, save } = world
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow. <a href="%UNSUBSCRIBE_LINK%">No more</a></p>',
    emailCategoryId,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const engine = startEngine(world, {
    calendarLink: () => null,
    unsubscribeLink: (mail) => unsubscribeLink('http://localhost', 'test', mail),
  })
  const booked = await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await engine.runEngine()
  return { ...engine, booked, emailTemplateId }
}

test('mails are listed, read as rendered, and found by object and client', async (t) => {
  const world = await enterWorld(t)
  const { booked, emailTemplateId } = await sendReminder(world)
  const { call, ids } = world
  const { items } = (await call('GET', '/emails?status=CAPTURED')).body
  assert.equal(items.length, 1)
  const [mail] = items
  assert.equal(mail.to, 'anna@example.org')
  assert.equal(mail.emailTemplateId, emailTemplateId)
  assert.equal(mail.objectId, booked.calendarId)
  assert.equal(mail.test, false)
  assert.equal(mail.attempts.length, 1)
  assert.equal((await call('GET', '/emails?status=FAILED')).body.items.length, 0)
  assert.deepEqual((await call('GET', '/emails')).body.items, items)

  const whole = (await call('GET', `/emails/${mail.emailId}`)).body
  assert.match(whole.html, /Tomorrow/)
  assert.match(whole.text, /Tomorrow/)
  const page = await call('GET', `/emails/${mail.emailId}/html`)
  assert.match(page.body, /<p>Tomorrow/)
  assert.match(String(page.headers['content-security-policy']), /^sandbox; default-src 'none'/)

  assert.equal((await call('GET', `/emails/calendar/${booked.calendarId}`)).body.length, 1)
  assert.equal((await call('GET', `/emails/client/${ids.clientId}`)).body.length, 1)
  assert.equal((await call('GET', '/emails/calendar/999999')).status, 404)

  await call('POST', `/emails/${mail.emailId}/resend`)
  const path = `/emails/client/${ids.clientId}`
  const first = await call('GET', `${path}?limit=1`)
  assert.deepEqual(first.body, [mail], 'the oldest comes first')
  const [, next] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link))!
  const second = await call('GET', next!)
  assert.deepEqual([second.body.length, second.headers.link], [1, undefined])
  assert.deepEqual((await call('GET', path)).body, [...first.body, ...second.body])
  assert.equal((await call('GET', `${path}?limit=501`)).status, 422)
  assert.equal((await call('GET', '/emails/999999')).status, 404)
})

test('mails are filtered by statuses, trigger, client, location, words and template, and counted', async (t) => {
  const world = await enterWorld(t)
  const { emailTemplateId, booked, runEngine } = await sendReminder(world)
  const { book, call, clock, ids, save } = world
  const bruno = await save('/client', {
    firstName: 'Bruno',
    lastName: '<b>Weber</b>',
    emailAddress: 'bruno@example.org',
  })
  const { locationId } = await save('/location', { name: 'London' })
  await book(clock.in({ hours: 25 }), { clientId: bruno.clientId, locationId })
  clock.advance({ hours: 1 })
  await runEngine()
  const list = async (query: string) =>
    (await call('GET', `/emails?${query}`)).body.items.map((mail: { to: string }) => mail.to)
  const [anna, brunos] = ['anna@example.org', 'bruno@example.org']
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`)).body

  assert.deepEqual(await list('status=FAILED,CAPTURED'), [brunos, anna])
  assert.deepEqual(await list('status=FAILED,RETRYING,SENDING'), [])
  assert.deepEqual(await list(`eventTriggerId=${trigger.eventTriggerId}`), [anna])
  assert.deepEqual(await list(`clientId=${bruno.clientId}&status=CAPTURED`), [brunos])
  assert.deepEqual(await list(`locationId=${locationId}`), [brunos])
  assert.deepEqual(await list(`locationId=${ids.locationId}&status=CAPTURED`), [anna])
  assert.deepEqual(await list('text=brun'), [brunos])
  assert.deepEqual(await list('text=zoe'), [])
  assert.deepEqual(await list(`emailTemplateId=${emailTemplateId}`), [brunos, anna])
  assert.deepEqual(await list(`templateId=${emailTemplateId}`), [brunos, anna])
  const unused = await save('/emailTemplate', {
    templateName: 'Unused',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  assert.deepEqual(await list(`emailTemplateId=${unused.emailTemplateId}`), [])
  const { body: page } = await call('GET', '/emails?status=CAPTURED,SENT&limit=1')
  assert.deepEqual(await list(`status=CAPTURED,SENT&limit=1&cursor=${page.nextCursor}`), [anna])
  assert.equal((await call('GET', '/emails?status=CAPTURED,GONE')).status, 422)

  const counts = async (query: string) => (await call('GET', `/emails/counts?${query}`)).body
  assert.deepEqual(await counts(''), { CAPTURED: 2 })
  assert.deepEqual(await counts(`clientId=${ids.clientId}`), { CAPTURED: 1 })
  assert.deepEqual(await counts('status=FAILED,SENT'), {})

  const [named] = (await call('GET', '/emails?expand=names')).body.items
  assert.equal(named.clientName, 'Bruno <b>Weber</b>')
  assert.equal(named.clientId, bruno.clientId)
  assert.equal(named.templateName, 'Reminder')
  assert.equal(named.locationName, 'London')
})

test('a mail is sent again as a new one, and its trigger stays as it is', async (t) => {
  const world = await enterWorld(t)
  const { booked, runEngine } = await sendReminder(world)
  const { call } = world
  const [first] = (await call('GET', '/emails')).body.items
  const before = (await call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`)).body
  const again = await call('POST', `/emails/${first.emailId}/resend`)
  assert.equal(again.status, 201)
  assert.notEqual(again.body.messageId, first.messageId)
  assert.equal(again.body.eventTriggerId, null)
  await runEngine()
  const mail = (await call('GET', `/emails/${again.body.emailId}`)).body
  assert.equal(mail.status, 'CAPTURED')
  assert.match(mail.html, /Tomorrow/)
  const about = (await call('GET', `/emails/calendar/${booked.calendarId}`)).body
  assert.deepEqual(
    about.map((one: { emailId: number }) => one.emailId),
    [first.emailId, mail.emailId],
    'a mail without a trigger is listed with its object',
  )
  const after = (await call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`)).body
  assert.deepEqual(after, before)
  const many = await call('POST', '/emails/resend', { ids: [first.emailId, 999_999] })
  assert.deepEqual(many.body.done, [first.emailId])
  assert.equal(many.body.refused[0].status, 404)
})

test('a mail that is still in the queue is not sent again', async (t) => {
  const world = await enterWorld(t)
  const { call, clock } = world
  await sendReminder(world)
  const [captured] = (await call('GET', '/emails')).body.items
  const { emailId } = (await call('POST', `/emails/${captured.emailId}/resend`)).body
  const seen: string[] = []
  const tryAgain = async () => {
    const { status } = (await call('GET', `/emails/${emailId}`)).body
    const again = await call('POST', `/emails/${emailId}/resend`)
    const { refused } = (await call('POST', '/emails/resend', { ids: [emailId] })).body
    seen.push(`${status}: ${again.status}`)
    if (again.status !== 409) return
    const detail = `This email is ${status} and will be sent anyway. Send it again when that has ended.`
    assert.equal(again.body.detail, detail)
    assert.deepEqual(refused, [{ id: emailId, status: 409, detail }])
  }
  const answers: Outcome[] = [
    { kind: 'retry', phase: 'rcpt', reply: '451 busy' },
    { kind: 'uncertain', phase: 'end', reply: 'the connection closed' },
  ]
  const mailer: Mailer = {
    ...mailerParts,
    send: async () => {
      await tryAgain()
      return answers.shift() ?? { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
  }
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await tryAgain()
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await runEngine()
    await tryAgain()
    clock.advance({ minutes: 10 })
  }
  assert.deepEqual(seen, [
    'QUEUED: 409',
    'SENDING: 409',
    'RETRYING: 409',
    'SENDING: 409',
    'UNCERTAIN: 409',
    'SENDING: 409',
    'SENT: 201',
  ])
})

test('a captured email that is sent again has all its headers and attachments', async (t) => {
  const world = await enterWorld(t)
  const { booked, emailTemplateId } = await sendReminder(world)
  await world.save('/emailTemplate', {
    emailTemplateId,
    fromName: 'Harbour Clinic',
    replyToAddress: 'desk@example.org',
  })
  const [kept] = (await world.call('GET', '/emails')).body.items
  const again = await world.call('POST', `/emails/${kept.emailId}/resend`)
  assert.equal(again.status, 201)
  const taken: Outgoing[] = []
  const mailer: Mailer = {
    send: async (mail) => {
      taken.push(mail)
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
    ...mailerParts,
  }
  await startEngine(world, { mailer, captures: false }).runEngine()
  const { headers, body } = taken[0]!.message
  const link = `/unsubscribe/${world.businessId}.${kept.emailId}.`
  assert.match(headers, new RegExp(`^List-Unsubscribe: <http[^>]*${RegExp.escape(link)}`, 'm'))
  assert.match(headers, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  assert.match(headers, /^From: .*Harbour Clinic/m)
  assert.match(headers, /^To: =\?UTF-8\?B\?QW5u[^]*?<anna@example\.org>/m)
  assert.match(headers, /^Reply-To: .*desk@example\.org/m)
  assert.match(headers, /^Content-Language: en\r$/m)
  assert.match(headers, /^Feedback-ID: template-\d+:business-\d+:bellwether\r$/m)
  assert.match(headers, /^List-ID: /m)
  const [, encoded] = /text\/calendar[^]*?\r\n\r\n([^]*?)\r\n--/.exec(body)!
  const file = Buffer.from(encoded!, 'base64').toString()
  assert.match(file, new RegExp(`^UID:.*${booked.calendarId}`, 'm'))
  assert.match(file, /^METHOD:PUBLISH/m)
})

test('an email that is sent again keeps its client after the appointment got another client', async (t) => {
  const world = await enterWorld(t)
  const { booked, emailTemplateId } = await sendReminder(world)
  const { call, save } = world
  await save('/emailTemplate', {
    emailTemplateId,
    fromName: 'For %CLIENT_FIRSTNAME%',
    replyToAddress: '%CLIENT_EMAIL%',
  })
  const ben = { firstName: 'Ben', lastName: 'Weiss', emailAddress: 'ben@example.org' }
  const { clientId } = await save('/client', ben)
  await save('/calendar', { calendarId: booked.calendarId, clientId })
  const [kept] = (await call('GET', '/emails')).body.items
  const { emailId } = (await call('POST', `/emails/${kept.emailId}/resend`)).body
  const message = await readStored(world.db, emailId)
  assert.match(message, /^To: .*anna@example\.org/m)
  assert.doesNotMatch(message, /Ben|ben@example/)
})

test('a test email goes to the given addresses and is marked as a test', async (t) => {
  const world = await enterWorld(t)
  const { booked, emailTemplateId, runEngine } = await sendReminder(world)
  const about = { objectType: 'CALENDAR', objectId: booked.calendarId }
  const path = `/emailTemplate/${emailTemplateId}/test`
  const answer = await world.call('POST', path, {
    ...about,
    to: ['me@example.org', 'you@example.org'],
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  await runEngine()
  const { items } = (await world.call('GET', '/emails?limit=2')).body
  assert.match(await readStored(world.db, items[0].emailId), /^Content-Language: en\r$/m)
  assert.ok(
    items.every(
      (mail: { test: boolean; status: string }) => mail.test && mail.status === 'CAPTURED',
    ),
  )
  const bad = await world.call('POST', path, { ...about, to: ['a@b.c, d@e.f'] })
  assert.equal(bad.body.errors[0].pointer, '/to/0')
  const six = Array.from({ length: 6 }, (_, i) => `a${i}@example.org`)
  assert.equal((await world.call('POST', path, { ...about, to: six })).status, 422)
})

test('GET of the unsubscribe link changes nothing; the one-click POST unsubscribes', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = await sendReminder(world)
  const { app, call, clock } = world
  const [mail] = (await call('GET', '/emails')).body.items
  const { html } = (await call('GET', `/emails/${mail.emailId}`)).body
  const link = new URL(/href="([^"]*unsubscribe[^"]*)"/.exec(html)![1]!)

  const opened = await app.inject({ method: 'GET', url: link.pathname })
  assert.equal(opened.statusCode, 200)
  assert.match(opened.body, /anna@example\.org/)
  assert.equal((await call('GET', '/suppression')).body.items.length, 0)

  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = 'List-Unsubscribe=One-Click'
  const clicked = await app.inject({ method: 'POST', url: link.pathname, headers, payload })
  assert.equal(clicked.statusCode, 200, clicked.body)
  const forged = link.pathname.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  assert.equal(
    (await app.inject({ method: 'POST', url: forged, headers, payload })).statusCode,
    404,
  )
  const [entry] = (await call('GET', '/suppression')).body.items
  assert.equal(entry.emailAddress, 'anna@example.org')
  assert.equal(entry.reason, 'UNSUBSCRIBED')

  const next = await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${next.calendarId}`)).body
  assert.equal(`${trigger.status} ${trigger.statusReason}`, 'SKIPPED the recipient unsubscribed')

  assert.equal((await call('DELETE', '/suppression/anna@example.org')).status, 200)
  assert.equal((await call('DELETE', '/suppression/anna@example.org')).status, 404)
  const { items } = (await call('GET', '/audit?object=suppression')).body
  assert.deepEqual(
    items.map((entry: { change: string; user: string }) => `${entry.change} by ${entry.user}`),
    ['DELETED by key:test', 'CREATED by SYSTEM'],
  )
  assert.doesNotMatch(
    JSON.stringify(items),
    /anna/,
    'the audit contains no addresses, because it cannot erase them',
  )
})

test('an address is suppressed by hand, once', async (t) => {
  const { call, clock } = await enterWorld(t)
  const body = { emailAddress: 'Anna@Example.org', detail: 'asked by phone' }
  const added = (await call('POST', '/suppression', body)).body
  assert.equal(added.emailAddress, 'anna@example.org')
  assert.deepEqual(
    [added.reason, added.detail, added.createdUser],
    ['UNSUBSCRIBED', 'asked by phone', 'key:test'],
  )
  clock.advance({ hours: 1 })
  assert.deepEqual((await call('POST', '/suppression', { ...body, detail: 'again' })).body, added)
  await call('POST', '/suppression', { ...body, reason: 'COMPLAINED' })
  assert.equal((await call('GET', '/suppression')).body.items.length, 2)
  const refused = await call('POST', '/suppression', { emailAddress: 'anna' })
  assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '/emailAddress'])
})

test('a bounced address gets no email at all until its suppression is deleted', async (t) => {
  const world = await enterWorld(t)
  const { app, call, key } = world
  const { booked } = await sendReminder(world)
  const mails = async () => (await call('GET', `/emails/calendar/${booked.calendarId}`)).body
  const [mail] = await mails()
  const message = [
    'From: MAILER-DAEMON@mx.example',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Sorry.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; Anna@example.org',
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 no such user',
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: ${mail.messageId}`,
    '',
    '--b--',
    '',
  ].join('\r\n')
  const answer = await call('POST', '/emails/bounce', { message })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const [entry] = (await call('GET', '/suppression')).body.items
  assert.equal(`${entry.emailAddress} ${entry.reason}`, 'anna@example.org BOUNCED')
  assert.equal((await call('POST', '/emails/bounce', { message: 'Hello' })).status, 422)
  const raw = await app.inject({
    method: 'POST',
    url: '/emails/bounce',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'message/rfc822' },
    payload: message,
  })
  assert.deepEqual(raw.json(), { suppressed: ['anna@example.org'] })
  const [returned] = await mails()
  assert.equal(returned.status, 'CAPTURED')
  assert.equal(returned.statusReason, 'bounced: 5.1.1 550 no such user')
})

/** A bounce of Anna's mail, with the delivery-status part in base64. */
const notification = (messageId: string, status: string, words: string) => {
  const fields = [
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; anna@example.org',
    'Action: failed',
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${words}`,
  ].join('\r\n')
  return [
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(fields).toString('base64'),
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: ${messageId}`,
    '--b--',
    '',
  ].join('\r\n')
}

test('a report suppresses only the recipient of the mail that it quotes', async (t) => {
  const world = await enterWorld(t)
  await sendReminder(world)
  const { call } = world
  const suppressed = async () => (await call('GET', '/suppression')).body.items.length
  const [{ emailId, messageId }] = (await call('GET', '/emails')).body.items
  const report = (quoted: string, recipient: string) => {
    const fields = `Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ${recipient}\nAction: failed\nStatus: 5.1.1`
    return [
      'Content-Type: multipart/report; boundary="b"\n\n--b\nContent-Type: message/delivery-status\n',
      `${fields}\n\n--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: ${quoted}\n--b--\n`,
    ].join('\n')
  }
  const guessed = messageId.replace(/[0-9a-f]{24}/, '0'.repeat(24))
  for (const quoted of [guessed, messageId.replace(/^<\d+/, '<99999'), '<made@up.example>']) {
    const message = report(quoted, 'olga@praxis.example')
    const refused = await call('POST', '/emails/bounce', { message })
    assert.equal(refused.status, 422, quoted)
    assert.match(refused.body.detail, /^\/message: is about no mail of this business/)
  }
  const forwarded = report(messageId, 'olga@praxis.example')
  const answer = await call('POST', '/emails/bounce', { message: forwarded })
  assert.deepEqual([answer.status, answer.body], [200, { suppressed: [] }], 'it was forwarded')
  assert.equal(await suppressed(), 0)
  assert.equal((await call('GET', `/emails/${emailId}`)).body.statusReason, 'bounced: 5.1.1')
})

test('a bounce because of a policy is shown on the mail and does not suppress the address', async (t) => {
  const world = await enterWorld(t)
  await sendReminder(world)
  const { call } = world
  const [{ emailId, messageId }] = (await call('GET', '/emails')).body.items
  const message = notification(messageId, '5.7.1', '550 5.7.1 on a block list')
  const answer = await call('POST', '/emails/bounce', { message })
  assert.deepEqual([answer.status, answer.body], [200, { suppressed: [] }])
  assert.deepEqual((await call('GET', '/suppression')).body.items, [])
  const { statusReason } = (await call('GET', `/emails/${emailId}`)).body
  assert.equal(statusReason, 'bounced: 5.7.1 550 5.7.1 on a block list')
})

test('a NUL in the encoded part of a bounce does not cause an error', async (t) => {
  const world = await enterWorld(t)
  await sendReminder(world)
  const [{ messageId }] = (await world.call('GET', '/emails')).body.items
  const message = notification(messageId, '5.1.1', '550 5.1.1 no\0 such user')
  const answer = await world.call('POST', '/emails/bounce', { message })
  assert.deepEqual([answer.status, answer.body], [200, { suppressed: ['anna@example.org'] }])
  const [entry] = (await world.call('GET', '/suppression')).body.items
  assert.equal(entry.detail, '5.1.1 550 5.1.1 no such user')
})

test('the content of an email is stored for the retention time, then only its hash', async (t) => {
  const world = await startWorld(t)
  await sendReminder(world)
  const { call, clock, database } = world
  const [{ emailId, subject }] = (await call('GET', '/emails')).body.items
  const before = clock.now()
  assert.equal(await forgetBodies(database.engine, before, 10), 0)
  clock.advance({ hours: 1 })
  assert.equal(await forgetBodies(database.engine, clock.now(), 10), 1)
  assert.equal(await forgetBodies(database.engine, clock.now(), 10), 0)
  const mail = (await call('GET', `/emails/${emailId}`)).body
  assert.equal(mail.html, null)
  assert.equal(mail.text, null)
  assert.equal(mail.subject, subject)
  const [row] = await world.db.query<{ hash: string; message: Buffer | null }>(
    sql`select body_hash as hash, message from email where email_id = ${emailId}`,
  )
  assert.match(row!.hash, /^[0-9a-f]{64}$/)
  assert.equal(row!.message, null)
  assert.equal((await call('GET', `/emails/${emailId}/html`)).status, 409)
  assert.equal((await call('POST', `/emails/${emailId}/resend`)).status, 409)
})

test('a queued email keeps its content, however old it is', async (t) => {
  const world = await startWorld(t)
  const { booked, emailTemplateId } = await sendReminder(world)
  const about = { objectType: 'CALENDAR', objectId: booked.calendarId }
  await world.call('POST', `/emailTemplate/${emailTemplateId}/test`, {
    ...about,
    to: ['me@example.org'],
  })
  world.clock.advance({ hours: 24 * 50 })
  assert.equal(await forgetBodies(world.database.engine, world.clock.now(), 10), 1)
  const [waiting] = (await world.call('GET', '/emails?status=QUEUED')).body.items
  const whole = () => world.call('GET', `/emails/${waiting.emailId}`)
  assert.match((await whole()).body.html, /Tomorrow/)

  await world.db.query(
    sql`update email set status = 'SENT', next_attempt_time = null where status = 'QUEUED'`,
  )
  assert.match((await whole()).body.html, /Tomorrow/)
  assert.match((await whole()).body.text, /Tomorrow/)
  assert.equal(await forgetBodies(world.database.engine, world.clock.now(), 10), 1)
  assert.equal((await whole()).body.html, null)
  assert.equal((await whole()).body.text, null)
  assert.equal(await forgetBodies(world.database.engine, world.clock.now(), 10), 0)
})
