import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { DIMENSIONS } from '../../src/contract/report.ts'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import { MEASURES } from '../../src/reports/measures.ts'
import type { MeasureName } from '../../src/reports/report.ts'
import { openBusiness } from './business.ts'
import {
  calculate,
  calculateClasses,
  localStart,
  openMeasuredBusiness,
  print,
  type Printed,
} from './measured-business.ts'

const RANGES = [
  ['2026-03-29', '2026-03-29'],
  ['2026-03-01', '2026-03-31'],
  ['2026-10-19', '2026-10-25'],
  ['2026-11-01', '2026-11-30'],
  ['2026-12-01', '2026-12-31'],
  ['2026-01-01', '2026-12-31'],
] as const

test('every measure has the same value in all reports and in a plain calculation', async (t) => {
  const business = await openMeasuredBusiness(t)
  for (const [i, [startDate, endDate]] of RANGES.entries()) {
    // A single location is printed only for every second range, to save time.
    for (const locationId of i % 2 ? [undefined, business.newYork] : [undefined]) {
      const within = inRange(business, startDate, endDate, locationId)
      const { money, ...counts } = calculate(business.rows.filter(within))
      const booked = business.rows.filter(({ bookedTime, ...row }) =>
        within({ ...row, startTime: bookedTime }),
      )
      const expected = {
        ...counts,
        ...calculateClasses(business.classes.filter(within)),
        bookings: booked.length,
      }
      const amounts: typeof money = { ...money, bookingsValue: calculate(booked).money.value ?? {} }
      const shown = new Map<string, [reportId: number, place: string, value: unknown][]>()
      for (const { reportId } of REPORTS) {
        const result = await print(business, { reportId, startDate, endDate, locationId })
        // Skip reports that always cover one month.
        if (result.parameters.startDate !== startDate || result.parameters.endDate !== endDate)
          continue
        for (const [key, place, value] of shownMeasures(result)) {
          shown.set(key, [...(shown.get(key) ?? []), [reportId, place, value]])
        }
      }
      for (const [key, places] of shown) {
        const [measure, currency] = key.split(' ') as [MeasureName, string | undefined]
        const values = new Set(places.map(([, , value]) => value))
        assert.equal(values.size, 1, `${key} of ${startDate}: ${JSON.stringify(places)}`)
        if (!(measure in expected) && MEASURES[measure].unit !== 'money') continue
        // Without prices in the range there is one amount, without a currency.
        const correct =
          MEASURES[measure].unit === 'money'
            ? (amounts[measure]?.[currency ?? ''] ?? 0)
            : expected[measure as keyof typeof expected]
        assert.deepEqual([...values], [correct], `${key} of ${startDate}`)
      }
      assert.ok((shown.get('appointments')?.length ?? 0) >= 5, 'several reports show appointments')
    }
  }
})

test('the groups of a report add up to its total, and each matches a plain calculation', async (t) => {
  const business = await openMeasuredBusiness(t)
  const [startDate, endDate] = RANGES[3]
  const request = { reportId: 102, startDate, endDate }
  const whole = await print(business, request)
  for (const dimension of DIMENSIONS) {
    const grouped = await print(business, { ...request, groupBy: [dimension] })
    assert.deepEqual(grouped.totals, whole.totals, dimension)
  }

  const rows = business.rows.filter(inRange(business, startDate, endDate))
  const { columns, rows: lines } = await print(business, {
    ...request,
    groupBy: ['location', 'weekday'],
  })
  assert.deepEqual(
    columns.slice(0, 2).map(({ name }) => name),
    ['location', 'weekday'],
  )
  const at = (name: string) => columns.findIndex((column) => column.name === name)
  for (const line of lines) {
    const inGroup = rows.filter((row) => {
      const place = row.locationId === business.newYork ? 'New York' : 'Zürich'
      const weekday = localStart(row, business).toLocaleString('en', { weekday: 'long' })
      return place === line[0] && weekday === line[1]
    })
    const { appointments, kept, ahead, bookedMinutes } = calculate(inGroup)
    assert.deepEqual(
      ['appointments', 'completed', 'ahead', 'minutes'].map((name) => line[at(name)]),
      [appointments, kept, ahead, bookedMinutes],
    )
  }
})

test('a long range is shown by month, and figures of future months are empty, not zero', async (t) => {
  const business = await openMeasuredBusiness(t)
  const year = await print(business, {
    reportId: 102,
    startDate: '2026-01-01',
    endDate: '2026-12-31',
  })
  assert.equal(year.columns[0]!.name, 'month')
  assert.equal(year.rows.length, 12)
  const at = (name: string) => year.columns.findIndex((column) => column.name === name)
  const december = year.rows[11]!
  assert.equal(december[0], '2026-12')
  assert.equal(december[at('completed')], null)
  assert.equal(december[at('revenueCHF')], null)
  assert.equal(
    december[at('ahead')],
    calculate(business.rows.filter(inRange(business, '2026-12-01', '2026-12-31'))).ahead,
  )
  assert.notEqual(year.rows[9]![at('completed')], null)

  const ahead = await print(business, {
    reportId: 101,
    startDate: '2026-12-01',
    endDate: '2026-12-31',
  })
  assert.equal(ahead.comparison, null)
  for (const { name, value, previous } of ahead.kpis) {
    if (name === 'revenue' || name === 'noShowRate') assert.equal(value, null, name)
    assert.equal(previous, null, name)
  }
})

test('docs/reports.md lists every measure with its definition', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/reports.md'), 'utf8')
  for (const [name, { label, definition }] of Object.entries(MEASURES)) {
    assert.ok(text.includes(`| \`${name}\` | ${label} | ${definition} |`), name)
  }
})

/** Whether the local day of a row is in the range. */
const inRange =
  (business: { newYork: number }, startDate: string, endDate: string, locationId?: number) =>
  (row: { locationId: number; startTime: number }) => {
    const day = localStart(row, business).toPlainDate().toString()
    return day >= startDate && day <= endDate && (!locationId || row.locationId === locationId)
  }

/** Every figure and total of a report that shows a measure; amounts with their currency. */
function shownMeasures({ kpis, columns, totals, report }: Printed): [string, string, unknown][] {
  const { kpis: declared } = REPORTS.find(({ reportId }) => reportId === report.reportId)!
  const ofKpis = kpis.flatMap(({ name, value, currency }): [string, string, unknown][] => {
    const measure = declared.find((kpi) => kpi.name === name)!.measure
    if (!measure || value === null) return []
    return [[currency ? `${measure} ${currency}` : measure, `kpi ${name}`, value]]
  })
  const ofColumns = columns.flatMap((column): [string, string, unknown][] => {
    const { name, measure, currency } = column
    if (!measure || !column.total) return []
    const total = totals[name]
    if (typeof total !== 'object' || total === null) {
      return [[currency ? `${measure} ${currency}` : measure, `total ${name}`, total]]
    }
    return Object.entries(total).map(([one, amount]) => [`${measure} ${one}`, name, amount])
  })
  return [...ofKpis, ...ofColumns]
}

test('the kept rate does not count future appointments', async (t) => {
  const business = await openBusiness(t)
  const { book } = business
  // It is 10 November.
  for (const day of ['02', '03', '04']) await book({ at: `2026-11-${day}T10:00+01:00` })
  await book({ at: '2026-11-05T10:00+01:00', status: 'CANCELLED' })
  for (const day of ['20', '21', '22']) {
    await book({ at: `2026-11-${day}T10:00+01:00`, status: 'CANCELLED' })
  }
  await book({ at: '2026-11-23T10:00+01:00', status: 'OPEN' })
  for (const reportId of [100, 101, 102]) {
    const request = { reportId, startDate: '2026-11-01', endDate: '2026-11-30' }
    const { kpis } = await print(business, request)
    const { value, valueToDate } = kpis.find(({ label }) => label === 'Kept rate')!
    assert.deepEqual([value, valueToDate], [75, 75], String(reportId))
  }
})
