import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { until } from '../support/until.ts'
import {
  ask,
  createBusiness,
  createKey,
  createPerson,
  signInAs,
  startWithBusiness,
} from '../support/callers.ts'

type Caller = ReturnType<typeof ask>

/** A business with an owner, and functions to list mails by address and read their links. */
async function startWithOwner(t: TestContext) {
  const started = await startWithBusiness(t, { PUBLIC_URL: 'http://bellwether.test' })
  const { app, database, clock, businessId, call } = started
  await createPerson(database, clock, businessId, {
    username: 'olga',
    role: 'OWNER',
    emailAddress: 'Olga@praxis.example',
  })
  const olga = ask(app, { cookie: await signInAs(app, 'olga') })
  const mailsTo = async (to: string): Promise<{ emailId: number; subject: string }[]> => {
    const pages = await Promise.all(
      ['QUEUED', 'CAPTURED'].map((status) => call('GET', `/emails?status=${status}`)),
    )
    return pages
      .flatMap(({ body }) => body.items)
      .filter((mail: { to: string }) => mail.to === to)
      .toSorted((a, b) => b.emailId - a.emailId)
  }
  const tokenIn = async (emailId: number, reader: Caller = call) => {
    const { status, body } = await reader('GET', `/emails/${emailId}`)
    assert.equal(status, 200, JSON.stringify(body))
    return /\/console\/set-password\?token=(bwl_[\w-]{43})\n/.exec(body.text)![1]!
  }
  return { ...started, olga, mailsTo, tokenIn, anybody: ask(app, {}) }
}

type Started = Awaited<ReturnType<typeof startWithOwner>>

const INVITED = { username: 'bela', emailAddress: 'bela@praxis.example', role: 'USER' }

async function askForLink({ anybody, mailsTo }: Started, emailAddress: string, to = emailAddress) {
  const before = (await mailsTo(to)).length
  const asked = await anybody('POST', '/user/password/forgotten', { emailAddress })
  assert.deepEqual([asked.status, asked.body], [202, { accepted: true }])
  await until(async () => (await mailsTo(to)).length > before)
  return (await mailsTo(to))[0]!.emailId
}

test('an invited person chooses a password with the mailed link, once, and signs in', async (t) => {
  const started = await startWithOwner(t)
  const { app, anybody, olga, mailsTo, tokenIn, businessId } = started
  const invited = await olga('POST', '/user/invite', INVITED)
  assert.equal(invited.status, 201, JSON.stringify(invited.body))
  assert.equal(invited.body.emailAddress, 'bela@praxis.example')
  assert.equal('passwordHash' in invited.body, false)
  const [mail] = await mailsTo('bela@praxis.example')
  assert.equal(mail!.subject, 'Your account at Praxis am See')

  const token = await tokenIn(mail!.emailId)
  const link = await anybody('POST', '/user/password/link', { token })
  assert.equal(link.status, 200)
  assert.deepEqual(
    [link.body.username, link.body.businessName, link.body.purpose],
    ['bela', 'Praxis am See', 'INVITATION'],
  )
  const short = await anybody('POST', '/user/password/set', { token, newPassword: 'short' })
  assert.deepEqual([short.status, short.body.errors[0].pointer], [422, '/newPassword'])
  const change = { token, newPassword: 'a long one of mine' }
  const set = await anybody('POST', '/user/password/set', change)
  assert.deepEqual([set.status, set.body], [200, { username: 'bela' }])
  const again = await anybody('POST', '/user/password/set', change)
  assert.deepEqual(
    [again.status, again.body.detail],
    [410, 'This link has expired or was used before. Ask for a new one.'],
  )
  const used = await anybody('POST', '/user/password/link', { token })
  assert.deepEqual([used.status, used.body.code], [410, 'gone'])
  const bela = ask(app, { cookie: await signInAs(app, 'bela', 'a long one of mine') })
  assert.equal((await bela('GET', '/session')).body.business.businessId, businessId)
})

test('an invitation works for 7 days, a link for a forgotten password for an hour', async (t) => {
  const started = await startWithOwner(t)
  const { anybody, clock, olga, mailsTo, tokenIn } = started
  await olga('POST', '/user/invite', INVITED)
  const invitation = await tokenIn((await mailsTo('bela@praxis.example'))[0]!.emailId)
  const forgotten = await tokenIn(
    await askForLink(started, 'olga@praxis.example', 'Olga@praxis.example'),
  )
  const works = async (token: string) =>
    (await anybody('POST', '/user/password/link', { token })).status === 200

  clock.advance({ minutes: 59 })
  assert.deepEqual([await works(invitation), await works(forgotten)], [true, true])
  clock.advance({ minutes: 1 })
  assert.deepEqual([await works(invitation), await works(forgotten)], [true, false])
  clock.advance({ hours: 7 * 24 - 1 })
  assert.equal(await works(invitation), false)
  const late = { token: invitation, newPassword: 'a long one of mine' }
  assert.equal((await anybody('POST', '/user/password/set', late)).status, 410)
})

test('an unknown address gets the same answer and no email', async (t) => {
  const started = await startWithOwner(t)
  const { anybody, mailsTo } = started
  const emailAddress = 'nobody@praxis.example'
  const unknown = await anybody('POST', '/user/password/forgotten', { emailAddress })
  assert.deepEqual([unknown.status, unknown.body], [202, { accepted: true }])
  await askForLink(started, 'olga@praxis.example', 'Olga@praxis.example')
  assert.deepEqual(await mailsTo(emailAddress), [])
  const wrong = await anybody('POST', '/user/password/forgotten', { emailAddress: 'a b' })
  assert.deepEqual([wrong.status, wrong.body.errors[0].pointer], [422, '/emailAddress'])
})

test('a new link replaces the previous one, and setting a password ends all sessions', async (t) => {
  const started = await startWithOwner(t)
  const { anybody, olga, tokenIn } = started
  const first = await tokenIn(await askForLink(started, 'Olga@praxis.example'))
  const second = await tokenIn(await askForLink(started, 'Olga@praxis.example'))
  const newPassword = 'quite another one'
  assert.equal(
    (await anybody('POST', '/user/password/set', { token: first, newPassword })).status,
    410,
  )
  assert.equal((await olga('GET', '/session')).status, 200)
  assert.equal(
    (await anybody('POST', '/user/password/set', { token: second, newPassword })).status,
    200,
  )
  assert.equal((await olga('GET', '/session')).status, 401)
})

test('a link stops working if the account, its address or its role changes', async (t) => {
  const started = await startWithOwner(t)
  const { anybody, olga, mailsTo, tokenIn } = started
  const { body: bela } = await olga('POST', '/user/invite', INVITED)
  const { userId } = bela
  for (const change of [
    { emailAddress: 'other@praxis.example' },
    { role: 'ADMINISTRATOR' },
    { password: 'given by another' },
    { active: false },
  ]) {
    const invited = await olga('POST', '/user/invite', { ...INVITED, userId })
    assert.equal(invited.status, 200, JSON.stringify(invited.body))
    const token = await tokenIn((await mailsTo('bela@praxis.example'))[0]!.emailId)
    assert.equal((await anybody('POST', '/user/password/link', { token })).status, 200)
    assert.equal((await olga('POST', '/user', { userId, ...change })).status, 200)
    assert.equal(
      (await anybody('POST', '/user/password/link', { token })).status,
      410,
      JSON.stringify(change),
    )
  }
})

test('only callers who may set the password can read the email with its link', async (t) => {
  const started = await startWithOwner(t)
  const { app, database, clock, businessId, call, olga, mailsTo, tokenIn, anybody } = started
  await createPerson(database, clock, businessId, { username: 'ada', role: 'ADMINISTRATOR' })
  const ada = ask(app, { cookie: await signInAs(app, 'ada') })
  const { key } = await createKey(database, clock, businessId, ['mail:read', 'mail:write'])
  const reader = ask(app, { authorization: `Bearer ${key}` })
  const ownersMail = await askForLink(started, 'Olga@praxis.example')
  await olga('POST', '/user/invite', INVITED)
  const belasMail = (await mailsTo('bela@praxis.example'))[0]!.emailId

  for (const path of ['', '/html']) {
    const statuses = await Promise.all(
      [reader, ada, olga].map((who) => who('GET', `/emails/${ownersMail}${path}`)),
    )
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [403, 403, 200],
    )
    assert.equal((await reader('GET', `/emails/${belasMail}${path}`)).status, 403)
    assert.equal((await ada('GET', `/emails/${belasMail}${path}`)).status, 200)
  }
  assert.equal((await call('POST', `/emails/${ownersMail}/resend`)).status, 409)

  const token = await tokenIn(ownersMail)
  await anybody('POST', '/user/password/set', { token, newPassword: 'quite another one' })
  assert.equal(
    (await reader('GET', `/emails/${ownersMail}`)).status,
    200,
    'its link no longer works',
  )
})

test('an ADMINISTRATOR cannot invite an OWNER, and an invitation needs an address', async (t) => {
  const { app, database, clock, businessId, olga } = await startWithOwner(t)
  await createPerson(database, clock, businessId, { username: 'ada', role: 'ADMINISTRATOR' })
  const ada = ask(app, { cookie: await signInAs(app, 'ada') })
  assert.equal((await ada('POST', '/user/invite', { ...INVITED, role: 'OWNER' })).status, 403)
  const withoutAddress = await olga('POST', '/user/invite', { username: 'bela', role: 'USER' })
  assert.deepEqual(
    [withoutAddress.status, withoutAddress.body.errors[0].pointer],
    [422, '/emailAddress'],
  )
  const pointersOf = async (body: object) => {
    const refused = await olga('POST', '/user/invite', body)
    assert.equal(refused.status, 422)
    return refused.body.errors.map((fault: { pointer: string }) => fault.pointer).toSorted()
  }
  assert.deepEqual(await pointersOf({}), ['/emailAddress', '/role', '/username'])
  assert.deepEqual(await pointersOf({ ...INVITED, emailAddress: 'no address' }), ['/emailAddress'])
  assert.deepEqual(await pointersOf({ ...INVITED, emailAddress: null, active: false }), [
    '/active',
    '/emailAddress',
  ])
  const taken = await olga('POST', '/user/invite', { ...INVITED, username: 'olga' })
  assert.deepEqual(
    [taken.status, taken.body.detail],
    [409, 'The username is taken. Choose another one.'],
  )
  const { items } = (await olga('GET', '/user')).body
  assert.deepEqual(
    items.map((user: { username: string }) => user.username),
    ['olga', 'ada'],
    'refused invitations create no user',
  )
})

test('a client can request ten links in a burst, and an address gets at most three emails', async (t) => {
  const started = await startWithOwner(t)
  const { anybody, mailsTo } = started
  const emailAddress = 'Olga@praxis.example'
  for (let i = 0; i < 10; i += 1) {
    const { status } = await anybody('POST', '/user/password/forgotten', { emailAddress })
    assert.equal(status, 202)
  }
  const eleventh = await anybody('POST', '/user/password/forgotten', { emailAddress })
  assert.deepEqual([eleventh.status, eleventh.headers['retry-after']], [429, '30'])
  await until(async () => (await mailsTo(emailAddress)).length === 3)
})

test('an address that people at two businesses share gets a link for each of them', async (t) => {
  const started = await startWithOwner(t)
  const { database, clock, app, mailsTo } = started
  const other = await createBusiness(database, clock, 'Praxis am Berg')
  await createPerson(database, clock, other.businessId, {
    username: 'olga2',
    role: 'OWNER',
    emailAddress: 'olga@praxis.example',
  })
  const { key } = await createKey(database, clock, other.businessId)
  const there = ask(app, { authorization: `Bearer ${key}` })
  await askForLink(started, 'olga@PRAXIS.example', 'Olga@praxis.example')
  await until(async () => (await there('GET', '/emails?status=QUEUED')).body.items.length === 1)
  const [mail] = (await there('GET', '/emails?status=QUEUED')).body.items
  assert.equal(mail.subject, 'A new password for Praxis am Berg')
  assert.equal((await mailsTo('Olga@praxis.example')).length, 1)
})

test('an address gets five invitations a day from a business, and a refused one changes nothing', async (t) => {
  const { call, clock, database, businessId, olga, mailsTo } = await startWithOwner(t)
  const { body: bela } = await olga('POST', '/user/invite', INVITED)
  const cleo = await createPerson(database, clock, businessId, { username: 'cleo', role: 'USER' })
  clock.advance({ hours: 1 })
  const { emailAddress } = INVITED
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      olga('POST', '/user/invite', { userId: i % 2 ? bela.userId : cleo.userId, emailAddress }),
    ),
  )
  const isRefused = ({ status }: { status: number }) => status === 429
  assert.equal(answers.filter(isRefused).length, 4, 'the five include the first')
  const change = { userId: bela.userId, role: 'ADMINISTRATOR' }
  const refused = await olga('POST', '/user/invite', change)
  assert.deepEqual(
    [refused.status, refused.body.code, refused.headers['retry-after'], refused.body.detail],
    [
      429,
      'too-many-mails',
      String(23 * 3600),
      `bela@praxis.example got 5 invitations within 24 hours, which is the limit. Try again at ${clock.in({ hours: 23 })}.`,
    ],
  )
  assert.equal((await call('GET', `/user/${bela.userId}`)).body.role, 'USER')
  assert.equal((await mailsTo(emailAddress)).length, 5)
  const db = database.forBusiness(businessId, 'SYSTEM')
  assert.deepEqual(await db.query(sql`select distinct purpose, sender from account_mail`), [
    { purpose: 'INVITATION', sender: 'olga' },
  ])
  clock.advance({ hours: 23 })
  assert.equal((await call('POST', '/user/invite', change)).status, 200, 'the first is a day old')
})

test('a person whose address is suppressed is not invited, and the answer says why', async (t) => {
  const { call, olga, mailsTo } = await startWithOwner(t)
  const { emailAddress } = INVITED
  const line = { kind: 'suppression', emailAddress, reason: 'BOUNCED' }
  await call('POST', '/import', JSON.stringify(line), { 'content-type': 'application/x-ndjson' })
  const refused = await olga('POST', '/user/invite', INVITED)
  assert.equal(refused.status, 409, JSON.stringify(refused.body))
  assert.match(refused.body.detail, /suppress|bounced/i)
  assert.deepEqual(await mailsTo(emailAddress), [])
  const { items } = (await call('GET', '/user')).body
  assert.ok(!items.some(({ username }: { username: string }) => username === INVITED.username))
})

test('every account of an address gets its link, however many the address has in a business', async (t) => {
  const started = await startWithOwner(t)
  const { app, database, clock } = started
  const emailAddress = 'rosa@praxis.example'
  const other = await createBusiness(database, clock, 'Praxis am Berg')
  for (let i = 0; i < 12; i += 1) {
    const person = { username: `rosa${i}`, role: 'USER' as const, emailAddress }
    await createPerson(database, clock, other.businessId, person)
  }
  const rosa = { username: 'rosa', role: 'USER' as const, emailAddress }
  await createPerson(database, clock, started.businessId, rosa)
  await askForLink(started, emailAddress)
  const { key } = await createKey(database, clock, other.businessId)
  const there = ask(app, { authorization: `Bearer ${key}` })
  const countThere = async () =>
    (await there('GET', '/emails?status=QUEUED&limit=100')).body.items.length
  await until(async () => (await countThere()) === 12)
  clock.advance({ minutes: 1 })
  await askForLink(started, emailAddress)
  await until(async () => (await countThere()) === 24)
})
