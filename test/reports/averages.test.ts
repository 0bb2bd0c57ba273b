import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import { openBusiness } from './business.ts'
import { figuresOf, linesOf, openMeasuredBusiness, print } from './measured-business.ts'

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }

test('revenue per client divides by the clients who paid, in each currency', async (t) => {
  const business = await openBusiness(t)
  const { book, client, reason, anna, massage } = business
  const [ben, zoe] = [await client('Ben', 'Abel'), await client('Zoë', 'Öz')]
  const dinar = await reason('Diwan', 10, 'KWD')
  const free = await reason('First talk', 0)
  const at = '2026-10-06T09:00+02:00'
  await book({ at, clientId: anna, reasonId: massage })
  await book({ at, clientId: anna, reasonId: massage })
  await book({ at, clientId: ben, reasonId: dinar })
  // None of these pays: missed, cancelled and free.
  await book({ at, clientId: ben, reasonId: massage, status: 'NO_SHOW' })
  await book({ at, clientId: zoe, reasonId: massage, status: 'CANCELLED' })
  await book({ at, clientId: zoe, reasonId: free })
  const figures = figuresOf(await print(business, { reportId: 501, ...OCTOBER }))
  assert.deepEqual(
    [figures.revenuePerClientCHF, figures.revenuePerClientKWD, figures.activeClients],
    [240, 10, 3],
  )
})

test('hours of the week are compared per open day of their weekday', async (t) => {
  const business = await openBusiness(t)
  const { book, db: _, ...rest } = business
  // October 2026 has four Mondays and five Fridays; Elena works on Mondays.
  for (const day of ['05', '12']) {
    for (const hour of ['09', '09', '09']) await book({ at: `2026-10-${day}T${hour}:00+02:00` })
  }
  for (const day of ['02T15:00', '09T15:00', '16T15:00', '23T15:00', '02T15:30', '09T15:30']) {
    await book({ at: `2026-10-${day}+02:00` })
  }
  await book({ at: '2026-10-30T15:00+01:00' }) // after the clock change
  await book({ at: '2026-10-19T09:00+02:00', status: 'CANCELLED' })
  const printed = await print(rest, { reportId: 105, ...OCTOBER })
  assert.deepEqual(
    linesOf(printed).map((line) => [line.weekday, line.appointments, line.openDays, line.perDay]),
    [
      ['Monday', 7, 4, 1.5],
      ['Friday', 7, 5, 1.4],
    ],
  )
  const busiest = printed.kpis.find(({ name }) => name === 'busiestHour')!
  assert.deepEqual([busiest.words, busiest.value], ['Monday 09:00', 1.5])
  const [map] = printed.charts
  assert.ok(map?.kind === 'heatmap')
  assert.equal(map.values[4]![map.columns.indexOf('15:00')], 1.4)
})

test('months are compared per open day, and a day with the others of its weekday', async (t) => {
  const business = await openBusiness(t)
  const { book, professional, db: _, ...rest } = business
  await professional('Lea', 'Frei', [{ weekday: 'SATURDAY', from: '09:00', to: '12:00' }])
  // Saturdays are always quiet, and one Monday is worse than the others.
  const bookOn = async (day: string, count: number) => {
    for (let i = 0; i < count; i++) await book({ at: `${day}T09:00Z` })
  }
  await book({ at: '2026-08-31T09:00Z' })
  for (const day of ['07', '14', '21', '28']) await bookOn(`2026-09-${day}`, 6)
  for (const day of ['05', '12', '19', '26']) await bookOn(`2026-09-${day}`, 1)
  for (const [day, count] of [
    ['05', 7],
    ['12', 3],
    ['19', 6],
    ['26', 6],
  ] as const) {
    await bookOn(`2026-10-${day}`, count)
  }
  for (const day of ['03', '10', '17', '24', '31']) await bookOn(`2026-10-${day}`, 1)
  const printed = await print(rest, { reportId: 100, ...OCTOBER })
  const [october, september] = linesOf(printed)
  // Elena also works on Sundays: four in each month.
  assert.deepEqual(
    [october, september].map((line) => [line!.appointments, line!.openDays, line!.perDay]),
    [
      [27, 13, 2.1],
      [28, 12, 2.3],
    ],
  )
  assert.match(
    printed.sentences[0]!,
    /^October 2026 had 27 appointments on 13 open days, 0\.2 fewer a day than the month before/,
  )
  assert.equal(
    printed.sentences[1],
    'For its weekday, the best day was Monday 5 with 7 kept (usually 5.6), the worst Monday 12 with 3 (6.1).',
  )
  const german = await print(rest, { reportId: 100, ...OCTOBER }, undefined, 'de')
  assert.match(german.sentences[0]!, /27 Termine an 13 offenen Tagen, je Tag 0,2 weniger/)
})

test('the worst day can be an open day without any appointment', async (t) => {
  const business = await openBusiness(t)
  const { book, db: _, ...rest } = business
  // Elena works on Mondays; nobody came on the 19th.
  for (const day of ['09-07', '09-14', '09-21', '09-28', '10-05', '10-12', '10-26']) {
    for (let i = 0; i < 4; i++) await book({ at: `2026-${day}T09:00Z` })
  }
  const printed = await print(rest, { reportId: 100, ...OCTOBER })
  assert.match(printed.sentences[1]!, /the worst Monday 19 with 0 \(4\)\.$/)
})

test('the outcomes of every row add up to its appointments', async (t) => {
  const business = await openMeasuredBusiness(t)
  const year = { startDate: '2026-01-01', endDate: '2026-12-31' }
  const parts = ['completed', 'noShows', 'cancelled', 'unclosed', 'ahead']
  const footed: number[] = []
  for (const { reportId, columns } of REPORTS) {
    const names = new Set(columns.map(({ name }) => name))
    if (!names.has('appointments') || !names.has('noShows')) continue
    for (const line of linesOf(await print(business, { reportId, ...year }))) {
      const sum = parts.reduce((all, name) => all + Number(line[name] ?? 0), 0)
      assert.equal(sum, line.appointments, `${reportId}: ${JSON.stringify(line)}`)
    }
    footed.push(reportId)
  }
  for (const reportId of [100, 105, 301, 402, 501]) assert.ok(footed.includes(reportId))
})

test('what is called “Clients” is the same number in every report', async (t) => {
  const business = await openMeasuredBusiness(t)
  const { book, client } = business
  await book({
    at: '2026-10-05T09:00Z',
    status: 'CANCELLED',
    clientId: await client('Only', 'Cancelled'),
  })
  const counts = new Map<number, number>()
  for (const { reportId, kpis } of REPORTS) {
    if (!kpis.some(({ label }) => label === 'Clients')) continue
    const printed = await print(business, { reportId, ...OCTOBER })
    counts.set(reportId, printed.kpis.find(({ label }) => label === 'Clients')!.value!)
  }
  assert.deepEqual([...counts.keys()], [302, 501, 502])
  assert.deepEqual(new Set(counts.values()), new Set([3]))
})
