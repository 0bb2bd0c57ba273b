import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError } from '../../src/database/postgres-errors.ts'
import { decide } from '../../src/automation/decide.ts'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { isLockAwaited } from '../support/locks.ts'
import { asOwner } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { addBusiness, reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'
import { contentOf } from '../../src/email/message.ts'
import { readBody } from '../../src/store/message-bodies.ts'
import { retryTriggers } from '../../src/store/trigger-queue.ts'
import { until } from '../support/until.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

type Trigger = {
  eventTriggerId: number
  status: string
  statusReason: string | null
  completedTime: number | null
}

/** A reminder a day before with one mail to the client. */
async function remind({ businessId, save }: World, more: object = {}) {
  const template = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you, %CLIENT_FIRSTNAME%',
    emailBody: '<p>Dear %CLIENT_FULLNAME%, %APPT_START_TIME%</p>',
  })
  const { emailTemplateId } = template
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const definition = await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions: [action], ...more }),
  )
  return { emailTemplateId, eventDefnId: definition.eventDefnId as number }
}

const triggersOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body as Trigger[]

const mailsOf = ({ db }: World) =>
  db.query<{
    businessId: number
    to: string
    subject: string
    status: string
    message: Buffer
  }>(sql`
    select business_id as "businessId", to_address as "to", subject, status, message
    from email order by email_id`)

test('a reminder fires its offset before the appointment, and only once', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 72 }))

  world.clock.advance({ hours: 47, minutes: 59 })
  assert.equal(await runEngine(), 0)
  world.clock.advance({ minutes: 1 })
  assert.equal(await runEngine(), 1)
  assert.equal(await runEngine(), 0)

  const [trigger] = await triggersOf(world, booked)
  assert.equal(trigger!.status, 'COMPLETED')
  assert.equal(trigger!.completedTime, world.clock.now().epochMilliseconds)
  const [mail] = await mailsOf(world)
  assert.equal(mail!.to, 'anna@example.org')
  assert.equal(mail!.subject, 'See you, Anna')
  assert.equal(mail!.status, 'CAPTURED')
  const { html } = contentOf((await readBody(world.db, mail!.businessId, mail!.message)).text)
  assert.match(html!, /Dear Anna Müller/)
})

test('actions run in the order of their ids, and their mails get ids in the same order', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  const { eventDefnId, emailTemplateId } = await remind(world)
  const { businessId, save } = world
  const more = { actionType: 'SEND_EMAIL', active: true, businessId, eventDefnId, emailTemplateId }
  await save('/eventAction', { ...more, recipient: { value: 'staff' } })
  await save('/eventAction', { ...more, recipient: { value: 'business' } })
  await world.book(world.clock.in({ hours: 30 }))

  world.clock.advance({ hours: 6 })
  await runEngine()
  const made = await world.db.query<{ action: number }>(
    sql`select event_action_id as action from email order by email_id`,
  )
  assert.ok(made.length > 1)
  assert.deepEqual(
    made,
    made.toSorted((a, b) => a.action - b.action),
  )
})

test('the reminder of a cancelled appointment is not sent', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 72 }))
  await world.save('/calendar', { calendarId: booked.calendarId, status: 'CANCELLED' })
  world.clock.advance({ hours: 49 })
  assert.equal(await runEngine(), 0)
  assert.equal((await mailsOf(world)).length, 0)
})

test('a trigger without an active action, an active template or an address is skipped', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  const { businessId, clock, save } = world
  const bare = await save('/eventDefinition', reminder(businessId, -24))
  const { emailTemplateId } = await remind(world)
  await save('/client', { clientId: world.ids.clientId, emailAddress: null })
  const booked = await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  const reasons = async () =>
    (await triggersOf(world, booked)).map((one) => `${one.status}: ${one.statusReason}`)
  assert.deepEqual(await reasons(), [
    'SKIPPED: the definition has no active action; add one to send a mail',
    'SKIPPED: the recipient has no email address; add one',
  ])
  assert.ok(bare)

  await world.call('DELETE', `/emailTemplate/${emailTemplateId}`)
  const next = await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  const [, second] = await triggersOf(world, next)
  assert.equal(
    second!.statusReason,
    'the template is not active; activate it or choose another one',
  )
})

test('after an outage a reminder is sent until its appointment begins, and then expires', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  await remind(world)
  const late = await world.book(world.clock.in({ hours: 30 }))
  const gone = await world.book(world.clock.in({ hours: 26 }))
  world.clock.advance({ hours: 28 })
  assert.equal(await runEngine(), 2)
  assert.equal((await triggersOf(world, late))[0]!.status, 'COMPLETED')
  assert.equal((await triggersOf(world, gone))[0]!.status, 'EXPIRED')
  assert.equal((await mailsOf(world)).length, 1)
})

/** An engine with a worker of its own, which dies when it reads this object. */
function startCrashingEngine(world: World, calendarId: number) {
  const { engine } = world.database
  const isDeadly = ({ text, values }: Sql) =>
    text.includes('from calendar') &&
    values.some((value) => Array.isArray(value) && value.includes(calendarId))
  const database = {
    ...world.database,
    engine: {
      ...engine,
      transaction: <T>(work: (tx: Db) => Promise<T>) =>
        engine.transaction((tx) =>
          work({
            ...tx,
            query: (statement) => {
              if (isDeadly(statement)) throw new ConnectionError(new Error('Connection terminated'))
              return tx.query(statement)
            },
          }),
        ),
    },
  }
  return startEngine(world, { database })
}

test('another worker takes over when the lease of a dead one has expired', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await assert.rejects(startCrashingEngine(world, booked.calendarId).fire(), /terminated/)
  const { runEngine } = startEngine(world)
  assert.equal(await runEngine(), 0, 'the lease has not expired')
  world.clock.advance({ seconds: 11 })
  assert.equal(await runEngine(), 1)
  assert.equal((await triggersOf(world, booked))[0]!.status, 'COMPLETED')
})

/** Moves an appointment whose reminder a dead worker has claimed, so that it is due in an hour. */
async function moveWhileClaimed(world: World) {
  const { eventDefnId } = await remind(world, { triggerHours: -1 })
  const booked = await world.book(world.clock.in({ hours: 3 }))
  world.clock.advance({ hours: 2 })
  await assert.rejects(startCrashingEngine(world, booked.calendarId).fire(), /terminated/)
  const { calendarId } = booked
  const startTime = world.clock.in({ hours: 2 }).epochMilliseconds
  await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  return { booked, calendarId, eventDefnId }
}

test('a reminder that moved while a dead worker had claimed it is sent, however late the takeover is', async (t) => {
  const world = await enterWorld(t)
  const { booked, calendarId } = await moveWhileClaimed(world)
  // It is due in an hour, when no worker runs. Then its appointment gets a note.
  world.clock.advance({ minutes: 90 })
  await world.save('/calendar', { calendarId, note: 'by the window' })
  const { sweep, runEngine } = startEngine(world)
  await runEngine()
  await sweep()
  await runEngine()
  const statuses = (await triggersOf(world, booked)).map((trigger) => trigger.status)
  assert.deepEqual(statuses, ['COMPLETED'])
})

test('a reminder whose definition changed while a dead worker had claimed it is sent', async (t) => {
  const world = await enterWorld(t)
  const { eventDefnId } = await remind(world, { triggerHours: 1 })
  const redefine = (triggerHours: number, description: string) =>
    world.save(
      '/eventDefinition',
      reminder(world.businessId, triggerHours, { eventDefnId, description }),
    )
  const booked = await world.book(world.clock.in({ hours: 1 }))
  world.clock.advance({ hours: 2 })
  await assert.rejects(startCrashingEngine(world, booked.calendarId).fire(), /terminated/)
  await redefine(2, 'Two hours after')
  // It is due in an hour, when no worker runs. Then the definition is only renamed.
  world.clock.advance({ minutes: 90 })
  await redefine(2, 'How was it?')
  const { sweep, runEngine } = startEngine(world)
  await runEngine()
  await sweep()
  await runEngine()
  const statuses = (await triggersOf(world, booked)).map((trigger) => trigger.status)
  assert.deepEqual(statuses, ['COMPLETED'])
})

for (const [what, saveAgain] of Object.entries({
  'its object': (world: World, calendarId: number) =>
    world.save('/calendar', { calendarId, note: 'by the window' }),
  'its definition': (world: World, _: number, eventDefnId: number) =>
    world.save(
      '/eventDefinition',
      reminder(world.businessId, -1, { eventDefnId, description: '…' }),
    ),
})) {
  test(`a reminder that moved while a dead worker had claimed it is sent, also if ${what} is saved after the takeover`, async (t) => {
    const world = await enterWorld(t)
    const { booked, calendarId, eventDefnId } = await moveWhileClaimed(world)
    world.clock.advance({ minutes: 90 })
    const { takeOver, runEngine } = startEngine(world)
    await takeOver()
    await saveAgain(world, calendarId, eventDefnId)
    await runEngine()
    const statuses = (await triggersOf(world, booked)).map((trigger) => trigger.status)
    assert.deepEqual(statuses, ['COMPLETED'])
  })
}

test('a trigger that crashes three workers in a batch of its own is given up, the others are sent', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const good = await world.book(world.clock.in({ hours: 25 }))
  const deadly = await world.book(world.clock.in({ hours: 25 }))
  const alsoGood = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  let died = 0
  for (let round = 0; round < 8; round += 1) {
    const { takeOver, fire } = startCrashingEngine(world, deadly.calendarId)
    // A worker retries failed triggers once it has been up for a lease.
    world.clock.advance({ seconds: 11 })
    await takeOver()
    for (let fired = 1; fired > 0;) fired = await fire().catch(() => ((died += 1), 0))
  }
  world.clock.advance({ seconds: 11 })
  await startEngine(world).takeOver()
  assert.equal(died, 4, 'once with all triggers claimed, three times with this one alone')
  for (const { calendarId } of [good, alsoGood]) {
    assert.equal((await triggersOf(world, { calendarId }))[0]!.status, 'COMPLETED')
  }
  const [trigger] = await triggersOf(world, deadly)
  assert.equal(trigger!.status, 'FAILED')
  assert.match(trigger!.statusReason!, /^gave up after 3 failed attempts: the worker died/)
})

test('a trigger that always fails is retried and given up, however busy its worker is', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const bad = await world.book(world.clock.in({ hours: 25 }))
  const others = []
  for (let i = 0; i < 14; i += 1)
    others.push(await world.book(world.clock.in({ hours: 25, seconds: 5 * i })))
  world.clock.advance({ hours: 1 })
  const busy = startEngine(world, {
    decide: (trigger, ...rest) => {
      if (trigger.objectId === bad.calendarId) throw new Error('a fault')
      return decide(trigger, ...rest)
    },
  })
  // The worker has a trigger to fire every 5 s, and its lease is 10 s.
  for (let turn = 0; turn < 14; turn += 1) {
    await busy.takeOver()
    await busy.fire()
    await busy.heartbeat()
    world.clock.advance({ seconds: 5 })
  }
  for (const { calendarId } of others)
    assert.equal((await triggersOf(world, { calendarId }))[0]!.status, 'COMPLETED')
  const [trigger] = await triggersOf(world, bad)
  assert.equal(trigger!.status, 'FAILED')
  assert.match(trigger!.statusReason!, /^gave up after 3 failed attempts: a fault$/)
})

test('workers that die again and again for another reason do not make triggers fail', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = []
  for (let i = 0; i < 4; i += 1) booked.push(await world.book(world.clock.in({ hours: 25 })))
  world.clock.advance({ hours: 1 })
  // Each worker dies in its first transaction, whatever it has claimed.
  let died = 0
  for (let death = 0; death < 20; death += 1) {
    const { engine } = world.database
    const { fire } = startEngine(world, {
      database: {
        ...world.database,
        engine: {
          ...engine,
          transaction: () =>
            Promise.reject(new ConnectionError(new Error('Connection terminated'))),
        },
      },
    })
    await startEngine(world).takeOver()
    await fire().catch(() => (died += 1))
    world.clock.advance({ seconds: 11 })
  }
  assert.equal(died, 1 + 4 * 2, 'workers that have just started do not make the last attempt')
  const healthy = startEngine(world)
  assert.equal(await healthy.runEngine(), 0, 'nor does one that has not been up for a lease')
  world.clock.advance({ seconds: 10 })
  assert.equal(await healthy.runEngine(), 4)
  for (const { calendarId } of booked) {
    assert.equal((await triggersOf(world, { calendarId }))[0]!.status, 'COMPLETED')
  }
})

test('a node that has just started fires the triggers of a dead node when the lease of that node ends', async (t) => {
  const world = await startWorld(t)
  await remind(world)
  for (let i = 0; i < 3; i += 1) await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  const { engine } = world.database
  const lost = new ConnectionError(new Error('Connection terminated'))
  const transaction = () => Promise.reject(lost)
  const dying = { ...world.database, engine: { ...engine, transaction } }
  await assert.rejects(startEngine(world, { database: dying }).fire(), /terminated/)

  world.clock.advance({ seconds: 8 })
  const { loops } = startEngine(world, { leaseSeconds: 10 })
  const fireAll = async () => {
    await loops.takeover.runOnce()
    let fired = 0
    for (let some; (some = await loops.retry[0]!.runOnce()) > 0;) fired += some
    return fired
  }
  assert.equal(await fireAll(), 0)
  assert.equal(await fireAll(), 0, 'the lease has not ended')
  world.clock.advance({ seconds: 3 })
  assert.equal(await fireAll(), 3)
})

test('a worker that loses the database retries its triggers at once, without a failed attempt', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  let isDown = true
  const { engine } = world.database
  const { fire } = startEngine(world, {
    database: {
      ...world.database,
      engine: {
        ...engine,
        transaction: (work) => {
          if (isDown) throw new ConnectionError(new Error('Connection terminated'))
          return engine.transaction(work)
        },
      },
    },
  })
  for (let i = 0; i < 5; i += 1) await assert.rejects(fire(), /terminated/)
  isDown = false
  assert.equal(await fire(), 1)
  assert.equal((await triggersOf(world, booked))[0]!.status, 'COMPLETED')
})

test('a trigger that is updated while its retry begins is freed all the same', async (t) => {
  const world = await startWorld(t)
  const { database, businessId } = world
  await remind(world)
  const [trigger] = await triggersOf(world, await world.book(world.clock.in({ hours: 25 })))
  const { eventTriggerId } = trigger!
  const worker = 'worker of this test'
  await world.db.query(sql`update pending_trigger set worker = ${worker}`)
  // The retry has its snapshot when it evaluates the policy, and has not locked the row yet.
  await asOwner(
    database,
    `create function public.wait_for_update() returns boolean language plpgsql
     set lock_timeout = '10s' as
     $$ begin perform pg_advisory_xact_lock_shared(4711); return true; end $$`,
    'alter policy bellwether_engine on pending_trigger using (public.wait_for_update())',
  )
  const failed = { worker, isFault: true, lastError: 'a fault', retrySeconds: 10 }
  let retried: Promise<boolean> | undefined
  await world.db.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(4711)`)
    const keys = [{ businessId, eventTriggerId }]
    retried = retryTriggers(database.engine, keys, { ...failed, now: world.clock.now() })
    await until(() => isLockAwaited(database.operator))
    await tx.query(sql`update pending_trigger set modified_user = 'olga'`)
  })
  assert.equal(await retried, false)
  assert.deepEqual(
    await world.db.query(sql`select worker, last_error as "lastError" from pending_trigger`),
    [{ worker: null, lastError: 'a fault' }],
  )
})

test('a burst from one business does not delay the others', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  await remind(world)
  await remind({ ...world, ...other })
  // Due before the other's, and more than many batches hold.
  for (let i = 0; i < 40; i += 1) await world.book(world.clock.in({ hours: 25 }))
  await other.book(world.clock.in({ hours: 25, seconds: 1 }))
  world.clock.advance({ hours: 1, seconds: 1 })
  const { fire } = startEngine(world, { batchSize: 5 })
  await fire()
  await fire()
  const [sent] = await other.db.query<{ count: number }>(
    sql`select count(*) from email where business_id = ${other.businessId}`,
  )
  assert.equal(sent!.count, 1)
})

test('a business with a full email queue is throttled, others are not, and it continues in order', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  await remind(world)
  await remind({ ...world, ...other })
  const booked: { calendarId: number }[] = []
  for (const minutes of [4, 1, 3, 2, 0]) {
    booked[minutes] = await world.book(world.clock.in({ hours: 25, minutes }))
  }
  await other.book(world.clock.in({ hours: 25, minutes: 5 }))
  world.clock.advance({ hours: 1, minutes: 5 })
  const { mailer } = scripted()
  const settings = { captures: false, mailer, batchSize: 2, maxQueuedEmails: 1 }
  const { fire, deliver, settle } = startEngine(world, settings)
  const next = () => {
    world.clock.advance({ seconds: 1 })
    return fire()
  }
  const states = () =>
    Promise.all(booked.map(async (one) => (await triggersOf(world, one))[0]!.status))
  const pending = ['SCHEDULED', 'SCHEDULED', 'SCHEDULED']

  assert.equal(await next(), 2)
  assert.deepEqual(await states(), ['RUNNING', 'RUNNING', ...pending])
  assert.equal(await next(), 1, 'the other business')
  assert.equal(await next(), 0)
  assert.deepEqual(await states(), ['RUNNING', 'RUNNING', ...pending])
  await deliver()
  await settle()
  assert.equal(await next(), 2)
  const done = ['COMPLETED', 'COMPLETED']
  assert.deepEqual(await states(), [...done, 'RUNNING', 'RUNNING', 'SCHEDULED'])
})

test('a full sweep finds a trigger that was skipped while later ones fired', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const { fire, sweep, runEngine } = startEngine(world)
  const early = await world.book(world.clock.in({ hours: 25 }))
  await world.book(world.clock.in({ hours: 26 }))
  world.clock.advance({ hours: 2 })
  // Another transaction locks the first trigger, so the engine skips it.
  await world.db.transaction(async (tx) => {
    await tx.query(
      sql`select from pending_trigger where object_id = ${early.calendarId} for update`,
    )
    assert.equal(await fire(), 1)
  })
  assert.equal(await fire(), 0, 'a claim does not read earlier rows again')
  assert.equal(await sweep(), 1)
  assert.equal(await runEngine(), 1)
})

test('if one mail of a batch exists already, its trigger completes too, and nothing is sent twice', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = []
  for (let i = 0; i < 5; i += 1) booked.push(await world.book(world.clock.in({ hours: 25 })))
  const third = booked[2]!
  // The service never creates this state: the mail is written, and its trigger is still pending.
  const { eventTriggerId } = (await triggersOf(world, third))[0]!
  await asOwner(
    world.database,
    'set session_replication_role = replica',
    `insert into email (business_id, email_id, event_trigger_id, event_action_id, object_type, object_id,
                       client_id, recipient_key, to_address, from_address, subject, message_id, status, created_date)
    select t.business_id, nextval('email_email_id_seq'), t.event_trigger_id, a.event_action_id, t.object_type,
           t.object_id, c.client_id, 'client ' || c.client_id, 'anna@example.org', 'a@b.c', 'Before', '<1>',
           'CAPTURED', '${world.clock.now()}'
    from pending_trigger t
    join event_action a using (business_id, event_defn_id)
    join calendar c on (c.business_id, c.calendar_id) = (t.business_id, t.object_id)
    where t.event_trigger_id = ${eventTriggerId}`,
  )
  world.clock.advance({ hours: 1 })

  const engine = startEngine(world)
  assert.equal(await engine.fire(), 5)
  for (const { calendarId } of booked) {
    const [trigger] = await triggersOf(world, { calendarId })
    assert.equal(trigger!.status, 'COMPLETED', String(calendarId))
    const { body } = await world.call('GET', `/emails/calendar/${calendarId}`)
    assert.deepEqual(
      body.map((mail: { subject: string }) => mail.subject),
      [calendarId === third.calendarId ? 'Before' : 'See you, Anna'],
    )
  }
  assert.ok(engine.errors.length > 0, 'it is reported')
})

test('a frozen worker that wakes after its lease writes nothing', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  const other = startEngine(world)
  const frozen = startEngine(world, {
    database: {
      ...world.database,
      engine: {
        ...world.database.engine,
        // After the claim its lease expires, and another worker fires the trigger.
        transaction: async (work) => {
          world.clock.advance({ seconds: 11 })
          assert.equal(await other.runEngine(), 1)
          return world.database.engine.transaction(work)
        },
      },
    },
  })
  assert.equal(await frozen.fire(), 1)
  assert.equal((await mailsOf(world)).length, 1)
})

test('a clock that is set back between claim and firing sends nothing early', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  const { engine } = world.database
  const { fire } = startEngine(world, {
    database: {
      ...world.database,
      engine: {
        ...engine,
        transaction: (work) => {
          world.clock.advance({ minutes: -1 })
          return engine.transaction(work)
        },
      },
    },
  })
  await fire()
  assert.equal((await triggersOf(world, booked))[0]!.status, 'SCHEDULED')
  assert.deepEqual(await mailsOf(world), [])
  world.clock.advance({ minutes: 1 })
  assert.equal(await startEngine(world).runEngine(), 1)
  assert.equal((await triggersOf(world, booked))[0]!.status, 'COMPLETED')
})

test('a pending trigger can be fired or cancelled manually; a finished one is a conflict', async (t) => {
  const world = await enterWorld(t)
  const { runEngine } = startEngine(world)
  await remind(world)
  const first = await world.book(world.clock.in({ hours: 72 }))
  const second = await world.book(world.clock.in({ hours: 72 }))
  const [one] = await triggersOf(world, first)
  const [two] = await triggersOf(world, second)

  const fired = await world.call('POST', `/eventTriggers/${one!.eventTriggerId}/fire`)
  assert.equal(fired.status, 200, JSON.stringify(fired.body))
  assert.equal(await runEngine(), 1)
  assert.equal((await triggersOf(world, first))[0]!.status, 'COMPLETED')
  const again = await world.call('POST', `/eventTriggers/${one!.eventTriggerId}/fire`)
  assert.equal(again.status, 409)
  assert.equal((await world.call('POST', '/eventTriggers/999999/cancel')).status, 404)

  const ids = [one!.eventTriggerId, two!.eventTriggerId, 999_999]
  const { body } = await world.call('POST', '/eventTriggers/cancel', { ids })
  assert.deepEqual(body.done, [two!.eventTriggerId])
  assert.deepEqual(
    body.refused.map((one: { status: number }) => one.status),
    [409, 404],
  )

  await world.save('/calendar', { calendarId: second.calendarId, note: 'still coming' })
  assert.deepEqual(
    (await triggersOf(world, second)).map((one) => one.status),
    ['CANCELLED'],
    'what a person cancelled stays cancelled',
  )
})

test('a trigger that was fired manually and then moved is checked again at its new time', async (t) => {
  const world = await enterWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 72 }))
  const [{ eventTriggerId }] = (await triggersOf(world, booked)) as [Trigger]
  await world.call('POST', `/eventTriggers/${eventTriggerId}/fire`)
  const startTime = world.clock.in({ hours: 96 }).epochMilliseconds
  const { calendarId } = booked
  await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  // No worker ran before the appointment began.
  world.clock.advance({ hours: 97 })
  await startEngine(world).runEngine()
  assert.equal((await triggersOf(world, booked))[0]!.status, 'EXPIRED')
})

test('a claimed reminder is cancelled if its definition is now for another event type', async (t) => {
  for (const eventTypeId of [1, 2]) {
    const world = await enterWorld(t)
    const { eventDefnId } = await remind(world)
    const booked = await world.book(world.clock.in({ hours: 25 }))
    world.clock.advance({ hours: 1 })
    await assert.rejects(startCrashingEngine(world, booked.calendarId).fire(), /terminated/)
    const eventType = { eventTypeId }
    await world.save('/eventDefinition', reminder(world.businessId, 0, { eventDefnId, eventType }))
    const { runEngine } = startEngine(world)
    world.clock.advance({ seconds: 11 })
    await runEngine()
    const [trigger] = await triggersOf(world, booked)
    assert.equal(trigger!.statusReason, 'the definition is now for another event type')
    assert.equal(trigger!.status, 'CANCELLED')
  }
})
