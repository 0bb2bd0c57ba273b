import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { createPerson, signInAs } from '../support/callers.ts'
import { startWorld } from '../support/world.ts'

test('answers with personal data must not be cached', async (t) => {
  const world = await startWorld(t)
  const { app, key, clock, database, businessId, ids, book } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  const asKey = { authorization: `Bearer ${key}` }
  const asPerson = { cookie: await signInAs(app, 'anna') }
  const report = '/report/print/file?startDate=2026-01-01&endDate=2026-01-02&format=csv'
  const answers: [string, InjectOptions][] = [
    ['an object', { url: `/client/${ids.clientId}`, headers: asKey }],
    ['a list', { url: '/client', headers: asPerson }],
    ['mails of a client', { url: `/emails/client/${ids.clientId}`, headers: asKey }],
    ['triggers', { url: `/eventTriggers/CALENDAR/${calendarId}`, headers: asKey }],
    ['an audit', { url: '/audit', headers: asKey }],
    ['people', { url: '/user', headers: asPerson }],
    ['the session', { url: '/session', headers: asPerson }],
    ['a save', { method: 'POST', url: '/client', headers: asKey, payload: PERSON }],
    ['a deletion', { method: 'DELETE', url: `/calendar/${calendarId}`, headers: asKey }],
    ['a report', { method: 'POST', url: report, headers: asKey, payload: { reportId: 101 } }],
    ['an unsubscribe link', { url: `/unsubscribe/1.1.${'A'.repeat(22)}` }],
    ['an answer link', { url: `/answer/confirm.1.1.a.${'A'.repeat(22)}` }],
    ['a refused input', { method: 'POST', url: '/client', headers: asKey, payload: { a: 1 } }],
    ['an object that is missing', { url: '/client/999999', headers: asKey }],
    ['a missing credential', { url: '/client' }],
    ['metrics', { url: '/metrics', headers: asKey }],
  ]
  for (const [what, request] of answers) {
    const { headers } = await app.inject(request)
    assert.equal(headers['cache-control'], 'no-store', what)
  }
})

const PERSON = { firstName: 'Ben', lastName: 'Weiss' }

test('public files set their own Cache-Control', async (t) => {
  const { app } = await startWorld(t)
  for (const url of ['/openapi.json', '/docs', '/healthz']) {
    const { headers } = await app.inject({ url })
    assert.notEqual(headers['cache-control'], 'no-store', url)
  }
})
