import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessField } from '../../console/components/guess-field.ts'

const CLIENT = ['externalId', 'firstName', 'lastName', 'emailAddress', 'phone', 'language']
const APPOINTMENT = ['externalId', 'clientExternalId', 'professionalExternalId', 'startTime']

test('the columns of other software are recognised in English, German and French', () => {
  const guesses = ['Kundennr', 'Prénom', 'Nachname', 'E-Mail', 'Tel.', 'Sprache', 'Hobby']
  assert.deepEqual(
    guesses.map((column) => guessField(column, [], CLIENT)),
    ['externalId', 'firstName', 'lastName', 'emailAddress', 'phone', 'language', ''],
  )
})

test('the number of a client is the client of an appointment', () => {
  assert.equal(guessField('Kundennr.', [], APPOINTMENT), 'clientExternalId')
  assert.equal(guessField('Nr', [], APPOINTMENT), 'externalId')
  assert.equal(guessField('Therapeutin', [], APPOINTMENT), 'professionalExternalId')
})

test('the guess of the service comes first, and no field is guessed twice', () => {
  const columns = [{ column: 'Mail', field: 'emailAddress' }]
  assert.equal(guessField('Mail', columns, CLIENT), 'emailAddress')
  assert.equal(guessField('E-Mail', columns, CLIENT), '')
})
