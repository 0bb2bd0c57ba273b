import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../../src/errors.ts'
import { requireMatch } from '../../src/http/server/etag.ts'
import { startProbe } from '../support/probe.ts'

const { app } = await startProbe({ after })

test('an answer with one object has an ETag and times in milliseconds', async () => {
  const answer = await app.inject('/probe/thing')
  assert.equal(answer.body, '{"thingId":7,"at":1772442000000}')
  assert.match(String(answer.headers.etag), /^"[\w-]{20,}"$/)
})

test('a GET with the current ETag is answered 304 without a body', async () => {
  const etag = String((await app.inject('/probe/thing')).headers.etag)
  const ask = (tag: string) =>
    app.inject({ url: '/probe/thing', headers: { 'if-none-match': tag } })
  const again = await ask(etag)
  assert.equal(again.statusCode, 304)
  assert.equal(again.body, '')
  assert.equal(again.headers.etag, etag)
  assert.equal((await ask(`"x", W/${etag}`)).statusCode, 304)
  assert.equal((await ask('"x"')).statusCode, 200)
})

test('a change with an outdated ETag is 412', async () => {
  const current = { thingId: 7, at: Temporal.Instant.from('2026-03-02T09:00:00Z') }
  const etag = String((await app.inject('/probe/thing')).headers.etag)
  const change = (tag: string | undefined, object: object | undefined) =>
    requireMatch(
      { headers: tag === undefined ? {} : { 'if-match': tag } } as FastifyRequest,
      object,
    )

  change(undefined, current)
  change(etag, current)
  change('*', current)
  change(`"old", ${etag}`, current)
  const stale = (error: unknown) => error instanceof RequestError && error.status === 412
  assert.throws(() => change('"old"', current), stale)
  assert.throws(() => change(etag, { ...current, thingId: 8 }), stale)
  assert.throws(() => change('*', undefined), stale, 'there is nothing to match')
  assert.throws(() => change(`W/${etag}`, current), stale, 'a weak ETag never matches If-Match')
})
