import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { EngineParts } from '../../src/automation/engine.ts'
import { sql } from '../../src/database/sql.ts'
import { findRendered } from '../../src/email/html-pool.ts'
import { hostileTemplates } from '../support/hostile-templates.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'
import { until } from '../support/until.ts'
import { startEngine, startWorld } from '../support/world.ts'

/** A world in which a booking sends one mail per template; their HTML is stored unchecked. */
async function startWith(t: TestContext, bodies: string[], parts: Partial<EngineParts> = {}) {
  const world = await startWorld(t)
  const { businessId, db, save } = world
  for (const [i, body] of bodies.entries()) {
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: `Template ${i}`,
      subject: `Mail ${i}`,
      emailBody: '<p>Hello</p>',
    })
    await db.query(sql`
      update email_template set email_body = ${body} where email_template_id = ${emailTemplateId}`)
    await save('/eventDefinition', {
      active: true,
      businessId,
      objectType: 'CALENDAR',
      triggerHours: 0,
      triggerMinutes: 0,
      eventType: { eventTypeId: 1 },
      eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
    })
  }
  const engine = startEngine(world, parts)
  const triggers = async (calendarId: number) => {
    const { body } = await world.call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    return (body as { status: string; statusReason: string | null; eventDefnId: number }[])
      .toSorted((a, b) => a.eventDefnId - b.eventDefnId)
      .map(({ status, statusReason }) => [
        status,
        statusReason?.replace(/^the mail of action \d+ /, '') ?? null,
      ])
  }
  return { ...world, engine, runEngine: engine.runEngine, triggers }
}

const slowBody = hostileTemplates.find(({ name }) => name === 'selectors that count siblings')!
  .fields.emailBody!

test('a stored template that takes too long fails its own trigger and blocks nothing', async (t) => {
  const large = '<p>x</p>'.repeat(8_000)
  const world = await startWith(t, [slowBody, '<p>Hello</p>', large])
  const { book, call, clock, runEngine, triggers } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await assertNeverBlocks(t, 'the engine', runEngine)
  assert.deepEqual(await triggers(calendarId), [
    ['FAILED', 'could not be created: /emailBody: takes more than 3 s to process; make it simpler'],
    ['COMPLETED', null],
    ['COMPLETED', null],
  ])
  const { items } = (await call('GET', '/emails')).body
  const subjects = items.map(({ subject }: { subject: string }) => subject)
  assert.deepEqual(subjects.toSorted(), ['Mail 1', 'Mail 2'])

  // The failure is cached, so the second booking does not wait for it.
  const again = await book(clock.in({ hours: 50 }))
  await runEngine()
  assert.deepEqual(
    (await triggers(again.calendarId)).map(([status]) => status),
    ['FAILED', 'COMPLETED', 'COMPLETED'],
  )
})

test('a trigger whose template renders slowly delays no other, and does not fail', async (t) => {
  const slow = `${slowBody}<p>another time</p>`
  const world = await startWith(t, [slow, '<p>Hello</p>'], { maxRenderWaitMs: 0 })
  const { book, clock, db, engine, triggers } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await engine.fire()
  assert.deepEqual(await triggers(calendarId), [
    ['SCHEDULED', 'last attempt failed: its template is not rendered yet'],
    ['COMPLETED', null],
  ])
  const [pending] = await db.query<{ attempts: number }>(sql`select attempts from pending_trigger`)
  assert.equal(pending!.attempts, 0, 'this does not count as a failed attempt')

  await until(async () => findRendered(slow) !== undefined)
  clock.advance({ seconds: 60 })
  await engine.runEngine()
  assert.deepEqual(
    (await triggers(calendarId)).map(([status]) => status),
    ['FAILED', 'COMPLETED'],
  )
})

test('a mail is sent again even if its template can no longer be rendered', async (t) => {
  const world = await startWith(t, ['<p>Hello</p>'])
  const { book, call, clock, db, runEngine } = world
  await book(clock.in({ hours: 48 }))
  await runEngine()
  await db.query(sql`update email_template set email_body = ${`${slowBody}<p>again</p>`}`)
  const [{ emailId }] = (await call('GET', '/emails')).body.items
  const { status } = await call('POST', `/emails/${emailId}/resend`)
  assert.equal(status, 201)
})

test('a long value in many tokens does not make an oversized mail', async (t) => {
  const world = await startWith(t, ['%LOCATION_DIRECTIONS%'.repeat(20_000), '<p>Hello</p>'])
  const { book, call, clock, ids, runEngine, save, triggers } = world
  await save('/location', { locationId: ids.locationId, directions: 'Tram 4. '.repeat(200) })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await assertNeverBlocks(t, 'the engine', runEngine)
  const reason =
    'could not be created: /emailBody: with its tokens filled in it is longer than 1000000 characters'
  assert.deepEqual(await triggers(calendarId), [
    ['FAILED', reason],
    ['COMPLETED', null],
  ])
  const [template] = (await call('GET', '/emailTemplate')).body.items
  const { status, body } = await call(
    'POST',
    `/emailTemplate/${template.emailTemplateId}/preview`,
    { objectType: 'CALENDAR', objectId: calendarId },
  )
  assert.equal(status, 422)
  assert.equal(body.errors[0].pointer, '/emailBody')
})
