import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOperatorKey } from '../../src/auth/api-keys.ts'
import { digest } from '../../src/auth/secrets.ts'
import { sql } from '../../src/database/sql.ts'
import { startApp } from '../support/app.ts'
import { ask, createKey, OPERATOR_KEY, startWithBusiness } from '../support/callers.ts'

test('the operator creates a business and its first key, which works for that business', async (t) => {
  const { operator, callAs } = await startWithBusiness(t)
  const made = await operator('POST', '/business', { name: 'Nord', timeZone: 'Europe/Oslo' })
  assert.equal(made.status, 201)
  const { businessId } = made.body
  assert.equal(made.headers.location, `/business/${businessId}`)

  const key = await operator('POST', `/business/${businessId}/apiKey`, { name: 'site' })
  assert.equal(key.status, 201)
  assert.match(key.body.key, /^bw_[\w-]{43}$/)
  assert.equal(key.body.scopes.length, 8)
  assert.equal(key.body.key.startsWith(key.body.prefix), true)

  const own = callAs({ authorization: `Bearer ${key.body.key}` })
  assert.deepEqual((await own('GET', '/business')).body.items, [made.body])
})

test('a POST and a GET of a key return the same ETag, and changes of the key accept it as If-Match', async (t) => {
  const { callAs, key } = await startWithBusiness(t)
  const authorization = `Bearer ${key}`
  const call = callAs({ authorization })
  const { headers, body } = await call('POST', '/apiKey', { name: 'site' })
  assert.ok(headers.etag)
  assert.equal((await call('GET', `/apiKey/${body.apiKeyId}`)).headers.etag, headers.etag)
  const matching = callAs({ authorization, 'if-match': String(headers.etag) })
  const rename = { apiKeyId: body.apiKeyId, name: 'booking site' }
  assert.equal((await matching('POST', '/apiKey', rename)).status, 200)
  assert.equal((await matching('POST', '/apiKey', rename)).status, 412)
})

test('only the hash of a key is stored', async (t) => {
  const { database, businessId, key } = await startWithBusiness(t)
  const rows = await database
    .forBusiness(businessId, 'test')
    .query<{ text: string; hash: Buffer }>(
      sql`select k::text as text, key_hash as hash from api_key k`,
    )
  assert.equal(rows.length, 1)
  assert.equal(rows[0]!.text.includes(key.slice(9)), false)
  assert.deepEqual(rows[0]!.hash, digest(key))
})

test('a bad credential is 401, and the answer says what is missing without revealing which keys exist', async (t) => {
  const { app, database, clock, businessId, call, key } = await startWithBusiness(t)
  const expired = await createKey(database, clock, businessId, undefined, clock.in({ hours: 1 }))
  const revoked = await createKey(database, clock, businessId)
  assert.equal((await call('DELETE', `/apiKey/${revoked.apiKeyId}`)).body.active, false)
  clock.advance({ hours: 2 })
  const bad = {
    none: undefined,
    empty: '',
    'no scheme': key,
    'another scheme': `Basic ${key}`,
    'no key': 'Bearer ',
    unknown: `Bearer bw_${'A'.repeat(43)}`,
    'cut short': `Bearer ${key.slice(0, -1)}`,
    'two keys': `Bearer ${key} ${key}`,
    'very long': `Bearer ${'x'.repeat(6_000)}`,
    'not ASCII': 'Bearer schlüssel',
    expired: `Bearer ${expired.key}`,
    revoked: `Bearer ${revoked.key}`,
  }
  for (const [name, authorization] of Object.entries(bad)) {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await ask(app, headers as Record<string, string>)('GET', '/apiKey')
    assert.equal(answer.status, 401, name)
    assert.equal(answer.headers['www-authenticate'], 'Bearer', name)
    const code = codes[name] ?? 'unknown-key'
    assert.deepEqual([answer.body.code, answer.body.type], [code, `/problems/${code}`], name)
  }
  const cookie = { cookie: 'bellwether_session=of-long-ago' }
  const ended = await ask(app, cookie)('GET', '/apiKey')
  assert.deepEqual([ended.status, ended.body.code], [401, 'expired-session'])
})

const codes: Record<string, string> = {
  none: 'missing-credential',
  empty: 'wrong-scheme',
  'no scheme': 'wrong-scheme',
  'another scheme': 'wrong-scheme',
  'no key': 'wrong-scheme',
  'two keys': 'wrong-scheme',
}

test('the look-ups of many keys at the same moment share their statements', async (t) => {
  const { callAs, database } = await startWithBusiness(t)
  let statements = 0
  const { operator } = database
  database.operator = {
    ...operator,
    query: (statement) => {
      if (statement.text.includes('from api_key k')) statements += 1
      return operator.query(statement)
    },
  }
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      callAs({ authorization: `Bearer bw_unknown${i}` })('GET', '/calendar'),
    ),
  )
  for (const { status } of answers) assert.equal(status, 401)
  assert.ok(statements <= 5, `${statements} statements for 40 keys`)
})

test('a revoked key is refused at once on the same node, and within a second on others', async (t) => {
  const here = await startWithBusiness(t)
  const { database, clock, businessId } = here
  const there = await startApp(t, { database, clock, env: { ADMIN_API_KEY: OPERATOR_KEY } })
  const { key, apiKeyId } = await createKey(database, clock, businessId)
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await ask(here.app, headers)('GET', '/apiKey')).status, 200)
  assert.equal((await ask(there.app, headers)('GET', '/apiKey')).status, 200)

  assert.equal((await here.call('DELETE', `/apiKey/${apiKeyId}`)).status, 200)
  assert.equal((await ask(here.app, headers)('GET', '/apiKey')).status, 401)
  clock.advance({ milliseconds: 999 })
  assert.equal((await ask(there.app, headers)('GET', '/apiKey')).status, 401)
})

test('saving a revoked key does not reactivate it', async (t) => {
  const { database, clock, businessId, call, callAs } = await startWithBusiness(t)
  const { key, apiKeyId } = await createKey(database, clock, businessId)
  await call('DELETE', `/apiKey/${apiKeyId}`)
  const again = await call('POST', '/apiKey', { apiKeyId, name: 'back', active: true })
  assert.deepEqual([again.status, again.body.active], [200, false])
  assert.equal((await callAs({ authorization: `Bearer ${key}` })('GET', '/apiKey')).status, 401)
  const listed = (await call('GET', '/apiKey')).body.items
  assert.equal(
    listed.some((one: { apiKeyId: number }) => one.apiKeyId === apiKeyId),
    false,
  )
})

test('a key does what its scopes say and nothing else', async (t) => {
  const { database, clock, businessId, callAs } = await startWithBusiness(t)
  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  const scoped = callAs({ authorization: `Bearer ${key}` })
  assert.equal((await scoped('GET', `/business/${businessId}`)).status, 200)
  const refused = await scoped('GET', '/apiKey')
  assert.deepEqual([refused.status, refused.body.detail], [403, 'The key lacks the scope admin.'])
})

test('lastUsedTime of a key is exact to the minute and does not change its version', async (t) => {
  const { clock, call } = await startWithBusiness(t)
  const read = async () => (await call('GET', '/apiKey')).body.items[0]
  const first = clock.now().epochMilliseconds
  assert.equal((await read()).lastUsedTime, first)
  clock.advance({ seconds: 59 })
  assert.equal((await read()).lastUsedTime, first)
  clock.advance({ seconds: 1 })
  const key = await read()
  assert.deepEqual([key.lastUsedTime, key.version], [first + 60_000, 1])
})

test('a key body with faults is refused with all of them', async (t) => {
  const { call } = await startWithBusiness(t)
  const answer = await call('POST', '/apiKey', { scopes: ['all', 'admin'], expiresTime: 5 })
  assert.equal(answer.status, 422)
  assert.deepEqual(
    answer.body.errors.map((fault: { pointer: string }) => fault.pointer),
    ['/name', '/scopes/0', '/expiresTime'],
  )
  assert.equal((await call('POST', '/apiKey', { name: 'a', scopes: [] })).status, 422)
  assert.equal((await call('POST', '/apiKey', { name: 'a\nb' })).status, 422)
  assert.equal((await call('POST', '/apiKey', { apiKeyId: 999, name: 'a' })).status, 404)
})

test('a repeated request for a key creates one key and shows it once', async (t) => {
  const { call } = await startWithBusiness(t)
  const header = { 'idempotency-key': 'once' }
  const first = await call('POST', '/apiKey', { name: 'site' }, header)
  const second = await call('POST', '/apiKey', { name: 'site' }, header)
  assert.equal(second.status, 201)
  assert.deepEqual(second.body, { ...first.body, key: null })
})

test('the operator’s key works on /business only, and repeats under an Idempotency-Key', async (t) => {
  const { operator, businessId } = await startWithBusiness(t)
  assert.equal((await operator('GET', '/apiKey')).status, 403)
  assert.equal((await operator('GET', '/session')).status, 403)
  const header = { 'idempotency-key': 'once' }
  const path = `/business/${businessId}/apiKey`
  const first = await operator('POST', path, { name: 'site' }, header)
  const second = await operator('POST', path, { name: 'site' }, header)
  assert.deepEqual(second.body, { ...first.body, key: null })
  assert.equal((await operator('POST', '/business/999/apiKey', { name: 'site' })).status, 404)
})

test('the operator’s key is created once, even if several nodes start together', async (t) => {
  const { app, database } = await startApp(t)
  const made = await Promise.all([1, 2, 3].map(() => createOperatorKey(database.operator)))
  const keys = made.filter((key) => key !== undefined)
  assert.equal(keys.length, 1)
  const answer = await ask(app, { authorization: `Bearer ${keys[0]}` })('GET', '/business')
  assert.deepEqual([answer.status, answer.body.items], [200, []])
})

test('a key of a business cannot create or change other businesses', async (t) => {
  const { call, businessId, operator } = await startWithBusiness(t)
  const other = (await operator('POST', '/business', { name: 'B', timeZone: 'UTC' })).body
  assert.equal((await call('POST', '/business', { name: 'C', timeZone: 'UTC' })).status, 403)
  assert.equal((await call('DELETE', `/business/${businessId}`)).status, 403)
  assert.equal((await call('POST', `/business/${businessId}/apiKey`, { name: 'x' })).status, 403)
  assert.equal((await call('GET', `/business/${other.businessId}`)).status, 404)
  const foreign = { businessId: other.businessId, name: 'mine' }
  assert.equal((await call('POST', '/business', foreign)).status, 404)
  const own = await call('POST', '/business', { businessId, name: 'Neu' })
  assert.deepEqual([own.status, own.body.name, own.body.modifiedUser], [200, 'Neu', 'key:tests'])
  const taken = await call('POST', '/business', { businessId, active: false, externalId: 'x' })
  assert.deepEqual(
    taken.body.errors.map((fault: { pointer: string }) => fault.pointer),
    ['/active', '/externalId'],
  )
})

test('the key of a deactivated business is refused until the operator reactivates it', async (t) => {
  const { call, operator, businessId } = await startWithBusiness(t)
  assert.equal((await call('GET', '/apiKey')).status, 200)
  assert.equal((await operator('DELETE', `/business/${businessId}`)).body.active, false)
  assert.equal((await call('GET', '/apiKey')).status, 401)
  await operator('POST', '/business', { businessId, active: true })
  assert.equal((await call('GET', '/apiKey')).status, 200)
})

test('a business’s body with faults is refused with all of them', async (t) => {
  const { operator } = await startWithBusiness(t)
  const body = { timeZone: 'Mars', emailAddress: 'a@b, c@d', phone: 5, active: 'yes' }
  const answer = await operator('POST', '/business', body)
  assert.deepEqual(
    answer.body.errors.map((fault: { pointer: string }) => fault.pointer),
    ['/name', '/timeZone', '/emailAddress', '/phone', '/active'],
  )
  assert.equal((await operator('POST', '/business', [])).status, 422)
  const made = { name: 'A', timeZone: 'UTC', externalId: 'a1' }
  const first = await operator('POST', '/business', made)
  const second = await operator('POST', '/business', { ...made, name: 'B' })
  assert.deepEqual([first.status, second.status, second.body.name], [201, 200, 'B'])
  assert.equal(first.body.businessId, second.body.businessId)
})
