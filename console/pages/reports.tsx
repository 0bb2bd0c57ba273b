import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { reportsQuery, type Report, type ReportTopic } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { useRowKeys } from '../components/row-keys.ts'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import classes from '../reports/reports.module.css'
import { SchedulesPanel } from '../reports/schedules-panel.tsx'
import { ViewsPanel } from '../reports/views-panel.tsx'
import { PageHead } from '../shell/page-head.tsx'

/** The reports that the user may print, by topic. */
export function ReportsPage() {
  const { t } = useTranslation()
  useRowKeys()
  const { data, error, refetch } = useQuery(reportsQuery)
  const canSchedule = useSession().functions.includes('SCHEDULE_REPORTS')
  const [text, setText] = useState('')
  const count = data?.flatMap(({ reports }) => reports).length
  return (
    <>
      <PageHead
        title={t('reports.title')}
        lede={count === undefined ? undefined : t('reports.lede', { count })}
      />
      <div className={classes.columns}>
        <div>
          <TextInput
            leftSection={<IconSearch size={15} aria-hidden />}
            rightSection={<kbd>/</kbd>}
            placeholder={t('reports.find')}
            aria-label={t('reports.find')}
            maw={320}
            mb={18}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {error && !data ? (
            <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
          ) : !data ? (
            <LoadingRows rows={10} />
          ) : (
            <Topics topics={matching(data, text)} onAll={() => setText('')} />
          )}
        </div>
        <aside className="column" style={{ gap: 16 }}>
          {canSchedule && <SchedulesPanel />}
          <ViewsPanel />
        </aside>
      </div>
    </>
  )
}

/** The topics with the reports whose name or description has the text. */
function matching(topics: ReportTopic[], text: string) {
  const wanted = text.trim().toLowerCase()
  return topics
    .map((topic) => ({
      ...topic,
      reports: topic.reports.filter(({ reportName, description }) =>
        `${topic.label} ${reportName} ${description}`.toLowerCase().includes(wanted),
      ),
    }))
    .filter(({ reports }) => reports.length > 0)
}

function Topics({ topics, onAll }: { topics: ReportTopic[]; onAll: () => void }) {
  const { t } = useTranslation()
  if (topics.length === 0) {
    return (
      <Empty
        title={t('reports.noneFound')}
        actions={
          <button type="button" className="button" onClick={onAll}>
            {t('reports.all')}
          </button>
        }
      >
        {t('reports.noneFoundHint')}
      </Empty>
    )
  }
  return topics.map(({ category, label, description, reports }) => (
    <section key={category} className={classes.topic}>
      <h2>
        {label}
        <span className="faint">{description}</span>
      </h2>
      <ul className={classes.cards}>
        {reports.map((report) => (
          <Card key={report.reportId} report={report} />
        ))}
      </ul>
    </section>
  ))
}

function Card({ report: { reportId, reportName, description } }: { report: Report }) {
  return (
    <li className={`card ${classes.card}`} data-row>
      <h3>
        <Link to="/reports/$reportId" params={{ reportId }} className={classes.open}>
          {reportName}
        </Link>
      </h3>
      <p className="soft small">{description}</p>
    </li>
  )
}
