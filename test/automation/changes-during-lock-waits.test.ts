import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { countLockWaits, isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** Makes a change that stays uncommitted until `work` waits for its lock. */
async function whileWaitingFor<T>(db: Db, change: Sql, work: () => Promise<T>): Promise<T> {
  const done = await db.transaction(async (tx) => {
    await tx.query(change)
    const working = work()
    await until(() => isLockAwaited(db))
    return () => working
  })
  return done()
}

/** Waits until `work` is done, or this many transactions wait for locks. */
async function untilDoneOr(db: Db, lockWaits: number, work: Promise<unknown>) {
  let isDone = false
  void work.finally(() => (isDone = true))
  await until(async () => isDone || (await countLockWaits(db)) >= lockWaits)
}

test('a plan that waits for a locked appointment uses its status and client after the wait', async (t) => {
  const { book, businessId, call, clock, db, ids, save } = await startWorld(t)
  const { clientId } = await save('/client', { firstName: 'Ben', lastName: 'Okafor' })
  const changes = [
    sql`update calendar set status = 'CONFIRMED'`,
    sql`update calendar set client_id = ${clientId}`,
    // The new client did not exist yet when the plan began to wait.
    sql`
      with another as (
        insert into client (business_id, first_name, last_name, created_date, created_user,
                            modified_date, modified_user)
        select business_id, 'Ada', last_name, created_date, created_user, modified_date,
               modified_user
        from client where client_id = ${ids.clientId}
        returning client_id)
      update calendar set client_id = another.client_id from another`,
  ]
  for (const change of changes) {
    const { calendarId } = await book(clock.in({ hours: 72 }))
    const define = () => save('/eventDefinition', reminder(businessId, -24))
    const { eventDefnId } = await whileWaitingFor(db, change, define)
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    const own = body.filter((trigger: Trigger) => trigger.eventDefnId === eventDefnId)
    assert.deepEqual(
      own.map((trigger: Trigger) => trigger.status),
      ['SCHEDULED'],
    )
  }
})

type Trigger = { eventDefnId: number; status: string }

test('firing puts off a trigger while its template is changed, and then uses the new category', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, db, save } = world
  const { runEngine } = startEngine(world)
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  await book(clock.in({ hours: 72 }))
  await db.query(sql`
    insert into suppression (business_id, email_address, reason, created_date, created_user)
    values (${businessId}, 'anna@example.org', 'UNSUBSCRIBED', ${clock.now()}, 'SYSTEM')`)
  clock.advance({ hours: 48 })
  const change = sql`update email_template set email_category_id = ${emailCategoryId}`
  await db.transaction(async (tx) => {
    await tx.query(change)
    await runEngine()
    assert.deepEqual(await db.query(sql`select from email`), [])
  })
  clock.advance({ seconds: 1 })
  assert.equal(await runEngine(), 1)
  const mails = await db.query(sql`select status from email`)
  assert.deepEqual(mails, [{ status: 'SUPPRESSED' }])
})

test('new tags of a client do not plan a reminder again that a worker is planning', async (t) => {
  const { book, businessId, clock, database, db, ids, save } = await startWorld(t)
  const filterTagMapJson = '{"level":["gold"]}'
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { filterTagMapJson }),
  )
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const { tagging } = await database.engine.transaction(async (tx) => {
    // As after the mails of its last reminder were sent, if it moved meanwhile.
    await tx.query(sql`select from calendar where calendar_id = ${calendarId} for share`)
    await tx.query(sql`
      insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                           anchor_time, scheduled_time, next_attempt_time, created_date)
      select business_id, ${eventDefnId}, 1, 'CALENDAR', calendar_id, start_time,
             start_time - interval '24 hours', start_time - interval '24 hours', ${clock.now()}
      from calendar where calendar_id = ${calendarId}`)
    const tagged = save('/client', { clientId: ids.clientId, tags: { level: ['gold'] } })
    await untilDoneOr(db, 1, tagged)
    return { tagging: () => tagged }
  })
  await tagging()
  const planned = await db.query(sql`select from pending_trigger where object_id = ${calendarId}`)
  assert.equal(planned.length, 1)
})

test('a reminder that a user cancels while its appointment moves is cancelled for the new time', async (t) => {
  const { book, businessId, call, clock, database, db, save } = await startWorld(t)
  await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 2 })) // its reminder time has passed
  const moveTo = (hours: number) => {
    const startTime = clock.in({ hours }).epochMilliseconds
    return save('/calendar', { calendarId, startTime, endTime: startTime + 1_800_000 })
  }
  await moveTo(72)
  const [{ eventTriggerId }] = (await call('GET', '/eventTriggers?status=SCHEDULED')).body.items
  const { both } = await database.engine.transaction(async (tx) => {
    // The move has read the pending triggers when it waits for this lock.
    await tx.query(sql`select from event_trigger where object_id = ${calendarId} for update`)
    const moved = moveTo(96)
    await until(() => isLockAwaited(db))
    const cancelled = call('POST', `/eventTriggers/${eventTriggerId}/cancel`)
    await untilDoneOr(db, 2, cancelled)
    return { both: () => Promise.all([moved, cancelled]) }
  })
  const [, { status }] = await both()
  assert.equal(status, 200)
  const { body } = await call('GET', '/eventTriggers?status=CANCELLED')
  const due = clock.in({ hours: 72 }).epochMilliseconds
  assert.deepEqual(
    body.items.map((trigger: { scheduledTime: number }) => trigger.scheduledTime),
    [due],
  )
  const { missing } = await reconcileAll(database.engine, () => clock.now())
  assert.equal(missing, 0)
})
