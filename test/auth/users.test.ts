import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FUNCTIONS_OF_ROLE } from '../../src/auth/permissions.ts'
import { ROLES, type Role } from '../../src/contract/roles.ts'
import {
  ask,
  createBusiness,
  createKey,
  createPerson,
  signInAs,
  startWithBusiness,
} from '../support/callers.ts'

const pointers = (answer: { body: { errors: { pointer: string }[] } }) =>
  answer.body.errors.map((fault) => fault.pointer)

const NEW = { username: 'anna', password: 'long enough', role: 'USER' }

test('the operator creates the first person of a business, who creates the others', async (t) => {
  const { app, operator, businessId } = await startWithBusiness(t)
  const first = { ...NEW, role: 'OWNER' }
  const made = await operator('POST', `/business/${businessId}/user`, first)
  assert.equal(made.status, 201)
  assert.deepEqual([made.body.role, made.body.createdUser], ['OWNER', 'OPERATOR'])
  assert.equal('password' in made.body || 'passwordHash' in made.body, false)

  const anna = ask(app, { cookie: await signInAs(app, 'anna', 'long enough') })
  const second = await anna('POST', '/user', { ...NEW, username: 'bela' })
  assert.deepEqual([second.status, second.body.createdUser], [201, 'anna'])
  const listed = (await anna('GET', '/user')).body.items
  assert.deepEqual(
    listed.map((user: { username: string }) => user.username),
    ['anna', 'bela'],
  )
  assert.deepEqual((await anna('GET', second.headers.location as string)).body, second.body)
})

test('a person’s body with faults is refused with all of them', async (t) => {
  const { call } = await startWithBusiness(t)
  const bad = {
    username: 'a b',
    role: 'KING',
    professionalId: 'x',
    locationIdList: [0],
    businessId: 9,
  }
  assert.deepEqual(pointers(await call('POST', '/user', bad)), [
    '/username',
    '/role',
    '/professionalId',
    '/locationIdList/0',
    '/password',
    '/businessId',
  ])
  assert.deepEqual(pointers(await call('POST', '/user', { ...NEW, password: 'short' })), [
    '/password',
  ])
  assert.deepEqual(pointers(await call('POST', '/user', { ...NEW, username: 'System' })), [
    '/username',
  ])
  assert.deepEqual(pointers(await call('POST', '/user', { ...NEW, username: 'key:site' })), [
    '/username',
  ])
  assert.deepEqual(pointers(await call('POST', '/user', { ...NEW, userId: 'x' })), ['/userId'])
  assert.equal((await call('POST', '/user', { ...NEW, userId: 999 })).status, 404)
})

test('usernames are unique in the installation, whatever their case', async (t) => {
  const { call, database, clock } = await startWithBusiness(t)
  const other = await createBusiness(database, clock, 'B')
  await createPerson(database, clock, other.businessId, { username: 'Anna', role: 'OWNER' })
  const taken = await call('POST', '/user', NEW)
  assert.deepEqual(
    [taken.status, taken.body.detail],
    [409, 'The username is taken. Choose another one.'],
  )
})

test('the staff member and locations of a person must belong to the business', async (t) => {
  const { call } = await startWithBusiness(t)
  const location = await call('POST', '/location', { name: 'Hauptsitz' })
  const { locationId } = location.body
  const foreign = { ...NEW, professionalId: 77, locationIdList: [locationId, 78] }
  assert.deepEqual(pointers(await call('POST', '/user', foreign)), [
    '/locationIdList/1',
    '/professionalId',
  ])
  assert.deepEqual(pointers(await call('POST', '/user', { ...foreign, role: 'KING' })), [
    '/role',
    '/locationIdList/1',
    '/professionalId',
  ])
  const made = await call('POST', '/user', { ...NEW, locationIdList: [locationId, locationId] })
  assert.deepEqual([made.status, made.body.locationIdList], [201, [locationId]])
  const cleared = await call('POST', '/user', { userId: made.body.userId, locationIdList: null })
  assert.deepEqual([cleared.body.locationIdList, cleared.body.username], [[], 'anna'])
})

test('an ADMINISTRATOR cannot create, change or remove an OWNER, and cannot change the business', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  const owner = await createPerson(database, clock, businessId, { username: 'o', role: 'OWNER' })
  await createPerson(database, clock, businessId, { username: 'admin', role: 'ADMINISTRATOR' })
  const admin = ask(app, { cookie: await signInAs(app, 'admin') })
  const { userId } = owner
  assert.equal((await admin('POST', '/user', { ...NEW, role: 'OWNER' })).status, 403)
  assert.equal((await admin('POST', '/user', { userId, password: 'mine, all mine' })).status, 403)
  assert.equal((await admin('DELETE', `/user/${userId}`)).status, 403)
  assert.equal((await admin('POST', '/business', { businessId, phone: '1' })).status, 403)
  const made = await admin('POST', '/user', NEW)
  assert.equal(made.status, 201)
  assert.equal(
    (await admin('POST', '/user', { userId: made.body.userId, role: 'OWNER' })).status,
    403,
  )
})

test('the last OWNER cannot be removed, even by two concurrent requests', async (t) => {
  const { call, database, clock, businessId } = await startWithBusiness(t)
  const one = await createPerson(database, clock, businessId, { username: 'a', role: 'OWNER' })
  assert.equal((await call('DELETE', `/user/${one.userId}`)).status, 409)
  assert.equal((await call('POST', '/user', { userId: one.userId, role: 'USER' })).status, 409)
  const two = await createPerson(database, clock, businessId, { username: 'b', role: 'OWNER' })
  const answers = await Promise.all(
    [one, two].map(({ userId }) => call('DELETE', `/user/${userId}`)),
  )
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
})

/** One route for each security function. If the call is allowed, the incomplete body is 422. */
const ROUTES = [
  ['VIEW_BUSINESS', 'GET', '/business'],
  ['EDIT_BUSINESS', 'POST', '/business'],
  ['VIEW_SCHEDULE', 'GET', '/client'],
  ['EDIT_SCHEDULE', 'POST', '/calendar'],
  ['EDIT_SETUP', 'POST', '/location'],
  ['EDIT_TEMPLATES', 'POST', '/emailTemplate'],
  ['MANAGE_USERS', 'GET', '/user'],
  ['MANAGE_KEYS', 'GET', '/apiKey'],
  ['VIEW_AUDIT', 'GET', '/audit'],
] as const

test('each role may do what its functions say, and nothing else', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  for (const role of ROLES) {
    const username = role.toLowerCase()
    await createPerson(database, clock, businessId, { username, role })
    const person = ask(app, { cookie: await signInAs(app, username) })
    for (const [name, method, path] of ROUTES) {
      const { status } = await person(method, path, method === 'POST' ? { businessId } : undefined)
      const may = FUNCTIONS_OF_ROLE[role as Role].includes(name)
      const allowed = method === 'GET' ? [200] : [200, 201, 422]
      assert.ok((may ? allowed : [403]).includes(status), `${role} ${method} ${path}: ${status}`)
    }
  }
})

test('only OWNER and ADMINISTRATOR suppress addresses and allow them again, by every way', async (t) => {
  const { app, call, database, clock, businessId } = await startWithBusiness(t)
  const line = { kind: 'suppression', emailAddress: 'olga@praxis.example', reason: 'BOUNCED' }
  const ndjson = { 'content-type': 'application/x-ndjson' }
  const importLine = (who: typeof call) => who('POST', '/import', JSON.stringify(line), ndjson)
  for (const role of ROLES) {
    const username = role.toLowerCase()
    await createPerson(database, clock, businessId, { username, role })
    const person = ask(app, { cookie: await signInAs(app, username) })
    const isAllowed = role === 'OWNER' || role === 'ADMINISTRATOR'
    const bounce = await person('POST', '/emails/bounce', { message: 'Hello' })
    assert.equal(bounce.status, isAllowed ? 422 : 403, `${role}: bounce`)
    const imported = await importLine(person)
    assert.equal(imported.body.accepted?.suppression ?? 0, isAllowed ? 1 : 0, `${role}: import`)
    const { items } = (await call('GET', '/suppression')).body
    assert.equal(items.length, isAllowed ? 1 : 0, `${role}: list`)
    await importLine(call)
    const added = await person('POST', '/suppression', { emailAddress: 'added@praxis.example' })
    assert.equal(added.status, isAllowed ? 200 : 403, `${role}: add`)
    if (isAllowed) await call('DELETE', '/suppression/added@praxis.example')
    const allowed = await person('DELETE', `/suppression/${line.emailAddress}`)
    assert.equal(allowed.status, isAllowed ? 200 : 403, `${role}: delete`)
    if (!isAllowed) await call('DELETE', `/suppression/${line.emailAddress}`)
  }
  const { key } = await createKey(database, clock, businessId, ['scheduling:write'])
  const withoutMail = await importLine(ask(app, { authorization: `Bearer ${key}` }))
  assert.equal(withoutMail.body.refused[0].reason, 'The key lacks the scope mail:write.')
})

test('a USER sees and changes only their own appointments, a LOCATION_SUPER_USER only those at their locations', async (t) => {
  const { app, call, database, clock, businessId } = await startWithBusiness(t)
  const make = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const { locationId } = await make('/location', { name: 'Nord' })
  const { locationId: south } = await make('/location', { name: 'Süd' })
  const { professionalId } = await make('/professional', { firstName: 'A', lastName: 'A' })
  const { professionalId: other } = await make('/professional', { firstName: 'B', lastName: 'B' })
  const { reasonId } = await make('/reason', { name: 'Check' })
  const { clientId } = await make('/client', { firstName: 'C', lastName: 'C' })
  const startTime = clock.in({ hours: 48 }).epochMilliseconds
  const times = { startTime, endTime: startTime + 3_600_000 }
  const book = (place: number, staff: number) =>
    make('/calendar', { clientId, reasonId, locationId: place, professionalId: staff, ...times })
  const north = await book(locationId, other)
  const southern = await book(south, professionalId)

  await createPerson(database, clock, businessId, { username: 'u', role: 'USER', professionalId })
  await createPerson(database, clock, businessId, { username: 'n', role: 'USER' })
  const manager = {
    username: 'l',
    role: 'LOCATION_SUPER_USER',
    locationIdList: [locationId],
  } as const
  await createPerson(database, clock, businessId, manager)
  const seenBy = async (username: string) => {
    const person = ask(app, { cookie: await signInAs(app, username) })
    const { body } = await person('GET', '/calendar')
    return body.items.map((item: { calendarId: number }) => item.calendarId)
  }
  assert.deepEqual(await seenBy('u'), [southern.calendarId])
  assert.deepEqual(await seenBy('n'), [])
  assert.deepEqual(await seenBy('l'), [north.calendarId])

  const user = ask(app, { cookie: await signInAs(app, 'u') })
  assert.equal((await user('GET', `/calendar/${north.calendarId}`)).status, 404)
  const change = { calendarId: north.calendarId, note: 'mine' }
  assert.equal((await user('POST', '/calendar', change)).status, 404)
  assert.equal((await user('DELETE', `/calendar/${north.calendarId}`)).status, 404)
  assert.equal((await user('GET', `/calendar/${southern.calendarId}`)).status, 200)

  const visit = { clientId, reasonId, locationId: south, ...times }
  const forOther = await user('POST', '/calendar', { ...visit, professionalId: other })
  assert.deepEqual([forOther.status, pointers(forOther)], [422, ['/professionalId']])
  assert.equal((await user('POST', '/calendar', { ...visit, professionalId })).status, 201)
  const reassigned = await user('POST', '/calendar', {
    calendarId: southern.calendarId,
    professionalId: other,
  })
  assert.deepEqual([reassigned.status, pointers(reassigned)], [422, ['/professionalId']])
  const lead = ask(app, { cookie: await signInAs(app, 'l') })
  const elsewhere = await lead('POST', '/calendar', { ...visit, professionalId })
  assert.deepEqual([elsewhere.status, pointers(elsewhere)], [422, ['/locationId']])
})
