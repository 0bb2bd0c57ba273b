import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../src/contract/addresses.ts'
import { bounceAddress, isBounceSealOf, readBounceAddress } from '../../src/email/verp.ts'

const mail = {
  businessId: 7,
  emailId: 123_456,
  messageId: `<123456.7.${'a'.repeat(24)}@h.example>`,
}
const address = bounceAddress('b.example', 'secret', mail)

test('a bounce address names its mail, also if its case was changed', () => {
  for (const written of [address, address.toUpperCase()]) {
    const { seal, ...named } = readBounceAddress(written, 'b.example')!
    assert.deepEqual(named, { businessId: 7, emailId: 123_456 })
    assert.equal(isBounceSealOf(mail, seal, 'secret'), true)
  }
})

test('the longest bounce address is a valid address', () => {
  const largest = { ...mail, businessId: Number.MAX_SAFE_INTEGER, emailId: Number.MAX_SAFE_INTEGER }
  const long = bounceAddress('b.example', 'secret', largest)
  assert.equal(parseAddress(long), long)
  const { seal, ...named } = readBounceAddress(long, 'b.example')!
  assert.equal(named.emailId, Number.MAX_SAFE_INTEGER)
  assert.equal(isBounceSealOf(largest, seal, 'secret'), true)
})

test('the seal of another mail, another installation or a restored backup is not valid', () => {
  const { seal } = readBounceAddress(address, 'b.example')!
  assert.equal(isBounceSealOf({ ...mail, emailId: 5 }, seal, 'secret'), false)
  assert.equal(isBounceSealOf({ ...mail, businessId: 8 }, seal, 'secret'), false)
  assert.equal(isBounceSealOf(mail, seal, 'other'), false)
  const again = { ...mail, messageId: `<123456.7.${'b'.repeat(24)}@h.example>` }
  assert.equal(isBounceSealOf(again, seal, 'secret'), false)
})

for (const other of [
  address.replace('b.example', 'c.example'),
  address.replace('bounce+', 'bounce-'),
  address.replace('@', '0@'),
  'bounce+@b.example',
  `bounce+zzzzzzzzzzz-1-${'0'.repeat(20)}@b.example`,
  'postmaster@b.example',
]) {
  test(`${other} is not a bounce address`, () => {
    assert.equal(readBounceAddress(other, 'b.example'), undefined)
  })
}
