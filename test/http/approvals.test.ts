import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { importLines } from '../../src/scheduling/import.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { until } from '../support/until.ts'
import { addBusiness, reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

/** A business that confirms every booking, with a limit of three mails. */
async function startConfirming(t: TestContext, business: object = { bulkLimit: 3 }) {
  const world = await enterWorld(t)
  const { businessId, save } = world
  await save('/business', { businessId, ...business })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Confirmation',
    subject: 'Booked',
    emailBody: '<p>Booked</p>',
  })
  const { eventDefnId } = await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    description: 'Confirmation',
    eventActions: [
      { actionType: 'SEND_EMAIL', active: true, businessId, template: { emailTemplateId } },
    ],
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: -24,
    triggerMinutes: 0,
    eventType: { eventTypeId: 3 },
    eventActions: [
      { actionType: 'SEND_EMAIL', active: true, businessId, template: { emailTemplateId } },
    ],
  })
  const engine = startEngine(world)
  const confirmations = async () =>
    (await world.call('GET', `/eventTriggers?eventDefnId=${eventDefnId}`)).body.items
  return { ...world, engine, eventDefnId, emailTemplateId, confirmations }
}

type World = Awaited<ReturnType<typeof startConfirming>>

const linesOf = ({ ids, clock }: World, count: number, hours = 72) =>
  Array.from({ length: count }, (_, i) => {
    const startTime = clock.in({ hours: hours + i }).epochMilliseconds
    return { kind: 'calendar', ...ids, startTime, endTime: startTime + 1_800_000 }
  })

const importing = async (world: World, count: number, hours?: number) => {
  const text = linesOf(world, count, hours)
    .map((line) => JSON.stringify(line))
    .join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  return (await world.call('POST', '/import', text, headers)).body
}

const statusesOf = (triggers: { status: string }[]) => triggers.map(({ status }) => status)

test('an import within the limit sends its mails as soon as it has ended', async (t) => {
  const world = await startConfirming(t)
  const imported = await importing(world, 3)
  assert.deepEqual(imported, { accepted: { calendar: 3 }, refused: [], refusedCount: 0 })
  assert.equal(await world.engine.runEngine(), 3)
  assert.deepEqual(statusesOf(await world.confirmations()), Array(3).fill('COMPLETED'))
  assert.deepEqual((await world.call('GET', '/approval')).body.items, [])
  const rows = await world.db.query(sql`select from approval`)
  assert.equal(rows.length, 0)
})

test('an import above the limit waits for approval, but its reminders do not', async (t) => {
  const world = await startConfirming(t)
  const { call, clock, engine } = world
  const { approvalId } = await importing(world, 4, 30)
  assert.equal(await engine.runEngine(), 0)
  const [waiting] = (await call('GET', '/approval?status=WAITING')).body.items
  assert.equal(waiting.approvalId, approvalId)
  assert.equal(waiting.source, 'IMPORT')
  assert.equal(waiting.mails, 4)
  assert.equal(waiting.bulkLimit, 3)
  assert.equal(waiting.createdUser, 'key:test')
  assert.deepEqual(waiting.byDefinition, [
    { eventDefnId: world.eventDefnId, description: 'Confirmation', triggers: 4, mails: 4 },
  ])
  for (const trigger of await world.confirmations()) {
    assert.equal(trigger.status, 'SCHEDULED')
    assert.equal(trigger.approvalId, approvalId)
    assert.equal(trigger.statusReason, `waits for approval ${approvalId}`)
  }
  clock.advance({ hours: 7 })
  assert.equal(await engine.runEngine(), 2, 'the reminders of the first two appointments')
  const single = await world.book(clock.in({ hours: 90 }))
  assert.equal(await engine.runEngine(), 1, 'a single save never waits')
  assert.ok(single.calendarId)

  const released = await call('POST', `/approval/${approvalId}/release`)
  assert.equal(released.status, 200, JSON.stringify(released.body))
  assert.equal(released.body.status, 'RELEASED')
  assert.equal(released.body.decidedUser, 'key:test')
  assert.equal(await engine.runEngine(), 4)
  assert.deepEqual(statusesOf(await world.confirmations()), Array(5).fill('COMPLETED'))
  const again = await call('POST', `/approval/${approvalId}/release`)
  assert.equal(again.status, 409)
})

test('a release leaves out some triggers, which follow a cancellation', async (t) => {
  const world = await startConfirming(t)
  const { call, engine } = world
  const { approvalId } = await importing(world, 4)
  const [first, second] = await world.confirmations()
  const except = [first.eventTriggerId, second.eventTriggerId]
  const release = (body: object) => call('POST', `/approval/${approvalId}/release`, body)
  const unknown = await release({ except: [except[0], 987_654] })
  assert.equal(unknown.status, 422)
  assert.equal(unknown.body.errors[0].pointer, '/except/1')
  assert.deepEqual(statusesOf(await world.confirmations()), Array(4).fill('SCHEDULED'))

  assert.equal((await release({ except })).body.status, 'RELEASED')
  assert.equal(await engine.runEngine(), 2)
  assert.deepEqual(statusesOf(await world.confirmations()), [
    'CANCELLED',
    'CANCELLED',
    'COMPLETED',
    'COMPLETED',
  ])
})

test('of mails to send before their time or again, those left out stay as they are', async (t) => {
  const world = await startConfirming(t)
  const { businessId, book, call, clock, engine, save } = world
  await save('/business', { businessId, bulkLimit: 1 })
  for (const hours of [72, 96, 120]) await book(clock.in({ hours }))
  await engine.runEngine()
  const { items: reminders } = (await call('GET', '/eventTriggers?status=SCHEDULED')).body
  const ids = reminders.map((one: { eventTriggerId: number }) => one.eventTriggerId)
  const fired = (await call('POST', '/eventTriggers/fire', { ids })).body
  await call('POST', `/approval/${fired.approvalId}/release`, { except: [ids[2]] })
  assert.equal(await engine.runEngine(), 2)
  const { body: kept } = await call('GET', `/eventTriggers/${ids[2]}`)
  assert.deepEqual([kept.status, kept.scheduledTime], ['SCHEDULED', reminders[2].scheduledTime])

  const { items: mails } = (await call('GET', '/emails')).body
  const sent = mails.slice(0, 3).map(({ emailId }: { emailId: number }) => emailId)
  const { approvalId } = (await call('POST', '/emails/resend', { ids: sent })).body
  const { items: held } = (await call('GET', `/emails?approvalId=${approvalId}&expand=names`)).body
  assert.deepEqual(
    held.map(({ emailId }: { emailId: number }) => emailId),
    sent,
  )
  await call('POST', `/approval/${approvalId}/release`, { except: [sent[0]] })
  assert.equal((await call('GET', '/emails')).body.items.length, mails.length + 2)
})

test('a cancelled approval cancels its triggers, and says who did it', async (t) => {
  const world = await startConfirming(t)
  const { approvalId } = await importing(world, 5)
  const { body } = await world.call('POST', `/approval/${approvalId}/cancel`)
  assert.equal(body.status, 'CANCELLED')
  assert.equal(await world.engine.runEngine(), 0)
  const triggers = await world.confirmations()
  assert.deepEqual(statusesOf(triggers), Array(5).fill('CANCELLED'))
  assert.equal(triggers[0].statusReason, 'cancelled by key:test')
  assert.equal(triggers[0].approvalId, null)
})

test('the limit applies to the whole call, also if it is saved in many windows', async (t) => {
  const world = await startConfirming(t)
  const { businessId, db, clock, engine } = world
  const lines = linesOf(world, 2_003).map((body, i) => ({ number: i + 1, body }))
  const fired: number[] = []
  async function* inParts() {
    for (let start = 0; start < lines.length; start += 501) {
      yield lines.slice(start, start + 501)
      fired.push(await engine.runEngine())
    }
  }
  const imported = await importLines(db, inParts(), {
    businessId,
    user: 'x',
    now: () => clock.now(),
  })
  assert.deepEqual(fired, [0, 0, 0, 0], 'nothing fires while the call runs')
  const { body } = await world.call('GET', `/approval/${imported.approvalId}`)
  assert.equal(body.triggers, 2_003)
  await world.call('POST', `/approval/${imported.approvalId}/cancel`)
  const { body: counts } = await world.call(
    'GET',
    `/eventTriggers/counts?eventDefnId=${world.eventDefnId}`,
  )
  assert.deepEqual(counts, { CANCELLED: 2_003 })
})

test('the engine counts and releases the mails of an aborted import', async (t) => {
  const world = await startConfirming(t)
  const { businessId, db, clock, engine } = world
  const held = await importOnDyingNode(world, 2)
  assert.equal(await engine.runEngine(), 0)
  clock.advance({ seconds: 30 })
  await engine.loops.approve.runOnce()
  assert.equal(await engine.runEngine(), 0, 'the call may still be running')
  clock.advance({ seconds: 31 })
  await engine.loops.approve.runOnce()
  assert.equal(await engine.runEngine(), 2)
  assert.equal((await world.call('GET', `/approval/${held}`)).status, 404)

  const many = await importOnDyingNode(world, 4)
  clock.advance({ seconds: 61 })
  await engine.loops.approve.runOnce()
  assert.equal((await world.call('GET', `/approval/${many}`)).body.status, 'WAITING')
  // If a node is killed after the decision, another node releases the triggers.
  await db.query(sql`
    update approval set status = 'RELEASED', decided_user = 'anna', decided_time = now()
    where business_id = ${businessId} and approval_id = ${many}`)
  await engine.loops.approve.runOnce()
  assert.equal(await engine.runEngine(), 4)
})

test('an import whose client pauses for minutes is counted as a whole', async (t) => {
  const world = await startConfirming(t)
  const { businessId, db, clock, engine } = world
  t.mock.timers.enable({ apis: ['setInterval'] })
  const isRenewed = async () => {
    const [row] = await db.query<{ beat: Temporal.Instant }>(sql`
      select beat_time as beat from approval`)
    return row?.beat.equals(clock.now()) ?? false
  }
  const lines = linesOf(world, 4).map((body, i) => ({ number: i + 1, body, bytes: 262_144 }))
  async function* slowly() {
    for (const line of lines) {
      yield [line]
      if (line === lines[0]) continue
      await until(isRenewed)
      for (let seconds = 0; seconds < 90; seconds += 15) {
        clock.advance({ seconds: 15 })
        // Tick repeatedly, because a tick during a running renewal is skipped.
        await until(() => {
          t.mock.timers.tick(15_000)
          return isRenewed()
        })
        await engine.loops.approve.runOnce()
      }
    }
  }
  const call = { businessId, user: 'x', now: () => clock.now() }
  const { approvalId } = await importLines(db, slowly(), call)
  const { body } = await world.call('GET', `/approval/${approvalId}`)
  assert.deepEqual([body.status, body.triggers], ['WAITING', 4])
})

test('an import continues if its heartbeat fails', async (t) => {
  const world = await startConfirming(t)
  const { businessId, db, clock } = world
  const lines = linesOf(world, 4).map((body, i) => ({ number: i + 1, body, bytes: 262_144 }))
  const slow = { ...db, query: () => Promise.reject(new Error('canceling statement')) }
  const call = { businessId, user: 'x', now: () => clock.now() }
  t.mock.timers.enable({ apis: ['setInterval'] })
  async function* ticking() {
    for (const line of lines) {
      yield [line]
      t.mock.timers.tick(15_000)
    }
  }
  const imported = await importLines(slow, ticking(), call)
  assert.deepEqual(imported.accepted, { calendar: 4 })
  assert.ok(imported.approvalId)
})

test('triggers that expired while waiting for approval do not count as late', async (t) => {
  const world = await startConfirming(t)
  const { call, clock, database, engine } = world
  const first = await importing(world, 4)
  clock.advance({ hours: 30 })
  const second = await importing(world, 5)
  clock.advance({ hours: 43 })
  await engine.runEngine()
  const health = () => readQueueHealth(database.engine, clock.now(), 10)
  const before = await health()
  await call('POST', `/approval/${first.approvalId}/release`)
  await call('POST', `/approval/${second.approvalId}/release`)
  await engine.runEngine()
  const triggers = await world.confirmations()
  const ofStatus = (status: string) =>
    triggers.filter((one: { status: string }) => one.status === status)
  assert.equal(ofStatus('COMPLETED').length, 5)
  assert.deepEqual(
    ofStatus('EXPIRED').map(({ statusReason }: { statusReason: string }) => statusReason),
    Array(4).fill('it waited for approval until it was no longer useful'),
  )
  const { late, expired, mostLateSeconds } = await health()
  assert.deepEqual(
    [late, expired, mostLateSeconds],
    [before.late, before.expired, before.mostLateSeconds],
    'only reminders were late, because the engine did not run',
  )
})

/** Imports on a node that dies before the import ends. */
async function importOnDyingNode(world: World, count: number) {
  const { businessId, db, clock } = world
  const lines = linesOf(world, count).map((body, i) => ({ number: i + 1, body }))
  const broken = {
    ...db,
    query: () => Promise.reject(new Error('the node is gone')),
    transaction: async <T>(work: (tx: typeof db) => Promise<T>) => {
      if (savedOnce) throw new Error('the node is gone')
      savedOnce = true
      return db.transaction(work)
    },
  }
  let savedOnce = false
  const importing = { businessId, user: 'x', now: () => clock.now() }
  await assert.rejects(importLines(broken, [lines], importing), /the node is gone/)
  const [row] = await db.query<{ id: number }>(sql`select max(approval_id) as id from approval`)
  return row!.id
}

test('without a bulkLimit a business may send three times the mails of its busiest hour', async (t) => {
  const world = await startConfirming(t, {})
  const first = await importing(world, 51)
  assert.ok(first.approvalId, 'the smallest default is 50')
  assert.equal((await importing(world, 50)).approvalId, undefined)
  await world.call('POST', `/approval/${first.approvalId}/release`)
  assert.equal(await world.engine.runEngine(), 101)
  assert.equal((await importing(world, 303)).approvalId, undefined)
  const [busiest] = await world.db.query<{ count: number }>(sql`
    update email set created_date = created_date - interval '31 days' returning 1 as count`)
  assert.ok(busiest)
  assert.ok((await importing(world, 51)).approvalId)
})

test('reminders that an import would send late wait for approval', async (t) => {
  const world = await startConfirming(t, { bulkLimit: 7 })
  const { businessId, emailTemplateId, save, call, engine } = world
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const late = { latePolicy: 'SEND', eventActions: [action] }
  await save('/eventDefinition', reminder(businessId, -48, late))
  const { approvalId } = await importing(world, 4, 30)
  assert.equal((await call('GET', `/approval/${approvalId}`)).body.mails, 8)
  assert.equal(await engine.runEngine(), 0)
})

test('a class counts one mail for each student', async (t) => {
  const world = await startConfirming(t)
  const { businessId, save, ids, clock } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Class',
    subject: 'Class',
    emailBody: '<p>Class</p>',
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CLASS_SCHEDULE',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 4 },
    eventActions: [
      { actionType: 'SEND_EMAIL', active: true, businessId, template: { emailTemplateId } },
    ],
  })
  const clientIdList = [ids.clientId]
  for (let i = 0; i < 3; i += 1) {
    const { clientId } = await save('/client', { firstName: 'A', lastName: `${i}` })
    clientIdList.push(clientId)
  }
  const startTime = clock.in({ hours: 72 }).epochMilliseconds
  const { clientId: _client, ...place } = ids
  const line = {
    kind: 'classSchedule',
    name: 'Yoga',
    ...place,
    clientIdList,
    startTime,
    endTime: startTime + 3_600_000,
  }
  const { body } = await world.call('POST', '/import', JSON.stringify(line), {
    'content-type': 'application/x-ndjson',
  })
  const approval = (await world.call('GET', `/approval/${body.approvalId}`)).body
  assert.deepEqual([approval.triggers, approval.mails], [1, 4])
})

test('saving a definition does not release triggers that wait for approval', async (t) => {
  const world = await startConfirming(t)
  const { approvalId } = await importing(world, 4)
  await world.save('/eventDefinition', {
    eventDefnId: world.eventDefnId,
    businessId: world.businessId,
    description: 'Changed',
    triggerMinutes: 1,
  })
  world.clock.advance({ minutes: 5 })
  assert.equal(await world.engine.runEngine(), 0)
  assert.equal((await world.confirmations())[0].approvalId, approvalId)
  const [one] = await world.confirmations()
  const fired = await world.call('POST', `/eventTriggers/${one.eventTriggerId}/fire`)
  assert.equal(fired.status, 200)
  assert.equal(await world.engine.runEngine(), 1, 'a trigger that a person fires does not wait')
})

test('firing many reminders at once waits for approval, and cancelling it leaves them as planned', async (t) => {
  const world = await startConfirming(t, { bulkLimit: 100 })
  const { call, clock, engine, businessId, save } = world
  await importing(world, 4)
  await engine.runEngine()
  await save('/business', { businessId, bulkLimit: 3 })
  const planned = (await call('GET', '/eventTriggers?status=SCHEDULED')).body.items
  const ids = planned.map((trigger: { eventTriggerId: number }) => trigger.eventTriggerId)
  const [ended] = await world.confirmations()
  const others = [ended.eventTriggerId, 987_654]
  const asked = await call('POST', '/eventTriggers/fire', { ids: [...ids, ...others] })
  assert.deepEqual(asked.body.done, [])
  assert.deepEqual(asked.body.refused, [
    { id: ended.eventTriggerId, status: 409, detail: 'it is COMPLETED' },
    { id: 987_654, status: 404, detail: 'there is no event trigger 987654' },
  ])
  const { approvalId } = asked.body
  const twice = await call('POST', '/eventTriggers/fire', { ids })
  assert.deepEqual(
    twice.body.refused.map(({ detail }: { detail: string }) => detail),
    ids.map(() => `it waits for approval ${approvalId}`),
  )
  await call('POST', `/approval/${twice.body.approvalId}/cancel`)
  assert.equal(await engine.runEngine(), 0)
  await call('POST', `/approval/${approvalId}/cancel`)
  const left = (await call('GET', '/eventTriggers?status=SCHEDULED')).body.items
  assert.deepEqual(
    left.map((trigger: { scheduledTime: number; approvalId: number | null }) => [
      trigger.scheduledTime,
      trigger.approvalId,
    ]),
    planned.map((trigger: { scheduledTime: number }) => [trigger.scheduledTime, null]),
  )
  const second = (await call('POST', '/eventTriggers/fire', { ids })).body.approvalId
  clock.advance({ hours: 49 })
  assert.equal(await engine.runEngine(), 2, 'planned reminders never wait')
  await call('POST', `/approval/${second}/release`)
  assert.equal(await engine.runEngine(), 2)
  const few = await call('POST', '/eventTriggers/fire', { ids: ids.slice(0, 3) })
  assert.equal(few.body.approvalId, undefined)
  assert.equal(few.body.refused.length, 3)
})

test('sending many mails again waits for approval', async (t) => {
  const world = await startConfirming(t, { bulkLimit: 100 })
  const { call, engine, businessId, save } = world
  await importing(world, 4)
  await engine.runEngine()
  await save('/business', { businessId, bulkLimit: 3 })
  const { items } = (await call('GET', '/emails')).body
  const ids = items.map((email: { emailId: number }) => email.emailId)
  const queued = (await call('POST', `/emails/${ids[0]}/resend`)).body.emailId
  const asked = (await call('POST', '/emails/resend', { ids: [...ids, queued, 999_999] })).body
  assert.deepEqual(asked.done, [])
  assert.deepEqual(
    asked.refused.map((one: { id: number; status: number }) => [one.id, one.status]),
    [
      [queued, 409],
      [999_999, 404],
    ],
  )
  assert.equal((await call('GET', '/emails/counts')).body.CAPTURED, 4)
  await call('POST', `/approval/${asked.approvalId}/release`)
  await engine.runEngine()
  assert.equal((await call('GET', '/emails/counts')).body.CAPTURED, 9)
})

test('a business cannot see or decide approvals of another', async (t) => {
  const world = await startConfirming(t)
  const { approvalId } = await importing(world, 4)
  const other = await addBusiness(world)
  assert.equal((await other.call('GET', `/approval/${approvalId}`)).status, 404)
  assert.equal((await other.call('POST', `/approval/${approvalId}/release`)).status, 404)
  assert.deepEqual((await other.call('GET', '/approval')).body.items, [])
  const bad = await world.call('POST', '/business', { businessId: world.businessId, bulkLimit: -1 })
  assert.equal(bad.status, 422)
  assert.equal(bad.body.errors[0].pointer, '/bulkLimit')
})
