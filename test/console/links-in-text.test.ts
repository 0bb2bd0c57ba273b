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
