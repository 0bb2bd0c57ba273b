import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { sql } from '../../src/database/sql.ts'
import { createHealthLoop } from '../../src/feeds/health.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { urlOf } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { shareWorld } from '../support/world.ts'
import { partsOf, PULLING } from './loop-parts.ts'
import { endOfRun, openInlet } from './support.ts'

const METRICS_TOKEN = 'a-long-token-for-prometheus-0123456789'
const enterWorld = shareWorld({ ...PULLING, METRICS_TOKEN })

const PASSWORD = 'k7Qx2mPz9RtLw4VbNc8HsJd5FgYa3EuTi6Xo1AqZ'

/** Publishes a calendar file at a path that only its reader knows. */
async function publish(t: TestContext, path: string) {
  const file =
    'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20270101T090000Z\r\nDTEND:20270101T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'
  const server = http.createServer((request, response) => {
    response.statusCode = request.url === path ? 200 : 404
    response.end(request.url === path ? file : '')
  })
  server.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}

test('a secret is stored encrypted, and tests of the stored feed use it', async (t) => {
  const { call, save, database } = await enterWorld(t)
  const secret = await publish(t, `/${PASSWORD}.ics`)
  const feed = await save('/feed', { name: 'Published', source: 'ICS', secret })
  assert.equal(feed.hasSecret, true)
  const tested = await call('POST', '/feed/test', { feedId: feed.feedId })
  assert.deepEqual([tested.body.ok, tested.body.calendars[0].entries], [true, 1])
  const [row] = await database.engine.query<{ secret: Buffer }>(
    sql`select secret from feed where feed_id = ${feed.feedId}`,
  )
  assert.equal(row!.secret.includes(PASSWORD), false)
  const shown = [
    await call('GET', '/feed'),
    await call('GET', `/feed/${feed.feedId}`),
    await call('GET', '/audit?object=feed'),
    tested,
  ]
  assert.equal(JSON.stringify(shown).includes(PASSWORD), false)
  const changed = await call('POST', '/feed', { feedId: feed.feedId, secret: `${secret}?x` })
  assert.deepEqual([changed.status, changed.body.version], [200, 2])
  assert.equal((await call('POST', '/feed/test', { feedId: feed.feedId })).body.ok, false)
  const removed = await call('POST', '/feed', { feedId: feed.feedId, secret: null })
  assert.deepEqual(removed.body.errors, [
    { pointer: '/secret', detail: 'is required: the address of the calendar file' },
  ])
})

test('a body is tested with its own secret, and needs no key to do so', async (t) => {
  const { call } = await enterWorld(t)
  const secret = await publish(t, '/one.ics')
  const tested = await call('POST', '/feed/test', { name: 'New', source: 'ICS', secret })
  assert.equal(tested.body.ok, true)
  assert.equal((await call('GET', '/feed')).body.items.length, 0)
})

test('addresses that feeds may not reach are refused with their places', async (t) => {
  const { call } = await enterWorld(t)
  const pointersOf = async (body: object) =>
    (await call('POST', '/feed', { name: 'New', ...body })).body.errors.map(
      ({ pointer }: { pointer: string }) => pointer,
    )
  for (const url of ['https://10.0.0.1/', 'http://dav.example/', 'https://a:b@dav.example/']) {
    const connection = { url }
    assert.deepEqual(await pointersOf({ source: 'CALDAV', connection }), ['/connection/url'])
    assert.deepEqual(await pointersOf({ source: 'ICS', secret: url }), ['/secret'])
  }
  assert.deepEqual(await pointersOf({ source: 'CALDAV' }), ['/connection/url'])
  assert.deepEqual(await pointersOf({ source: 'ICS' }), ['/secret'])
})

test('a stored credential is not sent to another address', async (t) => {
  const { call, save } = await enterWorld(t)
  const connection = { url: 'https://dav.example/', username: 'salon' }
  const { feedId } = await save('/feed', {
    name: 'Salon',
    source: 'CALDAV',
    connection,
    secret: PASSWORD,
  })
  const moved = { ...connection, url: 'https://other.example/' }
  for (const path of ['/feed', '/feed/test']) {
    const { body } = await call('POST', path, { feedId, name: 'Salon', connection: moved })
    assert.deepEqual(body.errors, [
      {
        pointer: '/secret',
        detail: 'must be sent again, because it goes to another address',
      },
    ])
  }
  const again = await call('POST', '/feed', { feedId, connection: moved, secret: PASSWORD })
  assert.equal(again.status, 200)
})

test('rules that are not saved yet show what they would change', async (t) => {
  const world = await enterWorld(t)
  const { path, entry, begin, entries } = await openInlet(world)
  await begin(entry('a', { title: 'Lunch' }), entry('b', { title: 'Knee' }))
  const rules = [{ when: { title: 'lunch' }, then: { skip: true } }]
  const { feedRunId } = (await world.call('POST', `${path}/dryRun`, { rules })).body
  const run = (await endOfRun(world, path, feedRunId)).body
  assert.deepEqual(run.reasons, { rule: 1 })
  assert.equal((await entries('?state=MIRRORED')).length, 2)
  const wrong = [{ when: { title: 'x' }, then: { reasonId: 999_999 } }]
  assert.equal((await world.call('POST', `${path}/dryRun`, { rules: wrong })).status, 422)
})

/** Feeds of a source that answers when it is let: with 404, or with a file. */
async function openSlow(
  t: TestContext,
  { ids, save }: Awaited<ReturnType<typeof enterWorld>>,
  file?: string,
) {
  const { clientId: _clientId, ...defaults } = ids
  const gate = Promise.withResolvers<void>()
  const server = http.createServer(async (_request, response) => {
    await gate.promise
    response.writeHead(file === undefined ? 404 : 200).end(file)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  t.after(() => server.close())
  t.after(() => gate.resolve())
  const secret = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.ics`
  const add = async (name: string) =>
    `/feed/${(await save('/feed', { name, source: 'ICS', secret, defaults })).feedId}`
  return { add, answer: gate.resolve }
}

test('a dry run of a slow source is answered at once, and read when it has ended', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const slow = await openSlow(t, world)
  const path = await slow.add('Slow')
  const { status, body } = await call('POST', `${path}/dryRun`)
  assert.equal(status, 202)
  assert.equal((await call('GET', `${path}/run/${body.feedRunId}`)).body.status, 'RUNNING')
  assert.equal((await call('POST', `${path}/dryRun`)).status, 409)
  slow.answer()
  const { body: ended } = await endOfRun(world, path, body.feedRunId)
  assert.deepEqual([ended.status, /status 404/.test(ended.error)], ['FAILED', true])
})

test('the dry run of a process that died has failed within a minute, and another can begin', async (t) => {
  const world = await enterWorld(t)
  const { call, clock } = world
  const slow = await openSlow(t, world)
  const path = await slow.add('Slow')
  const watch = createHealthLoop(partsOf(world))
  const { feedRunId } = (await call('POST', `${path}/dryRun`)).body
  const run = async () => (await call('GET', `${path}/run/${feedRunId}`)).body
  await until(async () => {
    const leases = await world.database.engine.query(
      sql`select from work_lease where name like ${`dry run ${feedRunId} of%`}`,
    )
    return leases.length === 1
  })
  await watch.runOnce()
  assert.equal((await run()).status, 'RUNNING')
  // A process that has died does not renew its lease.
  clock.advance({ minutes: 1 })
  await watch.runOnce()
  const failed = await run()
  assert.deepEqual(
    [failed.status, failed.error],
    ['FAILED', 'The node stopped. Start the dry run again.'],
  )
  const again = await call('POST', `${path}/dryRun`)
  assert.equal(again.status, 202)
  slow.answer()
  assert.match((await endOfRun(world, path, again.body.feedRunId)).body.error, /status 404/)
  assert.deepEqual(await run(), failed)
})

test('the dry run of a feed that is deleted meanwhile says so, writes nothing and leaves no lease', async (t) => {
  const world = await enterWorld(t)
  const { call, clock, database } = world
  const time = clock.in({ hours: 48 }).toString({ smallestUnit: 'second' })
  const event = `UID:a\r\nDTSTART:${time.replaceAll(/[-:]/g, '')}\r\nDURATION:PT30M\r\nATTENDEE:mailto:new@example.org`
  const file = `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n${event}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`
  const slow = await openSlow(t, world, file)
  const [deleted, kept] = [await slow.add('Slow'), await slow.add('Kept')]
  const begin = async (path: string) => (await call('POST', `${path}/dryRun`)).body.feedRunId
  const runs = { deleted: await begin(deleted), kept: await begin(kept) }
  assert.equal((await call('DELETE', `${deleted}?appointments=remove`)).status, 200)
  slow.answer()

  const { status, error, counts } = (await endOfRun(world, deleted, runs.deleted)).body
  assert.deepEqual(
    [status, error, counts],
    ['FAILED', 'The feed was deleted during the dry run.', null],
  )
  assert.equal((await endOfRun(world, kept, runs.kept)).body.counts.created, 1, 'the file is read')
  const left = async () => {
    const [row] = await database.engine.query<Record<string, number>>(sql`
      select (select count(*) from work_lease where name like ${`dry run % of business ${world.businessId}`})::int as leases,
             (select count(*) from feed_entry where business_id = ${world.businessId})::int as entries,
             (select count(*) from feed_match where business_id = ${world.businessId})::int as matches,
             (select count(*) from calendar where business_id = ${world.businessId})::int as appointments`)
    return row!
  }
  await until(async () => (await left()).leases === 0)
  assert.deepEqual(await left(), { leases: 0, entries: 0, matches: 0, appointments: 0 })
})

test('slow sources hold back no other dry run of the business', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const slow = await openSlow(t, world)
  const runs = []
  for (const path of [await slow.add('One'), await slow.add('Two'), await slow.add('Three')]) {
    runs.push({ path, run: (await call('POST', `${path}/dryRun`)).body })
  }
  const { path } = await openInlet(world)
  const { feedRunId } = (await call('POST', `${path}/dryRun`)).body
  assert.equal((await endOfRun(world, path, feedRunId)).body.status, 'DONE')
  slow.answer()
  for (const { path, run } of runs) await endOfRun(world, path, run.feedRunId)
})

/** All rows of all tables, as a plain dump has them. */
async function dump(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query(
      "select oid::regclass::text as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace",
    )
    let text = ''
    for (const { name } of tables.rows) {
      const { rows } = await client.query(`select t::text as row from ${name} t`)
      text += rows.map(({ row }) => row).join('\n')
    }
    return text
  } finally {
    await client.end()
  }
}

test('a password is in no answer, audit, log, metric, export or dump, whatever the source does with it', async (t) => {
  const world = await enterWorld(t)
  const { app, call, database, ids, key, logged } = world
  // A server that sends back what it got, in every place.
  const server = http.createServer((request, response) => {
    const given = request.headers.authorization ?? ''
    const basic = /^Basic (.*)/.exec(given)?.[1]
    const plain = basic ? Buffer.from(basic, 'base64').toString() : given
    response.writeHead(request.method === 'GET' ? 200 : 500, { 'x-echo': plain })
    response.end(`${plain} ${given} ${request.url}`)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { clientId: _clientId, ...defaults } = ids
  const answers: unknown[] = []
  const secrets = [PASSWORD, Buffer.from(`salon:${PASSWORD}`).toString('base64')]
  for (const [source, more] of [
    ['CALDAV', { connection: { url, username: 'salon' }, secret: PASSWORD }],
    ['CALCOM', { connection: { url }, secret: PASSWORD }],
    ['EASYAPPOINTMENTS', { connection: { url }, secret: PASSWORD }],
    ['ICS', { secret: `${url}${PASSWORD}.ics` }],
  ] as const) {
    const body = { name: source, source, mode: 'SHADOW', defaults, ...more }
    const headers = { 'idempotency-key': `make-${source}` }
    const made = await call('POST', '/feed', body, headers)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { feedId } = made.body
    const path = `/feed/${feedId}`
    answers.push(made, await call('POST', '/feed', body, headers))
    answers.push(
      await call('POST', '/feed/test', { feedId }),
      await call('POST', '/feed/test', body),
    )
    answers.push(await call('POST', '/feed', { ...body, feedId, secret: `${PASSWORD} ` }))
    const { body: run } = await call('POST', `${path}/dryRun`)
    answers.push(await endOfRun(world, path, run.feedRunId))
    if (source === 'CALCOM') {
      const { body: hook } = await call('POST', `${path}/hook`)
      secrets.push(hook.secret, hook.url.split('/').at(-1))
    }
    await call('POST', `${path}/pull`)
  }
  const onError = (error: unknown) => logged.push(String(error))
  const loops = createFeedLoops({ ...partsOf(world), onError })
  for (const loop of loops) for (let i = 0; i < 10 && (await loop.runOnce()) > 0; i += 1);
  for (const { feedId, state } of (await call('GET', '/feed')).body.items) {
    assert.equal(state.health, 'FAILING')
    for (const part of ['', '/entry', '/match', '/run', '/difference']) {
      answers.push(await call('GET', `/feed/${feedId}${part}`))
    }
  }
  for (const address of ['/feed', '/overview', '/audit?limit=500', '/openapi.json']) {
    answers.push(await call('GET', address))
  }
  const authorization = `Bearer ${METRICS_TOKEN}`
  const metrics = await app.inject({ url: '/metrics', headers: { authorization } })
  const exported = await app.inject({ url: '/export', headers: { authorization: `Bearer ${key}` } })
  assert.deepEqual([metrics.statusCode, exported.statusCode], [200, 200])
  const places = {
    answers: JSON.stringify(answers),
    log: logged.join(''),
    metrics: metrics.body,
    export: exported.body,
    dump: await dump(await urlOf(database)),
  }
  assert.match(places.dump, /EASYAPPOINTMENTS/)
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) {
      for (const form of [
        secret,
        Buffer.from(secret).toString('hex'),
        encodeURIComponent(secret),
      ]) {
        assert.equal(text.includes(form), false, `${form} is in ${place}`)
      }
    }
  }
})
