import assert from 'node:assert/strict'
import { test } from 'node:test'
import { categoryLines, definitionLines, templateLines } from '../../src/demo/messages.ts'
import { formTokenIn, linksIn, startAsking } from '../support/answer-mails.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('the demo tells staff and the business what a client answered by the link, once for each answer', async (t) => {
  const world = await startAsking(t)
  const { app, ask, businessId, call, clock, emailTemplateId, ids, open, runEngine, save } = world
  await save('/business', { businessId, emailAddress: 'desk@example.org' })
  await save('/client', { clientId: ids.clientId, emailAddress: 'anna@example.org' })
  const telling = definitionLines.filter(({ description }) =>
    /by the link$|took a cancellation back$/.test(description),
  )
  assert.equal(telling.length, 4)
  const lines = [...categoryLines, ...templateLines, ...telling].map((one) => JSON.stringify(one))
  const { body: imported } = await call('POST', '/import', lines.join('\n'), NDJSON)
  assert.equal(imported.refusedCount, 0, JSON.stringify(imported.refused))

  let known = 0
  /** Who was told what since the last call, without the mails to the client. */
  const told = async () => {
    await runEngine()
    const { items } = (await call('GET', '/emails?limit=100')).body
    const fresh = items.filter(({ emailId }: { emailId: number }) => emailId > known)
    known = Math.max(known, ...items.map(({ emailId }: { emailId: number }) => emailId))
    const others = fresh.filter(({ to }: { to: string }) => to !== 'anna@example.org')
    const mails = await Promise.all(
      others.map(async ({ emailId, to, subject }: Record<string, string>) => {
        const { text } = (await call('GET', `/emails/${emailId}`)).body
        assert.doesNotMatch(text, /^Hello [^,]/, 'the business reads the same mail')
        return `${to}: ${subject!.replace(/:.*/s, '')}`
      }),
    )
    return mails.toSorted()
  }
  const send = async (url: string, fields = '') => {
    clock.advance({ minutes: 1 })
    const payload = `formToken=${formTokenIn((await open(url)).body)}&${fields}`
    assert.equal(
      (await app.inject({ method: 'POST', url, headers: FORM, payload })).statusCode,
      200,
    )
  }
  const both = (news: string) => [`desk@example.org: ${news}`, `elena@example.org: ${news}`]

  const visit = await ask()
  await told()
  await send(visit.confirm)
  assert.deepEqual(await told(), both('Anna Müller confirmed'))
  await send(visit.cancel, 'reason=Ill')
  assert.deepEqual(await told(), both('Anna Müller cancelled'))
  await send(visit.cancel, 'undo=yes')
  assert.deepEqual(await told(), both('Anna Müller comes after all'))

  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CLASS_SCHEDULE',
    eventType: { eventTypeId: 4 },
    triggerHours: 0,
    triggerMinutes: 0,
    eventActions: [action],
  })
  const startTime = clock.in({ hours: 48 }).epochMilliseconds
  await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime,
    endTime: startTime + 3_600_000,
    clientIdList: [ids.clientId],
  })
  await told()
  const mail = (await call('GET', '/emails?limit=100')).body.items.find(
    ({ objectType }: { objectType: string }) => objectType === 'CLASS_SCHEDULE',
  )
  const { confirm, cancel } = linksIn((await call('GET', `/emails/${mail.emailId}`)).body.html)
  await send(confirm)
  assert.deepEqual(await told(), both('Anna Müller confirmed'))
  await send(cancel)
  assert.deepEqual(await told(), both('Anna Müller cancelled'))
  await send(cancel, 'undo=yes')
  assert.deepEqual(await told(), both('Anna Müller comes after all'))
})
