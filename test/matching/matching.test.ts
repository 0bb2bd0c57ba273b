import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Directory, keyOf } from '../../src/matching/directory.ts'
import { nameKey, readPerson } from '../../src/matching/people.ts'
import { findStatusOf, type KnownStatus } from '../../src/matching/status-words.ts'
import type { NamedObject } from '../../src/store/named-objects.ts'

test('a person is read from a name in either order, with or without an address', () => {
  const read = (text: string) => Object.values(readPerson(text)).join('|')
  for (const [text, expected] of [
    ['Anna Keller', 'Anna|Keller|'],
    ['Keller, Anna', 'Anna|Keller|'],
    ['Anna Keller <a@example.com>', 'Anna|Keller|a@example.com'],
    ['Keller, Anna (a@example.com)', 'Anna|Keller|a@example.com'],
    ['Frau Anna Keller', 'Anna|Keller|'],
    ['Ludwig van der Rohe', 'Ludwig|van der Rohe|'],
    ['a@example.com', '||a@example.com'],
    ['Cher', 'Cher|–|'],
    ['  ', '||'],
  ] as const) {
    assert.equal(read(text), expected, text)
  }
  assert.equal(nameKey('Dr. Zoë KELLER'), nameKey('keller zoe'))
})

const known = (id: number, name: string, emailAddress: string | null = null): NamedObject => ({
  id,
  name,
  emailAddress,
  externalId: null,
  timeZone: null,
  durationMinutes: null,
})

test('an address identifies a client, a name only if one client has it', () => {
  const directory = new Directory()
  directory.add('client', known(1, 'Anna Keller', 'anna@example.com'))
  directory.add('client', known(2, 'Ben Roth'))
  directory.add('client', known(3, 'Ben Roth', 'ben@example.com'))
  directory.add('client', known(4, 'Eva Lang', 'family@example.com'))
  directory.add('client', known(5, 'Jan Lang', 'family@example.com'))
  const find = (name: string, emailAddress = '') => {
    const match = directory.find({ kind: 'client', name, emailAddress })
    if (!match) return undefined
    return 'found' in match ? match.found.id : match.among.map(({ id }) => id)
  }
  assert.equal(find('A. Keller', 'ANNA@example.com'), 1)
  assert.equal(find('keller anna'), 1)
  assert.deepEqual(find('Ben Roth'), [2, 3])
  assert.equal(find('Ben Roth', 'other@example.com'), 2)
  assert.equal(find('Jan Lang', 'family@example.com'), 5)
  assert.deepEqual(find('Tim Lang', 'family@example.com'), [4, 5])
  assert.equal(find('Anna Keller', 'another.anna@example.com'), undefined)
  assert.equal(
    keyOf({ kind: 'client', name: 'Keller Anna', emailAddress: '' }),
    'client anna keller',
  )
})

test('staff are found by one word of their name', () => {
  const directory = new Directory()
  directory.add('professional', known(1, 'Grace Hopper'))
  directory.add('professional', known(2, 'Maria Berg'))
  directory.add('professional', known(3, 'Maria Tal'))
  const find = (name: string) => directory.find({ kind: 'professional', name, emailAddress: '' })
  assert.deepEqual(find('Grace'), { found: known(1, 'Grace Hopper') })
  assert.equal((find('Maria') as { among: unknown[] }).among.length, 2)
  assert.equal(find('Otto'), undefined)
})

test('status words of three languages mean the statuses of the business', () => {
  const status = (
    status: string,
    label: string,
    outcome: KnownStatus['outcome'],
    active = true,
  ) => ({
    status,
    label,
    outcome,
    active,
  })
  const statuses = [
    status('OPEN', 'Open', 'PENDING'),
    status('CONFIRMED', 'Confirmed', 'PENDING'),
    status('DONE', 'Abgerechnet', 'KEPT'),
    status('NO_SHOW', 'No-show', 'MISSED', false),
    status('CANCELLED', 'Cancelled', 'CANCELLED'),
  ]
  for (const [word, expected] of [
    ['Bestätigt', 'CONFIRMED'],
    ['annulé', 'CANCELLED'],
    ['Canceled', 'CANCELLED'],
    ['completed', 'DONE'],
    ['abgerechnet', 'DONE'],
    ['En attente', 'OPEN'],
    ['No-Show', undefined],
    ['purple', undefined],
  ] as const) {
    assert.equal(findStatusOf(word, statuses), expected, word)
  }
})
