import { Type, type Static, type TString } from 'typebox'
import {
  bodyProperties,
  boolean,
  instant,
  integer,
  name,
  oneOf,
  optional,
  reference,
  references,
  required,
  WEEKDAYS,
  type Of,
} from './fields.ts'
import { isPlainObject } from './json.ts'
import { GroupBy, REPORT_FORMATS, ReportFilters } from './report.ts'
import { Id, Maybe, Moment, Named, OrNull, serverOwned, ServerOwned, UpdatedId } from './schema.ts'

export const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY'] as const
export type Frequency = (typeof FREQUENCIES)[number]

export type Weekday = (typeof WEEKDAYS)[number]

/** Ranges of days, relative to the day of the run. */
export const REPORT_RANGES = [
  'TODAY',
  'YESTERDAY',
  'TOMORROW',
  'LAST_7_DAYS',
  'LAST_30_DAYS',
  'LAST_WEEK',
  'LAST_MONTH',
  'LAST_QUARTER',
  'LAST_YEAR',
  'WEEK_TO_DATE',
  'MONTH_TO_DATE',
  'YEAR_TO_DATE',
  'NEXT_7_DAYS',
  'NEXT_WEEK',
  'NEXT_MONTH',
] as const
export type ReportRange = (typeof REPORT_RANGES)[number]

const MAX_RECIPIENTS = 50

const stamps = {
  active: Type.Boolean(),
  version: Type.Integer(),
  createdDate: Moment,
  createdUser: Type.String(),
  modifiedDate: Moment,
  modifiedUser: Type.String(),
}

const stampsExample = {
  active: true,
  version: 1,
  createdDate: 1_789_000_000_000,
  createdUser: 'anna',
  modifiedDate: 1_789_000_000_000,
  modifiedUser: 'anna',
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/

const timeOfDay = (): Of<TString> & { initially: string } => ({
  schema: Type.String({ pattern: TIME_OF_DAY.source, default: '07:00', examples: ['07:00'] }),
  sqlType: 'text',
  initially: '07:00',
  faults: (value) =>
    typeof value === 'string' && TIME_OF_DAY.test(value)
      ? []
      : [{ detail: 'must be a time from 00:00 to 23:59, HH:MM' }],
})

/** `checkPrintRequest` checks the content. */
const filtersField = (): Of<typeof ReportFilters> => ({
  schema: ReportFilters,
  sqlType: 'jsonb',
  faults: (value) => (isPlainObject(value) ? [] : [{ detail: 'must be an object' }]),
})

/** `checkPrintRequest` checks its names. */
const groupByField = (): Of<typeof GroupBy> => ({
  schema: GroupBy,
  sqlType: 'jsonb',
  faults: (value) => (Array.isArray(value) ? [] : [{ detail: 'must be an array' }]),
})

const StoredGroupBy = OrNull(Type.Array(Type.String()))

/** `checkPrintRequest` checks whether there is such a report. */
const reportId = () =>
  required(integer(1, 2_147_483_647), 'The number of the report. Required to create one.')

const Frequency = Type.Enum([...FREQUENCIES], { title: 'ReportFrequency' })
const Range = Type.Enum([...REPORT_RANGES], { title: 'ReportRange' })
const Format = Type.Enum([...REPORT_FORMATS], { title: 'ReportFormat' })
const Weekday = Type.Enum([...WEEKDAYS], { title: 'Weekday' })

const RECIPIENTS =
  'The people who get it. Each must be active, have an email address and be allowed to see the report.'

const SCHEDULE_FIELDS = {
  name: optional(name(200), 'Default: the name of the report.'),
  reportId: reportId(),
  format: optional({ ...oneOf(REPORT_FORMATS, 'ReportFormat'), initially: 'pdf' }, 'Default: pdf.'),
  filters: optional(filtersField()),
  groupBy: optional(groupByField()),
  locationId: optional(reference('location')),
  frequency: required(oneOf(FREQUENCIES, 'ReportFrequency')),
  weekday: optional(oneOf(WEEKDAYS, 'Weekday')),
  dayOfMonth: optional(integer(1, 31)),
  timeOfDay: optional(timeOfDay()),
  range: required(oneOf(REPORT_RANGES, 'ReportRange')),
  userIdList: required(references('user', MAX_RECIPIENTS), RECIPIENTS),
  active: optional(boolean(true)),
}

export const ReportScheduleWrite = Type.Object(
  {
    reportScheduleId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(SCHEDULE_FIELDS),
    delivery: ServerOwned,
    ...serverOwned,
  },
  {
    title: 'ReportScheduleBody',
    examples: [
      {
        reportId: 102,
        frequency: 'WEEKLY',
        weekday: 'MONDAY',
        timeOfDay: '07:00',
        range: 'LAST_WEEK',
        userIdList: [3],
      },
    ],
  },
)

export const SCHEDULE_BODY = { schema: ReportScheduleWrite, fields: SCHEDULE_FIELDS }

const scheduleExample = {
  reportScheduleId: 5,
  businessId: 1,
  name: null,
  reportId: 102,
  format: 'pdf',
  filters: null,
  groupBy: null,
  locationId: null,
  frequency: 'WEEKLY',
  weekday: 'MONDAY',
  dayOfMonth: null,
  timeOfDay: '07:00',
  range: 'LAST_WEEK',
  userIdList: [3],
  ...stampsExample,
  delivery: {
    nextRunTime: 1_789_362_000_000,
    attempts: 0,
    lastError: null,
    runs: [
      {
        reportScheduleRunId: 8,
        scheduledTime: 1_788_757_200_000,
        startDate: '2026-08-31',
        endDate: '2026-09-06',
        status: 'COMPLETED',
        statusReason: null,
        endedTime: 1_788_757_203_000,
        recipients: [
          { userId: 3, username: 'anna', emailId: 99, emailStatus: 'SENT', reason: null },
        ],
      },
    ],
  },
}

const RUN_STATUSES = ['COMPLETED', 'PARTIAL', 'FAILED'] as const
export type ScheduleRunStatus = (typeof RUN_STATUSES)[number]

const ReportScheduleRun = Named('ReportScheduleRun', {
  reportScheduleRunId: Type.Integer(),
  scheduledTime: Moment,
  startDate: OrNull(Type.String()),
  endDate: OrNull(Type.String()),
  status: Type.Enum([...RUN_STATUSES], {
    title: 'ReportScheduleRunStatus',
    description: 'COMPLETED: every recipient got a mail. PARTIAL: some did. FAILED: none did.',
  }),
  statusReason: OrNull(Type.String()),
  endedTime: Moment,
  recipients: Type.Array(
    Named('ReportRecipient', {
      userId: Type.Integer(),
      username: Type.String(),
      emailId: OrNull(Type.Integer()),
      emailStatus: OrNull(Type.String()),
      reason: OrNull(Type.String()),
    }),
  ),
})

export const ReportSchedule = Type.Object(
  {
    reportScheduleId: Type.Integer(),
    businessId: Type.Integer(),
    name: OrNull(Type.String()),
    reportId: Type.Integer(),
    format: Format,
    filters: OrNull(Type.Record(Type.String(), Type.Unknown(), { title: 'StoredFilters' })),
    groupBy: StoredGroupBy,
    locationId: OrNull(Type.Integer()),
    frequency: Frequency,
    weekday: OrNull(Weekday),
    dayOfMonth: OrNull(Type.Integer()),
    timeOfDay: Type.String(),
    range: Range,
    userIdList: Type.Array(Type.Integer(), { description: RECIPIENTS }),
    ...stamps,
    delivery: Named('ReportScheduleDelivery', {
      nextRunTime: OrNull(Moment),
      attempts: Type.Integer(),
      lastError: OrNull(Type.String()),
      runs: Type.Array(ReportScheduleRun),
    }),
  },
  { title: 'ReportSchedule', examples: [scheduleExample] },
)
export type ReportSchedule = Static<typeof ReportSchedule>

const VIEW_FIELDS = {
  name: required(name(200), 'The name to show. Required to create one.'),
  reportId: reportId(),
  filters: optional(filtersField()),
  groupBy: optional(groupByField()),
  locationId: optional(reference('location')),
  shared: optional(boolean(false)),
  active: optional(boolean(true)),
}

const viewExample = {
  reportViewId: 2,
  businessId: 1,
  name: 'No-shows of Elena',
  reportId: 201,
  filters: { professionalIdList: [2] },
  groupBy: null,
  locationId: null,
  shared: false,
  userId: 3,
  ...stampsExample,
}

export const ReportView = Type.Object(
  {
    reportViewId: Type.Integer(),
    businessId: Type.Integer(),
    name: Type.String(),
    reportId: Type.Integer(),
    filters: OrNull(Type.Record(Type.String(), Type.Unknown(), { title: 'StoredFilters' })),
    groupBy: StoredGroupBy,
    locationId: OrNull(Type.Integer()),
    shared: Type.Boolean(),
    userId: OrNull(Type.Integer()),
    ...stamps,
  },
  { title: 'ReportView', examples: [viewExample] },
)
export type ReportView = Static<typeof ReportView>

export const ReportViewWrite = Type.Object(
  {
    reportViewId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(VIEW_FIELDS),
    userId: ServerOwned,
    ...serverOwned,
  },
  {
    title: 'ReportViewBody',
    examples: [{ name: 'No-shows of Elena', reportId: 201, filters: { professionalIdList: [2] } }],
  },
)

export const VIEW_BODY = { schema: ReportViewWrite, fields: VIEW_FIELDS }

const LINK_FIELDS = {
  expiresTime: optional(instant(), 'Default: in 7 days; at most in 30 days.'),
}

export const ReportLinkWrite = Type.Object(bodyProperties(LINK_FIELDS), {
  title: 'ReportLinkBody',
  examples: [{ expiresTime: 1_789_604_800_000 }],
})

export const LINK_BODY = { schema: ReportLinkWrite, fields: LINK_FIELDS }

const link = {
  reportLinkId: Type.Integer(),
  businessId: Type.Integer(),
  runId: Type.Integer(),
  userId: OrNull(
    Type.Integer({ description: 'The link works while this person may see the report.' }),
  ),
  expiresTime: Type.Integer({ description: 'The link stops working at this time. In ms.' }),
  ...stamps,
}

const linkExample = {
  reportLinkId: 4,
  businessId: 1,
  runId: 7,
  userId: 3,
  expiresTime: 1_789_604_800_000,
  ...stampsExample,
}

export const ReportLink = Type.Object(link, { title: 'ReportLink', examples: [linkExample] })
export type ReportLink = Static<typeof ReportLink>

export const NewReportLink = Type.Object(
  {
    ...link,
    url: OrNull(Type.String({ description: 'Shown only once: the service stores its hash.' })),
  },
  {
    title: 'NewReportLink',
    examples: [{ ...linkExample, url: 'https://bellwether.example/report/link/bwr_3fJ9aQ…' }],
  },
)
