import { queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import { all, client, MAX_PAGE } from './client.ts'
import type { ReportFilters } from './reports.ts'
import { kindOf, numberOf } from './setup-objects.ts'

export type ReportTarget = AnswerOf<'getReportTarget'>

/** The properties that the form edits; undefined: not chosen yet. */
export type TargetFields = Pick<
  ReportTarget,
  'name' | 'currency' | 'locationId' | 'userIdList' | 'paused'
> & {
  reportId: number | undefined
  kpi: string | undefined
  direction: ReportTarget['direction'] | undefined
  value: number | undefined
  range: ReportTarget['range'] | undefined
  filters: ReportFilters | null
}

const KEY = 'report-targets'

/** Targets on figures. Setting one inactive deletes it: it is not listed any more. */
export const targetKind = kindOf<ReportTarget, TargetFields>({
  name: KEY,
  queryKey: [KEY],
  shownIn: [KEY],
  idOf: ({ reportTargetId }) => reportTargetId,
  list: (signal) => all(client.listReportTargets({ limit: MAX_PAGE }, { signal })),
  empty: {
    name: null,
    reportId: undefined,
    kpi: undefined,
    currency: null,
    direction: undefined,
    value: undefined,
    range: undefined,
    filters: null,
    locationId: null,
    userIdList: [],
    paused: false,
  },
  read: (id, signal) => client.getReportTarget({ reportTargetId: Number(id) }, { signal }),
  save: ({ id, changes, options }) =>
    client.createReportTarget({ ...changes, reportTargetId: numberOf(id) }, options),
  setActive: ({ reportTargetId }, active) =>
    active
      ? client.createReportTarget({ reportTargetId, active })
      : client.deleteReportTarget({ reportTargetId }),
})

/** The figures of a report. */
export const figuresQuery = (reportId: number | undefined) =>
  queryOptions({
    queryKey: ['report-figures', reportId],
    enabled: reportId !== undefined,
    queryFn: async ({ signal }) =>
      (await client.getReportOptions({ reportId: reportId! }, { signal })).kpis,
  })
