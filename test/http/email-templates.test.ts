import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addBusiness, startWorld } from '../support/world.ts'

test('the tokens are listed by object type, each with an example', async (t) => {
  const { call } = await startWorld(t)
  const { status, body } = await call('GET', '/emailTemplate/token')
  assert.equal(status, 200)
  const kinds = body.map((group: { objectType: string }) => group.objectType)
  assert.deepEqual(
    kinds.toSorted(),
    'appointment business class client disclaimer invitation location recall service staff unsubscribe'.split(
      ' ',
    ),
  )
  const all = body.flatMap((group: { tokens: object[] }) => group.tokens)
  const names = new Set(all.map((token: { token: string }) => token.token))
  for (const name of [
    '%BUSINESS_NAME%',
    '%PROFESSIONAL_EMAIL%',
    '%CLIENT_EMAILADDRESS%',
    '%CLIENT_FULLNAME%',
  ]) {
    assert.ok(names.has(name), name)
  }
  assert.ok(all.every(({ example }: { example: string }) => example.length > 0))
})

test('a template that names an unknown token is refused with its line and column', async (t) => {
  const { call } = await startWorld(t)
  const { status, body } = await call('POST', '/emailTemplate', {
    templateName: 'x',
    subject: 'Hi %CLIENT_NAME%',
    emailBody: '<p>one\n  two %NO_SUCH%</p>',
  })
  assert.equal(status, 422)
  assert.deepEqual(body.errors, [
    { pointer: '/subject', detail: 'line 1, column 4: there is no token %CLIENT_NAME%' },
    { pointer: '/emailBody', detail: 'line 2, column 7: there is no token %NO_SUCH%' },
  ])
})

test('a preview equals the email that would be sent, with values escaped for their context', async (t) => {
  const world = await startWorld(t)
  const { book, call, clock, ids, save } = world
  await save('/client', { clientId: ids.clientId, lastName: '<b>%CLIENT_PHONE%</b>' })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: '%CLIENT_FULLNAME%: %APPT_TIME%',
    emailBody: '<p>Dear %CLIENT_FULLNAME%, call %CLIENT_PHONE%</p>',
  })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const preview = (objectType: string, objectId: unknown) =>
    call('POST', `/emailTemplate/${emailTemplateId}/preview`, { objectType, objectId })

  const { status, body } = await preview('CALENDAR', calendarId)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.subject, 'Anna <b>%CLIENT_PHONE%</b>: 10:00 AM')
  assert.match(body.html, /<p>Dear Anna &lt;b&gt;%CLIENT_PHONE%&lt;\/b&gt;, call <\/p>/)
  assert.match(body.text, /Dear Anna <b>%CLIENT_PHONE%<\/b>, call/)
  assert.equal(body.to, 'anna@example.org')
  assert.deepEqual(body.emptyTokens, ['CLIENT_PHONE'])

  const framed = await call(
    'GET',
    `/emailTemplate/${emailTemplateId}/preview/html?objectType=CALENDAR&objectId=${calendarId}`,
  )
  assert.equal(framed.body, body.html)
  assert.match(String(framed.headers['content-security-policy']), /^sandbox; default-src 'none'/)
  assert.equal(framed.headers['x-frame-options'], undefined)

  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Winter' })
  const { invitationUUID } = await save('/invitation', {
    invitationCampaignId,
    clientId: ids.clientId,
  })
  const invited = await preview('INVITATION', invitationUUID)
  assert.deepEqual(invited.body.emptyTokens, ['APPT_TIME', 'CLIENT_PHONE'])

  const wrong: [string, unknown, string][] = [
    ['CALENDAR', calendarId + 1, '/objectId'],
    ['CALENDAR', String(calendarId), '/objectId'],
    ['INVITATION', 7, '/objectId'],
    ['LOCATION', 1, '/objectType'],
    ['CALENDAR', undefined, '/objectId'],
  ]
  for (const [objectType, objectId, pointer] of wrong) {
    const { status, body } = await preview(objectType, objectId)
    assert.equal(status, 422)
    assert.deepEqual(
      body.errors.map((fault: { pointer: string }) => fault.pointer),
      [pointer],
    )
  }
  const other = await addBusiness(world)
  const theirs = `/emailTemplate/${emailTemplateId}/preview`
  const foreign = await other.call('POST', theirs, { objectType: 'CALENDAR', objectId: calendarId })
  assert.equal(foreign.status, 404)
})
