import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startApp } from '../support/app.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'
import { readStored } from '../support/stored-mails.ts'

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

test('one click stops only mails of its category; the page offers the others, and takes everything back', async (t) => {
  const world = await start(t)
  const { call, clock, book, runEngine, link, page, post, suppressions } = world
  const { emailCategoryId: offers } = await world.addNews('Offers', -23)
  const [news] = (await call('GET', '/emailCategory')).body.items
  const outcomesOf = async () => {
    clock.advance({ hours: 100 })
    const { calendarId } = await book(clock.in({ hours: 48 }))
    clock.advance({ hours: 30 })
    await runEngine()
    const { body: items } = await call('GET', `/emails/calendar/${calendarId}`)
    return Object.fromEntries(
      items.map(({ subject, status }: Record<string, string>) => [subject, status]),
    )
  }
  assert.deepEqual(await outcomesOf(), { News: 'CAPTURED', Offers: 'CAPTURED' })

  assert.equal(await post(link, FORM, (sending) => sending.end(ONE_CLICK)), 200)
  assert.deepEqual(await outcomesOf(), { News: 'SUPPRESSED', Offers: 'CAPTURED' })
  const [{ reason, emailCategoryId, detail }] = await suppressions()
  assert.deepEqual([reason, emailCategoryId], ['UNSUBSCRIBED', news.emailCategoryId])
  assert.match(detail, /from “News” only/)
  const done = await page('GET', link)
  assert.match(done, /no longer gets these mails.*<b>News<\/b>/)
  assert.match(done, /name="undo" value=""/)

  const choice = await page('GET', `${link}?choose=yes`)
  const boxes = choice.match(/<input type="checkbox"[^>]*>/g)!
  assert.deepEqual(
    boxes.map((box) => box.includes(' checked')),
    [false, true],
    'News, Offers',
  )
  await page('POST', link, `topic=${news.emailCategoryId}&choice=yes`)
  assert.deepEqual(await outcomesOf(), { News: 'CAPTURED', Offers: 'SUPPRESSED' })

  const all = await page('POST', link, 'all=yes')
  assert.match(all, /no longer gets news and offers/)
  assert.match(all, new RegExp(`name="undo" value="${offers}"`))
  assert.deepEqual(await outcomesOf(), { News: 'SUPPRESSED', Offers: 'SUPPRESSED' })
  await page('POST', link, `undo=${offers}`)
  assert.deepEqual(await outcomesOf(), { News: 'CAPTURED', Offers: 'SUPPRESSED' })
  await page('POST', link, 'undo=')
  assert.deepEqual(await suppressions(), [])

  await page('POST', link, 'choice=yes')
  const [everything, ...others] = await suppressions()
  assert.deepEqual([everything.emailCategoryId, others], [null, []])
})

test('an import suppresses an address for one category', async (t) => {
  const { call, suppressions } = await start(t)
  const [{ emailCategoryId }] = (await call('GET', '/emailCategory')).body.items
  const line = { kind: 'suppression', emailAddress: 'ada@example.org', reason: 'UNSUBSCRIBED' }
  const imported = async (more: object) => {
    const headers = { 'content-type': 'application/x-ndjson' }
    return (await call('POST', '/import', JSON.stringify({ ...line, ...more }), headers)).body
  }
  for (const wrong of [
    { emailCategoryRef: 'emailCategory-9' },
    { emailCategoryId: 999_999 },
    { emailCategoryId, reason: 'BOUNCED' },
  ]) {
    assert.equal((await imported(wrong)).refusedCount, 1, JSON.stringify(wrong))
  }
  assert.deepEqual((await imported({ emailCategoryId })).accepted, { suppression: 1 })
  assert.equal((await suppressions())[0].emailCategoryId, emailCategoryId)
})

type Sending = ReturnType<typeof request>

/** A mail with an unsubscribe link, and functions that post to the link. */
async function start(t: TestContext, limits: { bodySeconds?: number } = {}) {
  const world = await startWorld(t)
  const { businessId, call, clock, database, db, save } = world
  const addNews = async (name: string, hours: number) => {
    const { emailCategoryId } = await save('/emailCategory', { name, transactional: false })
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: name,
      subject: name,
      emailBody: '<p><a href="%UNSUBSCRIBE_LINK%">Unsubscribe</a></p>',
      emailCategoryId,
    })
    const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
    await save('/eventDefinition', reminder(businessId, hours, { eventActions: [action] }))
    return { emailCategoryId }
  }
  await addNews('News', -24)
  await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  const { runEngine } = startEngine(world)
  await runEngine()
  const [mail] = (await call('GET', '/emails')).body.items
  const resent = await save(`/emails/${mail.emailId}/resend`, {})
  const [link] = /\/unsubscribe\/\d[\w.-]+/.exec(await readStored(db, resent.emailId))!

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
  const suppressions = async () => (await call('GET', '/suppression')).body.items
  const suppressed = async () => (await suppressions()).length as number
  const page = async (method: 'GET' | 'POST', url: string, form?: string) => {
    const headers = { 'content-type': FORM }
    const answer = await app.inject({
      method,
      url,
      ...(form !== undefined && { headers, payload: form }),
    })
    assert.equal(answer.statusCode, 200)
    return answer.body
  }
  return { ...world, addNews, link, page, post, runEngine, suppressed, suppressions }
}
