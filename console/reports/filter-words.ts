import { useQuery } from '@tanstack/react-query'
import { textOr, useTranslation, type Translate } from '../texts/translate.ts'
import { reportOptionsQuery, type ReportFilters, type ReportOptions } from '../api/reports.ts'
import { DEFAULT_COMPARED, type StoredFilters } from './search.ts'

/** Filters, grouping and comparison in words: "Zürich · Elena García · By month"; empty without any. */
export function useFilterWords(reportId: number | undefined, stored: StoredFilters) {
  const { t } = useTranslation()
  const { filters, groupBy, locationId, compareWith = DEFAULT_COMPARED } = stored
  const hasAny =
    filters !== null || groupBy !== null || locationId !== null || compareWith !== DEFAULT_COMPARED
  const { data } = useQuery({
    ...reportOptionsQuery(reportId ?? 0),
    enabled: hasAny && reportId !== undefined,
  })
  return hasAny ? describeFilters(stored, data, t).join(' · ') : ''
}

function describeFilters(stored: StoredFilters, options: ReportOptions | undefined, t: Translate) {
  const filters = (stored.filters ?? {}) as ReportFilters
  const nameIn = (list: { id: number; name: string }[] | undefined) => (id: number) =>
    list?.find((one) => one.id === id)?.name ?? t('reports.filterWords.unknown', { id })
  const locations = [stored.locationId ?? [], filters.locationIdList ?? []].flat()
  const clients = filters.clientIdList?.length ?? 0
  return [
    locations.map(nameIn(options?.locations)).join(', '),
    filters.professionalIdList?.map(nameIn(options?.staff)).join(', '),
    filters.reasonIdList?.map(nameIn(options?.services)).join(', '),
    filters.statusList
      ?.map((name) => options?.statuses.find(({ status }) => status === name)?.label ?? name)
      .join(', '),
    clients > 0 ? t('reports.filterWords.clients', { count: clients }) : undefined,
    ...Object.entries(filters.tags ?? {}).map(([tag, values]) => `${tag}: ${values.join(', ')}`),
    ...(stored.groupBy ?? []).map((name) => textOr(`reports.groups.${name}`, name)),
    stored.compareWith && stored.compareWith !== DEFAULT_COMPARED
      ? t(`reports.compared.${stored.compareWith}`)
      : undefined,
  ].filter((words) => words)
}
