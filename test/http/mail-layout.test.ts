import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { messageText } from '../../src/email/message.ts'
import { calendarLink, unsubscribeLink } from '../../src/email/unsubscribe.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 7)])

test('a mail has the layout, logo, colour and links of its business, in the client’s language', async (t) => {
  const world = await enterWorld(t)
  const { app, call, save, ids, businessId, book, clock } = world
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, {
    mailer,
    captures: false,
    unsubscribeLink: (mail) => unsubscribeLink('http://localhost', 'test', mail),
    calendarLink: (mail) => calendarLink('http://localhost', 'test', mail),
  })
  const logo = await save('/fileLibrary', { name: 'logo.png', content: PNG.toString('base64') })
  const business = { businessId, accentColor: '#AA3311', website: 'https://praxis.example' }
  await save('/business', {
    ...business,
    replyTo: 'desk@praxis.example',
    emailAddress: 'hello@praxis.example',
    logo: logo.fileUUId,
  })
  await save('/client', { clientId: ids.clientId, language: 'fr-CH' })
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const template = { templateName: 'Booked', emailCategoryId }
  const { emailTemplateId } = await save('/emailTemplate', {
    ...template,
    language: 'en',
    subject: 'Your appointment',
    emailBody: '<p>Hello</p>',
  })
  const french = await save('/emailTemplate', {
    ...template,
    language: 'fr',
    subject: 'Votre rendez-vous',
    emailBody: '<p>Bonjour</p>',
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await runEngine()

  const [sent] = taken
  const text = messageText(sent!.message)
  const mail = await PostalMime.parse(text)
  assert.equal(mail.subject, 'Votre rendez-vous')
  assert.equal(mail.replyTo?.[0]?.address, 'desk@praxis.example')
  for (const part of [/#aa3311/, /src="cid:logo"/, /Ajouter au calendrier/, /praxis\.example/])
    assert.match(mail.html!, part)
  assert.match(mail.text!, /Ne plus recevoir ces e-mails/)
  assert.match(text, /^Content-ID: <logo>/m)
  const picture = mail.attachments.find(({ mimeType }) => mimeType === 'image/png')
  assert.deepEqual(
    [picture?.contentId, picture?.filename, Buffer.from(picture!.content as ArrayBuffer)],
    ['<logo>', 'logo.png', PNG],
  )

  // A new name of the logo is that of the next mail.
  await save('/fileLibrary', { fileUUId: logo.fileUUId, name: 'tree.png' })
  await book(clock.in({ hours: 72 }))
  await runEngine()
  const { attachments } = await PostalMime.parse(messageText(taken[1]!.message))
  assert.equal(attachments.find(({ contentId }) => contentId === '<logo>')?.filename, 'tree.png')

  // The pages behind its links.
  const linkTo = (name: string) =>
    new URL(new RegExp(`http://localhost/${name}/[\\w.-]+`).exec(mail.text!)![0]).pathname
  const page = await app.inject({ url: linkTo('unsubscribe') })
  assert.match(page.body, /<html lang="fr-CH"/)
  assert.match(page.body, /Se désinscrire/)
  const file = await app.inject({ url: linkTo('addToCalendar') })
  assert.equal(file.statusCode, 200)
  assert.match(String(file.headers['content-type']), /^text\/calendar/)
  for (const [to, address] of [
    ['google', 'https://calendar.google.com/'],
    ['outlook', 'https://outlook.live.com/'],
  ] as const) {
    const led = await app.inject({ url: `${linkTo('addToCalendar')}?to=${to}` })
    assert.equal(led.statusCode, 302)
    assert.ok(String(led.headers.location).startsWith(address))
  }
  assert.match(file.body, new RegExp(`UID:calendar-${businessId}-${calendarId}[-@]`))
  const sequence = Number(/SEQUENCE:(\d+)/.exec(file.body)![1])
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const cancelled = await app.inject({ url: linkTo('addToCalendar') })
  assert.match(cancelled.body, /METHOD:CANCEL/)
  assert.ok(Number(/SEQUENCE:(\d+)/.exec(cancelled.body)![1]) > sequence)
  // The token of one kind of link is not valid for another.
  const swapped = linkTo('unsubscribe').replace('unsubscribe', 'addToCalendar')
  assert.equal((await app.inject({ url: swapped })).statusCode, 404)

  // A browser shows the logo, and noHeader omits the layout.
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const preview = () => call('POST', `/emailTemplate/${french.emailTemplateId}/preview`, about)
  assert.ok((await preview()).body.html.includes(`data:image/png;base64,${PNG.toString('base64')}`))
  await save('/emailTemplate', { emailTemplateId: french.emailTemplateId, noHeader: true })
  assert.doesNotMatch((await preview()).body.html, /<table|#aa3311/)
})

test('an invalid colour, website or reply address of a business is refused', async (t) => {
  const { call, businessId } = await enterWorld(t)
  const { status, body } = await call('POST', '/business', {
    businessId,
    accentColor: 'red; background: url(x)',
    website: 'javascript:alert(1)',
    replyTo: 'a@b.example, c@d.example',
  })
  assert.equal(status, 422)
  assert.deepEqual(body.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(), [
    '/accentColor',
    '/replyTo',
    '/website',
  ])
})

test('a template with a faulty condition is refused with its line and column, and nothing is saved', async (t) => {
  const { call } = await enterWorld(t)
  const { status, body } = await call('POST', '/emailTemplate', {
    templateName: 'Faulty',
    subject: 'Hello %IF:NOBODY%x%END:IF%',
    emailBody: '<p>%IF:REASON%</p><p>x</p>',
    emailBodyText: 'Hi\n%NO_ONE|there%',
  })
  assert.equal(status, 422)
  assert.deepEqual(
    body.errors
      .map(({ pointer, detail }: Record<string, string>) => `${pointer} ${detail}`)
      .toSorted(),
    [
      '/emailBody line 1, column 4: %IF:REASON% has no %END:IF%',
      '/emailBodyText line 2, column 1: there is no token %NO_ONE%',
      '/subject line 1, column 7: there is no token %NOBODY%',
    ],
  )
  assert.deepEqual((await call('GET', '/emailTemplate')).body.items, [])
})
