import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provenOrder, readDuration, readHours, readWhen } from '../../src/file-import/dates.ts'

const read = (text: string, order: 'dmy' | 'mdy' = 'dmy') => {
  const when = readWhen(text, order)
  if (!when) return undefined
  const { instant, date, time, endTime } = when
  const parts = [instant, date, time, endTime && `– ${endTime.toString()}`]
  return parts.filter(Boolean).map(String).join(' ')
}

test('dates and times are read in the styles of English, German and French programs', () => {
  for (const [text, expected] of [
    ['2026-04-03', '2026-04-03'],
    ['20260403', '2026-04-03'],
    ['03.04.2026 9:30', '2026-04-03 09:30:00'],
    ['3.4.26', '2026-04-03'],
    ['Fri, Apr 3, 2026 2:15pm', '2026-04-03 14:15:00'],
    ['April 3rd, 2026 at 12:05 a.m.', '2026-04-03 00:05:00'],
    ['Freitag, 3. April 2026, 14:00 Uhr', '2026-04-03 14:00:00'],
    ['mardi 3 mars 2026 à 9h', '2026-03-03 09:00:00'],
    ['3 août 2026 14h30', '2026-08-03 14:30:00'],
    ['2026-04-03T09:00:00+0200', '2026-04-03T07:00:00Z'],
    ['2026-04-03 09:00 UTC', '2026-04-03T09:00:00Z'],
    ['1800000000000', '2027-01-15T08:00:00Z'],
    ['09:00 - 09:30', '09:00:00 – 09:30:00'],
    ['9:00 – 9:30 pm', '21:00:00 – 21:30:00'],
    ['14 h 30', '14:30:00'],
    ['9 Uhr 05', '09:05:00'],
    ['1:30p', '13:30:00'],
    ['46115', '2026-04-03'],
    ['46115,395833333', '2026-04-03 09:30:00'],
    ['0.25', '06:00:00'],
    ['2026-04-03 09:00 bis 10:00', '2026-04-03 09:00:00 – 10:00:00'],
  ] as const) {
    assert.equal(read(text), expected, text)
  }
})

test('a text that is not a date is not read as one', () => {
  for (const text of [
    '31.02.2026',
    '9',
    'tomorrow',
    '25:00',
    '13 pm',
    '2026-13-01',
    '3 Foo 2026',
    '12345',
    '99999.5',
  ]) {
    assert.equal(read(text), undefined, text)
  }
})

test('03/04/2026 is read as its order says, and only clear dates prove one', () => {
  assert.equal(read('03/04/2026', 'dmy'), '2026-04-03')
  assert.equal(read('03/04/2026', 'mdy'), '2026-03-04')
  assert.deepEqual(
    ['03/04/2026', '13/04/2026', '04/13/2026', '03.04.2026', '2026-04-03', '04-04-2026'].map(
      provenOrder,
    ),
    ['either', 'dmy', 'mdy', undefined, undefined, undefined],
  )
})

test('durations are read with and without units', () => {
  const texts = [
    '45',
    '45 min',
    '1h',
    '1 h 30',
    '1:30',
    '01:30:00',
    '0,5 h',
    '1 Std. 15 Min.',
    'x',
    '0',
  ]
  assert.deepEqual(texts.map(readDuration), [45, 45, 60, 90, 90, 90, 30, 75, undefined, undefined])
})

test('a column of hours has them as numbers or with units', () => {
  assert.deepEqual(['0.75', '1,5', '2', '45 min', 'x', '0'].map(readHours), [
    45,
    90,
    120,
    45,
    undefined,
    undefined,
  ])
})
