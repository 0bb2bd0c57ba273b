import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress, parseMailbox } from '../../src/contract/addresses.ts'

const good: [string, string][] = [
  ['ada@example.org', 'ada@example.org'],
  ['Ada.Okafor+tag@Example.ORG', 'Ada.Okafor+tag@example.org'],
  ["o'brien@example.org", "o'brien@example.org"],
  ['no-reply@localhost', 'no-reply@localhost'],
  ['a@b', 'a@b'],
  ['x@münchen.example', 'x@xn--mnchen-3ya.example'],
  ['x@例え.example', 'x@xn--r8jz45g.example'],
  ['1234567890@1e100.net', '1234567890@1e100.net'],
  [`${'a'.repeat(64)}@example.org`, `${'a'.repeat(64)}@example.org`],
]

for (const [text, wire] of good)
  test(`${text} is an address`, () => {
    assert.equal(parseAddress(text), wire)
  })

const bad = [
  '',
  'ada',
  '@example.org',
  'ada@',
  'ada@@example.org',
  'a@ok.example, v@evil.example',
  'a@ok.example;v@evil.example',
  'a@ok.example v@evil.example',
  ' ada@example.org',
  'ada@example.org ',
  'ada@example.org\n',
  'ada@example.org\r\nBcc: v@evil.example',
  'ada\0@example.org',
  '"ada okafor"@example.org',
  '"ada"@example.org',
  'ada(comment)@example.org',
  'ada@example.org(comment)',
  'Ada <ada@example.org>',
  '<ada@example.org>',
  'ada@[127.0.0.1]',
  'ada@127.0.0.1',
  '.ada@example.org',
  'ada.@example.org',
  'a..da@example.org',
  'ada@.example.org',
  'ada@example.org.',
  'ada@example..org',
  'ada@-example.org',
  'ada@example-.org',
  'ada@exa_mple.org',
  'ada@exa mple.org',
  'adа@example.org',
  'ada@example.org\u2028',
  'ada@example\u3002org,x',
  'ada@example.org>',
  'group:ada@example.org;',
  `${'a'.repeat(65)}@example.org`,
  `a@${'b'.repeat(64)}.org`,
  `a@${'b.'.repeat(126)}org`,
]

for (const text of bad)
  test(`${JSON.stringify(text).slice(0, 60)} is not an address`, () => {
    assert.equal(parseAddress(text), undefined)
  })

test('a sender is written with or without a name', () => {
  assert.deepEqual(parseMailbox('Bellwether <no-reply@localhost>'), {
    name: 'Bellwether',
    address: 'no-reply@localhost',
  })
  assert.deepEqual(parseMailbox('no-reply@localhost'), { name: '', address: 'no-reply@localhost' })
  assert.deepEqual(parseMailbox('"Clinic, Harbour" <a@b.example>'), {
    name: 'Clinic, Harbour',
    address: 'a@b.example',
  })
  assert.equal(parseMailbox('Bellwether <no-reply>'), undefined)
  assert.equal(parseMailbox('A <a@b.example>, B <b@b.example>'), undefined)
})
