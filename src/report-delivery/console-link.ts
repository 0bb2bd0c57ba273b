import type { ComparedPeriod } from '../contract/report.ts'

type ShownReport = {
  reportId: number
  startDate: string
  endDate: string
  locationId: number | null
  filters: Record<string, unknown> | null
  groupBy: string[] | null
  compareWith?: ComparedPeriod
}

/** The page of a report in the console: the same parameters as `ReportSearch` in console/reports/search.ts. */
export function consoleLink(publicUrl: string, report: ShownReport) {
  const { professionalIdList, reasonIdList, statusList, ...others } = report.filters ?? {}
  const [groupBy, thenBy] = report.groupBy ?? []
  const more = Object.fromEntries(
    Object.entries({
      ...others,
      professionalIdList: severalOf(professionalIdList),
      reasonIdList: severalOf(reasonIdList),
      statusList: severalOf(statusList),
    }).filter(([, value]) => value !== undefined && value !== null),
  )
  const search = {
    from: report.startDate,
    to: report.endDate,
    location: report.locationId ?? undefined,
    staff: onlyOf(professionalIdList),
    service: onlyOf(reasonIdList),
    status: onlyOf(statusList),
    groupBy,
    compare: report.compareWith === 'PREVIOUS_PERIOD' ? undefined : report.compareWith,
    thenBy,
    more: Object.keys(more).length > 0 ? JSON.stringify(more) : undefined,
  }
  const query = Object.entries(search)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return `${publicUrl.replace(/\/$/, '')}/console/reports/${report.reportId}?${query.join('&')}`
}

const onlyOf = (list: unknown) => (Array.isArray(list) && list.length === 1 ? list[0] : undefined)
const severalOf = (list: unknown) => (Array.isArray(list) && list.length > 1 ? list : undefined)
