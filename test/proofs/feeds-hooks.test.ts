import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { partsOf, PULLING } from '../feeds/loop-parts.ts'
import {
  appointmentOf,
  bookingOf,
  startCalcom,
  startEasyAppointments,
  type FakeAppointment,
  type FakeBooking,
} from '../support/feed-sources.ts'
import { reminder, startWorld } from '../support/world.ts'
import { isFull, proofSeed, randomFrom, type Random } from './random.ts'

/*
 * Bookings change while their webhooks are lost, doubled, reordered, late and forged, and while the
 * source answers from a replica that is behind. One pull later the mirror is equal to the source.
 */

const SEQUENCES = isFull ? 400 : 6
const EDITS = 15
/** A replica is behind by less than this. */
const LAG_SECONDS = 25

/** One appointment of a source, as the mirror must show it. */
type Expected = { start: string; status: string }

/** A source whose appointments a test edits. Each edit returns the body of its webhook. */
type Edited<Row> = {
  rows(): Row[]
  expected(): Map<string, Expected>
  edit(): string
  sign(body: string, secret: string): Record<string, string>
}

type Clock = { now(): Temporal.Instant }

const HEADER = { 'content-type': 'application/json' }

function editBookings({ below, chance, pick }: Random, clock: Clock): Edited<FakeBooking> {
  const bookings = new Map<string, FakeBooking>()
  /** The last booking of each chain of reschedules, by the uid of its first. */
  const last = new Map<string, string>()
  const time = (hours = 0) => String(clock.now().add({ minutes: Math.round(hours * 60) }))
  const times = () => {
    const hours = 48 + below(500)
    return { start: time(hours), end: time(hours + 0.5) }
  }
  const store = (booking: FakeBooking) => void bookings.set(booking.uid, booking)
  const change = (key: string, changes: Partial<FakeBooking>) =>
    store({ ...bookings.get(last.get(key)!)!, ...changes })
  let made = 0
  const newUid = () => `b${(made += 1)}`
  const bodyOf = (triggerEvent: string, payload: object) =>
    JSON.stringify({ triggerEvent, createdAt: time(), payload })
  const isOpen = ([, uid]: [string, string]) => bookings.get(uid)!.status === 'accepted'

  const edits = {
    create() {
      const uid = newUid()
      store(bookingOf(uid, { ...times(), createdAt: time(), updatedAt: time() }))
      last.set(uid, uid)
      return bodyOf('BOOKING_CREATED', { uid })
    },
    reschedule(key: string, uid: string) {
      const next = newUid()
      change(key, { status: 'cancelled', rescheduledToUid: next, updatedAt: time() })
      store({
        ...bookings.get(uid)!,
        ...times(),
        uid: next,
        icsUid: `${next}@Cal.com`,
        status: 'accepted',
        rescheduledFromUid: uid,
        rescheduledToUid: undefined,
        createdAt: time(),
        updatedAt: time(),
      })
      last.set(key, next)
      return bodyOf('BOOKING_RESCHEDULED', { uid: next, rescheduleUid: uid })
    },
    cancel(key: string, uid: string) {
      change(key, { status: 'cancelled', updatedAt: time() })
      return bodyOf('BOOKING_CANCELLED', { uid })
    },
    /** It does not change the time of the booking. */
    absent(key: string, uid: string) {
      const [attendee] = bookings.get(uid)!.attendees as { absent: boolean }[]
      change(key, { attendees: [{ ...attendee, absent: !attendee!.absent }] })
      return bodyOf('BOOKING_NO_SHOW_UPDATED', { bookingUid: uid })
    },
  }
  return {
    rows: () => [...bookings.values()],
    expected: () =>
      new Map(
        [...last].map(([key, uid]) => {
          const { start, status, attendees } = bookings.get(uid)!
          const isAbsent = (attendees as { absent: boolean }[])[0]!.absent
          const ours = status === 'cancelled' ? 'CANCELLED' : isAbsent ? 'NO_SHOW' : 'OPEN'
          return [key, { start, status: ours }]
        }),
      ),
    edit() {
      const open = [...last].filter(isOpen)
      if (open.length < 3 || chance(0.2)) return edits.create()
      const [key, uid] = pick(open)
      return edits[pick(['reschedule', 'reschedule', 'cancel', 'absent'] as const)](key, uid)
    },
    sign: (body, secret) => ({
      'x-cal-signature-256': createHmac('sha256', secret).update(body).digest('hex'),
    }),
  }
}

function editAppointments({ below, chance, pick }: Random, clock: Clock): Edited<FakeAppointment> {
  const appointments = new Map<number, FakeAppointment>()
  const deleted = new Map<number, FakeAppointment>()
  const local = (time: Temporal.ZonedDateTime) =>
    time.toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ')
  const times = () => {
    const day = clock.now().toZonedDateTimeISO('Europe/Zurich').startOfDay()
    const start = day.add({ days: 2 + below(30) }).withPlainTime({ hour: 6 + below(12) })
    return { start: local(start), end: local(start.add({ minutes: 30 })) }
  }
  let made = 0
  const bodyOf = (action: string, id: number) => JSON.stringify({ action, payload: { id } })
  const change = (id: number, changes: object) => {
    appointments.set(id, { ...appointments.get(id)!, ...changes })
    return bodyOf('appointment_save', id)
  }
  const edits = {
    move: (id: number) => change(id, times()),
    cancel: (id: number) => change(id, { status: 'Cancelled' }),
    delete(id: number) {
      deleted.set(id, appointments.get(id)!)
      appointments.delete(id)
      return bodyOf('appointment_delete', id)
    },
  }
  const expectedOf = ({ start, status }: FakeAppointment, isDeleted: boolean) => ({
    start: String(
      Temporal.PlainDateTime.from(String(start)).toZonedDateTime('Europe/Zurich').toInstant(),
    ),
    status: isDeleted || status === 'Cancelled' ? 'CANCELLED' : 'OPEN',
  })
  return {
    rows: () => [...appointments.values()],
    expected: () =>
      new Map([
        ...[...appointments].map(([id, row]) => [String(id), expectedOf(row, false)] as const),
        ...[...deleted].map(([id, row]) => [String(id), expectedOf(row, true)] as const),
      ]),
    edit() {
      const open = [...appointments.values()].filter(({ status }) => status !== 'Cancelled')
      if (open.length < 3 || chance(0.3)) {
        const id = (made += 1)
        appointments.set(id, appointmentOf(id, times()))
        return bodyOf('appointment_save', id)
      }
      return edits[pick(['move', 'move', 'cancel', 'delete'] as const)](pick(open).id)
    },
    sign: (_body, secret) => ({ 'x-ea-token': secret }),
  }
}

type World = Awaited<ReturnType<typeof startWorld>>

/** A LIVE feed of an empty source, with its loop and its webhook. */
async function openFeed(t: TestContext, world: World, source: string, url: string, secret: string) {
  const { app, businessId, call, clock, database, db, ids, save } = world
  const { clientId: _clientId, ...defaults } = ids
  const connection = { url }
  const { feedId } = await save('/feed', {
    name: 'Salon',
    source,
    mode: 'SHADOW',
    connection,
    secret,
    defaults,
  })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const events: Record<number, number> = {}
  for (const eventTypeId of [1, 2]) {
    const body = reminder(businessId, 0, { eventActions, eventType: { eventTypeId } })
    events[eventTypeId] = (await save('/eventDefinition', body)).eventDefnId
  }
  const [loop] = createFeedLoops(partsOf(world))
  assert.equal(await loop!.runOnce(), 1)
  await save('/feed', { feedId, mode: 'LIVE' })
  const { body: hook } = await call('POST', `/feed/${feedId}/hook`)
  const post = async (
    payload: string,
    headers: Record<string, string>,
    path = new URL(hook.url).pathname,
  ) => {
    clock.advance({ milliseconds: 150 }) // more than ten a second are refused
    return (
      await app.inject({ method: 'POST', url: path, payload, headers: { ...HEADER, ...headers } })
    ).statusCode
  }
  const pullUntilIdle = async () => {
    let pulls = 0
    while ((await loop!.runOnce()) > 0) pulls += 1
    return pulls
  }
  const mirrored = () =>
    db.query<{
      key: string
      id: number
      start: Temporal.Instant
      status: string
      active: boolean
    }>(sql`
      select e.entry_key as key, c.calendar_id as id, c.start_time as start, c.status, c.active
      from calendar c left join feed_entry e
        on e.business_id = c.business_id and e.object_type = 'CALENDAR' and e.object_id = c.calendar_id
      where c.feed_id = ${feedId}`)
  /** How many events of a type each appointment fired. */
  const fired = async (eventTypeId: number) =>
    db.query<{ id: number; count: number }>(sql`
      select object_id as id, count(*)::int as count from pending_trigger
      where object_type = 'CALENDAR' and event_defn_id = ${events[eventTypeId]!}
      group by 1`)
  const nextPull = async () => (await call('GET', `/feed/${feedId}`)).body.state.nextPullTime
  return { feedId, hook, post, loop: loop!, pullUntilIdle, mirrored, fired, nextPull, database }
}

for (const source of ['CALCOM', 'EASYAPPOINTMENTS'] as const) {
  test(`one pull makes the mirror of ${source} equal, whatever happens to its webhooks`, async (t) => {
    const seed = proofSeed(t)
    const random = randomFrom(seed)
    const { below, chance, pick, next } = random
    const world = await startWorld(t, PULLING)
    const { call, clock } = world
    const fake = source === 'CALCOM' ? await startCalcom(t) : await startEasyAppointments(t)
    const editor: Edited<FakeBooking | FakeAppointment> =
      source === 'CALCOM' ? editBookings(random, clock) : editAppointments(random, clock)
    /** What the source had, and since when: its replica is behind. */
    let history = [{ since: clock.now(), rows: editor.rows() }]
    let lag = 0
    Object.defineProperty(fake.state, source === 'CALCOM' ? 'bookings' : 'appointments', {
      get: () => {
        const at = clock.now().subtract({ milliseconds: Math.round(lag * 1_000) })
        return history.findLast(({ since }) => Temporal.Instant.compare(since, at) <= 0)!.rows
      },
    })
    const secret = source === 'CALCOM' ? 'cal_key' : 'token'
    const feed = await openFeed(t, world, source, fake.url, secret)
    const { hook, post } = feed
    const counts = { edits: 0, lost: 0, doubled: 0, delivered: 0, forged: 0, pulls: 0, compared: 0 }
    let late: { at: Temporal.Instant; body: string }[] = []

    async function forge() {
      const before = await feed.nextPull()
      const body = `{"payload":{"uid":"b1"},"at":${below(1e9)}}`
      const right = editor.sign(body, hook.secret)
      const [status, expected] = await pick([
        async () => [await post(body, {}), 401],
        async () => [await post(body, editor.sign(body, `${hook.secret}x`)), 401],
        async () => [await post(body, { 'x-cal-signature-256': 'no-secret-provided' }), 401],
        async () => [await post(body, right, `/feed/hook/fh_${'0'.repeat(43)}`), 404],
      ])()
      assert.equal(status, expected)
      assert.equal(await feed.nextPull(), before, 'a forged webhook does not cause a pull')
      counts.forged += 1
    }

    /** In a random order. */
    async function deliverLate() {
      const due = late.filter(({ at }) => Temporal.Instant.compare(at, clock.now()) <= 0)
      late = late.filter((one) => !due.includes(one))
      while (due.length > 0) {
        const [{ body }] = due.splice(below(due.length), 1) as [(typeof due)[0]]
        assert.equal(await post(body, editor.sign(body, hook.secret)), 204)
        counts.delivered += 1
      }
    }

    /** Absence does not change the time of a booking: without its webhook only a reconciliation finds it. */
    async function compare(what: string, isExact: boolean) {
      const rows = await feed.mirrored()
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const expected = editor.expected()
      assert.equal(rows.length, byKey.size, `${what}: one object for each`)
      assert.ok(
        [...byKey.keys()].every((key) => expected.has(key)),
        what,
      )
      for (const [key, { start, status }] of expected) {
        const row = byKey.get(key)
        const told = `${what}, ${key}`
        // It was deleted before it was seen.
        if (!row && source === 'EASYAPPOINTMENTS' && status === 'CANCELLED') continue
        assert.ok(row?.active, told)
        assert.equal(
          row.start.epochMilliseconds,
          Temporal.Instant.from(start).epochMilliseconds,
          told,
        )
        const isAbsence = (text: string) => text === 'NO_SHOW' || text === 'OPEN'
        if (isExact || !isAbsence(status)) assert.equal(row.status, status, told)
        else assert.ok(isAbsence(row.status), told)
      }
      counts.compared += expected.size
      for (const { id, count } of await feed.fired(1))
        assert.equal(count, 1, `${what}: ${id} was created twice`)
    }

    for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
      for (let edits = 0; edits < EDITS; edits += 1) {
        counts.edits += 1
        const body = editor.edit()
        history = [...history.slice(-200), { since: clock.now(), rows: editor.rows() }]
        const copies = chance(0.1) ? 0 : chance(0.15) ? 2 : 1
        if (copies === 0) counts.lost += 1
        if (copies === 2) counts.doubled += 1
        for (let copy = 0; copy < copies; copy += 1) {
          late.push({
            at: clock.now().add({ seconds: chance(0.5) ? 0 : below(600) }),
            body,
          })
        }
        if (chance(0.1)) await forge()
        clock.advance({ seconds: below(40) })
        lag = next() * LAG_SECONDS
        await deliverLate()
        counts.pulls += await feed.pullUntilIdle()
      }
      clock.advance({ minutes: 12 })
      lag = 0
      late = []
      assert.equal(await feed.loop.runOnce(), 1)
      await compare(`PROOF_SEED=${seed}, sequence ${sequence}`, source !== 'CALCOM')
      const { status } = await call('POST', `/feed/${feed.feedId}/reconcile`)
      assert.equal(status, 202)
      assert.equal(await feed.loop.runOnce(), 1)
      await compare(`PROOF_SEED=${seed}, sequence ${sequence}, reconciled`, true)
    }
    t.diagnostic(`${SEQUENCES} sequences of ${source}: ${JSON.stringify(counts)}`)
  })
}

test('a reschedule in Cal.com is one change of one appointment, in all orders of its halves', async (t) => {
  const world = await startWorld(t, PULLING)
  const { clock } = world
  const fake = await startCalcom(t)
  const feed = await openFeed(t, world, 'CALCOM', fake.url, 'cal_key')
  const at = (hours: number) => String(clock.now().add({ hours }))
  const others: FakeBooking[] = []
  for (const order of [
    'together',
    'cancelled first',
    'new first',
    'cancelled last',
    'cancelled alone',
  ]) {
    const [a, b] = [`a ${order}`, `b ${order}`]
    const made = { createdAt: at(0), updatedAt: at(0) }
    const first = bookingOf(a, { start: at(72), end: at(73), ...made })
    fake.state.bookings = [...others, first]
    clock.advance({ minutes: 6 })
    await feed.pullUntilIdle()
    const { id } = (await feed.mirrored()).find(({ key }) => key === a)!
    const changed = { updatedAt: at(0) }
    const cancelled = { ...first, status: 'cancelled', rescheduledToUid: b, ...changed }
    const moved = bookingOf(b, {
      start: at(96),
      end: at(97),
      rescheduledFromUid: a,
      createdAt: at(0),
      ...changed,
    })
    const states = {
      together: [[cancelled, moved]],
      'cancelled first': [[cancelled], [cancelled, moved]],
      'new first': [[moved], [cancelled, moved]],
      'cancelled last': [
        [first, moved],
        [cancelled, moved],
      ],
      'cancelled alone': [[cancelled], [cancelled], [cancelled, moved]],
    }[order]!
    for (const state of states) {
      fake.state.bookings = [...others, ...state]
      clock.advance({ minutes: 6 })
      assert.equal(await feed.pullUntilIdle(), 1)
    }
    const rows = (await feed.mirrored()).filter(({ key }) => [a, b].includes(key))
    assert.deepEqual(
      rows.map(({ id: found, start, status }) => [found, String(start), status]),
      [[id, moved.start.replace(/\.\d+Z$/, 'Z'), 'OPEN']],
      order,
    )
    const changes = (await feed.fired(2)).find((one) => one.id === id)
    assert.equal(changes?.count, 1, order)
    others.push(cancelled, moved)
  }
})
