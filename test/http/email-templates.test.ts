import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addBusiness, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

test('the tokens are listed by object type, each with an example', async (t) => {
  const { call } = await enterWorld(t)
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
  const { call } = await enterWorld(t)
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

test('a preview shows on request the version that the client gets, in their language', async (t) => {
  const { book, call, clock, ids, save } = await enterWorld(t)
  await save('/client', { clientId: ids.clientId, language: 'de-CH' })
  const versionIn = async (language: string | null, active = true) => {
    const body = { templateName: 'Reminder', language, active, emailBody: '<p>x</p>' }
    const { emailTemplateId } = await save('/emailTemplate', { ...body, subject: `${language}` })
    return emailTemplateId as number
  }
  const named = await versionIn('en')
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const previewed = async (version?: string) => {
    const request = { ...about, ...(version && { version }) }
    return (await call('POST', `/emailTemplate/${named}/preview`, request)).body
  }

  const draft = await versionIn('de', false)
  assert.equal((await previewed('sent')).emailTemplateId, named, 'an inactive version is not sent')
  await save('/emailTemplate', { emailTemplateId: draft, active: true })
  const { emailTemplateId, language, subject } = await previewed('sent')
  assert.deepEqual([emailTemplateId, language, subject], [draft, 'de', 'de'])
  assert.equal((await previewed()).emailTemplateId, named)
  assert.equal((await previewed('this')).emailTemplateId, named)
})

test('a preview equals the email that would be sent, with values escaped for their context', async (t) => {
  const world = await enterWorld(t)
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
  assert.equal(body.subject, 'Anna <b>%CLIENT_PHONE%</b>: 10:00')
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

const WARM = {
  templateName: 'Reminder',
  subject: 'Stored',
  emailBody: '<p>Dear %CLIENT_FULLNAME%</p>',
}

test('a preview and a test show unsaved changes as if they were saved, and save nothing', async (t) => {
  const { book, call, clock, save } = await enterWorld(t)
  const template = await save('/emailTemplate', WARM)
  const path = `/emailTemplate/${template.emailTemplateId}`
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const changes = {
    subject: 'At %APPT_TIME%',
    emailBody: '<p>Hello %CLIENT_FIRSTNAME%<script>x</script></p>',
    fromName: '%BUSINESS_NAME%',
    ccAddress: 'desk@example.org',
  }
  const preview = await call('POST', `${path}/preview`, { ...about, template: changes })
  assert.equal(preview.status, 200, JSON.stringify(preview.body))
  assert.equal(preview.body.subject, 'At 10:00')
  assert.match(preview.body.html, /<p>Hello Anna<\/p>/)
  assert.equal(preview.body.cc, 'desk@example.org')
  assert.equal(preview.body.toName, 'Anna Müller')

  const tested = await call('POST', `${path}/test`, {
    ...about,
    to: ['me@example.org'],
    template: changes,
  })
  assert.equal(tested.status, 201, JSON.stringify(tested.body))
  assert.equal(tested.body.items[0].subject, '[Test] At 10:00')
  const stored = await call('GET', path)
  const { warnings: _warnings, ...unchanged } = template
  assert.deepEqual(stored.body, unchanged)
})

test('unsaved changes that could not be saved are refused at their property', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', WARM)
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const other = await addBusiness(world)
  const { emailCategoryId } = await other.save('/emailCategory', { name: 'Theirs' })
  const wrong: [object, string][] = [
    [{ subject: '%NO_SUCH%' }, '/template/subject'],
    [{ emailBody: '<p>%NO_SUCH%</p>' }, '/template/emailBody'],
    [{ subjekt: 'x' }, '/template/subjekt'],
    [{ ccAddress: 'nobody' }, '/template/ccAddress'],
    [{ emailCategoryId }, '/template/emailCategoryId'],
  ]
  for (const [template, pointer] of wrong) {
    for (const step of ['preview', 'check']) {
      const body = step === 'check' ? { template } : { ...about, template }
      const answer = await call('POST', `/emailTemplate/${emailTemplateId}/${step}`, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.deepEqual(
        answer.body.errors.map((fault: { pointer: string }) => fault.pointer),
        [pointer],
      )
    }
  }
  const theirs = await other.save('/emailTemplate', WARM)
  const path = `/emailTemplate/${emailTemplateId}/preview`
  const template = { emailTemplateId: theirs.emailTemplateId, subject: 'Mine' }
  const { body } = await call('POST', path, { ...about, template })
  assert.equal(body.subject, 'Mine', 'the id in the path takes precedence')
})

test('a check returns the warnings that saving would return', async (t) => {
  const { book, call, clock, save } = await enterWorld(t)
  const { emailTemplateId } = await save('/emailTemplate', WARM)
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const check = (body: object) => call('POST', `/emailTemplate/${emailTemplateId}/check`, body)
  assert.deepEqual((await check({})).body, { warnings: [] })
  const changes = { subject: 'Call %CLIENT_PHONE%' }
  const { body } = await check({ template: changes })
  assert.deepEqual(body.warnings, [
    {
      token: '%CLIENT_PHONE%',
      objects: 1,
      of: 1,
      example: { objectType: 'CALENDAR', objectId: calendarId },
    },
  ])
  const saved = await call('POST', '/emailTemplate', { emailTemplateId, ...changes })
  assert.deepEqual(saved.body.warnings, body.warnings)
  assert.equal((await call('POST', '/emailTemplate/99999/check', {})).status, 404)
})

test('a template is stored as it is sent, and its author is told what was removed', async (t) => {
  const { call } = await enterWorld(t)
  const emailBody =
    '<body onload="x()"><p>Hello</p><tr onclick="x()"></tr><script>x()</script></body>'
  const { body } = await call('POST', '/emailTemplate', { ...WARM, emailBody })
  assert.equal(body.emailBody, '<p>Hello</p><tr></tr>')
  const detail = 'Removed, because mails cannot have it: <body onload>, <tr onclick>, <script>.'
  assert.deepEqual(body.warnings, [{ property: 'emailBody', detail }])
  const path = `/emailTemplate/${body.emailTemplateId}/check`
  const checked = await call('POST', path, { template: { emailBody } })
  assert.deepEqual(checked.body, { warnings: [{ property: 'emailBody', detail }] })
})

test('the tokens are listed with their values for an object', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const valuesOf = async (query: string) => {
    const { status, body } = await call('GET', `/emailTemplate/token?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    type Token = { token: string; value: string | null }
    const tokens = body.flatMap((group: { tokens: Token[] }) => group.tokens) as Token[]
    return new Map(tokens.map(({ token, value }) => [token, value]))
  }
  const about = `objectType=CALENDAR&objectId=${calendarId}`
  const values = await valuesOf(about)
  assert.equal(values.get('%CLIENT_FIRSTNAME%'), 'Anna')
  assert.equal(values.get('%APPT_TIME%'), '10:00')
  assert.equal(values.get('%CLIENT_PHONE%'), null)
  assert.equal((await valuesOf(`${about}&language=de`)).get('%APPT_TIME%'), '10:00')

  const refused = async (query: string) => {
    const { status, body } = await call('GET', `/emailTemplate/token?${query}`)
    assert.equal(status, 422)
    return body.errors[0].pointer
  }
  assert.equal(await refused('objectType=CALENDAR'), '?objectId')
  assert.equal(await refused('objectId=1'), '?objectType')
  assert.equal(await refused('objectType=CALENDAR&objectId=99999'), '?objectId')
  const other = await addBusiness(world)
  const foreign = await other.call('GET', `/emailTemplate/token?${about}`)
  assert.equal(foreign.status, 422)
})

test('clients are counted by language, without its region', async (t) => {
  const world = await enterWorld(t)
  const { call, save } = world
  for (const language of ['de', 'de-CH', 'fr', null]) {
    await save('/client', { firstName: 'A', lastName: 'B', language })
  }
  const other = await addBusiness(world)
  await other.save('/client', { firstName: 'A', lastName: 'B', language: 'it' })
  const { status, body } = await call('GET', '/client/languages')
  assert.equal(status, 200)
  const counts = new Map(
    body.map((row: { language: string | null; clients: number }) => [row.language, row.clients]),
  )
  assert.equal(counts.get('de'), 2)
  assert.equal(counts.get('fr'), 1)
  assert.equal(counts.has('it'), false)
})
