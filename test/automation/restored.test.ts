import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import pg from 'pg'
import {
  checkIn,
  describeHold,
  findRestore,
  holdByHand,
  releaseHold,
  type LastSeen,
} from '../../src/automation/restored.ts'
import { REASONS } from '../../src/contract/reasons.ts'
import type { PastChoice } from '../../src/contract/restore.ts'
import { noteNode, noteNodeStop, type NodeRun } from '../../src/store/nodes.ts'
import { listOperatorProblems, NO_CHECK_IN } from '../../src/store/operator-problems.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { asOwner, urlOf } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

describe('a database', () => {
  const at = (time: string) => Temporal.Instant.from(`2026-11-18T${time}Z`)
  const stored = {
    installationId: 'one',
    seenTime: at('12:00:00'),
    place: 'server database',
    timeline: '1',
  }
  const here = { place: stored.place, timeline: stored.timeline, wasRunning: false }
  const seen = (time: string, installationId = 'one'): LastSeen => ({
    installationId,
    seenTime: at(time),
  })
  const moved = { ...here, place: 'another server' }
  const promoted = { ...here, timeline: '2' }
  const running = { ...here, wasRunning: true }
  const now = at('18:00:00')

  for (const [name, found, lastSeen, isRestored] of [
    ['that stayed where it was is not restored', here, undefined, false],
    ['that knows more than a node noted is not restored', here, seen('11:59:59'), false],
    ['that knows less than a node noted is restored', here, seen('12:01:01'), true],
    ['is not judged by a note about another one', here, seen('17:00:00', 'other'), false],
    ['in another place is a copy, if no node noted its state', moved, undefined, true],
    ['in another place is moved, if it knows what a node noted', moved, seen('12:00:00'), false],
    ['in another place is restored, if it knows less', moved, seen('13:00:00'), true],
    [
      'with another timeline was failed over, if it knows enough',
      promoted,
      seen('12:00:30'),
      false,
    ],
    ['with another timeline was recovered, if it knows less', promoted, seen('12:30:00'), true],
    ['with another timeline was recovered, if nothing is noted', promoted, undefined, true],
    ['in which nodes run that nobody saw for long is a snapshot', running, undefined, true],
    [
      'in which nodes run was killed, if it knows what a node noted',
      running,
      seen('12:00:30'),
      false,
    ],
  ] as const) {
    test(name, () => {
      assert.equal(findRestore(stored, found, lastSeen, now) !== undefined, isRestored)
    })
  }

  test('with another timeline was failed over, if it was seen a moment ago', () => {
    assert.equal(findRestore(stored, promoted, undefined, at('12:04:00')), undefined)
  })

  test('in which nodes run may have lost them a moment ago', () => {
    assert.equal(findRestore(stored, running, undefined, at('12:04:00')), undefined)
  })
})

async function define({ businessId, save }: World, triggerHours = -24) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  return save(
    '/eventDefinition',
    reminder(businessId, triggerHours, { description: 'Day before', eventActions: [action] }),
  )
}

const node = { lastSeen: undefined, folder: undefined }

async function hold({ database, clock }: World) {
  await checkIn(database.operator, node)
  assert.equal(await holdByHand(database.operator, clock.now()), true)
}

const release = ({ database, clock }: World, past: PastChoice) =>
  releaseBy(database, clock.now(), past)

const releaseBy = (
  { operator }: World['database'],
  now: Temporal.Instant,
  past: PastChoice = 'SEND',
) => operator.transaction((tx) => releaseHold(tx, past, { user: 'OPERATOR', now }))

test('a database that is restored under a running node is held, and a later note tells what was lost', async (t) => {
  const { database } = await startWorld(t)
  const before = await checkIn(database.operator, node)
  const at = (minutes: number) => before.seenTime.add({ minutes })
  assert.equal((await checkIn(database.operator, { ...node, lastSeen: before })).hold, null)

  const [one, other] = [at(30), at(60)].map((seenTime) => ({ ...before, seenTime }))
  const noted = await checkIn(database.operator, { ...node, lastSeen: one })
  assert.equal(String(noted.hold!.lostUntil), String(one!.seenTime))
  await releaseBy(database, before.seenTime)

  await holdByHand(database.operator, before.seenTime)
  const known = await checkIn(database.operator, { ...node, lastSeen: other })
  assert.equal(String(known.hold!.lostUntil), String(other!.seenTime))
})

test('a note about the held database itself does not tell what was lost', async (t) => {
  const { database } = await startWorld(t)
  const { seenTime } = await checkIn(database.operator, node)
  await holdByHand(database.operator, seenTime.subtract({ minutes: 10 }))
  const held = await checkIn(database.operator, node)

  const again = await checkIn(database.operator, { ...node, lastSeen: held })
  assert.equal(again.hold!.lostUntil, null)
})

test('a snapshot of a running service is held by a node without a note; a long stop of all nodes is not', async (t) => {
  const { database } = await startWorld(t)
  const run: NodeRun = { nodeId: randomUUID(), host: 'pod', role: 'all', version: '1' }
  const { seenTime } = await checkIn(database.operator, node)
  await noteNode(database.operator, run, seenTime)
  await noteNodeStop(database.operator, run, seenTime)
  const makeOld = () =>
    asOwner(
      database,
      `update installation set seen_time = seen_time - interval '1 day';
       update node set seen_time = seen_time - interval '1 day'`,
    )
  await makeOld()
  assert.equal((await checkIn(database.operator, node)).hold, null)

  await noteNode(database.operator, { ...run, nodeId: randomUUID() }, seenTime)
  assert.equal((await checkIn(database.operator, node)).hold, null)
  await makeOld()
  const { hold } = await checkIn(database.operator, node)
  assert.match(hold!.heldReason, /while a node was running/)
})

test('a new node without a note lets nodes that kept running tell whether their database is the same', async (t) => {
  const { database } = await startWorld(t)
  const { operator } = database
  const run: NodeRun = { nodeId: randomUUID(), host: 'pod', role: 'all', version: '1' }
  const running = await checkIn(operator, node)
  await noteNode(operator, run, running.seenTime)
  const lastSeen = { ...running, seenTime: running.seenTime.subtract({ minutes: 6 }) }
  const makeOld = () =>
    asOwner(
      database,
      `update installation set seen_time = '${lastSeen.seenTime}'; update node set seen_time = '${lastSeen.seenTime}'`,
    )
  await makeOld()
  assert.equal(await checkIn(operator, node, true), undefined)
  assert.equal((await checkIn(operator, { ...node, lastSeen }, true))!.hold, null)
  assert.equal((await checkIn(operator, node, true))!.hold, null)

  await makeOld()
  assert.equal(await checkIn(operator, node, true), undefined)
  assert.notEqual((await checkIn(operator, { ...node, lastSeen: running }, true))!.hold, null)
})

test('a database that is restored under a running node fires and sends nothing before the node checks in', async (t) => {
  const world = await startWorld(t)
  const { book, clock, database } = world
  await define(world)
  const { mailer, taken } = scripted()
  const { fire, runEngine } = startEngine(world, { mailer, captures: false })
  const noted = await checkIn(database.operator, node)
  await book(clock.in({ hours: 24 }))
  await asOwner(database, `update installation set seen_time = seen_time - interval '1 hour'`)
  assert.equal(await fire(), 0)
  const { hold } = await checkIn(database.operator, { ...node, lastSeen: noted })
  assert.notEqual(hold, null)
  await runEngine()
  assert.equal(taken.length, 0)
  await releaseBy(database, clock.now())
  await runEngine()
  assert.equal(taken.length, 1)
})

test('a service whose nodes cannot check in for a minute names the problem wherever problems are shown', async (t) => {
  const { call, clock, database } = await startWorld(t)
  await checkIn(database.operator, node)
  const readAll = async () => ({
    readyz: (await call('GET', '/readyz')).body.warnings,
    overview: (await call('GET', '/overview')).body.mail.problem,
    metric: (await readQueueHealth(database.engine, clock.now(), 10)).operatorProblems,
    problems: (await listOperatorProblems(database.engine)).map(({ problem }) => problem),
  })
  assert.deepEqual(await readAll(), { readyz: undefined, overview: null, metric: 0, problems: [] })
  await asOwner(database, `update installation set seen_time = seen_time - interval '2 minutes'`)
  const { readyz, overview, ...rest } = await readAll()
  assert.match(readyz[0], /only the operator can fix/)
  assert.match(overview, /^no node has checked in /)
  assert.deepEqual(rest, { metric: 1, problems: [NO_CHECK_IN] })
})

const statusOf = async ({ call }: World, { calendarId }: { calendarId: number }) => {
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  return trigger.statusReason ? `${trigger.status} ${trigger.statusReason}` : trigger.status
}

/** A held business with one mail in the queue, and triggers that were due before, and since. */
async function startHeld(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t, { ADMIN_API_KEY: 'operator-key-of-this-test' })
  const { book, clock } = world
  const { eventDefnId } = await define(world)
  const busy = { kind: 'retry', phase: 'rcpt', reply: '451 busy' } as const
  const { mailer, taken } = scripted(busy)
  const { runEngine: run, sweep } = startEngine(world, { mailer, captures: false })
  const runEngine = async () => {
    await sweep()
    await run()
  }
  const queued = await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1, minutes: 1 })
  await runEngine()
  assert.equal(await statusOf(world, queued), 'RUNNING')
  const useless = await book(clock.in({ hours: 24, minutes: 5 }))
  const useful = await book(clock.in({ hours: 40 }))
  const due = await book(clock.in({ hours: 60 }))
  clock.advance({ hours: 17 })
  await hold(world)
  clock.advance({ hours: 20 })
  await runEngine()
  assert.equal(taken.length, 0, 'nothing is sent while the database is held')
  return { world, runEngine, taken, queued, useless, useful, due, eventDefnId }
}

test('a held database fires and sends nothing, and shows what a release would send', async (t) => {
  const { world, useless, useful, due, eventDefnId } = await startHeld(t)
  const { call, clock, database, businessId } = world
  for (const booked of [useless, useful, due]) {
    assert.equal(await statusOf(world, booked), 'SCHEDULED')
  }
  const { hold } = await describeHold(database.engine, clock.now())
  const counts = { past: 2, useless: 1, due: 1, sentBefore: 0 }
  const business = 'Praxis Grüner Baum'
  const automation = { businessId, business, eventDefnId, description: 'Day before', ...counts }
  assert.deepEqual(hold!.automations, [automation])
  assert.deepEqual(hold!.emails, [{ businessId, business, emails: 1 }])
  assert.deepEqual(hold!.unknown, ['cancellations', 'erasures', 'suppressions', 'sentMails'])

  const { mail } = (await call('GET', '/overview')).body
  assert.deepEqual([mail.ok, mail.problem], [false, REASONS.databaseHeld])
  assert.deepEqual((await call('GET', '/restore')).body.hold.automations, [automation])
  assert.match((await call('GET', '/readyz')).body.warnings[0], /^The database was restored/)
})

test('the operator releases over the API, and what may have been sent before is not sent again', async (t) => {
  const { world, runEngine, taken, queued, useless, useful, due } = await startHeld(t)
  const { app, call } = world
  const headers = { authorization: 'Bearer operator-key-of-this-test' }
  const send = async (payload: object) => {
    const answer = await app.inject({ method: 'POST', url: '/restore/release', headers, payload })
    return { status: answer.statusCode, body: answer.json() }
  }
  assert.equal((await call('POST', '/restore/release', { past: 'SEND' })).status, 403)
  assert.equal((await send({ past: 'SOME' })).status, 422)
  const { status, body } = await send({ past: 'EXPIRE' })
  assert.deepEqual([status, body.held, body.releasedUser], [200, false, 'OPERATOR'])
  assert.equal((await send({ past: 'EXPIRE' })).status, 409)

  await runEngine()
  assert.equal(taken.length, 1, 'only what became due since the hold is sent')
  assert.equal(await statusOf(world, due), 'COMPLETED')
  assert.equal(await statusOf(world, useful), `EXPIRED ${REASONS.beforeRestore}`)
  assert.equal(await statusOf(world, useless), `EXPIRED ${REASONS.beforeRestore}`)
  assert.equal(
    await statusOf(world, queued),
    `FAILED ${REASONS.maybeSent}: ${REASONS.restoredSince}`,
  )
})

test('a release can send what was due before, if it is still of use', async (t) => {
  const { world, runEngine, taken, useless, useful, due } = await startHeld(t)
  assert.equal(await release(world, 'SEND'), true)
  assert.equal(await release(world, 'SEND'), false)
  await runEngine()
  assert.equal(taken.length, 2)
  assert.equal(await statusOf(world, due), 'COMPLETED')
  assert.equal(await statusOf(world, useful), 'COMPLETED')
  assert.match(await statusOf(world, useless), /^EXPIRED/)
})

test('no id of the lost time is given to another row, and readers of changes begin again', async (t) => {
  const world = await startWorld(t)
  const { book, call, clock, database, ids } = world
  await checkIn(database.operator, node)
  const before = await book(clock.in({ hours: 48 }))
  const { position } = (await call('GET', '/changes/position')).body
  assert.equal((await call('GET', `/calendar?changedSince=${position}`)).status, 200)

  await holdByHand(database.operator, clock.now())
  const stale = { ...ids, calendarId: before.calendarId + 1, status: 'CANCELLED' }
  assert.equal((await call('POST', '/calendar', stale)).status, 404)
  const after = await book(clock.in({ hours: 49 }))
  assert.ok(after.calendarId > before.calendarId + 1_000_000)
  assert.deepEqual(await listSequencesBehind(await urlOf(database)), [])
  assert.equal((await call('GET', `/calendar?changedSince=${position}`)).status, 410)
})

async function listSequencesBehind(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client
    .query(
      `select sequencename from pg_sequences
       where schemaname = 'public' and coalesce(last_value, 0) < 1000000`,
    )
    .finally(() => client.end())
  return rows
}
