import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { ask } from '../support/callers.ts'
import { addBusiness, shareWorld, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

// oxlint-disable-next-line typescript/no-explicit-any -- the description is asserted on, not typed
type Description = { paths: Record<string, Record<string, any>> }

const OPERATOR = 'an-operator-key-of-the-tests-1234'

/** A world with one object of every kind, and the answers that created them. */
async function startFilledWorld(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t, { ADMIN_API_KEY: OPERATOR })
  const { call, ids, businessId } = world
  const save = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    assert.equal(answer.status, 201, `${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const times = { startTime: 1_800_000_000_000, endTime: 1_800_000_900_000 }
  const { clientId, ...course } = ids
  const category = await save('/emailCategory', { name: 'News', transactional: false })
  const template = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hi',
    emailBody: '<p>%CLIENT_PHONE%</p>',
    emailCategoryId: category.emailCategoryId,
  })
  const campaign = await save('/invitationCampaign', { name: 'Spring' })
  const form = await save('/disclaimerForm', { name: 'Consent' })
  const calendar = await save('/calendar', { ...ids, ...times, externalId: 'A 1' })
  const definition = await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventType: 'APPT_REMINDER' },
    triggerHours: -24,
    triggerMinutes: 0,
    eventActions: [
      {
        actionType: 'SEND_EMAIL',
        active: true,
        businessId,
        emailTemplateId: template.emailTemplateId,
      },
    ],
  })
  const user = await save('/user', {
    username: 'ada',
    password: 'a long one, please',
    role: 'OWNER',
    emailAddress: 'ada@praxis.example',
  })
  const saved: Record<string, Record<string, unknown>> = {
    '/location': await save('/location', { name: 'Seefeld' }),
    '/reason': await save('/reason', { name: 'Massage' }),
    '/professional': await save('/professional', {
      firstName: 'Tom',
      lastName: 'Becker',
      workingHours: [{ weekday: 'MONDAY', from: '09:00', to: '17:00' }],
    }),
    '/client': await save('/client', { firstName: 'Bo', lastName: 'Li', tags: { a: ['b'] } }),
    '/calendar': calendar,
    '/classSchedule': await save('/classSchedule', { name: 'Yoga', ...course, ...times }),
    '/invitationCampaign': campaign,
    '/invitation': await save('/invitation', {
      invitationCampaignId: campaign.invitationCampaignId,
      clientId,
    }),
    '/recall': await save('/recall', { clientId, dueTime: times.startTime }),
    '/disclaimerForm': form,
    '/disclaimer': await save('/disclaimer', {
      disclaimerFormId: form.disclaimerFormId,
      clientId,
      calendarId: calendar.calendarId,
    }),
    '/emailCategory': category,
    '/emailTemplate': template,
    '/eventDefinition': definition,
    '/status': await save('/status', { objectType: 'CALENDAR', status: 'LATE', label: 'Late' }),
    '/apiKey': await save('/apiKey', { name: 'other' }),
    '/user': user,
    '/fileLibrary': await save('/fileLibrary', { name: 'Map.txt', content: 'TGVmdA==' }),
    '/reportView': await save('/reportView', { name: 'Open', reportId: 101 }),
    '/reportSchedule': await save('/reportSchedule', {
      reportId: 102,
      frequency: 'WEEKLY',
      weekday: 'MONDAY',
      range: 'LAST_WEEK',
      userIdList: [user.userId],
    }),
    '/reportTarget': await save('/reportTarget', {
      reportId: 102,
      kpi: 'noShowRate',
      direction: 'ABOVE',
      value: 8.5,
      range: 'LAST_30_DAYS',
      userIdList: [user.userId],
    }),
    '/feed': await save('/feed', { name: 'Salon', source: 'INLET', mode: 'SHADOW' }),
  }
  return { ...world, saved }
}

/** Without `planning`, because on a busy machine the answer may not wait for the plan. */
const withoutPlanning = ({ planning: _planning, ...definition }: Record<string, unknown>) =>
  definition

test('every answer can be POSTed back without changing anything', async (t) => {
  const { call, clock, saved, businessId } = await startFilledWorld(t)
  const back = async (path: string, body: Record<string, unknown>) => {
    clock.advance({ seconds: 1 })
    const answer = await call('POST', path, body)
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`)
    assert.equal(answer.body.version, body.version, path)
    assert.equal(answer.body.modifiedDate, body.modifiedDate, path)
    return answer.body
  }
  for (const kind of OBJECT_KINDS) assert.ok(saved[kind.path], kind.kind)
  for (const [path, answer] of Object.entries(saved)) await back(path, answer)

  for (const { path, id } of OBJECT_KINDS) {
    await back(path, (await call('GET', `${path}/${saved[path]![id]}`)).body)
    const { items } = (await call('GET', path)).body
    await back(path, items[0])
  }
  const lists = ['/eventDefinition?expand=actions,activity&active=all', '/eventAction', '/user']
  const others = [
    '/apiKey',
    '/business',
    '/fileLibrary',
    '/reportView',
    '/reportSchedule',
    '/reportTarget',
    '/feed',
  ]
  for (const list of [...lists, ...others]) {
    const { items } = (await call('GET', list)).body
    assert.ok(items.length > 0, list)
    for (const item of items) await back(list.split('?')[0]!, item)
  }
  for (const status of (await call('GET', '/status')).body) await back('/status', status)
  for (const { path } of OBJECT_KINDS.filter((kind) => kind.objectType)) {
    const { items } = (await call('GET', `${path}?expand=names,messages`)).body
    assert.ok('clientName' in items[0] && 'messages' in items[0], path)
    await back(path, items[0])
  }
  await back('/business', (await call('GET', `/business/${businessId}`)).body)

  const [report] = (await call('GET', '/reports/category')).body[0].reports
  const range = 'startDate=2026-03-01&endDate=2026-03-31&format=json'
  assert.equal((await call('POST', `/report/print/file?${range}`, report)).status, 200)
})

test('a suppressed address can be POSTed back without changing anything', async (t) => {
  const { call, clock, saved } = await startFilledWorld(t)
  const { emailCategoryId } = saved['/emailCategory']!
  const emailAddress = 'bo@example.org'
  const all = (await call('POST', '/suppression', { emailAddress, detail: 'by phone' })).body
  const news = (await call('POST', '/suppression', { emailAddress, emailCategoryId })).body
  const bounced = (await call('POST', '/suppression', { emailAddress, reason: 'BOUNCED' })).body
  assert.deepEqual([all.emailCategoryId, news.emailCategoryId], [null, emailCategoryId])
  clock.advance({ seconds: 1 })
  for (const entry of [all, news, bounced]) {
    const { status, body } = await call('POST', '/suppression', entry)
    assert.deepEqual([status, body], [200, entry])
  }
  assert.equal((await call('GET', '/suppression')).body.items.length, 3)
})

test('a suppression of a category names one of the business, and the reason UNSUBSCRIBED', async (t) => {
  const world = await startFilledWorld(t)
  const other = await addBusiness(world)
  const { emailCategoryId: theirs } = await other.save('/emailCategory', { name: 'Theirs' })
  const { emailCategoryId } = world.saved['/emailCategory']!
  const wrong = [
    { emailCategoryId: theirs },
    { emailCategoryId: 999_999 },
    { emailCategoryId, reason: 'BOUNCED' },
    { businessId: other.businessId },
  ]
  for (const more of wrong) {
    const entry = { emailAddress: 'bo@example.org', ...more }
    const { status, body } = await world.call('POST', '/suppression', entry)
    const [property] = Object.keys(more)
    assert.deepEqual([status, body.errors?.[0].pointer], [422, `/${property}`])
  }
  assert.deepEqual((await world.call('GET', '/suppression')).body.items, [])
})

test('an action without a recipient has none after its answer was POSTed back', async (t) => {
  const { call, saved } = await startFilledWorld(t)
  const { eventDefnId } = saved['/eventDefinition']!
  const { emailTemplateId } = saved['/emailTemplate']!
  const [action] = (await call('GET', '/eventAction')).body.items
  const recipientOf = async () =>
    (await call('GET', `/eventAction/${action.eventActionId}`)).body.recipient.value
  assert.equal(await recipientOf(), 'client')

  await call('POST', '/eventAction', action)
  await call('POST', '/eventDefinition', { eventDefnId, eventActions: [action] })
  await call('POST', '/emailTemplate', { emailTemplateId, toAddress: 'desk@praxis.example' })
  assert.equal(await recipientOf(), 'template')

  const { emailTemplateId: _id, templateName, ...copy } = saved['/emailTemplate']!
  const other = await call('POST', '/emailTemplate', { ...copy, templateName: `${templateName} 2` })
  assert.equal(other.status, 201)
  const shown = (await call('GET', `/eventAction/${action.eventActionId}`)).body
  // A recipient that is sent with another template is stored, so the recipient stays the same.
  await call('POST', '/eventAction', { ...shown, emailTemplateId: other.body.emailTemplateId })
  assert.equal(await recipientOf(), 'template')
})

test('the answer to DELETE of a definition can be POSTed back', async (t) => {
  const { call, saved } = await startFilledWorld(t)
  const { eventDefnId } = saved['/eventDefinition']!
  const deleted = (await call('DELETE', `/eventDefinition/${eventDefnId}`)).body
  assert.ok(deleted.deletedDate)
  const again = await call('POST', '/eventDefinition', deleted)
  assert.deepEqual([again.status, withoutPlanning(again.body)], [200, withoutPlanning(deleted)])
  const revived = await call('POST', '/eventDefinition', { ...deleted, active: true })
  assert.deepEqual([revived.body.active, revived.body.deletedDate], [true, null])
})

test('every POST refuses a property that it does not describe, with a pointer to it', async (t) => {
  const { app, call, businessId } = await startFilledWorld(t)
  const { paths } = app.swagger() as unknown as Description
  const operator = { authorization: `Bearer ${OPERATOR}` }
  const skipped = ['/session', '/user/password', '/user/language'] // need a person who signed in
  const tried: string[] = []
  for (const [path, { post }] of Object.entries(paths)) {
    const content = post?.requestBody?.content?.['application/json']
    if (!content || skipped.includes(path)) continue
    const example = content.schema.examples?.[0] ?? {}
    const address = path.replace('{businessId}', String(businessId)).replaceAll(/\{\w+\}/g, '1')
    const headers = /^\/(business(?!\/plan)|restore)/.test(path) ? operator : {}
    const own = path === '/business/plan' ? { businessId } : {}
    const sent = { ...example, ...own, zzUnknown: 1 }
    const { status, body } = await call('POST', address, sent, headers)
    assert.equal(status, 422, `${path}: ${JSON.stringify(body)}`)
    assert.ok(
      body.errors.some(
        (fault: { pointer: string; detail: string }) =>
          fault.pointer === '/zzUnknown' && fault.detail === 'unknown property',
      ),
      `${path}: ${JSON.stringify(body)}`,
    )
    tried.push(path)
  }
  assert.ok(tried.length >= 25, tried.join(' '))
})

test('a POST that takes no body refuses one with properties, and does nothing', async (t) => {
  const { call, book, clock } = await startFilledWorld(t)
  const { calendarId } = await book(clock.now().add({ hours: 72 }))
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  const path = `/eventTriggers/${trigger.eventTriggerId}/cancel`
  const { status, body } = await call('POST', path, { reason: 'moved' })
  assert.deepEqual(
    [status, body.errors],
    [422, [{ pointer: '/reason', detail: 'unknown property' }]],
  )
  assert.equal((await call('POST', path, {})).body.status, 'CANCELLED')
})

test('the nearest known name is suggested', async (t) => {
  const { call } = await enterWorld(t)
  const { body, status } = await call('POST', '/client', {
    firstName: 'Bo',
    lastName: 'Li',
    emailAdress: 'bo@example.org',
    Phone: '1',
    createdAt: 5,
  })
  assert.deepEqual(
    [status, body.code, body.type],
    [422, 'unknown-property', '/problems/unknown-property'],
  )
  assert.deepEqual(body.errors, [
    { pointer: '/emailAdress', detail: 'unknown property; did you mean emailAddress?' },
    { pointer: '/Phone', detail: 'unknown property; did you mean phone?' },
    { pointer: '/createdAt', detail: 'unknown property' },
  ])
  assert.equal((await call('GET', '/client?search=Li')).body.items.length, 0)
  const nested = await call('POST', '/professional', {
    firstName: 'Tom',
    lastName: 'Becker',
    workingHours: [{ weekday: 'MONDAY', from: '09:00', to: '17:00', till: 1 }],
  })
  assert.deepEqual(nested.body.errors, [
    { pointer: '/workingHours/0/till', detail: 'unknown property' },
  ])
})

test('no hint names a property that is ignored', async (t) => {
  const { call } = await enterWorld(t)
  const { body } = await call('POST', '/eventDefinition', {
    locationIds: [1],
    reasonIds: [1],
    eventType: { eventTypId: 3, eventTypeCod: 'APPT', zzz: 1 },
  })
  const detailOf = new Map(
    body.errors.map(({ pointer, detail }: { pointer: string; detail: string }) => [
      pointer,
      detail,
    ]),
  )
  assert.match(String(detailOf.get('/eventType/eventTypId')), /did you mean eventTypeId\?$/)
  assert.match(String(detailOf.get('/eventType/eventTypeCod')), /did you mean eventType\w*\?$/)
  assert.doesNotMatch(String(detailOf.get('/eventType/eventTypeCod')), /eventTypeCode/)
  assert.match(String(detailOf.get('/locationIds')), /; did you mean locationIdList\?$/)
  assert.match(String(detailOf.get('/reasonIds')), /; did you mean reasonIdList\?$/)
  assert.equal(detailOf.get('/eventType/zzz'), 'unknown property')
})

test('every GET refuses a query parameter that it does not describe', async (t) => {
  const { app, call } = await startFilledWorld(t)
  const operator = ask(app, { authorization: `Bearer ${OPERATOR}` })
  const { paths } = app.swagger() as unknown as Description
  let tried = 0
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get || get.security.length === 0 || path === '/metrics' || path === '/session') continue
    const read = path === '/business/health' ? operator : call
    const { status, body } = await read('GET', `${path.replaceAll(/\{\w+\}/g, '1')}?zzz=1`)
    // With the parameter 1, some of these paths do not exist.
    if (status === 404) continue
    assert.equal(status, 422, `${path}: ${JSON.stringify(body)}`)
    const unknown = body.errors.find(({ pointer }: { pointer: string }) => pointer === '?zzz')
    assert.match(unknown?.detail, /^unknown query parameter; (known are |this address takes none$)/)
    // Any other faults are missing required parameters.
    if (body.errors.length === 1) assert.equal(body.code, 'unknown-parameter', path)
    tried += 1
  }
  assert.ok(tried >= 40, String(tried))
  const signIn = await call('POST', '/session?zzz=1', { username: 'a', password: 'b' })
  assert.deepEqual([signIn.status, signIn.body.code], [422, 'unknown-parameter'])
  const { body } = await call('GET', '/calendar?clientid=1')
  assert.deepEqual(body.errors, [
    { pointer: '?clientid', detail: 'unknown query parameter; did you mean clientId?' },
  ])
})

test('the error for a wrong query parameter says what to send', async (t) => {
  const { call } = await enterWorld(t)
  const detailOf = async (path: string) => (await call('GET', path)).body.errors[0].detail
  assert.equal(
    await detailOf('/suppression?pageSize=10'),
    'unknown query parameter; known are limit, cursor, emailAddress, text',
  )
  const time =
    'must be a time from 2000 to 2200 in milliseconds since 1970-01-01 UTC, such as 1789000000000, or 0'
  assert.equal(await detailOf('/calendar?from=2026-01-01'), time)
  assert.equal(await detailOf('/eventTriggers?from=soon'), time)
  assert.equal(
    await detailOf('/eventTriggers?status=WAITING'),
    'must be one or several of SCHEDULED, RUNNING, COMPLETED, FAILED, CANCELLED, SKIPPED, EXPIRED, separated by commas',
  )
})

test('the error for a wrong method or path names the right one', async (t) => {
  const { call } = await enterWorld(t)
  const detailOf = async (method: 'PUT' | 'PATCH' | 'DELETE' | 'GET', path: string) =>
    (await call(method, path)).body.detail
  assert.equal(
    await detailOf('PUT', '/calendar/1'),
    'PUT is not allowed here. Use DELETE or GET. To change it, send POST /calendar with its calendarId in the body.',
  )
  assert.match(
    await detailOf('DELETE', '/eventAction/1'),
    /POST \/eventAction with its eventActionId/,
  )
  assert.match(
    await detailOf('PATCH', '/eventDefinition/1'),
    /POST \/eventDefinition with its eventDefnId/,
  )
  assert.equal(
    await detailOf('PATCH', '/calendar'),
    'PATCH is not allowed here. Use DELETE or GET or POST.',
  )
  assert.equal(
    await detailOf('GET', '/calender/1'),
    'There is nothing at this address; did you mean /calendar?',
  )
  assert.equal(await detailOf('GET', '/calendar/1/x'), 'There is nothing at this address.')
  assert.match(await detailOf('GET', '/explain/APPOINTMENT/1'), /Use one of CALENDAR, /)
})

test('lines of an import refuse unknown properties, and know refs and kinds', async (t) => {
  const { call, app, key } = await enterWorld(t)
  const lines = [
    { kind: 'client', ref: 'c', firstName: 'Bo', lastName: 'Li' },
    { kind: 'client', firstName: 'Bo', lastName: 'Li', mail: 'x' },
    { kind: 'recall', clientRef: 'c', dueTime: 1_800_000_000_000 },
    { kind: 'status', objectType: 'CALENDAR', status: 'LATE', label: 'Late', colour: 'red' },
    { kind: 'suppression', emailAddress: 'a@b.example', reason: 'BOUNCED', why: 'x' },
    { kind: 'business', name: 'Other', timeZone: 'Europe/Zurich', owner: 'x' },
  ]
  const answer = await app.inject({
    method: 'POST',
    url: '/import',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    payload: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  const { accepted, refused } = answer.json()
  assert.deepEqual(accepted, { client: 1, recall: 1 })
  assert.deepEqual(refused, [
    { line: 2, reason: '/mail: unknown property' },
    { line: 4, reason: '/colour: unknown property' },
    { line: 5, reason: '/why: unknown property' },
    { line: 6, reason: '/owner: unknown property' },
  ])
  assert.equal((await call('GET', '/recall')).body.items.length, 1)
})

test('definitions and actions can be updated in part', async (t) => {
  const { call, saved } = await startFilledWorld(t)
  const definition = saved['/eventDefinition']!
  const { eventDefnId } = definition
  const paused = await call('POST', '/eventDefinition', { eventDefnId, active: false })
  assert.deepEqual(
    [paused.status, withoutPlanning(paused.body)],
    [200, { ...withoutPlanning(definition), active: false, version: 2 }],
  )
  const { items } = (await call('GET', '/eventDefinition?active=false')).body
  assert.deepEqual([items.length, items[0].eventDefnId], [1, eventDefnId])
  const moved = await call('POST', '/eventDefinition', { eventDefnId, triggerHours: -48 })
  assert.deepEqual([moved.body.triggerHours, moved.body.active], [-48, false])
  // Unchanged properties must still fit the changed ones.
  const other = await call('POST', '/eventDefinition', {
    eventDefnId,
    eventType: { eventTypeId: 6 },
  })
  assert.deepEqual(
    [other.status, other.body.errors[0]],
    [
      422,
      {
        pointer: '/objectType',
        detail: 'must be CLASS_SCHEDULE for event type 6, CLASS_SCHEDULE_REMINDER',
      },
    ],
  )

  const [action] = (await call('GET', '/eventAction')).body.items
  const { eventActionId } = action
  const changed = await call('POST', '/eventAction', {
    eventActionId,
    recipient: { value: 'staff' },
  })
  assert.deepEqual(
    [changed.status, changed.body.recipient.value, changed.body.emailTemplateId],
    [200, 'staff', action.emailTemplateId],
  )
  const empty = await call('POST', '/eventDefinition', {})
  assert.deepEqual(
    empty.body.errors.map(({ pointer }: { pointer: string }) => pointer),
    [
      '/active',
      '/businessId',
      '/objectType',
      '/eventType/eventTypeId',
      '/triggerHours',
      '/triggerMinutes',
    ],
  )
  assert.match(empty.body.detail, /triggerHours: is required: send triggerHours: 0/)
})

test('every property of the interface is known to definitions and actions', async (t) => {
  const { call, businessId, saved } = await startFilledWorld(t)
  const template = {
    emailTemplateId: saved['/emailTemplate']!.emailTemplateId,
    anything: { at: 1 },
  }
  const action = {
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    createdDate: 1,
    categoryForLookup: 3,
    emailCategoryId: null,
    msgType: { eventTypeCodes: ['APPT'], label: 'Email', value: 'email' },
    noTemplatesInCategory: false,
    recipient: { label: 'Student', value: 'client' },
    template,
    templateOptions: [{ whatever: true }],
  }
  const answer = await call('POST', '/eventDefinition', {
    active: true,
    allOrNoneSelect: {
      value: 'all',
      disclaimerForms: { value: 'all' },
      locations: { label: 'All' },
    },
    reasons: { label: 'All', value: 'all' },
    staff: { label: 'All', value: 'all' },
    businessId,
    description: 'write form',
    disclaimerFormIdList: [],
    eventType: {
      eventTypeCode: 'APPT',
      eventTypeDesc: 'Appointment',
      eventTypeId: 3,
      eventTypeIds: [1, 2, 3],
      groupIdList: [],
      locationIdList: [],
      newStatus: null,
      newStatusObject: { label: 'Any', value: '*' },
      objectType: 'CALENDAR',
      oldStatus: null,
      oldStatusObject: { label: 'Any', value: '*' },
      professionalIdList: [],
      reasonIdList: [],
      templateActions: [action],
      triggerDays: 1,
      triggerHours: 0,
      triggerHoursValue: 0,
      triggerMinutes: 0,
      triggerMinutesValue: 0,
      triggerMonths: 0,
      triggerWeeks: 0,
      triggerWhen: { label: 'Before', value: 'before' },
      triggeredBy: { eventTypeCodes: ['APPT'], label: 'Time', value: 'time' },
    },
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  assert.equal(answer.body.triggerHours, -24)
})

test('lists of objects filter by externalId and by modifiedSince', async (t) => {
  const started = await enterWorld(t)
  const { call, clock } = started
  const other = await addBusiness(started)
  await other.call('POST', '/client', { firstName: 'X', lastName: 'Y', externalId: 'one' })
  for (const externalId of ['one', 'two']) {
    await call('POST', '/client', { firstName: 'Bo', lastName: externalId, externalId })
  }
  const names = async (query: string) => {
    const { items } = (await call('GET', `/client?${query}`)).body
    return items.map(({ lastName }: { lastName: string }) => lastName)
  }
  assert.deepEqual(await names('externalId=one'), ['one'])
  assert.deepEqual(await names('externalId=three'), [])
  const [{ clientId }] = (await call('GET', '/client?externalId=one')).body.items
  const taken = await call('POST', '/client', { clientId, externalId: 'two' })
  assert.equal(taken.status, 409)
  assert.match(taken.body.detail, /^Another object of this kind has this externalId\./)
  clock.advance({ minutes: 5 })
  const since = clock.now().epochMilliseconds
  assert.deepEqual(await names(`modifiedSince=${since}`), [])
  await call('POST', '/client', { externalId: 'two', lastName: 'changed' })
  assert.deepEqual(await names(`modifiedSince=${since}`), ['changed'])
  assert.deepEqual(await names(`modifiedSince=${since + 1}`), [])
})

test('businesses are listed by externalId and by modifiedSince', async (t) => {
  const { call, clock } = await startWorld(t, { ADMIN_API_KEY: OPERATOR })
  const headers = { authorization: `Bearer ${OPERATOR}` }
  for (const name of ['one', 'two']) {
    const business = { name, externalId: name, timeZone: 'Europe/Zurich' }
    assert.equal((await call('POST', '/business', business, headers)).status, 201)
  }
  const names = async (query: string) => {
    const { items } = (await call('GET', `/business?${query}`, undefined, headers)).body
    return items.map(({ name }: { name: string }) => name)
  }
  assert.deepEqual(await names('externalId=two'), ['two'])
  assert.deepEqual(await names('externalId=three'), [])
  clock.advance({ minutes: 5 })
  const since = clock.now().epochMilliseconds
  assert.deepEqual(await names(`modifiedSince=${since}`), [])
  await call('POST', '/business', { externalId: 'one', name: 'changed' }, headers)
  assert.deepEqual(await names(`modifiedSince=${since}`), ['changed'])
  assert.deepEqual(await names(`modifiedSince=${since}&externalId=two`), [])
})

test('changed objects are listed in order, page by page, each exactly once', async (t) => {
  const { call, clock } = await enterWorld(t)
  const since = clock.now().epochMilliseconds + 1
  clock.advance({ minutes: 1 })
  for (const externalId of ['c', 'a', 'b', 'd']) {
    await call('POST', '/client', { firstName: 'Bo', lastName: 'Li', externalId })
  }
  clock.advance({ minutes: 1 })
  await call('POST', '/client', { externalId: 'a', lastName: 'Changed' })
  const read: string[] = []
  let cursor = ''
  do {
    const { body } = await call('GET', `/client?modifiedSince=${since}&limit=1${cursor}`)
    read.push(...body.items.map((client: { externalId: string }) => client.externalId))
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
  assert.deepEqual(read, ['c', 'b', 'd', 'a'])
})

test('mails are filtered by emailTemplateId; templateId is its former name', async (t) => {
  const { call, saved } = await startFilledWorld(t)
  const { emailTemplateId } = saved['/emailTemplate']!
  const { calendarId } = saved['/calendar']!
  const about = { objectType: 'CALENDAR', objectId: calendarId, to: ['a@b.example'] }
  assert.equal((await call('POST', `/emailTemplate/${emailTemplateId}/test`, about)).status, 201)
  const unused = { templateName: 'Unused', subject: 'Hello', emailBody: '<p>Hello</p>' }
  const { body: other } = await call('POST', '/emailTemplate', unused)
  for (const name of ['emailTemplateId', 'templateId']) {
    const none = await call('GET', `/emails?${name}=${other.emailTemplateId}`)
    assert.equal(none.body.items.length, 0, name)
    const found = await call('GET', `/emails?${name}=${emailTemplateId}`)
    assert.equal(found.body.items.length, 1, name)
    const unknown = await call('GET', `/emails?${name}=${Number(emailTemplateId) + 999}`)
    assert.equal(unknown.status, 422, name)
    assert.equal(unknown.body.errors[0].pointer, `?${name}`)
  }
})

test('GET /eventType lists the 13 types with what a person needs to choose one', async (t) => {
  const { call } = await enterWorld(t)
  await call('POST', '/status', { objectType: 'CALENDAR', status: 'LATE', label: 'Late' })
  const { status, body } = await call('GET', '/eventType')
  assert.deepEqual([status, body.length], [200, 13])
  const changed = body[1]
  assert.equal(changed.eventType, 'APPT_CHANGED')
  assert.deepEqual(changed.changes, [
    'STATUS',
    'TIME',
    'STAFF',
    'SERVICE',
    'LOCATION',
    'CLIENT',
    'ANSWER',
  ])
  assert.ok(changed.statuses.includes('LATE') && changed.statuses.includes('CANCELLED'))
  assert.ok(changed.tokens.includes('%CLIENT_FULLNAME%'))
  for (const type of body) {
    assert.ok(type.description.length > 10 && type.anchor.length > 10, type.eventType)
  }
})
