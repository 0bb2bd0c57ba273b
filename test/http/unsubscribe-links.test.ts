import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { unsubscribeLink } from '../../src/email/unsubscribe.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** An installation that has sent one mail of a category that allows unsubscribing. */
async function startWithMail(t: TestContext, emailAddress: string) {
  const world = await startWorld(t)
  const { app, businessId, clock, save, call, ids } = world
  await save('/client', { clientId: ids.clientId, emailAddress })
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow. <a href="%UNSUBSCRIBE_LINK%">No more</a></p>',
    emailCategoryId,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const { runEngine } = startEngine(world, {
    calendarLink: () => null,
    unsubscribeLink: (mail) => unsubscribeLink('http://localhost', 'test', mail),
  })
  await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await runEngine()
  const [mail] = (await call('GET', '/emails')).body.items
  const { html } = (await call('GET', `/emails/${mail.emailId}`)).body
  const path = new URL(/href="([^"]*unsubscribe[^"]*)"/.exec(html)![1]!).pathname
  const open = (url: string) => app.inject({ method: 'GET', url })
  const click = (url: string) => app.inject({ method: 'POST', url })
  const suppressed = async () =>
    (await call('GET', '/suppression')).body.items.map(
      (one: { emailAddress: string }) => one.emailAddress,
    )
  return { ...world, mail, path, open, click, suppressed }
}

test('after a backup was restored, the link of a mail that it lacks does not act for another client', async (t) => {
  // Two installations with the same ids stand for the time before and after the restore.
  const before = await startWithMail(t, 'anna@example.org')
  const restored = await startWithMail(t, 'ben@example.org')
  assert.equal(restored.mail.emailId, before.mail.emailId)
  assert.equal(restored.businessId, before.businessId)

  const opened = await restored.open(before.path)
  assert.equal(opened.statusCode, 404)
  assert.doesNotMatch(opened.body, /ben@/)
  assert.equal((await restored.click(before.path)).statusCode, 404)
  assert.deepEqual(await restored.suppressed(), [])

  assert.equal((await restored.click(restored.path)).statusCode, 200)
  assert.deepEqual(await restored.suppressed(), ['ben@example.org'])
})

test('after a backup was restored, no two mails have the same Message-ID', async (t) => {
  const before = await startWithMail(t, 'anna@example.org')
  const restored = await startWithMail(t, 'ben@example.org')
  assert.equal(restored.mail.emailId, before.mail.emailId)
  assert.notEqual(restored.mail.messageId, before.mail.messageId)
  const again = await restored.call('POST', `/emails/${restored.mail.emailId}/resend`)
  assert.match(again.body.messageId, /^<\d+\.\d+\.[0-9a-f]{24}@[\w.-]+>$/)
})

test('the link of a mail from before Message-IDs were random works for that mail and no other', async (t) => {
  const { mail, businessId, db, click, suppressed } = await startWithMail(t, 'anna@example.org')
  const name = `${businessId}.${mail.emailId}`
  const seal = createHmac('sha256', 'test').update(`unsubscribe ${name}`).digest('base64url')
  const oldPath = `/unsubscribe/${name}.${seal.slice(0, 22)}`
  assert.equal((await click(oldPath)).statusCode, 404)
  assert.deepEqual(await suppressed(), [])

  await db.query(sql`update email set message_id = ${`<${mail.emailId}.${businessId}@localhost>`}`)
  assert.equal((await click(oldPath)).statusCode, 200)
  assert.deepEqual(await suppressed(), ['anna@example.org'])
})
