import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitAfter } from '../../src/email/mailer.ts'
import { isSealOf, readUnsubscribe, unsubscribeLink } from '../../src/email/unsubscribe.ts'

const mail = {
  businessId: 3,
  emailId: 8_000_000_042,
  messageId: '<8000000042.3.0123456789abcdef01234567@bell.example>',
}
const tokenOf = (link: string) => link.split('/').at(-1) as string

test('an unsubscribe link contains its mail, and its signature is valid for that mail only', () => {
  const link = unsubscribeLink('https://bell.example/', 'secret', mail)
  assert.match(link, /^https:\/\/bell\.example\/unsubscribe\/3\.8000000042\.[\w-]{22}$/)
  assert.equal(unsubscribeLink('https://bell.example', 'secret', mail), link)
  const { seal, ...named } = readUnsubscribe(tokenOf(link))!
  assert.deepEqual(named, { businessId: 3, emailId: 8_000_000_042 })
  assert.equal(isSealOf(mail, seal, 'secret'), true)

  assert.equal(isSealOf(mail, seal, 'another'), false)
  for (const other of [
    { ...mail, businessId: 4 },
    { ...mail, emailId: 8_000_000_043 },
    { ...mail, messageId: mail.messageId.replace('67@', '68@') },
    { ...mail, messageId: '<8000000042.3@bell.example>' },
  ])
    assert.equal(isSealOf(other, seal, 'secret'), false)
})

test('a malformed link is ignored', () => {
  const token = tokenOf(unsubscribeLink('https://bell.example', 'secret', mail))
  const seal = token.slice(-22)
  for (const forged of [
    '',
    'x',
    `03.8000000042.${seal}`,
    `3.8000000042.${seal.slice(1)}`,
    `${token}x`,
    `3.8000000042.${'é'.repeat(22)}`,
  ])
    assert.equal(readUnsubscribe(forged), undefined, forged)
})

test('a mail is retried after 1, 4, 9 … minutes, and then every 30', () => {
  const waits = Array.from({ length: 8 }, (_, i) => waitAfter(i + 1).total('minutes'))
  assert.deepEqual(waits, [1, 4, 9, 16, 25, 30, 30, 30])
})
