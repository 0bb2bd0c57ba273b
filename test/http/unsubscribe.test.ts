import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { startApp } from '../support/app.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

const FORM = 'application/x-www-form-urlencoded'
const ONE_CLICK = 'List-Unsubscribe=One-Click'

test('the one click of a mail program unsubscribes, as a form and as multipart', async (t) => {
  const { link, post, suppressed } = await start(t)
  const part = `--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n`
  for (const [type, body] of [
    [FORM, ONE_CLICK],
    ['multipart/form-data; boundary=x', part],
  ] as const) {
    assert.equal(await post(link, type, (sending) => sending.end(body)), 200, type)
  }
  assert.equal(await suppressed(), 1)
})

test('a form of more than 4 KiB is 413, however it is sent, and nothing is unsubscribed', async (t) => {
  const { link, post, suppressed } = await start(t)
  const long = 'x'.repeat(4_097)
  for (const type of [FORM, 'multipart/form-data; boundary=x', 'application/json']) {
    assert.equal(await post(link, type, (sending) => sending.end(long)), 413, type)
    const inPieces = (sending: Sending) => {
      for (let i = 0; i < 5; i += 1) sending.write('x'.repeat(1_000))
    }
    assert.equal(await post(link, type, inPieces), 413, `${type}, chunked and never ended`)
  }
  assert.equal(await suppressed(), 0)
})

test('no body is read without a valid token', async (t) => {
  const { businessId, link, post } = await start(t)
  const forged = link.slice(0, -3)
  for (const path of [forged, '/unsubscribe/x', `/unsubscribe/${businessId}.1.x`]) {
    assert.equal(await post(path, FORM, (sending) => sending.write('x')), 404, path)
  }
})

test('a form whose body never ends is 408', async (t) => {
  const { link, post, suppressed } = await start(t, { bodySeconds: 0.2 })
  for (const type of [FORM, 'multipart/form-data; boundary=x']) {
    assert.equal(await post(link, type, (sending) => sending.write('x')), 408, type)
  }
  assert.equal(await suppressed(), 0)
})

type Sending = ReturnType<typeof request>

/** A mail with an unsubscribe link, and functions that post to the link. */
async function start(t: TestContext, limits: { bodySeconds?: number } = {}) {
  const world = await startWorld(t)
  const { businessId, call, clock, database, db, save } = world
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'News',
    subject: 'News',
    emailBody: '<p><a href="%UNSUBSCRIBE_LINK%">Unsubscribe</a></p>',
    emailCategoryId,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await startEngine(world).runEngine()
  const [mail] = (await call('GET', '/emails')).body.items
  const resent = await save(`/emails/${mail.emailId}/resend`, {})
  const [row] = await db.query<{ message: string }>(sql`
    select convert_from(message, 'UTF8') as message from email
    where email_id = ${resent.emailId}`)
  const [link] = /\/unsubscribe\/\d[\w.-]+/.exec(row!.message)!

  // The limits apply to the forms, not to the calls above.
  const { app } = await startApp(t, { database, clock, ...limits })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const post = (path: string, type: string, send: (sending: Sending) => void) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': type }
      const sending = request({ port, path, method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode!)
        sending.destroy()
      }).on('error', reject)
      send(sending)
    })
  const suppressed = async () => (await call('GET', '/suppression')).body.items.length as number
  return { businessId, link, post, suppressed }
}
