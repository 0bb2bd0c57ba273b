import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checks, isOnlyRecorded, refusals, refusalsAtFiring } from '../../src/automation/match.ts'
import type { SchedulingEvent } from '../../src/automation/occurrence.ts'
import type { Subject } from '../../src/store/subject.ts'
import type { Definition } from '../../src/contract/event-definition.ts'
import { EVENT_TYPES, type EventTypeName } from '../../src/contract/event-type.ts'
import { proofSeed } from '../proofs/random.ts'

const now = Temporal.Instant.from('2026-05-01T10:00Z')

const definition = (changes: Partial<Definition> = {}): Definition => ({
  active: true,
  businessId: 1,
  description: null,
  disclaimerFormIdList: [],
  eventTypeId: 3,
  filterTagMapJson: null,
  groupIdList: [],
  locationIdList: [],
  newStatus: null,
  objectId: null,
  objectType: 'CALENDAR',
  objectUUId: null,
  oldStatus: null,
  professionalIdList: [],
  reasonIdList: [],
  triggerMonths: 0,
  triggerHours: -24,
  triggerMinutes: 0,
  offsetMode: 'ELAPSED',
  latePolicy: 'SKIP',
  allowPast: true,
  triggerAnchor: 'START',
  changes: [],
  onlyIfStatus: [],
  ...changes,
})

const bare = {
  businessId: 1,
  objectUUId: null,
  active: true,
  status: 'OPEN',
  live: true,
  liveAfter: true,
  clientId: 50,
  tags: {},
  clientTags: {},
  timeZone: 'Europe/Berlin',
  startTime: null,
  endTime: null,
  dueTime: null,
  expiresTime: null,
  createdDate: now,
}
const appointment = (changes: Partial<Subject> = {}): Subject => ({
  ...bare,
  objectType: 'CALENDAR',
  objectId: 7,
  locationId: 10,
  professionalId: 20,
  reasonId: 30,
  ...changes,
})
const invitation = (changes: Partial<Subject> = {}): Subject => ({
  ...bare,
  objectType: 'INVITATION',
  objectId: null,
  objectUUId: 'a1',
  status: 'SENT',
  invitationCampaignId: 40,
  ...changes,
})
const disclaimer = (changes: Partial<Subject> = {}): Subject => ({
  ...bare,
  objectType: 'DISCLAIMER',
  objectId: 9,
  status: 'PENDING',
  disclaimerFormId: 60,
  calendarId: 7,
  ...changes,
})
const recall = (changes: Partial<Subject> = {}): Subject => ({
  ...bare,
  objectType: 'RECALL',
  objectId: 8,
  status: 'DUE',
  locationId: null,
  professionalId: null,
  reasonId: 30,
  ...changes,
})
const event = (
  eventType: EventTypeName,
  subject: Subject,
  oldStatus: string | null = null,
  happened: Partial<SchedulingEvent> = {},
): SchedulingEvent => ({
  eventType,
  subject,
  oldStatus,
  changes: ['STATUS'],
  ended: false,
  happenedAt: now,
  ...happened,
})
const changed = (oldStatus: string, status: string) =>
  event('APPT_CHANGED', appointment({ status }), oldStatus)

const moved = (happened: Partial<SchedulingEvent>, status = 'OPEN') =>
  event('APPT_CHANGED', appointment({ status }), 'OPEN', happened)

const cases: {
  name: string
  definition?: Partial<Definition>
  asked: SchedulingEvent | Subject
  refused: string[]
}[] = [
  { name: 'a reminder without selections', asked: appointment(), refused: [] },
  {
    name: 'an inactive definition',
    definition: { active: false },
    asked: appointment(),
    refused: ['the definition is not active'],
  },
  {
    name: 'an object of another business',
    definition: { businessId: 2 },
    asked: appointment(),
    refused: ['it belongs to another business'],
  },
  {
    name: 'an event of another type',
    definition: { eventTypeId: 1 },
    asked: event('APPT_CHANGED', appointment(), 'OPEN'),
    refused: ['the definition is for APPT_CREATED, this is APPT_CHANGED'],
  },
  {
    name: 'an event, for the definition of a reminder',
    asked: event('APPT_CREATED', appointment()),
    refused: ['the definition is for APPT_REMINDER, this is APPT_CREATED'],
  },
  {
    name: 'a subject of another kind',
    definition: { eventTypeId: 6 },
    asked: appointment(),
    refused: ['the definition is for CLASS_SCHEDULE_REMINDER, this is CALENDAR'],
  },

  {
    name: 'a change that is listed',
    definition: { eventTypeId: 2, changes: ['TIME', 'STAFF'] },
    asked: moved({ changes: ['STAFF', 'SERVICE'] }),
    refused: [],
  },
  {
    name: 'a change that is not listed',
    definition: { eventTypeId: 2, changes: ['TIME'] },
    asked: moved({ changes: ['STAFF'] }),
    refused: ['changed: staff; the definition asks for: time'],
  },
  {
    name: 'a listed change that also ends the appointment',
    definition: { eventTypeId: 2, changes: ['TIME'] },
    asked: moved({ changes: ['TIME', 'STATUS'], ended: true }, 'CANCELLED'),
    refused: [
      "the status also changed to CANCELLED, which is not live; add STATUS to the definition's changes to send it",
    ],
  },
  {
    name: 'a listed change of status that ends the appointment',
    definition: { eventTypeId: 2, changes: ['TIME', 'STATUS'] },
    asked: moved({ changes: ['TIME', 'STATUS'], ended: true }, 'CANCELLED'),
    refused: [],
  },
  {
    name: 'a listed change, but another new status than the definition requires',
    definition: { eventTypeId: 2, changes: ['TIME'], newStatus: 'CONFIRMED' },
    asked: moved({ changes: ['TIME', 'STATUS'] }, 'CHECKED_IN'),
    refused: ['the status is CHECKED_IN now, not CONFIRMED'],
  },

  {
    name: 'objectId of this appointment',
    definition: { objectId: 7 },
    asked: appointment(),
    refused: [],
  },
  {
    name: 'objectId of another appointment',
    definition: { objectId: 70 },
    asked: appointment(),
    refused: ['the definition is only for 70'],
  },
  {
    name: "objectId of an invitation's campaign",
    definition: { eventTypeId: 8, objectType: 'INVITATION_CAMPAIGN', objectId: 40 },
    asked: invitation(),
    refused: [],
  },
  {
    name: 'objectId of another campaign',
    definition: { eventTypeId: 8, objectType: 'INVITATION_CAMPAIGN', objectId: 41 },
    asked: invitation(),
    refused: ['the definition is only for campaign 41, this invitation is of campaign 40'],
  },
  {
    name: 'objectUUId, this invitation',
    definition: { eventTypeId: 8, objectType: 'INVITATION_CAMPAIGN', objectUUId: 'a1' },
    asked: invitation(),
    refused: [],
  },
  {
    name: 'objectUUId, another invitation of the right campaign',
    definition: {
      eventTypeId: 8,
      objectType: 'INVITATION_CAMPAIGN',
      objectId: 40,
      objectUUId: 'b2',
    },
    asked: invitation(),
    refused: ['the definition is only for b2'],
  },
  {
    name: 'objectUUId for a kind without UUIDs matches nothing',
    definition: { objectUUId: 'b2' },
    asked: appointment(),
    refused: ['the definition is only for b2'],
  },
  {
    name: "a disclaimer's appointment",
    definition: { eventTypeId: 12, objectId: 7 },
    asked: event('DISCLAIMER_CREATED', disclaimer()),
    refused: [],
  },
  {
    name: "an appointment other than the disclaimer's",
    definition: { eventTypeId: 12, objectId: 9 },
    asked: event('DISCLAIMER_CREATED', disclaimer()),
    refused: ['the definition is only for 9'],
  },
  {
    name: 'a disclaimer without an appointment',
    definition: { eventTypeId: 12, objectId: 7 },
    asked: event('DISCLAIMER_CREATED', disclaimer({ calendarId: null })),
    refused: ['the definition is only for 7'],
  },
  {
    name: "a disclaimer's own id, if the definition is not about appointments",
    definition: { eventTypeId: 13, objectType: 'RECALL', objectId: 9 },
    asked: event('DISCLAIMER_CHANGED', disclaimer(), 'PENDING'),
    refused: [],
  },

  {
    name: 'three lists, each with the right id',
    definition: { locationIdList: [1, 10], professionalIdList: [20], reasonIdList: [30] },
    asked: appointment(),
    refused: [],
  },
  {
    name: 'every list without the right id is reported',
    definition: { locationIdList: [1], professionalIdList: [2], reasonIdList: [3] },
    asked: appointment(),
    refused: [
      'the definition does not select location 10',
      'the definition does not select staff 20',
      'the definition does not select service 30',
    ],
  },
  {
    name: 'disclaimer forms are ignored for an appointment',
    definition: { disclaimerFormIdList: [61] },
    asked: appointment(),
    refused: [],
  },
  {
    name: 'disclaimer forms are checked for a disclaimer',
    definition: { eventTypeId: 12, disclaimerFormIdList: [61] },
    asked: event('DISCLAIMER_CREATED', disclaimer()),
    refused: ['the definition does not select disclaimer form 60'],
  },
  {
    name: 'locations are ignored for an invitation',
    definition: { eventTypeId: 7, objectType: 'INVITATION_CAMPAIGN', locationIdList: [1] },
    asked: event('INVITE_CREATED', invitation()),
    refused: [],
  },
  {
    name: 'a recall without staff, for a definition that selects by staff',
    definition: { eventTypeId: 10, objectType: 'RECALL', professionalIdList: [20] },
    asked: recall(),
    refused: ['it has no staff, and the definition selects by staff'],
  },
  {
    name: 'groups are ignored',
    definition: { groupIdList: [1, 'x'] },
    asked: appointment(),
    refused: [],
  },

  {
    name: 'a tag of the object',
    definition: { filterTagMapJson: '{"level":["gold","silver"]}' },
    asked: appointment({ tags: { level: ['silver'] } }),
    refused: [],
  },
  {
    name: 'one tag of the object, one of the client',
    definition: { filterTagMapJson: '{"level":["gold"],"language":["fr"]}' },
    asked: appointment({ tags: { level: ['gold'] }, clientTags: { language: ['en', 'fr'] } }),
    refused: [],
  },
  {
    name: 'every tag must share a value',
    definition: { filterTagMapJson: '{"level":["gold"],"language":["fr"]}' },
    asked: appointment({ tags: { level: ['gold'] } }),
    refused: ['it has no tag language with one of these values: fr'],
  },
  {
    name: 'a tag without values requires nothing',
    definition: { filterTagMapJson: '{"level":[]}' },
    asked: appointment(),
    refused: [],
  },
  {
    name: 'a tag named like a property that every JavaScript object has',
    definition: { filterTagMapJson: '{"constructor":["name"],"__proto__":["x"]}' },
    asked: appointment(),
    refused: ['it has no tag constructor with one of these values: name'],
  },

  {
    name: 'any change, if the definition names no status',
    definition: { eventTypeId: 2 },
    asked: changed('OPEN', 'OPEN'),
    refused: [],
  },
  {
    name: 'any change of status',
    definition: { eventTypeId: 2, oldStatus: '*', newStatus: '*' },
    asked: changed('OPEN', 'CONFIRMED'),
    refused: [],
  },
  {
    name: 'no change of status, for a definition that requires one',
    definition: { eventTypeId: 2, newStatus: '*' },
    asked: changed('OPEN', 'OPEN'),
    refused: ['the status did not change: it is still OPEN'],
  },
  {
    name: 'the required status, but it was the same before',
    definition: { eventTypeId: 2, newStatus: 'CONFIRMED' },
    asked: changed('CONFIRMED', 'CONFIRMED'),
    refused: ['the status did not change: it is still CONFIRMED'],
  },
  {
    name: 'from one status to another',
    definition: { eventTypeId: 2, oldStatus: 'OPEN', newStatus: 'CANCELLED' },
    asked: changed('OPEN', 'CANCELLED'),
    refused: [],
  },
  {
    name: 'neither the old nor the new status fits',
    definition: { eventTypeId: 2, oldStatus: 'OPEN', newStatus: 'CANCELLED' },
    asked: changed('CONFIRMED', 'NO_SHOW'),
    refused: [
      'the status was CONFIRMED before, not OPEN',
      'the status is NO_SHOW now, not CANCELLED',
    ],
  },
  {
    name: 'an unset newStatus allows any',
    definition: { eventTypeId: 2, oldStatus: 'OPEN' },
    asked: changed('OPEN', 'NO_SHOW'),
    refused: [],
  },
  {
    name: 'statuses are ignored for other event types',
    definition: { eventTypeId: 1, oldStatus: 'OPEN', newStatus: 'CANCELLED' },
    asked: event('APPT_CREATED', appointment()),
    refused: [],
  },
  {
    name: 'an event of an appointment that is no longer live',
    definition: { eventTypeId: 1 },
    asked: event('APPT_CREATED', appointment({ live: false, liveAfter: false })),
    refused: [],
  },

  {
    name: 'a reminder before an appointment that is no longer live',
    asked: appointment({ status: 'COMPLETED', live: false }),
    refused: ["the appointment's status is COMPLETED"],
  },
  {
    name: 'a follow-up after a completed visit',
    definition: { triggerHours: 24 },
    asked: appointment({ status: 'COMPLETED', live: false }),
    refused: [],
  },
  {
    name: 'a follow-up after a cancelled visit',
    definition: { triggerHours: 24 },
    asked: appointment({ status: 'CANCELLED', live: false, liveAfter: false }),
    refused: ["the appointment's status is CANCELLED"],
  },
  {
    name: 'a deleted object',
    asked: appointment({ active: false }),
    refused: ['it was deleted'],
  },
]

for (const { name, definition: changes, asked, refused } of cases) {
  test(`${refused.length === 0 ? 'matches' : 'refused'}: ${name}`, () => {
    assert.deepEqual(refusals(definition(changes), asked), refused)
  })
}

test('each of the 13 event types matches its own kind of event and no other', () => {
  for (const { eventTypeId, eventType, objectType } of EVENT_TYPES) {
    const subject = { ...appointment(), objectType }
    const matched = EVENT_TYPES.filter(
      (other) =>
        refusals(definition({ eventTypeId }), event(other.eventType, subject)).length === 0,
    )
    assert.deepEqual(
      matched.map((other) => other.eventType),
      [eventType],
    )
  }
})

test('creation events and reminders are checked again when they fire; change events are not', () => {
  const cancelled = appointment({
    status: 'CANCELLED',
    live: false,
    liveAfter: false,
    locationId: 11,
  })
  const atFiring = (eventTypeId: number, changes: Partial<Definition> = {}) =>
    refusalsAtFiring(definition({ eventTypeId, locationIdList: [10], ...changes }), cancelled)

  assert.deepEqual(atFiring(2), [])
  assert.deepEqual(atFiring(2, { active: false }), ['the definition is not active'])
  assert.deepEqual(atFiring(3), [
    'the definition does not select location 11',
    "the appointment's status is CANCELLED",
  ])
  assert.deepEqual(atFiring(1), [
    'the definition does not select location 11',
    "the appointment's status is CANCELLED",
  ])
  for (const eventTypeId of [5, 9, 11, 13]) assert.deepEqual(atFiring(eventTypeId), [])
})

test('a creation event still fires if the visit was completed in the meantime', () => {
  const completed = appointment({ status: 'COMPLETED', live: false })
  assert.deepEqual(
    refusalsAtFiring(definition({ eventTypeId: 1, triggerHours: -5 }), completed),
    [],
  )
})

test('a change of the status of a past visit is told if the definition waits for it, or for any change', () => {
  const past = appointment({ status: 'NO_SHOW', endTime: now.subtract({ hours: 1 }) })
  const isTold = (changes: Definition['changes'], oldStatus = 'OPEN') =>
    !isOnlyRecorded(
      definition({ eventTypeId: 2, allowPast: false, changes }),
      event('APPT_CHANGED', past, oldStatus),
    )
  assert.deepEqual(
    [isTold([]), isTold(['STATUS']), isTold(['TIME', 'STATUS']), isTold(['TIME'])],
    [true, true, true, false],
  )
  assert.equal(isTold([], 'NO_SHOW'), false, 'the status stayed')
})

test('checks include passed and failed rules with their reasons', () => {
  assert.partialDeepStrictEqual(
    checks(definition({ locationIdList: [10], reasonIdList: [31] }), appointment()),
    [
      { check: 'definition active', ok: true, reason: 'the definition is active' },
      { check: 'business', ok: true, reason: 'it belongs to the same business' },
      { check: 'event type', ok: true, reason: 'the definition is for APPT_REMINDER' },
      { check: 'object', ok: true, reason: 'any object' },
      { check: 'location', ok: true, reason: 'the definition selects location 10' },
      { check: 'staff', ok: true, reason: 'any staff' },
      {
        check: 'service',
        ok: false,
        reason: 'the definition does not select service 30',
        code: 'other-service',
        params: { name: null },
      },
      { check: 'disclaimer form', ok: true, reason: 'this kind of object has no disclaimer form' },
      { check: 'tags', ok: true, reason: 'the definition asks for no tags' },
      { check: 'not deleted', ok: true, reason: 'it is not deleted' },
      {
        check: 'still live',
        ok: true,
        reason: "the appointment's status is OPEN",
        code: 'status-live',
        params: { objectType: 'CALENDAR', status: 'OPEN' },
      },
    ],
  )
})

const fewIds = (max: number) => fc.array(fc.integer({ min: 1, max }), { maxLength: 2 })
const oneId = (max: number) => fc.integer({ min: 1, max })
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const someTags = fc.dictionary(
  fc.constantFrom('level', 'language'),
  fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
)
const someStatus = fc.constantFrom('OPEN', 'CONFIRMED', 'CANCELLED')
const wantedStatus = orNull(fc.oneof(someStatus, fc.constant('*')))

const someDefinition = fc
  .record({
    active: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    businessId: fc.integer({ min: 0, max: 9 }).map((n) => (n > 0 ? 1 : 2)),
    eventTypeId: oneId(13),
    objectType: fc.constantFrom('CALENDAR', 'RECALL', 'CLASS_SCHEDULE', 'INVITATION_CAMPAIGN'),
    objectId: orNull(oneId(2)),
    locationIdList: fewIds(2),
    professionalIdList: fewIds(2),
    reasonIdList: fewIds(2),
    disclaimerFormIdList: fewIds(2),
    filterTagMapJson: orNull(someTags.map((tags) => JSON.stringify(tags))),
    oldStatus: wantedStatus,
    newStatus: wantedStatus,
    triggerHours: fc.constantFrom(-24, 0, 24),
  })
  .map((changes) => definition(changes))

const maybeId = (max: number) => fc.option(orNull(oneId(max)), { nil: undefined })
const someSubject = fc
  .record({
    objectType: fc.constantFrom('CALENDAR', 'CLASS_SCHEDULE', 'RECALL', 'DISCLAIMER', 'INVITATION'),
    objectId: oneId(2),
    invitationCampaignId: oneId(2),
    calendarId: orNull(oneId(2)),
    locationId: maybeId(2),
    professionalId: maybeId(2),
    reasonId: maybeId(2),
    disclaimerFormId: maybeId(2),
    tags: someTags,
    clientTags: someTags,
    status: someStatus,
    active: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    live: fc.boolean(),
    liveAfter: fc.boolean(),
  })
  .map(subjectFrom)

function subjectFrom(changes: object) {
  const subject: Subject = Object.assign(appointment(), changes)
  if (subject.objectType === 'INVITATION') {
    subject.objectId = null
    subject.objectUUId = 'a1'
  }
  return subject
}

/** The matching rules written independently, as a list of early returns. */
function plainModel(defn: Definition, subject: Subject, happened?: SchedulingEvent): boolean {
  const type = EVENT_TYPES[defn.eventTypeId - 1]!
  if (!defn.active || defn.businessId !== subject.businessId) return false
  if (happened ? happened.eventType !== type.eventType : type.objectType !== subject.objectType) {
    return false
  }
  if (defn.objectId !== null) {
    let about: number | null | undefined = subject.objectId
    if (subject.objectType === 'INVITATION') about = subject.invitationCampaignId
    else if (subject.objectType === 'DISCLAIMER' && defn.objectType === 'CALENDAR') {
      about = subject.calendarId
    }
    if (about !== defn.objectId) return false
  }
  const lists: [number[], number | null | undefined][] = [
    [defn.locationIdList, subject.locationId],
    [defn.professionalIdList, subject.professionalId],
    [defn.reasonIdList, subject.reasonId],
    [defn.disclaimerFormIdList, subject.disclaimerFormId],
  ]
  for (const [list, id] of lists) {
    if (list.length > 0 && id !== undefined && !list.some((each) => each === id)) return false
  }
  const wanted: Record<string, string[]> = JSON.parse(defn.filterTagMapJson ?? '{}')
  for (const name of Object.keys(wanted)) {
    const has = new Set([...(subject.tags[name] ?? []), ...(subject.clientTags[name] ?? [])])
    if (wanted[name]!.length > 0 && has.isDisjointFrom(new Set(wanted[name]))) return false
  }
  if (happened) {
    if (!type.eventType.endsWith('_CHANGED')) return true
    if (defn.oldStatus === null && defn.newStatus === null) return true
    if (happened.oldStatus === subject.status) return false
    if (![null, '*', happened.oldStatus].includes(defn.oldStatus)) return false
    return [null, '*', subject.status].includes(defn.newStatus)
  }
  if (!subject.active) return false
  const before = type.eventCategory === 'REMINDER' && defn.triggerHours < 0
  return before ? subject.live : subject.liveAfter
}

test('refusals, checks and a plain model agree on any definition and any event or subject', (t) => {
  let matched = 0
  fc.assert(
    fc.property(
      someDefinition,
      someSubject,
      orNull(someStatus),
      fc.constantFrom('event', 'subject'),
      (defn, subject, oldStatus, form) => {
        const { eventType } = EVENT_TYPES[defn.eventTypeId - 1]!
        const happened = form === 'event' ? event(eventType, subject, oldStatus) : undefined
        const asked = happened ?? subject
        const expected = plainModel(defn, subject, happened)
        assert.equal(refusals(defn, asked).length === 0, expected)
        assert.deepEqual(
          checks(defn, asked).flatMap((check) => (check.ok ? [] : [check.reason])),
          refusals(defn, asked),
        )
        if (expected) matched += 1
      },
    ),
    { numRuns: 5000, seed: proofSeed(t) },
  )
  assert.ok(matched > 100, `only ${matched} matched`)
})
