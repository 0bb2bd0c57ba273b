import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Type } from 'typebox'
import { ConnectionError } from '../../src/database/postgres-errors.ts'
import type { Environment } from '../../src/config.ts'
import type { Services } from '../../src/http/server/services.ts'
import { noDatabase, startApp } from './app.ts'
import type { Lifetime } from './clean-up.ts'

/** The app with a few test routes that need no credential. */
export async function startProbe(
  t: Lifetime,
  given: Partial<Services> = {},
  env: Environment = {},
) {
  const { app, logged, clock } = await startApp(t, {
    database: noDatabase,
    env: { RATE_LIMIT: '1000000/s,1000000', ...env },
    ...given,
  })
  const config = { open: true } as const
  const thing = { thingId: 7, at: Temporal.Instant.from('2026-03-02T09:00:00Z') }

  app.post('/probe', { config, schema: { body: Body } }, async ({ body }) => body)
  app.post('/probe/anything', { config: { open: true, emptyBody: true } }, async ({ body }) => ({
    body: body ?? null,
  }))
  const slow = async () => {
    await sleep(300)
    return { done: true }
  }
  app.post('/probe/slow', { config: { open: true, emptyBody: true } }, slow)
  app.get('/probe/slow', { config }, slow)
  app.get('/probe/thing', { config: { open: true, etag: true } }, async () => thing)
  app.get(
    '/probe/list/:probeId',
    { config, schema: { params: Params, querystring: Query } },
    async ({ params, query }) => ({ params, query }),
  )
  app.get('/probe/bug', { config }, async () => {
    throw new TypeError('ada@secret.example is not a function')
  })
  app.get('/probe/away', { config }, async () => {
    throw new ConnectionError(new Error('connect ECONNREFUSED'))
  })
  app.get('/probe/full', { config }, async () => {
    const text = 'could not extend file "base/5/1259": No space left on device'
    throw Object.assign(new pg.DatabaseError(text, text.length, 'error'), { code: '53100' })
  })
  app.get(
    '/probe/lie',
    { config, schema: { response: { 200: Type.Object({ count: Type.Integer() }) } } },
    async () => ({ count: 'many' }) as never,
  )
  return { app, logged, clock }
}

const Body = Type.Object({
  name: Type.String({ maxLength: 10 }),
  count: Type.Integer(),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  kind: Type.Optional(Type.Enum(['RED', 'BLUE'])),
  inner: Type.Optional(Type.Union([Type.Object({ deep: Type.Boolean() }), Type.Null()])),
  list: Type.Optional(Type.Array(Type.Object({ 'a/b': Type.Integer() }))),
})

const Params = Type.Object({ probeId: Type.Integer({ minimum: 1 }) })

const Query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  all: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Array(Type.Enum(['OPEN', 'DONE']))),
  day: Type.Optional(Type.String()),
})
