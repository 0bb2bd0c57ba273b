import type { AnswerOf } from '../../src/client/client.ts'
import type { ComparedPeriod, DimensionName } from '../../src/contract/report.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { ReportFilters } from './reports.ts'
import { kindOf, numberOf } from './setup-objects.ts'

export type ReportSchedule = AnswerOf<'getReportSchedule'>
export type Frequency = ReportSchedule['frequency']
export type ReportRange = ReportSchedule['range']

/** The properties that the form edits; undefined: not chosen yet. */
export type ScheduleFields = Pick<
  ReportSchedule,
  | 'name'
  | 'format'
  | 'locationId'
  | 'weekday'
  | 'dayOfMonth'
  | 'timeOfDay'
  | 'userIdList'
  | 'addressList'
  | 'skipIfEmpty'
  | 'paused'
> & {
  reportId: number | undefined
  filters: ReportFilters | null
  groupBy: DimensionName[] | null
  compareWith: ComparedPeriod
  frequency: Frequency | undefined
  range: ReportRange | undefined
}

const KEY = 'report-schedules'

/** Reports that are mailed regularly. Setting one inactive deletes it: it is not listed any more. */
export const scheduleKind = kindOf<ReportSchedule, ScheduleFields>({
  name: KEY,
  queryKey: [KEY],
  shownIn: [KEY],
  idOf: ({ reportScheduleId }) => reportScheduleId,
  list: (signal) => all(client.listReportSchedules({ limit: MAX_PAGE }, { signal })),
  empty: {
    name: null,
    reportId: undefined,
    format: 'pdf',
    filters: null,
    groupBy: null,
    compareWith: 'PREVIOUS_PERIOD',
    locationId: null,
    frequency: undefined,
    weekday: null,
    dayOfMonth: null,
    timeOfDay: '07:00',
    range: undefined,
    userIdList: [],
    addressList: [],
    skipIfEmpty: false,
    paused: false,
  },
  read: (id, signal) => client.getReportSchedule({ reportScheduleId: Number(id) }, { signal }),
  save: ({ id, changes, options }) =>
    client.createReportSchedule({ ...changes, reportScheduleId: numberOf(id) }, options),
  setActive: ({ reportScheduleId }, active) =>
    active
      ? client.createReportSchedule({ reportScheduleId, active })
      : client.deleteReportSchedule({ reportScheduleId }),
})
