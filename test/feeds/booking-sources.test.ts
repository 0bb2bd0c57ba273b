import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { SourceError, type Resource } from '../../src/feeds/source.ts'
import { makeCalcom } from '../../src/feeds/sources/calcom.ts'
import { makeEasyAppointments } from '../../src/feeds/sources/easyappointments.ts'
import { isWithin } from '../../src/feeds/window.ts'
import {
  appointmentOf,
  bookingOf,
  startCalcom,
  startEasyAppointments,
} from '../support/feed-sources.ts'
import { accountOf, followSource } from './source-account.ts'

const calcom = makeCalcom(['127.0.0.1'])
const easyAppointments = makeEasyAppointments(['127.0.0.1'])

const describe = ({ key, entries: [entry] }: Resource) =>
  `${key} ${entry!.start} ${entry!.problem?.code ?? entry!.status ?? 'open'}`

test('a booking of Cal.com is read with its client, staff, service and place', async (t) => {
  const { url } = await startCalcom(t, [bookingOf('a')])
  const account = accountOf({ url }, 'cal_key')
  const { ok, calendars } = await calcom.test(account)
  assert.deepEqual([ok, calendars], [true, [{ key: '', name: 'bea@salon.test', entries: 1 }]])
  const { resources, complete } = await followSource(calcom, account).pullOnce()
  assert.deepEqual([...complete!.keys], ['a'])
  const { clients, staff, service, location, uid, start } = resources[0]!.entries[0]!
  assert.deepEqual(
    [clients, staff, service, location, uid, String(start)],
    [
      [
        {
          emailAddress: 'anna@example.com',
          firstName: 'Anna Müller',
          language: 'en',
          timeZone: 'America/New_York',
        },
      ],
      { key: '7', name: 'Bea', emailAddress: 'bea@salon.test' },
      { key: '5', name: 'massage' },
      { name: 'Altstadt 1' },
      'a@Cal.com',
      '2026-12-01T09:00:00Z',
    ],
  )
})

test('a key that no header can carry is a refused login, and no error of the service', async () => {
  for (const source of [calcom, easyAppointments]) {
    const account = accountOf({ url: 'http://127.0.0.1:1' }, 'cal_\u017c\n')
    assert.match(
      (await source.test(account)).checks[0]!.detail,
      /strange character or a line break/,
    )
    await assert.rejects(followSource(source, account).pullOnce(), { kind: 'LOGIN' })
  }
})

test('the statuses of Cal.com, absent clients, seats, and bookings of others are told apart', async (t) => {
  const [attendee] = bookingOf('x').attendees as object[]
  const { url } = await startCalcom(t, [
    bookingOf('pending', { status: 'pending' }),
    bookingOf('rejected', { status: 'rejected' }),
    bookingOf('cancelled', { status: 'cancelled' }),
    bookingOf('absent', { attendees: [{ ...attendee, absent: true }] }),
    bookingOf('other', { hosts: [{ id: 8, email: 'other@salon.test' }] }),
    bookingOf('seats', {
      attendees: [
        { ...attendee, seatUid: 's' },
        { ...attendee, name: 'B' },
      ],
    }),
  ])
  const { resources } = await followSource(calcom, accountOf({ url }, 'cal_key')).pullOnce()
  const start = '2026-12-01T09:00:00Z'
  assert.deepEqual(resources.map(describe).toSorted(), [
    `absent ${start} no show`,
    `cancelled ${start} cancelled`,
    `other ${start} not-host`,
    `pending ${start} waits-for-confirmation`,
    `rejected ${start} rejected`,
    `seats ${start} open`,
  ])
  const seats = resources.find(({ key }) => key === 'seats')!.entries[0]!
  assert.deepEqual([seats.isClass, seats.clients.length], [true, 2])
})

test('Cal.com is asked for changes only, and a booking that did not change is not passed on', async (t) => {
  const fake = await startCalcom(t, [bookingOf('a'), bookingOf('b')])
  const { pullOnce } = followSource(calcom, accountOf({ url: fake.url }, 'cal_key'))
  await pullOnce()
  const unchanged = await pullOnce()
  assert.deepEqual([unchanged.resources, unchanged.complete], [[], null])
  assert.ok(unchanged.requests <= 3)

  const [a, b] = fake.state.bookings as [ReturnType<typeof bookingOf>, ReturnType<typeof bookingOf>]
  fake.state.bookings = [{ ...a, status: 'cancelled', updatedAt: '2026-11-18T10:00:00.000Z' }, b]
  assert.deepEqual((await pullOnce()).resources.map(describe), ['a 2026-12-01T09:00:00Z cancelled'])
  // A replica that is behind.
  fake.state.bookings = [a, b]
  assert.deepEqual((await pullOnce(['a'])).resources, [])
})

test('all pages of Cal.com are read, also if it allows shorter ones, and a cut list is refused', async (t) => {
  const all = Array.from({ length: 23 }, (_, at) =>
    bookingOf(`b${at}`, { updatedAt: `2026-11-1${at % 5}T20:00:00.000Z` }),
  )
  const fake = await startCalcom(t, all)
  fake.state.pageSize = 4
  const account = accountOf({ url: fake.url }, 'cal_key')
  const { pullOnce, breakCursor } = followSource(calcom, account)
  assert.equal((await pullOnce()).complete!.keys.size, 23)
  assert.equal((await calcom.list!(account)).versions.size, 23)
  fake.state.bookings = all.map((one) => ({ ...one, status: 'cancelled' }))
  breakCursor({ updatedAt: '2026-11-01T00:00:00.000Z' })
  assert.equal((await pullOnce()).resources.length, 23)

  const text = JSON.stringify({ data: all.slice(0, 9), pagination: { totalItems: 23 } })
  fake.wrong = { status: 200, text }
  await assert.rejects(calcom.list!(account), SourceError)
})

test('a reschedule is one resource in all orders of its halves', async (t) => {
  const first = bookingOf('a')
  const cancelled = {
    ...first,
    status: 'cancelled',
    rescheduledToUid: 'b',
    updatedAt: '2026-11-18T10:00:00.000Z',
  }
  const moved = bookingOf('b', {
    start: '2026-12-02T13:00:00.000Z',
    end: '2026-12-02T13:30:00.000Z',
    rescheduledFromUid: 'a',
    createdAt: '2026-11-18T10:00:00.000Z',
    updatedAt: '2026-11-18T10:00:00.000Z',
  })
  const orders = [
    [[cancelled, moved]],
    [[moved, cancelled]],
    [[cancelled], [cancelled, moved]],
    [
      [first, moved],
      [cancelled, moved],
    ],
  ]
  for (const states of orders) {
    const fake = await startCalcom(t, [first])
    const { pullOnce } = followSource(calcom, accountOf({ url: fake.url }, 'cal_key'))
    await pullOnce()
    const seen: string[] = []
    for (const state of states) {
      fake.state.bookings = state
      seen.push(...(await pullOnce()).resources.map(describe))
    }
    assert.deepEqual(seen, ['a 2026-12-02T13:00:00Z open'])
  }
})

test('a booking that is asked for by its first uid is read to its end, and a 404 is gone', async (t) => {
  const { url } = await startCalcom(t, [
    bookingOf('a', { status: 'cancelled', rescheduledToUid: 'b' }),
    bookingOf('b', { rescheduledFromUid: 'a' }),
  ])
  const read = await calcom.read!(accountOf({ url }, 'cal_key'), ['a', 'z'])
  assert.equal(describe(read.get('a') as Resource), 'a 2026-12-01T09:00:00Z open')
  assert.equal(read.get('z'), 'GONE')
  await assert.rejects(calcom.read!(accountOf({ url }, 'wrong'), ['z']), SourceError)
})

test('an appointment of Easy!Appointments is read on the clock of its provider', async (t) => {
  const { provider } = appointmentOf(1)
  const fake = await startEasyAppointments(t, [
    appointmentOf(1),
    appointmentOf(2, { provider: { ...(provider as object), timezone: 'America/New_York' } }),
    appointmentOf(3, { provider: { ...(provider as object), timezone: 'Nowhere/None' } }),
    appointmentOf(4, { status: 'Draft' }),
    appointmentOf(5, { status: 'Cancelled' }),
    appointmentOf(6, { start: '2026-12-01 10:00:00', status: 'Confirmed' }),
  ])
  for (const path of ['', '/', '/index.php', '/index.php/api/v1']) {
    const tested = await easyAppointments.test(accountOf({ url: `${fake.url}${path}` }, 'token'))
    assert.equal(tested.ok, true, path)
  }
  const { resources } = await followSource(
    easyAppointments,
    accountOf({ url: fake.url }, 'token'),
  ).pullOnce()
  assert.deepEqual(resources.map(describe), [
    '1 2026-12-01T09:00:00Z open',
    '2 2026-12-01T15:00:00Z open',
    '3 null unknown-zone',
    '4 2026-12-01T09:00:00Z draft',
    '5 2026-12-01T09:00:00Z Cancelled',
    '6 2026-12-01T09:00:00Z Confirmed',
  ])
  const { clients, staff, service } = resources[0]!.entries[0]!
  assert.deepEqual(
    [clients[0]!.emailAddress, clients[0]!.phone, staff!.name, service!.name],
    ['ada@client.test', '+41 79 123 45 67', 'Elena Frei', 'Massage'],
  )
})

test('Easy!Appointments is listed whole, and only what changed is passed on', async (t) => {
  const all = Array.from({ length: 260 }, (_, at) => appointmentOf(at + 1))
  const fake = await startEasyAppointments(t, all)
  const account = accountOf({ url: fake.url }, 'token')
  const { pullOnce } = followSource(easyAppointments, account)
  assert.equal((await pullOnce()).complete!.keys.size, 260)
  fake.state.appointments = all.slice(1)
  fake.state.appointments[0] = appointmentOf(2, { start: '2026-12-01 11:00:00' })
  const next = await pullOnce()
  assert.deepEqual(next.resources.map(describe), ['2 2026-12-01T10:00:00Z open'])
  assert.equal(next.complete!.keys.has('1'), false)
  assert.equal((await easyAppointments.list!(account)).versions.size, 259)
  const read = await easyAppointments.read!(account, ['1', '2'])
  assert.equal(read.get('1'), 'GONE')
  assert.equal(describe(read.get('2') as Resource), '2 2026-12-01T10:00:00Z open')
})

test('a complete listing says also what is missing soon after the horizon', async (t) => {
  const [cal, easy] = [await startCalcom(t, []), await startEasyAppointments(t, [])]
  for (const [source, account] of [
    [calcom, accountOf({ url: cal.url }, 'cal_key')],
    [easyAppointments, accountOf({ url: easy.url }, 'token')],
  ] as const) {
    const soonAfter = account.window.to.add({ hours: 95 })
    const { complete } = await followSource(source, account).pullOnce()
    assert.ok(isWithin(complete!.window, soonAfter), source.source)
    assert.ok(isWithin((await source.list!(account)).window, soonAfter), source.source)
  }
})

test('a wrong answer of a booking server is an error in words, and never an empty list', async (t) => {
  const sources = [
    [calcom, await startCalcom(t, [bookingOf('a')]), 'cal_key'],
    [easyAppointments, await startEasyAppointments(t, [appointmentOf(1)]), 'token'],
  ] as const
  for (const [source, fake, key] of sources) {
    for (const wrong of [
      { status: 500, text: '' },
      { status: 401, text: '{}' },
      { status: 429, text: '{}' },
      { status: 200, text: '' },
      { status: 200, text: '<html>Sign in</html>' },
      { status: 200, text: '{"status":"error"}' },
      { status: 200, text: '[{"id":1},{}' },
      { status: 200, text: '[7]' },
      { status: 200, text: `{"status":"success","data":[${'['.repeat(65)}${']'.repeat(65)}]}` },
      { status: 404, text: '' },
    ]) {
      fake.wrong = wrong
      const account = accountOf({ url: fake.url }, key)
      const isRefused = (error: unknown) => error instanceof SourceError
      await assert.rejects(followSource(source, account).pullOnce(), isRefused, wrong.text)
      await assert.rejects(source.list!(account), isRefused, wrong.text)
      await assert.rejects(source.read!(account, ['a']), isRefused, wrong.text)
      const { ok, checks } = await source.test(account)
      assert.deepEqual([ok, checks.length], [false, 1])
    }
  }
})

test('a limit of an answer is said in words', async (t) => {
  const guests = Array.from({ length: 201 }, (_, i) => ({ email: `g${i}@client.test`, name: 'G' }))
  const crowd = await startCalcom(t, [{ ...bookingOf('a'), attendees: guests }])
  const pulling = followSource(calcom, accountOf({ url: crowd.url }, 'cal_key')).pullOnce()
  await assert.rejects(pulling, /The booking a has more than 200 attendees/)
  const deep = await startEasyAppointments(t, [appointmentOf(1)])
  deep.wrong = { status: 200, text: '['.repeat(65) + ']'.repeat(65) }
  const read = followSource(easyAppointments, accountOf({ url: deep.url }, 'token')).pullOnce()
  await assert.rejects(read, /answers with more than 64 levels/)
})

test('a webhook counts only with the signature of its source', () => {
  const { now } = accountOf({}, null)
  const body = Buffer.from(
    '{"triggerEvent":"BOOKING_RESCHEDULED","payload":{"uid":"b","rescheduleUid":"a"}}',
  )
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  const isSigned = (value: string | undefined, secrets = ['new', 'secret']) =>
    calcom.hook!.isSigned({ 'x-cal-signature-256': value }, body, secrets, now)
  assert.deepEqual(
    [signature, `sha256=${signature}`, signature.toUpperCase()].map((one) => isSigned(one)),
    [true, true, true],
  )
  const forged = [
    'no-secret-provided',
    undefined,
    '',
    signature.slice(1),
    signature.replace(/^./, 'g'),
  ]
  assert.deepEqual(
    forged.map((one) => isSigned(one)),
    forged.map(() => false),
  )
  assert.equal(isSigned(signature, ['other']), false)
  assert.deepEqual(calcom.hook!.keysIn!(JSON.parse(String(body))), ['a'])

  const holds = (token: string | undefined) =>
    easyAppointments.hook!.isSigned({ 'x-ea-token': token }, body, ['token'], now)
  assert.deepEqual(['token', 'Token', '', undefined].map(holds), [true, false, false, false])
})

/** Deliveries and answers in the form that the documentation of the source shows. */
const fixture = (name: string) =>
  JSON.parse(
    fs.readFileSync(path.join(import.meta.dirname, `../fixtures/feeds/${name}.json`), 'utf8'),
  )

test('deliveries in the documented form count with their secret alone, and name their booking', () => {
  const { now } = accountOf({}, null)
  const [first, other] = ['u7Qd2LkPz9sRtYw4MnBv1A', 'x3Hs8GfTq6eWnKj5CbRv0Z']
  for (const [name, source, keys] of [
    ['calcom-booking-created', calcom, [first]],
    ['calcom-booking-requested', calcom, [first]],
    ['calcom-booking-rescheduled', calcom, [first]],
    ['calcom-booking-cancelled', calcom, [first]],
    ['calcom-booking-no-show', calcom, [first]],
    ['easyappointments-customer-saved', easyAppointments, undefined],
    ['easyappointments-appointment-booked', easyAppointments, undefined],
    ['easyappointments-appointment-moved', easyAppointments, undefined],
    ['easyappointments-appointment-deleted', easyAppointments, undefined],
  ] as const) {
    const { headers, body, secret } = fixture(name)
    const isSigned = (text: string, secrets: string[]) =>
      source.hook!.isSigned(headers, Buffer.from(text), secrets, now)
    assert.deepEqual([isSigned(body, [secret]), isSigned(body, ['other'])], [true, false], name)
    assert.deepEqual(source.hook!.keysIn?.(JSON.parse(body)), keys, name)
    // Easy!Appointments sends its secret, and signs nothing.
    const forged = body.replace(first, other).replace('BOOKING', 'BOOKINGS')
    assert.equal(isSigned(forged, [secret]), source === easyAppointments, name)
  }
})

test('answers in the documented form are read', async (t) => {
  const { data } = fixture('calcom-bookings')
  const server = await startCalcom(t, data)
  // The fake belongs to another person, and so do its bookings.
  for (const one of data) one.hosts[0].email = 'bea@salon.test'
  const bookings = await followSource(calcom, accountOf({ url: server.url }, 'cal_key')).pullOnce()
  assert.deepEqual(bookings.resources.map(describe).toSorted(), [
    'b1Nn4VcXz7LkJh2GfDs9Qw 2027-01-25T09:00:00Z no show',
    'c5Mm9BnVx3ZaSd6FgHj1Kl 2027-02-08T16:00:00Z open',
    'd8Pp2WqEr4TyUi7OpAs0Df 2027-02-09T08:00:00Z cancelled',
    // Its later half has another uid.
    'u7Qd2LkPz9sRtYw4MnBv1A 2027-02-05T12:15:00Z open',
  ])
  const [, group] = bookings.resources.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const { isClass, clients } = group!.entries[0]!
  assert.deepEqual([isClass, clients.length], [true, 2])
  const clinic = await startEasyAppointments(t, fixture('easyappointments-appointments'))
  const account = accountOf({ url: clinic.url }, 'token')
  const { resources } = await followSource(easyAppointments, account).pullOnce()
  assert.deepEqual(resources.map(describe), [
    '57 2027-02-11T08:00:00Z open',
    '58 2027-02-12T10:20:00Z Confirmed',
    '59 2027-02-12T11:20:00Z Cancelled',
    '60 2027-02-15T07:00:00Z draft',
    '61 2027-02-16T11:00:00Z open',
  ])
})
