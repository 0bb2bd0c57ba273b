import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createKey, createPerson, signInAs, startWithBusiness } from '../support/callers.ts'
import { fillBusiness } from '../reports/business.ts'

type Named = { id: number; name: string }
const idsOf = (list: Named[]) => list.map(({ id }) => id)

test('a report says what it can be filtered and grouped by', async (t) => {
  const { call, elena, tom } = await open(t)
  const { body } = await call('GET', '/report/101/options')
  assert.deepEqual(new Set(idsOf(body.staff)), new Set([elena, tom]))
  assert.ok(body.locations.length > 0 && body.services.length > 0)
  assert.ok(body.groupBy.includes('month'))
  const noShow = body.statuses.find(({ status }: { status: string }) => status === 'NO_SHOW')
  assert.equal(noShow.label, 'No-show')
  assert.equal((await call('GET', '/report/999/options')).status, 404)
})

test('every offered filter and grouping can be printed', async (t) => {
  const { call } = await open(t)
  const { body: categories } = await call('GET', '/reports/category')
  const reports = categories.flatMap(({ reports }: { reports: object[] }) => reports)
  assert.equal(reports.length, 34)
  for (const { reportId } of reports) {
    const { body } = await call('GET', `/report/${reportId}/options`)
    const filters = {
      locationIdList: idsOf(body.locations),
      professionalIdList: idsOf(body.staff),
      reasonIdList: idsOf(body.services),
      statusList: body.statuses.map(({ status }: { status: string }) => status),
    }
    const groupBy = body.groupBy.slice(0, 2)
    const query = 'startDate=2025-10-01&endDate=2025-10-02&format=csv'
    const printed = await call('POST', `/report/print/file?${query}`, {
      reportId,
      filters,
      groupBy,
    })
    assert.equal(printed.status, 200, `${reportId}: ${JSON.stringify(printed.body)}`)
  }
})

test('people are offered what they see, of the reports that they may print', async (t) => {
  const { app, businessId, callAs, clock, database, tom } = await open(t)
  const person = { username: 'tom', role: 'USER', professionalId: tom } as const
  await createPerson(database, clock, businessId, person)
  const asTom = callAs({ cookie: await signInAs(app, 'tom') })
  const { body } = await asTom('GET', '/report/101/options')
  assert.deepEqual(idsOf(body.staff), [tom])
  assert.equal((await asTom('GET', '/report/951/options')).status, 403)
})

async function open(t: TestContext) {
  const started = await startWithBusiness(t)
  const business = await fillBusiness(started.database)
  const { key } = await createKey(started.database, started.clock, business.businessId)
  return { ...started, ...business, call: started.callAs({ authorization: `Bearer ${key}` }) }
}
