import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { App } from '../../src/http/server/app.ts'
import { buildApp } from '../../src/http/server/app.ts'
import { ChangeFeed, type ChangeBatch } from '../../src/http/routes/change-feed.ts'
import { readConfig } from '../../src/config.ts'
import { objectKind } from '../../src/contract/objects.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { saveObjects } from '../../src/scheduling/save.ts'
import { hintChanges } from '../../src/store/changes.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { openLog } from '../../src/log.ts'
import { checkIn, holdByHand } from '../../src/automation/restored.ts'
import { proofSeed, randomFrom } from '../proofs/random.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { ask, createKey, createPerson, signInAs } from '../support/callers.ts'
import { cloneDatabase } from '../support/database.ts'
import { addBusiness, reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type Event = { id: string; kind?: string; objectId?: number | string | null }

/** A client of server-sent events that returns them one by one. */
async function openStream(t: TestContext, app: App, headers: Record<string, string>, query = '') {
  const address = app.server.address() ? app.listeningOrigin : await app.listen({ port: 0 })
  const stopping = new AbortController()
  const answer = await fetch(`${address}/changes${query}`, { headers, signal: stopping.signal })
  const close = () => stopping.abort()
  cleanUpLater(t, close)
  const events = answer.ok ? readEvents(answer.body!) : undefined
  const next = async (): Promise<Event | undefined> => (await events!.next()).value ?? undefined
  /** The next change of this kind, with all changes received until then. */
  const nextOf = async (kind: string) => {
    const received: string[] = []
    for (;;) {
      const event = await next()
      if (!event) throw new Error(`the stream ended before a ${kind}: ${received.join()}`)
      if (event.kind) received.push(`${event.kind} ${event.objectId}`)
      if (event.kind === kind) return { ...event, received }
    }
  }
  const first = events && (await next())
  return { status: answer.status, headers: answer.headers, first, next, nextOf, close }
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  let text = ''
  let id = ''
  try {
    for await (const chunk of body.pipeThrough(new TextDecoderStream() as never)) {
      text += chunk as string
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const lines = text.slice(0, end).split('\n')
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        id = field('id') ?? id
        const data = field('data')
        const change = data ? JSON.parse(data) : {}
        yield { id, ...(data && { kind: change.kind, objectId: change.id }) }
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test('a change is streamed with its kind and id only, and only to its own business', async (t) => {
  const world = await enterWorld(t)
  const { app, book, clock, key, save } = world
  const other = await addBusiness(world)
  const stream = await openStream(t, app, bearer(key))
  assert.equal(stream.status, 200)
  assert.match(stream.headers.get('content-type')!, /^text\/event-stream/)
  assert.equal(stream.headers.get('cache-control'), 'no-store')
  const others = await openStream(t, app, bearer(other.key))

  const { calendarId } = await book(clock.in({ hours: 5 }))
  assert.equal((await stream.nextOf('calendar')).objectId, calendarId)
  const { clientId } = await save('/client', { firstName: 'Olivia', lastName: 'Roth' })
  assert.equal((await stream.nextOf('client')).objectId, clientId)
  await other.save('/reason', { name: 'Massage' })
  const { received } = await others.nextOf('reason')
  const foreign = [`calendar ${calendarId}`, `client ${clientId}`]
  assert.deepEqual(
    received.filter((one) => foreign.includes(one)),
    [],
  )
})

test('a hint before a stream has started sends no older changes', async (t) => {
  const { businessId, database, save } = await enterWorld(t)
  let hint = (_payload: string) => {}
  const withManualHints: Database = Object.assign(Object.create(database), {
    listen: (_channel: string, onHint: (payload: string) => void) => {
      hint = onHint
      return async () => {}
    },
  })
  const feed = new ChangeFeed(withManualHints, (error) => assert.fail(error as Error))
  const batches: ChangeBatch[] = []
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const starting = feed.listen(businessId, (batch) => {
    batches.push(batch)
    if (batch.audited.length > 0) resolve()
  })
  hint(String(businessId))
  await starting
  await save('/reason', { name: 'Massage' })
  hint(String(businessId))
  await heard
  await feed.close()
  const kinds = batches.flatMap(({ audited }): string[] =>
    audited === 'many' ? ['many'] : audited.map((change) => change.kind),
  )
  assert.deepEqual(kinds, ['reason'])
})

test('the stream contains triggers that fired', async (t) => {
  const world = await enterWorld(t)
  const { app, book, businessId, call, clock, key, save } = world
  await save('/eventDefinition', reminder(businessId, -1))
  await book(clock.in({ hours: 3 }))
  const { body } = await call('GET', '/eventTriggers')
  const { eventTriggerId } = body.items[0]
  const stream = await openStream(t, app, bearer(key))
  // From here on the node listens; earlier changes may be missing.
  await stream.nextOf('eventTrigger')
  clock.advance({ hours: 2 })
  await startEngine(world).runEngine()
  for (let event; (event = await stream.nextOf('eventTrigger')).objectId !== eventTriggerId;) {
    assert.equal(event.objectId, null)
  }
})

test('a stream that resumes from before a restore is told to read everything again', async (t) => {
  const { app, clock, database, key, save } = await startWorld(t)
  const first = await openStream(t, app, bearer(key))
  await save('/reason', { name: 'Massage' })
  await first.nextOf('reason')
  first.close()
  await checkIn(database.operator, { lastSeen: undefined, folder: undefined })
  await holdByHand(database.operator, clock.now())

  const resumed = await openStream(t, app, { ...bearer(key), 'last-event-id': first.first!.id })
  assert.equal((await resumed.nextOf('calendar')).objectId, null)
  resumed.close()
  const fresh = await openStream(t, app, bearer(key))
  const { reasonId } = await save('/reason', { name: 'Fango' })
  const later = await openStream(t, app, { ...bearer(key), 'last-event-id': fresh.first!.id })
  assert.deepEqual((await later.nextOf('reason')).received, [`reason ${reasonId}`])
  const ofOldVersion = await openStream(t, app, { ...bearer(key), 'last-event-id': '4711' })
  assert.equal((await ofOldVersion.nextOf('calendar')).objectId, null)
})

/** Saves clients in a transaction of its own that ends when `held` does. */
async function saveClients(
  { businessId, clock, database }: Awaited<ReturnType<typeof startWorld>>,
  bodies: object[],
  held?: () => Promise<unknown>,
) {
  const user = 'writer'
  const db = database.forBusiness(businessId, user)
  await db.transaction(async (tx) => {
    const by = { businessId, user, now: clock.now(), settings: new SettingsCache() }
    await saveObjects(tx, objectKind('client')!, bodies, by)
    await held?.()
  })
  hintChanges(db, businessId)
}

test('a change whose transaction was open while later ones were sent is sent when it commits', async (t) => {
  const world = await enterWorld(t)
  const { app, key, save } = world
  const written = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const late = saveClients(world, [{ firstName: 'Lea', lastName: 'Late' }], () => {
    written.resolve()
    return end.promise
  })
  await written.promise
  await save('/reason', { name: 'Before' })
  const begunMeanwhile = await openStream(t, app, bearer(key))
  const first = await save('/reason', { name: 'First' })
  let { id, objectId } = await begunMeanwhile.nextOf('reason')
  assert.equal(objectId, first.reasonId)
  // Only the last event of a read has its id.
  while (id === begunMeanwhile.first!.id) ({ id } = (await begunMeanwhile.next())!)
  const resume = () => openStream(t, app, { ...bearer(key), 'last-event-id': id })
  const resumedBefore = await resume()
  end.resolve()
  await late
  const { reasonId } = await save('/reason', { name: 'Last' })
  for (const stream of [begunMeanwhile, resumedBefore, await resume()]) {
    const { received } = await stream.nextOf('reason')
    const kinds = received.filter((one) => one !== 'eventTrigger null')
    assert.match(kinds.join(), new RegExp(`^client \\d+,reason ${reasonId}$`))
  }
})

test('each change of 20 parallel writers is sent once, also to a client that reconnects again and again', async (t) => {
  // Writers and readers are one business, which gets a share of the connections.
  const { database } = await cloneDatabase(t, 60, { lock_timeout: '60s' })
  const world = await startWorld(t, {}, { database })
  const { app, businessId, key, save } = world
  const random = randomFrom(proofSeed(t))
  const shown = { firstName: 'Bo', lastName: 'Li' }
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...shown, externalId: `${i}` }))
  await saveClients(world, numbered(30))

  /** Follows until the last change, with a new connection after so many events that say where to resume. */
  type Stream = Awaited<ReturnType<typeof openStream>>
  const follow = async (stream: Stream, eventsPerConnection: number) => {
    const counts = new Map<string, number>()
    let { id } = stream.first!
    let pending: string[] = []
    let isLast = false
    for (let left = eventsPerConnection; ;) {
      const event = (await stream.next())!
      if (event.kind === 'client') pending.push(String(event.objectId))
      isLast ||= event.kind === 'reason'
      if (event.id === id) continue
      id = event.id
      for (const one of pending) counts.set(one, (counts.get(one) ?? 0) + 1)
      pending = []
      if (isLast) return counts
      if (--left > 0) continue
      stream.close()
      left = eventsPerConnection
      stream = await openStream(t, app, { ...bearer(key), 'last-event-id': id })
    }
  }
  const following: ReturnType<typeof follow>[] = []
  for (const eventsPerConnection of [Number.POSITIVE_INFINITY, 1, 3])
    following.push(follow(await openStream(t, app, bearer(key)), eventsPerConnection))
  const [{ auditId }] = (await database
    .forBusiness(businessId, 'TEST')
    .query<{ auditId: number }>(
      sql`select max(audit_id) as "auditId" from audit where business_id = ${businessId}`,
    )) as [{ auditId: number }]

  const write = async (writer: number) => {
    for (let round = 0; round < 3; round += 1) {
      const changed = { externalId: `${random.below(30)}`, lastName: `of ${writer} in ${round}` }
      const bodies = [changed, { ...shown, externalId: `new ${writer} ${round}` }]
      const failed = random.chance(0.2) ? new Error('rolled back') : undefined
      const heldMs = random.below(400)
      await saveClients(world, bodies, async () => {
        await setTimeout(heldMs)
        if (failed) throw failed
      }).catch((error: unknown) => assert.equal(error, failed))
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)))
  await save('/reason', { name: 'Last' })

  const stored = await database.forBusiness(businessId, 'TEST').query<{
    id: string
    count: number
  }>(sql`
    select id, count(*) as count from audit
    where business_id = ${businessId} and object = 'client' and audit_id > ${auditId} group by id`)
  const expected = stored.map(({ id, count }) => `${id}: ${count}`).toSorted()
  for (const counts of await Promise.all(following)) {
    assert.deepEqual([...counts].map(([id, count]) => `${id}: ${count}`).toSorted(), expected)
  }
})

test('a stream resumes after the last event that its client received', async (t) => {
  const { app, book, clock, key, save } = await enterWorld(t)
  const first = await openStream(t, app, bearer(key))
  const id = first.first!.id
  first.close()
  const { calendarId } = await book(clock.in({ hours: 5 }))
  const { reasonId } = await save('/reason', { name: 'Massage' })

  const resumed = await openStream(t, app, { ...bearer(key), 'last-event-id': id })
  assert.equal(resumed.first!.id, id)
  // Changes of triggers are not recorded, so after a gap the stream reports that any may have changed.
  const { received } = await resumed.nextOf('reason')
  assert.deepEqual(
    received.filter((one) => one !== 'eventTrigger null'),
    [`calendar ${calendarId}`, `reason ${reasonId}`],
  )
  assert.equal((await resumed.nextOf('eventTrigger')).objectId, null)

  const bad = await openStream(t, app, { ...bearer(key), 'last-event-id': 'yesterday' })
  assert.equal(bad.status, 422)
})

test('a stream begins after the position of a list, so that no change between both is missed', async (t) => {
  const { app, book, call, clock, key, save } = await enterWorld(t)
  const { body: list } = await call('GET', '/reason?limit=500')
  const { calendarId } = await book(clock.in({ hours: 5 }))
  const { reasonId } = await save('/reason', { name: 'Massage' })

  const query = `?changedSince=${list.nextPosition}`
  const stream = await openStream(t, app, bearer(key), query)
  const { id, received } = await stream.nextOf('eventTrigger')
  assert.ok(received.includes(`calendar ${calendarId}`), received.join())
  assert.ok(received.includes(`reason ${reasonId}`), received.join())
  stream.close()

  // A browser that reconnects sends the same address, and what it received last.
  const { clientId } = await save('/client', { firstName: 'Olivia', lastName: 'Roth' })
  const resumed = await openStream(t, app, { ...bearer(key), 'last-event-id': id }, query)
  assert.deepEqual(
    (await resumed.nextOf('client')).received.filter((one) => one !== 'eventTrigger null'),
    [`client ${clientId}`],
  )
})

test('a stream after a position of another business is 410, after another text 422', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  const { position } = (await other.call('GET', '/changes/position')).body
  for (const [text, expected] of [
    [position, 410],
    ['x', 422],
    ['', 422],
  ]) {
    const query = `?changedSince=${text}`
    const { status } = await openStream(t, world.app, bearer(world.key), query)
    assert.equal(status, expected, text)
  }
})

test('a client that missed more than a thousand changes is told to read everything again', async (t) => {
  const { app, call, key } = await enterWorld(t)
  const stream = await openStream(t, app, bearer(key))
  stream.close()
  const clients = Array.from({ length: 1_001 }, (_, i) =>
    JSON.stringify({ kind: 'client', externalId: `c${i}`, firstName: 'Kim', lastName: `No ${i}` }),
  )
  const { status } = await call('POST', '/import', clients.join('\n'), {
    'content-type': 'application/x-ndjson',
  })
  assert.equal(status, 200)
  const headers = { ...bearer(key), 'last-event-id': stream.first!.id }
  const resumed = await openStream(t, app, headers)
  const { received } = await resumed.nextOf('eventAction')
  assert.ok(received.includes('client null') && received.includes('calendar null'), received.join())
  assert.ok(received.length < 20, received.join())
})

test('people receive the changes that they may read; REPORTS_ONLY receives none', async (t) => {
  const world = await enterWorld(t)
  const { app, book, businessId, clock, database, ids, save } = world
  const { professionalId } = await save('/professional', { firstName: 'Marc', lastName: 'Roth' })
  await save('/eventDefinition', reminder(businessId, -1))
  const person = { username: 'elena', role: 'USER', professionalId: ids.professionalId } as const
  await createPerson(database, clock, businessId, person)
  const stream = await openStream(t, app, { cookie: await signInAs(app, 'elena') })

  await book(clock.in({ hours: 3 }), { professionalId })
  await save('/eventDefinition', reminder(businessId, -24))
  const mine = await book(clock.in({ hours: 4 }))
  const { received } = await stream.nextOf('calendar')
  assert.deepEqual(
    received.filter((one) => !one.startsWith('eventTrigger null')),
    [`calendar ${mine.calendarId}`],
  )
  // Moved to a colleague: the client must learn of it to remove the appointment from its list.
  await save('/calendar', { ...mine, professionalId })
  assert.equal((await stream.nextOf('calendar')).objectId, mine.calendarId)

  clock.advance({ hours: 3 })
  await startEngine(world).runEngine()
  const last = await book(clock.in({ hours: 40 }))
  const after = await stream.nextOf('calendar')
  assert.equal(after.objectId, last.calendarId)
  assert.deepEqual(
    after.received.filter((one) => /^eventTrigger \d/.test(one)),
    [],
  )

  await createPerson(database, clock, businessId, { username: 'rita', role: 'REPORTS_ONLY' })
  const reader = await openStream(t, app, { cookie: await signInAs(app, 'rita') })
  assert.equal(reader.status, 403)
  const { key } = await createKey(database, clock, businessId, ['mail:read'])
  assert.equal((await openStream(t, app, bearer(key))).status, 403)
})

test('a stream ends on sign-out and when its key is revoked', async (t) => {
  const { app, businessId, call, clock, database } = await enterWorld(t)
  await createPerson(database, clock, businessId, { username: 'sofia', role: 'OWNER' })
  const cookie = await signInAs(app, 'sofia')
  const person = await openStream(t, app, { cookie })
  const made = await createKey(database, clock, businessId)
  const byKey = await openStream(t, app, bearer(made.key))

  await ask(app, { cookie })('DELETE', '/session')
  while (await person.next()) continue
  const { status } = await call('DELETE', `/apiKey/${made.apiKeyId}`)
  assert.equal(status, 200)
  while (await byKey.next()) continue
})

test('a credential can open at most twenty streams', async (t) => {
  const { app, key } = await enterWorld(t)
  const streams = []
  for (let i = 0; i < 20; i++) streams.push(await openStream(t, app, bearer(key)))
  const refused = await openStream(t, app, bearer(key))
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '60')
})

test('a change on one node reaches streams on another; a node that stops ends its streams', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const { app, book, clock, key } = await startWorld(t, {}, { database })
  const otherDatabase = openDatabase({ url, connections: 3 })
  const otherNode = await buildApp({
    config: readConfig({ RATE_LIMIT: '1000000/s,1000000' }),
    database: otherDatabase,
    settings: new SettingsCache(),
    clock,
    log: openLog('silent'),
    linkSeal: 'test',
  })
  cleanUpLater(t, async () => {
    await otherNode.close()
    await otherDatabase.close()
  })
  const stream = await openStream(t, otherNode, bearer(key))
  assert.notEqual(app, otherNode)
  const { calendarId } = await book(clock.in({ hours: 5 }))
  assert.equal((await stream.nextOf('calendar')).objectId, calendarId)
  await otherNode.close()
  while (await stream.next()) continue
})
