import type { Cell, Column, ReportResult } from '../../src/reports/report.ts'
import { withTotals } from '../../src/reports/totals.ts'

/** Names in several scripts, and names that contain attacks. */
export const NAMES = [
  'Anna Müller',
  'Ada 🎉 Lovelace',
  'فاطمة الزهراء',
  'דוד כהן',
  '山田 太郎',
  '王小明',
  '김민준',
  'Łukasz Żółć',
  'Иван Петров',
  'สมชาย ใจดี',
  'Siân O’Connor, "Sia"',
  '=HYPERLINK("http://evil.example","click")',
  '+1-2',
  '-cmd',
  '@SUM(A1:A9)',
  '<script>alert(1)</script>',
  '</t></is></c><c><f>1+1</f></c>',
  '#import "/etc/passwd": *',
  '../../etc/passwd',
  '_x0041_',
  `Ann\u{202E}reversed`,
]

const COLUMNS: Column[] = [
  { name: 'date', label: 'Date', type: 'date', width: 10 },
  { name: 'time', label: 'Time', type: 'time', width: 5 },
  { name: 'client', label: 'Client', type: 'text', width: 20 },
  { name: 'service', label: 'Service', type: 'text', width: 20 },
  { name: 'staff', label: 'Staff', type: 'text', width: 18 },
  { name: 'status', label: 'Status', type: 'text', width: 11 },
  { name: 'minutes', label: 'Min', type: 'minutes', width: 5, total: 'sum' },
  { name: 'price', label: 'Price', type: 'money', width: 9, total: 'sum' },
  {
    name: 'share',
    label: 'Share',
    type: 'percent',
    width: 7,
    total: { percentOf: ['price', 'minutes'] },
  },
]

export const sampleRow = (i: number): Cell[] => [
  `2026-09-${String(1 + (i % 30)).padStart(2, '0')}`,
  `${String(8 + (i % 10)).padStart(2, '0')}:${i % 2 ? '30' : '00'}`,
  NAMES[i % NAMES.length]!,
  i % 7 === 0 ? null : 'Initial consultation',
  'Dr. Elena García',
  i % 9 === 0 ? 'No-show' : 'Completed',
  15 * (1 + (i % 6)),
  (2_000 + ((i * 137) % 15_000)) / 100,
  ((i * 37) % 1000) / 10,
]

export function sampleResult(rowCount: number): ReportResult {
  async function* batches() {
    for (let i = 0; i < rowCount; i += 500) {
      yield Array.from({ length: Math.min(500, rowCount - i) }, (_, j) => sampleRow(i + j))
    }
  }
  const { rows, totals } = withTotals(COLUMNS, batches())
  const labels = Array.from({ length: 30 }, (_, i) => String(i + 1).padStart(2, '0'))

  return {
    report: {
      active: true,
      businessId: 1,
      category: 'APPOINTMENTS',
      createdDate: 0,
      createdUser: 'SYSTEM',
      modifiedDate: 0,
      modifiedUser: 'SYSTEM',
      planIds: 0,
      reportFileName: 'appointment-list',
      reportId: 101,
      reportName: 'Appointment list',
      reportType: 'LIST',
      resellerIds: 0,
      securityFunctions: 'PRINT_REPORTS',
      description: 'A list.',
    },
    parameters: {
      startDate: '2026-09-01',
      endDate: '2026-09-30',
      timeZone: 'Europe/Zurich',
      locationId: 4,
      printedTime: Date.parse('2026-10-01T06:00:00Z'),
    },
    timeZones: ['Europe/Zurich'],
    filters: {},
    groupBy: [],
    locale: 'en',
    accentColor: null,
    logo: null,
    sentences: [],
    businessName: 'Praxis Grüner Baum — Зелёное дерево 緑の木',
    locationName: 'Zürich Altstadt',
    appliedFilters: [],
    notes: [],
    definitions: ['Appointments', 'No-show rate', 'Completed', 'Booked value'].map((label) => [
      label,
      `What ${label} counts.`,
    ]),
    compareWith: 'PREVIOUS_PERIOD',
    comparison: {
      startDate: '2026-08-01',
      endDate: '2026-08-31',
      until: null,
      isLikeForLike: true,
      note: null,
    },
    kpis: [
      kpi('appointments', 'Appointments', 1000, 924, 'count', 'more'),
      kpi('noShowRate', 'No-show rate', 14.2, 14.8, 'percent', 'less'),
      kpi('completed', 'Completed', 48, 48, 'percent', 'more'),
      kpi('revenue', 'Booked value', 52_873, 60_000, 'money', 'more'),
    ],
    charts: [
      {
        kind: 'bar',
        name: 'byDay',
        title: 'Appointments by day',
        labels,
        stacked: true,
        unit: 'count',
        series: [
          { name: 'Kept', values: labels.map((_, i) => 25 + (i % 7)) },
          { name: 'No-show', values: labels.map((_, i) => 3 + (i % 4)) },
        ],
      },
      {
        kind: 'line',
        name: 'value',
        title: 'Booked value by day',
        labels,
        unit: 'money',
        series: [{ name: 'Value', values: labels.map((_, i) => 1500 + ((i * 311) % 900)) }],
      },
    ],
    columns: COLUMNS,
    newPageAt: -1,
    drillDown: null,
    hasRowFilters: false,
    rows,
    totals,
  }
}

const kpi = (
  name: string,
  label: string,
  value: number,
  previous: number,
  unit: 'count' | 'percent' | 'money',
  better: 'more' | 'less',
) => ({
  name,
  label,
  value,
  valueToDate: value,
  previous,
  unit,
  currency: unit === 'money' ? 'EUR' : null,
  better,
  trend: null,
  definition: `What ${label} counts.`,
})
