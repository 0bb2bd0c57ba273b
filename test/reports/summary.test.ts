import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import type { KpiResult } from '../../src/reports/report.ts'
import { writeSummary } from '../../src/reports/summary.ts'
import { openMeasuredBusiness, print } from './measured-business.ts'

const NOVEMBER = { startDate: '2026-11-01', endDate: '2026-11-30' }

test('every report has three sentences about its figures, in each language', async (t) => {
  const business = await openMeasuredBusiness(t)
  for (const { reportId } of REPORTS) {
    const result = await print(business, { reportId, ...NOVEMBER })
    for (const language of ['en', 'de-CH', 'fr', 'ja']) {
      const sentences = writeSummary({ ...result, locale: language })
      assert.ok(sentences.length === 3, `${reportId} ${language}: ${JSON.stringify(sentences)}`)
      for (const sentence of sentences) {
        assert.match(sentence, /^[^{}]{4,}\.$/, `${reportId} ${language}`)
        assert.doesNotMatch(sentence, /NaN|undefined|null/)
      }
    }
  }
})

test('amounts in sentences have their currency with its digits', () => {
  const written = (currency: string, value: number, previous: number) =>
    writeSummary({
      kpis: [kpi({ label: 'Revenue', unit: 'money', currency, value, previous })],
      compareWith: 'PREVIOUS_PERIOD' as const,
      comparison: COMPARISON,
      locale: 'en',
      charts: [
        {
          kind: 'bar' as const,
          name: 'revenue',
          title: 'Revenue',
          unit: 'money' as const,
          currency,
          labels: ['A', 'B'],
          series: [{ name: 'Revenue', values: [1, value] }],
        },
      ],
    } as Parameters<typeof writeSummary>[0])
      .join(' ')
      .replaceAll('\u00a0', ' ')
  assert.match(written('JPY', 9_000, 8_000), /¥9,000, ¥1,000 more [^]* B with ¥9,000\.$/)
  assert.match(written('KWD', 8.25, 4.125), /KWD 8.250, KWD 4.125 more [^]* B with KWD 8.250\.$/)
  assert.match(written('CHF', 9.55, 9.5), /CHF 9.55, CHF 0.05 more [^]* B with CHF 9.55\.$/)
})

test('the sentences say what changed, what improved and declined, and where most was', () => {
  const result = {
    kpis: [
      kpi({ label: 'Appointments', value: 1_200, previous: 1_000 }),
      kpi({ label: 'No-show rate', unit: 'percent', value: 4.2, previous: 6, trend: 'better' }),
      kpi({
        label: 'Revenue',
        unit: 'money',
        currency: 'CHF',
        value: 900,
        previous: 1_000,
        trend: 'worse',
      }),
      kpi({ label: 'Clients', value: 40, previous: 50, trend: 'worse' }),
      kpi({ label: 'Kept', value: 101, previous: 100 }),
    ],
    compareWith: 'PREVIOUS_PERIOD' as const,
    comparison: COMPARISON,
    locale: 'en',
    charts: [
      {
        kind: 'bar' as const,
        name: 'appointments',
        title: 'Appointments by day',
        unit: 'count' as const,
        stacked: true,
        labels: ['01', '02', '03'],
        steps: { step: 'day' as const, dates: ['2026-09-01', '2026-09-02', '2026-09-03'] },
        series: [
          { name: 'Kept', values: [5, 9, 1] },
          { name: 'No-show', values: [0, 1, 8] },
        ],
      },
    ],
  }
  assert.deepEqual(writeSummary({ ...result, locale: 'en' }), [
    'Appointments: 1,200, 200 more than in the period before (1,000).',
    'Improved most: No-show rate, now 4.2 % after 6.0 %. Declined most: Clients, now 40 after 50.',
    'Appointments by day: the most is Wednesday 2 September with 10.',
  ])
  assert.deepEqual(writeSummary({ ...result, locale: 'de' }), [
    'Appointments: 1.200, 200 mehr als im Zeitraum davor (1.000).',
    'Am meisten verbessert: No-show rate, jetzt 4,2 % nach 6,0 %. Am meisten verschlechtert: Clients, jetzt 40 nach 50.',
    'Appointments by day: am meisten Mittwoch, 2. September mit 10.',
  ])

  const running = {
    ...result,
    kpis: [kpi({ label: 'Kept', value: 9, valueToDate: 4, previous: 6 })],
  }
  assert.equal(
    writeSummary(running)[0],
    'Kept: 9, of which 4 so far, 2 less than at the same point before (6).',
  )
  const first = { ...result, comparison: { ...COMPARISON, isLikeForLike: false } }
  assert.deepEqual(writeSummary(first).slice(0, 2), [
    'Appointments: 1,200.',
    'There is no complete earlier period to compare it with.',
  ])
})

const COMPARISON = {
  startDate: '2026-08-01',
  endDate: '2026-08-31',
  until: null,
  isLikeForLike: true,
  note: null,
}

const kpi = (one: Partial<KpiResult> & { value: number }): KpiResult => ({
  name: 'one',
  label: 'One',
  unit: 'count',
  previous: null,
  valueToDate: one.value,
  currency: null,
  definition: '',
  better: 'more',
  trend: null,
  ...one,
})
