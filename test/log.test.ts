import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ConnectionError } from '../src/database/postgres-errors.ts'
import { openLog } from '../src/log.ts'

function open() {
  const lines: string[] = []
  const log = openLog('info', { write: (line: string) => void lines.push(line) })
  return { log, read: () => lines.map((line) => JSON.parse(line)) }
}

test('an outage of the database is logged once a second, whichever part of the service meets it', () => {
  const { log, read } = open()
  const err = new ConnectionError(new Error('connect ECONNREFUSED'))
  const request = log.child({ reqId: 1 })
  for (let i = 0; i < 100; i += 1) {
    log.warn({ err }, 'database connection lost')
    request.warn({ err, route: '/client' }, 'request failed')
  }
  log.warn({ err: new Error('a template is broken') }, 'engine iteration failed')
  log.info('stopping')
  assert.deepEqual(
    read().map(({ msg }) => msg),
    ['database connection lost', 'engine iteration failed', 'stopping'],
  )
})

const refused = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code, severity: 'ERROR' })

test('an error of the database has a message in the log, but never values', () => {
  const { log, read } = open()
  const unreachable = new AggregateError([new Error('connect ECONNREFUSED ::1:5432')])
  const errors = [
    unreachable,
    new ConnectionError(unreachable),
    new ConnectionError(new Error()),
    new Error(),
    refused('23505', 'Key (last_name)=(Gelbfeder) already exists'),
    refused('40P01', 'deadlock detected'),
  ]
  for (const err of errors) log.error({ err }, 'failed')
  const messages = read().map(({ err }) => err.message)
  assert.deepEqual(messages, [
    'Error: connect ECONNREFUSED ::1:5432',
    'connect ECONNREFUSED ::1:5432',
    'no message; code unknown',
    'PostgreSQL error 23505',
    'deadlock detected',
  ])
})

test('a time is logged as ISO 8601', () => {
  const { log, read } = open()
  const heldSince = '2026-11-18T09:12:40.5Z'
  log.warn({ heldSince: Temporal.Instant.from(heldSince) }, 'the database was restored')
  assert.equal(read()[0].heldSince, heldSince)
})
