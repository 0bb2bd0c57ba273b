import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** One reminder that is due now, with one mail to the client. */
async function makeDue({ businessId, book, clock, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
}

/** Calls `onStatement` with the text of every statement. */
function withStatements(db: Db, onStatement: (text: string) => void): Db {
  const query: Db['query'] = (statement: Sql) => {
    onStatement(statement.text)
    return db.query(statement)
  }
  return {
    ...db,
    query,
    transaction: (work) => db.transaction((tx) => work(withStatements(tx, onStatement))),
  }
}

const CLAIMS = 5
/** Far more than a worker that does not rest needs, also on a busy machine. */
const MIN_MS = 300

for (const [what, table, claim] of [
  ['trigger', 'pending_trigger', 'update pending_trigger q'],
  ['mail', 'email_queue', 'update email_queue q'],
] as const) {
  test(`a worker rests while another transaction locks a due ${what}, and then claims it`, async (t) => {
    const world = await startWorld(t)
    await makeDue(world)
    const { mailer, taken } = scripted()
    if (table === 'email_queue') await startEngine(world, { mailer, captures: false }).fire()
    let statements = 0
    const claimedAt: number[] = []
    const engine = withStatements(world.database.engine, (text) => {
      if (!text.includes(table)) return
      statements += 1
      if (text.includes(claim) && text.includes('due')) claimedAt.push(performance.now())
    })
    const { run, errors } = startEngine(world, {
      mailer,
      captures: false,
      database: { ...world.database, engine },
    })
    const stopping = new AbortController()
    t.after(() => stopping.abort())
    let stopped: Promise<void> | undefined
    await world.database.engine.transaction(async (tx) => {
      await tx.query({ text: `select from ${table} for update`, values: [] })
      stopped = run(stopping.signal)
      await until(() => claimedAt.length > CLAIMS)
      const tookMs = claimedAt[CLAIMS]! - claimedAt[0]!
      assert.ok(tookMs > MIN_MS, `${CLAIMS} claims within ${Math.round(tookMs)} ms`)
      assert.ok(statements < 10 * CLAIMS, `${statements} statements for ${CLAIMS} claims`)
    })
    await until(() => taken.length === 1)
    stopping.abort()
    await stopped
    assert.deepEqual(errors, [])
  })
}

test('a claim that was running when a full sweep was requested does not cancel it', async (t) => {
  const world = await startWorld(t)
  await makeDue(world)
  await world.book(world.clock.in({ hours: 26 }))
  world.clock.advance({ hours: 2 })
  let hold: Promise<void> | undefined
  const held = Promise.withResolvers<void>()
  const { engine } = world.database
  const query: Db['query'] = async (statement) => {
    const rows = await engine.query(statement)
    if (hold && statement.text.includes('insert into worker_lease')) {
      held.resolve()
      await hold
    }
    return rows as never
  }
  const { fire, sweep } = startEngine(world, {
    database: { ...world.database, engine: { ...engine, query } },
  })
  // The first trigger is locked, so the claim skips it, and later claims begin after it.
  await world.db.transaction(async (tx) => {
    await tx.query(
      sql`select from pending_trigger where scheduled_time = (select min(scheduled_time) from pending_trigger) for update`,
    )
    assert.equal(await fire(), 1)
  })
  const resume = Promise.withResolvers<void>()
  hold = resume.promise
  const claiming = fire()
  await held.promise
  assert.equal(await sweep(), 1)
  hold = undefined
  resume.resolve()
  assert.equal(await claiming, 0)
  assert.equal(await fire(), 1)
})
