import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { urlOf } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { until } from '../support/until.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'
import { isFull } from './random.ts'

const share = shareWorld()

type Business = Awaited<ReturnType<typeof share>>

/** A reminder a day before, which mails the client. */
async function remind({ businessId, save }: Business) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  return save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
}

/** A transaction of another program, which locks rows `for update`: foreign keys wait for it too. */
async function holdLock(t: TestContext, { database }: Business, rows: string) {
  const client = new pg.Client({ connectionString: await urlOf(database) })
  await client.connect()
  t.after(() => client.end())
  await client.query('begin')
  const { rowCount } = await client.query(`select from ${rows} for update`)
  assert.ok(rowCount! > 0, `no row to lock: ${rows}`)
  return () => client.query('rollback')
}

const statusesOf = async ({ businessId, database }: Business) => {
  const rows = await database.engine.query<{ status: string }>(
    sql`select status from email where business_id = ${businessId} order by email_id`,
  )
  return rows.map(({ status }) => status)
}

const HOLD_MS = isFull ? 60_000 : 0

/** Milliseconds that the others may lose to a lock, in addition to twice their usual time. */
const MAX_DELAY_MS = 100

for (const [what, table] of Object.entries({
  appointments: 'calendar',
  clients: 'client',
  templates: 'email_template',
  definitions: 'event_definition',
  actions: 'event_action',
  'own row': 'business',
})) {
  test(`a lock on a business’s ${what} does not delay other businesses, and ends without a lost or doubled mail`, async (t) => {
    const [locked, other] = [await share(t), await share(t)]
    for (const business of [locked, other]) await remind(business)
    const { clock } = locked
    const { mailer, taken } = scripted({ kind: 'retry', phase: 'rcpt', reply: '450 later' })
    const { fire, deliver, settle, errors } = startEngine(locked, { mailer, captures: false })
    const run = async () => {
      const fired = await fire()
      await deliver()
      await settle()
      return fired
    }
    // One mail waits for its second attempt, and one reminder is due.
    await locked.book(clock.in({ hours: 25 }))
    clock.advance({ hours: 1 })
    await run()
    await locked.book(clock.in({ hours: 25 }))
    clock.advance({ hours: 1 })
    let rounds = 0
    /** Books, fires and delivers a reminder of the other business; returns how long each step took. */
    const runOther = async () => {
      const startedAt = performance.now()
      // Thousands of rounds on a fast machine must end before the locked appointments begin.
      await other.book(clock.in({ hours: 24, seconds: 1 }))
      const bookedAt = performance.now()
      clock.advance({ seconds: 1 })
      await run()
      rounds += 1
      const sent = await statusesOf(other)
      assert.deepEqual(
        sent,
        Array.from({ length: rounds }, () => 'SENT'),
        'while the lock is held',
      )
      return { booking: bookedAt - startedAt, mail: performance.now() - bookedAt }
    }
    const release = await holdLock(t, locked, `${table} where business_id = ${locked.businessId}`)
    const during: Awaited<ReturnType<typeof runOther>>[] = []
    for (const startedAt = performance.now(); ;) {
      during.push(await runOther())
      if (performance.now() - startedAt >= HOLD_MS) break
    }
    await release()
    for (let i = 0; i < 2; i += 1) {
      clock.advance({ seconds: 2 })
      await run()
    }
    assert.deepEqual(await statusesOf(locked), ['SENT', 'SENT'])
    assert.equal(taken.length, 2 + rounds, 'each mail once')
    assert.deepEqual(errors, [], 'no statement waited until it timed out')
    if (!isFull) return
    const after: typeof during = []
    while (after.length < Math.min(during.length, 100)) after.push(await runOther())
    for (const step of ['booking', 'mail'] as const) {
      const [held, usual] = [during, after].map((times) => p99(times.map((time) => time[step])))
      t.diagnostic(`${step}: p99 ${held!.toFixed(0)} ms, without the lock ${usual!.toFixed(0)} ms`)
      assert.ok(held! < 2 * usual! + MAX_DELAY_MS)
    }
  })
}

const p99 = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!

test('a trigger that is locked after its claim is released as soon as the lock ends', async (t) => {
  const [locked, other] = [await share(t), await share(t)]
  for (const business of [locked, other]) {
    await remind(business)
    await business.book(business.clock.in({ hours: 25 }))
  }
  const { clock, database } = locked
  clock.advance({ hours: 1 })
  let release: (() => Promise<unknown>) | undefined
  const transaction: Db['transaction'] = async (work) => {
    const rows = `pending_trigger where business_id = ${locked.businessId}`
    release ??= await holdLock(t, locked, rows)
    return database.engine.transaction(work)
  }
  const { fire, heartbeat, sweep, takeOver, errors } = startEngine(locked, {
    database: { ...database, engine: { ...database.engine, transaction } },
  })
  await fire()
  assert.deepEqual([await statusesOf(locked), await statusesOf(other)], [[], ['CAPTURED']])
  // The lease is renewed, so that the lock does not count as a failed attempt.
  for (let i = 0; i < 3; i += 1) {
    clock.advance({ seconds: 8 })
    await heartbeat()
    await sweep()
    await takeOver()
  }
  await release!()
  await sweep()
  assert.equal(await fire(), 1)
  assert.deepEqual(await statusesOf(locked), ['CAPTURED'])
  assert.deepEqual(errors, [])
})

test('the answer to a mail whose trigger is locked is recorded later, those to others at once', async (t) => {
  const [locked, other] = [await share(t), await share(t)]
  for (const business of [locked, other]) {
    await remind(business)
    await business.book(business.clock.in({ hours: 25 }))
  }
  locked.clock.advance({ hours: 1 })
  const { mailer, taken } = scripted()
  let holding: ReturnType<typeof holdLock> | undefined
  const locking: typeof mailer = {
    ...mailer,
    send: async (mail) => {
      holding ??= holdLock(t, locked, `event_trigger where business_id = ${locked.businessId}`)
      await holding
      return mailer.send(mail)
    },
  }
  const engine = startEngine(locked, { mailer: locking, captures: false })
  await engine.fire()
  await engine.deliver()
  await until(async () => (await statusesOf(other))[0] === 'SENT')
  assert.deepEqual(await statusesOf(locked), ['QUEUED'])
  await (
    await holding!
  )()
  await engine.settle()
  assert.deepEqual(await statusesOf(locked), ['SENT'])
  assert.equal(taken.length, 2)
  assert.deepEqual(engine.errors, [])
})

test('a locked business whose mail is paused or bounces does not delay others', async (t) => {
  const [paused, firing, bouncing, other] = await Promise.all(
    Array.from({ length: 4 }, () => share(t)),
  )
  const all = [paused!, firing!, bouncing!, other!]
  for (const business of all) {
    await remind(business)
    const hours = business === firing ? 26 : 25
    await business.book(business.clock.in({ hours }))
  }
  const { clock } = other!
  const { mailer } = scripted()
  const noSuchMailbox = { kind: 'failed', phase: 'rcpt', reply: '550 5.1.1 unknown' } as const
  const engine = startEngine(other!, {
    mailer: {
      ...mailer,
      send: async (mail) =>
        mail.businessId === bouncing!.businessId ? noSuchMailbox : mailer.send(mail),
    },
    captures: false,
  })
  clock.advance({ hours: 1 })
  await engine.fire()
  for (const { businessId, call } of [paused!, firing!]) {
    await call('POST', '/business', { businessId, mailPaused: true })
  }
  clock.advance({ hours: 1 }) // The mail of one paused business is due, and the trigger of the other.
  const ids = [paused, firing, bouncing].map((business) => business!.businessId).join(', ')
  const release = await holdLock(t, other!, `business where business_id in (${ids})`)
  await engine.fire()
  await engine.deliver()
  await until(async () => engine.errors.length > 0 || (await statusesOf(other!))[0] === 'SENT')
  assert.deepEqual(engine.errors, [], 'no statement waited until it timed out')
  assert.deepEqual(await statusesOf(bouncing!), ['QUEUED'], 'the suppression needs its business')
  await release()
  await engine.settle()
  const statuses = await Promise.all(all.map((business) => statusesOf(business)))
  assert.deepEqual(statuses, [['QUEUED'], [], ['FAILED'], ['SENT']])
})

test('a definition whose objects are locked does not keep others from being planned', async (t) => {
  const [locked, other] = [await share(t), await share(t)]
  for (const business of [locked, other]) {
    await remind(business)
    await business.book(business.clock.in({ hours: 72 }))
  }
  const { database } = locked
  await database.engine.query(sql`update event_definition set planned_version = 0`)
  const countUnplanned = async () =>
    (await database.engine.query(sql`select from event_definition where planned_version < version`))
      .length
  const { plan, reconcile, errors } = startEngine(locked, { maxLockWaitMs: 20 })
  const calendars = `calendar where business_id = ${locked.businessId}`
  const release = await holdLock(t, locked, calendars)
  await plan()
  assert.equal(await countUnplanned(), 1)
  assert.match(String(errors), /^error: canceling statement due to lock timeout$/)
  await reconcile()
  await release()
  assert.equal(await plan(), 1)
  assert.equal(await countUnplanned(), 0)
})
