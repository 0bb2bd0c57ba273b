import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MONDAYS, openDelivery } from './open.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('the mail is in the language of the business, with its logo and three sentences', async (t) => {
  const opened = await openDelivery(t)
  const { addPerson, book, businessId, call, clock, listMails, runDue, runEngine } = opened
  const anna = await addPerson('anna', 'OWNER')
  for (const day of ['02', '03', '03']) await book({ at: `2026-03-${day}T09:00+01:00` })
  await book({ at: '2026-02-24T09:00+01:00' })
  await book({ at: '2026-01-05T09:00+01:00' })
  const saved = await call('POST', '/fileLibrary', { name: 'logo.png', content: PIXEL })
  const { fileUUId: logo } = saved.body
  assert.equal(
    (await call('POST', '/business', { businessId, language: 'de-CH', logo })).status,
    200,
  )
  const { status } = await call('POST', '/reportSchedule', {
    ...MONDAYS,
    format: 'pdf',
    reportId: 102,
    userIdList: [anna.userId],
  })
  assert.equal(status, 201)

  clock.advance({ hours: 7 * 24 })
  assert.equal(await runDue(), 1)
  const [mail] = await listMails()
  assert.match(mail!.message!, /Content-ID: <logo>/)
  assert.match(mail!.message!, /^Content-Language: de\r$/m)
  await runEngine()
  const { body: email } = await call('GET', `/emails/${mail!.emailId}`)
  assert.match(email.html, /src="cid:logo"/)
  assert.match(email.text, /: 3, 2 mehr als im Zeitraum davor \(1\)\./)
  assert.match(email.text, /: am meisten .* mit 2\./)
  assert.match(email.text, /Der Bericht ist angehängt\./)
  assert.match(email.text, /jeden Montag um 07:00 \(Ortszeit Zürich\)/)
})

const ATTACHMENT = /Content-Disposition: attachment;[^]*?\r\n\r\n([^]*?)\r\n--/

test('a mailed CSV file has the same words in every language', async (t) => {
  const { addPerson, businessId, call, clock, listMails, runDue } = await openDelivery(t)
  const anna = await addPerson('anna', 'OWNER')
  await call('POST', '/business', { businessId, language: 'de' })
  await call('POST', '/reportSchedule', { ...MONDAYS, format: 'csv', userIdList: [anna.userId] })
  clock.advance({ hours: 7 * 24 })
  assert.equal(await runDue(), 1)
  const [mail] = await listMails()
  const [, encoded] = ATTACHMENT.exec(mail!.message!)!
  const text = Buffer.from(encoded!, 'base64').toString()
  assert.match(text, /^\u{FEFF}Date,Time,Client,Service/u)
})
