import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { addBusiness, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

test('every kind of object is created, read, listed, updated, deleted and restored', async (t) => {
  const { call, ids } = await enterWorld(t)
  const campaign = (await call('POST', '/invitationCampaign', { name: 'Spring' })).body
  const form = (await call('POST', '/disclaimerForm', { name: 'Consent' })).body
  const times = { startTime: 1_800_000_000_000, endTime: 1_800_000_900_000 }
  const { clientId: _none, ...course } = ids
  const bodies: Record<string, object> = {
    location: { name: 'Seefeld', timeZone: 'America/New_York' },
    reason: { name: 'Massage', price: 89.5, currency: 'CHF' },
    professional: {
      firstName: 'Tom',
      lastName: 'Becker',
      locationIdList: [ids.locationId],
      workingHours: [{ weekday: 'MONDAY', from: '09:00', to: '17:00' }],
    },
    client: { firstName: '太郎', lastName: '山田', tags: { level: ['gold'] } },
    calendar: { ...ids, ...times },
    classSchedule: { name: 'Pilates', ...course, ...times, clientIdList: [ids.clientId] },
    invitationCampaign: { name: 'Autumn', bookingUrl: 'https://example.org/book' },
    invitation: { invitationCampaignId: campaign.invitationCampaignId, clientId: ids.clientId },
    recall: { clientId: ids.clientId, dueTime: times.startTime },
    disclaimerForm: { name: 'Photos', body: 'May we?\nYes.' },
    disclaimer: { disclaimerFormId: form.disclaimerFormId, clientId: ids.clientId },
    emailCategory: { name: 'News', transactional: false },
    emailTemplate: {
      templateName: 'Hello',
      subject: 'Hi %CLIENT_FIRSTNAME%',
      emailBody: '<p>Hi</p>',
    },
  }
  for (const kind of OBJECT_KINDS) {
    const created = await call('POST', kind.path, bodies[kind.kind])
    assert.equal(created.status, 201, `${kind.kind}: ${JSON.stringify(created.body)}`)
    const id = created.body[kind.id]
    assert.equal(created.headers.location, `${kind.path}/${id}`)
    assert.partialDeepStrictEqual(created.body, bodies[kind.kind]!)
    assert.equal(created.body.createdUser, 'key:test')

    const read = await call('GET', `${kind.path}/${id}`)
    const { warnings: _told, ...stored } = created.body
    assert.deepEqual(read.body, stored)
    assert.ok(read.headers.etag)

    const same = await call('POST', kind.path, { [kind.id]: id })
    assert.equal(same.status, 200)
    assert.equal(same.body.version, 1, 'a save that changes nothing keeps the version')

    const listed = await call('GET', `${kind.path}?limit=500`)
    assert.ok(listed.body.items.some((item: Record<string, unknown>) => item[kind.id] === id))

    const deleted = await call('DELETE', `${kind.path}/${id}`)
    assert.equal(deleted.body.active, false)
    assert.equal((await call('GET', `${kind.path}/${id}`)).body.active, false)
    const after = await call('GET', `${kind.path}?limit=500`)
    assert.ok(!after.body.items.some((item: Record<string, unknown>) => item[kind.id] === id))

    const revived = await call('POST', kind.path, { [kind.id]: id, active: true })
    assert.equal(revived.body.active, true)
  }
})

test('locations, staff and services are listed with the inactive ones, or those alone, if asked', async (t) => {
  const { call } = await enterWorld(t)
  const { locationId } = (await call('POST', '/location', { name: 'Seefeld' })).body
  await call('DELETE', `/location/${locationId}`)
  const has = async (query: string) =>
    (await call('GET', `/location?limit=500${query}`)).body.items.some(
      (item: { locationId: number }) => item.locationId === locationId,
    )
  assert.equal(await has(''), false)
  assert.equal(await has('&active=true'), false)
  assert.equal(await has('&active=all'), true)
  assert.equal(await has('&active=false'), true)
  const inactive = (await call('GET', '/location?active=false')).body.items
  assert.deepEqual(
    inactive.map((item: { active: boolean }) => item.active),
    [false],
  )
  for (const path of ['/professional', '/reason']) {
    assert.equal((await call('GET', `${path}?active=all`)).status, 200)
  }
  assert.equal((await call('GET', '/location?active=maybe')).status, 422)
})

test('all faults of a body are reported at once, and nothing is written', async (t) => {
  const { call } = await enterWorld(t)
  const answer = await call('POST', '/calendar', {
    clientId: 'one',
    professionalId: 2 ** 60,
    reasonId: 999_999,
    startTime: 1_800_000_000_000,
    endTime: 4.5,
    note: 'a\u0007b',
    tags: { level: 'gold' },
    status: 'SOMEWHERE',
    businessId: 77,
  })
  assert.equal(answer.status, 422)
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
  assert.deepEqual(
    answer.body.errors.map((fault: { pointer: string }) => fault.pointer).toSorted(),
    [
      '/businessId',
      '/clientId',
      '/endTime',
      '/locationId',
      '/note',
      '/professionalId',
      '/reasonId',
      '/status',
      '/tags/level',
    ],
  )
  assert.equal((await call('GET', '/calendar')).body.items.length, 0)
})

test('a time before 2000 or after 2200 is refused with a hint, for every property of every kind', async (t) => {
  const { call } = await enterWorld(t)
  const seconds =
    'must be in milliseconds: 1800000000 looks like seconds, 1800000000000 is 2027-01-15'
  const hints: [given: number, detail: string][] = [
    [1_800_000_000, seconds],
    [
      1_800_000_000_000_000,
      'must be in milliseconds: 1800000000000000 looks like microseconds, 1800000000000 is 2027-01-15',
    ],
    ...[0, -1, Date.UTC(2000, 0) - 1, Date.UTC(2200, 0) + 1, Number.MAX_SAFE_INTEGER].map(
      (given): [number, string] => [
        given,
        'must be a time from 2000 to 2200, in milliseconds since 1970-01-01 UTC',
      ],
    ),
  ]
  const moments = OBJECT_KINDS.flatMap((kind) =>
    Object.entries(kind.fields).flatMap(([property, { instant }]) =>
      instant ? [{ kind, property }] : [],
    ),
  )
  assert.equal(moments.length, 12)
  for (const { kind, property } of moments) {
    for (const [given, detail] of hints) {
      const { status, body } = await call('POST', kind.path, { [property]: given })
      assert.equal(status, 422)
      const fault = body.errors.find(({ pointer }: Fault) => pointer === `/${property}`)
      assert.deepEqual(fault, { pointer: `/${property}`, detail }, `${kind.kind} ${given}`)
      const line = JSON.stringify({ kind: kind.kind, [property]: given })
      const imported = await call('POST', '/import', line, {
        'content-type': 'application/x-ndjson',
      })
      assert.deepEqual(imported.body.accepted, {})
      assert.ok(imported.body.refused[0].reason.includes(`/${property}: ${detail}`))
    }
    for (const given of [Date.UTC(2000, 0), Date.UTC(2200, 0)]) {
      const { body } = await call('POST', kind.path, { [property]: given })
      const refused = (body.errors ?? []).map(({ pointer }: Fault) => pointer)
      assert.ok(!refused.includes(`/${property}`), `${kind.kind} ${property} ${given}`)
    }
  }
})

type Fault = { pointer: string; detail: string }

test('an end before its start, an invalid time zone and two addresses in one field are refused', async (t) => {
  const { call, ids } = await enterWorld(t)
  const times = { startTime: 1_800_000_000_000, endTime: 1_799_999_999_999 }
  const reversed = await call('POST', '/calendar', { ...ids, ...times })
  assert.equal(reversed.body.errors[0].pointer, '/endTime')
  const zone = await call('POST', '/location', { name: 'X', timeZone: '+02:00' })
  assert.equal(zone.body.errors[0].pointer, '/timeZone')
  for (const emailAddress of [
    'a@b.c, d@e.f',
    'a@b.c\r\nBcc: x@y.z',
    '"a b"@c.d',
    'a@b.c (x)',
    'a',
  ]) {
    const refused = await call('POST', '/client', { firstName: 'A', lastName: 'B', emailAddress })
    assert.equal(refused.status, 422, emailAddress)
  }
})

test('ids of another business are answered like ids that do not exist', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  const theirs = await other.book(world.clock.in({ hours: 24 }))
  const missing = await world.call('GET', '/calendar/999999999')
  const foreign = await world.call('GET', `/calendar/${theirs.calendarId}`)
  assert.equal(foreign.status, 404)
  assert.equal(foreign.body.detail.replace(/\d+/, ''), missing.body.detail.replace(/\d+/, ''))
  const update = await world.call('POST', '/calendar', { calendarId: theirs.calendarId, note: 'x' })
  assert.equal(update.status, 404)
  const referred = await world.call('POST', '/recall', {
    clientId: other.ids.clientId,
    dueTime: 1_800_000_000_000,
  })
  assert.equal(referred.status, 422)
  assert.equal(referred.body.errors[0].pointer, '/clientId')
})

test('twenty posts of one externalId at the same moment make one object', async (t) => {
  const { call } = await enterWorld(t)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      call('POST', '/client', { externalId: 'c-1', firstName: `N${i}`, lastName: 'X' }),
    ),
  )
  assert.deepEqual(new Set(answers.map((answer) => answer.body.clientId)).size, 1)
  assert.equal(answers.filter((answer) => answer.status === 201).length, 1)
  assert.ok(answers.every((answer) => answer.status <= 201))
})

test('a stale If-Match is refused and a current one is accepted', async (t) => {
  const { call } = await enterWorld(t)
  const { body, headers } = await call('POST', '/location', { name: 'One' })
  const etag = String(headers.etag)
  const id = { locationId: body.locationId }
  const taken = await call('POST', '/location', { ...id, name: 'Two' }, { 'if-match': etag })
  assert.equal(taken.status, 200)
  const stale = await call('POST', '/location', { ...id, name: 'Three' }, { 'if-match': etag })
  assert.equal(stale.status, 412)
  assert.equal((await call('GET', `/location/${body.locationId}`)).body.name, 'Two')
})

test('appointments are filtered, and pages stay consistent while others are booked', async (t) => {
  const { call, book, clock, ids } = await enterWorld(t)
  for (let i = 0; i < 7; i += 1) await book(clock.in({ hours: i }))
  const from = clock.in({ hours: 2 }).epochMilliseconds
  const query = `from=${from}&professionalId=${ids.professionalId}&status=OPEN&limit=3`
  const first = (await call('GET', `/calendar?${query}`)).body
  await book(clock.in({ hours: 1 }))
  const second = (await call('GET', `/calendar?${query}&cursor=${first.nextCursor}`)).body
  assert.equal(first.items.length, 3)
  assert.equal(second.items.length, 2)
  assert.equal(second.nextCursor, null)
  const starts = [...first.items, ...second.items].map((item) => item.startTime)
  assert.deepEqual(starts, starts.toSorted())
  assert.equal((await call('GET', '/calendar?status=CANCELLED')).body.items.length, 0)
  assert.equal((await call('GET', '/calendar?status=CANCELLED,%20OPEN')).body.items.length, 8)
  assert.equal((await call('GET', '/calendar?from=yesterday')).status, 422)
})

test('clients are found by the beginnings of words, without accents', async (t) => {
  const { call, save } = await enterWorld(t)
  const { clientId } = await save('/client', {
    firstName: 'Łukasz',
    lastName: 'Żółć-Nowak',
    emailAddress: 'lz@mail.example',
  })
  const found = async (text: string) =>
    (await call('GET', `/client?search=${encodeURIComponent(text)}`)).body.items.map(
      (item: { clientId: number }) => item.clientId,
    )
  assert.deepEqual(await found('zol luk'), [clientId])
  assert.deepEqual(await found('ŻÓŁ'), [clientId])
  assert.deepEqual(await found('mail.ex'), [clientId])
  assert.deepEqual(await found('ukasz'), [])
  await save('/client', { clientId, lastName: 'Kowalski' })
  assert.deepEqual(await found('nowak'), [])
  assert.deepEqual(await found('kow'), [clientId])
})

test('references can use the externalId, in a POST and in an import', async (t) => {
  const { call, save, ids } = await enterWorld(t)
  await save('/client', { clientId: ids.clientId, externalId: 'anna' })
  const { clientId: _id, ...others } = ids
  const times = { startTime: 1_800_000_000_000, endTime: 1_800_000_900_000 }
  const booked = await call('POST', '/calendar', { ...others, ...times, clientExternalId: 'anna' })
  assert.deepEqual([booked.status, booked.body.clientId], [201, ids.clientId])
  const unknown = await call('POST', '/calendar', { ...others, ...times, clientExternalId: 'bob' })
  assert.deepEqual(unknown.body.errors, [
    { pointer: '/clientExternalId', detail: 'there is no client with the externalId bob' },
  ])
  const course = { name: 'Yoga', ...others, ...times, clientExternalIdList: ['anna', 'anna'] }
  assert.deepEqual((await save('/classSchedule', course)).clientIdList, [ids.clientId])
  const badId = await call('POST', '/classSchedule', { ...course, clientExternalIdList: ['x', 7] })
  assert.deepEqual(
    badId.body.errors.map((fault: { pointer: string }) => fault.pointer),
    ['/clientExternalIdList/1'],
  )
  const missing = { ...course, clientExternalIdList: ['nope', 'anna', 'nope2', 'nope'] }
  const unknownClients = await call('POST', '/classSchedule', missing)
  assert.deepEqual(unknownClients.body.errors, [
    { pointer: '/clientExternalIdList/0', detail: 'there is no client with the externalId nope' },
    { pointer: '/clientExternalIdList/2', detail: 'there is no client with the externalId nope2' },
  ])
  const { clientId } = ids
  const twice = { name: 'Yoga', ...others, ...times, clientIdList: [clientId, clientId, 999_999] }
  const unknownClient = await call('POST', '/classSchedule', twice)
  assert.deepEqual(unknownClient.body.errors, [
    { pointer: '/clientIdList/2', detail: 'there is no client 999999' },
  ])
})

test('twenty posts with one Idempotency-Key at the same moment make one object', async (t) => {
  const { call, ids } = await enterWorld(t)
  const body = { ...ids, startTime: 1_800_000_000_000, endTime: 1_800_000_900_000 }
  const key = { 'idempotency-key': 'book-1' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', '/calendar', body, key)),
  )
  assert.ok(answers.every(({ status }) => status === 201 || status === 409))
  const again = await call('POST', '/calendar', body, key)
  assert.equal(again.status, 201)
  const made = new Set(answers.flatMap(({ body: { calendarId } }) => calendarId ?? []))
  assert.deepEqual([...made], [again.body.calendarId])
  assert.equal((await call('GET', '/calendar')).body.items.length, 1)
})
