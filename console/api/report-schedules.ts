import type { AnswerOf } from '../../src/client/client.ts'
import type { DimensionName } from '../../src/contract/report.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { ReportFilters } from './reports.ts'
import { kindOf } from './setup-objects.ts'

export type ReportSchedule = AnswerOf<'getReportSchedule'>
export type Frequency = ReportSchedule['frequency']
export type ReportRange = ReportSchedule['range']

/** The properties that the form edits; undefined: not chosen yet. */
export type ScheduleFields = Pick<
  ReportSchedule,
  'name' | 'format' | 'locationId' | 'weekday' | 'dayOfMonth' | 'timeOfDay' | 'userIdList'
> & {
  reportId: number | undefined
  filters: ReportFilters | null
  groupBy: DimensionName[] | null
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
  read: ({ reportScheduleId }, signal) =>
    client.getReportSchedule({ reportScheduleId }, { signal }),
  save: (item, body, ifMatch) =>
    client.createReportSchedule({ ...body, reportScheduleId: item?.reportScheduleId }, { ifMatch }),
  setActive: ({ reportScheduleId }, active) =>
    active
      ? client.createReportSchedule({ reportScheduleId, active })
      : client.deleteReportSchedule({ reportScheduleId }),
})
