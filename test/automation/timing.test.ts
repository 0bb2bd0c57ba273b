import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  firesBefore,
  firingTime,
  firstPlan,
  isOfUse,
  type AnchorTimes,
  type Timing,
} from '../../src/automation/timing.ts'
import { isFull } from '../proofs/random.ts'
import { assertWithin } from '../support/within.ts'

const at = (text: string) => Temporal.Instant.from(text)

const definition = (changes: Partial<Timing> = {}): Timing => ({
  eventTypeId: 3,
  triggerMonths: 0,
  triggerHours: 0,
  triggerMinutes: 0,
  offsetMode: 'ELAPSED',
  triggerAnchor: 'START',
  ...changes,
})

const appointment = (changes: Partial<AnchorTimes> = {}): AnchorTimes => ({
  objectType: 'CALENDAR',
  timeZone: 'Europe/Berlin',
  startTime: at('2026-06-10T07:00Z'),
  endTime: at('2026-06-10T08:30Z'),
  dueTime: null,
  expiresTime: null,
  createdDate: at('2026-05-01T10:00Z'),
  ...changes,
})
const times = { startTime: null, endTime: null }
const invitation = (expiresTime: string | null) =>
  appointment({
    ...times,
    objectType: 'INVITATION',
    expiresTime: expiresTime === null ? null : at(expiresTime),
  })
const recall = appointment({ ...times, objectType: 'RECALL', dueTime: at('2026-08-31T09:00Z') })

const reminders: {
  name: string
  of: Partial<Timing>
  subject?: AnchorTimes
  anchor?: string
  expected: string | undefined
}[] = [
  { name: 'no offset: at the start', of: {}, expected: '2026-06-10T07:00:00Z' },
  { name: 'hours before', of: { triggerHours: -24 }, expected: '2026-06-09T07:00:00Z' },
  {
    name: 'hours and minutes of the same sign',
    of: { triggerHours: -1, triggerMinutes: -30 },
    expected: '2026-06-10T05:30:00Z',
  },
  {
    name: 'hours and minutes of opposite signs',
    of: { triggerHours: -1, triggerMinutes: 30 },
    expected: '2026-06-10T06:30:00Z',
  },
  {
    name: 'after the end',
    of: { triggerHours: 2, triggerAnchor: 'END' },
    anchor: '2026-06-10T08:30:00Z',
    expected: '2026-06-10T10:30:00Z',
  },
  {
    name: 'a class like an appointment',
    of: { eventTypeId: 6, triggerHours: -48 },
    subject: appointment({ objectType: 'CLASS_SCHEDULE' }),
    expected: '2026-06-08T07:00:00Z',
  },
  {
    name: 'a recall from its due time',
    of: { eventTypeId: 10, triggerHours: -24 },
    subject: recall,
    expected: '2026-08-30T09:00:00Z',
  },
  {
    name: 'a recall ignores triggerAnchor',
    of: { eventTypeId: 10, triggerAnchor: 'END' },
    subject: recall,
    expected: '2026-08-31T09:00:00Z',
  },
  {
    name: 'six months before the last of August is the last of February',
    of: { eventTypeId: 10, triggerMonths: -6 },
    subject: recall,
    expected: '2026-02-28T10:00:00Z', // 11:00 in Berlin, summer and winter
  },
  {
    name: 'six months after, in a leap year',
    of: { eventTypeId: 10, triggerMonths: 6 },
    subject: { ...recall, dueTime: at('2027-08-31T09:00Z') },
    expected: '2028-02-29T10:00:00Z',
  },
  {
    name: 'months first, then hours',
    of: { eventTypeId: 10, triggerMonths: -6, triggerHours: 24 },
    subject: recall,
    expected: '2026-03-01T10:00:00Z',
  },
  {
    name: 'an invitation after its creation',
    of: { eventTypeId: 8, triggerHours: 72 },
    subject: invitation('2026-07-01T00:00Z'),
    anchor: '2026-05-01T10:00:00Z',
    expected: '2026-05-04T10:00:00Z',
  },
  {
    name: 'an invitation at once',
    of: { eventTypeId: 8 },
    subject: invitation(null),
    expected: '2026-05-01T10:00:00Z',
  },
  {
    name: 'an invitation before it expires',
    of: { eventTypeId: 8, triggerHours: -24 },
    subject: invitation('2026-07-01T00:00Z'),
    anchor: '2026-07-01T00:00:00Z',
    expected: '2026-06-30T00:00:00Z',
  },
  {
    name: 'an invitation that never expires has no time before its expiry',
    of: { eventTypeId: 8, triggerHours: -24 },
    subject: invitation(null),
    expected: undefined,
  },
  {
    name: 'ELAPSED: 24 hours are 24 hours across a clock change',
    of: { triggerHours: -24 },
    subject: appointment({ startTime: at('2026-03-29T07:00Z') }), // 9:00; the clocks changed at 2:00
    expected: '2026-03-28T07:00:00Z',
  },
  {
    name: 'CALENDAR: one day before 9:00 is 9:00',
    of: { triggerHours: -24, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-03-29T07:00Z') }),
    expected: '2026-03-28T08:00:00Z',
  },
  {
    name: 'CALENDAR: whole days on the calendar, the rest elapsed',
    of: { triggerHours: -26, triggerMinutes: -30, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-03-29T07:00Z') }),
    expected: '2026-03-28T05:30:00Z',
  },
  {
    name: 'CALENDAR: under a day is elapsed, also in the second hour of an overlap',
    of: { triggerHours: -2, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-10-25T01:30Z') }),
    expected: '2026-10-24T23:30:00Z',
  },
  {
    name: 'CALENDAR: 1440 minutes are elapsed, not a day on the calendar',
    of: { triggerMinutes: -1440, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-03-29T07:00Z') }),
    expected: '2026-03-28T07:00:00Z',
  },
  {
    name: 'CALENDAR: in a gap the later time',
    of: { triggerHours: -24, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-03-30T00:30Z') }), // 2:30, which does not exist on 29 March
    expected: '2026-03-29T01:30:00Z', // 3:30
  },
  {
    name: 'CALENDAR: in an overlap the earlier time',
    of: { triggerHours: -24, offsetMode: 'CALENDAR' },
    subject: appointment({ startTime: at('2026-10-26T01:30Z') }), // 2:30, twice on 25 October
    expected: '2026-10-25T00:30:00Z',
  },
  {
    name: 'ELAPSED: months are counted on the calendar too',
    of: { triggerMonths: -1 },
    subject: appointment({ startTime: at('2026-04-15T07:00Z') }),
    expected: '2026-03-15T08:00:00Z',
  },
  {
    name: 'CALENDAR: months and days of opposite signs are resolved in the zone once',
    of: { triggerMonths: -1, triggerHours: 24, offsetMode: 'CALENDAR' },
    // A month before is 29 March, 2:30, which does not exist; only the final day is resolved.
    subject: appointment({ startTime: at('2026-04-29T00:30Z') }),
    expected: '2026-03-30T00:30:00Z',
  },
]

for (const { name, of, subject = appointment(), anchor, expected } of reminders) {
  test(`a reminder: ${name}`, () => {
    const firing = firingTime(definition(of), subject)
    assert.equal(firing?.scheduledTime.toString(), expected)
    if (anchor) assert.equal(firing?.anchorTime.toString(), anchor)
  })
}

test('an event counts from the moment of the change', () => {
  const firing = firingTime(
    definition({ eventTypeId: 1, triggerHours: 2 }),
    appointment(),
    at('2026-05-01T10:00:00.123Z'),
  )
  assert.equal(firing?.anchorTime.toString(), '2026-05-01T10:00:00.123Z')
  assert.equal(firing?.scheduledTime.toString(), '2026-05-01T12:00:00.123Z')
})

test('an event with a negative offset fires at once', () => {
  for (const offset of [{ triggerHours: -2 }, { triggerMonths: -1 }, { triggerMinutes: -1 }]) {
    const firing = firingTime(
      definition({ eventTypeId: 2, ...offset }),
      appointment(),
      at('2026-05-01T10:00Z'),
    )
    assert.equal(firing?.scheduledTime.toString(), '2026-05-01T10:00:00Z')
  }
})

test('an event without a moment has no firing time', () => {
  assert.equal(firingTime(definition({ eventTypeId: 1 }), appointment()), undefined)
})

test('the whole offset decides whether a definition fires before or after its anchor', () => {
  assert.equal(firesBefore(definition({ triggerMinutes: -1 })), true)
  assert.equal(firesBefore(definition({ triggerHours: -1, triggerMinutes: 61 })), false)
  assert.equal(firesBefore(definition({ triggerMonths: -1, triggerHours: 24 })), true)
  assert.equal(firesBefore(definition()), false)
})

const ANCHOR = at('2026-06-10T07:00Z')
const late: { name: string; of: Partial<Timing>; scheduled: string; now: string; use: boolean }[] =
  [
    {
      name: 'a reminder just before its appointment begins',
      of: { triggerHours: -24 },
      scheduled: '2026-06-09T07:00Z',
      now: '2026-06-10T06:59:59.999Z',
      use: true,
    },
    {
      name: 'a reminder whose appointment begins now',
      of: { triggerHours: -24 },
      scheduled: '2026-06-09T07:00Z',
      now: '2026-06-10T07:00Z',
      use: false,
    },
    {
      name: 'a reminder that is weeks late for an appointment that is still ahead',
      of: { triggerMonths: -2 },
      scheduled: '2026-04-10T07:00Z',
      now: '2026-06-01T07:00Z',
      use: true,
    },
    {
      name: 'a follow-up 72 hours late',
      of: { triggerHours: 2 },
      scheduled: '2026-06-10T09:00Z',
      now: '2026-06-13T09:00Z',
      use: true,
    },
    {
      name: 'a follow-up more than 72 hours late',
      of: { triggerHours: 2 },
      scheduled: '2026-06-10T09:00Z',
      now: '2026-06-13T09:00:00.001Z',
      use: false,
    },
    {
      name: 'a change event with a negative offset that is two days late',
      of: { eventTypeId: 2, triggerHours: -24 },
      scheduled: '2026-06-10T07:00Z',
      now: '2026-06-12T07:00Z',
      use: true,
    },
  ]
for (const { name, of, scheduled, now, use } of late) {
  test(`${name} ${use ? 'is still useful' : 'is no longer useful'}`, () => {
    assert.equal(isOfUse(definition(of), ANCHOR, at(scheduled), at(now)), use)
  })
}

test('a reminder whose time is ahead is scheduled for it', () => {
  const plan = firstPlan(
    { ...definition({ triggerHours: -24 }), latePolicy: 'SKIP' },
    { anchorTime: ANCHOR, scheduledTime: at('2026-06-09T07:00Z') },
    at('2026-06-09T07:00Z'),
    { timeZone: 'UTC' },
  )
  assert.equal(plan.status, 'SCHEDULED')
  assert.equal(plan.scheduledTime.toString(), '2026-06-09T07:00:00Z')
})

test('a booking after its reminder time creates an expired reminder', () => {
  const plan = firstPlan(
    { ...definition({ triggerHours: -24 }), latePolicy: 'SKIP' },
    { anchorTime: ANCHOR, scheduledTime: at('2026-06-09T07:00Z') },
    at('2026-06-09T07:00:00.001Z'),
    { timeZone: 'UTC' },
  )
  assert.equal(plan.status, 'EXPIRED')
  assert.equal(plan.statusReason, 'booked after its reminder time')
  assert.equal(plan.scheduledTime.toString(), '2026-06-09T07:00:00Z')
})

const send = (now: string, of: Partial<Timing>) =>
  firstPlan(
    { ...definition(of), latePolicy: 'SEND' },
    { anchorTime: ANCHOR, scheduledTime: at('2026-06-09T07:00Z') },
    at(now),
    { timeZone: 'UTC' },
  )

test('with latePolicy SEND a late reminder fires now, unless its anchor has passed', () => {
  const now = send('2026-06-10T06:00Z', { triggerHours: -24 })
  assert.equal(now.status, 'SCHEDULED')
  assert.equal(now.scheduledTime.toString(), '2026-06-10T06:00:00Z')
  assert.equal(send('2026-06-10T07:00Z', { triggerHours: -24 }).status, 'EXPIRED')
  assert.equal(send('2026-07-10T07:00Z', { triggerHours: 24 }).status, 'SCHEDULED')
})

test('100,000 offsets take under a second, in both offset modes', (t) => {
  const subjects = Array.from({ length: 100_000 }, (_, index) =>
    appointment({ startTime: at('2026-01-01T00:00Z').add({ minutes: index * 5 }) }),
  )
  for (const offsetMode of ['ELAPSED', 'CALENDAR'] as const) {
    let last: Temporal.Instant | undefined
    const rounds = (isFull ? [1, 2, 3] : [1]).map(() => {
      const of = definition({ triggerHours: -24, offsetMode })
      const started = process.cpuUsage()
      for (const subject of subjects) last = firingTime(of, subject)?.scheduledTime
      const { user, system } = process.cpuUsage(started)
      return (user + system) / 1e6
    })
    const seconds = Math.min(...rounds)
    assert.equal(last?.toString(), '2026-12-13T05:15:00Z')
    assertWithin(t, { what: `CPU time, ${offsetMode}`, tookMs: seconds * 1_000, limitMs: 1_000 })
  }
})
