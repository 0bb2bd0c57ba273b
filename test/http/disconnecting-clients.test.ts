import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { abortOnDisconnect } from '../../src/http/server/connections.ts'
import { addBusiness, startWorld } from '../support/world.ts'

const PRINT = '/report/print/file?startDate=2026-03-01&endDate=2026-03-31&format=html'
const ROWS = '/report/102/rows?startDate=2026-03-01&endDate=2026-03-31'

type World = Awaited<ReturnType<typeof startWorld>>
type Worlds = Awaited<ReturnType<typeof open>>

/** A business whose HTTP client disconnects, and another one whose client stays connected. */
async function open(t: TestContext) {
  const world = await startWorld(t)
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  return { world, other: await addBusiness(world) }
}

test('if the client disconnects during a statement of a print, no further statement starts', async (t) => {
  const { world, other } = await open(t)
  const whole = watchStatements(world)
  assert.equal((await world.call('POST', PRINT, { reportId: 102 })).status, 200)
  const all = whole.end()
  assert.ok(all > 8, `${all} statements`)

  for (let at = 1; at <= all; at++) {
    assert.equal(
      await countAfterDisconnectAt({ world, other }, at, 'POST', PRINT),
      at,
      `statement ${at}`,
    )
  }
})

test('if the client disconnects while a list of objects is read, no further statement starts', async (t) => {
  const { world, other } = await open(t)
  assert.equal(await countAfterDisconnectAt({ world, other }, 1, 'GET', ROWS), 1)
})

test('a disconnect before the work began is detected too', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asking = request({ port, host: '127.0.0.1' }).on('error', () => {})
  asking.end()
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  assert.equal(abortOnDisconnect({ raw: response }).aborted, false)
  asking.destroy()
  await once(response, 'close')
  assert.equal(abortOnDisconnect({ raw: response }).aborted, true)
})

test('a client that disconnects within its body is not a failure of the service', async (t) => {
  const { world } = await open(t)
  const { port } = world.app.server.address() as AddressInfo
  const headers = {
    authorization: `Bearer ${world.key}`,
    'content-type': 'application/json',
    'content-length': 100,
  }
  world.logged.length = 0
  const received = once(world.app.server, 'request')
  const asking = request({ port, host: '127.0.0.1', path: '/client', method: 'POST', headers })
  asking.on('error', () => {}).write('{"firstName":')
  const [raw] = await received
  asking.destroy()
  await new Promise((resolve) => raw.once('close', resolve))
  assert.equal((await world.call('GET', '/location')).status, 200)
  assert.doesNotMatch(world.logged.join(''), /request failed/)
})

/** Disconnects during a statement; returns how many statements the request started in total. */
async function countAfterDisconnectAt(
  { world, other }: Worlds,
  at: number,
  method: 'GET' | 'POST',
  path: string,
) {
  const { port } = world.app.server.address() as AddressInfo
  const watched = watchStatements(world, at)
  const closed = Promise.withResolvers<void>()
  world.app.server.once('request', (_request, response) => response.once('close', closed.resolve))
  const headers = { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' }
  const asking = request({ port, host: '127.0.0.1', path, method, headers }).on('error', () => {})
  asking.end(method === 'POST' ? '{"reportId":102}' : undefined)
  await watched.held
  asking.destroy()
  await closed.promise
  watched.release()
  // If the print continued, it would start its next statement before this other print ends.
  assert.equal((await other.call('POST', PRINT, { reportId: 102 })).status, 200)
  return watched.end()
}

/** Counts the report statements of one business, and blocks one of them. */
function watchStatements({ database, businessId }: World, holdAt = Infinity) {
  const { reportsOf } = database
  const held = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let started = 0
  const pass = async () => {
    started += 1
    if (started !== holdAt) return
    held.resolve()
    await gate.promise
  }
  const watch = (db: Db): Db => ({
    ...db,
    query: async (statement) => {
      await pass()
      return db.query(statement)
    },
    async *stream<Row>(statement: Parameters<Db['query']>[0], batchSize: number) {
      await pass()
      yield* db.stream<Row>(statement, batchSize)
    },
    snapshot: async (work) => {
      await pass()
      return db.snapshot((tx) => work(watch(tx)))
    },
  })
  database.reportsOf = (id) => (id === businessId ? watch(reportsOf(id)) : reportsOf(id))
  return {
    held: held.promise,
    release: gate.resolve,
    end: () => {
      database.reportsOf = reportsOf
      return started
    },
  }
}
