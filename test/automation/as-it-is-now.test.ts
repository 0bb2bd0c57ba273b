import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** Makes a change that stays uncommitted until those who do this wait for it. */
async function whileWaitingFor<T>(db: Db, change: Sql, work: () => Promise<T>): Promise<T> {
  const done = await db.transaction(async (tx) => {
    await tx.query(change)
    const working = work()
    await until(() => isAnyoneWaiting(db))
    return () => working
  })
  return done()
}

async function isAnyoneWaiting(db: Db) {
  const [row] = await db.query<{ waiting: boolean }>(sql`
    select exists (select from pg_locks join pg_stat_activity using (pid)
                   where not granted and datname = current_database()) as waiting`)
  return row!.waiting
}

test('a plan that waits for an appointment goes by its status and client as they are then', async (t) => {
  const { book, businessId, call, clock, db, ids, save } = await startWorld(t)
  const { clientId } = await save('/client', { firstName: 'Ben', lastName: 'Okafor' })
  const changes = [
    sql`update calendar set status = 'CONFIRMED'`,
    sql`update calendar set client_id = ${clientId}`,
    // Not even its client was there when the plan began to wait.
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

test('firing that waits for a template goes by the category it has then', async (t) => {
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
  assert.equal(await whileWaitingFor(db, change, runEngine), 1)
  const mails = await db.query(sql`select status from email`)
  assert.deepEqual(mails, [{ status: 'SUPPRESSED' }])
})
