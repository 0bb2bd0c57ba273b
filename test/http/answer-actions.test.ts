import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { answerLinks } from '../../src/email/answer-links.ts'
import { formTokenIn, linksIn, startAsking } from '../support/answer-mails.ts'
import { startEngine, startWorld } from '../support/world.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('a client who cancels by mistake takes it back while the time is free, and staff read the reason', async (t) => {
  const { app, ask, call, book, businessId, open, runEngine, save, statusOf } = await startAsking(t)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Cancelled by client',
    subject: '%ANSWER_CLIENT% cancelled: %ANSWER_NOTE%',
    emailBody: '<p>%ANSWER_NOTE%</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 2 },
    triggerHours: 0,
    triggerMinutes: 0,
    changes: ['ANSWER'],
    newStatus: 'CANCELLED',
    eventActions: [{ ...action, recipient: { value: 'staff' } }],
  })
  const { calendarId, cancel } = await ask()
  const staffSubjects = async () => {
    await runEngine()
    return (await call('GET', `/emails/calendar/${calendarId}`)).body
      .filter(({ to }: { to: string }) => to === 'elena@example.org')
      .map(({ subject }: { subject: string }) => subject)
  }
  // Staff who cancel themselves are not told.
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  assert.deepEqual(await staffSubjects(), [])
  assert.doesNotMatch((await open(cancel)).body, /name="undo"/)
  await save('/calendar', { calendarId, status: 'CONFIRMED', changeNote: 'Moved to room 2' })

  const send = async (fields: string) => {
    const formToken = formTokenIn((await open(cancel)).body)
    const payload = `formToken=${formToken}&${fields}`
    return app.inject({ method: 'POST', url: cancel, headers: FORM, payload })
  }
  const done = await send('reason=I+have+a+cold.%0D%0ASorry')
  assert.match(done.body, /Your appointment is cancelled/)
  assert.match(done.body, /name="undo"/)
  const stored = (await call('GET', `/calendar/${calendarId}`)).body
  assert.equal(stored.answerNote, 'I have a cold. Sorry')
  assert.equal(stored.changeNote, null, 'a mail would give it as the reason of the cancellation')
  assert.ok(stored.answeredTime > 0)
  assert.deepEqual(await staffSubjects(), ['Anna Müller cancelled: I have a cold. Sorry'])

  // Staff who write a note do not take the undo away.
  await save('/calendar', { calendarId, note: 'Called back' })
  const undone = await send('undo=yes')
  assert.match(undone.body, /Your appointment is kept/)
  assert.equal(await statusOf(calendarId), 'CONFIRMED')
  await send('')
  assert.equal(await statusOf(calendarId), 'CANCELLED')
  await book(Temporal.Instant.fromEpochMilliseconds(stored.startTime))
  assert.doesNotMatch((await open(cancel)).body, /name="undo"/)
  const refused = await send('undo=yes')
  assert.match(refused.body, /This link is not valid|Your appointment is cancelled/)
  assert.equal(await statusOf(calendarId), 'CANCELLED')
})

test('the page of a confirmed appointment has the next steps, and looks like the mail', async (t) => {
  const { answer, ask, businessId, ids, save } = await startAsking(t)
  await save('/business', {
    businessId,
    accentColor: '#884400',
    postalAddress: 'Seestrasse 1\n8002 Zürich',
    emailAddress: 'hello@praxis.example',
  })
  await save('/location', { locationId: ids.locationId, address: 'Altstadt 2, Zürich' })
  const { confirm } = await ask()
  const { body, headers } = await answer(confirm)
  for (const part of [
    /addToCalendar\//,
    /calendar\.google\.com/,
    /outlook\.live\.com/,
    /google\.com\/maps/,
    /\/answer\/cancel\./,
    /mailto:hello@praxis\.example/,
    /border-top:4px solid #884400/,
    /prefers-color-scheme:dark/,
    /Altstadt 2, Zürich/,
  ])
    assert.match(body, part)
  assert.match(String(headers['content-security-policy']), /style-src 'sha256-/)
})

test('a client who is too late to cancel reads the limit in days, and is asked to call instead of booking again', async (t) => {
  const { ask, businessId, open, save } = await startAsking(t)
  const phone = '+41 44 555 01 99'
  const bookingUrl = 'https://praxis.example/book'
  await save('/business', { businessId, cancelUntilHours: 720, phone, bookingUrl })
  const { cancel } = await ask()
  const { body } = await open(cancel)
  assert.match(body, /until 30 days before/)
  assert.match(body, /<a class="button" href="tel:\+41445550199"/)
  assert.doesNotMatch(body, /praxis\.example\/book/)
})

/** A class whose students can answer, and whose staff read each answer. */
async function startClass(
  t: TestContext,
  { students, capacity }: { students: number; capacity: number },
) {
  const world = await startWorld(t)
  const { app, businessId, call, clock, ids, save } = world
  const { professionalId, locationId } = ids
  await save('/professional', { professionalId, emailAddress: 'elena@example.org' })
  const define = async (eventTypeId: number, template: object, more: object = {}) => {
    const { emailTemplateId } = await save('/emailTemplate', template)
    const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
    const recipient = eventTypeId === 5 ? { recipient: { value: 'staff' } } : {}
    await save('/eventDefinition', {
      active: true,
      businessId,
      objectType: 'CLASS_SCHEDULE',
      eventType: { eventTypeId },
      triggerHours: 0,
      triggerMinutes: 0,
      eventActions: [{ ...action, ...recipient }],
      ...more,
    })
  }
  const links =
    '<p><a href="%CONFIRM_URL%">I will come</a></p><p><a href="%CANCEL_URL%">Cancel</a></p>'
  await define(4, { templateName: 'Class', subject: 'Class', emailBody: links })
  // A definition without `changes` does not tell staff that one student answered.
  await define(5, { templateName: 'Changed', subject: 'Changed', emailBody: '<p>Changed</p>' })
  const subject = '%ANSWER_CLIENT% %ANSWER%%IF:ANSWER_NOTE%: %ANSWER_NOTE%%END:IF%'
  const answered = { templateName: 'Student answered', subject, emailBody: '<p>%ANSWER_NOTE%</p>' }
  await define(5, answered, { changes: ['ANSWER'] })
  const { runEngine } = startEngine(world, {
    answerLinks: (mail) => answerLinks('http://localhost', 'test', mail),
  })
  const clientIdList = [ids.clientId!]
  for (const firstName of ['Ben', 'Cleo'].slice(0, students - 1)) {
    const emailAddress = `${firstName}@example.org`
    const client = await save('/client', { firstName, lastName: 'Roth', emailAddress })
    clientIdList.push(client.clientId)
  }
  const startTime = clock.in({ hours: 48 }).epochMilliseconds
  const endTime = startTime + 3_600_000
  const lesson = { name: 'Yoga', professionalId, locationId, startTime, endTime, capacity }
  const { classScheduleId } = await save('/classSchedule', { ...lesson, clientIdList })
  await runEngine()
  const mails = async () => (await call('GET', '/emails')).body.items
  const linksOf = new Map<string, ReturnType<typeof linksIn>>()
  for (const { emailId, to } of await mails())
    linksOf.set(to, linksIn((await call('GET', `/emails/${emailId}`)).body.html))
  const send = async (url: string, fields = '') => {
    const formToken = formTokenIn((await app.inject({ url })).body)
    const payload = `formToken=${formToken}&${fields}`
    return (await app.inject({ method: 'POST', url, headers: FORM, payload })).body
  }
  const read = async () => (await call('GET', `/classSchedule/${classScheduleId}`)).body
  const staffSubjects = async () => {
    await runEngine()
    return (await mails())
      .filter(({ to }: { to: string }) => to === 'elena@example.org')
      .map(({ subject }: { subject: string }) => subject)
      .toSorted()
  }
  return { ...world, clientIdList, linksOf, read, send, staffSubjects }
}

test('a student confirms, gives up the place, and takes it back while there is one', async (t) => {
  const { clock, ids, linksOf, read, send, staffSubjects } = await startClass(t, {
    students: 1,
    capacity: 1,
  })
  const { confirm, cancel } = linksOf.get('anna@example.org')!
  const stored = async () => {
    const { clientIdList, confirmedClientIdList, answers } = await read()
    const [{ clientId, answer, note }] = answers
    assert.equal(clientId, ids.clientId)
    return [clientIdList, confirmedClientIdList, answer, note]
  }
  assert.match(await send(confirm), /your place is confirmed/)
  assert.deepEqual(await stored(), [[ids.clientId], [ids.clientId], 'CONFIRMED', null])
  assert.deepEqual(await staffSubjects(), ['Anna Müller confirmed'])
  clock.advance({ minutes: 1 })
  assert.match(await send(cancel, 'reason=I+have+a+cold.'), /no longer in this class/)
  assert.deepEqual(await stored(), [[], [], 'CANCELLED', 'I have a cold.'])
  assert.ok((await staffSubjects()).includes('Anna Müller cancelled: I have a cold.'))
  assert.match(await send(confirm), /<h1>You are no longer in this class/)
  assert.match(await send(cancel, 'undo=yes'), /Your place is kept/)
  assert.deepEqual(await stored(), [[ids.clientId], [], 'RETURNED', null])
})

test('staff read the answer of each student, and one who cancelled before another answered can return', async (t) => {
  const { clientIdList, linksOf, read, save, send, staffSubjects } = await startClass(t, {
    students: 2,
    capacity: 2,
  })
  const [anna, ben] = clientIdList
  const annas = linksOf.get('anna@example.org')!
  await send(annas.cancel, 'reason=I+have+a+cold.')
  await send(linksOf.get('Ben@example.org')!.confirm)
  const { classScheduleId } = await read()
  await save('/classSchedule', { classScheduleId, answers: [], name: 'Hatha yoga' })
  const subjects = ['Anna Müller cancelled: I have a cold.', 'Ben Roth confirmed', 'Changed']
  assert.deepEqual(await staffSubjects(), subjects)
  assert.match(await send(annas.cancel, 'undo=yes'), /is kept/)
  const lesson = await read()
  assert.deepEqual(lesson.clientIdList, [ben, anna])
  assert.deepEqual(
    lesson.answers.map(({ clientId, answer }: Record<string, unknown>) => [clientId, answer]),
    [
      [ben, 'CONFIRMED'],
      [anna, 'RETURNED'],
    ],
  )
  assert.doesNotMatch(await send(annas.confirm, 'undo=yes'), /name="undo"/)
  // Staff removed this student: there is no answer to take back.
  await save('/classSchedule', { classScheduleId, clientIdList: [anna] })
  assert.doesNotMatch(await send(linksOf.get('Ben@example.org')!.cancel), /name="undo"/)
})

test('a client reads a form by the link and signs it with a name; its text is kept as it was read', async (t) => {
  const world = await startWorld(t)
  const { app, businessId, call, ids, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Sign',
    subject: 'Please sign',
    emailBody: '<p><a href="%SIGN_URL%">Sign</a></p>',
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 12 },
    triggerHours: 0,
    triggerMinutes: 0,
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const { runEngine } = startEngine(world, {
    answerLinks: (mail) => answerLinks('http://localhost', 'test', mail),
  })
  const { disclaimerFormId } = await save('/disclaimerForm', {
    name: 'Consent',
    body: 'I <agree>.',
  })
  const { disclaimerId } = await save('/disclaimer', { disclaimerFormId, clientId: ids.clientId })
  await runEngine()
  const [{ emailId }] = (await call('GET', '/emails')).body.items
  const { html } = (await call('GET', `/emails/${emailId}`)).body
  const url = new URL(/href="([^"]*answer\/sign[^"]*)"/.exec(html)![1]!).pathname
  const open = async () => (await app.inject({ url })).body
  const send = (formToken: string | undefined, name: string) =>
    app.inject({
      method: 'POST',
      url,
      headers: FORM,
      payload: `formToken=${formToken}&name=${name}`,
    })
  const statusOf = async () => (await call('GET', `/disclaimer/${disclaimerId}`)).body.status

  const page = await open()
  assert.match(page, /I &lt;agree&gt;\./)
  assert.equal((await send(formTokenIn(page), '+')).statusCode, 422)
  // The text changes after the client has read it: they read it again first.
  await save('/disclaimerForm', { disclaimerFormId, body: 'I agree to all.' })
  assert.equal((await send(formTokenIn(page), 'Anna+M%C3%BCller')).statusCode, 403)
  assert.equal(await statusOf(), 'PENDING')
  const signed = await send(formTokenIn(await open()), 'Anna+M%C3%BCller')
  assert.equal(signed.statusCode, 200, signed.body)
  assert.match(signed.body, /Signed by Anna Müller on /)
  const { status, signedName, signedText, signedTime, modifiedUser } = (
    await call('GET', `/disclaimer/${disclaimerId}`)
  ).body
  assert.deepEqual(
    [status, signedName, signedText, modifiedUser],
    ['SIGNED', 'Anna Müller', 'I agree to all.', 'CLIENT'],
  )
  assert.ok(signedTime > 0)
  await save('/disclaimerForm', { disclaimerFormId, body: 'Other' })
  assert.match(await open(), /I agree to all\./)
  // A client with another clock reads whose time it is.
  assert.match(await open(), /Signed by Anna Müller on [^<]* \d\d:\d\d\./)
  await save('/client', { clientId: ids.clientId, timeZone: 'America/New_York' })
  assert.match(await open(), /Signed by Anna Müller on [^<]* \d\d:\d\d, [A-Z][^<]* time\./)
})

test('the page of a link says what the visit is now, if it was moved or cancelled', async (t) => {
  const { ask, call, open, save } = await startAsking(t)
  const { calendarId, cancel, confirm } = await ask()
  const { startTime, endTime } = (await call('GET', `/calendar/${calendarId}`)).body
  const later = 24 * 3_600_000
  await save('/calendar', {
    calendarId,
    startTime: startTime + later,
    endTime: endTime + later,
  })
  const dayOf = (moment: number) =>
    new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' }).format(moment)
  const moved = (await open(confirm)).body
  assert.match(moved, /This link is for an earlier time/)
  assert.match(moved, new RegExp(`<p class="when">[^<]*${dayOf(startTime + later)}`))
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  for (const link of [confirm, cancel]) {
    const { body } = await open(link)
    assert.match(body, /<h1>This appointment is cancelled/)
    assert.match(body, new RegExp(`<p class="when gone">[^<]*${dayOf(startTime + later)}`))
  }
})
