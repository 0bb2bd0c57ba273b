import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from '../../src/http/server/rate-limit.ts'
import { noDatabase, startApp } from '../support/app.ts'

const ADDRESSES: [ip: string, counted: string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::7', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
]

for (const [ip, counted] of ADDRESSES) {
  test(`requests from ${ip} are counted under ${counted}`, () => {
    assert.equal(networkOf({ ip }), counted)
  })
}

test('with HOST=:: the rate limit of one IPv4 client does not affect another', async (t) => {
  const { app } = await startApp(t, { database: noDatabase, env: { RATE_LIMIT: '1/s,1' } })
  const statusFor = async (remoteAddress: string) =>
    (await app.inject({ url: '/location', remoteAddress })).statusCode
  assert.equal(await statusFor('::ffff:192.0.2.1'), 401)
  assert.equal(await statusFor('::ffff:192.0.2.1'), 429)
  assert.equal(await statusFor('::ffff:192.0.2.2'), 401)
})
