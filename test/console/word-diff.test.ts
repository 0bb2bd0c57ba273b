import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffWords } from '../../console/templates/word-diff.ts'

/** "[removed]" and "{added}" */
const written = (before: string, after: string) =>
  diffWords(before, after)
    .map(({ kind, text }) =>
      kind === 'same' ? text : kind === 'removed' ? `[${text}]` : `{${text}}`,
    )
    .join('')

test('a difference has the words that were removed and added', () => {
  const cases = [
    ['See you soon.', 'See you soon.', 'See you soon.'],
    ['See you soon.', 'See you on Monday.', 'See you [soon]{on Monday}.'],
    ['', 'New', '{New}'],
    ['Old', '', '[Old]'],
    ['one two three four', 'zero one three four five', '{zero }one [two ]three four{ five}'],
    ['a b c', 'x y z', '[a b c]{x y z}'],
    ['first\nsecond', 'first\nnew\nsecond', 'first\n{new\n}second'],
    ['on %APPT_DATE%', 'on %APPT_TIME%', 'on [%APPT_DATE%]{%APPT_TIME%}'],
    [
      '%CLIENT_FULLNAME|there%!',
      '%CLIENT_FULLNAME%!',
      '[%CLIENT_FULLNAME|there%]{%CLIENT_FULLNAME%}!',
    ],
    ['100% sure', '50% sure', '[100]{50}% sure'],
  ] as const
  for (const [before, after, expected] of cases) assert.equal(written(before, after), expected)
})

test('a long text that is completely different is shown as replaced', () => {
  const textOf = (sign: string) => Array.from({ length: 2_000 }, (_, i) => sign + i).join(' ')
  const parts = diffWords(textOf('a'), textOf('b'))
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['removed', 'added'],
  )
  assert.deepEqual([parts[0]!.text, parts[1]!.text], [textOf('a'), textOf('b')])
})

test('the parts of a difference give both texts back, however long and different they are', () => {
  const words = ['the', 'visit', ' ', ' ', '.', '\n', '%APPT_DATE%', 'Zürich', '%']
  // Every text is another arrangement of the same words.
  const textOf = (seed: number, length: number) =>
    Array.from({ length }, (_, i) => words[(seed * (i + 7) * (i + 3) + i) % words.length]).join('')
  const lengths = [0, 1, 5, 40, 200]
  for (const [seed, length] of lengths.flatMap((one) =>
    [1, 2, 3, 5].map((n) => [n, one] as const),
  )) {
    for (const other of lengths) {
      const before = textOf(seed, length)
      const after = textOf(seed + 1, other)
      const parts = diffWords(before, after)
      const without = (kind: string) =>
        parts.flatMap((part) => (part.kind === kind ? [] : part.text)).join('')
      assert.equal(without('added'), before)
      assert.equal(without('removed'), after)
    }
  }
})
