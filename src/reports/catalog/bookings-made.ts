import { join, raw, sql, type Sql } from '../../database/sql.ts'
import { firstOf, narrowed } from '../beginning.ts'
import { groupedColumns, groupedRows } from '../grouping.ts'
import { countColumn, measureColumn, measureKpi, selectMeasures } from '../measures.ts'
import { rateKpi, type Groups, type MeasureName, type Report, type Scope } from '../report.ts'
import { linesOf } from '../time-steps.ts'
import { countsOverTime } from './charts.ts'
import { bookingRows } from './conditions.ts'
import { bookingObjects } from './objects.ts'

/** How many days ahead an appointment was booked: the minimum of each column. */
const LEADS = [
  { name: 'sameDay', label: 'Same day', fromDays: 0 },
  { name: 'nextDays', label: '1–2 days', fromDays: 1 },
  { name: 'sameWeek', label: '3–7 days', fromDays: 3 },
  { name: 'sameMonth', label: '8–28 days', fromDays: 8 },
  { name: 'longBefore', label: 'Longer', fromDays: 29 },
]

const SHOWN: MeasureName[] = ['bookings', 'bookingsValue']

/** The condition of a column, in terms of `bookingRows`. */
const hasLead = ({ fromDays }: (typeof LEADS)[number], i: number) => {
  const below = LEADS[i + 1]?.fromDays
  const until = below === undefined ? '' : `and lead_days < ${below}`
  return `lead_days >= ${fromDays} ${until}`
}

const AFTERWARDS = 'booked_time > start_time'
const CANCELLED = `outcome = 'CANCELLED'`

const countLead = (lead: (typeof LEADS)[number], i: number): Sql =>
  raw(`count(*) filter (where ${hasLead(lead, i)}) as "${lead.name}"`)

/** Everything that a line and the figures show, from rows `f`. */
const counts = (scope: Scope) => sql`
  ${join(LEADS.map(countLead), ', ')},
  count(*) filter (where ${raw(AFTERWARDS)}) as afterwards,
  percentile_disc(0.5) within group (order by f.lead_days) as "medianLead",
  count(*) filter (where ${raw(CANCELLED)}) as "cancelledSince",
  ${selectMeasures(SHOWN, scope)}`

const groups: Groups = {
  columns: [
    measureColumn('bookings'),
    ...LEADS.map((lead) => countColumn(lead, { width: 6 })),
    { name: 'afterwards', label: 'Afterwards', type: 'integer', width: 7, total: 'sum' },
    { name: 'medianLead', label: 'Median days', type: 'integer', width: 6 },
    { name: 'cancelledSince', label: 'Cancelled since', type: 'integer', width: 7, total: 'sum' },
    measureColumn('bookingsValue'),
  ],
  rows: bookingRows,
  cells: counts,
}

export const bookingsMade: Report = {
  reportId: 104,
  category: 'APPOINTMENTS',
  reportName: 'Bookings made and lead time',
  reportFileName: 'bookings-made',
  description:
    'How many appointments were booked on each day, or in each month of a long period, and how long before they begin.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: groupedColumns(['day'], { groups }),
  rows: (scope) => groupedRows(scope, { about: 'appointments', groups }, [linesOf(scope)]),
  groups,
  groupedBy: (range) => [linesOf(range)],
  prices: bookingRows,
  beginning: firstOf('calendar', 't.booked_time', narrowed),
  figures: (scope) => sql`select ${counts(scope)} from (${bookingRows(scope)}) f`,
  kpis: [
    measureKpi('bookings'),
    {
      name: 'medianLead',
      label: 'Median lead, in days',
      unit: 'count',
      definition:
        'Half of the bookings were made at most this many days before the day of the appointment. Those that were entered afterwards, after the appointment had begun, do not count.',
      value: ({ medianLead }) => medianLead ?? null,
      tense: 'past',
    },
    rateKpi('sameDayShare', 'For the same day', {
      definition:
        'Bookings for an appointment on the same day as a share of all that were made before it began.',
      of: (figures) => [
        figures.sameDay,
        LEADS.reduce((sum, { name }) => sum + (figures[name] ?? 0), 0),
      ],
      tense: 'past',
    }),
    rateKpi('cancelledSince', 'Cancelled since', {
      definition: 'The share of these bookings whose status counts as cancelled now.',
      of: ({ cancelledSince, bookings }) => [cancelledSince, bookings],
      better: 'less',
      tense: 'past',
      isNotComparable: true,
      meaninglessWith: ['statusList'],
    }),
    measureKpi('bookingsValue'),
  ],
  charts: [
    countsOverTime({
      name: 'bookings',
      title: 'Bookings made',
      rows: bookingRows,
      series: [{ name: 'Bookings made', where: 'true' }],
    }),
    {
      rows: (scope) => sql`select ${counts(scope)} from (${bookingRows(scope)}) f`,
      draw: ([figures = {}]) => [
        {
          kind: 'bar',
          name: 'lead',
          title: 'Bookings by days before the appointment',
          unit: 'count',
          fixedWords: true,
          labels: LEADS.map(({ label }) => label),
          series: [
            { name: 'Bookings made', values: LEADS.map(({ name }) => Number(figures[name])) },
          ],
        },
      ],
    },
  ],
  drillDown: {
    objects: (scope) => bookingObjects(bookingRows(scope)),
    keys: (scope) => [linesOf(scope)],
    figures: {
      ...Object.fromEntries(LEADS.map((lead, i) => [lead.name, { where: hasLead(lead, i) }])),
      afterwards: { where: AFTERWARDS },
      cancelledSince: { where: CANCELLED },
    },
  },
}
