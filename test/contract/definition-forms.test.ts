import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeDefinition, readDefinition } from '../../src/contract/read-definition.ts'
import { EVENT_TYPES } from '../../src/contract/event-type.ts'
import { proofSeed } from '../proofs/random.ts'

type Body = Record<string, unknown>

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const ids = fc.array(id, { maxLength: 4 })
const word = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 })
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const tags = fc.dictionary(word, fc.array(word, { maxLength: 3 }), { maxKeys: 3 })

const units = fc.record({
  months: fc.integer({ min: 0, max: 24 }),
  weeks: fc.integer({ min: 0, max: 50 }),
  days: fc.integer({ min: 0, max: 400 }),
  hours: fc.integer({ min: 0, max: 500 }),
  minutes: fc.integer({ min: 0, max: 5000 }),
  when: fc.constantFrom('before', 'after'),
})

const action = fc.record({
  emailTemplateId: id,
  recipient: orNull(fc.constantFrom('client', 'staff', 'business', 'template')),
  active: fc.boolean(),
})

/** A definition from which both forms are made. */
const wantedForm = fc.record({
  type: fc.constantFrom(...EVENT_TYPES),
  disclaimersOf: fc.constantFrom('CALENDAR', 'RECALL', 'CLASS_SCHEDULE', 'INVITATION_CAMPAIGN'),
  active: fc.boolean(),
  businessId: id,
  description: orNull(word),
  disclaimerFormIdList: ids,
  locationIdList: ids,
  professionalIdList: ids,
  reasonIdList: ids,
  groupIdList: ids,
  filterTagMapJson: orNull(tags.map((map) => JSON.stringify(map))),
  newStatus: orNull(fc.oneof(word, fc.constant('*'))),
  oldStatus: orNull(fc.oneof(word, fc.constant('*'))),
  objectId: orNull(id),
  objectUUId: orNull(word),
  offset: units,
  offsetMode: fc.constantFrom('ELAPSED', 'CALENDAR'),
  latePolicy: fc.constantFrom('SKIP', 'SEND'),
  allowPast: fc.boolean(),
  triggerAnchor: fc.constantFrom('START', 'END'),
  actions: fc.array(action, { maxLength: 3 }),
})
type Wanted = typeof wantedForm extends fc.Arbitrary<infer T> ? T : never

const kindOf = ({ type, disclaimersOf }: Wanted) => {
  if (type.objectType === 'DISCLAIMER') return disclaimersOf
  return type.objectType === 'INVITATION' ? 'INVITATION_CAMPAIGN' : type.objectType
}

function objectForm(wanted: Wanted): Body {
  const { type, disclaimersOf: _, offset, actions, ...plain } = wanted
  const sign = offset.when === 'before' ? -1 : 1
  return {
    ...plain,
    objectType: kindOf(wanted),
    eventType: type,
    triggerMonths: sign * offset.months,
    triggerHours: sign * (offset.weeks * 168 + offset.days * 24 + offset.hours),
    triggerMinutes: sign * offset.minutes,
    eventActions: actions.map(({ active, emailTemplateId, recipient }) => ({
      active,
      emailTemplateId,
      actionType: 'SEND_EMAIL',
      businessId: wanted.businessId,
      recipient: recipient && { label: 'x', value: recipient },
    })),
  }
}

const choice = (list: number[]) => ({ label: 'x', value: list.length === 0 ? 'all' : 'select' })

/** Each property of 2.5 on the level that `coins` choose, with all that its screens send too. */
function writeForm(wanted: Wanted, coins: boolean[]): Body {
  const { type, offset, actions, newStatus, oldStatus } = wanted
  const flip = (index: number) => coins[index % coins.length]!
  const properties: Body = {
    active: wanted.active,
    businessId: wanted.businessId,
    description: wanted.description,
    // The choice `all` empties this list, so it may hold any valid ids.
    locationIdList: wanted.locationIdList.length === 0 ? [1, 2] : wanted.locationIdList,
    disclaimerFormIdList: wanted.disclaimerFormIdList,
    professionalIdList: wanted.professionalIdList.length === 0 ? [3] : wanted.professionalIdList,
    reasonIdList: wanted.reasonIdList,
    groupIdList: wanted.groupIdList,
    filterTagMapJson: wanted.filterTagMapJson,
    objectId: wanted.objectId,
    objectUUId: wanted.objectUUId,
    offsetMode: wanted.offsetMode,
    latePolicy: wanted.latePolicy,
    allowPast: wanted.allowPast,
    triggerAnchor: wanted.triggerAnchor,
    newStatus: flip(1) ? newStatus : null,
    newStatusObject: { label: 'x', value: newStatus },
    oldStatus: flip(2) ? oldStatus : null,
    oldStatusObject: { label: 'x', value: oldStatus },
    triggerMonths: offset.months,
    triggerWeeks: offset.weeks,
    triggerDays: offset.days,
    triggerHoursValue: offset.hours,
    triggerMinutesValue: offset.minutes,
    triggerHours: 0,
    triggerMinutes: 0,
    triggerWhen: { label: 'x', value: offset.when },
    triggeredBy: { eventTypeCodes: ['APPT'], label: 'x', value: 'time' },
    templateActions: actions.map(({ emailTemplateId, recipient, active }) => ({
      active,
      actionType: 'SEND_EMAIL',
      businessId: wanted.businessId,
      emailTemplateId: null,
      template: { emailTemplateId, subject: 'x', active: 'whatever' },
      msgType: { eventTypeCodes: ['APPT', 'CLASS'], label: 'Email', value: 'email' },
      recipient: recipient && { label: 'Student', value: recipient },
      categoryForLookup: 5,
      noTemplatesInCategory: false,
      templateOptions: [],
    })),
    staff: choice(wanted.professionalIdList),
    reasons: choice(wanted.reasonIdList),
  }
  const top: Body = { allOrNoneSelect: { value: choice(wanted.locationIdList).value } }
  const eventType: Body = {
    eventTypeId: type.eventTypeId,
    eventTypeCode: 'APPT',
    eventTypeIds: [1],
  }
  for (const [index, [name, value]] of Object.entries(properties).entries()) {
    if (flip(index)) top[name] = value
    else {
      eventType[name] = value
      if (flip(index + 3)) top[name] = null
    }
  }
  if (type.objectType === 'DISCLAIMER') {
    top['objectType'] = kindOf(wanted)
    eventType['objectType'] = 'DISCLAIMER'
  } else eventType['objectType'] = type.objectType
  return { ...top, eventType }
}

test('5,000 definitions read the same from the object form and from the write form', (t) => {
  fc.assert(
    fc.property(
      wantedForm,
      fc.array(fc.boolean(), { minLength: 7, maxLength: 40 }),
      (wanted, coins) => {
        const one = readDefinition(wire(objectForm(wanted)))
        const other = readDefinition(wire(writeForm(wanted, coins)))
        assert.deepEqual([one.faults, other.faults], [[], []])
        const { pointers: _places, ...fromObjectForm } = one.definition
        const { pointers: _others, ...fromWriteForm } = other.definition
        assert.deepEqual(fromWriteForm, fromObjectForm)

        const { definition } = mergeDefinition(one.definition)
        assert.deepEqual(definition.locationIdList, wanted.locationIdList)
        assert.equal(definition.eventTypeId, wanted.type.eventTypeId)
        assert.equal(definition.newStatus, wanted.newStatus)
        assert.equal(Math.abs(definition.triggerMinutes), wanted.offset.minutes)
        assert.deepEqual(
          one.definition.actions?.map(({ emailTemplateId, recipient }) => [
            emailTemplateId,
            recipient,
          ]),
          wanted.actions.map(({ emailTemplateId, recipient }) => [emailTemplateId, recipient]),
        )
      },
    ),
    { numRuns: 5000, seed: proofSeed(t) },
  )
})

const names = [
  ...Object.keys(writeForm(fc.sample(wantedForm, { numRuns: 1, seed: 1 })[0]!, [true])),
  'eventDefnId',
  'eventActions',
  'allOrNoneSelect',
  'objectType',
  'eventType',
  '__proto__',
]
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('*', 'all', 'select', 'before', 'CALENDAR', 'CANCELLED', -0, 2 ** 53, 1e308),
  fc.constantFrom({ value: 'all' }, { value: 'select' }, { value: 'before' }, { value: 7 }),
  fc.array(fc.oneof(id, fc.constantFrom(null, '', {})), { maxLength: 4 }),
)
const mess = fc.dictionary(fc.constantFrom(...names), junk, { noNullPrototype: true })

test('5,000 bodies of any kind are read or refused with pointers into them, and never throw', (t) => {
  fc.assert(
    fc.property(
      wantedForm,
      fc.array(fc.boolean(), { minLength: 7, maxLength: 40 }),
      mess,
      mess,
      fc.constantFrom('object', 'write', 'mess'),
      (wanted, coins, over, under, form) => {
        const good = form === 'object' ? objectForm(wanted) : writeForm(wanted, coins)
        const eventType = Object.hasOwn(over, 'eventType')
          ? over['eventType']
          : { ...(good['eventType'] as Body), ...under }
        const body: Body = wire(
          form === 'mess' ? { ...over, eventType: under } : { ...good, ...over, eventType },
        )
        const before = JSON.stringify(body)
        const { definition, faults, references } = readDefinition(body)

        assert.equal(JSON.stringify(body), before, 'the body is not changed')
        for (const { pointer, detail } of faults) {
          assert.match(pointer, /^(\/[^/]*)*$/)
          assert.ok(detail.length > 0)
          if (!/is required|not be empty/.test(detail)) {
            assert.notEqual(valueAt(body, pointer), undefined, `${pointer} ${detail}`)
          }
        }
        for (const { id, pointer } of references) assert.equal(valueAt(body, pointer), id)
        const texts = faults.map(({ pointer, detail }) => `${pointer} ${detail}`)
        assert.equal(new Set(texts).size, texts.length, 'no fault is repeated')
        if (faults.length === 0) {
          const { definition: merged } = mergeDefinition(definition)
          assert.deepEqual(
            Object.entries(merged).filter(([, value]) => value === undefined),
            [],
          )
        }
      },
    ),
    { numRuns: 5000, seed: proofSeed(t) },
  )
})

/** The body as parsed from JSON. */
const wire = (body: Body): Body => JSON.parse(JSON.stringify(body))

function valueAt(body: unknown, pointer: string) {
  let value = body
  for (const step of pointer.split('/').slice(1)) {
    value = (value as Body | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return value
}
