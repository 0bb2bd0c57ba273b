import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { convertBodies, forgetBodies } from '../../src/automation/mail-bodies.ts'
import { checkIn, holdByHand, releaseHold } from '../../src/automation/restored.ts'
import { sql } from '../../src/database/sql.ts'
import { CLIENT_USER, saveAnswer } from '../../src/scheduling/answers.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import {
  claimDueEmails,
  postponeEmailsOfBusiness,
  postponePausedEmails,
  type ClaimedEmail,
} from '../../src/store/email-queue.ts'
import { deleteUnusedDictionaries } from '../../src/store/message-bodies.ts'
import { deleteEndedMails, deleteEndedTriggers, deleteOldAudit } from '../../src/store/retention.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { asOwner } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** How many times each of the two operations runs at once. */
const TIMES = 2

type World = Awaited<ReturnType<typeof startWorld>>

test('no two operations on the same business deadlock', async (t) => {
  const world = await startWorld(t)
  const { operations, queueMails } = await prepareOperations(world)
  await asOwner(
    world.database,
    // The server finds deadlocks soon, and counts them even if a retry succeeds.
    `do $$ begin execute format('alter database %I set deadlock_timeout = ''50ms''', current_database()); end $$`,
  )
  const names = Object.keys(operations)
  const deadlocked: string[] = []
  let before = await countDeadlocks(world)
  for (const [i, one] of names.entries()) {
    for (const other of names.slice(i)) {
      world.clock.advance({ seconds: 1 })
      if (one === 'deliver' || other === 'deliver') await queueMails()
      const both = Array.from({ length: TIMES }, () => [one, other]).flat()
      const running = both.map((name) => operations[name]!())
      for (const ended of await Promise.allSettled(running)) {
        if (ended.status === 'rejected') throw ended.reason
      }
      const after = await countDeadlocks(world)
      if (after > before) deadlocked.push(`${one} and ${other}: ${after - before}`)
      before = after
    }
  }
  t.diagnostic(`${names.length} operations, each pair ${TIMES} times at once`)
  assert.deepEqual(deadlocked, [])
})

test('nodes that postpone mails of one business do not wait for each other’s claims', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock } = world
  const db = world.database.engine
  const { queueMails } = await prepareOperations(world)
  await queueMails()
  const now = clock.now()
  const later = clock.in({ minutes: 5 })
  const times = { now, until: later, start: later, morning: later }
  const claim = async (tx: Db, worker: string) => {
    await tx.query(sql`set local lock_timeout = '1s'`)
    const leaseUntil = clock.in({ seconds: 15 })
    const claimed = await claimDueEmails(tx, { worker, now, leaseUntil, limit: 1 })
    assert.equal(claimed.length, 1)
    return claimed
  }
  const countPostponed = async () => {
    const [row] = await db.query<{ count: number }>(sql`
      select count(*) as count from email_queue
      where worker is null and next_attempt_time = ${later}`)
    return row!.count
  }
  const postponements = [
    (tx: Db, mails: ClaimedEmail[]) => postponePausedEmails(tx, mails, times),
    (tx: Db, mails: ClaimedEmail[]) => {
      const nextDay = { now, start: times.until, morning: times.until }
      return postponeEmailsOfBusiness(tx, businessId, mails, nextDay)
    },
  ]
  for (const postpone of postponements) {
    await db.transaction(async (one) => {
      const first = await claim(one, 'one')
      await db.transaction(async (two) => postpone(two, await claim(two, 'two')))
      await postpone(one, first)
    })
    assert.equal(await countPostponed(), 3)
    await db.query(sql`update email_queue set next_attempt_time = ${now}`)
  }
})

async function countDeadlocks({ db }: World) {
  await db.query(sql`select pg_stat_force_next_flush()`)
  const [row] = await db.query<{ deadlocks: number }>(sql`
    select deadlocks from pg_stat_database where datname = current_database()`)
  return row!.deadlocks
}

/** Everything that changes the rows of a business, on the same few objects. */
async function prepareOperations(world: World) {
  const { businessId, call, clock, database, db, ids, save, book, settings } = world
  const { clientId, ...defaults } = ids
  const { locationId } = ids
  const inlet = { name: 'Salon', source: 'INLET', mode: 'SHADOW', defaults }
  const { feedId } = await save('/feed', inlet)
  const content = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(9)])
  const logo = await save('/fileLibrary', { name: 'a.png', content: content.toString('base64') })
  const { fileUUId } = logo
  const template = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'For %CLIENT_FULLNAME%',
    emailBody: '<p>Hello</p>',
  })
  const { emailTemplateId } = template
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const tagged = { filterTagMapJson: JSON.stringify({ vip: ['yes', 'no'] }) }
  const definition = await save('/eventDefinition', {
    ...reminder(businessId, -24, tagged),
    eventActions: [action],
  })
  const { eventDefnId } = definition
  const recalled = { objectType: 'RECALL', eventType: { eventTypeId: 10 }, ...tagged }
  await save('/eventDefinition', {
    ...reminder(businessId, -24, recalled),
    eventActions: [action],
  })
  const [shown] = await save('/eventAction', { ...action, eventDefnId }).then((saved) => [saved])
  await save('/client', { clientId, tags: { vip: ['yes'] } })
  const { calendarId } = await book(clock.in({ hours: 9_000 }))
  const { recallId } = await save('/recall', {
    clientId,
    dueTime: clock.in({ hours: 9_000 }).epochMilliseconds,
  })
  const second = await save('/client', { firstName: 'Beat', lastName: 'Keller' })
  await book(clock.in({ hours: 9_000 }), { clientId: second.clientId, note: 'Erase me' })
  const engine = startEngine(world, { mailer: scripted().mailer, captures: false })
  const status = { objectType: 'CALENDAR', status: 'LATE', label: 'Late', liveAfter: true }
  await save('/status', { ...status, live: true })

  const person = { username: 'otto', password: 'long enough', role: 'OWNER' }
  const { userId } = await save('/user', { ...person, emailAddress: 'otto@praxis.example' })

  let count = 0
  const next = () => (count += 1)
  const soon = () => {
    const startTime = clock.in({ hours: 24, seconds: 1 + (next() % 3) }).epochMilliseconds
    return { startTime, endTime: startTime + 1_800_000 }
  }
  const pending = async () => {
    const rows = await db.query<{ id: number }>(sql`
      select event_trigger_id as id from pending_trigger order by random() limit 3`)
    return { ids: rows.map((row) => row.id) }
  }
  /** Answers below 500: a trigger may have fired meanwhile, which is a conflict. */
  const ask = async (...request: Parameters<typeof call>) => {
    const { status, body } = await call(...request)
    if (status >= 500) throw new Error(`${request[1]}: ${status} ${JSON.stringify(body)}`)
  }
  const timeZone = () => (next() % 2 ? 'Europe/Zurich' : 'Europe/London')
  /** Queues a mail about the recall, and after it one about the appointment. */
  const queueMails = async () => {
    const dueTime = clock.in({ hours: 24, seconds: 1 }).epochMilliseconds
    await save('/client', { clientId, tags: { vip: ['yes'] } })
    await save('/recall', { recallId, dueTime })
    await save('/calendar', { calendarId, startTime: dueTime + 1, endTime: dueTime + 1_800_000 })
    clock.advance({ seconds: 2 })
    await engine.fire()
  }
  const operations: Record<string, Operation> = {
    'pause and resume all mail': async () => {
      await ask('POST', '/business', { businessId, mailPaused: true })
      await ask('POST', '/business', { businessId, mailPaused: false })
    },
    'lower and raise the daily limit': async () => {
      for (const limit of [1, null]) {
        await database.operator.query(sql`
          update business set daily_mail_limit = ${limit}, modified_date = ${clock.now()}
          where business_id = ${businessId}`)
      }
    },
    'save the tags of a client': () =>
      ask('POST', '/client', { clientId, tags: { vip: [next() % 2 ? 'yes' : 'no'] } }),
    'save a recall': () =>
      ask('POST', '/recall', {
        recallId,
        dueTime: clock.in({ hours: 25 }).epochMilliseconds + next(),
      }),
    'create a recall': () =>
      ask('POST', '/recall', { clientId, dueTime: clock.in({ hours: 99 }).epochMilliseconds }),
    'move an appointment': () => ask('POST', '/calendar', { calendarId, ...soon() }),
    'plan a move of an appointment': () => ask('POST', '/calendar/plan', { calendarId, ...soon() }),
    'confirm or cancel an appointment by a link': async () => {
      const { startTime } = (await call('GET', `/calendar/${calendarId}`)).body
      const answer = next() % 2 ? ('confirm' as const) : ('cancel' as const)
      const client = { clientId, toAddress: 'anna@example.org' }
      const time = Temporal.Instant.fromEpochMilliseconds(startTime)
      const asked = { businessId, objectType: 'CALENDAR' as const, objectId: calendarId }
      await saveAnswer(
        database.forBusiness(businessId, CLIENT_USER),
        { answer, ...asked, ...client, startTime: time },
        { note: null, name: null, isUndo: next() % 2 === 0 },
        { settings, now: clock.now() },
      )
    },
    'book an appointment': () => ask('POST', '/calendar', { ...ids, ...soon() }),
    'save a location': () => ask('POST', '/location', { locationId, timeZone: timeZone() }),
    'save a member of staff': () =>
      ask('POST', '/professional', { professionalId: ids.professionalId, lastName: `G${next()}` }),
    'save the business': () =>
      ask('POST', '/business', { businessId, timeZone: timeZone(), logo: fileUUId }),
    'rename the logo': () => ask('POST', '/fileLibrary', { fileUUId, name: `${next()}.png` }),
    'save a status': () => ask('POST', '/status', { ...status, live: next() % 2 === 0 }),
    'remove a status': () => ask('DELETE', '/status/CALENDAR/LATE'),
    'save a definition': () =>
      ask('POST', '/eventDefinition', {
        ...reminder(businessId, -24 - (next() % 2), tagged),
        eventDefnId,
        eventActions: [{ ...action, eventActionId: shown!.eventActionId }],
      }),
    'save an action': () =>
      ask('POST', '/eventAction', { ...shown, active: next() % 2 === 0, recipient: undefined }),
    'save a template': () =>
      ask('POST', '/emailTemplate', {
        ...template,
        subject: `Subject ${next()}`,
        attachFileLibraryUUids: [fileUUId],
      }),
    'import appointments': () =>
      ask(
        'POST',
        '/import',
        [1, 2].map(() => JSON.stringify({ kind: 'calendar', calendarId, ...soon() })).join('\n'),
      ),
    'send entries to a feed': async () => {
      const version = next()
      const startTime = clock.in({ hours: 400 + version }).epochMilliseconds
      const entries = [1, 2].map((i) => ({
        key: `B-${i}`,
        version,
        startTime: startTime + i,
        endTime: startTime + 1_800_000,
        client: { key: `C-${i}`, emailAddress: `feed-${i}@example.org`, phone: String(version) },
      }))
      await ask('POST', `/feed/${feedId}/entries`, { entries })
    },
    'change how a feed is mapped': () =>
      ask('POST', '/feed', { feedId, statusMap: { [`word ${next()}`]: 'OPEN' } }),
    'import a file and undo it': async () => {
      const { startTime, endTime } = soon()
      const file = `calendarId,startTime,endTime\n${calendarId},${startTime},${endTime}`
      const { body } = await call('POST', '/import/csv?kind=calendar', file)
      await ask('POST', `/import/file/${body.fileImportId}/undo`)
    },
    'fire pending triggers manually': async () =>
      ask('POST', '/eventTriggers/fire', await pending()),
    'cancel pending triggers manually': async () =>
      ask('POST', '/eventTriggers/cancel', await pending()),
    'invite a person': () =>
      ask('POST', '/user/invite', { userId, emailAddress: `otto${next()}@praxis.example` }),
    plan: () => engine.plan(),
    fire: () => engine.fire(),
    deliver: () => engine.deliver().then(() => engine.settle()),
    'take over expired leases': () => engine.takeOver(),
    reconcile: () => engine.reconcile(),
    'correct times after the clock was set back': () =>
      correctStoredTimes(database.engine, { stepMs: 1_000, now: clock.now(), leaseSeconds: 15 }),
    'erase a client': () =>
      eraseClient(database, { businessId, clientId: second.clientId }, clock.now()),
    'delete finished triggers, mails and the audit': async () => {
      const before = clock.in({ hours: 10_000 })
      await deleteEndedTriggers(database.engine, before, 100)
      await deleteEndedMails(database.engine, before, 100)
      await deleteOldAudit(database.operator, before, 100)
    },
    'delete and convert contents of mails': async () => {
      await forgetBodies(database.engine, clock.in({ hours: 10_000 }), 100)
      await convertBodies(database.engine, 100)
      await deleteUnusedDictionaries(database.engine, 100)
    },
    'check in, hold and release the database': async () => {
      await checkIn(database.operator, { lastSeen: undefined, folder: undefined })
      await holdByHand(database.operator, clock.now())
      const by = { user: 'OPERATOR', now: clock.now() }
      await database.operator.transaction((tx) => releaseHold(tx, 'SEND', by))
    },
    'save a client that is erased': () =>
      ask('POST', '/client', { clientId: second.clientId, tags: { vip: ['yes'] } }),
  }
  return { operations, queueMails }
}

type Operation = () => Promise<unknown>
