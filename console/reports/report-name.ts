import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { reportsQuery } from '../api/reports.ts'

/** The name of a report; its number if the user may not print it. */
export function useReportName() {
  const { t } = useTranslation()
  const { data } = useQuery(reportsQuery)
  const reports = data?.flatMap((topic) => topic.reports) ?? []
  return (id: number) =>
    reports.find(({ reportId }) => reportId === id)?.reportName ?? t('reports.other', { id })
}
