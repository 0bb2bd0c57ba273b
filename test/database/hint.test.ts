import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { hintSoon } from '../../src/database/hint.ts'

test('equal hints before a notification are sent by one statement', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pool = new pg.Pool()
  const notified: string[][] = []
  t.mock.method(pool, 'query', async (_text: string, [, payloads]: [string, string[]]) => {
    notified.push(payloads)
  })
  for (let i = 0; i < 3; i += 1) hintSoon(pool, 'bellwether_due', '')
  for (const payload of ['1', '2', '1']) hintSoon(pool, 'bellwether_changes', payload)
  t.mock.timers.tick(1_000)
  assert.deepEqual(notified, [[''], ['1', '2']])

  hintSoon(pool, 'bellwether_due', '')
  t.mock.timers.tick(1_000)
  assert.deepEqual(notified, [[''], ['1', '2'], ['']])
})
