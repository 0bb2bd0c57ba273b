import { Drawer, Select } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { reportFiguresQuery, type PrintRequest, type ReportFigures } from '../api/reports.ts'
import { Failure, Loading } from '../components/states.tsx'
import { CountedList } from './counted-list.tsx'
import type { Figure } from './report-frame.tsx'
import classes from './reports.module.css'

/** A figure, and how many rows the page had that it was clicked in. */
export type ChosenFigure = { figure: Figure | undefined; rowCount: number | undefined }

type Props = {
  request: PrintRequest
  chosen: ChosenFigure | undefined
  onChoose: (chosen: ChosenFigure) => void
  onClose: () => void
}

/** Lists the appointments, messages and other objects that a figure counts. */
export function CountedDrawer({ request, chosen, onChoose, onClose }: Props) {
  const { t } = useTranslation()
  return (
    <Drawer
      opened={chosen !== undefined}
      onClose={onClose}
      position="right"
      size="min(520px, 100%)"
      title={t('reports.counted.title')}
      closeButtonProps={{ 'aria-label': t('words.close') }}
    >
      {chosen && (
        <Content
          request={request}
          chosen={chosen}
          onChoose={(figure) => onChoose({ ...chosen, figure })}
          onClose={onClose}
        />
      )}
    </Drawer>
  )
}

type ContentProps = {
  request: PrintRequest
  chosen: ChosenFigure
  onChoose: (figure: Figure) => void
  onClose: () => void
}

function Content({ request, chosen: { figure, rowCount }, onChoose, onClose }: ContentProps) {
  const { t } = useTranslation()
  const { data: figures, error, refetch } = useQuery(reportFiguresQuery(request))
  if (error && !figures) return <Failure error={error} onRetry={() => void refetch()} />
  if (!figures) return <Loading />
  // The page was printed earlier: a row of it may be another one by now.
  const isOutdated = rowCount !== undefined && rowCount !== figures.rowCount
  if (isOutdated) return <Outdated reportId={request.reportId} onClose={onClose} />
  const path = figure && pathOf(figures, figure)
  return (
    <>
      <FigureFields figures={figures} figure={figure} onChoose={onChoose} />
      {figure && !path && <p className="soft">{t('reports.counted.noSum')}</p>}
      {path && <CountedList key={path} reportId={request.reportId} path={path} />}
    </>
  )
}

function Outdated({ reportId, onClose }: { reportId: number; onClose: () => void }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const printAgain = () => {
    onClose()
    void queries.invalidateQueries({ queryKey: ['reports', reportId] })
  }
  return (
    <>
      <p className="soft">{t('reports.counted.outdated')}</p>
      <button type="button" className="button" onClick={printAgain}>
        {t('reports.counted.printAgain')}
      </button>
    </>
  )
}

/** Undefined for a figure that is not a sum of objects, such as a rate. */
function pathOf({ drillDown, rowFilters }: ReportFigures, figure: Figure) {
  if (!drillDown) return undefined
  const measure = 'kpi' in figure ? drillDown.kpis[figure.kpi] : drillDown.columns[figure.column]
  const row = 'kpi' in figure || figure.row === undefined ? undefined : rowFilters[figure.row]
  if (!measure && row === undefined) return undefined
  return [drillDown.path, row, measure].filter((part) => part).join('&')
}

type FieldsProps = {
  figures: ReportFigures
  figure: Figure | undefined
  onChoose: (figure: Figure) => void
}

const MAX_OFFERED = 100
const ALL_ROWS = 'all'

/** The same choice as a click into the page, for the keyboard. */
function FigureFields({ figures, figure, onChoose }: FieldsProps) {
  const { t } = useTranslation()
  const { drillDown, kpis, columns, rows } = figures
  const offered = [
    ...kpis.flatMap((label, kpi) => (drillDown?.kpis[kpi] ? { value: `kpi ${kpi}`, label } : [])),
    ...columns.map((label, column) => ({ value: `column ${column}`, label })),
  ]
  const row = figure && 'row' in figure ? figure.row : undefined
  const choose = (value: string | null, chosenRow: number | undefined) => {
    const [kind, place] = (value ?? '').split(' ')
    if (kind === 'kpi') return onChoose({ kpi: Number(place) })
    onChoose({
      column: Number(place),
      ...(chosenRow === undefined ? {} : { row: chosenRow }),
    })
  }
  const value = figure && ('kpi' in figure ? `kpi ${figure.kpi}` : `column ${figure.column}`)
  return (
    <div className={classes.pair}>
      <Select
        label={t('reports.counted.figure')}
        placeholder={t('reports.counted.choose')}
        allowDeselect={false}
        searchable={offered.length > 8}
        value={value ?? null}
        data={groupsOf(offered, t('reports.counted.tiles'), t('words.columns'))}
        onChange={(next) => choose(next, row)}
        data-autofocus={figure ? undefined : true}
      />
      {figure && 'column' in figure && (
        <Select
          label={t('reports.counted.row')}
          allowDeselect={false}
          searchable
          limit={MAX_OFFERED}
          value={row === undefined ? ALL_ROWS : String(row)}
          data={[
            { value: ALL_ROWS, label: t('reports.counted.allRows') },
            ...rows.map((label, place) => ({ value: String(place), label })),
          ]}
          onChange={(next) =>
            choose(value ?? null, next === null || next === ALL_ROWS ? undefined : Number(next))
          }
        />
      )}
    </div>
  )
}

type Option = { value: string; label: string }

const groupsOf = (options: Option[], tiles: string, columns: string) => [
  { group: tiles, items: options.filter(({ value }) => value.startsWith('kpi')) },
  { group: columns, items: options.filter(({ value }) => value.startsWith('column')) },
]
