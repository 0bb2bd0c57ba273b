import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Database, Db } from '../../src/database/database.ts'
import { createKey } from '../support/callers.ts'
import { until } from '../support/until.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const PRINT = '/report/print/file?startDate=2026-03-01&endDate=2026-03-31&format=csv'

test('of 100 backtests at once 22 run or wait, 78 are 429, and another business is served', async (t) => {
  const world = await startWorld(t)
  const other = await addBusiness(world)
  const headers = await newCredential(world)
  const { open, held } = holdQueries(world.database, 'forBusiness', world.businessId)
  const body = {
    definition: reminder(world.businessId, -24),
    startDate: '2026-03-01',
    endDate: '2026-03-31',
  }
  let refused = 0
  const answers = Array.from({ length: 100 }, async () => {
    const answer = await world.call('POST', '/eventDefinition/backtest', body, headers)
    if (answer.status === 429) refused += 1
    return answer
  })
  await until(() => refused === 78 && held() >= 2)
  assert.equal(held(), 2)

  const plan = reminder(other.businessId, -24)
  assert.equal((await other.call('POST', '/eventDefinition/plan', plan)).status, 200)
  assert.equal((await other.call('POST', '/location', { name: 'Neustadt' })).status, 201)

  open()
  const [good, bad] = [200, 429].map(async (status) =>
    (await Promise.all(answers)).filter((answer) => answer.status === status),
  )
  assert.equal((await good!).length, 22)
  for (const { headers } of await bad!) assert.equal(headers['retry-after'], '5')
})

test('previews and plans wait in the same queue as backtests', async (t) => {
  const world = await startWorld(t)
  const { emailTemplateId } = await world.save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const headers = await newCredential(world)
  const { open, held } = holdQueries(world.database, 'forBusiness', world.businessId)
  const definition = reminder(world.businessId, -24)
  const days = { startDate: '2026-03-01', endDate: '2026-03-31' }
  const about = { objectType: 'CALENDAR', objectId: 1 }
  const requests: [path: string, body: object][] = [
    ['/eventDefinition/plan', definition],
    ['/eventDefinition/backtest', { definition, ...days }],
    ['/calendar/plan', {}],
    ...Array.from({ length: 20 }, (): [string, object] => [
      `/emailTemplate/${emailTemplateId}/preview`,
      about,
    ]),
  ]
  const statuses: number[] = []
  const answers = requests.map(async ([path, body]) => {
    statuses.push((await world.call('POST', path, body, headers)).status)
  })
  await until(() => statuses.length > 0 && held() >= 2)
  assert.equal(held(), 2)
  assert.deepEqual(statuses, [429])
  open()
  await Promise.all(answers)
  // Which request is refused depends on the order in which their credentials are looked up.
  const served = statuses.filter((status) => status === 200 || status === 422)
  assert.equal(served.length, 22)
})

test('reports are 429 at once if their queue is full, also those printed in the background', async (t) => {
  const world = await startWorld(t)
  const { open } = holdQueries(world.database, 'reportsOf', world.businessId, ['snapshot'])
  const prefer = { prefer: 'respond-async' }
  const statuses: number[] = []
  const answers = Array.from({ length: 30 }, async () => {
    const { status } = await world.call('POST', PRINT, { reportId: 101 }, prefer)
    statuses.push(status)
  })
  await Promise.all(answers)
  assert.equal(statuses.filter((status) => status === 202).length, 22)
  assert.equal(statuses.filter((status) => status === 429).length, 8)
  const refused = await world.call('POST', PRINT, { reportId: 101 })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '10')
  assert.equal((await world.call('POST', '/location', { name: 'Neustadt' })).status, 201)
  open()
})

test('a report is not printed if the client disconnected while its request was read', async (t) => {
  const world = await startWorld(t)
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = world.app.server.address() as AddressInfo
  const { open, held } = holdQueries(world.database, 'reportsOf', world.businessId)
  const printed: Db[] = []
  const { reportsOf } = world.database
  world.database.reportsOf = (businessId) => {
    const db = reportsOf(businessId)
    return {
      ...db,
      snapshot: (work) => {
        printed.push(db)
        return db.snapshot(work)
      },
    }
  }
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  world.app.server.once('request', (_request, response) => response.once('close', resolve))
  const asking = request({
    port,
    path: PRINT,
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
  }).on('error', () => {})
  asking.end('{"reportId":101}')
  await until(() => held() === 1)
  asking.destroy()
  await ended
  open()

  const next = await world.call('POST', PRINT, { reportId: 101 })
  assert.equal(next.status, 200)
  assert.equal(printed.length, 1, 'only the report of the connected client')
})

test('a print that takes minutes sends nothing before its answer', async (t) => {
  const world = await startWorld(t)
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = world.app.server.address() as AddressInfo
  const { open, held } = holdQueries(world.database, 'reportsOf', world.businessId, ['snapshot'])
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = connect(port)
  socket.write(`POST ${PRINT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.key}\r\n`)
  socket.write('Connection: close\r\n\r\n')
  await until(() => held() === 1)
  t.mock.timers.tick(120_000)
  open()
  assert.match(await text(socket), /^HTTP\/1\.1 200 OK/)
})

/** A new credential, because the `Db` of a known one is cached. */
async function newCredential({ database, clock, businessId }: World) {
  const { key } = await createKey(database, clock, businessId)
  return { authorization: `Bearer ${key}` }
}

type Held = 'query' | 'snapshot' | 'transaction' | 'attempt'

/** Blocks the statements of one business until the test calls `open`. */
function holdQueries(
  database: Database,
  role: 'forBusiness' | 'reportsOf',
  held: number,
  methods: Held[] = ['query', 'snapshot', 'transaction', 'attempt'],
) {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  let count = 0
  const original = database[role] as (businessId: number, user: string) => Db
  database[role] = (businessId: number, user: string = 'SYSTEM') => {
    const db = original(businessId, user)
    if (businessId !== held) return db
    const waiting = (method: Held) => async (given: never) => {
      count += 1
      await gate
      return (db[method] as (given: never) => Promise<unknown>)(given)
    }
    return { ...db, ...Object.fromEntries(methods.map((method) => [method, waiting(method)])) }
  }
  return { open, held: () => count }
}
