import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { formTokenIn, linksIn, startAsking } from '../support/answer-mails.ts'

test('a client confirms by the link in a mail, and definitions fire as on any change', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, businessId, call, emailTemplateId, open, runEngine, save, statusOf } = world
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const { eventDefnId } = await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 2 },
    triggerHours: 0,
    triggerMinutes: 0,
    newStatus: 'CONFIRMED',
    eventActions: [action],
  })
  const { calendarId, confirm } = await ask()
  assert.match(confirm, /^\/answer\/confirm\.\d+\.\d+\.[0-9a-z]+\.[\w-]{22}$/)

  const page = await open(confirm)
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /Consultation/)
  assert.match(page.body, /Elena García/)
  assert.match(page.body, /Altstadt/)
  assert.match(page.body, /Praxis Grüner Baum/)
  assert.equal(await statusOf(calendarId), 'OPEN')

  const done = await answer(confirm)
  assert.equal(done.statusCode, 200, done.body)
  assert.match(done.body, /your appointment is confirmed/)
  const { status, modifiedUser } = (await call('GET', `/calendar/${calendarId}`)).body
  assert.deepEqual([status, modifiedUser], ['CONFIRMED', 'CLIENT'])
  const audit = (await call('GET', `/audit?object=calendar&id=${calendarId}`)).body.items
  assert.equal(audit[0].user, 'CLIENT')
  await runEngine()
  const triggers = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  const fired = triggers.find((one: { eventDefnId: number }) => one.eventDefnId === eventDefnId)
  assert.equal(fired.status, 'COMPLETED')

  // Repeated requests return the same page and change nothing.
  const { version } = (await call('GET', `/calendar/${calendarId}`)).body
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = `formToken=${formTokenIn(page.body)}`
  for (let i = 0; i < 3; i += 1) {
    const again = await world.app.inject({ method: 'POST', url: confirm, headers, payload })
    assert.deepEqual([again.statusCode, again.body], [200, done.body])
    assert.equal((await open(confirm)).body, done.body)
  }
  assert.equal((await call('GET', `/calendar/${calendarId}`)).body.version, version)
})

test('a mail that is sent again to a corrected address has new links', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, call, ids, open, save, statusOf } = world
  const { calendarId, confirm, mail } = await ask()
  await save('/client', { clientId: ids.clientId, emailAddress: 'right@example.org' })
  const { emailId } = (await call('POST', `/emails/${mail.emailId}/resend`)).body
  const again = linksIn((await call('GET', `/emails/${emailId}`)).body.html)
  assert.match(again.confirm, new RegExp(`^/answer/confirm\\.\\d+\\.${emailId}\\.`))

  // The owner of the wrong address cannot answer.
  assert.equal((await open(confirm)).statusCode, 404)
  assert.equal((await answer(again.confirm)).statusCode, 200)
  assert.equal(await statusOf(calendarId), 'CONFIRMED')
})

test('a client can cancel until cancelUntilHours before the start, and is then asked to call', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, businessId, call, clock, open, save, statusOf } = world
  await save('/business', {
    businessId,
    phone: '+41 44 555 00 00',
    cancelUntilHours: 12,
    bookingUrl: 'https://book.example/?a=1&b=2',
  })
  const first = await ask()
  assert.equal(first.reschedule, 'https://book.example/?a=1&amp;b=2')
  const cancelled = await answer(first.cancel)
  assert.match(cancelled.body, /Your appointment is cancelled/)
  assert.match(cancelled.body, /href="https:\/\/book\.example\/\?a=1&amp;b=2"/)
  assert.equal(await statusOf(first.calendarId), 'CANCELLED')
  const late = await answer(first.confirm)
  assert.equal(late.statusCode, 409)
  assert.match(late.body, /This appointment is cancelled/)
  assert.match(late.body, /href="https:\/\/book\.example\/\?a=1&amp;b=2"/)
  assert.equal(await statusOf(first.calendarId), 'CANCELLED')

  const second = await ask()
  const form = formTokenIn((await open(second.cancel)).body)
  clock.advance({ hours: 12, minutes: 1 })
  const page = await open(second.cancel)
  assert.match(page.body, /Please call us to cancel/)
  assert.match(page.body, /until 12 hours before/)
  assert.match(page.body, /href="tel:\+41445550000"/)
  assert.equal(formTokenIn(page.body), undefined)
  const post = await call('POST', second.cancel, `formToken=${form}`, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  assert.equal(post.status, 409)
  assert.equal(await statusOf(second.calendarId), 'OPEN')
  assert.equal((await answer(second.confirm)).statusCode, 200)

  clock.advance({ hours: 12 })
  assert.match((await open(second.confirm)).body, /This link has expired/)
  assert.equal((await answer(second.cancel)).statusCode, 409)
  assert.equal(await statusOf(second.calendarId), 'CONFIRMED')
})

test('a link acts only for its recipient, its appointment and its time', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, app, businessId, call, clock, database, ids, open, save, statusOf } = world
  const moved = await ask()
  const sealed = formTokenIn((await open(moved.confirm)).body)
  const { startTime, endTime } = (await call('GET', `/calendar/${moved.calendarId}`)).body
  const { calendarId } = moved
  await save('/calendar', { calendarId, startTime: startTime + 60_000, endTime })
  const page = await open(moved.confirm)
  assert.match(page.body, /This link is for an earlier time/)
  assert.equal(formTokenIn(page.body), undefined)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const posted = await app.inject({
    method: 'POST',
    url: moved.confirm,
    headers,
    payload: `formToken=${sealed}`,
  })
  assert.deepEqual([posted.statusCode, posted.body], [409, page.body])
  assert.equal(await statusOf(calendarId), 'OPEN')
  await save('/calendar', { calendarId, startTime, endTime })
  assert.equal((await answer(moved.confirm)).statusCode, 200)

  // Every part of a link is signed, and each answer has its own link.
  const other = await ask()
  const parts = other.confirm.slice('/answer/'.length).split('.')
  const theirs = moved.confirm.slice('/answer/'.length).split('.')
  const forged = parts.map((_, i) => parts.map((part, j) => (i === j ? theirs[j]! : part)))
  const links = [
    ...forged.map((some) => some.join('.')).filter((link) => link !== parts.join('.')),
    `cancel.${parts.slice(1).join('.')}`,
    `confirm.0${parts.slice(1).join('.')}`,
    'x',
  ]
  for (const link of links) {
    const answered = await answer(`/answer/${link}`)
    assert.equal(answered.statusCode, 404, link)
    assert.doesNotMatch(answered.body, /Müller|Consultation|Grüner/, link)
  }
  assert.equal(await statusOf(other.calendarId), 'OPEN')

  // The appointment gets another client; then the first client gets another address.
  const ben = await save('/client', {
    firstName: 'Ben',
    lastName: 'Other',
    emailAddress: 'ben@example.org',
  })
  const change = (client: object) => save('/calendar', { calendarId: other.calendarId, ...client })
  await change({ clientId: ben.clientId })
  assert.equal((await answer(other.confirm)).statusCode, 404)
  await save('/client', { clientId: ben.clientId, emailAddress: 'anna@example.org' })
  assert.equal((await answer(other.confirm)).statusCode, 404)
  await change({ clientId: ids.clientId })
  await save('/client', { clientId: ids.clientId, emailAddress: 'new@example.org' })
  assert.equal((await answer(other.confirm)).statusCode, 404)
  assert.equal(await statusOf(other.calendarId), 'OPEN')
  await save('/client', { clientId: ids.clientId, emailAddress: 'anna@example.org' })
  await call('DELETE', `/calendar/${other.calendarId}`)
  assert.equal((await answer(other.confirm)).statusCode, 404)
  await save('/calendar', { calendarId: other.calendarId, active: true })
  assert.equal((await open(other.confirm)).statusCode, 200)
  await eraseClient(database, { businessId, clientId: ids.clientId }, clock.now())
  const erased = await open(other.confirm)
  assert.equal(erased.statusCode, 404)
})

test('after a backup was restored, the link of a mail that it lacks does not act for another client', async (t) => {
  // Two worlds with the same ids stand for the time before and after the restore.
  const before = await startAsking(t)
  const restored = await startAsking(t)
  const lost = await before.ask()
  const { save, ids } = restored
  await save('/client', { clientId: ids.clientId, emailAddress: 'ben@example.org' })
  const own = await restored.ask()
  assert.equal(own.calendarId, lost.calendarId)
  assert.equal(own.mail.emailId, lost.mail.emailId)
  assert.equal((await restored.open(lost.confirm)).statusCode, 404)
  assert.equal((await restored.answer(lost.cancel)).statusCode, 404)
  assert.equal(await restored.statusOf(own.calendarId), 'OPEN')
  assert.equal((await restored.answer(own.confirm)).statusCode, 200)
})

test('copies, mails to staff and previews have no working answer links', async (t) => {
  const world = await startAsking(t, { bccAddress: 'archive@example.org' })
  const { ask, businessId, call, emailTemplateId, save, statusOf, answer } = world
  const recipient = { value: 'staff' }
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId, recipient }
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 1 },
    triggerHours: 0,
    triggerMinutes: 0,
    eventActions: [action],
  })
  const { calendarId } = await ask()
  const mails = (await call('GET', `/emails/calendar/${calendarId}`)).body
  assert.equal(mails.length, 4)
  for (const { emailId, to } of mails) {
    const { html } = (await call('GET', `/emails/${emailId}`)).body
    assert.equal(/\/answer\//.test(html), to === 'anna@example.org', to)
  }
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const preview = await call('POST', `/emailTemplate/${emailTemplateId}/preview`, about)
  const [, link] = /href="([^"]*answer[^"]*)"/.exec(preview.body.html)!
  const shown = await answer(new URL(link!).pathname)
  assert.equal(shown.statusCode, 404)
  assert.equal(await statusOf(calendarId), 'OPEN')
})

test('the pages are in the language of the client, and run no scripts', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, open, save, ids } = world
  const hostile = '<img src=x onerror=alert(1)>"\'&'
  await save('/reason', { reasonId: ids.reasonId, name: hostile })
  const languages = [
    ['de-CH', /Kommen Sie\?/, /Ihr Termin ist bestätigt/],
    ['fr', /Serez-vous là/, /votre rendez-vous est confirmé/],
    ['it', /Will you come\?/, /your appointment is confirmed/],
  ] as const
  for (const [language, question, thanks] of languages) {
    await save('/client', { clientId: ids.clientId, language })
    const { confirm } = await ask()
    const page = await open(confirm)
    assert.match(page.body, question)
    assert.doesNotMatch(page.body, /<img/)
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self';/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(page.headers['cache-control'], 'no-store')
    assert.match((await answer(confirm)).body, thanks)
  }
  const unknown = await open('/answer/x', { 'accept-language': 'it, fr-CH;q=0.8' })
  assert.match(unknown.body, /Ce lien n’est pas valable/)
})

test('a business chooses the statuses that the links set; invalid choices are refused with their pointer', async (t) => {
  const world = await startAsking(t)
  const { ask, answer, businessId, call, save, statusOf } = world
  const choose = (body: object) => call('POST', '/business', { businessId, ...body })
  const bad: [object, ...string[]][] = [
    [{ confirmStatus: 'NO_SUCH' }, '/confirmStatus'],
    [{ confirmStatus: 'CANCELLED' }, '/confirmStatus'],
    [{ cancelStatus: 'OPEN' }, '/cancelStatus'],
    [{ cancelUntilHours: -1 }, '/cancelUntilHours'],
    [{ bookingUrl: 'javascript:alert(1)' }, '/bookingUrl'],
    [{ cancelUntilHours: -1, cancelStatus: 'OPEN' }, '/cancelUntilHours', '/cancelStatus'],
  ]
  for (const [body, ...pointers] of bad) {
    const refused = await choose(body)
    assert.equal(refused.status, 422)
    assert.deepEqual(
      refused.body.errors.map((fault: { pointer: string }) => fault.pointer),
      pointers,
    )
  }
  const status = { objectType: 'CALENDAR', status: 'BY_CLIENT', label: 'By client', live: false }
  await save('/status', status)
  const chosen = await choose({ cancelStatus: 'BY_CLIENT', confirmStatus: 'CHECKED_IN' })
  assert.deepEqual(
    [chosen.status, chosen.body.cancelStatus, chosen.body.confirmStatus],
    [200, 'BY_CLIENT', 'CHECKED_IN'],
  )
  assert.equal((await call('DELETE', '/status/CALENDAR/BY_CLIENT')).status, 409)
  const { calendarId, cancel } = await ask()
  assert.equal((await answer(cancel)).statusCode, 200)
  assert.equal(await statusOf(calendarId), 'BY_CLIENT')
})

test('a status that the links set stays live or not live while the business names it', async (t) => {
  const { businessId, call, save } = await startAsking(t)
  await save('/business', { businessId, confirmStatus: 'CONFIRMED', cancelStatus: 'CANCELLED' })
  const change = (status: string, live: boolean) =>
    call('POST', '/status', { objectType: 'CALENDAR', status, live })
  for (const [status, live, property] of [
    ['CONFIRMED', false, 'confirmStatus'],
    ['CANCELLED', true, 'cancelStatus'],
  ] as const) {
    const refused = await change(status, live)
    assert.equal(refused.status, 422)
    assert.equal(refused.body.errors[0].pointer, '/live')
    assert.match(refused.body.errors[0].detail, new RegExp(property))
    assert.equal((await call('DELETE', `/status/CALENDAR/${status}`)).status, 409)
    assert.equal((await change(status, !live)).status, 200)
  }
  await save('/business', { businessId, confirmStatus: 'CHECKED_IN' })
  assert.equal((await change('CONFIRMED', false)).status, 200)
  const recall = { objectType: 'RECALL', status: 'CANCELLED', live: true }
  assert.equal((await call('POST', '/status', recall)).status, 200)
})

test('a confirmation is refused while the status CONFIRMED is not live', async (t) => {
  const { app, ask, open, save, statusOf } = await startAsking(t)
  const { calendarId, confirm } = await ask()
  const formToken = formTokenIn((await open(confirm)).body)
  assert.ok(formToken)
  await save('/status', { objectType: 'CALENDAR', status: 'CONFIRMED', live: false })
  assert.equal(formTokenIn((await open(confirm)).body), undefined)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = `formToken=${formToken}`
  const refused = await app.inject({ method: 'POST', url: confirm, headers, payload })
  assert.match(refused.body, /can no longer be changed here/)
  assert.equal(await statusOf(calendarId), 'OPEN')
})

test('a key that may read mail, but not change appointments, does not get the links', async (t) => {
  const { app, ask, call, statusOf } = await startAsking(t)
  const { calendarId, confirm } = await ask()
  const [{ emailId }] = (await call('GET', '/emails')).body.items
  const readWith = async (scopes: string[]) => {
    const { body } = await call('POST', '/apiKey', { name: scopes.join(), scopes })
    const headers = { authorization: `Bearer ${body.key}` }
    const json = await app.inject({ url: `/emails/${emailId}`, headers })
    const page = await app.inject({ url: `/emails/${emailId}/html`, headers })
    return json.body + page.body
  }
  const masked = await readWith(['mail:read'])
  assert.match(masked, /\/answer\/confirm\.\d+\.\d+\.[0-9a-z]+\.…/)
  assert.ok(!masked.includes(confirm))
  assert.ok((await readWith(['mail:read', 'scheduling:write'])).includes(confirm))
  assert.equal(await statusOf(calendarId), 'OPEN')
})
