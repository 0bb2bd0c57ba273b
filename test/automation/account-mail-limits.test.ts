import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findExceededLimit } from '../../src/automation/account-mail-limits.ts'
import type { RecentAccountMail } from '../../src/store/account-mails.ts'

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
  const toAllAccounts = toAnna.flatMap((mail) => Array(6).fill(mail))
  assert.equal(findExceededLimit(toAllAccounts.slice(6), LINK, later), undefined)
  assert.equal(findExceededLimit(toAllAccounts, LINK, NOW), undefined, 'the same request')
  assert.equal(findExceededLimit(toAllAccounts, LINK, later)?.of, 'recipient')
  assert.equal(findExceededLimit(mails(149, null), LINK, NOW), undefined)
  assert.equal(findExceededLimit(mails(150, null), LINK, NOW)?.of, 'business')
})

test('a stranger who requests links for some addresses all day leaves links for the others', () => {
  const known = ['anna@example.org', 'bela@example.org', 'cleo@example.org']
  const request = (recipient: string, sent: RecentAccountMail[], now: Temporal.Instant) => {
    if (findExceededLimit(sent, { ...LINK, to: recipient }, now)) return false
    sent.unshift({ sender: null, recipient, createdDate: now })
    return true
  }
  const sent: RecentAccountMail[] = []
  const minutes = Array.from({ length: 1_440 / 7 }, (_, i) => 7 * i)
  for (const minute of minutes)
    for (const recipient of known) request(recipient, sent, NOW.add({ minutes: minute }))
  assert.equal(sent.length, 75)

  const evening = NOW.add({ minutes: 1_439 })
  const others = Array.from({ length: 15 }, (_, i) => `other${i}@example.org`)
  const links = others.flatMap((recipient) =>
    [0, 1, 2, 3, 4].map((i) => request(recipient, sent, evening.add({ seconds: i }))),
  )
  assert.deepEqual(
    links.filter((isSent) => !isSent),
    [],
  )
  assert.equal(request('last@example.org', sent, evening.add({ seconds: 5 })), false)
})

test('as long as a business has links for others, one address gets as many as ten requests an hour', () => {
  const toAnna = mails(74, null).map((mail, i) => ({
    ...mail,
    recipient: 'anna@example.org',
    createdDate: NOW.subtract({ minutes: 7 * (i + 1) }),
  }))
  assert.equal(findExceededLimit(toAnna, LINK, NOW), undefined)
  const other = { ...toAnna.at(-1)!, recipient: 'bela@example.org' }
  const exceeded = findExceededLimit([...toAnna, other], LINK, NOW)
  assert.deepEqual([exceeded?.of, exceeded?.max], ['recipient', 5])
})
