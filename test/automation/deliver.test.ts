import { ConnectionError } from '../../src/database/postgres-errors.ts'
import { SUPPRESSED_REASONS } from '../../src/contract/reasons.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { Mailer, Outcome } from '../../src/email/mailer.ts'
import { claimDueEmails, allowMessageEnds } from '../../src/store/email-queue.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { asOwner } from '../support/owner.ts'
import { mailerParts, scripted } from '../support/scripted-mailer.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { addBusiness, reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** One reminder that is due now, with one mail to the client. */
async function due(world: World, mailer: Mailer, category: object = {}, triggerHours = -24) {
  const { businessId, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    ...PLAIN_TEMPLATE,
    ...category,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, triggerHours, { eventActions: [action] }))
  const booked = await world.book(clock.in({ hours: 24 - triggerHours }))
  clock.advance({ hours: 24 })
  const engine = startEngine(world, { mailer, captures: false })
  return { ...engine, booked }
}

const mailOf = async ({ db }: World) =>
  (
    await db.query<{ status: string; reason: string; next: Temporal.Instant; attempts: object[] }>(
      sql`
        select case when exists (select from email_queue where worker is not null) then 'SENDING' else status end as status,
               status_reason as reason, next_attempt_time as next, attempts from email`,
    )
  )[0]!

const triggersOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body as {
    status: string
    statusReason: string | null
  }[]

const triggerOf = async (world: World, booked: { calendarId: number }) =>
  (await triggersOf(world, booked))[0]!

test('a mail that the server accepts completes its trigger', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted()
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
  assert.match(taken[0]!.message.headers, /Message-ID: <\d+\.\d+\.[0-9a-f]{24}@localhost>/)
  assert.match(taken[0]!.message.body, /text\/calendar; charset=utf-8; method=PUBLISH/)
})

test('a mail that is refused temporarily is retried after 1 and then 4 minutes', async (t) => {
  const world = await enterWorld(t)
  const busy: Outcome = { kind: 'retry', phase: 'rcpt', reply: '451 busy' }
  const { mailer, taken } = scripted(busy, busy)
  const { runEngine, booked } = await due(world, mailer)
  const start = world.clock.now()
  await runEngine()
  const after = (minutes: number) => String(start.add({ minutes }))
  const listed = async (status: string) =>
    (await world.call('GET', `/emails?status=${status}`)).body.items.length
  assert.equal((await mailOf(world)).status, 'RETRYING')
  assert.deepEqual(await Promise.all(['QUEUED', 'RETRYING', 'SENT'].map(listed)), [0, 1, 0])
  assert.equal(String((await mailOf(world)).next), after(1))
  assert.equal((await triggerOf(world, booked)).status, 'RUNNING')
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(String((await mailOf(world)).next), after(5))
  world.clock.advance({ minutes: 4 })
  await runEngine()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).attempts.length, 3)
  assert.deepEqual(await Promise.all(['QUEUED', 'RETRYING', 'SENT'].map(listed)), [0, 0, 1])
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
})

test('a permanent refusal fails the trigger with the reply of the server', async (t) => {
  const world = await enterWorld(t)
  const gone: Outcome = { kind: 'failed', phase: 'rcpt', reply: '550 5.1.1 no such user' }
  const { runEngine, booked } = await due(world, scripted(gone).mailer)
  await runEngine()
  assert.equal((await mailOf(world)).status, 'FAILED')
  assert.deepEqual(
    (await triggersOf(world, booked)).map((one) => `${one.status} ${one.statusReason}`),
    ['FAILED 550 5.1.1 no such user'],
  )
  const next = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await runEngine()
  assert.equal((await triggerOf(world, next)).statusReason, SUPPRESSED_REASONS.BOUNCED)
})

const REFUSALS_OF_ONE_MAIL = [
  '550 5.7.1 Service unavailable; client host [192.0.2.1] blocked using a block list',
  '550-5.7.26 unauthenticated mail\n550 5.7.26 is refused',
  '552 5.2.2 mailbox full',
  '550 5.1.8 sender address rejected: domain not found',
  '550 relaying denied',
]

for (const reply of REFUSALS_OF_ONE_MAIL) {
  test(`a refusal does not suppress the address unless the mailbox does not exist: ${reply}`, async (t) => {
    const world = await enterWorld(t)
    const { mailer } = scripted({ kind: 'failed', phase: 'rcpt', reply })
    const { runEngine, booked } = await due(world, mailer)
    await runEngine()
    assert.equal((await triggerOf(world, booked)).status, 'FAILED')
    assert.deepEqual((await world.call('GET', '/suppression')).body.items, [])
    const next = await world.book(world.clock.in({ hours: 25 }))
    world.clock.advance({ hours: 1 })
    await runEngine()
    assert.equal((await triggerOf(world, next)).status, 'COMPLETED')
  })
}

test('a reminder cancelled while its mail waits for a retry is not sent', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  await world.save('/calendar', { calendarId: booked.calendarId, status: 'CANCELLED' })
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  assert.equal((await mailOf(world)).status, 'CANCELLED')
  assert.equal((await triggerOf(world, booked)).status, 'CANCELLED')
})

test('a reminder moved while its mail waits for a retry is sent at its new time', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  const startTime = world.clock.in({ hours: 96 }).epochMilliseconds
  const { calendarId } = booked
  await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  assert.deepEqual(
    (await triggersOf(world, booked)).map((one) => one.status),
    ['CANCELLED', 'SCHEDULED'],
  )
  world.clock.advance({ hours: 72 })
  await runEngine()
  assert.equal(taken.length, 1)
})

test('a mail whose answer is lost is UNCERTAIN, and is sent again with the same bytes', async (t) => {
  const world = await enterWorld(t)
  const lost: Outcome = { kind: 'uncertain', phase: 'end', reply: 'connection lost' }
  const { mailer, taken } = scripted(lost)
  const { runEngine } = await due(world, mailer)
  await runEngine()
  assert.equal((await mailOf(world)).status, 'UNCERTAIN')
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.equal(taken.length, 2)
  assert.deepEqual(taken[0]!.message, taken[1]!.message)
})

test('an uncertain mail that no longer applies fails, and its reminder is not sent again', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'uncertain', phase: 'end', reply: 'connection lost' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  const { calendarId } = booked
  await world.save('/calendar', { calendarId, status: 'CANCELLED' })
  world.clock.advance({ minutes: 1 })
  await runEngine()
  const { status, reason } = await mailOf(world)
  assert.equal(status, 'FAILED')
  assert.match(reason, /^it may have been delivered, and was not sent again: .*CANCELLED/)
  assert.equal((await triggerOf(world, booked)).status, 'FAILED')
  await world.save('/calendar', { calendarId, status: 'OPEN' })
  await runEngine()
  assert.equal((await triggersOf(world, booked)).length, 1)
  assert.equal(taken.length, 1)
})

test('an uncertain mail stays uncertain when a later attempt is refused temporarily', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted(
    { kind: 'uncertain', phase: 'end', reply: 'connection lost' },
    { kind: 'retry', phase: 'rcpt', reply: '451 busy' },
  )
  const { runEngine } = await due(world, mailer)
  await runEngine()
  world.clock.advance({ minutes: 1 })
  await runEngine()
  const { status, reason } = await mailOf(world)
  assert.deepEqual([status, reason], ['UNCERTAIN', '451 busy'])
})

test('temporary refusals do not count as repeats of a mail whose answer was lost', async (t) => {
  const world = await enterWorld(t)
  const busy: Outcome = { kind: 'retry', phase: 'end', reply: '451 busy' }
  const lost: Outcome = { kind: 'uncertain', phase: 'end', reply: 'connection lost' }
  const times = (count: number, outcome: Outcome) => Array.from({ length: count }, () => outcome)
  const { mailer, taken } = scripted(...times(12, busy), ...times(10, lost), busy, lost)
  const { runEngine } = await due(world, mailer)
  const statuses: string[] = []
  for (let attempt = 1; attempt <= 24; attempt += 1) {
    await runEngine()
    statuses.push((await mailOf(world)).status)
    world.clock.advance({ minutes: 30 })
  }
  assert.deepEqual(statuses.slice(0, 12), Array(12).fill('RETRYING'))
  assert.deepEqual(statuses.slice(12, 23), Array(11).fill('UNCERTAIN'))
  assert.equal(statuses[23], 'FAILED', 'it was sent again ten times')
  assert.equal(taken.length, 11)
  assert.match((await mailOf(world)).reason, /^it may have been delivered/)
})

test('a mail is RETRYING if its worker dies before the end of the message, and UNCERTAIN if after', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted()
  const { runEngine } = await due(world, mailer)
  const die = (ended: boolean) =>
    world.database.engine.query(sql`
      with lease as (
        insert into worker_lease values ('dead', ${world.clock.now().subtract({ seconds: 1 })}))
      update email_queue
      set worker = 'dead', next_attempt_time = ${world.clock.now().subtract({ seconds: 2 })},
          message_ended = ${ended}, epoch = (select epoch from server_epoch)`)
  const engine = startEngine(world, { mailer, captures: false })
  await engine.takeOver()
  await engine.fire()
  await die(false)
  await engine.takeOver()
  assert.equal((await mailOf(world)).status, 'RETRYING')
  await die(true)
  await engine.takeOver()
  assert.equal((await mailOf(world)).status, 'UNCERTAIN')
  const { items } = (await world.call('GET', '/emails?status=UNCERTAIN')).body
  assert.equal(items.length, 1)
  await runEngine()
  assert.equal(taken.length, 1)
})

test('a reminder is retried until its appointment begins, and then fails with the last answer', async (t) => {
  const world = await enterWorld(t)
  const busy: Outcome = { kind: 'retry', phase: 'rcpt', reply: '451 busy' }
  const { mailer } = scripted(...Array.from({ length: 20 }, () => busy))
  const { runEngine, booked } = await due(world, mailer, {}, -1)
  const waits: number[] = []
  for (;;) {
    await runEngine()
    const { next } = await mailOf(world)
    if (!next) break
    const milliseconds = next.epochMilliseconds - world.clock.now().epochMilliseconds
    waits.push(milliseconds / 60_000)
    world.clock.advance({ milliseconds })
  }
  assert.deepEqual(waits, [1, 4, 9, 16, 25, 5])
  assert.equal(world.clock.now().epochMilliseconds, booked.startTime)
  const { status, reason, attempts } = await mailOf(world)
  assert.equal(`${status} ${reason}`, 'FAILED gave up after 6 attempts: 451 busy')
  assert.equal(attempts.length, 6, 'no attempt after the appointment began')
  assert.equal((await triggerOf(world, booked)).status, 'FAILED')
})

test('a mail is given up when the eleventh worker that sends it dies', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted()
  const { fire, takeOver, runEngine } = await due(world, mailer)
  await takeOver()
  await fire()
  for (let death = 1; death <= 11; death++) {
    await world.database.engine.query(sql`
      with lease as (
        insert into worker_lease values ('dead', ${world.clock.now().subtract({ seconds: 1 })}))
      update email_queue
      set worker = 'dead', next_attempt_time = ${world.clock.now().subtract({ seconds: 2 })},
          epoch = (select epoch from server_epoch)`)
    await takeOver()
  }
  await runEngine()
  assert.equal(taken.length, 0)
  const { status, reason } = await mailOf(world)
  assert.equal(
    `${status} ${reason}`,
    'FAILED gave up after 11 attempts: the worker stopped before it recorded the answer',
  )
})

test('an address that bounced while its mail waited for a retry gets nothing', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  await world.db.query(sql`
    insert into suppression (business_id, email_address, reason, created_date, created_user)
    values (${world.businessId}, 'anna@example.org', 'BOUNCED', ${world.clock.now()}, 'SYSTEM')`)
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  assert.equal((await mailOf(world)).status, 'SUPPRESSED')
  const trigger = await triggerOf(world, booked)
  assert.equal(
    `${trigger.status} ${trigger.statusReason}`,
    'SKIPPED an earlier mail to this address bounced; correct the address or delete its suppression',
  )
})

test('a recipient who unsubscribes while a mail is retried gets only transactional mail', async (t) => {
  for (const transactional of [true, false]) {
    const world = await enterWorld(t)
    const { emailCategoryId } = await world.save('/emailCategory', { name: 'News', transactional })
    const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
    const { runEngine } = await due(world, mailer, { emailCategoryId })
    await runEngine()
    await world.db.query(sql`
      insert into suppression (business_id, email_address, reason, created_date, created_user)
      values (${world.businessId}, 'anna@example.org', 'UNSUBSCRIBED', ${world.clock.now()}, 'SYSTEM')`)
    world.clock.advance({ minutes: 1 })
    await runEngine()
    assert.equal(taken.length, transactional ? 1 : 0)
    assert.equal((await mailOf(world)).status, transactional ? 'SENT' : 'SUPPRESSED')
  }
})

test('a reminder that cannot be sent before its appointment begins is not sent after', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  world.clock.advance({ hours: 24 })
  await runEngine()
  assert.equal(taken.length, 0)
  const { status, reason } = await mailOf(world)
  assert.equal(`${status} ${reason}`, 'FAILED gave up after 1 attempt: refused')
  assert.equal((await triggerOf(world, booked)).status, 'FAILED')
})

test('a business that is no longer active sends nothing', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  const next = await world.book(world.clock.in({ hours: 25 }))
  await runEngine()
  const setActive = (active: boolean) =>
    world.database.operator.query(sql`update business set active = ${active}`)
  await setActive(false)
  world.clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  const { status, reason } = await mailOf(world)
  assert.equal(`${status} ${reason}`, 'CANCELLED the business is not active')
  await setActive(true)
  assert.equal((await triggerOf(world, booked)).status, 'CANCELLED')
  const trigger = await triggerOf(world, next)
  assert.equal(`${trigger.status} ${trigger.statusReason}`, 'SKIPPED the business is not active')
})

test('a burst of mails from one business does not delay the mail of another', async (t) => {
  const world = await startWorld(t)
  const { mailer, taken } = scripted()
  const { fire, deliver, settle } = await due(world, mailer)
  await fire()
  // A thousand copies of its own mail.
  await world.database.engine.query(sql`
    with burst as (
      insert into email (business_id, to_address, from_address, subject, message, message_id, status,
                         next_attempt_time, created_date)
      select business_id, 'burst@example.org', from_address, subject, message, '<' || n || '@burst>',
             'QUEUED', created_date - interval '1 hour', created_date
      from email, generate_series(1, 1000) n
      returning business_id, email_id, next_attempt_time, created_date, created_date + interval '72 hours'
    )
    insert into email_queue (business_id, email_id, next_attempt_time, created_date, useful_until)
    select * from burst`)
  await deliver()
  await settle()
  const other = { ...world, ...(await addBusiness(world)) }
  await due(other, mailer).then((one) => one.fire())
  taken.length = 0
  await deliver()
  await settle()
  assert.ok(taken.some((mail) => mail.to === 'anna@example.org'))
  assert.ok(taken.length <= 10)
})

test('only the leases of workers whose mails are being sent are renewed', async (t) => {
  const world = await enterWorld(t)
  const answer = Promise.withResolvers<Outcome>()
  const mailer: Mailer = { ...mailerParts, send: () => answer.promise }
  const engine = await due(world, mailer)
  await engine.fire()
  await engine.deliver()
  const other = startEngine(world, { mailer: scripted().mailer, captures: false })
  for (let i = 0; i < 5; i++) {
    world.clock.advance({ seconds: 8 })
    await engine.heartbeat()
    assert.equal(await other.takeOver(), 0)
  }
  answer.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await engine.settle()
  assert.equal((await mailOf(world)).status, 'SENT')

  const lost = `${engine.worker} 99`
  await world.database.engine.query(sql`
    with again as (
      update email set status = 'QUEUED', sent_time = null, next_attempt_time = created_date
      returning business_id, email_id, created_date
    ), lease as (insert into worker_lease values (${lost}, ${world.clock.in({ seconds: 5 })}))
    insert into email_queue (business_id, email_id, created_date, next_attempt_time, useful_until, worker, epoch)
    select business_id, email_id, created_date, created_date, created_date + interval '72 hours', ${lost},
           (select epoch from server_epoch) from again`)
  world.clock.advance({ seconds: 8 })
  await engine.heartbeat()
  await other.takeOver()
  assert.equal((await mailOf(world)).status, 'RETRYING')
})

test('a stopped worker releases the mails that it has not ended', async (t) => {
  const world = await enterWorld(t)
  const begun = Promise.withResolvers<void>()
  const resume = Promise.withResolvers<void>()
  const slow: Mailer = {
    async send(mail) {
      begun.resolve()
      await resume.promise
      const ended = await mail.beforeMessageEnd().then(
        () => true,
        () => false,
      )
      assert.equal(ended, false, 'the end of the message must not be sent twice')
      return { kind: 'retry', phase: 'body', reply: 'not ended' }
    },
    ...mailerParts,
  }
  await due(world, slow)
  const engine = startEngine(world, { mailer: slow, captures: false, maxStopWaitMs: 50 })
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  await begun.promise
  stopping.abort()
  await stopped
  assert.equal((await mailOf(world)).status, 'QUEUED')
  const { mailer, taken } = scripted()
  await startEngine(world, { mailer, captures: false }).runEngine()
  assert.equal(taken.length, 1)
  resume.resolve()
  await engine.settle()
  assert.equal((await mailOf(world)).status, 'SENT')
})

/** A mailer that waits before the end of the message until `resume` is called. */
function holding() {
  const begun = Promise.withResolvers<void>()
  const resume = Promise.withResolvers<void>()
  const ended: boolean[] = []
  const mailer: Mailer = {
    async send(mail) {
      begun.resolve()
      await resume.promise
      const isEnded = await mail.beforeMessageEnd().then(
        () => true,
        () => false,
      )
      ended.push(isEnded)
      return isEnded
        ? { kind: 'sent', phase: 'end', reply: '250 taken' }
        : { kind: 'retry', phase: 'body', reply: 'not ended' }
    },
    ...mailerParts,
  }
  return { mailer, begun: begun.promise, resume: () => resume.resolve(), ended }
}

test('a mail that a worker has claimed is shown as SENDING everywhere', async (t) => {
  const world = await enterWorld(t)
  const { mailer, begun, resume } = holding()
  const engine = await due(world, mailer)
  await engine.fire()
  const listed = async (query: string) =>
    (await world.call('GET', `/emails?${query}`)).body.items.map(
      (mail: { status: string }) => mail.status,
    )
  assert.deepEqual(await listed('status=QUEUED'), ['QUEUED'])
  assert.deepEqual(await listed('status=SENDING'), [])
  await engine.deliver()
  await begun
  assert.deepEqual(await listed(''), ['SENDING'])
  assert.deepEqual(await listed('status=SENDING'), ['SENDING'])
  assert.deepEqual(await listed('status=QUEUED'), [])
  assert.deepEqual((await world.call('GET', '/overview')).body.emailsOfLastDay, { SENDING: 1 })
  resume()
  await engine.settle()
  assert.deepEqual(await listed('status=SENT'), ['SENT'])
})

test('a mail whose client is erased while it is being sent is not sent', async (t) => {
  const world = await enterWorld(t)
  const { mailer, begun, resume, ended } = holding()
  const engine = await due(world, mailer)
  await engine.fire()
  await engine.deliver()
  await begun
  const { database, businessId, ids, clock } = world
  await eraseClient(database, { businessId, clientId: ids.clientId }, clock.now())
  resume()
  await engine.settle()
  assert.deepEqual(ended, [false])
  assert.equal((await mailOf(world)).status, 'CANCELLED')
})

test('a mail that is being claimed while its client is erased is not sent either', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted()
  const { fire } = await due(world, mailer)
  await fire()
  const { database, businessId, ids, clock } = world
  const now = clock.now()
  const { claimed, erased } = await database.engine.transaction(async (tx) => {
    const claim = { worker: 'w 1', now, leaseUntil: now.add({ seconds: 10 }), limit: 10 }
    const claimed = await claimDueEmails(tx, claim)
    // In an object, so that the promise is not awaited here.
    const erased = { done: eraseClient(database, { businessId, clientId: ids.clientId }, now) }
    await until(() => isLockAwaited(database.engine))
    return { claimed, erased }
  })
  assert.equal((await erased.done)?.email, 1)
  assert.deepEqual(await allowMessageEnds(database.engine, claimed), [false])
  assert.deepEqual(await database.engine.query(sql`select from email_queue`), [])
  assert.equal((await mailOf(world)).status, 'CANCELLED')
})

test('a trigger ends when its last queued mail is erased with its client', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted({ kind: 'retry', phase: 'rcpt', reply: '451 busy' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  assert.equal((await triggerOf(world, booked)).status, 'RUNNING')
  const { database, businessId, ids, clock } = world
  await eraseClient(database, { businessId, clientId: ids.clientId }, clock.now())
  assert.equal((await mailOf(world)).status, 'CANCELLED')
  const { status, statusReason } = await triggerOf(world, booked)
  assert.deepEqual([status, statusReason], ['CANCELLED', 'erased'])
})

test('a reminder that moved is planned again after its last mail is erased', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted({ kind: 'retry', phase: 'rcpt', reply: '451 busy' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  const { database, businessId, ids, clock } = world
  const startTime = clock.in({ hours: 96 }).epochMilliseconds
  const { calendarId } = booked
  await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  await eraseClient(database, { businessId, clientId: ids.clientId }, clock.now())
  await runEngine()
  assert.deepEqual(
    (await triggersOf(world, booked)).map((one) => one.status),
    ['CANCELLED', 'SCHEDULED'],
  )
})

test('a mail that may have been delivered fails when its client is erased', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted({ kind: 'uncertain', phase: 'end', reply: 'connection lost' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  const { database, businessId, ids, clock } = world
  await eraseClient(database, { businessId, clientId: ids.clientId }, clock.now())
  const { status, reason } = await mailOf(world)
  assert.deepEqual([status, reason], ['FAILED', 'erased'])
  assert.equal((await triggerOf(world, booked)).status, 'FAILED')
})

test('a mail whose message has ended when its client is erased fails', async (t) => {
  const world = await enterWorld(t)
  const { mailer } = scripted()
  const { fire } = await due(world, mailer)
  await fire()
  const { database, businessId, ids, clock } = world
  const now = clock.now()
  const claim = { worker: 'w 1', now, leaseUntil: now.add({ seconds: 10 }), limit: 10 }
  const claimed = await claimDueEmails(database.engine, claim)
  assert.deepEqual(await allowMessageEnds(database.engine, claimed), [true])
  await eraseClient(database, { businessId, clientId: ids.clientId }, now)
  const { status, reason } = await mailOf(world)
  assert.deepEqual([status, reason], ['FAILED', 'erased'])
})

test('a worker that takes over its own mail ends the message once', async (t) => {
  const world = await enterWorld(t)
  const { mailer, resume, ended } = holding()
  const engine = await due(world, mailer)
  await engine.fire()
  await engine.deliver()
  // The worker was frozen, or cut off from the database, until its lease expired.
  world.clock.advance({ seconds: 30 })
  assert.equal(await engine.takeOver(), 1)
  assert.equal(await engine.deliver(), 1)
  resume()
  await engine.settle()
  assert.deepEqual(ended.toSorted(), [false, true])
  assert.equal((await mailOf(world)).status, 'SENT')
})

test('the answer of the mail server survives a lost connection to the database', async (t) => {
  const world = await enterWorld(t)
  const { mailer, taken } = scripted()
  const { fire, booked } = await due(world, mailer)
  await fire()
  let failures = 3
  const { engine: db } = world.database
  const flaky = {
    ...db,
    transaction: (async (work) => {
      if (taken.length > 0 && failures-- > 0) {
        throw new ConnectionError(new Error('gone'))
      }
      return db.transaction(work)
    }) as typeof db.transaction,
  }
  const engine = startEngine(world, {
    mailer,
    captures: false,
    database: { ...world.database, engine: flaky },
  })
  await engine.deliver()
  await engine.settle()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
})

test('after a crash of the database a mail that was being sent is UNCERTAIN', async (t) => {
  const world = await enterWorld(t)
  const never: Mailer = {
    send: () => new Promise(() => {}),
    ...mailerParts,
  }
  const engine = await due(world, never)
  await engine.takeOver()
  await engine.fire()
  await engine.deliver()
  assert.equal((await mailOf(world)).status, 'SENDING')
  // What a crash does to an unlogged table.
  await asOwner(world.database, 'truncate server_epoch')
  world.clock.advance({ seconds: 11 })
  const { mailer, taken } = scripted()
  const other = startEngine(world, { mailer, captures: false })
  await other.takeOver()
  assert.equal((await mailOf(world)).status, 'UNCERTAIN')
  await other.runEngine()
  assert.equal(taken.length, 1)
})

test('a worker that is stopped after a crash of the database does not release its mail as unsent', async (t) => {
  const world = await enterWorld(t)
  const ended = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Outcome>()
  const mailer: Mailer = {
    async send(mail) {
      await mail.beforeMessageEnd()
      ended.resolve()
      return answer.promise
    },
    ...mailerParts,
  }
  await due(world, mailer)
  const engine = startEngine(world, { mailer, captures: false, maxStopWaitMs: 50 })
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  await ended.promise
  // What a crash does to an unlogged table, and to a mark that had not reached the disk.
  await asOwner(world.database, 'truncate server_epoch')
  await asOwner(world.database, 'update email_queue set message_ended = false')
  stopping.abort()
  await stopped
  assert.equal((await mailOf(world)).status, 'SENDING')
  answer.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await engine.settle()
})

test('a mail whose files cannot be read now is not attempted, and is sent later', async (t) => {
  const world = await enterWorld(t)
  const { database, save } = world
  const { fileUUId } = await save('/fileLibrary', {
    name: 'House rules.pdf',
    content: Buffer.from('%PDF-1.7\n').toString('base64'),
  })
  const { mailer, taken } = scripted()
  const engine = await due(world, mailer, { attachFileLibraryUUids: [fileUUId] })
  await engine.plan()
  while ((await engine.fire()) > 0);
  await asOwner(database, 'revoke select on file_content from bellwether_engine')
  await engine.deliver()
  await engine.settle()
  assert.match(String(engine.errors[0]), /permission denied for table file_content/)
  const waiting = await mailOf(world)
  assert.deepEqual([waiting.status, waiting.attempts], ['QUEUED', []], 'free to be claimed')
  await asOwner(database, 'grant select on file_content to bellwether_engine')
  engine.errors.length = 0
  await engine.runEngine()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).status, 'SENT')
})

test('mails with large files leave room for the mails of another business', async (t) => {
  const world = await enterWorld(t)
  const { book, clock, db, save } = world
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300 * 1024, ' ')])
  const { fileUUId } = await save('/fileLibrary', {
    name: 'House rules.pdf',
    content: pdf.toString('base64'),
  })
  const open = Promise.withResolvers<void>()
  const sending = { large: 0, small: 0 }
  let smallSent = 0
  const mailer: Mailer = {
    ...mailerParts,
    room: () => 10 - sending.large - sending.small,
    async send(mail) {
      const size = mail.message.body.length > 300_000 ? 'large' : 'small'
      sending[size]++
      if (size === 'large') await open.promise
      await mail.beforeMessageEnd()
      sending[size]--
      if (size === 'small') smallSent++
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
  }
  for (let i = 1; i < 25; i++) await book(clock.in({ hours: 47, minutes: i }))
  const other = { ...world, ...(await addBusiness(world)) }
  for (let i = 1; i < 5; i++) await other.book(clock.in({ hours: 47, minutes: 50 + i }))
  const { emailTemplateId } = await other.save('/emailTemplate', PLAIN_TEMPLATE)
  const action = { actionType: 'SEND_EMAIL', active: true, emailTemplateId }
  const eventActions = [{ ...action, businessId: other.businessId }]
  await other.save('/eventDefinition', reminder(other.businessId, -24, { eventActions }))
  const engine = await due(world, mailer, { attachFileLibraryUUids: [fileUUId] })
  await engine.plan()
  while ((await engine.fire()) > 0);
  for (let i = 0; i < 10 && smallSent < 4; i++) await engine.deliver()
  await until(() => smallSent === 4)
  // A large message takes much memory, so few are made at a time.
  assert.equal(sending.large, 2)
  open.resolve()
  const countQueued = async () => {
    const [row] = await db.query<{ count: number }>(sql`select count(*) as count from email_queue`)
    return row!.count
  }
  for (let i = 0; i < 20 && (await countQueued()) > 0; i++) {
    await engine.runEngine()
    clock.advance({ seconds: 1 })
  }
  assert.equal(await countQueued(), 0)
})

const PLAIN_TEMPLATE = {
  templateName: 'Reminder',
  subject: 'See you',
  emailBody: '<p>Tomorrow</p>',
}
