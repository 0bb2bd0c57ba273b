import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeScope,
  looksLikeFormula,
  writeChange,
  writeFigure,
} from '../../src/reports/formats/format-values.ts'
import { wordsOf } from '../../src/reports/words.ts'
import type { Comparison, KpiResult } from '../../src/reports/report.ts'

const printed: { zone: string; at: string; shown: string }[] = [
  { zone: 'Europe/Zurich', at: '2026-10-01T06:00:00Z', shown: '1 October 2026, 08:00 CEST' },
  { zone: 'America/New_York', at: '2026-11-15T05:29:00Z', shown: '15 November 2026, 00:29 EST' },
  { zone: 'Europe/London', at: '2026-01-15T05:29:00Z', shown: '15 January 2026, 05:29 GMT' },
  { zone: 'Australia/Sydney', at: '2026-01-15T05:29:00Z', shown: '15 January 2026, 16:29 AEDT' },
  { zone: 'Asia/Tokyo', at: '2026-01-15T05:29:00Z', shown: '15 January 2026, 14:29 GMT+9' },
  { zone: 'UTC', at: '2026-01-15T05:29:00Z', shown: '15 January 2026, 05:29 UTC' },
]

for (const { zone, at, shown } of printed) {
  test(`a report says when it was printed, in ${zone}`, () => {
    const parameters = {
      startDate: '2026-01-01',
      endDate: '2026-01-31',
      timeZone: zone,
      locationId: null,
      printedTime: Temporal.Instant.from(at).epochMilliseconds,
    }
    const head = {
      timeZones: [zone],
      parameters,
      locationName: null,
      appliedFilters: [],
      locale: 'en',
      comparison: null,
      kpis: [],
      notes: [],
    }
    const facts = new Map(describeScope(head))
    assert.equal(facts.get('Printed'), shown)
  })
}

const compare = (comparison: Comparison) => ({
  comparison,
  compareWith: 'PREVIOUS_PERIOD' as const,
})

const durations: [minutes: number, shown: string][] = [
  [0, '0 min'],
  [25, '25 min'],
  [59.7, '1 h'],
  [90, '1 h 30 min'],
  [120, '2 h'],
  [599, '9 h 59 min'],
  [629, '10 h'],
  [90_000, '1,500 h'],
]

for (const [minutes, shown] of durations) {
  test(`a figure of ${minutes} minutes is shown as ‘${shown}’`, () => {
    const figure = { value: minutes, unit: 'minutes' as const, currency: null }
    assert.equal(writeFigure(figure, wordsOf('en')), shown)
  })
}

const changes: { value: number | null; previous: number | null; shown: string }[] = [
  { value: 110, previous: 100, shown: '+10.0 % vs. September 2026' },
  { value: 95, previous: 100, shown: '−5.0 % vs. September 2026' },
  { value: 100, previous: 100, shown: 'as before' },
  { value: 5, previous: 0, shown: 'from 0 in September 2026' },
  { value: 2500, previous: 100, shown: '25 times September 2026' },
  { value: 100, previous: null, shown: 'no earlier figure' },
  { value: null, previous: 100, shown: 'nothing to compare' },
]

for (const { value, previous, shown } of changes) {
  test(`from ${previous} to ${value} is ‘${shown}’`, () => {
    const kpi: KpiResult = {
      name: 'booked',
      label: 'Booked',
      value,
      valueToDate: value,
      previous,
      unit: 'count',
      currency: null,
      definition: '',
      better: 'more',
      trend: null,
    }
    const comparison = {
      startDate: '2026-09-01',
      endDate: '2026-09-30',
      until: null,
      isLikeForLike: true,
      note: null,
    }
    assert.equal(writeChange(kpi, compare(comparison), wordsOf('en')).text, shown)
    const unlike = writeChange(kpi, compare({ ...comparison, isLikeForLike: false }), wordsOf('en'))
    assert.deepEqual(unlike, { text: 'no earlier figure', trend: 'even' })
  })
}

test('a period that has not ended shows the figure so far, which is compared', () => {
  const kpi: KpiResult = {
    name: 'appointments',
    label: 'Appointments',
    value: 615,
    valueToDate: 358,
    previous: 376,
    unit: 'count',
    currency: null,
    definition: '',
    better: 'more',
    trend: 'worse',
  }
  const comparison = {
    startDate: '2026-10-01',
    endDate: '2026-10-31',
    until: '2026-10-16 15:08',
    isLikeForLike: true,
    note: null,
  }
  const compared = compare(comparison)
  assert.deepEqual(writeChange(kpi, compared, wordsOf('en')), {
    text: '358 so far, −4.8 % vs. October 2026 to the same point',
    trend: 'bad',
  })
  const french = writeChange(kpi, compared, wordsOf('fr'))
  assert.equal(french.text, '358 jusqu’ici, −4,8 % par rapport à octobre 2026 au même point')
  const fromNothing = writeChange({ ...kpi, previous: 0 }, compared, wordsOf('en'))
  assert.equal(fromNothing.text, '358 so far, from 0 in October 2026 to the same point')
})

const texts: { text: string; isFormula: boolean }[] = [
  { text: '+41 44 555 77 00', isFormula: false },
  { text: '+41445557700', isFormula: false },
  { text: '+41 (0)44 555 77 00', isFormula: false },
  { text: '+1 (555) 010-9999', isFormula: false },
  { text: '+44.20.7946.0958', isFormula: false },
  { text: '044 555 77 00', isFormula: false },
  { text: '+1-555-010-9999', isFormula: true },
  { text: '+1 - 2', isFormula: true },
  { text: '+41/44', isFormula: true },
  { text: '+41 44 555+cmd', isFormula: true },
  { text: '=1+1', isFormula: true },
  { text: '-cmd', isFormula: true },
  { text: ' +1', isFormula: true },
]

for (const { text, isFormula } of texts) {
  test(`a spreadsheet ${isFormula ? 'calculates' : 'shows'} ‘${text}’`, () => {
    assert.equal(looksLikeFormula(text), isFormula)
  })
}
