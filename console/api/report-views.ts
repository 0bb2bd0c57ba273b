import type { AnswerOf } from '../../src/client/client.ts'
import type { ComparedPeriod, DimensionName } from '../../src/contract/report.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { ReportFilters } from './reports.ts'
import type { Session } from './session.ts'
import { kindOf, numberOf } from './setup-objects.ts'

export type ReportView = AnswerOf<'getReportView'>

export type ViewFields = Pick<ReportView, 'name' | 'locationId' | 'shared'> & {
  reportId: number | undefined
  filters: ReportFilters | null
  groupBy: DimensionName[] | null
  compareWith: ComparedPeriod
}

const KEY = 'report-views'

/** Filters of reports under a name: one's own, and those that are shared. */
export const viewKind = kindOf<ReportView, ViewFields>({
  name: KEY,
  queryKey: [KEY],
  shownIn: [KEY],
  idOf: ({ reportViewId }) => reportViewId,
  list: (signal) => all(client.listReportViews({ limit: MAX_PAGE }, { signal })),
  empty: {
    name: '',
    shared: false,
    reportId: undefined,
    filters: null,
    groupBy: null,
    compareWith: 'PREVIOUS_PERIOD',
    locationId: null,
  },
  read: (id, signal) => client.getReportView({ reportViewId: Number(id) }, { signal }),
  save: ({ id, changes, options }) =>
    client.createReportView({ ...changes, reportViewId: numberOf(id) }, options),
  setActive: ({ reportViewId }, active) =>
    active
      ? client.createReportView({ reportViewId, active })
      : client.deleteReportView({ reportViewId }),
})

export const canShareViews = ({ functions }: Session) => functions.includes('SCHEDULE_REPORTS')

/** A shared view of another person is changed only by those who may share views. */
export const canChangeView = (view: ReportView, session: Session) =>
  view.userId === session.userId || canShareViews(session)
