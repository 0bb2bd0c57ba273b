import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { hashPassword, isPassword } from '../../src/auth/passwords.ts'
import { sql } from '../../src/database/sql.ts'
import { ask, createPerson, PASSWORD, signInAs, startWithBusiness } from '../support/callers.ts'
import { asOwner } from '../support/owner.ts'

test('a person signs in, is known by the cookie, and signs out', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'Anna', role: 'OWNER' })
  const answer = await ask(app, {})('POST', '/session', { username: 'anna', password: PASSWORD })
  assert.equal(answer.status, 201)
  const { username, role, functions, business } = answer.body
  assert.deepEqual([username, role, business.businessId], ['Anna', 'OWNER', businessId])
  assert.ok(functions.includes('MANAGE_USERS'))
  const setCookie = String(answer.headers['set-cookie'])
  assert.match(
    setCookie,
    /^bellwether_session=bws_[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
  )

  const cookie = setCookie.split(';')[0]!
  const anna = ask(app, { cookie: `other=1; ${cookie}` })
  assert.deepEqual((await anna('GET', '/session')).body, answer.body)
  const out = await anna('DELETE', '/session')
  assert.equal(out.status, 200)
  assert.match(String(out.headers['set-cookie']), /^bellwether_session=; Path=\/; Max-Age=0/)
  assert.equal((await anna('GET', '/session')).status, 401)
})

test('over HTTPS the cookie is bound to its host', async (t) => {
  const env = { PUBLIC_URL: 'https://book.example.com' }
  const { app, database, clock, businessId } = await startWithBusiness(t, env)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'USER' })
  const body = { username: 'anna', password: PASSWORD }
  const answer = await ask(app, {})('POST', '/session', body)
  assert.match(
    String(answer.headers['set-cookie']),
    /^__Host-bellwether_session=.*; Path=\/; .*; Secure$/,
  )
})

test('only the hash of a session token is stored', async (t) => {
  const { app, database, businessId, operator } = await startWithBusiness(t)
  const person = { username: 'anna', role: 'USER', password: PASSWORD }
  await operator('POST', `/business/${businessId}/user`, person)
  const token = (await signInAs(app, 'anna')).split('=')[1]!
  const rows = await database.operator.query<{ text: string }>(sql`
    select s::text || u::text as text from session s join user_account u using (user_id)`)
  assert.equal(rows.length, 1)
  assert.equal(rows[0]!.text.includes(token.slice(4)), false)
  assert.match(rows[0]!.text, /\$argon2id\$v=19\$m=7168,t=5,p=4\$/)
  assert.equal(rows[0]!.text.includes(PASSWORD), false)
})

test('a password hash that takes longer than new ones is replaced at the sign-in', async (t) => {
  const { app, call, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  const cost = { memory: 32_768, passes: 2, parallelism: 1, tagLength: 32 }
  const nonce = Buffer.alloc(16, 7)
  const tag = argon2Sync('argon2id', { message: PASSWORD, nonce, ...cost })
  const old = `$argon2id$v=19$m=32768,t=2,p=1$${nonce.toString('base64')}$${tag.toString('base64')}`
  await asOwner(database, `update user_account set password_hash = '${old}'`)
  const readStored = async () => {
    const [row] = await database.operator.query<{ hash: string; version: number }>(
      sql`select password_hash as hash, version from user_account where username = 'anna'`,
    )
    return { ...row!, audited: (await call('GET', '/audit?object=user')).body.items.length }
  }
  const before = await readStored()
  const signIn = async (password: string) =>
    (await ask(app, {})('POST', '/session', { username: 'anna', password })).status
  assert.equal(await signIn('wrong'), 401)
  assert.deepEqual(await readStored(), before)
  assert.deepEqual(await Promise.all([signIn(PASSWORD), signIn(PASSWORD)]), [201, 201])
  const after = await readStored()
  assert.match(after.hash, /^\$argon2id\$v=19\$m=7168,t=5,p=4\$/)
  assert.deepEqual({ ...after, hash: before.hash }, before, 'the account did not change')
  assert.equal(await signIn(PASSWORD), 201)
  assert.deepEqual(await readStored(), after)
})

test('an unknown username and a wrong password get the same answer, and both compute a password hash', async (t) => {
  const { app, businessId, operator } = await startWithBusiness(t)
  for (const [username, active] of Object.entries({ anna: true, gone: false })) {
    const body = { username, active, role: 'USER', password: PASSWORD }
    assert.equal((await operator('POST', `/business/${businessId}/user`, body)).status, 201)
  }
  const attempt = async (username: string, password: string) => {
    const before = process.cpuUsage()
    const answer = await ask(app, {})('POST', '/session', { username, password })
    return { ...answer, cpu: process.cpuUsage(before).user }
  }
  await attempt('anna', 'the first attempt includes one-time costs')
  const wrong = await attempt('anna', 'not this one')
  const unknown = await attempt('nobody', 'not this one')
  const inactive = await attempt('gone', PASSWORD)
  assert.deepEqual([wrong.status, unknown.status, inactive.status], [401, 401, 401])
  assert.deepEqual(unknown.body, wrong.body)
  assert.deepEqual(inactive.body, wrong.body)
  // CPU time, because a busy machine does not change it. Without a hash it would be far less.
  assert.ok(unknown.cpu > wrong.cpu / 3, `${unknown.cpu} against ${wrong.cpu} µs`)
  assert.ok(inactive.cpu > wrong.cpu / 3, `${inactive.cpu} against ${wrong.cpu} µs`)
})

test('a session ends after 8 hours without use, and after a week in any case', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'USER' })
  const idle = ask(app, { cookie: await signInAs(app, 'anna') })
  const busy = ask(app, { cookie: await signInAs(app, 'anna') })
  clock.advance({ hours: 7, minutes: 59 })
  assert.equal((await busy('GET', '/session')).status, 200)
  clock.advance({ minutes: 1 })
  assert.equal((await idle('GET', '/session')).status, 401)
  for (let hours = 8; hours < 7 * 24 - 7; hours += 7) {
    clock.advance({ hours: 7 })
    assert.equal((await busy('GET', '/session')).status, 200, `after ${hours} hours`)
  }
  clock.advance({ hours: 7 })
  assert.equal((await busy('GET', '/session')).status, 401)
  await signInAs(app, 'anna')
  const sessions = await database.operator.query(sql`select 1 from session`)
  assert.equal(sessions.length, 1, 'expired sessions are deleted')
})

test('a new password ends the person’s other sessions; one set by an administrator ends all sessions', async (t) => {
  const { app, database, clock, businessId, call } = await startWithBusiness(t)
  const { userId } = await createPerson(database, clock, businessId, {
    username: 'anna',
    role: 'USER',
  })
  const first = ask(app, { cookie: await signInAs(app, 'anna') })
  const second = ask(app, { cookie: await signInAs(app, 'anna') })
  assert.equal((await second('GET', '/session')).status, 200)
  const change = { currentPassword: PASSWORD, newPassword: 'another long one' }
  const wrong = await first('POST', '/user/password', { ...change, currentPassword: 'no' })
  assert.deepEqual([wrong.status, wrong.body.errors[0].pointer], [422, '/currentPassword'])
  assert.equal((await first('POST', '/user/password', change)).status, 200)
  assert.equal((await first('GET', '/session')).status, 200)
  assert.equal((await second('GET', '/session')).status, 401)

  const third = ask(app, { cookie: await signInAs(app, 'anna', 'another long one') })
  assert.equal((await third('GET', '/session')).status, 200)
  assert.equal((await call('POST', '/user', { userId, password: 'given by another' })).status, 200)
  assert.equal((await first('GET', '/session')).status, 401)
  assert.equal((await third('GET', '/session')).status, 401)
  await signInAs(app, 'anna', 'given by another')
})

test('guessing the current password in an open session is rate limited', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'USER' })
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const guess = { currentPassword: 'a guess', newPassword: 'another long one' }
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await anna('POST', '/user/password', guess)).status, 422)
  }
  const slowed = await anna('POST', '/user/password', { ...guess, currentPassword: PASSWORD })
  assert.deepEqual([slowed.status, slowed.headers['retry-after']], [429, '5'])
})

test('the session of a deactivated person ends at once', async (t) => {
  const { app, database, clock, businessId, call } = await startWithBusiness(t)
  const person = { username: 'anna', role: 'USER' } as const
  const { userId } = await createPerson(database, clock, businessId, person)
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  assert.equal((await anna('GET', '/session')).status, 200)
  assert.equal((await call('DELETE', `/user/${userId}`)).body.active, false)
  assert.equal((await anna('GET', '/session')).status, 401)
})

test('failed sign-ins slow down the guessing client, not the person', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'USER' })
  const from = (remoteAddress: string, password: string, username = 'anna') =>
    app.inject({
      method: 'POST',
      url: '/session',
      remoteAddress,
      payload: { username, password },
    })
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await from('192.0.2.1', `guess ${i}`)).statusCode, 401)
  }
  const slowed = await from('192.0.2.1', PASSWORD)
  assert.deepEqual([slowed.statusCode, slowed.headers['retry-after']], [429, '5'])
  for (let i = 0; i < 60; i += 1) await from('192.0.2.1', 'x')
  assert.equal((await from('192.0.2.1', 'x', 'unknown')).statusCode, 401)
  assert.equal((await from('198.51.100.7', PASSWORD)).statusCode, 201)
  clock.advance({ seconds: 5 })
  assert.equal((await from('192.0.2.1', PASSWORD)).statusCode, 201)
})

test('successful sign-ins are never rate limited', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'USER' })
  for (let i = 0; i < 12; i += 1) await signInAs(app, 'anna')
})

test('a page of another site cannot use a person’s cookie', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  const anna = ask(app, { cookie: await signInAs(app, 'anna'), host: 'localhost:8080' })
  const location = { name: 'Hauptsitz' }
  const attempt = async (headers: Record<string, string>) =>
    (await anna('POST', '/location', location, headers)).status
  assert.equal(await attempt({ origin: 'https://evil.example' }), 403)
  assert.equal(await attempt({ origin: 'null' }), 403)
  assert.equal(await attempt({ origin: 'http://localhost:8081' }), 403)
  assert.equal(await attempt({ 'sec-fetch-site': 'cross-site' }), 403)
  assert.equal(await attempt({ 'sec-fetch-site': 'same-site' }), 403)
  const both = { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' }
  assert.equal(await attempt(both), 201)
  assert.equal(await attempt({ origin: 'http://127.0.0.1:8080' }), 201, 'PUBLIC_URL')
  assert.equal(await attempt({}), 201, 'not a browser')
  const signIn = ask(app, { origin: 'https://evil.example' })
  const body = { username: 'anna', password: PASSWORD }
  assert.equal((await signIn('POST', '/session', body)).status, 403)
  const read = await anna('GET', '/session', undefined, { 'sec-fetch-site': 'cross-site' })
  assert.equal(read.status, 200, 'a link from another site may open a page')
})

test('a request with a key ignores the cross-site headers of browsers', async (t) => {
  const { call } = await startWithBusiness(t)
  const headers = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' }
  assert.equal((await call('POST', '/location', { name: 'Hauptsitz' }, headers)).status, 201)
})

test('a sign-in does not wait for the passwords of people who are created elsewhere', async () => {
  let hashed = 0
  const created = Array.from({ length: 12 }, async () => {
    await hashPassword('a long one, please', { businessId: 1 })
    hashed += 1
  })
  await isPassword('a long one, please', undefined, { address: '192.0.2.1' })
  assert.ok(hashed <= 6, `after ${hashed} of 12 others`)
  await Promise.all(created)
})

test('passwords are compared after Unicode normalization', async () => {
  const hash = await hashPassword('Zu\u0308rich am See', {})
  assert.equal(await isPassword('Z\u00fcrich am See', hash, {}), true)
  assert.equal(await isPassword('Zurich am See', hash, {}), false)
  assert.equal(await isPassword('Z\u00fcrich am See', undefined, {}), false)
})

test('a session token is not accepted as an API key, nor the other way round', async (t) => {
  const { app, database, clock, businessId, key } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  const cookie = await signInAs(app, 'anna')
  const [name, token] = cookie.split('=') as [string, string]
  const statusWith = async (headers: Record<string, string>) =>
    (await ask(app, headers)('GET', '/apiKey')).status

  assert.equal(await statusWith({ cookie }), 200)
  assert.equal(await statusWith({ authorization: `Bearer ${token}` }), 401)
  assert.equal(await statusWith({ authorization: `Bearer ${key}` }), 200)
  assert.equal(await statusWith({ cookie: `${name}=${key}` }), 401)
})

test('a person chooses the language of the console for themselves', async (t) => {
  const { app, database, clock, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'rita', role: 'REPORTS_ONLY' })
  const rita = ask(app, { cookie: await signInAs(app, 'rita') })
  const languageOf = async () => (await rita('GET', '/session')).body.language
  assert.equal(await languageOf(), null)
  const chosen = await rita('POST', '/user/language', { language: 'fr' })
  assert.deepEqual([chosen.status, chosen.body.language], [200, 'fr'])
  assert.equal(await languageOf(), 'fr')

  const refused = await rita('POST', '/user/language', { language: 'xx' })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.errors[0].pointer, '/language')
  assert.equal(await languageOf(), 'fr')
  await rita('POST', '/user/language', { language: null })
  assert.equal(await languageOf(), null)
})
