import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, signInAs } from '../support/callers.ts'
import { openDelivery } from './open.ts'

const PRINT = '/report/print/file?startDate=2026-10-01&endDate=2026-10-31&format=json'

test('a view prints its report with its filters, unless the request has others', async (t) => {
  const { book, call, elena, tom } = await openDelivery(t)
  await book({ at: '2026-10-05T09:00+02:00', professionalId: elena })
  await book({ at: '2026-10-05T10:00+02:00', professionalId: tom })
  const filters = { professionalIdList: [tom] }
  const saved = await call('POST', '/reportView', { name: 'Tom', reportId: 101, filters })
  assert.equal(saved.status, 201)
  const { reportViewId } = saved.body
  const timesOf = async (body: object) => {
    const answer = await call('POST', PRINT, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.rows.map((row: unknown[]) => row[1])
  }
  assert.deepEqual(await timesOf({ reportViewId }), ['10:00'])
  assert.deepEqual(await timesOf({ reportViewId, filters: {} }), ['09:00', '10:00'])
  await call('POST', '/reportView', { reportViewId, filters: null })
  assert.deepEqual(await timesOf({ reportViewId }), ['09:00', '10:00'])
  await call('POST', '/reportView', { reportViewId, groupBy: ['staff'] })
  assert.deepEqual((await call('POST', PRINT, { reportViewId })).body.groupBy, ['staff'])
  const past = PRINT.replaceAll('2026-10', '2026-01')
  const comparison = async (query = '') =>
    (await call('POST', past + query, { reportViewId })).body.comparison
  assert.ok(await comparison())
  await call('POST', '/reportView', { reportViewId, compareWith: 'NONE' })
  assert.equal(await comparison(), null)
  assert.ok(await comparison('&compareWith=LAST_YEAR'))
  const named = { reportViewId, reportFileName: 'appointment-summary' }
  assert.equal((await call('POST', PRINT, named)).body.report.reportId, 102)
  const { status, body } = await call('POST', PRINT, { reportViewId: 999_999, reportId: 101 })
  assert.deepEqual([status, body.errors[0].pointer], [422, '/reportViewId'])
})

test('a view is private until it is shared, and others print it with their own rights', async (t) => {
  const { addPerson, app, book, newYork, zurich } = await openDelivery(t)
  await book({ at: '2026-10-05T09:00+02:00', locationId: zurich })
  await book({ at: '2026-10-05T10:00+02:00', locationId: newYork })
  await addPerson('anna', 'OWNER')
  await addPerson('lea', 'LOCATION_SUPER_USER', { locationIdList: [zurich] })
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const lea = ask(app, { cookie: await signInAs(app, 'lea') })

  const { body: view } = await anna('POST', '/reportView', { name: 'All', reportId: 101 })
  const path = `/reportView/${view.reportViewId}`
  assert.equal((await lea('GET', path)).status, 404)
  assert.equal((await lea('POST', PRINT, { reportViewId: view.reportViewId })).status, 422)
  await anna('POST', '/reportView', { ...view, shared: true })
  assert.deepEqual(
    (await lea('GET', '/reportView?reportId=101')).body.items.map(
      (one: { name: string }) => one.name,
    ),
    ['All'],
  )
  assert.deepEqual((await lea('GET', '/reportView?reportId=102')).body.items, [])
  const { body } = await lea('POST', PRINT, { reportViewId: view.reportViewId })
  assert.equal(body.rows.length, 1)
  assert.equal((await lea('DELETE', path)).status, 403)
  assert.equal((await lea('POST', '/reportView', { ...view, name: 'Mine' })).status, 403)
  const own = await lea('POST', '/reportView', { name: 'Mine', reportId: 101 })
  assert.equal(own.status, 201)
  const share = { reportViewId: own.body.reportViewId, shared: true }
  assert.equal((await lea('POST', '/reportView', share)).status, 403)
  assert.equal((await anna('GET', `/reportView/${own.body.reportViewId}`)).status, 404)
})

test('views are checked, deleted and restored like other objects', async (t) => {
  const { call } = await openDelivery(t)
  const wrong = { reportId: 999, filter: {}, locationId: 999_999 }
  const refused = await call('POST', '/reportView', wrong)
  assert.deepEqual(
    refused.body.errors.map(({ pointer }: { pointer: string }) => pointer),
    ['/name', '/filter', '/reportId', '/locationId'],
  )
  const { body, headers } = await call('POST', '/reportView', { name: 'Mine', reportId: 101 })
  const path = `/reportView/${body.reportViewId}`
  const stale = { 'if-match': '"another"' }
  assert.equal((await call('DELETE', path, undefined, stale)).status, 412)
  const match = { 'if-match': String(headers.etag) }
  assert.equal((await call('DELETE', path, undefined, match)).body.active, false)
  assert.deepEqual((await call('GET', '/reportView')).body.items, [])
  const { reportViewId } = body
  const deleted = await call('POST', PRINT, { reportViewId })
  assert.deepEqual([deleted.status, deleted.body.errors[0].pointer], [422, '/reportViewId'])
  assert.equal(
    (await call('POST', '/reportView', { reportViewId, active: true })).body.active,
    true,
  )
})
