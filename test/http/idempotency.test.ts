import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import { sql } from '../../src/database/sql.ts'
import { RequestError } from '../../src/errors.ts'
import {
  answerOnce,
  created,
  deleteOldAnswers,
  type RouteAnswer,
} from '../../src/http/server/idempotency.ts'
import type { Db } from '../../src/database/database.ts'
import { startApp } from '../support/app.ts'

const KEY = 'a1b2'

test('the same key and body get the first answer again, and the work is done once', async (t) => {
  const { post, done } = await startThings(t)
  const first = await post({ name: 'a' })
  const again = await post({ name: 'a' })

  assert.equal(first.statusCode, 201)
  assert.equal(first.headers.location, '/thing/1')
  assert.equal(first.body, '{"thingId":1,"name":"a","at":1772442000000}')
  assert.equal(again.statusCode, 201)
  assert.equal(again.headers.location, '/thing/1')
  assert.equal(again.body, first.body)
  assert.equal(again.headers.etag, first.headers.etag)
  assert.match(String(again.headers['content-type']), /^application\/json/)
  assert.equal(done.length, 1)
})

test('the order of properties does not matter', async (t) => {
  const { post, done } = await startThings(t)
  await post({ name: 'a', note: 'n' })
  assert.equal((await post({ note: 'n', name: 'a' })).statusCode, 201)
  assert.equal(done.length, 1)
})

test('another body, and another query, under the same key are 422', async (t) => {
  const { post, done } = await startThings(t)
  await post({ name: 'a' })
  const other = await post({ name: 'b' })
  assert.equal(other.statusCode, 422)
  assert.deepEqual(other.json().errors, [
    { pointer: 'Idempotency-Key', detail: 'was used before with another body' },
  ])
  assert.equal((await post({ name: 'a' }, { query: { x: '1' } })).statusCode, 422)
  assert.equal(done.length, 1)
})

test('a key belongs to its credential and its path', async (t) => {
  const { post, done } = await startThings(t)
  await post({ name: 'a' })
  await post({ name: 'a' }, { credential: 'key:2' })
  await post({ name: 'a' }, { path: '/thing/other' })
  await post({ name: 'a' }, { businessId: 2 })
  await post({ name: 'a' }, { businessId: undefined })
  assert.equal(done.length, 5)
})

test('while a request is running, another one with its key is 409', async (t) => {
  const { post, done, hold } = await startThings(t)
  const { entered, release } = hold()
  const first = post({ name: 'a' })
  await entered
  const second = await post({ name: 'a' })
  release()
  assert.equal(second.statusCode, 409)
  assert.equal((await first).statusCode, 201)
  assert.equal((await post({ name: 'a' })).body, (await first).body)
  assert.equal(done.length, 1)
})

test('a refusal is remembered with its text, and nothing is written', async (t) => {
  const { post, done, failWith, database } = await startThings(t)
  failWith(new RequestError(409, 'not today'))
  const first = await post({ name: 'a' })
  failWith(undefined)
  const again = await post({ name: 'a' })
  assert.equal(first.statusCode, 409)
  assert.equal(again.statusCode, 409)
  assert.equal(again.body, first.body)
  assert.match(String(again.headers['content-type']), /^application\/problem\+json/)
  // Each answer has its own request id, which is in the log.
  assert.match(String(first.headers['x-request-id']), /^[0-9a-f-]{36}$/)
  assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id'])
  assert.equal(done.length, 0)
  const audits = await database
    .forBusiness(1, 'test')
    .query(sql`select * from audit where id = '1'`)
  assert.equal(audits.length, 1, 'only the creation of the business, not the refused change')
})

test('the refusal of an invalid body is remembered; the corrected body needs a new key', async (t) => {
  const { post, done } = await startThings(t)
  const first = await post({ name: 5 })
  assert.equal(first.statusCode, 422)
  assert.equal((await post({ name: 5 })).body, first.body)
  assert.deepEqual((await post({ name: 'a' })).json().errors[0].pointer, 'Idempotency-Key')
  assert.equal(done.length, 0)
})

test('a server error is not remembered', async (t) => {
  const { post, done, failWith } = await startThings(t)
  failWith(new Error('a bug'))
  assert.equal((await post({ name: 'a' })).statusCode, 500)
  failWith(undefined)
  assert.equal((await post({ name: 'a' })).statusCode, 201)
  assert.equal(done.length, 1)
})

test('after a day the key is free again, and its row can be deleted', async (t) => {
  const { post, done, clock, database } = await startThings(t)
  await post({ name: 'a' })
  clock.advance({ hours: 23, minutes: 59 })
  await post({ name: 'a' })
  assert.equal(done.length, 1)

  clock.advance({ minutes: 1 })
  assert.equal((await post({ name: 'b' })).statusCode, 201)
  assert.equal(done.length, 2)

  clock.advance({ hours: 24 })
  await deleteOldAnswers(database.engine, clock.now())
  assert.deepEqual(await database.operator.query(sql`select * from idempotency_key`), [])
})

test('a secret is answered once and never stored', async (t) => {
  const { post, database } = await startThings(t)
  const first = await post({ name: 'a' }, { path: '/thing/secret' })
  assert.equal(first.json().key, 'very-secret')
  const again = await post({ name: 'a' }, { path: '/thing/secret' })
  assert.deepEqual(again.json(), { ...first.json(), key: null })
  const rows = await database.operator.query(sql`select answer from idempotency_key`)
  assert.equal(rows.length, 1)
  assert.doesNotMatch(JSON.stringify(rows), /very-secret/)
})

test('an invalid Idempotency-Key is 422', async (t) => {
  const { post, done } = await startThings(t)
  for (const key of ['', ' ', 'a b', 'ä', 'x'.repeat(256)]) {
    const answer = await post({ name: 'a' }, { key })
    assert.equal(answer.statusCode, 422, JSON.stringify(key))
  }
  assert.equal(done.length, 0)
})

type Options = {
  key?: string
  path?: string
  credential?: string
  businessId?: number | undefined
  query?: Record<string, string>
}

/** An app with a few routes that write, and a list of the completed calls. */
async function startThings(t: TestContext) {
  const { app, clock, database, logged } = await startApp(t)
  const now = clock.now()
  for (const businessId of [1, 2]) {
    await database.operator.query(sql`
      insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
      values (${businessId}, 'A', 'UTC', ${now}, 'test', ${now}, 'test')`)
  }
  const done: string[] = []
  let failure: Error | undefined
  let pause: (() => Promise<void>) | undefined

  const work = async (tx: Db, name: string): Promise<RouteAnswer> => {
    await tx.query(sql`update business set phone = ${name} where business_id = 1`)
    await pause?.()
    if (failure) throw failure
    done.push(name)
    return created({ thingId: done.length, name, at: clock.now() }, `/thing/${done.length}`)
  }
  const config = { open: true, etag: true, idempotent: true } as const
  const schema = {
    body: Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) }),
  }
  app.addHook('onRequest', async (request) => {
    const { 'x-business': business, 'x-credential': credential } = request.headers
    if (business) {
      const businessId = Number(business)
      request.caller = { businessId, user: 'test', credential: String(credential) } as never
    }
  })
  for (const path of ['/thing', '/thing/other', '/thing/secret']) {
    app.post(path, { config, schema }, (request, reply) => {
      const caller = request.caller as { businessId: number } | undefined
      const db = caller ? database.forBusiness(caller.businessId, 'test') : database.operator
      return answerOnce(db, request, reply, clock.now(), async (tx) => {
        const answer = await work(tx, request.body.name)
        if (path !== '/thing/secret') return answer
        return { ...answer, body: { ...answer.body, key: 'very-secret' }, secrets: ['key'] }
      })
    })
  }

  return {
    done,
    clock,
    database,
    logged,
    failWith: (error: Error | undefined) => void (failure = error),
    hold: () => {
      const entered = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      pause = () => (entered.resolve(), released.promise)
      return { entered: entered.promise, release: () => ((pause = undefined), released.resolve()) }
    },
    post: (body: object, options: Options = {}) => {
      const { key = KEY, path = '/thing', credential = 'key:1', query } = options
      const businessId = 'businessId' in options ? options.businessId : 1
      return app.inject({
        method: 'POST',
        url: path,
        ...(query ? { query } : {}),
        headers: {
          'idempotency-key': key,
          'x-credential': credential,
          ...(businessId === undefined ? {} : { 'x-business': String(businessId) }),
        },
        payload: body,
      })
    },
  }
}
