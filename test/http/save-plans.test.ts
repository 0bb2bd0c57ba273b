import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { isFull, proofSeed, randomFrom } from '../proofs/random.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>
type Trigger = {
  id: number
  eventDefnId: number
  status: string
  reason: string | null
  time: number
}

/** Every trigger of the business, read from its tables and not through the code under test. */
const listTriggers = ({ db }: World) =>
  db.query<Trigger>(sql`
    select event_trigger_id as id, event_defn_id as "eventDefnId", status, status_reason as reason,
           (extract(epoch from scheduled_time) * 1000)::bigint as time
    from any_trigger order by scheduled_time, event_trigger_id`)

/** Every row that a save can write. */
const listRows = ({ db }: World) =>
  db.query(sql`
    select (select coalesce(json_agg(t order by event_trigger_id), '[]') from any_trigger t)::text as triggers,
           (select coalesce(json_agg(c order by calendar_id), '[]') from calendar c)::text as appointments,
           (select coalesce(json_agg(c order by class_schedule_id), '[]') from class_schedule c)::text as classes,
           (select coalesce(json_agg(i order by invitation_uuid), '[]') from invitation i)::text as invitations,
           (select count(*) from idempotency_key) as keys, (select count(*) from audit) as audit`)

const countsOf = ({ samples: _samples, ...counts }: Record<string, unknown>) => counts
const none = { create: 0, move: 0, cancel: 0, atOnce: 0, expired: 0 }

type Change = { change: string; eventDefnId: number; from: number | null; to: number | null }

/** The changes of a save, computed from the triggers before and after it. */
function changesBetween(before: Trigger[], after: Trigger[], now: number): Change[] {
  return after.flatMap((trigger) => {
    const earlier = before.find(({ id }) => id === trigger.id)
    if (earlier?.status === trigger.status && earlier.time === trigger.time) return []
    const isPending = trigger.status === 'SCHEDULED'
    const change =
      isPending && trigger.time <= now
        ? 'atOnce'
        : isPending
          ? earlier
            ? 'move'
            : 'create'
          : trigger.status === 'CANCELLED'
            ? 'cancel'
            : 'expired'
    const { eventDefnId } = trigger
    return [
      {
        change,
        eventDefnId,
        from: earlier?.time ?? null,
        to: change === 'cancel' ? null : trigger.time,
      },
    ]
  })
}

const sortedTexts = (changes: Change[]) => changes.map((one) => JSON.stringify(one)).toSorted()

test('the plan of any change equals what the save then does, and writes nothing', async (t) => {
  const world = await enterWorld(t)
  const { businessId, call, clock, ids, save } = world
  const engine = startEngine(world)
  const random = randomFrom(proofSeed(t))
  const { pick, chance, below } = random
  const other = await save('/location', { name: 'Seefeld' })
  const locations = [ids.locationId, other.locationId] as number[]
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Check-up' })

  const kinds = {
    calendar: {
      id: 'calendarId',
      eventTypes: [1, 2, 3, 3, 3],
      objectType: 'CALENDAR',
      statuses: ['OPEN', 'CONFIRMED', 'COMPLETED', 'CANCELLED', 'NO_SHOW'],
      body: () => ({ ...ids, locationId: pick(locations), ...times() }),
    },
    classSchedule: {
      id: 'classScheduleId',
      eventTypes: [4, 5, 6, 6],
      objectType: 'CLASS_SCHEDULE',
      statuses: ['OPEN', 'CLOSED', 'CANCELLED'],
      body: () => ({
        name: 'Pilates',
        professionalId: ids.professionalId,
        locationId: pick(locations),
        ...times(),
      }),
    },
    invitation: {
      id: 'invitationUUID',
      eventTypes: [7, 8, 9, 11],
      objectType: 'INVITATION_CAMPAIGN',
      statuses: ['SENT', 'COMPLETED', 'EXPIRED', 'CANCELLED'],
      body: () => ({
        invitationCampaignId,
        clientId: ids.clientId,
        expiresTime: clock.in({ hours: below(90) }).epochMilliseconds,
      }),
    },
  }
  function times() {
    const startTime = clock.now().epochMilliseconds + (below(160) - 15) * 3_600_000
    return { startTime, endTime: startTime + (1 + below(3)) * 1_800_000 }
  }
  type Kind = keyof typeof kinds
  const saved: Record<Kind, Record<string, unknown>[]> = {
    calendar: [],
    classSchedule: [],
    invitation: [],
  }

  const define = (kind: Kind, eventTypeId = pick(kinds[kind].eventTypes)) =>
    save('/eventDefinition', {
      ...reminder(businessId, pick([-48, -24, -2, -1, 0, 1, 24])),
      objectType: kinds[kind].objectType,
      eventType: { eventTypeId },
      latePolicy: pick(['SKIP', 'SEND']),
      ...(chance(0.3) && kind !== 'invitation' ? { locationIdList: [pick(locations)] } : {}),
      ...(chance(0.2) && eventTypeId !== 3 ? { newStatus: pick(kinds[kind].statuses) } : {}),
      ...(chance(0.1) ? { filterTagMapJson: '{"vip":["yes"]}' } : {}),
    })
  const changeOf = (kind: Kind): Record<string, unknown> => {
    const { id, body, statuses } = kinds[kind]
    const known = saved[kind].length > 0 && chance(0.7) ? pick(saved[kind].slice(-5)) : undefined
    if (!known) {
      const tags = chance(0.4) ? { tags: { vip: ['yes'] } } : {}
      return { ...body(), ...tags, ...(chance(0.3) ? { status: pick(statuses) } : {}) }
    }
    return {
      [id]: known[id],
      ...pick([
        () => body(),
        () => body(),
        () => body(),
        () => ({ status: pick(statuses) }),
        () => ({ active: false }),
        () => ({ active: true }),
        () => ({ tags: pick([{}, { vip: ['yes'] }]) }),
        () => ({}),
      ])(),
    }
  }

  const seen: Record<string, number> = { ...none }
  for (const kind of Object.keys(kinds) as Kind[]) {
    for (const eventTypeId of kinds[kind].eventTypes) await define(kind, eventTypeId)
  }
  for (let step = 0; step < (isFull ? 2_000 : 120); step += 1) {
    const kind = pick(Object.keys(kinds) as Kind[])
    if (chance(0.05)) await define(kind)
    if (chance(0.15)) {
      clock.advance({ hours: 1 + below(10) })
      await engine.runEngine()
    }
    const body = changeOf(kind)
    const before = await listTriggers(world)
    const rows = await listRows(world)
    const planned = await call('POST', `/${kind}/plan`, body)
    assert.equal(planned.status, 200, JSON.stringify(planned.body))
    assert.deepEqual(await listRows(world), rows, 'a plan writes nothing')

    const object = await save(`/${kind}`, body)
    if (!('active' in body) && !(kinds[kind].id in body)) saved[kind].push(object)
    const now = clock.now().epochMilliseconds
    const real = changesBetween(before, await listTriggers(world), now)
    const predicted = planned.body.samples.map(
      ({ change, eventDefnId, from, to }: Change): Change => ({
        change,
        eventDefnId,
        from,
        to,
      }),
    )
    assert.deepEqual(
      sortedTexts(predicted),
      sortedTexts(real),
      `step ${step}: ${kind} ${JSON.stringify(body)}`,
    )
    const counts: Record<string, number> = { ...none }
    for (const { change } of real) counts[change]! += 1
    assert.deepEqual(countsOf(planned.body), counts)
    for (const change of Object.keys(seen)) seen[change]! += counts[change]!
  }
  for (const [change, count] of Object.entries(seen)) assert.ok(count > 5, `${change}: ${count}`)
})

test('a plan names automation, client and recipient, and says why a message would be cancelled', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Soon',
    emailBody: '<p>Soon</p>',
  })
  const action = {
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    emailTemplateId,
    recipient: { value: 'staff' },
  }
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { description: 'A day before', eventActions: [action] }),
  )
  const { calendarId, startTime } = await book(clock.in({ hours: 72 }))
  const [trigger] = await listTriggers(world)
  const from = clock.in({ hours: 48 }).epochMilliseconds

  const later = { startTime: startTime + 7_200_000, endTime: startTime + 9_000_000 }
  const moved = await call('POST', '/calendar/plan', { calendarId, ...later })
  assert.deepEqual(moved.body, {
    ...none,
    move: 1,
    samples: [
      {
        change: 'move',
        eventTriggerId: trigger!.id,
        eventDefnId,
        description: 'A day before',
        templateName: 'Reminder',
        from,
        to: from + 7_200_000,
        recipients: ['staff'],
        clientName: 'Anna Müller',
        reason: null,
      },
    ],
  })

  const cancelled = await call('POST', '/calendar/plan', { calendarId, status: 'CANCELLED' })
  assert.deepEqual(countsOf(cancelled.body), { ...none, cancel: 1 })
  const [sample] = cancelled.body.samples
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const [ended] = await listTriggers(world)
  assert.equal(ended!.status, 'CANCELLED')
  assert.deepEqual(
    { from: sample.from, to: sample.to, reason: sample.reason },
    { from, to: null, reason: ended!.reason },
  )
})

test('a plan refuses what the POST refuses, with the same details', async (t) => {
  const { book, call, clock, ids } = await enterWorld(t)
  const { calendarId, startTime } = await book(clock.in({ hours: 72 }))
  const bodies = [
    {},
    [],
    { ...ids, startTime, endTime: startTime },
    { ...ids, startTime, endTime: startTime + 1_000, status: 'NOBODY_KNOWS', clientID: 1 },
    { ...ids, clientId: 987_654, startTime: 'soon', endTime: startTime },
    { calendarId: 987_654, active: false },
    { calendarId, businessId: 4_711 },
    { calendarId, status: null, note: 17 },
  ]
  for (const body of bodies) {
    const planned = await call('POST', '/calendar/plan', body)
    const refused = await call('POST', '/calendar', body)
    assert.ok(refused.status >= 400, JSON.stringify(body))
    const { instance: _one, ...predicted } = planned.body
    const { instance: _other, ...real } = refused.body
    assert.deepEqual([planned.status, predicted], [refused.status, real])
  }
  const stale = await call('POST', '/calendar/plan', { calendarId }, { 'if-match': '"old"' })
  assert.equal(stale.status, 412)
})

test('callers with read access can plan changes of objects that they may see', async (t) => {
  const world = await enterWorld(t)
  const { app, book, call, clock } = world
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const ask = async (scopes: string[]) => {
    const { body } = await call('POST', '/apiKey', { name: scopes.join(), scopes })
    const answer = await app.inject({
      method: 'POST',
      url: '/calendar/plan',
      headers: { authorization: `Bearer ${body.key}` },
      payload: { calendarId, active: false },
    })
    return answer.statusCode
  }
  assert.equal(await ask(['scheduling:read']), 200)
  assert.equal(await ask(['definitions:read', 'mail:read']), 403)
})
