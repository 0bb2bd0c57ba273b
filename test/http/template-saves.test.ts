import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

const template = (more: object = {}) => ({
  templateName: 'Reminder',
  subject: 'See you, %CLIENT_FIRSTNAME%',
  emailBody: '<p>%APPT_DATE% %CLIENT_PHONE% %LOCATION_DIRECTIONS%</p>',
  ...more,
})

test('saving a template says which tokens recent objects would leave empty', async (t) => {
  const { clock, book, call, save, ids } = await enterWorld(t)
  const { clientId } = await save('/client', { firstName: 'Bo', lastName: 'Li', phone: '123' })
  const first = await book(clock.in({ hours: 1 }))
  await book(clock.in({ hours: 2 }), { clientId })
  const made = await call('POST', '/emailTemplate', template())
  assert.equal(made.status, 201)
  const about = { objectType: 'CALENDAR' }
  assert.deepEqual(
    made.body.warnings.map(({ token, objects, of }: Record<string, unknown>) => ({
      token,
      objects,
      of,
    })),
    [
      { token: '%CLIENT_PHONE%', objects: 1, of: 2 },
      { token: '%LOCATION_DIRECTIONS%', objects: 2, of: 2 },
    ],
  )
  assert.deepEqual(made.body.warnings[0].example, { ...about, objectId: first.calendarId })

  await save('/client', { clientId: ids.clientId, phone: '456' })
  await save('/location', { locationId: ids.locationId, directions: 'Tram 4' })
  const { emailTemplateId } = made.body
  assert.deepEqual((await save('/emailTemplate', { emailTemplateId })).warnings, [])
})

test('warnings use objects of the type that the template’s automations are about', async (t) => {
  const { businessId, call, save, ids, clock } = await enterWorld(t)
  const { emailTemplateId } = await save('/emailTemplate', template())
  await save('/recall', {
    clientId: ids.clientId,
    dueTime: clock.in({ hours: 9 }).epochMilliseconds,
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'RECALL',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 10 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const { body } = await call('POST', '/emailTemplate', { emailTemplateId, subject: 'Time again' })
  const dates = body.warnings.find((one: { token: string }) => one.token === '%APPT_DATE%')
  assert.equal(dates.example.objectType, 'RECALL')
})

test('the warnings are not part of the template or its ETag', async (t) => {
  const { call, book, clock } = await enterWorld(t)
  await book(clock.in({ hours: 1 }))
  const key = { 'idempotency-key': 'once' }
  const made = await call('POST', '/emailTemplate', template(), key)
  assert.ok(made.body.warnings.length > 0)
  const again = await call('POST', '/emailTemplate', template(), key)
  assert.deepEqual(again.body, made.body)
  const read = await call('GET', `/emailTemplate/${made.body.emailTemplateId}`)
  assert.equal(read.body.warnings, undefined)
  assert.equal(made.headers.etag, read.headers.etag)
  assert.equal(again.headers.etag, read.headers.etag)
  const { emailTemplateId } = made.body
  const changed = await call(
    'POST',
    '/emailTemplate',
    { emailTemplateId, subject: 'New' },
    { 'if-match': String(made.headers.etag) },
  )
  assert.equal(changed.status, 200)
})

test('active content is removed before a template is stored; everything else stays unchanged', async (t) => {
  const { call, save } = await enterWorld(t)
  const harmless =
    '<p style="color: red; margin: 0">Hi <b>%CLIENT_FIRSTNAME%</b><br>bye &amp; more</p>\n<ul><li>1</ul>'
  const kept = await save('/emailTemplate', template({ emailBody: harmless }))
  assert.equal(kept.emailBody, harmless)

  const evil = [
    '<p onclick="alert(1)">Hi</p>',
    '<p>Hi</p><script>alert(1)</script>',
    '<p>Hi <a href="javascript:alert(1)">x</a></p>',
    '<p style="background: url(https://evil.example/x)">Hi</p>',
    '<p>Hi</p><iframe src="https://evil.example"></iframe>',
    '<p>Hi</p><svg onload="alert(1)"></svg>',
    '<p>Hi <img src="x" onerror="alert(1)"></p>',
  ]
  for (const emailBody of evil) {
    const { emailTemplateId } = await save('/emailTemplate', template({ emailBody }))
    const stored = (await call('GET', `/emailTemplate/${emailTemplateId}`)).body.emailBody
    assert.match(stored, /<p[^>]*>Hi/)
    assert.doesNotMatch(stored, /alert|evil|script|onload|svg|iframe/i, emailBody)
  }
  const sheet = '<style>p { color: red }</style><p>Hi</p>'
  const inlined = await save('/emailTemplate', template({ emailBody: sheet }))
  assert.match(inlined.emailBody, /<p style="color:\s*red;?">Hi<\/p>/)
  const { emailTemplateId, version } = inlined
  const same = await save('/emailTemplate', { emailTemplateId, emailBody: sheet })
  assert.equal(same.version, version, 'saving the same HTML again changes nothing')
})

test('a fault of the category points at the place where the body has its id', async (t) => {
  const { call } = await enterWorld(t)
  const template = { templateName: 'T', subject: 'S', emailBody: '<p>B</p>' }
  const pointersOf = async (category: object) => {
    const { status, body } = await call('POST', '/emailTemplate', { ...template, ...category })
    assert.equal(status, 422)
    return body.errors.map((fault: { pointer: string }) => fault.pointer)
  }
  const nested = '/emailCategory/emailCategoryId'
  assert.deepEqual(await pointersOf({ emailCategory: { emailCategoryId: 999 } }), [nested])
  assert.deepEqual(await pointersOf({ emailCategory: { emailCategoryId: 'x' } }), [nested])
  assert.deepEqual(await pointersOf({ emailCategoryId: 999 }), ['/emailCategoryId'])
})
