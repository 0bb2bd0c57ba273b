import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

test('a class stores who was present, and drops the attendance of a removed student', async (t) => {
  const { call, clock, ids, save } = await enterWorld(t)
  const { clientId: ben } = await save('/client', { firstName: 'Ben', lastName: 'Abel' })
  const hour = 3_600_000
  const start = clock.now().epochMilliseconds
  const students = [ids.clientId!, ben]
  const { classScheduleId, attendance } = await save('/classSchedule', {
    name: 'Pilates',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime: start,
    endTime: start + hour,
    clientIdList: students,
    attendance: students.map((clientId, i) => ({ clientId, present: i === 0 })),
  })
  assert.deepEqual(attendance, [
    { clientId: ids.clientId, present: true },
    { clientId: ben, present: false },
  ])

  const fewer = await save('/classSchedule', { classScheduleId, clientIdList: [ben] })
  assert.deepEqual(fewer.attendance, [{ clientId: ben, present: false }])

  const pointersOf = async (attendance: unknown) =>
    (await call('POST', '/classSchedule', { classScheduleId, attendance })).body.errors
      .map(({ pointer }: { pointer: string }) => pointer)
      .toSorted()
  assert.deepEqual(await pointersOf([{ clientId: ids.clientId, present: true }]), [
    '/attendance/0/clientId',
  ])
  assert.deepEqual(await pointersOf([{ clientId: ben }, { clientId: ben, present: 1 }]), [
    '/attendance/0/present',
    '/attendance/1/clientId',
    '/attendance/1/present',
  ])
  assert.deepEqual(await pointersOf({ clientId: ben }), ['/attendance'])
})

test('working hours name a location of the person; exceptions are days off or special hours', async (t) => {
  const { call, ids, save } = await enterWorld(t)
  const { professionalId, locationId } = ids
  const monday = { weekday: 'MONDAY', from: '09:00', to: '17:00' }
  const workingExceptions = [
    { startDate: '2026-12-24', endDate: '2026-12-26' },
    { startDate: '2026-12-31', from: '09:00', to: '12:00', locationId },
  ]
  const saved = await save('/professional', {
    professionalId,
    locationIdList: [locationId],
    workingHours: [{ ...monday, locationId }],
    workingExceptions,
  })
  assert.deepEqual(saved.workingHours, [{ ...monday, locationId }])
  assert.deepEqual(saved.workingExceptions, workingExceptions)

  const pointersOf = async (body: object) =>
    (await call('POST', '/professional', { professionalId, ...body })).body.errors.map(
      ({ pointer }: { pointer: string }) => pointer,
    )
  assert.deepEqual(
    await pointersOf({ workingHours: [{ ...monday, locationId: locationId! + 999 }] }),
    ['/workingHours/0/locationId'],
  )
  assert.deepEqual(
    await pointersOf({
      workingExceptions: [
        { startDate: '2026-02-30' },
        { startDate: '2026-12-24', endDate: '2026-12-23' },
        { startDate: '2026-12-24', from: '09:00' },
        { startDate: '2026-12-24', note: 'x' },
      ],
    }),
    [
      '/workingExceptions/0/startDate',
      '/workingExceptions/1/endDate',
      '/workingExceptions/2/to',
      '/workingExceptions/3/note',
    ],
  )
})
