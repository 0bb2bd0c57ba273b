import { Type, type Static } from 'typebox'
import { Id, Ignored, Maybe, Moment, Named, OrNull } from './schema.ts'

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
  planIds: null,
  reportFileName: 'appointment-list',
  reportId: 101,
  reportName: 'Appointment list',
  reportType: 'BUILT_IN',
  resellerIds: null,
  securityFunctions: 'PRINT_REPORTS',
  description: 'All appointments that begin in the period, ordered by time.',
}

/** A report of the catalog: see docs/reports.md. */
export const Report = Type.Object(
  {
    active: Type.Boolean(),
    businessId: Type.Integer(),
    category: Type.String(),
    createdDate: Moment,
    createdUser: Type.String(),
    modifiedDate: Moment,
    modifiedUser: Type.String(),
    planIds: Type.Null(),
    reportFileName: Type.String(),
    reportId: Type.Integer(),
    reportName: Type.String(),
    reportType: Type.String(),
    resellerIds: Type.Null(),
    securityFunctions: Type.String({
      description: 'The functions that a person needs, separated by commas. All are required.',
    }),
    description: Type.String(),
  },
  { title: 'Report', examples: [reportExample] },
)
export type Report = Static<typeof Report>

export const ReportCategory = Type.Object(
  {
    category: Type.String(),
    label: Type.String(),
    description: Type.String(),
    reports: Type.Array(Report),
  },
  {
    title: 'ReportCategory',
    examples: [
      {
        category: 'APPOINTMENTS',
        label: 'Appointments',
        description: 'What was booked and when.',
        reports: [reportExample],
      },
    ],
  },
)
export type ReportCategory = Static<typeof ReportCategory>

const NamedId = Named('NamedId', { id: Type.Integer(), name: Type.String() })

/** The values that a report can be filtered by, as far as they can be listed, and its groupings. */
export const ReportOptions = Type.Object(
  {
    reportId: Type.Integer(),
    locations: Type.Array(NamedId, { description: 'Values of `locationIdList`.' }),
    staff: Type.Array(NamedId, { description: 'Values of `professionalIdList`.' }),
    services: Type.Array(NamedId, { description: 'Values of `reasonIdList`.' }),
    statuses: Type.Array(Named('NamedStatus', { status: Type.String(), label: Type.String() }), {
      description: 'Values of `statusList`.',
    }),
    groupBy: Type.Array(Type.Enum([...DIMENSIONS], { title: 'ReportDimension' })),
  },
  {
    title: 'ReportOptions',
    examples: [
      {
        reportId: 101,
        locations: [{ id: 1, name: 'Zürich' }],
        staff: [{ id: 3, name: 'Elena García' }],
        services: [{ id: 5, name: 'Check-up' }],
        statuses: [{ status: 'NO_SHOW', label: 'No-show' }],
        groupBy: ['staff', 'month'],
      },
    ],
  },
)
export type ReportOptions = Static<typeof ReportOptions>

const day = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description, examples: ['2026-09-01'] })

export const PrintQuery = Type.Object({
  startDate: day('The first day, in the time zone of the location, else of the business.'),
  endDate: day('The last day, inclusive.'),
  format: Type.Optional(Type.Enum([...REPORT_FORMATS], { title: 'ReportFormat', default: 'pdf' })),
  locationId: Type.Optional(Type.Integer({ minimum: 1 })),
  attach: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'True: browsers save the file; false: they show it.',
    }),
  ),
})

/** The body may be a report as `GET /reports/category` lists it. */
export const ReportFilters = Named('ReportFilters', {
  locationIdList: Type.Optional(Type.Array(Type.Integer())),
  professionalIdList: Type.Optional(Type.Array(Type.Integer())),
  reasonIdList: Type.Optional(Type.Array(Type.Integer())),
  clientIdList: Type.Optional(
    Type.Array(Type.Integer(), {
      description: 'Only rows of one of these clients; empty: all.',
      examples: [[17]],
    }),
  ),
  statusList: Type.Optional(Type.Array(Type.String())),
  tags: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Only objects with one of the values of each tag, or whose client has one.',
      examples: [{ membership: ['gold'] }],
    }),
  ),
})

export const GroupBy = Type.Array(Type.Enum([...DIMENSIONS], { title: 'ReportDimension' }), {
  maxItems: 2,
  description: 'One line for each of these, or for each combination of two.',
})

export const PrintBody = Type.Object(
  {
    ...Object.fromEntries(Object.keys(Report.properties).map((name) => [name, Ignored])),
    businessId: Maybe(Id),
    reportId: Maybe(Type.Integer({ description: 'Send this or reportFileName.' })),
    reportFileName: Maybe(Type.String()),
    reportViewId: Maybe(
      Type.Integer({ description: 'A saved view: its report, filters, grouping and location.' }),
    ),
    filters: Maybe(ReportFilters),
    groupBy: Maybe(GroupBy),
  },
  { title: 'PrintReportBody', examples: [{ reportId: 101 }] },
)

export const PrintedReport = Type.Object(
  {
    report: Report,
    parameters: Named('ReportParameters', {
      startDate: Type.String(),
      endDate: Type.String(),
      timeZone: Type.String(),
      locationId: OrNull(Type.Integer()),
      printedTime: Moment,
    }),
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
    comparison: OrNull(
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
          Type.String({
            description: 'Why no change is shown.',
            examples: ['The data begins on 2026-09-12.'],
          }),
        ),
      }),
    ),
    notes: Type.Array(Type.String(), {
      description: 'What was left out, and why.',
      examples: [['No-show rate is left out: with a filter by status it would have no meaning.']],
    }),
    glossary: Type.Array(Type.Array(Type.String()), {
      description: 'What each figure counts: pairs of label and definition.',
      examples: [[['Revenue', 'The prices of kept appointments at the time of booking.']]],
    }),
    kpis: Type.Array(
      Named('Kpi', {
        name: Type.String(),
        label: Type.String(),
        value: OrNull(Type.Number()),
        previous: OrNull(
          Type.Number({ description: 'The value of the range that it is compared with.' }),
        ),
        unit: Type.Enum(['count', 'percent', 'money', 'minutes'], { title: 'KpiUnit' }),
        valueToDate: OrNull(
          Type.Number({ description: 'The part of `value` up to now, for the comparison.' }),
        ),
        currency: OrNull(Type.String({ description: 'The currency of an amount.' })),
        definition: Type.String({ description: 'How the value is calculated.' }),
        better: OrNull(Type.Enum(['more', 'less'], { title: 'KpiDirection' })),
      }),
    ),
    charts: Type.Array(Type.Unknown({ description: 'Each chart as data.' })),
    columns: Type.Array(
      Named('ReportColumn', { name: Type.String(), label: Type.String(), type: Type.String() }),
    ),
    drillDown: OrNull(
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
          description: 'For each key figure: append it with `&`; null: it is not a sum of objects.',
          examples: [['measure=appointments']],
        }),
      }),
    ),
    rows: Type.Array(Type.Array(Type.Unknown())),
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
        description: 'By column; amounts in several currencies are under the currency.',
      },
    ),
    rowCount: Type.Integer(),
  },
  {
    title: 'PrintedReport',
    examples: [
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
    ],
  },
)

export const ReportRun = Type.Object(
  {
    runId: Type.Integer(),
    reportId: Type.Integer(),
    format: Type.Enum([...REPORT_FORMATS], { title: 'ReportFormat' }),
    status: Type.Enum(['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED'], { title: 'ReportRunStatus' }),
    statusReason: OrNull(Type.String()),
    rowsDone: Type.Integer(),
    rowsTotal: OrNull(Type.Integer()),
    file: OrNull(
      Type.String({ description: 'The path of the file; null until the run is COMPLETED.' }),
    ),
    createdDate: Moment,
  },
  {
    title: 'ReportRun',
    examples: [
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
    ],
  },
)
export type ReportRun = Static<typeof ReportRun>
