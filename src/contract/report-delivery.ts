import { Type, type Static, type TString } from 'typebox'
import {
  addresses,
  answerProperties,
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
  TimeOfDay,
  WEEKDAYS,
  type Of,
} from './fields.ts'
import { COMPARED_PERIODS, GroupBy, REPORT_FORMATS, ReportFilters } from './report.ts'
import {
  about,
  Id,
  Maybe,
  Moment,
  Named,
  OrNull,
  serverOwned,
  ServerOwned,
  UpdatedId,
  stamps,
  stampsExample,
} from './schema.ts'

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

export const MAX_RECIPIENTS = 50

const timeOfDay = (): Of<TString> & { initially: string } => ({
  schema: TimeOfDay({ default: '07:00', examples: ['07:00'] }),
  sqlType: 'text',
  initially: '07:00',
})

/** `checkPrintRequest` checks the content. */
export const filtersField = (): Of<typeof ReportFilters> => ({
  schema: ReportFilters,
  sqlType: 'jsonb',
})

/** An older version may have stored other filters. */
export const StoredFilters = OrNull(
  Type.Record(Type.String(), Type.Unknown(), { title: 'StoredFilters' }),
)

/** `checkPrintRequest` checks its names. */
const groupByField = (): Of<typeof GroupBy> => ({
  schema: GroupBy,
  sqlType: 'jsonb',
})

const compareWithField = () =>
  optional(
    { ...oneOf(COMPARED_PERIODS, 'ComparedPeriod'), initially: 'PREVIOUS_PERIOD' },
    'What the figures are compared with. Default: PREVIOUS_PERIOD.',
  )

/** `checkPrintRequest` checks whether there is such a report. */
export const reportId = () => required(integer(1, 2_147_483_647), 'The number of the report.')

const Format = Type.Enum([...REPORT_FORMATS], { title: 'ReportFormat' })

const RECIPIENTS =
  'The people who get it. Each must be active, have an email address and be allowed to see the report.'

const SKIP_IF_EMPTY = 'No mail if all figures of the report are zero. Default: false.'
const PAUSED = 'No runs until it is false again; the links in its mails stay valid. Default: false.'

const ADDRESSES =
  'People without a login. They get a mail with a link to the file, which expires after 7 days.'

export const SCHEDULE_FIELDS = {
  name: optional(
    name(200),
    'The subject of the mail. Default: the name of the report.',
    'Last week',
  ),
  reportId: reportId(),
  format: optional(
    { ...oneOf(REPORT_FORMATS, 'ReportFormat'), initially: 'pdf' },
    'The format of the file. Default: pdf.',
  ),
  filters: optional(filtersField()),
  groupBy: optional(groupByField()),
  compareWith: compareWithField(),
  locationId: optional(reference('location'), 'Only this location; null: all.'),
  frequency: required(oneOf(FREQUENCIES, 'ReportFrequency')),
  weekday: optional(oneOf(WEEKDAYS, 'Weekday'), 'The day of a WEEKLY schedule.', 'MONDAY'),
  dayOfMonth: optional(integer(1, 31)),
  timeOfDay: optional(timeOfDay()),
  range: required(oneOf(REPORT_RANGES, 'ReportRange')),
  userIdList: required(references('user', MAX_RECIPIENTS), RECIPIENTS),
  // Only a signed-in person can change them, because the links have the rights of that person.
  addressList: optional(addresses(MAX_RECIPIENTS), ADDRESSES, ['books@accountant.example']),
  skipIfEmpty: optional(boolean(false), SKIP_IF_EMPTY),
  paused: optional(boolean(false), PAUSED),
  active: optional(boolean(true)),
}

export const ReportScheduleWrite = Named(
  'ReportScheduleBody',
  {
    reportScheduleId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(SCHEDULE_FIELDS),
    linkUserId: ServerOwned,
    stoppedUserIdList: ServerOwned,
    stoppedAddressList: ServerOwned,
    delivery: ServerOwned,
    ...serverOwned,
  },
  {
    reportId: 102,
    frequency: 'WEEKLY',
    weekday: 'MONDAY',
    timeOfDay: '07:00',
    range: 'LAST_WEEK',
    userIdList: [3],
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
  compareWith: 'PREVIOUS_PERIOD',
  locationId: null,
  frequency: 'WEEKLY',
  weekday: 'MONDAY',
  dayOfMonth: null,
  timeOfDay: '07:00',
  range: 'LAST_WEEK',
  userIdList: [3],
  addressList: [],
  skipIfEmpty: false,
  paused: false,
  linkUserId: null,
  stoppedUserIdList: [],
  stoppedAddressList: [],
  active: true,
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

const RUN_STATUSES = ['COMPLETED', 'PARTIAL', 'FAILED', 'SKIPPED'] as const

const ReportScheduleRun = Named('ReportScheduleRun', {
  reportScheduleRunId: about(Type.Integer(), 'The id of the run of the schedule.', 8),
  scheduledTime: Moment,
  startDate: OrNull(Type.String()),
  endDate: OrNull(Type.String()),
  status: Type.Enum([...RUN_STATUSES], {
    title: 'ReportScheduleRunStatus',
    description:
      'COMPLETED: every recipient got a mail. PARTIAL: some did. FAILED: none did. ' +
      'SKIPPED: nothing happened in the period, or every recipient has stopped the mail.',
  }),
  statusReason: about(
    OrNull(Type.String()),
    'Why somebody got no mail.',
    'anna has no email address',
  ),
  endedTime: Moment,
  recipients: about(
    Type.Array(
      Named('ReportRecipient', {
        userId: about(OrNull(Type.Integer()), 'Null for an address without a login.', 3),
        username: about(Type.String(), 'The name of the person, or the address.', 'anna'),
        emailId: about(
          OrNull(Type.Integer()),
          'The id of the mail; null if there is none, or if it is deleted.',
          99,
        ),
        emailStatus: about(
          OrNull(Type.String()),
          'The delivery status of the mail; null if there is none, or if it is deleted.',
          'SENT',
        ),
        reason: about(
          OrNull(Type.String()),
          'Why the person got no mail, or why it failed.',
          'has no email address',
        ),
      }),
    ),
    'What each recipient got.',
  ),
})

export const ReportSchedule = Named(
  'ReportSchedule',
  {
    reportScheduleId: Type.Integer(),
    businessId: Type.Integer(),
    ...answerProperties(SCHEDULE_FIELDS),
    filters: StoredFilters,
    linkUserId: about(
      OrNull(Type.Integer()),
      'The person whose rights the links of `addressList` have: who last changed it.',
      null,
    ),
    stoppedUserIdList: Type.Array(Type.Integer(), {
      description: 'The people who have stopped this mail by its link.',
    }),
    stoppedAddressList: Type.Array(Type.String(), {
      description: 'The addresses whose readers have stopped this mail by its link.',
    }),
    ...stamps,
    delivery: about(
      Named('ReportScheduleDelivery', {
        nextRunTime: about(
          OrNull(Moment),
          'When it runs next, in ms; null if it is not active or paused.',
          1_789_362_000_000,
        ),
        attempts: about(Type.Integer(), 'Failed attempts of the run that is due.', 0),
        lastError: about(
          OrNull(Type.String()),
          'Why the last attempt of the run that is due failed.',
          'the report took longer than 60 s',
        ),
        runs: about(Type.Array(ReportScheduleRun), 'The last runs, newest first.'),
      }),
      'The next run and the last ones, newest first.',
    ),
  },
  scheduleExample,
)
export type ReportSchedule = Static<typeof ReportSchedule>

export const VIEW_FIELDS = {
  name: required(name(200), 'The name to show.'),
  reportId: reportId(),
  filters: optional(filtersField()),
  groupBy: optional(groupByField()),
  compareWith: compareWithField(),
  locationId: optional(reference('location'), 'Only this location; null: all.'),
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
  compareWith: 'PREVIOUS_PERIOD',
  locationId: null,
  shared: false,
  userId: 3,
  active: true,
  ...stampsExample,
}

export const ReportView = Named(
  'ReportView',
  {
    reportViewId: Type.Integer(),
    businessId: Type.Integer(),
    ...answerProperties(VIEW_FIELDS),
    filters: StoredFilters,
    userId: about(OrNull(Type.Integer()), 'The person who saved it; null if a key did.'),
    ...stamps,
  },
  viewExample,
)
export type ReportView = Static<typeof ReportView>

export const ReportViewWrite = Named(
  'ReportViewBody',
  {
    reportViewId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(VIEW_FIELDS),
    userId: ServerOwned,
    ...serverOwned,
  },
  { name: 'No-shows of Elena', reportId: 201, filters: { professionalIdList: [2] } },
)

export const VIEW_BODY = { schema: ReportViewWrite, fields: VIEW_FIELDS }

const LINK_FIELDS = {
  expiresTime: optional(instant(), 'Default: in 7 days; at most in 30 days.'),
}

export const ReportLinkWrite = Named('ReportLinkBody', bodyProperties(LINK_FIELDS), {
  expiresTime: 1_789_604_800_000,
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
  active: Type.Boolean(),
  ...stamps,
}

const linkExample = {
  reportLinkId: 4,
  businessId: 1,
  runId: 7,
  userId: 3,
  expiresTime: 1_789_604_800_000,
  active: true,
  ...stampsExample,
}

export const ReportLink = Named('ReportLink', link, linkExample)
export type ReportLink = Static<typeof ReportLink>

/** A link of the whole list names its report and its file. */
export const SharedFile = Named(
  'SharedReportFile',
  {
    ...link,
    reportId: Type.Integer({ description: 'The number of the report.' }),
    format: Format,
    fileName: Type.String({ description: 'The name of the file.' }),
  },
  { ...linkExample, reportId: 101, format: 'pdf', fileName: 'appointment-list.pdf' },
)
export type SharedFile = Static<typeof SharedFile>

export const NewReportLink = Named(
  'NewReportLink',
  {
    ...link,
    url: OrNull(Type.String({ description: 'Shown only once: the service stores its hash.' })),
  },
  { ...linkExample, url: 'https://bellwether.example/report/link/bwr_3fJ9aQ…' },
)
