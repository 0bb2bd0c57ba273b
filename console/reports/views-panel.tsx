import { IconBookmark } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ComponentProps, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { viewKind, type ReportView } from '../api/report-views.ts'
import { useSession } from '../api/session.ts'
import { Loaded } from '../components/states.tsx'
import { nameOfUser } from '../components/user-name.ts'
import { Panel } from '../today/panel.tsx'
import { useFilterWords } from './filter-words.ts'
import { useReportName } from './report-name.ts'
import classes from './reports.module.css'
import { searchOf } from './search.ts'
import { useViewActions, ViewButtons } from './view-actions.tsx'

/** One's own and the shared views of all reports. */
export function ViewsPanel() {
  const { t } = useTranslation()
  const { data: views, error, refetch } = useQuery(viewKind.listQuery)
  const [note, setNote] = useState<ReactNode>()
  const { onAction, windows } = useViewActions(setNote)
  return (
    <Panel title={t('reports.views.panel')}>
      <Loaded
        query={{ data: views, error, refetch }}
        title={t('errors.list')}
        lines={2}
        empty={<p className="soft small">{t('reports.views.none')}</p>}
      >
        {(views) => (
          <ul className={classes.lines}>
            {views.map((view) => (
              <View key={view.reportViewId} view={view} onAction={onAction} />
            ))}
          </ul>
        )}
      </Loaded>
      <p role="status" className={`small soft ${classes.note}`}>
        {note}
      </p>
      {windows}
    </Panel>
  )
}

type ViewProps = { view: ReportView } & Pick<ComponentProps<typeof ViewButtons>, 'onAction'>

function View({ view, onAction }: ViewProps) {
  const { t } = useTranslation()
  const { userId } = useSession()
  const reportName = useReportName()(view.reportId)
  const filters = useFilterWords(view.reportId, view)
  return (
    <li>
      <IconBookmark size={17} stroke={1.7} className="accent" aria-hidden />
      <div className="grow small">
        <Link
          to="/reports/$reportId"
          params={{ reportId: view.reportId }}
          search={searchOf(view)}
          className={`strong ${classes.lineName}`}
          dir="auto"
        >
          {view.name}
        </Link>
        <div>{reportName}</div>
        <div className="soft" dir="auto">
          {filters}
        </div>
        {view.shared && (
          <div className="faint tiny">
            {view.userId === userId
              ? t('reports.views.shared')
              : t('reports.views.sharedBy', { name: nameOfUser(view.createdUser, t) })}
          </div>
        )}
      </div>
      <ViewButtons view={view} onAction={onAction} />
    </li>
  )
}
