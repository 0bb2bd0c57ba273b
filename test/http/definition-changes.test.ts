import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startWorld } from '../support/world.ts'

/** Named definitions of APPT_CHANGED, and a function that lists which of them triggered. */
async function startWatched(t: TestContext, watched: Record<string, object>) {
  const world = await startWorld(t)
  const { call, save, businessId } = world
  const names = new Map<number, string>()
  for (const [name, more] of Object.entries(watched)) {
    const { eventDefnId } = await save('/eventDefinition', {
      active: true,
      businessId,
      description: name,
      objectType: 'CALENDAR',
      eventType: { eventType: 'APPT_CHANGED' },
      triggerHours: 0,
      triggerMinutes: 0,
      ...more,
    })
    names.set(eventDefnId, name)
  }
  const triggersOf = async (calendarId: number) => {
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    return (body as { eventDefnId: number; status: string; statusReason: string }[]).map(
      ({ eventDefnId, ...trigger }) => ({ ...trigger, name: names.get(eventDefnId)! }),
    )
  }
  return { ...world, names, triggersOf }
}

test('a save triggers only definitions that match both what it changed and the new status', async (t) => {
  const { book, clock, save, triggersOf } = await startWatched(t, {
    any: {},
    moved: { changes: ['TIME', 'LOCATION'] },
    staff: { changes: ['STAFF'] },
    cancelled: { newStatus: 'CANCELLED' },
    confirmed: { newStatus: 'CONFIRMED' },
    'no-show': { newStatus: 'NO_SHOW' },
    'moved or ended': { changes: ['TIME', 'STATUS'] },
    'moved while confirmed': { changes: ['TIME'], newStatus: 'CONFIRMED' },
  })
  const colleague = await save('/professional', { firstName: 'Tom', lastName: 'Becker' })
  const later = (hours: number) => {
    const startTime = clock.in({ hours }).epochMilliseconds
    return { startTime, endTime: startTime + 1_800_000 }
  }
  const triggered = async (change: object) => {
    const { calendarId } = await book(clock.in({ hours: 72 }))
    await save('/calendar', { calendarId, ...change })
    return (await triggersOf(calendarId)).map(({ name }) => name).toSorted()
  }
  const { professionalId } = colleague
  assert.deepEqual(await triggered(later(96)), ['any', 'moved', 'moved or ended'])
  assert.deepEqual(await triggered({ professionalId }), ['any', 'staff'])
  assert.deepEqual(await triggered({ note: 'x' }), [])
  assert.deepEqual(await triggered({ status: 'CANCELLED' }), ['any', 'cancelled', 'moved or ended'])
  // One save moves and cancels the appointment: no mail announces the new time.
  assert.deepEqual(await triggered({ ...later(96), professionalId, status: 'CANCELLED' }), [
    'any',
    'cancelled',
    'moved or ended',
  ])
  assert.deepEqual(await triggered({ ...later(96), status: 'NO_SHOW' }), [
    'any',
    'moved or ended',
    'no-show',
  ])
  assert.deepEqual(await triggered({ ...later(96), status: 'CONFIRMED' }), [
    'any',
    'confirmed',
    'moved',
    'moved or ended',
    'moved while confirmed',
  ])
})

test('a pending trigger is cancelled if its definition no longer selects that change', async (t) => {
  const { book, call, clock, save, names, triggersOf } = await startWatched(t, {
    moved: { changes: ['TIME'], triggerHours: 2 },
  })
  const [eventDefnId] = [...names.keys()]
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const startTime = clock.in({ hours: 96 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, endTime: startTime + 1_800_000 })
  assert.deepEqual(
    (await triggersOf(calendarId)).map(({ status }) => status),
    ['SCHEDULED'],
  )
  const plan = (body: object) => call('POST', '/eventDefinition/plan', { eventDefnId, ...body })
  assert.equal((await plan({ changes: ['TIME', 'STAFF'] })).body.cancel, 0)
  assert.equal((await plan({ changes: ['STAFF'] })).body.cancel, 1)
  await save('/eventDefinition', { eventDefnId, changes: ['TIME', 'STAFF'] })
  assert.equal((await triggersOf(calendarId))[0]!.status, 'SCHEDULED')
  await save('/eventDefinition', { eventDefnId, changes: ['STAFF'] })
  assert.deepEqual(
    (await triggersOf(calendarId)).map(({ status, statusReason }) => [status, statusReason]),
    [['CANCELLED', 'changed: time; the definition asks for: staff']],
  )
})

test('explain and backtest know what a save changed', async (t) => {
  const { book, businessId, call, clock, save } = await startWatched(t, {
    moved: { changes: ['TIME'] },
  })
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const startTime = clock.in({ hours: 96 }).epochMilliseconds
  const colleague = await save('/professional', { firstName: 'Tom', lastName: 'Becker' })
  await save('/calendar', { calendarId, professionalId: colleague.professionalId })
  const checkOf = async () => {
    const [explained] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
    return explained.checks.find(({ check }: { check: string }) => check === 'what changed')
  }
  assert.deepEqual(await checkOf(), {
    check: 'what changed',
    ok: false,
    reason: 'changed: staff; the definition asks for: time',
    code: 'other-change',
    params: { objectType: 'CALENDAR', status: 'OPEN', changes: ['STAFF'], wanted: ['TIME'] },
  })
  const moved = { calendarId, startTime, endTime: startTime + 1_800_000 }
  await save('/calendar', { ...moved, status: 'CANCELLED' })
  assert.match((await checkOf()).reason, /also changed to CANCELLED, which is not live/)

  const day = clock.now().toZonedDateTimeISO('Europe/Zurich').toPlainDate().toString()
  const mails = async (changes: string[]) => {
    const definition = {
      active: true,
      businessId,
      objectType: 'CALENDAR',
      eventType: { eventTypeId: 2 },
      triggerHours: 0,
      triggerMinutes: 0,
      changes,
    }
    const range = { startDate: day, endDate: day }
    const answer = await call('POST', '/eventDefinition/backtest', { definition, ...range })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.mails
  }
  assert.equal(await mails([]), 2)
  assert.equal(await mails(['STAFF']), 1)
  assert.equal(await mails(['TIME']), 0, 'that save also cancelled it')
  assert.equal(await mails(['TIME', 'STATUS']), 1)
})
