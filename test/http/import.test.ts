import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { importLines } from '../../src/scheduling/import.ts'
import { readNdjson } from '../../src/scheduling/ndjson.ts'
import { startApp } from '../support/app.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'
import { asOwner } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { addBusiness, reminder, shareWorld, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

const NDJSON = { 'content-type': 'application/x-ndjson' }

const importing = ({ call }: Pick<World, 'call'>, lines: unknown[], query = '') =>
  call(
    'POST',
    `/import${query}`,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    NDJSON,
  )

/** A small business as another system would export it, with externalIds only. */
const mirrored = (start: number) => [
  { kind: 'location', externalId: 'L1', name: 'Altstadt' },
  { kind: 'reason', externalId: 'R1', name: 'Massage' },
  {
    kind: 'professional',
    externalId: 'P1',
    firstName: 'Tom',
    lastName: 'Becker',
    locationExternalIdList: ['L1'],
  },
  { kind: 'client', externalId: 'C1', firstName: 'Anna', lastName: 'Müller' },
  {
    kind: 'calendar',
    externalId: 'A1',
    clientExternalId: 'C1',
    professionalExternalId: 'P1',
    reasonExternalId: 'R1',
    locationExternalId: 'L1',
    startTime: start,
    endTime: start + 1_800_000,
  },
]

test('a compressed import is 415', async (t) => {
  const { call } = await enterWorld(t)
  const headers = { ...NDJSON, 'content-encoding': 'gzip' }
  assert.equal((await call('POST', '/import', 'not read', headers)).status, 415)
})

test('an import by externalId can be repeated without changes', async (t) => {
  const world = await enterWorld(t)
  const lines = mirrored(world.clock.in({ hours: 48 }).epochMilliseconds)
  const first = await importing(world, lines)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual(first.body, {
    accepted: { location: 1, reason: 1, professional: 1, client: 1, calendar: 1 },
    refused: [],
    refusedCount: 0,
  })
  const [appointment] = (await world.call('GET', '/calendar')).body.items
  assert.equal(appointment.externalId, 'A1')
  const again = await importing(world, lines)
  assert.deepEqual(again.body, first.body)
  const [same] = (await world.call('GET', '/calendar')).body.items
  assert.deepEqual(same, appointment)
})

test('bad lines are refused with number and reason, and the good ones are kept', async (t) => {
  const world = await enterWorld(t)
  const client = { kind: 'client', firstName: 'A', lastName: 'B' }
  const { status, body } = await importing(world, [
    { ...client, externalId: '1' },
    '{ "kind": "client", ',
    '',
    '[1, 2]',
    { ...client, kind: 'unicorn' },
    { ...client, emailAddress: 'a@b.c, d@e.f', timeZone: 'Nowhere' },
    { kind: 'recall', clientId: 999_999, dueTime: 1_800_000_000_000 },
    { kind: 'recall', clientExternalId: 'nobody', dueTime: 1_800_000_000_000 },
    { kind: 'recall', clientExternalId: 7, dueTime: 'soon' },
    { ...client, clientId: 2 ** 53, firstName: 'x'.repeat(400) },
    { ...client, clientId: 424_242 },
    { ...client, businessId: 99 },
    'null',
    { ...client, externalId: '2' },
  ])
  assert.equal(status, 200)
  assert.deepEqual(body.accepted, { client: 2 })
  assert.equal(body.refusedCount, 11)
  assert.deepEqual(
    body.refused.map(({ line, reason }: { line: number; reason: string }) => [
      line,
      reason.replace(/must be one of .*/, 'must be one of …'),
    ]),
    [
      [2, 'is not JSON'],
      [4, 'must be a JSON object'],
      [5, '/kind: must be one of …'],
      [
        6,
        '/emailAddress: must be one plain address, local@domain; /timeZone: must be an IANA time zone, such as Europe/Zurich',
      ],
      [7, '/clientId: there is no client 999999'],
      [8, '/clientExternalId: there is no client with the externalId nobody'],
      [
        9,
        '/dueTime: must be an integer of milliseconds, such as 1789000000000; /clientExternalId: must be a string',
      ],
      [
        10,
        '/clientId: must be an id: an integer above 0; /firstName: must be at most 300 characters',
      ],
      [11, 'There is no client 424242.'],
      [12, '/businessId: must be your own business'],
      [13, 'must be a JSON object'],
    ],
  )
  assert.equal((await world.call('GET', '/client')).body.items.length, 3)
})

test('a line whose names are objects, or that is nested too deeply, is refused alone', async (t) => {
  const world = await enterWorld(t)
  const client = { kind: 'client', firstName: 'A', lastName: 'B' }
  const hostile = { toString: 1, valueOf: 1 }
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const { status, body } = await importing(world, [
    client,
    { kind: 'recall', clientRef: hostile, dueTime: 1_800_000_000_000 },
    { kind: 'classSchedule', attendance: [{ clientRef: hostile }] },
    { kind: 'eventDefinition', objectType: 'RECALL', eventType: { eventTypeId: hostile } },
    { kind: 'eventDefinition', objectType: 'RECALL', locationRefList: [hostile] },
    { kind: 'eventDefinition', objectType: 'RECALL', reasonExternalIdList: hostile },
    `{"kind":"client","firstName":"C","tags":${deep}}`,
    `{"kind":"eventDefinition","description":${deep},"eventType":{"description":${deep}}}`,
    client,
  ])
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.accepted, { client: 2 })
  const lines = body.refused.map(({ line }: { line: number }) => line)
  assert.deepEqual(lines, [2, 3, 4, 5, 6, 7, 8])
  assert.equal(body.refused[5].reason, 'has more than 64 levels')
})

test('lines about the same object are applied in order, whatever id they use', async (t) => {
  const world = await enterWorld(t)
  const { clientId } = world.ids
  await world.save('/client', { clientId, externalId: 'anna' })
  const { body } = await importing(world, [
    { kind: 'client', externalId: 'bob', firstName: 'Bob', lastName: 'One' },
    { kind: 'client', clientId, firstName: 'First' },
    { kind: 'client', externalId: 'anna', firstName: 'Second' },
    { kind: 'client', externalId: 'bob', lastName: 'Two' },
    { kind: 'client', clientId, firstName: 'Third' },
    { kind: 'client', externalId: 'bob', lastName: 'Three' },
  ])
  assert.deepEqual(body, { accepted: { client: 6 }, refused: [], refusedCount: 0 })
  const { items } = (await world.call('GET', '/client')).body
  assert.deepEqual(
    items.map(({ firstName, lastName, version }: Record<string, unknown>) => [
      firstName,
      lastName,
      version,
    ]),
    [
      ['Third', 'Müller', 5],
      ['Bob', 'Three', 3],
    ],
  )
})

test('a line that the database refuses does not affect other lines', async (t) => {
  const world = await enterWorld(t)
  const clients = ['a', 'b', 'c', 'd', 'e']
  await importing(
    world,
    clients.map((externalId) => ({ kind: 'client', externalId, firstName: 'X', lastName: 'Y' })),
  )
  const { items } = (await world.call('GET', '/client')).body
  const idOf = (externalId: string) =>
    items.find((item: { externalId: string }) => item.externalId === externalId).clientId
  const { body } = await importing(world, [
    { kind: 'client', clientId: idOf('a'), firstName: 'New' },
    { kind: 'client', clientId: idOf('b'), externalId: 'free' },
    // Another client has this externalId, so the unique index refuses the whole statement.
    { kind: 'client', clientId: idOf('c'), externalId: 'd' },
    { kind: 'client', clientId: idOf('e'), firstName: 'New' },
  ])
  assert.deepEqual(body.accepted, { client: 3 })
  assert.deepEqual(
    body.refused.map(({ line }: { line: number }) => line),
    [3],
  )
})

test('later lines can refer to a line by its ref', async (t) => {
  const world = await enterWorld(t)
  const { body } = await importing(world, [
    { kind: 'recall', clientRef: 'one', dueTime: 1_800_000_000_000 },
    { kind: 'client', ref: 'one', firstName: 'Ada', lastName: 'Okafor' },
    { kind: 'recall', clientRef: 'two', dueTime: 1_800_000_000_000 },
  ])
  assert.deepEqual(body.accepted, { client: 1, recall: 1 })
  assert.deepEqual(body.refused, [
    { line: 3, reason: '/clientRef: no line before this one is a client with the ref two' },
  ])
})

test('an import fires events; an import of history only schedules future reminders', async (t) => {
  const world = await enterWorld(t)
  const { save, call, clock, businessId } = world
  await save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 1 } }))
  await save('/eventDefinition', reminder(businessId, -24))
  const start = (hours: number) => clock.in({ hours }).epochMilliseconds
  const appointment = (externalId: string, hours: number) => ({
    ...mirrored(start(hours)).at(-1),
    externalId,
  })
  await importing(world, [
    ...mirrored(start(48)),
    appointment('soon', 12),
    appointment('past', -12),
  ])
  await importing(world, [appointment('h-ahead', 48), appointment('h-past', -480)], '?events=none')

  const { items } = (await call('GET', '/calendar')).body
  const seen: Record<string, unknown> = {}
  for (const { calendarId, externalId } of items) {
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    seen[externalId] = body.map(({ status, scheduledTime }: Record<string, unknown>) => [
      status,
      scheduledTime,
    ])
  }
  const now = clock.now().epochMilliseconds
  assert.deepEqual(seen, {
    A1: [
      ['SCHEDULED', now],
      ['SCHEDULED', start(24)],
    ],
    soon: [
      ['EXPIRED', start(-12)],
      ['SCHEDULED', now],
    ],
    past: [
      ['EXPIRED', start(-36)],
      ['EXPIRED', now],
    ],
    'h-ahead': [['SCHEDULED', start(24)]],
    'h-past': [],
  })
})

test('statuses and the business itself are imported too', async (t) => {
  const world = await enterWorld(t)
  const { body } = await importing(world, [
    { kind: 'recall', clientId: world.ids.clientId, dueTime: 1_800_000_000_000, status: 'LATER' },
    { kind: 'status', objectType: 'RECALL', status: 'LATER', label: 'Later' },
    { kind: 'business', businessId: world.businessId, name: 'Neu', timeZone: 'Asia/Tokyo' },
    { kind: 'business', businessId: world.businessId, timeZone: 'Mars' },
    { kind: 'status', objectType: 'RECALL', status: 'X' },
    { kind: 'business', businessId: world.businessId, senderDomains: ['praxis.example'] },
    { kind: 'business', businessId: world.businessId, active: false, externalId: 'B1' },
  ])
  assert.deepEqual(body.accepted, { business: 1, status: 1, recall: 1 })
  assert.deepEqual(
    body.refused.map(({ line }: { line: number }) => line),
    [4, 5, 6, 7],
  )
  assert.equal(body.refused[2].reason, '/senderDomains: is the operator’s to change')
  const { body: business } = await world.call('GET', `/business/${world.businessId}`)
  assert.deepEqual([business.name, business.timeZone], ['Neu', 'Asia/Tokyo'])
})

test('a business line without the id of the business changes nothing about it', async (t) => {
  const world = await enterWorld(t)
  const { businessId, call } = world
  const before = (await call('GET', `/business/${businessId}`)).body
  const { body } = await importing(world, [
    { kind: 'business', name: 'Elsewhere', timeZone: 'Asia/Tokyo', phone: '1', language: 'ja' },
    { kind: 'business', businessId: null, name: 'Elsewhere', timeZone: 'Asia/Tokyo' },
    { kind: 'business', name: '', timeZone: 'Mars' },
  ])
  assert.deepEqual(body.accepted, { business: 2 })
  assert.deepEqual(
    body.refused.map(({ line }: { line: number }) => line),
    [3],
  )
  assert.deepEqual((await call('GET', `/business/${businessId}`)).body, before)
})

test('a line of any kind that names another business is refused, and nothing is written', async (t) => {
  const world = await enterWorld(t)
  const { businessId, call, clock, db, ids } = world
  const other = await addBusiness(world)
  const { clientId, ...place } = ids
  const { disclaimerFormId } = await world.save('/disclaimerForm', { name: 'Consent' })
  const { invitationCampaignId } = await world.save('/invitationCampaign', { name: 'Spring' })
  const { emailTemplateId } = await world.save('/emailTemplate', {
    templateName: 'T',
    subject: 's',
    emailBody: 'b',
  })
  const moment = clock.in({ hours: 24 }).epochMilliseconds
  const person = { firstName: 'A', lastName: 'B' }
  const span = { startTime: moment, endTime: moment + 60_000 }
  const lines: Record<string, object> = {
    fileLibrary: { name: 'X.txt', content: 'eA==' },
    business: { name: 'Neu', timeZone: 'Asia/Tokyo' },
    status: { objectType: 'RECALL', status: 'LATER', label: 'Later' },
    location: { name: 'X' },
    reason: { name: 'X' },
    professional: person,
    client: person,
    invitationCampaign: { name: 'X' },
    invitation: { invitationCampaignId, clientId },
    calendar: { ...ids, ...span },
    classSchedule: { name: 'X', ...place, ...span },
    recall: { clientId, dueTime: moment },
    disclaimerForm: { name: 'X' },
    disclaimer: { disclaimerFormId, clientId },
    emailCategory: { name: 'X' },
    emailTemplate: { templateName: 'X', subject: 's', emailBody: 'b' },
    eventDefinition: reminder(businessId, -24),
    suppression: { emailAddress: 'no@example.org', reason: 'UNSUBSCRIBED' },
  }
  const known = /must be one of (.*)$/.exec((await importing(world, [{}])).body.refused[0].reason)
  assert.deepEqual(Object.keys(lines), known![1]!.split(', '))

  const countRows = async () =>
    (
      await db.query(sql`
      select (select count(*) from audit) as audit, (select count(*) from suppression) as suppressed`)
    )[0]
  const before = await countRows()
  const own = (await call('GET', `/business/${businessId}`)).body
  for (const foreign of [other.businessId, 999_999, String(businessId), {}]) {
    const { body } = await importing(
      world,
      Object.entries(lines).map(([kind, line]) => ({ kind, ...line, businessId: foreign })),
    )
    assert.deepEqual(body.accepted, {})
    for (const { reason } of body.refused) {
      assert.equal(reason, '/businessId: must be your own business')
    }
    assert.equal(body.refusedCount, Object.keys(lines).length)
  }
  const template = { emailTemplateId, actionType: 'SEND_EMAIL', active: true }
  const nested = await importing(world, [
    {
      kind: 'eventDefinition',
      ...reminder(businessId, -24),
      eventActions: [{ ...template, businessId: other.businessId }],
    },
  ])
  assert.match(nested.body.refused[0].reason, /businessId: must be your own business/)
  assert.deepEqual(await countRows(), before)
  assert.deepEqual((await call('GET', `/business/${businessId}`)).body, own)

  const taken = await importing(
    world,
    Object.entries(lines).map(([kind, line]) => ({ kind, ...line, businessId })),
  )
  assert.deepEqual(taken.body.refused, [])
})

test('the first thousand refused lines are listed, all are counted', async (t) => {
  const world = await enterWorld(t)
  const { body } = await importing(
    world,
    Array.from({ length: 2_500 }, (_, i) => ({ kind: i % 2 ? 'client' : 'location' })),
  )
  assert.equal(body.refusedCount, 2_500)
  assert.deepEqual(
    body.refused.map(({ line }: { line: number }) => line),
    Array.from({ length: 1_000 }, (_, i) => i + 1),
  )
})

test('ids of another business are refused like missing ones, and that business stays unchanged', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  await other.save('/client', { clientId: other.ids.clientId, externalId: 'theirs' })
  const { body } = await importing(world, [
    { kind: 'client', clientId: other.ids.clientId, firstName: 'Mine' },
    { kind: 'recall', clientId: other.ids.clientId, dueTime: 1_800_000_000_000 },
    { kind: 'recall', clientExternalId: 'theirs', dueTime: 1_800_000_000_000 },
  ])
  assert.deepEqual(body.accepted, {})
  assert.equal(body.refusedCount, 3)
  const own = { kind: 'client', externalId: 'theirs', firstName: 'Own', lastName: 'One' }
  assert.deepEqual((await importing(world, [own])).body.accepted, { client: 1 })
  const theirs = await other.call('GET', `/client/${other.ids.clientId}`)
  assert.equal(theirs.body.firstName, 'Anna')
})

test('a very large body is streamed, and only lines that are too long are refused', async (t) => {
  const world = await enterWorld(t)
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = world.app.server.address() as AddressInfo
  const client = (i: number) =>
    `{"kind":"client","externalId":"${i}","firstName":"A","lastName":"B"}\n`
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = request(
      {
        port,
        path: '/import',
        method: 'POST',
        headers: { authorization: `Bearer ${world.key}`, ...NDJSON },
      },
      (response) => {
        let text = ''
        response.on('data', (piece) => (text += piece)).on('end', () => resolve(text))
      },
    ).on('error', reject)
    sent.write(client(1))
    sent.write(`{"kind":"client","firstName":"${'x'.repeat(10_000_000)}"}\n`)
    for (let i = 2; i <= 1_200; i += 1) sent.write(client(i))
    sent.end(client(1_201).trimEnd())
  })
  assert.deepEqual(JSON.parse(answer), {
    accepted: { client: 1_201 },
    refused: [{ line: 2, reason: 'is longer than 1 MiB' }],
    refusedCount: 1,
  })
})

test('long lines are saved in smaller windows, so that none blocks the service for long', async (t) => {
  const { businessId, clock, db } = await enterWorld(t)
  const tags = { level: Array.from({ length: 100 }, (_, i) => `${i}`.repeat(80)) }
  const line = JSON.stringify({ kind: 'client', firstName: 'Ada', lastName: 'Long', tags })
  const pieces = async function* () {
    yield Buffer.from(`${line}\n`.repeat(60))
  }
  const windows: number[] = []
  const { accepted } = await importLines(db, readNdjson(pieces()), {
    businessId,
    user: 'test',
    now: () => clock.now(),
    onProgress: (lines) => windows.push(lines - (windows.at(-1) ?? 0)),
  })
  assert.deepEqual(accepted, { client: 60 })
  assert.ok(line.length * windows[0]! < 300_000, `${windows[0]} lines of ${line.length} bytes`)
})

test('blank lines and lines that are refused let other requests run', async (t) => {
  const world = await enterWorld(t)
  // Each name is compared with those that it could stand for.
  const misspelt = Object.fromEntries([
    ['kind', 'classSchedule'],
    ...Array.from({ length: 100 }, (_, i) => [`${i}ientIdListOrNames`.slice(0, 16), i]),
  ])
  const lines = [
    '\n'.repeat(400_000),
    '\r\n'.repeat(50_000),
    'x\n'.repeat(50_000),
    '{}\n'.repeat(50_000),
    `${JSON.stringify(misspelt)}\n`.repeat(400),
  ]
  const { body } = await assertNeverBlocks(t, 'an import of empty lines', () =>
    world.call('POST', '/import', lines.join(''), NDJSON),
  )
  assert.deepEqual([body.accepted, body.refusedCount], [{}, 100_400])
  assert.equal(body.refused[0].line, 450_001)
})

test('the reason of a refused line is truncated if the line has many faults', async (t) => {
  const world = await enterWorld(t)
  const { clock, ids } = world
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const span = { startTime, endTime: startTime + 60_000 }
  const clientIdList = Array.from({ length: 5_000 }, (_, i) => 1_000_000 + i)
  const line = { kind: 'classSchedule', name: 'Yoga', ...ids, ...span, clientIdList }
  const { body } = await importing(world, [line])
  assert.match(body.refused[0].reason, /\/clientIdList\/0: there is no client 1000000; /)
  assert.equal(body.refused[0].reason.length, 2_000)
})

test('everything that was imported is audited with its first status', async (t) => {
  const world = await enterWorld(t)
  await importing(world, mirrored(world.clock.in({ hours: 48 }).epochMilliseconds))
  const [counts] = await world.db.query(sql`
    select count(*)::int as audited, min(after ->> 'status') as status
    from audit where object = 'calendar'`)
  assert.deepEqual(counts, { audited: 1, status: 'OPEN' })
})

test('the same import with the same Idempotency-Key is done once', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const text = '{"kind":"client","firstName":"Ada","lastName":"Okafor"}\n'
  const headers = { ...NDJSON, 'idempotency-key': 'import-1' }
  const first = await call('POST', '/import', text, headers)
  assert.deepEqual(first.body.accepted, { client: 1 })
  const again = await call('POST', '/import', text, headers)
  assert.deepEqual([again.status, again.body], [200, first.body])
  assert.equal(
    (await call('GET', '/client')).body.items.length,
    2,
    'the imported client, and the one of the world',
  )
  const other = await call('POST', '/import', `${text}${text}`, headers)
  assert.equal(other.status, 422)
  const query = await call('POST', '/import?events=none', text, headers)
  assert.equal(query.status, 422, 'another query is another request')
  const wrong = await call('POST', '/import?events=some', text, headers)
  assert.equal(wrong.status, 422)
})

test('of two concurrent imports with one key, the second is 409', async (t) => {
  const world = await enterWorld(t)
  const line = (i: number) => JSON.stringify({ kind: 'client', firstName: `N${i}`, lastName: 'X' })
  const text = Array.from({ length: 3_000 }, (_, i) => line(i)).join('\n')
  const headers = { ...NDJSON, 'idempotency-key': 'import-2' }
  const answers = await Promise.all([1, 2].map(() => world.call('POST', '/import', text, headers)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
})

test('concurrent imports do not wait for each other and create no duplicates', async (t) => {
  const world = await enterWorld(t)
  const lines = Array.from({ length: 1_500 }, (_, i) => ({
    kind: 'client',
    externalId: `c-${i}`,
    firstName: 'Ada',
    lastName: `Number ${i}`,
  }))
  const answers = await Promise.all([1, 2, 3].map(() => importing(world, lines)))
  for (const { body } of answers) assert.deepEqual(body.accepted, { client: 1_500 })
  const [row] = await world.db.query(sql`select count(*) as clients from client`)
  assert.deepEqual(row, { clients: 1_501 })
})

test('a busy server imports lines in smaller batches', async (t) => {
  const world = await enterWorld(t)
  await asOwner(
    world.database,
    `create function refuse_many() returns trigger language plpgsql as $$
       begin
         if (select count(*) from written) > 200 then raise query_canceled; end if;
         return null;
       end $$`,
    `create trigger refuse_many after insert on client referencing new table as written
       for each statement execute function refuse_many()`,
  )
  const lines = Array.from({ length: 1_000 }, (_, i) => ({
    kind: 'client',
    externalId: `C${i}`,
    firstName: 'Anna',
    lastName: 'Li',
  }))
  const { status, body } = await importing(world, lines)
  assert.deepEqual([status, body.accepted, body.refusedCount], [200, { client: 1_000 }, 0])
})

test('slow imports hold no database connection, and a business may run four', async (t) => {
  const world = await startWorld(t)
  const other = await addBusiness(world)
  const port = await listenOn(world)
  const trickling = [world, other].flatMap(({ key }) =>
    [1, 2, 3, 4].map((i) => trickle(port, key, { 'idempotency-key': `slow-${i}` })),
  )
  for (const { db } of [world, other]) await until(async () => (await countKeys(db)) === 4)

  const third = await addBusiness(world)
  assert.equal((await third.call('POST', '/location', { name: 'Neustadt' })).status, 201)
  const fifth = await importing(world, [{ kind: 'location', name: 'Neustadt' }])
  assert.deepEqual([fifth.status, fifth.headers['retry-after']], [429, '10'])
  const theirs = await importing(third, [{ kind: 'location', name: 'Oststadt' }])
  assert.equal(theirs.status, 200)

  for (const one of trickling) one.end(CLIENT_LINE)
  for (const one of trickling) {
    const { status, body } = await one.answer
    assert.deepEqual([status, body.accepted], [200, { client: 1 }])
  }
  assert.equal((await importing(world, [])).status, 200, 'the slots are free again')
})

test('an import that stops sending is 408, and its Idempotency-Key is free again', async (t) => {
  const world = await enterWorld(t)
  const { database, clock } = world
  const port = await listenOn(await startApp(t, { database, clock, bodySeconds: 0.2 }))
  const headers = { 'idempotency-key': 'stalled' }
  const stalled = trickle(port, world.key, headers)
  stalled.write(CLIENT_LINE)
  assert.equal((await stalled.answer).status, 408)
  const again = await world.call('POST', '/import', CLIENT_LINE, { ...NDJSON, ...headers })
  assert.deepEqual([again.status, again.body.accepted], [200, { client: 1 }])
})

test('the key of an import is released a minute after its node crashed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const world = await startWorld(t)
  const slow = trickle(await listenOn(world), world.key, { 'idempotency-key': 'dead' })
  await until(async () => (await countKeys(world.db)) === 1)
  const again = () =>
    world.call('POST', '/import', CLIENT_LINE, { ...NDJSON, 'idempotency-key': 'dead' })
  const renewedAt = async () =>
    (
      await world.db.query<{ at: Temporal.Instant }>(sql`
      select created_time as at from idempotency_key`)
    )[0]!.at.epochMilliseconds

  world.clock.advance({ seconds: 50 })
  t.mock.timers.tick(20_000)
  await until(async () => (await renewedAt()) === world.clock.now().epochMilliseconds)
  world.clock.advance({ seconds: 50 })
  assert.equal((await again()).status, 409, 'renewed 50 s ago')

  world.clock.advance({ seconds: 11 })
  assert.equal((await again()).status, 200, 'renewed 61 s ago')
  slow.end(CLIENT_LINE)
  assert.equal((await slow.answer).status, 200)
})

const CLIENT_LINE = '{"kind":"client","firstName":"Ada","lastName":"Okafor"}\n'

async function listenOn({ app }: Pick<World, 'app'>) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

async function countKeys(db: World['db']) {
  const [row] = await db.query<{ count: number }>(sql`select count(*) from idempotency_key`)
  return row!.count
}

/** An import whose body the test sends piece by piece. */
function trickle(port: number, key: string, headers: Record<string, string> = {}) {
  const sending = request({
    port,
    path: '/import',
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...NDJSON, ...headers },
  })
  const answer = new Promise<{ status: number; body: { accepted: object } }>((resolve, reject) => {
    sending.once('error', reject).once('response', (response) => {
      let text = ''
      response.on('data', (piece) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }))
    })
  })
  answer.catch(() => {})
  sending.write('\n')
  return {
    answer,
    write: (text: string) => sending.write(text),
    end: (text: string) => sending.end(text),
  }
}
