import assert from 'node:assert/strict'
import { test } from 'node:test'
import Schema from 'typebox/schema'
import {
  EMAIL_MSG_TYPE,
  EventAction,
  EventActionBody,
  labelled,
  readAction,
  RECIPIENTS,
  type ActionInput,
} from '../../src/contract/event-action.ts'
import { EventTrigger, isFinal, TRIGGER_STATUSES } from '../../src/contract/event-trigger.ts'

type Body = Record<string, unknown>

const body = (changes: Body = {}): Body => ({
  actionType: 'SEND_EMAIL',
  active: true,
  businessId: 1,
  emailTemplateId: 9,
  eventDefnId: 5,
  ...changes,
})

const without = (from: Body, ...names: string[]) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)))

const pointers = (of: unknown) => readAction(of).faults.map((fault) => fault.pointer)

const notIds = [0, -1, 1.5, '1', true, {}, [], 2 ** 53]

/** Spec 2.2 in its order, then what its write form adds. */
const fields: {
  name: string
  reads?: [value: unknown, as: unknown][]
  into?: keyof ActionInput
  refuses?: unknown[]
  at?: string
  required?: true
  cleared?: unknown
}[] = [
  { name: 'actionType', required: true, refuses: ['SEND_SMS', 'send_email', '', 1, {}] },
  {
    name: 'active',
    required: true,
    reads: [
      [true, true],
      [false, false],
    ],
    refuses: ['true', 1, {}],
  },
  { name: 'businessId', required: true, reads: [[2 ** 40, 2 ** 40]], refuses: notIds },
  { name: 'createdDate', reads: [['x', undefined]], into: 'eventActionId' },
  { name: 'createdUser', reads: [[1, undefined]], into: 'eventActionId' },
  { name: 'emailCategoryId', reads: [[4, 4]], refuses: notIds, cleared: null },
  { name: 'emailTemplateId', required: true, reads: [[4, 4]], refuses: notIds },
  {
    name: 'eventActionId',
    reads: [
      [4, 4],
      [0, undefined],
    ],
    refuses: notIds.filter((value) => value !== 0),
    cleared: undefined,
  },
  { name: 'eventDefnId', required: true, reads: [[4, 4]], refuses: notIds },
  { name: 'modifiedDate', reads: [[[], undefined]], into: 'eventActionId' },
  { name: 'modifiedUser', reads: [[{}, undefined]], into: 'eventActionId' },
  { name: 'categoryForLookup', reads: [['x', undefined]], into: 'eventActionId' },
  {
    name: 'msgType',
    into: 'eventActionId',
    reads: [
      [{ eventTypeCodes: ['APPT'], label: 'Email', value: 'email' }, undefined],
      [{}, undefined],
    ],
    refuses: [{ value: 'sms' }, { value: '' }, { value: 1 }],
    at: '/msgType/value',
    cleared: undefined,
  },
  { name: 'noTemplatesInCategory', reads: [['x', undefined]], into: 'eventActionId' },
  {
    name: 'recipient',
    reads: [
      [{ label: 'Student', value: 'client' }, 'client'],
      [{ value: 'staff' }, 'staff'],
      [{ value: 'business' }, 'business'],
      [{ value: 'template' }, 'template'],
      [{ label: 'Student' }, undefined],
      [{ value: null }, null],
    ],
    refuses: [{ value: 'student' }, { value: 'Client' }, { value: '' }, { value: 5 }],
    at: '/recipient/value',
    cleared: null,
  },
  { name: 'templateOptions', reads: [[5, undefined]], into: 'eventActionId' },
]

for (const { name, reads = [], into, refuses = [], at, required, cleared } of fields) {
  const field = (into ?? name) as keyof ActionInput

  test(`${name} of an action is read, or refused at its own pointer`, () => {
    for (const [value, as] of reads) {
      const { action, faults } = readAction(body({ [name]: value }))
      assert.deepEqual(faults, [])
      assert.equal(action[field], as)
    }
    for (const value of refuses) {
      assert.deepEqual(pointers(body({ [name]: value })), [at ?? `/${name}`], String(value))
    }
    if (required) {
      for (const missing of [without(body(), name), body({ [name]: null })]) {
        const [fault, ...others] = readAction(missing).faults
        assert.deepEqual([fault?.pointer, others], [`/${name}`, []])
        assert.match(fault!.detail, /^is required: \S/)
      }
      // An update may leave it out.
      assert.deepEqual(readAction(without(body({ eventActionId: 3 }), name)).faults, [])
    } else if (refuses.length > 0) {
      assert.equal(readAction(body()).action[field], undefined)
      const { action, faults } = readAction(body({ [name]: null }))
      assert.deepEqual(faults, [])
      assert.equal(action[field], cleared)
    }
  })
}

const linked = (changes: Body) => readAction({ ...without(body(), 'eventDefnId'), ...changes })

test('the definition id has two names, which must agree', () => {
  assert.equal(linked({ eventDefinitionId: 6 }).action.eventDefnId, 6)
  assert.equal(linked({ eventDefnId: null, eventDefinitionId: 6 }).action.eventDefnId, 6)
  assert.equal(linked({ eventDefnId: 0, eventDefinitionId: 6 }).action.eventDefnId, 6)
  assert.deepEqual(
    linked({ eventDefnId: 5, eventDefinitionId: 6 }).faults.map((fault) => fault.pointer),
    ['/eventDefnId', '/eventDefinitionId'],
  )
  assert.deepEqual(
    linked({ eventDefinitionId: 'x' }).faults.map((fault) => fault.pointer),
    ['/eventDefinitionId'],
  )
})

test('a whole template is accepted: only its id counts, and only without emailTemplateId', () => {
  const template = { emailTemplateId: 7, subject: 5, emailCategory: 'x', anything: [] }
  const plain = without(body(), 'emailTemplateId')
  assert.equal(readAction({ ...plain, template }).action.emailTemplateId, 7)
  assert.equal(readAction(body({ template })).action.emailTemplateId, 9)
  assert.deepEqual(pointers({ ...plain, template: {} }), ['/emailTemplateId'])
  assert.deepEqual(pointers({ ...plain, template: { emailTemplateId: 'x' } }), [
    '/template/emailTemplateId',
  ])
  assert.deepEqual(
    pointers(body({ template: 'x', msgType: 'email', recipient: 'client' })).toSorted(),
    ['/msgType', '/recipient', '/template'],
  )
})

test('an update of an action may contain a single field', () => {
  assert.deepEqual(readAction({ eventActionId: 3, active: false }).faults, [])
  assert.deepEqual(pointers({ eventActionId: 3, active: true }), [])
  assert.equal(pointers({ active: false }).length, 4)
  assert.deepEqual(pointers({ eventActionId: 3, active: false, emailTemplateId: 'x' }), [
    '/emailTemplateId',
  ])
})

test('an action refers to its business, definition, template and category', () => {
  const { references } = readAction(body({ emailCategoryId: 4, eventActionId: 3 }))
  assert.deepEqual(
    references.map(({ kind, id, pointer }) => `${kind} ${id} ${pointer}`),
    [
      'business 1 /businessId',
      'emailTemplate 9 /emailTemplateId',
      'emailCategory 4 /emailCategoryId',
      'eventDefinition 5 /eventDefnId',
    ],
  )
})

test('a body that is not an object is one fault', () => {
  for (const wrong of [undefined, null, 5, 'x', []]) assert.deepEqual(pointers(wrong), [''])
})

test('a response conforms to its schema, for each recipient', () => {
  for (const recipient of RECIPIENTS.map(labelled)) {
    const answered = {
      ...body(),
      emailCategoryId: null,
      eventActionId: 3,
      createdDate: 1,
      createdUser: 'key:x',
      modifiedDate: 1,
      modifiedUser: 'key:x',
      recipient,
      msgType: EMAIL_MSG_TYPE,
    }
    assert.ok(Schema.Check(EventAction, answered))
    assert.ok(Schema.Check(EventActionBody, answered), 'and may be sent back')
    assert.deepEqual(pointers(answered), [])
  }
})

test('a trigger has the fields of the interface in its order, then its reason, codes and approval', () => {
  assert.deepEqual(Object.keys(EventTrigger.properties), [
    'businessId',
    'completedTime',
    'createdDate',
    'createdUser',
    'eventDefnId',
    'eventTriggerId',
    'modifiedDate',
    'modifiedUser',
    'objectId',
    'objectType',
    'objectUUId',
    'scheduledTime',
    'status',
    'statusReason',
    'statusReasons',
    'approvalId',
  ])
  assert.deepEqual(
    TRIGGER_STATUSES.filter((status) => !isFinal(status)),
    ['SCHEDULED', 'RUNNING'],
  )
})
