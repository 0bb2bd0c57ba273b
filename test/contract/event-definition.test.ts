import assert from 'node:assert/strict'
import { test } from 'node:test'
import Schema from 'typebox/schema'
import type { Reference } from '../../src/contract/body.ts'
import {
  EventDefinition,
  EventDefinitionBody,
  type Definition,
} from '../../src/contract/event-definition.ts'
import {
  mergeDefinition,
  readDefinition,
  type DefinitionInput,
} from '../../src/contract/read-definition.ts'
import { EVENT_TYPES } from '../../src/contract/event-type.ts'

type Body = Record<string, unknown>

/** A body as it is understood if it is saved as a new definition. */
function read(body: unknown) {
  const reading = readDefinition(body)
  const merged = mergeDefinition(reading.definition)
  return {
    definition: reading.definition,
    whole: merged.definition,
    faults: [...reading.faults, ...merged.faults],
    references: [...reading.references, ...merged.references],
  }
}

/** The object form with its required fields only. */
const object = (changes: Body = {}): Body => ({
  active: true,
  businessId: 1,
  objectType: 'CALENDAR',
  triggerHours: -24,
  triggerMinutes: 0,
  eventType: { eventTypeId: 3 },
  ...changes,
})

/** The same in the write form: everything that may be inside `eventType` is. */
const write = (eventType: Body = {}, changes: Body = {}): Body => ({
  active: true,
  businessId: 1,
  eventType: {
    eventTypeId: 3,
    objectType: 'CALENDAR',
    triggerHours: -24,
    triggerMinutes: 0,
    ...eventType,
  },
  ...changes,
})

const without = (body: Body, ...names: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

const pointers = (body: unknown) => read(body).faults.map((fault) => fault.pointer)

const of = (eventTypeId: number, objectType: string, changes: Body = {}) =>
  object({ eventType: { eventTypeId }, objectType, ...changes })

const text = (length: number) => 'x'.repeat(length)

const MAX_ID = Number.MAX_SAFE_INTEGER
const notIds = [0, -1, 1.5, '1', true, {}, [], 2 ** 53, Number.NaN]
const notIntegers = [0.5, '1', true, {}, [], 2 ** 53]
const notLists = [1, '1', {}, true]
const notStrings = [1, true, {}, []]

/**
 * Every field of spec 2.1 in its order, then those of 2.5: what is read from a good value, and the
 * values that are refused at the field's own pointer.
 */
const fields: {
  name: string
  reads?: [value: unknown, as: unknown][]
  into?: keyof DefinitionInput
  refuses?: unknown[]
  required?: true
  /** What `null` reads as; a required field may not be `null`. */
  cleared?: unknown
  /** Part of the offset: giving one part replaces the others. */
  ofOffset?: true
  body?: Body
}[] = [
  {
    name: 'active',
    required: true,
    reads: [
      [true, true],
      [false, false],
    ],
    refuses: ['true', 1, 0, {}, []],
  },
  { name: 'businessId', required: true, reads: [[MAX_ID, MAX_ID]], refuses: notIds },
  { name: 'createdDate', into: 'eventDefnId', reads: [['anything', undefined]] },
  { name: 'createdUser', into: 'eventDefnId', reads: [[{ any: 'thing' }, undefined]] },
  {
    name: 'description',
    cleared: null,
    reads: [
      ['', ''],
      ['Two\nlines, 早安 😀', 'Two\nlines, 早安 😀'],
      [text(4000), text(4000)],
    ],
    refuses: [...notStrings, text(4001), 'a\u0000b', 'a\u0007b', 'a\u0085b', '\ud800'],
  },
  {
    name: 'disclaimerFormIdList',
    cleared: [],
    reads: [
      [[], []],
      [
        [3, 1, MAX_ID],
        [3, 1, MAX_ID],
      ],
    ],
    refuses: [...notLists, Array.from({ length: 5001 }, (_, id) => id + 1)],
  },
  {
    name: 'eventActions',
    into: 'actions',
    cleared: undefined,
    reads: [[[], []]],
    refuses: notLists,
  },
  {
    name: 'eventDefnId',
    cleared: undefined,
    reads: [
      [MAX_ID, MAX_ID],
      [0, undefined],
    ],
    refuses: notIds.slice(1),
  },
  {
    name: 'filterTagMapJson',
    cleared: null,
    reads: [
      ['{}', '{}'],
      [
        '{ "level": ["gold", "silver"],\n "vip": [] }',
        '{ "level": ["gold", "silver"],\n "vip": [] }',
      ],
    ],
    refuses: [
      ...notStrings,
      '',
      'gold',
      '[]',
      'null',
      '"x"',
      '{"a":"b"}',
      '{"a":[1]}',
      '{"a":[null]}',
      '{"a":{}}',
      '{"a":["\\u0000"]}',
      '{"\\u0007":["b"]}',
      '{"a":["\\ud800"]}',
      `{"a":["${text(100_000)}"]}`,
    ],
  },
  {
    name: 'groupIdList',
    cleared: [],
    reads: [
      [
        [5, 'g-1'],
        [5, 'g-1'],
      ],
    ],
    refuses: notLists,
  },
  {
    name: 'locationIdList',
    cleared: [],
    reads: [
      [
        [1, 2],
        [1, 2],
      ],
    ],
    refuses: notLists,
  },
  { name: 'modifiedDate', into: 'eventDefnId', reads: [[-1, undefined]] },
  { name: 'modifiedUser', into: 'eventDefnId', reads: [[7, undefined]] },
  {
    name: 'newStatus',
    cleared: null,
    reads: [
      ['*', '*'],
      ['CONFIRMED', 'CONFIRMED'],
    ],
    refuses: [...notStrings, text(101), 'a\nb'],
  },
  { name: 'objectId', cleared: null, reads: [[MAX_ID, MAX_ID]], refuses: notIds },
  {
    name: 'objectType',
    required: true,
    reads: [['CALENDAR', 'CALENDAR']],
    refuses: ['INVITATION', 'calendar', '', 1, {}, 'RECALL'],
  },
  {
    name: 'objectUUId',
    cleared: null,
    reads: [['0123456789abcdef', '0123456789abcdef']],
    refuses: [...notStrings, text(101), 'a\tb'],
  },
  {
    name: 'oldStatus',
    cleared: null,
    reads: [
      ['*', '*'],
      ['OPEN', 'OPEN'],
    ],
    refuses: [...notStrings, text(101), 'a\u007fb'],
  },
  {
    name: 'professionalIdList',
    cleared: [],
    reads: [
      [
        [1, 2],
        [1, 2],
      ],
    ],
    refuses: notLists,
  },
  {
    name: 'reasonIdList',
    cleared: [],
    reads: [
      [
        [1, 2],
        [1, 2],
      ],
    ],
    refuses: notLists,
  },
  {
    name: 'triggerHours',
    ofOffset: true,
    required: true,
    reads: [
      [-48, -48],
      [0, 0],
      [-0, 0],
      [87_660, 87_660],
      [-87_660, -87_660],
    ],
    refuses: [...notIntegers, 87_661, -87_661, 2 ** 52],
  },
  {
    name: 'triggerMinutes',
    ofOffset: true,
    required: true,
    body: object({ triggerHours: 0 }),
    reads: [
      [-5, -5],
      [5_259_600, 5_259_600],
    ],
    refuses: [...notIntegers, 5_259_601],
  },

  // Our own fields.
  {
    name: 'triggerMonths',
    ofOffset: true,
    cleared: 0,
    body: object({ triggerHours: 0 }),
    reads: [
      [-6, -6],
      [120, 120],
    ],
    refuses: [...notIntegers, 121, -121],
  },
  {
    name: 'offsetMode',
    cleared: 'ELAPSED',
    reads: [
      ['CALENDAR', 'CALENDAR'],
      ['ELAPSED', 'ELAPSED'],
    ],
    refuses: ['calendar', '', 1, {}],
  },
  {
    name: 'latePolicy',
    cleared: 'SKIP',
    reads: [
      ['SEND', 'SEND'],
      ['SKIP', 'SKIP'],
    ],
    refuses: ['send', '', 1, []],
  },
  {
    name: 'allowPast',
    cleared: false,
    reads: [
      [false, false],
      [true, true],
    ],
    refuses: ['false', 0, {}],
  },
  {
    name: 'triggerAnchor',
    cleared: 'START',
    reads: [
      ['END', 'END'],
      ['START', 'START'],
    ],
    refuses: ['end', '', 0, true],
  },
]

for (const field of fields) {
  const { name, into, reads = [], refuses = [], required, cleared, ofOffset } = field
  const { body = object() } = field
  const property = (into ?? name) as keyof DefinitionInput

  test(`${name} is read at the top level and inside eventType`, () => {
    for (const [value, as] of reads) {
      const top = read({ ...body, [name]: value })
      assert.deepEqual(top.faults, [])
      assert.deepEqual(top.definition[property], as)

      const eventType = { ...(body['eventType'] as Body), [name]: value }
      const nested = read({ ...without(body, name), eventType })
      assert.deepEqual(nested.faults, [])
      assert.deepEqual(nested.definition[property], as)

      const both = read({ ...body, [name]: null, eventType })
      assert.deepEqual(both.definition[property], as, 'null at the top counts as absent')
    }
  })

  if (refuses.length > 0) {
    test(`${name} of the wrong type is refused at its own pointer`, () => {
      for (const value of refuses) {
        assert.deepEqual(pointers({ ...body, [name]: value }), [`/${name}`], String(value))
        const eventType = { ...(body['eventType'] as Body), [name]: value }
        assert.deepEqual(pointers({ ...without(body, name), eventType }), [`/eventType/${name}`])
      }
    })
  }

  if (required) {
    test(`${name} is required to create a definition, and an update may leave it out`, () => {
      for (const missing of [without(body, name), { ...body, [name]: null }]) {
        const [fault, ...others] = read(missing).faults
        assert.deepEqual([fault?.pointer, others], [`/${name}`, []])
        assert.match(fault!.detail, /^is required: \S/)
        const update = readDefinition({ ...missing, eventDefnId: 5 })
        assert.deepEqual(update.faults, [])
        assert.equal(update.definition[property], ofOffset && 0)
      }
    })
  } else if (refuses.length > 0) {
    test(`${name}: an absent value keeps it, null clears it`, () => {
      assert.equal(read(body).definition[property], ofOffset && 0)
      const { definition, faults } = read({ ...body, [name]: null })
      assert.deepEqual(faults, [])
      assert.deepEqual(definition[property], cleared)
    })
  }
}

test('a list with wrong ids in it is refused at each of them', () => {
  for (const name of [
    'disclaimerFormIdList',
    'locationIdList',
    'professionalIdList',
    'reasonIdList',
  ]) {
    const list = [1, ...notIds, null]
    assert.deepEqual(
      pointers(object({ [name]: list })),
      list.slice(1).map((_, index) => `/${name}/${index + 1}`),
    )
  }
  assert.deepEqual(pointers(object({ groupIdList: [1, null, 'a\nb', {}] })), [
    '/groupIdList/1',
    '/groupIdList/2',
    '/groupIdList/3',
  ])
})

test('eventType is an object that names one of the 13 types', () => {
  for (const { eventTypeId, objectType } of EVENT_TYPES) {
    const kind = { INVITATION: 'INVITATION_CAMPAIGN', DISCLAIMER: 'RECALL' }[objectType as string]
    const { definition, faults } = read(of(eventTypeId, kind ?? objectType))
    assert.deepEqual(faults, [])
    assert.equal(definition.eventTypeId, eventTypeId)
  }
  for (const wrong of [0, 14, -1, 1.5, '3', true, {}, []]) {
    assert.deepEqual(pointers(object({ eventType: { eventTypeId: wrong } })), [
      '/eventType/eventTypeId',
    ])
  }
  for (const missing of [undefined, null, {}, { eventTypeId: null }]) {
    const [fault, ...others] = read(object({ eventType: missing })).faults
    assert.deepEqual([fault?.pointer, others], ['/eventType/eventTypeId', []])
    assert.match(fault!.detail, /^is required: send eventType: \{ "eventTypeId": 1 \}/)
  }
  for (const wrong of [3, 'APPT_REMINDER', [], true]) {
    assert.deepEqual(pointers(object({ eventType: wrong })), ['/eventType'])
  }
  assert.equal(read({ ...object(), eventTypeId: 3, eventType: null }).definition.eventTypeId, 3)
})

test('objectType must fit the event type; disclaimers accept any of the four', () => {
  const kinds = ['CALENDAR', 'INVITATION_CAMPAIGN', 'RECALL', 'CLASS_SCHEDULE']
  const fitting = (eventTypeId: number) =>
    kinds.filter((kind) => pointers(of(eventTypeId, kind)).length === 0)

  for (const id of [1, 2, 3]) assert.deepEqual(fitting(id), ['CALENDAR'])
  for (const id of [4, 5, 6]) assert.deepEqual(fitting(id), ['CLASS_SCHEDULE'])
  for (const id of [7, 8, 9, 11]) assert.deepEqual(fitting(id), ['INVITATION_CAMPAIGN'])
  assert.deepEqual(fitting(10), ['RECALL'])
  for (const id of [12, 13]) assert.deepEqual(fitting(id), kinds)
  assert.deepEqual(read(of(1, 'RECALL')).faults, [
    { pointer: '/objectType', detail: 'must be CALENDAR for event type 1, APPT_CREATED' },
  ])
})

const nested = (eventTypeId: number, objectType: string | null, top: Body = {}) =>
  read({
    ...without(object(), 'objectType'),
    ...top,
    eventType: { eventTypeId, objectType, eventType: null, eventCategory: null },
  })

test('objectType INVITATION is INVITATION_CAMPAIGN; DISCLAIMER suits every other', () => {
  for (const { definition, faults } of [nested(8, 'INVITATION'), read(of(8, 'INVITATION'))]) {
    assert.deepEqual([definition.objectType, faults], ['INVITATION_CAMPAIGN', []])
  }
  for (const { definition, faults } of [nested(12, 'DISCLAIMER'), read(of(12, 'DISCLAIMER'))]) {
    assert.deepEqual([definition.objectType, faults], ['CALENDAR', []])
  }
  const forRecalls = nested(12, 'DISCLAIMER', { objectType: 'RECALL' })
  assert.deepEqual([forRecalls.definition.objectType, forRecalls.faults], ['RECALL', []])
  const swapped = nested(12, 'RECALL', { objectType: 'DISCLAIMER' })
  assert.deepEqual([swapped.definition.objectType, swapped.faults], ['RECALL', []])
  const same = nested(8, 'INVITATION', { objectType: 'INVITATION_CAMPAIGN' })
  assert.deepEqual([same.definition.objectType, same.faults], ['INVITATION_CAMPAIGN', []])
  assert.deepEqual(
    readDefinition({ eventDefnId: 5, objectType: 'DISCLAIMER' }).definition.objectType,
    undefined,
    'an update keeps the stored one',
  )
  assert.match(nested(3, null).faults[0]!.detail, /^is required: one of CALENDAR/)
  assert.equal(nested(3, 'CLASS_SCHEDULE').faults[0]?.pointer, '/eventType/objectType')
})

/** Every property that a body may have at both places, with two values. */
const twice: [name: string, value: unknown, other: unknown][] = [
  ['active', true, false],
  ['businessId', 1, 2],
  ['description', 'a', 'b'],
  ['disclaimerFormIdList', [1], [1, 2]],
  ['eventDefnId', 5, 6],
  ['eventDefinitionId', 5, 6],
  ['eventTypeId', 3, 2],
  ['eventActions', [], [{ eventActionId: 3, active: false }]],
  ['templateActions', [], [{ eventActionId: 3, active: false }]],
  ['filterTagMapJson', '{}', '{"a":["b"]}'],
  ['groupIdList', [1], []],
  ['locationIdList', [1], []],
  ['newStatus', '*', 'OPEN'],
  ['oldStatus', '*', 'OPEN'],
  ['objectId', 1, 2],
  ['objectType', 'CALENDAR', 'RECALL'],
  ['objectUUId', 'a', 'b'],
  ['professionalIdList', [1], [2]],
  ['reasonIdList', [1], [2]],
  ['triggerHours', -24, -48],
  ['triggerMinutes', 0, 30],
  ['triggerMonths', 0, 1],
  ['triggerWeeks', 0, 1],
  ['triggerDays', 0, 1],
  ['triggerHoursValue', 0, 1],
  ['triggerMinutesValue', 0, 1],
  ['offsetMode', 'ELAPSED', 'CALENDAR'],
  ['latePolicy', 'SKIP', 'SEND'],
  ['allowPast', false, true],
  ['triggerAnchor', 'START', 'END'],
  ['changes', [], ['TIME']],
  ['onlyIfStatus', [], ['OPEN']],
]
/** The same for objects with a value. */
const twiceInside = ['staff', 'reasons', 'newStatusObject', 'oldStatusObject', 'triggerWhen']

test('a value at the top level that differs from the one inside eventType is refused, naming both', () => {
  const body = (top: Body, inside: Body) => ({
    ...object(top),
    eventType: { eventTypeId: 3, ...inside },
  })
  for (const [name, value, other] of twice) {
    const { faults } = readDefinition(body({ [name]: value }, { [name]: other }))
    const [here, there] = [`/${name}`, `/eventType/${name}`]
    const ofBoth = faults.filter(({ pointer }) => pointer === here || pointer === there)
    assert.match(
      ofBoth.find(({ pointer }) => pointer === here)?.detail ?? '',
      new RegExp(there),
      name,
    )
    assert.match(
      ofBoth.find(({ pointer }) => pointer === there)?.detail ?? '',
      new RegExp(here),
      name,
    )
    const same = readDefinition(body({ [name]: value }, { [name]: value }))
    assert.ok(!same.faults.some(({ detail }) => detail.includes(' here and ')), name)
  }
  for (const name of twiceInside) {
    const [one, other] = name === 'triggerWhen' ? ['before', 'after'] : ['*', 'OPEN']
    const at = (label: string, value: string) => ({ [name]: { label, value } })
    const differing = pointers(body(at('x', one), at('x', other)))
    assert.ok(differing.includes(`/${name}/value`), name)
    assert.ok(differing.includes(`/eventType/${name}/value`), name)
    assert.deepEqual(pointers(body(at('x', one), at('y', one))), [], `${name}: labels are ignored`)
  }
  assert.deepEqual(
    read(body({ staff: { label: 'Staff' } }, { staff: select, professionalIdList: [] })).faults.map(
      ({ pointer }) => pointer,
    ),
    ['/eventType/professionalIdList'],
    'the value counts wherever it is',
  )
})

test('a property that a body may have is compared at both places', () => {
  const compared = new Set([...twice.map(([name]) => name), ...twiceInside, 'allOrNoneSelect'])
  const readable = Object.entries(EventDefinitionBody.properties).flatMap(([name, schema]) =>
    (schema as { readOnly?: boolean }).readOnly || name === 'eventType' ? [] : [name],
  )
  assert.deepEqual(
    readable.filter((name) => !compared.has(name)),
    [],
  )
})

test('eventDefinitionId must be the same as eventDefnId', () => {
  assert.deepEqual(pointers(object({ eventDefnId: 5, eventDefinitionId: 5 })), [])
  assert.deepEqual(pointers(object({ eventDefnId: 5, eventDefinitionId: 0 })), [])
  assert.deepEqual(pointers(object({ eventDefnId: 5, eventDefinitionId: 6 })), [
    '/eventDefinitionId',
  ])
  assert.deepEqual(pointers(object({ eventDefinitionId: 6 })), ['/eventDefinitionId'])
  assert.deepEqual(pointers(object({ eventDefnId: 0, eventDefinitionId: 6 })), [
    '/eventDefinitionId',
  ])
})

test('fields that the write form carries for its own screens are accepted and ignored', () => {
  for (const junk of ['APPT', 7, null, [1, 'x'], { any: { thing: [] } }]) {
    const ignored = {
      eventTypeCode: junk,
      eventTypeDesc: junk,
      eventTypeIds: junk,
      triggeredBy: junk,
      eventCategory: junk,
    }
    assert.deepEqual(read(write(ignored, ignored)), read(write()))
  }
})

test('an unknown property is refused at its own pointer, with the name that was probably meant', () => {
  const action = { actionType: 'SEND_EMAIL', active: true, businessId: 1, emailTemplateId: 9 }
  const body = object({
    desciption: 'x',
    eventType: { eventTypeId: 3, triggerHour: -1, zzz: null },
    staff: { valeu: 'all' },
    eventActions: [{ ...action, recipients: {}, template: { anything: 1 } }],
    templateOptions: { anything: [{ at: 'all' }] },
  })
  assert.deepEqual(
    Object.fromEntries(read(body).faults.map(({ pointer, detail }) => [pointer, detail])),
    {
      '/desciption': 'unknown property; did you mean description?',
      '/eventType/triggerHour': 'unknown property; did you mean triggerHours?',
      '/eventType/zzz': 'unknown property',
      '/staff/valeu': 'unknown property; did you mean value?',
      '/eventActions/0/recipients': 'unknown property; did you mean recipient?',
    },
  )
})

test('an event type is named by its id or its name, and both must agree', () => {
  assert.deepEqual(read(object({ eventType: { eventType: 'APPT_REMINDER' } })).faults, [])
  assert.equal(
    read(object({ eventType: { eventType: 'APPT_REMINDER' } })).definition.eventTypeId,
    3,
  )
  assert.deepEqual(read(object({ eventType: EVENT_TYPES[2] })).faults, [])
  assert.deepEqual(read(object({ eventType: { eventTypeId: 3, eventType: 'RECALL' } })).faults, [
    { pointer: '/eventType/eventType', detail: 'must be APPT_REMINDER, the name of eventTypeId 3' },
  ])
  assert.deepEqual(pointers(object({ eventType: { eventType: 'APPT_MOVED' } })), [
    '/eventType/eventType',
  ])
})

test('changes is a list of known changes that the event type can report', () => {
  const changed = (changes: unknown) => of(2, 'CALENDAR', { changes })
  assert.deepEqual(read(changed(['TIME', 'STAFF', 'TIME'])).definition.changes, ['TIME', 'STAFF'])
  assert.deepEqual(read(changed(null)).definition.changes, [])
  assert.deepEqual(pointers(changed(['TIME', 'COLOUR'])), ['/changes/1'])
  assert.deepEqual(pointers(changed('TIME')), ['/changes'])
  assert.deepEqual(read(changed(['STUDENTS'])).faults, [
    {
      pointer: '/changes',
      detail:
        'must hold one of STATUS, TIME, STAFF, SERVICE, LOCATION, CLIENT, ANSWER: APPT_CHANGED reports no other',
    },
  ])
  assert.deepEqual(pointers(object({ changes: ['TIME'] })), ['/changes'])
  assert.deepEqual(pointers(object({ changes: [] })), [])
})

test('an update may contain a single field', () => {
  const { definition, faults } = readDefinition({ eventDefnId: 5, active: false })
  assert.deepEqual(faults, [])
  const merged = mergeDefinition(definition, stored())
  assert.deepEqual(merged.faults, [])
  assert.deepEqual(merged.references, [])
  assert.deepEqual(merged.definition, stored({ active: false }))

  const hours = readDefinition({ eventDefnId: 5, triggerHours: -48 }).definition
  assert.deepEqual(
    mergeDefinition(hours, stored({ triggerMinutes: -30 })).definition,
    stored({ triggerHours: -48, triggerMinutes: 0, triggerMonths: 0 }),
    'an offset replaces the whole offset',
  )
  const noMonths = readDefinition({ eventDefnId: 5, triggerMonths: null }).definition
  assert.deepEqual(
    mergeDefinition(noMonths, stored({ triggerMinutes: -30 })).definition,
    stored({ triggerMonths: 0, triggerMinutes: -30 }),
  )
  const after = readDefinition({ eventDefnId: 5, triggerWhen: { value: 'after' } }).definition
  assert.deepEqual(
    mergeDefinition(after, stored({ triggerMonths: 0, triggerHours: 24 })).faults,
    [],
  )
  assert.deepEqual(
    mergeDefinition(after, stored()).faults.map(({ pointer }) => pointer),
    ['/triggerWhen/value'],
  )
})

const before = { triggerWhen: { label: 'Before', value: 'before' } }
const after = { triggerWhen: { label: 'After', value: 'after' } }
const offsets: { name: string; given: Body; reads?: number[]; refuses?: string[] }[] = [
  {
    name: 'plain fields alone',
    given: { triggerHours: -24, triggerMinutes: 5 },
    reads: [0, -24, 5],
  },
  { name: 'hours alone', given: { triggerHours: -24 }, refuses: ['/triggerMinutes'] },
  { name: 'minutes alone', given: { triggerMinutes: 0 }, refuses: ['/triggerHours'] },
  { name: 'nothing', given: {}, refuses: ['/triggerHours', '/triggerMinutes'] },
  {
    name: 'only triggerWhen',
    given: { ...before },
    refuses: ['/triggerHours', '/triggerMinutes'],
  },
  {
    name: 'a unit of 0 replaces both plain fields',
    given: { triggerDays: 0 },
    reads: [0, 0, 0],
  },
  {
    name: 'hours and a unit of 0',
    given: { triggerHours: -2, triggerWeeks: 0 },
    reads: [0, -2, 0],
  },
  {
    name: 'a unit of null does not replace them',
    given: { triggerDays: null },
    refuses: ['/triggerHours', '/triggerMinutes'],
  },
  {
    name: 'all units before',
    given: {
      triggerMonths: 1,
      triggerWeeks: 2,
      triggerDays: 3,
      triggerHoursValue: 4,
      triggerMinutesValue: 5,
      ...before,
    },
    reads: [-1, -(2 * 168 + 3 * 24 + 4), -5],
  },
  {
    name: 'all units after, with plain fields of 0',
    given: {
      triggerHours: 0,
      triggerMinutes: 0,
      triggerMonths: 1,
      triggerDays: 3,
      triggerMinutesValue: 5,
      ...after,
    },
    reads: [1, 72, 5],
  },
  {
    name: 'units of 0 before make 0, not minus 0',
    given: { triggerMonths: 0, triggerDays: 0, triggerMinutesValue: 0, ...before },
    reads: [0, 0, 0],
  },
  {
    name: 'plain fields that say something else than the units',
    given: { triggerHours: -24, triggerMinutes: 0, triggerDays: 9, triggerMonths: 1, ...before },
    refuses: ['/triggerHours'],
  },
  {
    name: 'a week and 30 minutes',
    given: { triggerWeeks: 1, triggerMinutes: 30, ...after },
    refuses: ['/triggerMinutes'],
  },
  {
    name: 'plain fields that repeat the hours and minutes of the units',
    given: {
      triggerDays: 1,
      triggerHoursValue: 2,
      triggerMinutesValue: 30,
      triggerHours: 2,
      triggerMinutes: 30,
      ...after,
    },
    reads: [0, 26, 30],
  },
  {
    name: 'plain fields that repeat the whole offset, with or without its sign',
    given: { triggerWeeks: 1, triggerHours: -168, triggerMinutes: 0, ...before },
    reads: [0, -168, 0],
  },
  {
    name: 'plain fields without a sign take that of triggerWhen',
    given: { triggerHours: 24, triggerMinutes: 5, ...before },
    reads: [0, -24, -5],
  },
  {
    name: 'a negative plain field with after',
    given: { triggerHours: -24, triggerMinutes: 0, ...after },
    refuses: ['/triggerHours'],
  },
  {
    name: 'negative units with triggerWhen',
    given: {
      triggerMonths: -1,
      triggerWeeks: -1,
      triggerDays: -1,
      triggerHoursValue: -1,
      triggerMinutesValue: -1,
      ...before,
    },
    refuses: [
      '/triggerMonths',
      '/triggerWeeks',
      '/triggerDays',
      '/triggerHoursValue',
      '/triggerMinutesValue',
    ],
  },
  {
    name: 'units without triggerWhen: only months may be signed',
    given: {
      triggerMonths: -6,
      triggerWeeks: 1,
      triggerDays: 2,
      triggerHoursValue: 3,
      triggerMinutesValue: 4,
    },
    refuses: ['/triggerWeeks', '/triggerDays', '/triggerHoursValue', '/triggerMinutesValue'],
  },
  {
    name: 'months with plain hours, as in responses',
    given: { triggerMonths: -1, triggerHours: -48, triggerMinutes: 0 },
    reads: [-1, -48, 0],
  },
  {
    name: 'triggerWhen without a value counts as absent',
    given: { triggerMonths: -1, triggerWhen: { label: 'x' } },
    reads: [-1, 0, 0],
  },
  {
    name: 'triggerWhen of null counts as absent',
    given: { triggerMonths: -1, triggerWhen: null },
    reads: [-1, 0, 0],
  },
  {
    name: 'an unknown triggerWhen',
    given: { triggerDays: 1, triggerWhen: { value: 'during' } },
    refuses: ['/triggerWhen/value'],
  },
  {
    name: 'a triggerWhen that is not an object',
    given: { triggerHours: 1, triggerMinutes: 0, triggerWhen: 'before' },
    refuses: ['/triggerWhen'],
  },
  {
    name: 'units that are not integers',
    given: {
      triggerMonths: '1',
      triggerWeeks: 0.5,
      triggerDays: true,
      triggerHoursValue: {},
      triggerMinutesValue: [],
    },
    refuses: [
      '/triggerMonths',
      '/triggerWeeks',
      '/triggerDays',
      '/triggerHoursValue',
      '/triggerMinutesValue',
    ],
  },
  { name: 'ten years of months', given: { triggerMonths: 120, ...before }, reads: [-120, 0, 0] },
  {
    name: 'more than ten years of months',
    given: { triggerMonths: 121, ...before },
    refuses: ['/triggerMonths'],
  },
  {
    name: 'more than ten years in all',
    given: { triggerMonths: 119, triggerWeeks: 5, ...after },
    refuses: ['/triggerMonths'],
  },
  {
    name: 'more than ten years of weeks',
    given: { triggerWeeks: 522, ...before },
    refuses: ['/triggerWeeks'],
  },
  {
    name: 'huge hours and minutes do not cancel each other out',
    given: { triggerHours: 900_000, triggerMinutes: -900_000 * 60 },
    refuses: ['/triggerHours'],
  },
]
for (const { name, given, reads, refuses = [] } of offsets) {
  test(`the offset: ${name}`, () => {
    const base = without(object(), 'triggerHours', 'triggerMinutes')
    const top = read({ ...base, ...given })
    const nested = read({ ...base, eventType: { eventTypeId: 3, ...given } })
    assert.deepEqual(top.faults.map((fault) => fault.pointer).toSorted(), refuses.toSorted())
    assert.equal(nested.faults.length, refuses.length)
    if (!reads) return
    for (const { whole } of [top, nested]) {
      assert.deepEqual([whole.triggerMonths, whole.triggerHours, whole.triggerMinutes], reads)
    }
  })
}

const statuses: { name: string; given: Body; reads?: unknown; refuses?: string[] }[] = [
  {
    name: 'the object is used if the plain field is absent',
    given: { newStatusObject: { label: 'Any', value: '*' } },
    reads: '*',
  },
  {
    name: 'the object is used if the plain field is null',
    given: { newStatus: null, newStatusObject: { value: 'OPEN' } },
    reads: 'OPEN',
  },
  {
    name: 'the plain field wins',
    given: { newStatus: 'OPEN', newStatusObject: { value: 'CONFIRMED' } },
    reads: 'OPEN',
  },
  {
    name: 'the object is used if the plain field is empty',
    given: { newStatus: '', newStatusObject: { value: 'OPEN' } },
    reads: 'OPEN',
  },
  {
    name: 'an empty value counts as absent',
    given: { newStatus: '', newStatusObject: { value: '' } },
    reads: undefined,
  },
  {
    name: 'an object without a value counts as absent',
    given: { newStatusObject: { label: 'Any' } },
    reads: undefined,
  },
  { name: 'an object of null clears the status', given: { newStatusObject: null }, reads: null },
  {
    name: 'an object with a value of null clears the status',
    given: { newStatusObject: { value: null } },
    reads: null,
  },
  {
    name: 'a value in place of the object',
    given: { newStatusObject: 'OPEN' },
    refuses: ['/newStatusObject'],
  },
  {
    name: 'a value that is not a string',
    given: { newStatusObject: { value: 5 } },
    refuses: ['/newStatusObject/value'],
  },
]
for (const { name, given, reads, refuses = [] } of statuses) {
  test(`a status: ${name}`, () => {
    const { definition, faults } = read(of(2, 'CALENDAR', given))
    assert.deepEqual(
      faults.map((fault) => fault.pointer),
      refuses,
    )
    if (refuses.length === 0) assert.equal(definition.newStatus, reads)
    const other = JSON.parse(JSON.stringify(given).replaceAll('newStatus', 'oldStatus'))
    if (refuses.length === 0) {
      assert.equal(read(of(2, 'CALENDAR', other)).definition.oldStatus, reads)
    }
  })
}

const all = { label: 'All', value: 'all' }
const select = { label: 'Selected', value: 'select' }
const ids = {
  locationIdList: [1],
  disclaimerFormIdList: [2],
  professionalIdList: [3],
  reasonIdList: [4],
}
const selections: { name: string; given: Body; empties: string[]; refuses?: string[] }[] = [
  { name: 'no choice empties nothing', given: {}, empties: [] },
  {
    name: 'all locations',
    given: { allOrNoneSelect: { value: 'all' } },
    empties: ['locationIdList'],
  },
  {
    name: 'other values empty nothing',
    given: {
      allOrNoneSelect: { value: 'none', locations: { label: 'all' } },
      staff: { value: 'some' },
    },
    empties: [],
  },
  {
    name: 'all disclaimer forms',
    given: { allOrNoneSelect: { disclaimerForms: all } },
    empties: ['disclaimerFormIdList'],
  },
  { name: 'all staff', given: { staff: all }, empties: ['professionalIdList'] },
  { name: 'all services', given: { reasons: all }, empties: ['reasonIdList'] },
  {
    name: 'all staff and services, inside allOrNoneSelect',
    given: { allOrNoneSelect: { staff: all, reasons: all } },
    empties: ['professionalIdList', 'reasonIdList'],
  },
  {
    name: 'another choice outside than inside allOrNoneSelect',
    given: { staff: select, allOrNoneSelect: { staff: all } },
    empties: [],
    refuses: ['/allOrNoneSelect/staff/value', '/staff/value'],
  },
  {
    name: 'the same choice outside and inside allOrNoneSelect',
    given: { reasons: all, allOrNoneSelect: { reasons: { ...all, label: 'All' } } },
    empties: ['reasonIdList'],
  },
  { name: 'selected staff and services', given: { staff: select, reasons: select }, empties: [] },
  {
    name: 'selected staff, none in the list',
    given: { staff: select, professionalIdList: [] },
    empties: [],
    refuses: ['/professionalIdList'],
  },
  {
    name: 'no staff, none in the list',
    given: { staff: { value: 'none' }, professionalIdList: [] },
    empties: [],
    refuses: ['/professionalIdList'],
  },
  {
    name: 'selected services, a list of null',
    given: { reasons: select, reasonIdList: null },
    empties: [],
    refuses: ['/reasonIdList'],
  },
  {
    name: 'choices of the wrong kind',
    given: { staff: 'all', reasons: { value: 1 }, allOrNoneSelect: 'all' },
    empties: [],
    refuses: ['/allOrNoneSelect', '/staff', '/reasons/value'],
  },
]
for (const { name, given, empties, refuses = [] } of selections) {
  test(`the lists: ${name}`, () => {
    for (const body of [object({ ...ids, ...given }), write({ ...ids, ...given })]) {
      const { definition, faults } = read(body)
      assert.deepEqual(
        faults.map((fault) => fault.pointer.replace('/eventType', '')).toSorted(),
        refuses.toSorted(),
      )
      if (refuses.length > 0) continue
      const emptied = Object.keys(ids).filter(
        (list) => definition[list as keyof typeof ids]?.length === 0,
      )
      assert.deepEqual(emptied, empties)
    }
  })
}

test('a selection without a list is refused on create, and uses the stored list on update', () => {
  assert.deepEqual(pointers(object({ staff: select })), ['/professionalIdList'])
  const { definition, faults } = readDefinition(object({ eventDefnId: 5, staff: select }))
  assert.deepEqual(faults, [])
  assert.deepEqual(mergeDefinition(definition, stored({ professionalIdList: [3] })).faults, [])
  assert.deepEqual(
    mergeDefinition(definition, stored()).faults.map((fault) => fault.pointer),
    ['/professionalIdList'],
  )
})

const action = { actionType: 'SEND_EMAIL', active: true, businessId: 1, emailTemplateId: 9 }

test('actions are read under either name, on either level, without a definition id', () => {
  for (const body of [
    object({ eventActions: [action] }),
    object({ templateActions: [action] }),
    write({ templateActions: [action] }),
    write({ eventActions: [action] }),
    object({ eventActions: null, templateActions: [{ ...action, eventDefnId: 'of no matter' }] }),
  ]) {
    const { definition, faults } = read(body)
    assert.deepEqual(faults, [])
    assert.equal(definition.actions?.length, 1)
    assert.equal(definition.actions?.[0]?.emailTemplateId, 9)
  }
  assert.equal(read(object({ eventActions: null })).definition.actions, undefined)
  assert.deepEqual(read(object({ eventActions: [{ eventActionId: 3, active: false }] })).faults, [])
})

test('every fault of every action has its pointer', () => {
  assert.deepEqual(
    pointers(
      write({
        templateActions: [
          action,
          null,
          5,
          { ...action, actionType: 'SEND_SMS', recipient: { value: 'dog' } },
          without(action, 'emailTemplateId', 'active'),
        ],
      }),
    ),
    [
      '/eventType/templateActions/1',
      '/eventType/templateActions/2',
      '/eventType/templateActions/3/actionType',
      '/eventType/templateActions/3/recipient/value',
      '/eventType/templateActions/4/active',
      '/eventType/templateActions/4/emailTemplateId',
    ],
  )
  assert.deepEqual(pointers(object({ eventActions: Array.from({ length: 101 }, () => action) })), [
    '/eventActions',
  ])
})

test('a body that is not an object is one fault', () => {
  for (const body of [undefined, null, 5, 'x', true, []]) {
    assert.deepEqual(read(body).faults, [{ pointer: '', detail: 'must be a JSON object' }])
  }
})

test('all faults are reported at once', () => {
  assert.deepEqual(
    pointers({
      active: 1,
      businessId: 'x',
      objectType: 'DOG',
      triggerHours: '1',
      eventType: { eventTypeId: 99, locationIdList: [0] },
      staff: 5,
      offsetMode: 'x',
    }).toSorted(),
    [
      '/active',
      '/businessId',
      '/eventType/eventTypeId',
      '/eventType/locationIdList/0',
      '/objectType',
      '/offsetMode',
      '/staff',
      '/triggerHours',
      '/triggerMinutes',
    ],
  )
})

test('every reference of a body is listed with its pointer', () => {
  const { references } = read(
    of(2, 'CALENDAR', {
      objectId: 7,
      locationIdList: [10, 11],
      disclaimerFormIdList: [20],
      reasonIdList: [30],
      groupIdList: [99],
      newStatus: '*',
      eventType: { eventTypeId: 2, professionalIdList: [40], oldStatusObject: { value: 'OPEN' } },
      eventActions: [{ ...action, eventActionId: 50, emailCategoryId: 60 }],
    }),
  )
  assert.deepEqual(
    byPointer(references),
    [
      { kind: 'business', id: 1, pointer: '/businessId' },
      { kind: 'disclaimerForm', id: 20, pointer: '/disclaimerFormIdList/0' },
      { kind: 'business', id: 1, pointer: '/eventActions/0/businessId' },
      { kind: 'eventAction', id: 50, pointer: '/eventActions/0/eventActionId' },
      { kind: 'emailCategory', id: 60, pointer: '/eventActions/0/emailCategoryId' },
      { kind: 'emailTemplate', id: 9, pointer: '/eventActions/0/emailTemplateId' },
      {
        kind: 'status',
        objectType: 'CALENDAR',
        id: 'OPEN',
        pointer: '/eventType/oldStatusObject/value',
        canBeAny: true,
      },
      { kind: 'professional', id: 40, pointer: '/eventType/professionalIdList/0' },
      { kind: 'location', id: 10, pointer: '/locationIdList/0' },
      { kind: 'location', id: 11, pointer: '/locationIdList/1' },
      { kind: 'calendar', id: 7, pointer: '/objectId' },
      { kind: 'reason', id: 30, pointer: '/reasonIdList/0' },
    ].toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1)),
  )
})

const byPointer = (references: Reference[]) =>
  references.toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1))

const kindOf = (eventTypeId: number, objectType: string) =>
  read(of(eventTypeId, objectType, { objectId: 7 })).references.find(
    ({ pointer }) => pointer === '/objectId',
  )?.kind

test('objectId refers to the kind of object that the definition is about', () => {
  assert.equal(kindOf(1, 'CALENDAR'), 'calendar')
  assert.equal(kindOf(6, 'CLASS_SCHEDULE'), 'classSchedule')
  assert.equal(kindOf(8, 'INVITATION_CAMPAIGN'), 'invitationCampaign')
  assert.equal(kindOf(10, 'RECALL'), 'recall')
  assert.equal(kindOf(12, 'CALENDAR'), 'calendar')
  assert.equal(kindOf(13, 'RECALL'), 'disclaimer')
})

const found = (eventTypeId: number, objectType: string, newStatus: string) =>
  read(of(eventTypeId, objectType, { newStatus })).references.filter(
    ({ kind }) => kind === 'status',
  )

test('a status is looked up on every event type, among those of its object type', () => {
  assert.deepEqual(
    found(1, 'CALENDAR', 'WHATEVER').map(({ id }) => id),
    ['WHATEVER'],
  )
  assert.deepEqual(found(2, 'CALENDAR', '*'), [])
  assert.deepEqual(found(11, 'INVITATION_CAMPAIGN', 'SENT'), [
    { kind: 'status', objectType: 'INVITATION', id: 'SENT', pointer: '/newStatus', canBeAny: true },
  ])
  assert.deepEqual(found(13, 'CALENDAR', 'SIGNED'), [
    {
      kind: 'status',
      objectType: 'DISCLAIMER',
      id: 'SIGNED',
      pointer: '/newStatus',
      canBeAny: true,
    },
  ])
})

test('the ids of a list that the choice all empties are not looked up', () => {
  const { references } = read(object({ staff: all, professionalIdList: [999] }))
  assert.deepEqual(
    references.map(({ kind }) => kind),
    ['business'],
  )
})

const stored = (changes: Partial<Definition> = {}): Definition => ({
  active: true,
  businessId: 1,
  description: 'as it was',
  disclaimerFormIdList: [],
  eventTypeId: 2,
  filterTagMapJson: '{"a":["b"]}',
  groupIdList: [1],
  locationIdList: [10],
  newStatus: 'CONFIRMED',
  objectId: 7,
  objectType: 'CALENDAR',
  objectUUId: null,
  oldStatus: '*',
  professionalIdList: [],
  reasonIdList: [],
  triggerMonths: -1,
  triggerHours: 0,
  triggerMinutes: 0,
  offsetMode: 'CALENDAR',
  latePolicy: 'SEND',
  allowPast: true,
  triggerAnchor: 'END',
  changes: [],
  onlyIfStatus: [],
  ...changes,
})

test('a new definition has an empty value for every absent field', () => {
  const { definition, faults, references } = mergeDefinition(readDefinition(object()).definition)
  assert.deepEqual([faults, references], [[], []])
  assert.deepEqual(definition, {
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
    allowPast: false,
    triggerAnchor: 'START',
    changes: [],
    onlyIfStatus: [],
  })
})

test('an update writes its fields, clears those that are null, and keeps the rest', () => {
  const update = of(2, 'CALENDAR', {
    eventDefnId: 5,
    active: false,
    description: 'new',
    filterTagMapJson: null,
    locationIdList: null,
    newStatus: null,
    latePolicy: null,
  })
  const { definition } = mergeDefinition(readDefinition(update).definition, stored())
  assert.deepEqual(
    definition,
    stored({
      active: false,
      description: 'new',
      filterTagMapJson: null,
      locationIdList: [],
      newStatus: null,
      latePolicy: 'SKIP',
      triggerHours: -24,
      triggerMonths: 0,
    }),
  )
})

const referencesOf = (body: Body) =>
  mergeDefinition(readDefinition(body).definition, stored()).references

test('stored references are looked up again if an update changes the object type', () => {
  assert.deepEqual(referencesOf(of(2, 'CALENDAR')), [])
  assert.deepEqual(referencesOf(of(5, 'CLASS_SCHEDULE')), [
    { kind: 'classSchedule', id: 7, pointer: '/objectId' },
    {
      kind: 'status',
      objectType: 'CLASS_SCHEDULE',
      id: 'CONFIRMED',
      pointer: '/newStatus',
      canBeAny: true,
    },
  ])
  assert.deepEqual(referencesOf(of(5, 'CLASS_SCHEDULE', { objectId: null, newStatus: null })), [])
})

test('the schemas hold the fields of the interface, and both forms conform to the documented body', () => {
  const { definition } = mergeDefinition(readDefinition(object()).definition)
  const { eventTypeId: _, ...rest } = definition
  const answered = {
    ...rest,
    eventDefnId: 5,
    eventActions: null,
    eventType: EVENT_TYPES[2],
    createdDate: 1,
    createdUser: 'key:x',
    modifiedDate: 1,
    modifiedUser: 'key:x',
    version: 1,
    deletedDate: null,
  }
  assert.ok(Schema.Check(EventDefinition, answered))
  const names = fields.map(({ name }) => name)
  for (const name of [...names, 'eventType', 'version'])
    assert.ok(name in EventDefinition.properties, name)
  assert.ok(Schema.Check(EventDefinitionBody, object()))
  assert.ok(Schema.Check(EventDefinitionBody, write({ ...before, templateActions: [action] })))
})
