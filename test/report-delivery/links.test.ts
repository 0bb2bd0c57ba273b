import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { ask, createKey, signInAs } from '../support/callers.ts'
import { until } from '../support/until.ts'
import { openDelivery } from './open.ts'

const PRINT = '/report/print/file?startDate=2026-10-01&endDate=2026-10-31&format=csv'

test('a link shows the file to anyone until it is revoked, and its URL is shown only once', async (t) => {
  const { app, call, clock, db } = await openDelivery(t)
  const runId = await printRun(call)
  const answer = await call('POST', `/report/run/${runId}/link`)
  assert.equal(answer.status, 201)
  const { url, expiresTime, reportLinkId } = answer.body
  assert.equal(expiresTime, clock.in({ hours: 7 * 24 }).epochMilliseconds)
  const { pathname } = new URL(url)
  const file = await app.inject(pathname)
  assert.equal(file.statusCode, 200)
  assert.match(
    String(file.headers['content-disposition']),
    /attachment; filename="appointment-list/,
  )
  assert.equal(file.headers['cache-control'], 'no-store')

  const token = pathname.split('/').at(-1)!
  const stored = JSON.stringify([
    await db.query(sql`select report_link::text from report_link`),
    await db.query(sql`select after from audit where object = 'reportLink'`),
  ])
  assert.equal(stored.includes(token), false)
  const { body: list } = await call('GET', `/report/run/${runId}/link`)
  assert.deepEqual(
    list.items.map((one: object) => 'url' in one),
    [false],
  )

  const revoked = await call('DELETE', `/report/run/${runId}/link/${reportLinkId}`)
  assert.deepEqual([revoked.status, revoked.body.active], [200, false])
  const gone = await app.inject(pathname)
  assert.equal(gone.statusCode, 410)
  assert.match(gone.body, /<h1>This link has expired\.<\/h1>/)
  assert.equal((await app.inject(pathname.slice(0, -1))).statusCode, 404)
  assert.deepEqual((await call('GET', `/report/run/${runId}/link`)).body.items, [])
})

test('the links that work are listed with their files, newest first, until they end', async (t) => {
  const { call, clock } = await openDelivery(t)
  const runIds = [await printRun(call), await printRun(call)]
  const links: { reportLinkId: number; runId: number }[] = []
  for (const runId of runIds) links.push((await call('POST', `/report/run/${runId}/link`)).body)
  const list = async (query = '') => (await call('GET', `/report/link${query}`)).body

  const { items } = await list()
  assert.deepEqual(
    items.map(({ reportLinkId }: { reportLinkId: number }) => reportLinkId),
    links.map(({ reportLinkId }) => reportLinkId).toReversed(),
  )
  assert.partialDeepStrictEqual(items[0], { reportId: 101, format: 'csv' })
  assert.match(items[0].fileName, /^appointment-list.*\.csv$/)
  const { nextCursor } = await list('?limit=1')
  const rest = await list(`?limit=1&cursor=${nextCursor}`)
  assert.deepEqual([rest.items[0].runId, rest.nextCursor], [runIds[0], null])

  await call('DELETE', `/report/run/${links[1]!.runId}/link/${links[1]!.reportLinkId}`)
  assert.equal((await list()).items.length, 1)
  clock.advance({ hours: 7 * 24 })
  assert.deepEqual((await list()).items, [])
})

test('a link expires at its expiresTime, within 30 days', async (t) => {
  const { app, call, clock } = await openDelivery(t)
  const runId = await printRun(call)
  const path = `/report/run/${runId}/link`
  const inAnHour = clock.in({ hours: 1 }).epochMilliseconds
  const { body } = await call('POST', path, { expiresTime: inAnHour })
  const { pathname } = new URL(body.url)
  clock.advance({ minutes: 59 })
  assert.equal((await app.inject(pathname)).statusCode, 200)
  clock.advance({ minutes: 1 })
  assert.equal((await app.inject(pathname)).statusCode, 410)
  for (const expiresTime of [inAnHour, clock.in({ hours: 31 * 24 }).epochMilliseconds]) {
    assert.equal((await call('POST', path, { expiresTime })).status, 422)
  }
})

test('only the caller who printed a report, and may share it, can create a link to it', async (t) => {
  const { addPerson, app, call } = await openDelivery(t)
  const runId = await printRun(call)
  await addPerson('anna', 'OWNER')
  await addPerson('lea', 'REPORTS_ONLY')
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const lea = ask(app, { cookie: await signInAs(app, 'lea') })
  assert.equal((await anna('POST', `/report/run/${runId}/link`)).status, 404)
  const own = await printRun(lea)
  assert.equal((await lea('POST', `/report/run/${own}/link`)).status, 403)
})

test('a link that a person created works while the person may see the report', async (t) => {
  const { addPerson, app, call } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'ADMINISTRATOR')
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const runId = await printRun(anna, 501)
  const { body } = await anna('POST', `/report/run/${runId}/link`)
  const { pathname } = new URL(body.url)
  assert.equal((await app.inject(pathname)).statusCode, 200)
  await call('POST', '/user', { userId, role: 'USER' })
  assert.equal((await app.inject(pathname)).statusCode, 410)
})

test('a file is readable only with the rights it was printed with, by link and by run', async (t) => {
  const { addPerson, app, call, elena, newYork, zurich } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'ADMINISTRATOR')
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const runId = await printRun(anna)
  const { body } = await anna('POST', `/report/run/${runId}/link`)
  const statuses = async () => [
    (await app.inject(new URL(body.url).pathname)).statusCode,
    (await anna('GET', `/report/run/${runId}/file`)).status,
  ]
  assert.deepEqual(await statuses(), [200, 200])
  for (const fewer of [
    { role: 'USER', professionalId: elena },
    { role: 'LOCATION_SUPER_USER', professionalId: null, locationIdList: [zurich, newYork] },
  ]) {
    await call('POST', '/user', { userId, ...fewer })
    assert.deepEqual(await statuses(), [410, 404])
  }
  await call('POST', '/user', { userId, role: 'REPORTS_ONLY' })
  assert.deepEqual(await statuses(), [200, 200])
})

test('a file of a location is readable while the person may see that location', async (t) => {
  const { addPerson, app, call, newYork, zurich } = await openDelivery(t)
  const locations = { locationIdList: [zurich] }
  const { userId } = await addPerson('anna', 'LOCATION_SUPER_USER', locations)
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const runId = await printRun(anna)
  const readWith = async (locationIdList: number[]) => {
    await call('POST', '/user', { userId, locationIdList })
    return (await anna('GET', `/report/run/${runId}/file`)).status
  }
  assert.equal(await readWith([newYork, zurich]), 200)
  assert.equal(await readWith([newYork]), 404)
})

test('a link stops working when the key that created it is revoked', async (t) => {
  const { app, businessId, call, clock, database } = await openDelivery(t)
  const { key, apiKeyId } = await createKey(database, clock, businessId)
  const other = ask(app, { authorization: `Bearer ${key}` })
  const runId = await printRun(other)
  const { body } = await other('POST', `/report/run/${runId}/link`)
  const { pathname } = new URL(body.url)
  assert.equal((await app.inject(pathname)).statusCode, 200)
  assert.equal((await call('DELETE', `/apiKey/${apiKeyId}`)).status, 200)
  assert.equal((await app.inject(pathname)).statusCode, 410)
})

test('a person who may share reports can list and revoke the links of others, but not read their files', async (t) => {
  const { addPerson, app, call, clock } = await openDelivery(t)
  const runId = await printRun(call)
  const { body } = await call('POST', `/report/run/${runId}/link`)
  await addPerson('anna', 'OWNER')
  await addPerson('lea', 'REPORTS_ONLY')
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const lea = ask(app, { cookie: await signInAs(app, 'lea') })
  const links = `/report/run/${runId}/link`
  const { body: audit } = await anna('GET', '/audit?object=reportLink')
  assert.equal(audit.items[0].after.runId, runId)
  const list = await anna('GET', links)
  assert.deepEqual(
    list.body.items.map((one: { reportLinkId: number }) => one.reportLinkId),
    [body.reportLinkId],
  )
  assert.equal((await anna('GET', `/report/run/${runId}/file`)).status, 404)
  assert.equal((await lea('DELETE', `${links}/${body.reportLinkId}`)).status, 403)
  assert.equal((await anna('DELETE', `${links}/${body.reportLinkId}`)).status, 200)
  assert.equal((await app.inject(new URL(body.url).pathname)).statusCode, 410)

  clock.advance({ hours: 25 })
  await printRun(call)
  assert.equal((await call('GET', `/report/run/${runId}`)).status, 404, 'the file is deleted')
})

test('a file with a link is kept beyond a day, others are not', async (t) => {
  const { app, call, clock } = await openDelivery(t)
  const [kept, dropped] = [await printRun(call), await printRun(call)]
  const { body } = await call('POST', `/report/run/${kept}/link`)
  clock.advance({ hours: 25 })
  await printRun(call)
  assert.equal((await app.inject(new URL(body.url).pathname)).statusCode, 200)
  assert.equal((await call('GET', `/report/run/${dropped}`)).status, 404)
  clock.advance({ hours: 7 * 24 })
  await printRun(call)
  assert.equal((await call('GET', `/report/run/${kept}`)).status, 404)
})

async function printRun(call: ReturnType<typeof ask>, reportId = 101) {
  const { body } = await call('POST', PRINT, { reportId }, { prefer: 'respond-async' })
  const read = async () => (await call('GET', `/report/run/${body.runId}`)).body
  await until(async () => (await read()).status === 'COMPLETED')
  return body.runId as number
}
