import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { RequestError } from '../../src/errors.ts'
import { checkPrintRequest, type PrintRequest } from '../../src/reports/print-request.ts'
import { fileNameOf } from '../../src/reports/print-to-file.ts'
import { everything, NOW, openBusiness } from './business.ts'
import { print } from './measured-business.ts'

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }
type Business = Awaited<ReturnType<typeof openBusiness>>

async function openFilteredBusiness(t: Parameters<typeof openBusiness>[0]) {
  const business = await openBusiness(t)
  const { book, client, db, businessId, newYork, anna } = business
  const ben = await client('Ben', 'Abel')
  await db.query(sql`
    update client set tags = '{"level": ["gold"]}' where business_id = ${businessId} and client_id = ${ben}`)
  await book({ at: '2026-10-05T09:00+02:00', clientId: anna })
  await book({ at: '2026-10-05T10:00+02:00', clientId: ben })
  const tagged = await book({ at: '2026-10-05T17:00+02:00', clientId: anna, locationId: newYork })
  await db.query(sql`
    update calendar set tags = '{"level": ["gold", "new"]}'
    where business_id = ${businessId} and calendar_id = ${tagged}`)
  return { ...business, ben }
}

const timesOf = async (business: Business, filters: object) => {
  const { columns, rows } = await print(business, { reportId: 101, ...OCTOBER, filters })
  const time = columns.findIndex(({ name }) => name === 'time')
  return rows.map((row) => row[time])
}

test('a report is filtered by location, client and tags of the appointment or its client', async (t) => {
  const business = await openFilteredBusiness(t)
  const { newYork, anna, ben } = business
  assert.deepEqual(await timesOf(business, { locationIdList: [newYork] }), ['11:00'])
  assert.deepEqual(await timesOf(business, { clientIdList: [ben] }), ['10:00'])
  assert.deepEqual(await timesOf(business, { clientIdList: [anna, ben] }), [
    '09:00',
    '10:00',
    '11:00',
  ])
  assert.deepEqual(await timesOf(business, { tags: { level: ['gold'] } }), ['10:00', '11:00'])
  assert.deepEqual(await timesOf(business, { tags: { level: ['new'] } }), ['11:00'])
  assert.deepEqual(await timesOf(business, { tags: { level: ['gold'] }, clientIdList: [ben] }), [
    '10:00',
  ])
})

test('a misspelt filter, an unknown value and a filter that the report does not support are refused', async (t) => {
  const business = await openFilteredBusiness(t)
  const pointersOf = async (request: Partial<PrintRequest>) => {
    const error = await print(business, { reportId: 101, ...OCTOBER, ...request }).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(error instanceof RequestError)
    assert.equal(error.status, 422)
    return error.errors!.map(({ pointer }) => pointer)
  }
  const cases: [Partial<PrintRequest>, string[]][] = [
    [{ filters: { staffIdList: [1] } }, ['/filters/staffIdList']],
    [{ filters: { locationIdList: [999_999] } }, ['/filters/locationIdList/0']],
    [{ filters: { clientIdList: [business.ben, 999_999] } }, ['/filters/clientIdList/1']],
    [{ filters: { statusList: ['NO_SHOW', 'NOSHOW'] } }, ['/filters/statusList/1']],
    [
      { filters: { locationIdList: [999_999], professionalIdList: ['x'] } },
      ['/filters/professionalIdList/0', '/filters/locationIdList/0'],
    ],
    [{ filters: { statusList: 'NO_SHOW' } }, ['/filters/statusList']],
    [{ filters: { tags: { level: ['golden'] } } }, ['/filters/tags/level/0']],
    [{ filters: { tags: ['gold'] } }, ['/filters/tags']],
    [{ filters: { tags: { level: Array(101).fill('gold') } } }, ['/filters/tags']],
    [{ reportId: 902, filters: { tags: { level: ['gold'] } } }, ['/filters/tags']],
    [{ reportId: 902, filters: { statusList: ['OPEN'] } }, ['/filters/statusList/0']],
    [{ groupBy: ['hour'] }, ['/groupBy/0']],
    [{ groupBy: ['day', 'day'] }, ['/groupBy']],
    [{ groupBy: ['day', 'week', 'staff'] }, ['/groupBy']],
    [{ reportId: 901, groupBy: ['day'] }, ['/groupBy/0']],
    [{ reportId: 601, groupBy: ['client'] }, ['/groupBy/0']],
  ]
  for (const [request, pointers] of cases) {
    assert.deepEqual(await pointersOf(request), pointers, JSON.stringify(request))
  }
})

test('a filter that makes a rate meaningless drops the rate and says why', async (t) => {
  const business = await openFilteredBusiness(t)
  const filters = { statusList: ['COMPLETED'] }
  const list = await print(business, { reportId: 101, ...OCTOBER, filters })
  assert.deepEqual(
    list.kpis.map(({ name }) => name),
    ['appointments', 'value', 'revenue'],
  )
  assert.deepEqual(list.notes, [
    'Kept rate is left out: with a filter by status it would have no meaning.',
    'No-show rate is left out: with a filter by status it would have no meaning.',
  ])
  const staff = await print(business, {
    reportId: 301,
    ...OCTOBER,
    filters: { reasonIdList: [business.checkUp] },
  })
  assert.ok(!staff.columns.some(({ name }) => name === 'utilisation'))
  assert.deepEqual(staff.notes, [
    'Utilisation is left out: with a filter by service it would have no meaning.',
  ])
})

test('filters and grouping are in the head and in the file name', async (t) => {
  const business = await openFilteredBusiness(t)
  const { reports, businessId, elena, ben } = business
  const request = {
    reportId: 102,
    ...OCTOBER,
    filters: { professionalIdList: [elena], clientIdList: [ben], tags: { level: ['gold'] } },
    groupBy: ['staff', 'month'],
  }
  const { appliedFilters, filters, groupBy } = await print(business, request)
  assert.deepEqual(appliedFilters, [
    ['Staff', 'Elena García'],
    ['Clients', 'Ben Abel'],
    ['Tag level', 'gold'],
    ['Grouped by', 'staff, month'],
  ])
  assert.deepEqual(filters, request.filters)
  assert.deepEqual(groupBy, ['staff', 'month'])
  const nameOf = async (wanted: PrintRequest) =>
    fileNameOf(await checkPrintRequest(reports, wanted, everything(businessId), NOW), 'pdf')
  assert.equal(
    await nameOf(request),
    `appointment-summary-staff-${elena}-client-${ben}-tag-level-gold-by-staff-and-month_2026-10-01_2026-10-31.pdf`,
  )
  assert.equal(
    await nameOf({ reportId: 102, ...OCTOBER }),
    'appointment-summary_2026-10-01_2026-10-31.pdf',
  )
})
