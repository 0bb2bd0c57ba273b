import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SetBackListener } from '../../src/clock.ts'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

const HOUR = 3_600_000

function startStepping(world: Awaited<ReturnType<typeof startWorld>>) {
  const { clock } = world
  const listeners: SetBackListener[] = []
  const steppingClock = { ...clock, onSetBack: (one: SetBackListener) => void listeners.push(one) }
  const { mailer, taken } = scripted()
  const engine = startEngine(world, { clock: steppingClock, mailer, captures: false })
  const setBack = async () => {
    for (const listener of listeners) listener(HOUR)
    await engine.correctTimes()
  }
  return { clock, engine, taken, setBack }
}

test('after the clock was an hour ahead, nothing waits for that hour, and no reminder is early', async (t) => {
  const world = await startWorld(t)
  const { businessId, database, save } = world
  const { clock, engine, taken, setBack } = startStepping(world)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Plain',
    subject: 'Your appointment',
    emailBody: 'See you.',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const created = { eventType: { eventTypeId: 1 }, eventActions }
  await save('/eventDefinition', reminder(businessId, 0, created))
  await save('/eventDefinition', reminder(businessId, -24, { eventActions }))
  await engine.plan()

  clock.advance({ hours: 1 })
  await world.book(clock.in({ hours: 25 }))
  assert.equal(await engine.fire(), 1, 'its mail is queued')
  await world.book(clock.in({ hours: 48 }))
  // The worker of this claim dies.
  await database.engine.query(sql`
    update pending_trigger set worker = 'dead' where scheduled_time <= ${clock.now()}`)
  await database.engine.query(sql`
    insert into worker_lease (worker, lease_until) values ('dead', ${clock.in({ seconds: 10 })})`)

  clock.advance({ hours: -1 })
  assert.equal(await engine.deliver(), 0)
  await setBack()
  assert.equal(await engine.deliver(), 1, 'the queued mail')
  await engine.settle()
  assert.equal(await engine.fire(), 1, 'the event of the dead worker')
  assert.equal(await engine.deliver(), 1)
  await engine.settle()
  assert.equal(taken.length, 2)
  const leases = await database.engine.query(sql`
    select from worker_lease where lease_until > ${clock.in({ seconds: 10 })}`)
  assert.equal(leases.length, 0)

  clock.advance({ hours: 1, minutes: 59 })
  assert.equal(await engine.fire(), 0, 'the reminder is due two hours after the clock was set back')
  clock.advance({ minutes: 1 })
  assert.equal(await engine.fire(), 1)
  assert.equal(await engine.correctTimes(), 0)
})

test('a mail that was deferred often while the clock was ahead waits no longer than half an hour', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, database, save } = world
  const { engine, taken, setBack } = startStepping(world)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Plain',
    subject: 'Your appointment',
    emailBody: 'See you.',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  await save('/eventDefinition', reminder(businessId, -24, { eventActions }))
  await engine.plan()
  await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  assert.equal(await engine.fire(), 1)
  await database.engine.query(sql`
    update email_queue set attempts = 8, status = 'RETRYING', next_attempt_time = ${clock.in({ minutes: 50 })}`)
  await setBack()
  await engine.deliver()
  await engine.settle()
  assert.equal(taken.length, 1)
})

test('a time of the old clock that is committed after the correction is corrected too', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, database, save } = world
  const { engine, taken, setBack } = startStepping(world)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Plain',
    subject: 'Your appointment',
    emailBody: 'See you.',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  await save(
    '/eventDefinition',
    reminder(businessId, 0, { eventType: { eventTypeId: 1 }, eventActions }),
  )
  await engine.plan()
  for (let i = 0; i < 2; i += 1) await world.book(clock.in({ hours: 25 }))
  assert.equal(await engine.fire(), 2)
  const [first, second] = await database.engine.query<{ id: number }>(sql`
    select email_id as id from email_queue order by email_id`)
  const retryAt = (db: Db, mail: { id: number }, at: Temporal.Instant) =>
    db.query(sql`
      update email_queue set attempts = 1, status = 'RETRYING', next_attempt_time = ${at}
      where email_id = ${mail.id}`)

  const isHeld = Promise.withResolvers<void>()
  const isCorrected = Promise.withResolvers<void>()
  const committed = database.engine.transaction(async (tx) => {
    await retryAt(tx, first!, clock.in({ hours: 1, minutes: 1 }))
    isHeld.resolve()
    await isCorrected.promise
  })
  await isHeld.promise
  await setBack()
  isCorrected.resolve()
  await committed
  await retryAt(database.engine, second!, clock.in({ minutes: 1 }))
  assert.equal(await engine.deliver(), 0)
  await engine.correctTimes()
  assert.equal(await engine.deliver(), 1)
  await engine.settle()
  assert.equal(taken.length, 1)
  clock.advance({ minutes: 1 })
  assert.equal(await engine.deliver(), 1, 'the wait of a minute began after the step')
  await engine.settle()
})
