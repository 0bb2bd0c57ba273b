import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findExceededLimit } from '../../src/automation/account-mail-limits.ts'

const NOW = Temporal.Instant.from('2026-03-02T09:00:00Z')

/** Mails to different addresses, newest first: one a minute until now. */
const mails = (count: number, sender: string | null) =>
  Array.from({ length: count }, (_, i) => ({
    sender,
    recipient: `${sender}${i}@example.org`,
    createdDate: NOW.subtract({ minutes: i }),
  }))

const INVITATION = { purpose: 'INVITATION', sender: 'olga', to: 'New@example.org' } as const
const LINK = { purpose: 'FORGOTTEN', sender: null, to: 'Anna@Example.org' } as const

test('an inviter sends 50 invitations a day, a business 100', () => {
  assert.equal(findExceededLimit(mails(49, 'olga'), INVITATION, NOW), undefined)
  const own = mails(50, 'olga')
  const ofOlga = findExceededLimit(own, INVITATION, NOW)
  assert.deepEqual([ofOlga?.of, ofOlga?.max], ['sender', 50])
  assert.equal(ofOlga?.until.toString(), '2026-03-03T08:11:00Z')
  assert.equal(findExceededLimit(own, INVITATION, ofOlga!.until), undefined)
  assert.equal(findExceededLimit(own, { ...INVITATION, sender: 'otto' }, NOW), undefined)
  assert.equal(findExceededLimit(mails(100, 'ada'), INVITATION, NOW)?.of, 'business')
})

test('if several limits are exceeded, the one that lasts longest counts', () => {
  assert.equal(findExceededLimit(mails(100, 'olga'), INVITATION, NOW)?.of, 'sender')
})

test('a business sends an address the links of ten requests an hour, and 150 links a day to all', () => {
  const toAnna = mails(10, null).map((mail) => ({ ...mail, recipient: 'anna@example.org' }))
  assert.equal(findExceededLimit(toAnna.slice(1), LINK, NOW), undefined)
  const later = NOW.add({ minutes: 1 })
  const exceeded = findExceededLimit(toAnna, LINK, later)
  assert.deepEqual(
    [exceeded?.of, exceeded?.until.toString()],
    ['recipient', '2026-03-02T09:51:00Z'],
  )
  const toAllAccounts = toAnna.flatMap((mail) => Array(12).fill(mail))
  assert.equal(findExceededLimit(toAllAccounts.slice(12), LINK, later), undefined)
  assert.equal(findExceededLimit(toAllAccounts, LINK, NOW), undefined, 'the same request')
  assert.equal(findExceededLimit(toAllAccounts, LINK, later)?.of, 'recipient')
  assert.equal(findExceededLimit(mails(149, null), LINK, NOW), undefined)
  assert.equal(findExceededLimit(mails(150, null), LINK, NOW)?.of, 'business')
})
