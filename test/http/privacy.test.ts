import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { cleanUp } from '../../src/cli/clean-up.ts'
import { ask, createKey, createPerson, OPERATOR_KEY } from '../support/callers.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { findLeftovers, tablesOfBusiness } from '../support/leftovers.ts'
import { urlOf } from '../support/owner.ts'
import { addBusiness, reminder, startEngine, startWorld } from '../support/world.ts'

const VALUES = {
  firstName: 'Canarina',
  lastName: 'Gelbfeder',
  emailAddress: 'canarina@gelbfeder.example',
  phone: '+41 44 555 01 99',
  note: 'canary secret diagnosis',
}
const { firstName, lastName, emailAddress, phone, note } = VALUES
const values = Object.values(VALUES)

test('an owner exports the whole business as lines that can be imported', async (t) => {
  const { app, database, businessId, clock } = await startWithMail(t)
  const { key: owned } = await createKey(database, clock, businessId)
  const headersOf = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  const answer = await app.inject({ url: '/export', ...headersOf(owned) })
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-disposition']), /bellwether-[-\d]+\.ndjson/)
  const lines = answer.payload
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string })
  assert.equal(lines[0]!.kind, 'business')
  for (const kind of ['client', 'calendar', 'emailTemplate', 'eventDefinition']) {
    assert.ok(
      lines.some((line) => line.kind === kind),
      kind,
    )
  }
  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  assert.equal((await app.inject({ url: '/export', ...headersOf(key) })).statusCode, 403)
})

/** Kinds of which this client has nothing. */
const UNUSED_KINDS = new Set([
  'invitation',
  'recall',
  'disclaimer',
  'suppression',
  'feedMatch',
  'feedEntry',
])

test('the data of a client is one file that holds everything about it and nothing about others', async (t) => {
  const { call, clientId, businessId, database, other } = await startWithMail(t)
  const { status, body, headers } = await call('GET', `/client/${clientId}/data`)
  assert.equal(status, 200)
  assert.match(String(headers['content-disposition']), /client-\d+\.json/)
  const text = JSON.stringify(body)
  for (const value of values) assert.ok(text.includes(value), value)
  assert.ok(!text.includes(other), 'another student of the class')
  const [mail] = body.email
  assert.match(mail.html, /Dear Canarina/)
  for (const [kind, rows] of Object.entries(body)) {
    if (UNUSED_KINDS.has(kind)) continue
    assert.ok([rows].flat().length > 0, kind)
  }

  const out = path.join(temporaryFolder(t), 'client.json')
  const words = ['export-client', String(clientId), '--business', String(businessId), '--out', out]
  const written = await runCommand(words, { DATABASE_URL: await urlOf(database) })
  assert.equal(written.code, 0, written.stderr)
  assert.deepEqual(JSON.parse(readFileSync(out, 'utf8')), body)
  assert.equal(statSync(out).mode & 0o777, 0o600)
})

test('only the scope admin of the same business reads or erases the data of a client', async (t) => {
  const world = await startWorld(t)
  const other = await addBusiness(world)
  const { clientId } = other.ids
  const { app, database, clock, businessId } = world
  const { key } = await createKey(database, clock, businessId, ['scheduling:write'])
  const reader = ask(app, { authorization: `Bearer ${key}` })
  for (const [method, place] of [
    ['GET', `/client/${clientId}/data`],
    ['POST', `/client/${clientId}/erase`],
  ] as const) {
    assert.equal((await world.call(method, place)).status, 404)
    assert.equal((await reader(method, place)).status, 403)
  }
  const { body } = await other.call('GET', `/client/${clientId}`)
  assert.equal(body.firstName, 'Anna')
})

test('a client is erased by the API, and the audit names who did it', async (t) => {
  const { call, clientId, database } = await startWithMail(t)
  assert.ok((await findLeftovers(database, values)).length > 5)
  const { status, body } = await call('POST', `/client/${clientId}/erase`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.erased.calendar, 1)
  assert.deepEqual(await findLeftovers(database, values), [])
  const { body: audit } = await call('GET', `/audit?object=client&id=${clientId}`)
  assert.match(audit.items[0].user, /^key:/)
})

test('a deactivated business is deleted with every row, and others stay', async (t) => {
  const world = await startWithMail(t)
  const { database, businessId, operator } = world
  const kept = await addBusiness(world)
  const before = await tablesOfBusiness(database, kept.businessId)
  const { body: business } = await operator('GET', `/business/${businessId}`)
  const place = `/business/${businessId}/erase`
  const { name } = business
  assert.equal((await operator('POST', place, { name })).status, 409, 'it is active')
  assert.equal((await operator('DELETE', `/business/${businessId}`)).status, 200)
  assert.equal((await operator('POST', place, { name: 'Another' })).status, 409)
  assert.ok((await tablesOfBusiness(database, businessId)).length > 15)

  const words = ['erase-business', String(businessId), '--name', name]
  const { code, stdout, stderr } = await runCommand(words, { DATABASE_URL: await urlOf(database) })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Deleted business \d+: \d+ rows\.\n$/)
  assert.deepEqual(await tablesOfBusiness(database, businessId), [])
  assert.deepEqual(await findLeftovers(database, values), [])
  assert.equal((await operator('POST', place, { name })).status, 404)
  assert.deepEqual(await tablesOfBusiness(database, kept.businessId), before)
})

test('RETENTION_MONTHS deletes old entries of the audit, and those that stay show what was before', async (t) => {
  const world = await startWorld(t)
  const { call, save, clock, database } = world
  const { locationId } = await save('/location', { name: 'First' })
  clock.advance({ hours: 24 * 20 })
  await save('/location', { locationId, name: 'Second' })
  const { locationId: unchanged } = await save('/location', { name: 'Old' })
  clock.advance({ hours: 24 * 20 })
  await save('/location', { locationId, name: 'Third' })

  const settings = { bodyRetentionDays: 45, retentionMonths: 1 }
  const { audit } = await cleanUp(database, settings, clock.now().add({ hours: 24 * 15 }))
  assert.ok(audit >= 3)
  const entriesOf = async (id: number) => {
    const { body } = await call('GET', `/audit?object=location&id=${id}`)
    return body.items.map(({ before, after }: Record<string, { name: string } | null>) => [
      before?.name,
      after?.name,
    ])
  }
  assert.deepEqual(await entriesOf(locationId), [['Second', 'Third']])
  assert.deepEqual(await entriesOf(unchanged), [])

  clock.advance({ hours: 24 * 15 })
  await save('/location', { locationId: unchanged, name: 'New' })
  assert.deepEqual(await entriesOf(unchanged), [['Old', 'New']], 'although its entry is deleted')
})

test('former values of a client are nowhere after RETENTION_MONTHS', async (t) => {
  const world = await startWithMail(t)
  const { clientId, save, call, clock, database } = world
  const { body: appointments } = await call('GET', `/calendar?clientId=${clientId}`)
  const { calendarId } = appointments.items[0]
  await save('/client', { clientId, ...CURRENT })
  await save('/calendar', { calendarId, note: null })
  assert.ok((await findLeftovers(database, values)).length > 5)
  clock.advance({ hours: 24 * 63 })
  const settings = { bodyRetentionDays: 45, retentionMonths: 1 }
  await cleanUp(database, settings, clock.now())
  assert.deepEqual(await findLeftovers(database, values), [])
  const { body: client } = await call('GET', `/client/${clientId}`)
  assert.equal(client.lastName, CURRENT.lastName)
})

const CURRENT = {
  firstName: 'Rubina',
  lastName: 'Amsel',
  emailAddress: 'rubina@amsel.example',
  phone: '+41 44 555 02 98',
}

/** A business with a client that has an appointment, a class, a mail and a person. */
async function startWithMail(t: TestContext) {
  const world = await startWorld(t, { ADMIN_API_KEY: OPERATOR_KEY })
  const { app, businessId, save, book, clock, database, ids } = world
  const operator = ask(app, { authorization: `Bearer ${OPERATOR_KEY}` })
  const { runEngine } = startEngine(world)
  const template = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'For %CLIENT_FULLNAME%',
    emailBody: '<p>Dear %CLIENT_FIRSTNAME%: %APPOINTMENT_NOTE%</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId }
  await save('/eventDefinition', {
    ...reminder(businessId, 0, { eventType: { eventTypeId: 1 } }),
    eventActions: [{ ...action, emailTemplateId: template.emailTemplateId }],
  })
  await createPerson(database, clock, businessId, { username: 'grace', role: 'OWNER' })
  const { clientId } = await save('/client', { firstName, lastName, emailAddress, phone })
  const other = 'Rotkehlchen'
  const student = await save('/client', { firstName: 'Otto', lastName: other })
  await book(clock.in({ hours: 50 }), { clientId, note })
  await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime: clock.in({ hours: 5 }).epochMilliseconds,
    endTime: clock.in({ hours: 6 }).epochMilliseconds,
    clientIdList: [clientId, student.clientId],
  })
  await runEngine()
  return { ...world, clientId, other, operator }
}
