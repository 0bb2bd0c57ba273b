import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { answerLinks } from '../../src/email/answer-links.ts'
import { calendarLink } from '../../src/email/unsubscribe.ts'
import { shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

/** A business with one mail for each new appointment or class, and the calendar files of its mails. */
async function start(t: TestContext, objectType: 'CALENDAR' | 'CLASS_SCHEDULE', template: object) {
  const world = await enterWorld(t)
  const { app, call, save, businessId, ids } = world
  const { runEngine } = startEngine(world, {
    calendarLink: (mail) => calendarLink('http://localhost', 'test', mail),
    answerLinks: (mail) => answerLinks('http://localhost', 'test', mail),
  })
  await save('/client', { clientId: ids.clientId, phone: '+41 79 111 11 11' })
  await save('/business', { businessId, emailAddress: 'desk@praxis.example' })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'News',
    subject: 'Your visit',
    emailBody: '<p>Hello, <a href="%CONFIRM_URL%">I come</a></p>',
    ...template,
  })
  const send = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType,
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventType: objectType === 'CALENDAR' ? 'APPT_CREATED' : 'CLASS_SCHEDULE_CREATED' },
    eventActions: [send],
  })
  /** The mails so far by their recipient, with their text and the answer to their calendar link. */
  const readMails = async () => {
    await runEngine()
    const { items } = (await call('GET', '/emails')).body
    const mails = new Map<string, { text: string; file: { statusCode: number; body: string } }>()
    for (const { emailId, to } of items) {
      const { text } = (await call('GET', `/emails/${emailId}`)).body
      const link = /http:\/\/localhost(\/addToCalendar\/[\w.-]+)/.exec(text)![1]!
      mails.set(to, { text, file: await app.inject({ url: link }) })
    }
    return mails
  }
  const zoe = () =>
    save('/client', {
      firstName: 'Zoe',
      lastName: 'Secret',
      emailAddress: 'zoe@example.org',
      phone: '+41 79 999 99 99',
    })
  return { ...world, readMails, zoe }
}

test('the calendar link of a mail is not valid after the appointment got another client', async (t) => {
  const { book, clock, save, readMails, zoe } = await start(t, 'CALENDAR', {})
  const { calendarId } = await book(clock.in({ hours: 48 }))
  assert.equal((await readMails()).get('anna@example.org')!.file.statusCode, 200)
  const { clientId } = await zoe()
  await save('/calendar', { calendarId, clientId })
  const { file } = (await readMails()).get('anna@example.org')!
  assert.equal(file.statusCode, 404)
  assert.doesNotMatch(file.body, /Zoe|999/)
})

test('calendar entries have the place in one line, and only those of staff name the client', async (t) => {
  const { book, clock, ids, readMails, save } = await start(t, 'CALENDAR', {
    ccAddress: 'elena@example.org',
    bccAddress: 'archive@elsewhere.example',
  })
  await save('/location', { locationId: ids.locationId, address: 'Quai 1\n8001 Zürich' })
  await book(clock.in({ hours: 48 }))
  const mails = await readMails()
  assert.match(mails.get('elena@example.org')!.file.body, /Anna Müller[^]*111 11 11/)
  for (const to of ['anna@example.org', 'archive@elsewhere.example']) {
    assert.doesNotMatch(mails.get(to)!.file.body, /Müller|111 11 11/)
    assert.match(mails.get(to)!.file.body, /^LOCATION:Altstadt\\, Quai 1\\, 8001 Zürich\r$/m)
  }
})

test('the calendar link of a class names no student to a former student or in one mail for all', async (t) => {
  for (const toAddress of [undefined, 'desk@praxis.example']) {
    const { save, clock, ids, readMails, zoe } = await start(t, 'CLASS_SCHEDULE', { toAddress })
    const { clientId } = await zoe()
    const { classScheduleId } = await save('/classSchedule', {
      ...ids,
      clientId: undefined,
      name: 'Yoga',
      startTime: clock.in({ hours: 48 }).epochMilliseconds,
      endTime: clock.in({ hours: 49 }).epochMilliseconds,
      clientIdList: [ids.clientId, clientId],
    })
    await readMails()
    await save('/classSchedule', { classScheduleId, clientIdList: [clientId] })
    const { file } = (await readMails()).get(toAddress ?? 'anna@example.org')!
    assert.equal(file.statusCode, 200)
    assert.doesNotMatch(file.body, /Zoe|Anna|79 /)
  }
})

test('an address with capitals or a name of another script gets answer links and its own entry', async (t) => {
  for (const emailAddress of ['anna@Example.org', 'anna@müller.example']) {
    const { app, book, clock, save, ids, readMails } = await start(t, 'CALENDAR', {})
    await save('/client', { clientId: ids.clientId, emailAddress })
    await book(clock.in({ hours: 48 }))
    const [mail] = (await readMails()).values()
    assert.doesNotMatch(mail!.file.body, /Anna|111 11 11/)
    const link = /http:\/\/localhost(\/answer\/confirm[\w.-]+)/.exec(mail!.text)
    assert.ok(link, mail!.text)
    const page = await app.inject({ url: link[1]! })
    assert.equal(page.statusCode, 200)
    assert.match(page.body, /<form/)
  }
})

test('a cancellation by a status of the business cancels the calendar entry', async (t) => {
  const { book, clock, save, readMails } = await start(t, 'CALENDAR', {})
  await save('/status', {
    objectType: 'CALENDAR',
    status: 'ABGESAGT',
    label: 'Abgesagt',
    outcome: 'CANCELLED',
    live: false,
  })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await readMails()
  await save('/calendar', { calendarId, status: 'ABGESAGT' })
  const { file } = (await readMails()).get('anna@example.org')!
  assert.match(file.body, /METHOD:CANCEL/)
  assert.match(file.body, /STATUS:CANCELLED/)
})

test('in a calendar on the web, a cancelled visit makes no entry: a page says that it is cancelled', async (t) => {
  const { app, book, businessId, clock, save, readMails } = await start(t, 'CALENDAR', {})
  await save('/business', { businessId, bookingUrl: 'https://book.example/' })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const { text } = (await readMails()).get('anna@example.org')!
  const link = /http:\/\/localhost(\/addToCalendar\/[\w.-]+)/.exec(text)![1]!
  assert.equal((await app.inject({ url: `${link}?to=google` })).statusCode, 302)

  await save('/calendar', { calendarId, status: 'CANCELLED' })
  for (const to of ['google', 'outlook']) {
    const page = await app.inject({ url: `${link}?to=${to}` })
    assert.equal(page.statusCode, 200)
    assert.match(page.body, /<h1>This appointment is cancelled\.<\/h1>/)
    assert.match(page.body, /class="when gone"/)
    assert.match(page.body, /href="https:\/\/book\.example\/"/)
  }
})

test('a link that does not work answers a page in the language of the browser', async (t) => {
  const { app } = await enterWorld(t)
  const seal = 'A'.repeat(22)
  for (const url of [
    `/addToCalendar/1.1.${seal}`,
    `/answer/confirm.1.1.a.${seal}`,
    `/unsubscribe/1.1.${seal}`,
    `/unsubscribe/${'x'.repeat(150)}`,
    `/report/stop/1.1.u1.${seal}`,
    '/report/link/bwr_x',
  ]) {
    const { statusCode, headers, body } = await app.inject({
      url,
      headers: { 'accept-language': 'de-CH,de;q=0.9' },
    })
    assert.equal(statusCode, 404, url)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8', url)
    assert.match(body, /<html lang="de-CH"[^]*<h1>Dieser Link ist nicht gültig\.<\/h1>/, url)
  }
})
