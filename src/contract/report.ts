import { Type, type Static } from 'typebox'
import { Text } from './fields.ts'
import { isPlainObject } from './json.ts'
import { withRule } from './rules.ts'
import { about, Day, Id, Ignored, Maybe, Moment, Named, OrNull } from './schema.ts'
import { textFault } from './text.ts'

export const REPORT_FORMATS = ['pdf', 'xlsx', 'csv', 'html', 'json'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** The properties that a report can be grouped by. */
export const DIMENSIONS = [
  'staff',
  'location',
  'service',
  'client',
  'day',
  'week',
  'month',
  'weekday',
] as const
export type DimensionName = (typeof DIMENSIONS)[number]

/** What the figures of a report are compared with. */
export const COMPARED_PERIODS = ['PREVIOUS_PERIOD', 'LAST_YEAR', 'NONE'] as const
export type ComparedPeriod = (typeof COMPARED_PERIODS)[number]

export const FILTER_NAMES = [
  'locationIdList',
  'professionalIdList',
  'reasonIdList',
  'clientIdList',
  'statusList',
  'tags',
] as const
export type FilterName = (typeof FILTER_NAMES)[number]

const reportExample = {
  active: true,
  businessId: 1,
  category: 'APPOINTMENTS',
  createdDate: 1_767_225_600_000,
  createdUser: 'SYSTEM',
  modifiedDate: 1_767_225_600_000,
  modifiedUser: 'SYSTEM',
  planIds: 0,
  reportFileName: 'appointment-list',
  reportId: 101,
  reportName: 'Appointment list',
  reportType: 'BUILT_IN',
  resellerIds: 0,
  securityFunctions: 'PRINT_REPORTS',
  description: 'All appointments that begin in the period, ordered by time.',
}

/** A report of the catalog: see docs/reports.md. */
export const Report = Named(
  'Report',
  {
    active: Type.Boolean(),
    businessId: Type.Integer(),
    category: Type.String(),
    createdDate: Moment,
    createdUser: Type.String(),
    modifiedDate: Moment,
    modifiedUser: Type.String(),
    planIds: about(Type.Integer(), 'Always 0.'),
    reportFileName: Type.String(),
    reportId: Type.Integer(),
    reportName: about(Type.String(), 'The name of the report.'),
    reportType: about(Type.String(), 'Always `BUILT_IN`.'),
    resellerIds: about(Type.Integer(), 'Always 0.'),
    securityFunctions: Type.String({
      description: 'The functions that a person needs, separated by commas. All are required.',
    }),
    description: about(Type.String(), 'What the report shows.'),
  },
  reportExample,
)
export type Report = Static<typeof Report>

export const ReportCategory = Named(
  'ReportCategory',
  {
    category: Type.String(),
    label: about(Type.String(), 'The name to show.'),
    description: about(Type.String(), 'What its reports show.'),
    reports: about(Type.Array(Report), 'The reports of the category.'),
  },
  {
    category: 'APPOINTMENTS',
    label: 'Appointments',
    description: 'What was booked and when.',
    reports: [reportExample],
  },
)
export type ReportCategory = Static<typeof ReportCategory>

const NamedId = Named('NamedId', { id: Type.Integer(), name: Type.String() })

/** The values that a report can be filtered by, as far as they can be listed, and its groupings. */
export const ReportOptions = Named(
  'ReportOptions',
  {
    reportId: Type.Integer(),
    locations: Type.Array(NamedId, { description: 'Values of `locationIdList`.' }),
    staff: Type.Array(NamedId, { description: 'Values of `professionalIdList`.' }),
    services: Type.Array(NamedId, { description: 'Values of `reasonIdList`.' }),
    statuses: Type.Array(Named('NamedStatus', { status: Type.String(), label: Type.String() }), {
      description: 'Values of `statusList`.',
    }),
    groupBy: Type.Array(Type.Enum([...DIMENSIONS], { title: 'ReportDimension' })),
    kpis: Type.Array(
      Named('NamedKpi', {
        name: about(Type.String(), 'The key of the figure.', 'noShowRate'),
        label: about(Type.String(), 'The name to show.', 'No-show rate'),
        unit: about(
          Type.Enum(['count', 'percent', 'money', 'minutes'], { title: 'KpiUnit' }),
          'The unit of the figure.',
        ),
      }),
      { description: 'Its key figures, for targets.' },
    ),
  },
  {
    reportId: 101,
    locations: [{ id: 1, name: 'Zürich' }],
    staff: [{ id: 3, name: 'Elena García' }],
    services: [{ id: 5, name: 'Check-up' }],
    statuses: [{ status: 'NO_SHOW', label: 'No-show' }],
    groupBy: ['staff', 'month'],
    kpis: [{ name: 'noShowRate', label: 'No-show rate', unit: 'percent' }],
  },
)
export type ReportOptions = Static<typeof ReportOptions>

const day = (description: string) => Type.Optional(Day({ description, examples: ['2026-09-01'] }))

export const PrintQuery = Type.Object({
  startDate: day('The first day, in the time zone of the location, else of the business.'),
  endDate: day('The last day, inclusive. Without both days: the current month.'),
  reportId: Type.Optional(
    Type.Integer({ description: 'If the body names no report. Default: 101.' }),
  ),
  reportFileName: Type.Optional(
    Type.String({ description: 'If the body names no report.', examples: ['appointment-list'] }),
  ),
  format: Type.Optional(
    Type.Enum([...REPORT_FORMATS], {
      title: 'ReportFormat',
      default: 'pdf',
      description: 'In upper or lower case.',
    }),
  ),
  locationId: Type.Optional(Type.Integer({ minimum: 1 })),
  compareWith: Type.Optional(
    Type.Enum([...COMPARED_PERIODS], {
      title: 'ComparedPeriod',
      description:
        'Default: that of the saved view, else PREVIOUS_PERIOD. What the figures are compared with: the period before, the same period last year, or nothing. Last year is 52 weeks before if the range is not made of months, so that weekdays match.',
    }),
  ),
  attach: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'True or 1: browsers save the file; false or 0: they show it.',
    }),
  ),
})

const MAX_TAGS = 20
/** For all tags together, because each value is searched in all objects of the business. */
const MAX_TAG_VALUES = 100

function faultsOfTags(value: unknown) {
  const tags = isPlainObject(value) ? Object.entries(value) : undefined
  const isText = (text: unknown) => text !== '' && textFault(text, 300) === undefined
  const isRight = tags?.every(
    ([name, values]) => isText(name) && Array.isArray(values) && values.every(isText),
  )
  if (!isRight || tags!.length > MAX_TAGS) {
    return [{ detail: `must be an object of at most ${MAX_TAGS} arrays of strings` }]
  }
  return tags!.flatMap(([, values]) => values).length > MAX_TAG_VALUES
    ? [{ detail: `must have at most ${MAX_TAG_VALUES} values` }]
    : []
}

const FilterIds = Type.Optional(Type.Array(Id, { maxItems: 1_000 }))

export const ReportFilters = Named('ReportFilters', {
  locationIdList: FilterIds,
  professionalIdList: FilterIds,
  reasonIdList: FilterIds,
  clientIdList: about(FilterIds, 'Only rows of one of these clients; empty: all.', [17]),
  statusList: about(
    Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 300 }), { maxItems: 1_000 })),
    'Only objects with one of these statuses.',
    ['COMPLETED'],
  ),
  tags: about(
    Type.Optional(withRule(Type.Record(Type.String(), Type.Array(Type.String())), faultsOfTags)),
    'Only objects with one of the values of each tag, or whose client has one.',
    { membership: ['gold'] },
  ),
})
export type ReportFilters = Static<typeof ReportFilters>

export const GroupBy = Type.Array(Type.Enum([...DIMENSIONS], { title: 'ReportDimension' }), {
  maxItems: 2,
  description: 'One line for each of these, or for each combination of two.',
})

/** The body may be a report as `GET /reports/category` lists it. */
export const PrintBody = Named(
  'PrintReportBody',
  {
    ...Object.fromEntries(Object.keys(Report.properties).map((name) => [name, Ignored])),
    businessId: Maybe(Id),
    reportId: Maybe(Type.Integer({ description: 'Send this or reportFileName. Default: 101.' })),
    reportFileName: Maybe(Type.String()),
    reportViewId: Maybe(
      Type.Integer({ description: 'A saved view: its report, filters, grouping and location.' }),
    ),
    filters: about(Maybe(ReportFilters), 'Limits the report to these.'),
    groupBy: Maybe(GroupBy),
  },
  { reportId: 101 },
)

export const PrintedReport = Named(
  'PrintedReport',
  {
    report: about(Report, 'The report.'),
    parameters: about(
      Named('ReportParameters', {
        startDate: Type.String(),
        endDate: Type.String(),
        timeZone: Type.String(),
        locationId: OrNull(Type.Integer()),
        printedTime: about(Moment, 'When it was printed, in ms.', 1_790_834_400_000),
      }),
      'What the report was printed for.',
    ),
    timeZones: Type.Array(Type.String(), {
      description: 'The time zones of the rows: several if locations are in different ones.',
      examples: [['Europe/Zurich']],
    }),
    filters: Type.Record(Type.String(), Type.Unknown(), {
      title: 'AppliedFilters',
      description: 'The filters of the request.',
      examples: [{ professionalIdList: [3] }],
    }),
    groupBy: Type.Array(Type.String(), {
      description: 'What the lines are grouped by; empty for a list.',
      examples: [['month']],
    }),
    comparison: about(
      OrNull(
        Named('ReportComparison', {
          startDate: Type.String(),
          endDate: Type.String(),
          until: OrNull(
            Type.String({
              description:
                'The local time until which it is read if the period has not ended: the same point.',
              examples: ['2026-10-10 13:00'],
            }),
          ),
          isLikeForLike: Type.Boolean({
            description: 'False if the data begins in this range, so that changes mean nothing.',
            examples: [true],
          }),
          note: OrNull(
            about(Type.String(), 'Why no change is shown.', 'The data begins on 2026-09-12.'),
          ),
        }),
      ),
      'The range that the figures are compared with; null for a future range, or if `compareWith` is NONE.',
    ),
    notes: Type.Array(Type.String(), {
      description: 'What was left out, and why.',
      examples: [['No-show rate is left out: with a filter by status it would have no meaning.']],
    }),
    glossary: Type.Array(Type.Array(Type.String()), {
      description: 'What each figure counts: pairs of label and definition.',
      examples: [[['Revenue', 'The prices of kept appointments at the time of booking.']]],
    }),
    kpis: about(
      Type.Array(
        Named('Kpi', {
          name: about(Type.String(), 'The key of the figure.', 'appointments'),
          label: about(Type.String(), 'The name to show.', 'Appointments'),
          value: about(OrNull(Type.Number()), 'The figure; null if there is none.', 42),
          previous: OrNull(
            about(Type.Number(), 'The value of the range that it is compared with.', 38),
          ),
          unit: about(
            Type.Enum(['count', 'percent', 'money', 'minutes'], { title: 'KpiUnit' }),
            'The unit of the figure.',
          ),
          valueToDate: OrNull(
            about(Type.Number(), 'The part of `value` up to now, for the comparison.', 36),
          ),
          currency: OrNull(Type.String({ description: 'The currency of an amount.' })),
          definition: Type.String({
            examples: ['Appointments that begin in the period'],
            description: 'How the value is calculated.',
          }),
          better: about(
            OrNull(Type.Enum(['more', 'less'], { title: 'KpiDirection' })),
            'Whether more or less is better; null: neither.',
            'more',
          ),
          trend: about(
            OrNull(Type.Enum(['better', 'worse'], { title: 'KpiTrend' })),
            'Whether it is better or worse than before by more than chance explains, as a share if it is a part of a whole; null: neither.',
            null,
          ),
        }),
      ),
      'The key figures.',
    ),
    charts: about(Type.Array(Type.Unknown({ description: 'Each chart as data.' })), 'The charts.'),
    columns: about(
      Type.Array(
        Named('ReportColumn', {
          name: about(Type.String(), 'The key of the column.', 'date'),
          label: about(Type.String(), 'The name to show.', 'Date'),
          type: about(Type.String(), 'The type of the values.', 'date'),
        }),
      ),
      'The columns.',
    ),
    drillDown: about(
      OrNull(
        Named('ReportDrillDown', {
          path: Type.String({
            description: 'The address of the objects behind the report: `GET` it.',
            examples: ['/report/102/rows?startDate=2026-09-01&endDate=2026-09-30'],
          }),
          columns: Type.Array(OrNull(Type.String()), {
            description:
              'For each column: append it with `&` for the objects behind its total; null: it is not a sum of objects.',
            examples: [[null, 'measure=missed']],
          }),
          kpis: Type.Array(OrNull(Type.String()), {
            description:
              'For each key figure: append it with `&`; null: it is not a sum of objects.',
            examples: [['measure=appointments']],
          }),
        }),
      ),
      'Where to find the objects behind the figures; null if they are not sums of objects.',
    ),
    rows: about(
      Type.Array(Type.Array(Type.Unknown())),
      'The rows, each with a value for every column.',
    ),
    rowFilters: Type.Array(Type.String(), {
      description:
        'For each row: append it to `drillDown.path` with `&` for the objects of the row. Empty if `drillDown` is null.',
      examples: [['day=2026-09-01']],
    }),
    totals: Type.Record(
      Type.String(),
      Type.Union([Type.Number(), Type.Record(Type.String(), OrNull(Type.Number())), Type.Null()]),
      {
        title: 'ReportTotals',
        description:
          'The sum of each column that has one; amounts in several currencies are under the currency.',
      },
    ),
    rowCount: about(Type.Integer(), 'The number of rows.'),
  },
  {
    report: reportExample,
    parameters: {
      startDate: '2026-09-01',
      endDate: '2026-09-30',
      timeZone: 'Europe/Zurich',
      locationId: null,
      printedTime: 1_790_834_400_000,
    },
    timeZones: ['Europe/Zurich'],
    filters: {},
    groupBy: [],
    comparison: {
      startDate: '2026-08-01',
      endDate: '2026-08-31',
      until: null,
      isLikeForLike: true,
      note: null,
    },
    notes: [],
    glossary: [['Appointments', 'All appointments that begin in the period, in any status.']],
    kpis: [
      {
        name: 'appointments',
        label: 'Appointments',
        value: 1,
        previous: 0,
        unit: 'count',
        valueToDate: 1,
        currency: null,
        definition: 'All appointments that begin in the period, in any status.',
        better: 'more',
        trend: null,
      },
    ],
    charts: [],
    columns: [
      { name: 'date', label: 'Date', type: 'date' },
      { name: 'minutes', label: 'Min', type: 'minutes' },
    ],
    drillDown: {
      path: '/report/101/rows?startDate=2026-09-01&endDate=2026-09-30&printedTime=1790834400000',
      columns: [null, 'measure=minutes'],
      kpis: ['measure=appointments'],
    },
    rows: [['2026-09-01', 45]],
    rowFilters: ['objectId=4711'],
    totals: { minutes: 45 },
    rowCount: 1,
  },
)

export const ReportRun = Named(
  'ReportRun',
  {
    runId: Type.Integer(),
    reportId: Type.Integer(),
    format: Type.Enum([...REPORT_FORMATS], { title: 'ReportFormat' }),
    status: Type.Enum(['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED'], { title: 'ReportRunStatus' }),
    statusReason: OrNull(Type.String()),
    rowsDone: about(Type.Integer(), 'The number of rows that were read.'),
    rowsTotal: about(OrNull(Type.Integer()), 'The number of rows of the whole report.'),
    file: OrNull(
      Type.String({ description: 'The path of the file; null until the run is COMPLETED.' }),
    ),
    createdDate: Moment,
  },
  {
    runId: 7,
    reportId: 101,
    format: 'pdf',
    status: 'COMPLETED',
    statusReason: null,
    rowsDone: 20_000,
    rowsTotal: 20_000,
    file: '/report/run/7/file',
    createdDate: 1_790_834_400_000,
  },
)
export type ReportRun = Static<typeof ReportRun>
