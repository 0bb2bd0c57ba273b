import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Limiter } from '../../src/auth/limits.ts'
import { ask, createKey, startWithBusiness } from '../support/callers.ts'
import { manualClock } from '../support/clock.ts'

test('a credential can send its burst at once and then its rate', async (t) => {
  const { call, clock, app } = await startWithBusiness(t, { RATE_LIMIT: '2/s,5' })
  for (let left = 4; left >= 0; left -= 1) {
    const { status, headers } = await call('GET', '/business')
    assert.equal(status, 200)
    assert.equal(headers['ratelimit-policy'], '"default";q=5;w=3')
    assert.equal(headers.ratelimit, `"default";r=${left};t=${Math.ceil((5 - left) / 2)}`)
  }
  const refused = await call('GET', '/business')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(String(refused.headers['content-type']), /^application\/problem\+json/)
  assert.equal(refused.headers.ratelimit, '"default";r=0;t=1')
  assert.equal((await ask(app, {})('GET', '/healthz')).status, 200)

  clock.advance({ seconds: 1 })
  assert.equal((await call('GET', '/business')).status, 200)
  assert.equal((await call('GET', '/business')).status, 200)
  assert.equal((await call('GET', '/business')).status, 429)
})

test('one credential does not use up another’s share', async (t) => {
  const world = await startWithBusiness(t, { RATE_LIMIT: '1/s,2' })
  const { call, callAs, database, clock, businessId } = world
  const { key } = await createKey(database, clock, businessId)
  const other = callAs({ authorization: `Bearer ${key}` })
  const answers = [await call('GET', '/business'), await call('GET', '/business')]
  assert.equal((await call('GET', '/business')).status, 429)
  assert.deepEqual(
    answers.map(({ status }) => status).concat((await other('GET', '/business')).status),
    [200, 200, 200],
  )
})

test('without a valid credential requests are limited by address, an IPv6 /64 as one', async (t) => {
  const { app, key } = await startWithBusiness(t, { RATE_LIMIT: '1/s,3' })
  const from = async (remoteAddress: string, authorization = 'Bearer wrong') => {
    const answer = await app.inject({ url: '/business', remoteAddress, headers: { authorization } })
    return answer.statusCode
  }
  assert.deepEqual(
    [await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8:0:0:ffff::3')],
    [401, 401, 401],
  )
  assert.equal(await from('2001:db8::4'), 429)
  assert.equal(await from('2001:db8:0:1::4'), 401)
  assert.equal(await from('192.0.2.1'), 401)
  const signIn = async () => {
    const body = { username: 'nobody', password: 'not this one' }
    return (await app.inject({ method: 'POST', url: '/session', payload: body })).statusCode
  }
  assert.deepEqual(
    [await signIn(), await signIn(), await signIn(), await signIn()],
    [401, 401, 401, 429],
  )
  for (let i = 0; i < 5; i += 1) assert.equal((await app.inject('/healthz')).statusCode, 200)
  assert.equal(await from('2001:db8::5', `Bearer ${key}`), 200)
})

test('a limiter stores a limited number of names, and never allows more than its burst', () => {
  const clock = manualClock()
  const limiter = new Limiter({ perSecond: 1, burst: 2 }, clock)
  limiter.giveBack('a')
  assert.deepEqual(limiter.take('a'), { allowed: true, remaining: 1, seconds: 1 })
  for (let i = 0; i < 50_001; i += 1) limiter.take(`name ${i}`)
  assert.equal(limiter.take('a').remaining, 1)
  clock.advance({ hours: 1 })
  assert.equal(limiter.take('name 50000').remaining, 1)
})
