import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find, tokenize } from '../../console/templates/links-in-text.ts'

test('addresses in a text become links, without the punctuation after them', () => {
  const text = 'See https://salon.example/a?b=1, www.salon.example or ada@salon.example.'
  assert.deepEqual(
    find(text).map(({ href, start, end }) => [href, text.slice(start, end)]),
    [
      ['https://salon.example/a?b=1', 'https://salon.example/a?b=1'],
      ['https://www.salon.example', 'www.salon.example'],
      ['mailto:ada@salon.example', 'ada@salon.example'],
    ],
  )
  assert.deepEqual(find('9:30, e.g. Monday. No address @ all: javascript:alert(1)'), [])
})

test('a pasted address is linked as a whole, or not at all', () => {
  const hrefs = (text: string) => find(text).map(({ href }) => href)
  const whole = 'https://de.wikipedia.org/wiki/Termin_(Recht)'
  assert.deepEqual(hrefs(`See ${whole}.`), [whole])
  assert.deepEqual(hrefs('„https://x.example/a?b[]=1“'), ['https://x.example/a?b[]=1'])
  assert.deepEqual(hrefs('jürg@salon.example or o’brien@müller.example'), [
    'mailto:jürg@salon.example',
    'mailto:o’brien@müller.example',
  ])
  const startedAt = performance.now()
  assert.deepEqual(hrefs('a'.repeat(200_000)), [])
  assert.ok(performance.now() - startedAt < 2_000, 'a long word takes more than linear time')
})

test('a word is a link, or a link in brackets, or no link', () => {
  const kindsOf = (word: string) =>
    tokenize(word).map((piece) => [piece.toObject().value, piece.toObject().isLink])
  assert.deepEqual(kindsOf('https://salon.example'), [['https://salon.example', true]])
  assert.deepEqual(kindsOf('(www.salon.example)'), [
    ['(', false],
    ['www.salon.example', true],
    [')', false],
  ])
  assert.deepEqual(kindsOf('Monday'), [['Monday', false]])
})
