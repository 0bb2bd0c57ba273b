import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reminder, startEngine, startWorld } from '../support/world.ts'

test('a trigger fires only if the status of its object is one of onlyIfStatus then', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, save } = world
  const { runEngine } = startEngine(world)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Please confirm',
    subject: 'Please confirm',
    emailBody: '<p>Please confirm</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const onlyIfStatus = ['OPEN']
  await save(
    '/eventDefinition',
    reminder(businessId, -24, { onlyIfStatus, eventActions: [action] }),
  )
  const open = await book(clock.in({ hours: 72 }))
  const confirmed = await book(clock.in({ hours: 72 }))
  await save('/calendar', { calendarId: confirmed.calendarId, status: 'CONFIRMED' })
  const triggerOf = async ({ calendarId }: { calendarId: number }) => {
    const [{ status, statusReason }] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`))
      .body
    return [status, statusReason]
  }
  assert.deepEqual(await triggerOf(confirmed), ['SCHEDULED', null], 'it may become OPEN again')
  const [explained] = (await call('GET', `/explain/CALENDAR/${confirmed.calendarId}`)).body
  assert.deepEqual(
    explained.checks.find(({ check }: { check: string }) => check === 'status at firing'),
    {
      check: 'status at firing',
      ok: false,
      reason: "the appointment's status is CONFIRMED, not OPEN",
      code: 'other-status-at-firing',
      params: { objectType: 'CALENDAR', status: 'CONFIRMED', wanted: ['OPEN'] },
    },
  )
  clock.advance({ hours: 48 })
  await runEngine()
  assert.equal((await triggerOf(open))[0], 'COMPLETED')
  assert.deepEqual(await triggerOf(confirmed), [
    'CANCELLED',
    "the appointment's status is CONFIRMED, not OPEN",
  ])
  clock.advance({ minutes: 1 })
  const [ended] = (await call('GET', `/explain/CALENDAR/${confirmed.calendarId}`)).body
  assert.match(
    ended.checks.find(({ check }: { check: string }) => check === 'time').reason,
    /^cancelled: the appointment's status is CONFIRMED, not OPEN; it was due on /,
  )

  const unknown = await call(
    'POST',
    '/eventDefinition',
    reminder(businessId, -24, {
      onlyIfStatus: ['OPEN', 'SENT', '*'],
    }),
  )
  assert.deepEqual(
    unknown.body.errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/onlyIfStatus/1', '/onlyIfStatus/2'],
  )
  assert.match(unknown.body.errors[1].detail, /^must be one of CANCELLED, /)
})
