import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SCOPES, type Role } from '../../src/contract/roles.ts'
import { startApp } from '../support/app.ts'
import { ask, createPerson, signInAs, startWithBusiness } from '../support/callers.ts'

const OWNER = { username: 'new-owner', password: 'long enough', role: 'OWNER' }

/** A business with an owner, an administrator, and an API key that each of them created. */
async function startWithKeysOfPeople(t: TestContext) {
  const started = await startWithBusiness(t)
  const { app, database, clock, businessId } = started
  const member = async (username: string, role: Role) => {
    const { userId } = await createPerson(database, clock, businessId, { username, role })
    const cookie = await signInAs(app, username)
    const session = ask(app, { cookie })
    const made = await session('POST', '/apiKey', { name: `of ${username}` })
    assert.equal(made.status, 201)
    const { apiKeyId, key } = made.body
    const withKey = ask(app, { authorization: `Bearer ${key}` })
    return { userId, cookie, session, apiKeyId, withKey }
  }
  const owner = await member('olga', 'OWNER')
  const admin = await member('adam', 'ADMINISTRATOR')
  return { ...started, owner, admin }
}

test('the key of an ADMINISTRATOR cannot create, change or remove an OWNER', async (t) => {
  const { owner, admin } = await startWithKeysOfPeople(t)
  const { withKey } = admin
  const { userId } = owner
  assert.equal((await withKey('GET', '/user')).status, 200, 'other calls are allowed')
  assert.equal((await withKey('POST', '/user', OWNER)).status, 403)
  assert.equal((await withKey('POST', '/user', { userId, password: 'not yours' })).status, 403)
  assert.equal((await withKey('DELETE', `/user/${userId}`)).status, 403)
  const own = { userId: admin.userId, role: 'OWNER' }
  assert.equal((await withKey('POST', '/user', own)).status, 403)
})

test('a key that was created with the key of an ADMINISTRATOR has the same limits', async (t) => {
  const { app, admin, call } = await startWithKeysOfPeople(t)
  const made = await admin.withKey('POST', '/apiKey', { name: 'second', scopes: SCOPES })
  assert.equal(made.status, 201)
  const second = ask(app, { authorization: `Bearer ${made.body.key}` })
  assert.equal((await second('POST', '/user', OWNER)).status, 403)
  await call('DELETE', `/user/${admin.userId}`)
  assert.equal((await second('GET', '/user')).status, 401)
})

test('the keys of an OWNER, of the operator and of the business can create owners', async (t) => {
  const { app, owner, call, operator, businessId } = await startWithKeysOfPeople(t)
  const path = `/business/${businessId}/apiKey`
  const { key } = (await operator('POST', path, { name: 'first' })).body
  const byKey = (await call('POST', '/apiKey', { name: 'second' })).body
  const callers = [owner.withKey, ...[key, byKey.key].map((key) => withKey(key))]
  for (const [i, caller] of callers.entries()) {
    const made = await caller('POST', '/user', { ...OWNER, username: `owner${i}` })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }

  function withKey(key: string) {
    return ask(app, { authorization: `Bearer ${key}` })
  }
})

test('an ADMINISTRATOR cannot change a key that belongs to the business, but may revoke it', async (t) => {
  const { owner, admin, call } = await startWithKeysOfPeople(t)
  const { apiKeyId } = owner
  const narrow = { apiKeyId, scopes: ['scheduling:read'] }
  assert.equal((await call('POST', '/apiKey', narrow)).status, 200)
  const wide = { apiKeyId, scopes: SCOPES }
  for (const caller of [admin.session, admin.withKey]) {
    assert.equal((await caller('POST', '/apiKey', wide)).status, 403)
  }
  assert.deepEqual((await call('GET', `/apiKey/${apiKeyId}`)).body.scopes, ['scheduling:read'])
  assert.equal((await admin.session('DELETE', `/apiKey/${apiKeyId}`)).status, 200)
})

const ENDINGS: [string, object][] = [
  ['is deactivated', { active: false }],
  ['gets another role', { role: 'USER' }],
]

for (const [what, change] of ENDINGS) {
  test(`the keys of an ADMINISTRATOR who ${what} are revoked for good, those of the business stay valid`, async (t) => {
    const { owner, admin, call } = await startWithKeysOfPeople(t)
    const { userId, apiKeyId } = admin
    const key = (await call('GET', `/apiKey/${apiKeyId}`)).body
    assert.equal(key.makerUserId, userId)
    assert.equal((await call('POST', '/user', { userId, ...change })).status, 200)
    assert.equal((await admin.withKey('GET', '/user')).status, 401)
    assert.equal((await call('GET', `/apiKey/${apiKeyId}`)).body.active, false)

    const back = { userId, active: true, role: 'ADMINISTRATOR' }
    assert.equal((await call('POST', '/user', back)).status, 200)
    assert.equal(
      (await admin.withKey('GET', '/user')).status,
      401,
      'also after the ADMINISTRATOR is restored',
    )

    await call('POST', '/user', { ...OWNER, username: 'another' })
    assert.equal((await call('DELETE', `/user/${owner.userId}`)).status, 200)
    assert.equal((await owner.withKey('GET', '/user')).status, 200)
  })
}

test('a person who was just deactivated cannot create a key on another node', async (t) => {
  const { admin, call, database, clock } = await startWithKeysOfPeople(t)
  const there = await startApp(t, { database, clock })
  const onOtherNode = ask(there.app, { cookie: admin.cookie })
  assert.equal((await onOtherNode('GET', '/apiKey')).status, 200)
  assert.equal((await call('DELETE', `/user/${admin.userId}`)).status, 200)
  assert.equal(
    (await onOtherNode('GET', '/apiKey')).status,
    200,
    'that node still has the session in its cache',
  )
  assert.equal((await onOtherNode('POST', '/apiKey', { name: 'late' })).status, 401)
})
