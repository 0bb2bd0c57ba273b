import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitAfter } from '../../src/email/mailer.ts'
import { readUnsubscribe, unsubscribeLink } from '../../src/email/unsubscribe.ts'

const mail = { businessId: 3, emailId: 8_000_000_042 }
const tokenOf = (link: string) => link.split('/').at(-1) as string

test('a link names its mail to whoever knows the secret', () => {
  const link = unsubscribeLink('https://bell.example/', 'secret', mail)
  assert.match(link, /^https:\/\/bell\.example\/unsubscribe\/3\.8000000042\.[\w-]{22}$/)
  assert.deepEqual(readUnsubscribe(tokenOf(link), 'secret'), mail)
  assert.equal(unsubscribeLink('https://bell.example', 'secret', mail), link)
})

test('a link that was not made by us names nothing', () => {
  const token = tokenOf(unsubscribeLink('https://bell.example', 'secret', mail))
  const seal = token.slice(-22)
  for (const forged of [
    '',
    'x',
    `3.8000000043.${seal}`,
    `4.8000000042.${seal}`,
    `03.8000000042.${seal}x`,
    token.slice(0, -1),
    `${token}x`,
  ])
    assert.equal(readUnsubscribe(forged, 'secret'), undefined, forged)
  assert.equal(readUnsubscribe(token, 'another'), undefined)
})

test('a mail is tried again after 1, 4, 9 … minutes, ten times', () => {
  const waits = Array.from({ length: 11 }, (_, i) => waitAfter(i + 1)?.total('minutes'))
  assert.deepEqual(waits, [1, 4, 9, 16, 25, 36, 49, 64, 81, 100, undefined])
})
