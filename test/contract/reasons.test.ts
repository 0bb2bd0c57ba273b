import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readReasons,
  REASONS,
  reasonText,
  shadowReason,
  SUPPRESSED_REASONS,
} from '../../src/contract/reasons.ts'
import { sayReason } from '../../src/texts/texts.ts'

test('every fixed reason is read back as its own code', () => {
  for (const [code, text] of Object.entries(REASONS)) {
    assert.deepEqual(readReasons(text), [{ code, params: {} }], text)
  }
  const suppressed = Object.values(SUPPRESSED_REASONS).flatMap((text) => readReasons(text))
  assert.deepEqual(
    suppressed.map(({ code }) => code),
    ['bounced', 'complained', 'unsubscribed'],
  )
})

test('a reason with values is read back with them: numbers, times in ms, kinds of objects', () => {
  const time = Temporal.Instant.from('2026-11-18T23:00:00Z')
  const codes = (text: string) => readReasons(text)
  assert.deepEqual(
    codes(reasonText('otherStatus', { objectType: 'RECALL', status: 'DONE', wanted: 'DUE or X' })),
    [{ code: 'otherStatus', params: { objectType: 'RECALL', status: 'DONE', wanted: 'DUE or X' } }],
  )
  assert.deepEqual(codes(reasonText('limitReached', { count: 200, time })), [
    { code: 'limitReached', params: { count: 200, time: time.epochMilliseconds } },
  ])
  assert.deepEqual(codes(shadowReason('Salon (new)')), [
    { code: 'shadow', params: { name: 'Salon (new)' } },
  ])
})

test('several reasons are read one after the other, and what a server said is quoted as a whole', () => {
  assert.deepEqual(
    readReasons(`${REASONS.maybeSent}: ${reasonText('gaveUp', { count: 3 })}: 421 later; try`),
    [
      { code: 'maybeSent', params: {} },
      { code: 'gaveUp', params: { count: 3 } },
      { code: 'words', params: { words: '421 later; try' } },
    ],
  )
  // Words that only begin like a reason are not one.
  assert.deepEqual(readReasons('erased disk'), [
    { code: 'words', params: { words: 'erased disk' } },
  ])
  assert.deepEqual(readReasons(null), [])
})

test('a reason is said in German and French with its values, and a reply stays as it is', () => {
  const text = `${reasonText('gaveUp', { count: 3 })}: 421 later`
  assert.equal(sayReason('de', text), 'nach 3 Versuchen aufgegeben: 421 later')
  assert.equal(sayReason('fr', text), 'abandonné après 3 tentatives: 421 later')
})
