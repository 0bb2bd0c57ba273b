import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FOR_ALL, languagesFor } from '../../console/templates/reach.ts'

const massage = { ...FOR_ALL, reasonIdList: [4, 2] }
const oldTown = { ...massage, level: 'LOCATION', location: '3' }

test('a language is written only for those for whom a version in it is', () => {
  const versions = [
    { ...FOR_ALL, language: null },
    { ...FOR_ALL, language: 'fr-CH' },
    { ...massage, language: 'de' },
    { ...oldTown, language: 'it' },
    { ...massage, level: 'BUSINESS', location: '3', language: 'es' },
  ]
  const written = (reach: typeof FOR_ALL) => [...languagesFor(reach, versions, 'en')].toSorted()
  assert.deepEqual(written(FOR_ALL), ['en', 'fr'])
  assert.deepEqual(written({ ...FOR_ALL, reasonIdList: [2, 4] }), ['de', 'es'])
  assert.deepEqual(written(oldTown), ['it'])
  assert.deepEqual(written({ ...oldTown, location: '5' }), [])
})
