import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import type { Static } from 'typebox'
import type { ReportRowsQuery as RowsQuery } from '../../src/contract/report-rows.ts'
import type {
  ComparedPeriod,
  DimensionName,
  ReportFilters as FiltersSchema,
  ReportFormat,
  ReportRun,
} from '../../src/contract/report.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { withOwnWords } from './status-labels.ts'

export type ReportTopic = AnswerOf<'listReportCategories'>[number]
export type Report = ReportTopic['reports'][number]
export type ReportFilters = Static<typeof FiltersSchema>
export type ReportOptions = AnswerOf<'getReportOptions'>

/** The reports that the user may print, by topic. */
export const reportsQuery = queryOptions({
  queryKey: ['reports'],
  staleTime: 600_000,
  queryFn: ({ signal }): Promise<ReportTopic[]> => client.listReportCategories({}, { signal }),
})

export const reportOptionsQuery = (reportId: number) =>
  queryOptions({
    queryKey: ['reports', reportId, 'options'],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ReportOptions> => {
      const options = await client.getReportOptions({ reportId }, { signal })
      return { ...options, statuses: options.statuses.map(withOwnWords) }
    },
  })

/** A report with its period, filters and grouping. */
export type PrintRequest = {
  reportId: number
  days: {
    startDate: string
    endDate: string
    locationId: number | undefined
    compareWith: ComparedPeriod | undefined
  }
  filters: ReportFilters
  groupBy: DimensionName[]
}

/** The report as an HTML page, as the service prints it. */
export const reportPageQuery = (request: PrintRequest) =>
  queryOptions({
    queryKey: ['reports', request.reportId, 'page', request],
    // Printing is expensive, and the page says when it was printed.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => {
      const { days, ...body } = request
      const query = { ...days, format: 'html', attach: false } as const
      const page = await client.printReport(body, { query, signal })
      return (page as Blob).text()
    },
  })

const POLL_MS = 500

type OnProgress = (share: number) => void

/** Prints a file in the background. `onProgress` gets the share of its rows that are done. */
export async function printInBackground(
  { days, ...body }: PrintRequest,
  format: ReportFormat,
  onProgress: OnProgress,
) {
  const started = await client.printReport(body, {
    query: { ...days, format },
    headers: { prefer: 'respond-async' },
  })
  const { runId } = started as ReportRun
  for (;;) {
    const { status, statusReason, rowsDone, rowsTotal } = await readRun(runId)
    if (status === 'FAILED') throw new Error(statusReason ?? status)
    if (status === 'COMPLETED') return runId
    onProgress(rowsTotal ? rowsDone / rowsTotal : 0)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Prints a file and fetches it. */
export async function printFile(
  request: PrintRequest,
  format: ReportFormat,
  onProgress: OnProgress,
) {
  const runId = await printInBackground(request, format, onProgress)
  const { body: file, response } = await client.getReportRunFile({ runId }).withResponse()
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
  return { name: name ?? `report.${format}`, file }
}

/** Retries, because a short loss of the connection does not end a run. */
const readRun = (runId: number) =>
  queryClient.fetchQuery({
    queryKey: ['reports', 'run', runId],
    queryFn: (): Promise<ReportRun> => client.getReportRun({ runId }),
    staleTime: 0,
    retry: 3,
  })

type PrintedReport = Extract<AnswerOf<'printReport'>, { drillDown: unknown }>
export type CountedObject = AnswerOf<'listReportRows'>['items'][number]

/** The figures of a printed report, and how to ask for the objects that each of them counts. */
export type ReportFigures = Pick<PrintedReport, 'drillDown' | 'rowFilters' | 'rowCount'> & {
  kpis: string[]
  columns: string[]
  /** The beginning of each row in words. */
  rows: string[]
}

export const reportFiguresQuery = (request: PrintRequest) =>
  queryOptions({
    queryKey: ['reports', request.reportId, 'figures', request],
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<ReportFigures> => {
      const { days, ...body } = request
      const query = { ...days, format: 'json' } as const
      const printed = (await client.printReport(body, { query, signal })) as PrintedReport
      const { drillDown, rowFilters, rowCount, kpis, columns, rows } = printed
      return {
        drillDown,
        rowFilters,
        rowCount,
        kpis: kpis.map(({ label, currency }) => nameOfKpi(label, currency)),
        columns: columns.map(({ label }) => label),
        rows: rows.map((row) => beginningOf(row)),
      }
    },
  })

const nameOfKpi = (label: string, currency: string | null) =>
  currency && !label.includes(currency) ? `${label} (${currency})` : label

/** The first cell, and the second if it is a text: "2026-10-20, 08:00". */
const beginningOf = ([first, second]: unknown[]) =>
  [first, typeof second === 'string' ? second : undefined]
    .filter((cell) => cell !== undefined && cell !== null && cell !== '')
    .join(', ')

const ROWS_PER_PAGE = 50

/** The objects behind a figure. `path` is `drillDown.path` with the filters of the figure. */
export const countedObjectsQuery = (reportId: number, path: string) =>
  infiniteQueryOptions({
    queryKey: ['reports', reportId, 'rows', path],
    staleTime: 60_000,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const asked = Object.fromEntries(new URLSearchParams(path.split('?')[1]))
      const query = { ...asked, limit: ROWS_PER_PAGE, ...(pageParam && { cursor: pageParam }) }
      return client.listReportRows({ reportId, ...(query as RowsQuery) }, { signal })
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
