import { IconChevronLeft } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useRef, useState, type ReactNode, type RefObject } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import {
  reportOptionsQuery,
  reportPageQuery,
  reportsQuery,
  type PrintRequest,
  type Report,
} from '../api/reports.ts'
import type { ReportView } from '../api/report-views.ts'
import { faultAt } from '../components/faults.ts'
import { LoadingColumns } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { useBusinessTimeFormat } from '../components/time.ts'
import { CountedDrawer, type ChosenFigure } from '../reports/counted-drawer.tsx'
import { FavouriteStar } from '../reports/favourites.tsx'
import { PeriodFields, ReportFilters, type FilterChange } from '../reports/filters.tsx'
import { MailButton } from '../reports/mail-button.tsx'
import { PaperButton } from '../reports/paper-button.tsx'
import { PrintButtons } from '../reports/print-buttons.tsx'
import { ReportViews } from '../reports/report-views.tsx'
import { ReportFrame } from '../reports/report-frame.tsx'
import classes from '../reports/reports.module.css'
import { ShareButton } from '../reports/share-button.tsx'
import { requestOf, searchOf, withoutUndefined, type ReportSearch } from '../reports/search.ts'

/** One report: its period, its filters, and the page that the service prints. */
export function ReportPage() {
  const { reportId } = useParams({ from: '/shell/reports/$reportId' })
  const search = useSearch({ from: '/shell/reports/$reportId' })
  const navigate = useNavigate()
  const format = useBusinessTimeFormat()
  const request = requestOf(reportId, search, format.isoDay(Date.now()))
  const options = useQuery(reportOptionsQuery(reportId))
  const frame = useRef<HTMLIFrameElement>(null)
  const page = useQuery({
    ...reportPageQuery(request),
    // Another report has other figures.
    placeholderData: (previous, query) =>
      query?.queryKey[1] === reportId ? keepPreviousData(previous) : undefined,
  })
  const change: FilterChange = (more) =>
    void navigate({
      to: '/reports/$reportId',
      params: { reportId },
      search: (before: ReportSearch) => withoutUndefined({ ...before, ...more }),
      replace: true,
    })
  return (
    <>
      <Head
        request={request}
        search={search}
        canPrint={!isFaultOfDays(page.error)}
        frame={page.data === undefined ? undefined : frame}
        onOpen={(view) => change({ ...NO_FILTERS, ...NOT_GROUPED, ...searchOf(view) })}
      />
      {options.error ? (
        <Failure error={options.error} onRetry={() => void options.refetch()} />
      ) : (
        <>
          <div className={`${classes.filters} ${classes.screenOnly}`}>
            <PeriodFields search={search} error={page.error} onChange={change} />
            {options.data && (
              <ReportFilters search={search} options={options.data} onChange={change} />
            )}
          </div>
          <Content page={page} request={request} frame={frame} onChange={change} />
        </>
      )}
    </>
  )
}

/** The report in the list, with its topic. */
function useReport(reportId: number): { report?: Report; topic?: string } {
  const { data } = useQuery(reportsQuery)
  for (const { label, reports } of data ?? []) {
    const report = reports.find((one) => one.reportId === reportId)
    if (report) return { report, topic: label }
  }
  return {}
}

type HeadProps = {
  request: PrintRequest
  search: ReportSearch
  canPrint: boolean
  /** The frame with the page; undefined while there is none. */
  frame: RefObject<HTMLIFrameElement | null> | undefined
  onOpen: (view: ReportView) => void
}

function Head({ request, search, canPrint, frame, onOpen }: HeadProps) {
  const { t } = useTranslation()
  const [note, setNote] = useState<ReactNode>()
  const { report, topic } = useReport(request.reportId)
  return (
    <>
      <div className={`${classes.top} ${classes.screenOnly}`}>
        <nav className="row small" aria-label={t('reports.title')}>
          <Link to="/reports" className="row soft" style={{ gap: 4 }}>
            <IconChevronLeft size={15} aria-hidden />
            {t('reports.title')}
          </Link>
          {topic && <span className="faint">/ {topic}</span>}
        </nav>
        <span className="grow" />
        {report && (
          <>
            <ReportViews request={request} onOpen={onOpen} onNote={setNote} />
            <MailButton request={request} search={search} onSaved={setNote} />
            <ShareButton request={request} name={report.reportName} canPrint={canPrint} />
            <PaperButton frame={frame} />
            <PrintButtons request={request} name={report.reportName} canPrint={canPrint} />
          </>
        )}
      </div>
      <header className={`page-head ${classes.screenOnly}`}>
        <div className="grow">
          <div className="row">
            <h1>{report?.reportName ?? t('reports.one')}</h1>
            {report && <FavouriteStar reportId={report.reportId} name={report.reportName} />}
          </div>
          <p className="lede">{report?.description ?? '\u00a0'}</p>
          <p role="status" className={`small soft ${classes.note}`}>
            {note}
          </p>
        </div>
      </header>
    </>
  )
}

type Page = {
  data: string | undefined
  error: Error | null
  isPlaceholderData: boolean
  refetch: () => unknown
}

type ContentProps = {
  page: Page
  request: PrintRequest
  frame: RefObject<HTMLIFrameElement | null>
  onChange: FilterChange
}

function Content({ page, request, frame, onChange }: ContentProps) {
  const { t } = useTranslation()
  const { report } = useReport(request.reportId)
  const [chosen, setChosen] = useState<ChosenFigure>()
  const { data: html, error } = page
  if (error && !html) {
    if (isFaultOfDays(error)) {
      return <Empty title={t('reports.noDays')}>{t('reports.noDaysHint')}</Empty>
    }
    if (faultAt(error, 'format')) {
      return <Empty title={t('reports.tooLong')}>{t('reports.tooLongHint')}</Empty>
    }
    return <Failure error={error} onRetry={() => void page.refetch()} />
  }
  if (html === undefined) return <LoadingColumns hasStrip />
  const isEmpty = html.includes('<td class="none"')
  return (
    <>
      {!isEmpty && (
        <p className={`soft small ${classes.screenOnly}`}>
          {t('reports.counted.hint')}{' '}
          <button
            type="button"
            className={classes.inline}
            onClick={() => setChosen({ figure: undefined, rowCount: undefined })}
          >
            {t('reports.counted.open')}
          </button>
          .
        </p>
      )}
      <ReportFrame
        frame={frame}
        html={html}
        title={report?.reportName ?? t('reports.one')}
        isOld={page.isPlaceholderData}
        onFigure={(figure, rowCount) => {
          // The old page stays until the new one is printed; its rows are not those of the request.
          if (!page.isPlaceholderData) setChosen({ figure, rowCount })
        }}
      />
      <CountedDrawer
        request={request}
        chosen={chosen}
        onChoose={setChosen}
        onClose={() => setChosen(undefined)}
      />
      {isEmpty && <NothingThere onChange={onChange} />}
    </>
  )
}

/** Such a fault is shown at its field. */
const isFaultOfDays = (error: Error | null) =>
  error instanceof ProblemError &&
  error.errors.length > 0 &&
  error.errors.every(({ pointer }) => /^\?(start|end)Date$/.test(pointer))

const NO_FILTERS = {
  location: undefined,
  staff: undefined,
  service: undefined,
  status: undefined,
  more: undefined,
}
const NOT_GROUPED = { groupBy: undefined, thenBy: undefined, compare: undefined }

function NothingThere({ onChange }: { onChange: FilterChange }) {
  const { t } = useTranslation()
  const search = useSearch({ from: '/shell/reports/$reportId' })
  const hasFilters = Object.keys(NO_FILTERS).some((name) => name in search)
  return (
    <Empty
      title={t('reports.empty')}
      actions={
        <>
          {search.period !== 'thisYear' && (
            <button
              type="button"
              className="button"
              onClick={() => onChange({ period: 'thisYear', from: undefined, to: undefined })}
            >
              {t('reports.periods.thisYear')}
            </button>
          )}
          {hasFilters && (
            <button type="button" className="button quiet" onClick={() => onChange(NO_FILTERS)}>
              {t('reports.withoutFilters')}
            </button>
          )}
        </>
      }
    >
      {t('reports.emptyHint')}
    </Empty>
  )
}
