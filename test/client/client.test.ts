import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, createClient, ProblemError } from '../../src/client/client.ts'
import { NEVER_REPEATED, operations } from '../../src/client/operations.ts'
import { noDatabase, startApp } from '../support/app.ts'
import { clientOf, fetchFrom } from '../support/client.ts'
import { reminder, startWorld } from '../support/world.ts'

type Described = {
  operationId: string
  parameters?: { name: string }[]
}

test('every operation of the client is in the API description, at the same address', async (t) => {
  const { app } = await startApp(t, { database: noDatabase })
  const { paths } = (await app.inject('/openapi.json')).json()
  const described = new Map<string, { route: string } & Described>()
  for (const [path, methods] of Object.entries<Record<string, Described>>(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      described.set(operation.operationId, { route, ...operation })
    }
  }
  const names = new Set<string>()
  for (const [name, route] of operations()) {
    assert.equal(described.get(name)?.route, route, name)
    names.add(name)
  }
  const missing = [...described.keys()].filter((name) => !names.has(name))
  assert.deepEqual(missing.toSorted(), NOT_IN_CLIENT)

  // A POST that the client retries must not take effect twice.
  const unsafe = [...described.values()].filter(
    ({ operationId, route, parameters = [] }) =>
      route.startsWith('POST') &&
      names.has(operationId) &&
      !parameters.some(({ name }) => name === 'Idempotency-Key') &&
      !READ_ONLY.test(operationId),
  )
  assert.deepEqual(
    unsafe.map(({ operationId }) => operationId).toSorted(),
    NEVER_REPEATED.toSorted(),
  )
})

/** Pages, streams, and operations that only operators or mail servers call. */
const NOT_IN_CLIENT = [
  'addToCalendar',
  'exportBusiness',
  'getDescription',
  'getHealth',
  'getMetrics',
  'getPreviewHtml',
  'getProblem',
  'getReadiness',
  'listProblems',
  'openReportLink',
  'receiveFeedHook',
  'reportBounce',
  'sendAnswer',
  'showAnswer',
  'showReportStop',
  'showUnsubscribe',
  'stopReport',
  'streamChanges',
  'unsubscribe',
]

/** They write nothing, or are idempotent. */
const READ_ONLY =
  /^(plan|backtest|preview|dryRunFeed|testFeed|checkEmailTemplate|readPasswordLink|requestPasswordLink|printReport|retryMail|changeTag)/

test('objects are saved, read, listed and deleted', async (t) => {
  const { app, key, ids } = await startWorld(t)
  const client = clientOf(app, { key })
  const { clientId, emailAddress } = await client.createClient({
    firstName: 'Béla',
    lastName: 'Kovács',
    emailAddress: 'bela@example.org',
  })
  assert.equal(emailAddress, 'bela@example.org')
  const startTime = 1_800_000_000_000
  const booked = await client.createAppointment({
    ...ids,
    clientId,
    startTime,
    endTime: startTime + 1_800_000,
  })
  assert.equal(booked.status, 'OPEN')

  const moved = await client.createAppointment({
    calendarId: booked.calendarId,
    startTime: startTime + 600_000,
  })
  assert.equal(moved.version, booked.version + 1)
  const { items } = await client.listAppointments({ clientId, expand: 'names' })
  assert.deepEqual(
    items.map(({ calendarId, clientName }) => [calendarId, clientName]),
    [[booked.calendarId, 'Béla Kovács']],
  )

  const { body, response } = await client.getClient({ clientId }).withResponse()
  assert.equal(body.firstName, 'Béla')
  const ifMatch = response.headers.get('etag')
  await client.createClient({ clientId, phone: '+36 1 555 0100' }, { ifMatch })
  await assert.rejects(
    client.createClient({ clientId, phone: null }, { ifMatch }),
    (error: ProblemError) => error.status === 412,
  )
  const deleted = await client.deleteAppointment({ calendarId: booked.calendarId })
  assert.equal(deleted.active, false)
})

test('for await goes through every page, and await gives the first', async (t) => {
  const { app, key, save } = await startWorld(t)
  const client = clientOf(app, { key })
  for (const name of ['B', 'C', 'D', 'E']) await save('/location', { name })
  const first = await client.listLocations({ limit: 2 })
  assert.equal(first.items.length, 2)
  const names: string[] = []
  for await (const { name } of client.listLocations({ limit: 2 })) names.push(name)
  assert.deepEqual(names, ['Altstadt', 'B', 'C', 'D', 'E'])

  const types: string[] = []
  for await (const { eventType } of client.listEventTypes()) types.push(eventType)
  assert.equal(types.length, 13)
})

test('definitions are planned, saved and explained, and triggers are cancelled', async (t) => {
  const { app, key, businessId, book, clock, save } = await startWorld(t)
  const client = clientOf(app, { key })
  const { calendarId } = await book(clock.now().add({ hours: 72 }))
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>See you</p>',
  })
  const body = {
    ...reminder(businessId, -24),
    objectType: 'CALENDAR' as const,
    eventActions: [
      { actionType: 'SEND_EMAIL' as const, active: true, businessId, emailTemplateId },
    ],
  }
  const plan = await client.planEventDefinition(body, { query: { limit: 1 } })
  assert.equal(plan.create, 1)
  const { eventDefnId } = await client.createEventDefinition(body)
  const [explained] = await client.explainObject({ objectType: 'CALENDAR', objectId: calendarId })
  assert.deepEqual([explained?.eventDefnId, explained?.outcome], [eventDefnId, 'WAITING'])

  const { eventTriggerId } = (await client.listEventTriggersOfAppointment({ calendarId }))[0]!
  const cancelled = await client.cancelEventTrigger({ eventTriggerId })
  assert.equal(cancelled.status, 'CANCELLED')
  await assert.rejects(client.cancelEventTrigger({ eventTriggerId }), { status: 409 })
})

test('an import sends its lines as NDJSON', async (t) => {
  const { app, key } = await startWorld(t)
  const client = clientOf(app, { key })
  const { accepted, refusedCount } = await client.importObjects([
    { kind: 'location', name: 'Seestrasse', externalId: 'L1' },
    { kind: 'client', firstName: 'Carla', lastName: 'Rossi', externalId: 'C1' },
    { kind: 'client', firstName: '', lastName: 'Rossi' },
  ])
  assert.deepEqual([accepted, refusedCount], [{ location: 1, client: 1 }, 1])
})

test('a report is a file, or the report itself as JSON', async (t) => {
  const { app, key } = await startWorld(t)
  const client = clientOf(app, { key })
  const query = { startDate: '2026-03-01', endDate: '2026-03-31' }
  const file = await client.printReport({ reportId: 101 }, { query: { ...query, format: 'csv' } })
  assert.ok(file instanceof Blob)
  const report = await client.printReport(
    { reportId: 101 },
    { query: { ...query, format: 'json' } },
  )
  assert.ok('rowCount' in report)
})

test('a refusal is an error that says what is wrong, and where', async (t) => {
  const { app, key } = await startWorld(t)
  const client = clientOf(app, { key })
  const error: ProblemError = await client
    // @ts-expect-error -- the type knows the property by its right name
    .createClient({ firstName: 'Anna', lastName: 'Müller', emailAdress: 'anna@example.org' })
    .then(
      () => assert.fail('it was accepted'),
      (reason) => reason,
    )
  assert.ok(error instanceof ProblemError)
  assert.deepEqual(
    [error.status, error.code, error.type],
    [422, 'unknown-property', '/problems/unknown-property'],
  )
  assert.deepEqual(
    error.errors.map(({ pointer }) => pointer),
    ['/emailAdress'],
  )
  assert.match(error.message, /did you mean emailAddress/)
})

test('a call whose connection is lost is retried with the same Idempotency-Key, and takes effect once', async (t) => {
  const { app, key } = await startWorld(t)
  const inner = fetchFrom(app)
  const keys: string[] = []
  const client = createClient({
    baseUrl: 'http://service.test',
    key,
    fetch: async (input, init) => {
      const answer = await inner(input, init)
      keys.push(new Headers(init!.headers).get('idempotency-key')!)
      if (keys.length === 1) throw new TypeError('fetch failed')
      return answer
    },
  })
  await client.createLocation({ name: 'Seestrasse' })
  assert.equal(keys.length, 2)
  assert.equal(keys[0], keys[1])
  const { items } = await clientOf(app, { key }).listLocations()
  assert.deepEqual(
    items.map(({ name }) => name),
    ['Altstadt', 'Seestrasse'],
  )
})

test('a 429 or 503 is retried after the time in Retry-After', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers = [
    new Response('{"detail":"Too many."}', { status: 429, headers: { 'retry-after': '2' } }),
    new Response('{"detail":"Away."}', { status: 503, headers: { 'retry-after': '1' } }),
    Response.json({ items: [], nextCursor: null }),
  ]
  let asked = 0
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async () => answers[asked++]!,
  })
  const list = client.listClients()
  for (const [seconds, expected] of [
    [1, 1],
    [1, 2],
    [1, 3],
  ] as const) {
    await settled()
    t.mock.timers.tick(seconds * 1_000)
    await settled()
    assert.equal(asked, expected)
  }
  assert.deepEqual(await list, { items: [], nextCursor: null })
})

test('retries are limited, other errors are final, and a sign-in is not retried', async () => {
  let asked = 0
  const failing = (answer: () => Response) => async () => {
    asked += 1
    return answer()
  }
  const base = { baseUrl: 'http://service.test' }
  const unavailable = () => new Response('{}', { status: 503, headers: { 'retry-after': '0.01' } })
  await assert.rejects(
    createClient({ ...base, retries: 2, fetch: failing(unavailable) }).listClients(),
    {
      name: 'ProblemError',
      status: 503,
    },
  )
  assert.equal(asked, 3)

  asked = 0
  const refused = () =>
    Response.json({ code: 'not-found', detail: 'There is none.' }, { status: 404 })
  await assert.rejects(
    createClient({ ...base, fetch: failing(refused) }).getClient({ clientId: 9 }),
    { code: 'not-found', message: 'There is none.' },
  )
  assert.equal(asked, 1)

  asked = 0
  const lost = () => {
    throw new TypeError('fetch failed')
  }
  const client = createClient({ ...base, fetch: failing(lost) })
  await assert.rejects(client.signIn({ username: 'anna', password: '…' }), ConnectionError)
  assert.equal(asked, 1)
})

test('an aborted call ends at once, also while it waits for its next attempt', async () => {
  const controller = new AbortController()
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async () => {
      setImmediate(() => controller.abort())
      return new Response('{}', { status: 503, headers: { 'retry-after': '30' } })
    },
  })
  await assert.rejects(client.listClients({}, { signal: controller.signal }), {
    name: 'AbortError',
  })
})

const settled = () => new Promise((resolve) => setImmediate(resolve))
