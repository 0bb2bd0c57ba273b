import { TextInput } from '@mantine/core'
import { IconSearch } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { reportsQuery, type Report, type ReportTopic } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { useRowKeys } from '../components/row-keys.ts'
import { LoadingRows } from '../components/skeletons.tsx'
import { Empty, Failure } from '../components/states.tsx'
import { FavouriteStar, useFavourites } from '../reports/favourites.tsx'
import { ReportPicture } from '../reports/picture.tsx'
import classes from '../reports/reports.module.css'
import { SchedulesPanel } from '../reports/schedules-panel.tsx'
import { SharedFilesPanel } from '../reports/shared-files-panel.tsx'
import { TargetsPanel } from '../reports/targets-panel.tsx'
import { ViewsPanel } from '../reports/views-panel.tsx'
import { PageHead } from '../shell/page-head.tsx'

/** The reports that the user may print, each with a small picture of its data. */
export function ReportsPage() {
  const { t } = useTranslation()
  useRowKeys()
  const { data, error, refetch } = useQuery(reportsQuery)
  const { functions } = useSession()
  const canSchedule = functions.includes('SCHEDULE_REPORTS')
  const isOwner = functions.includes('EDIT_BUSINESS')
  const count = data?.flatMap(({ reports }) => reports).length
  return (
    <>
      <PageHead
        title={t('reports.title')}
        lede={count === undefined ? undefined : t('reports.lede', { count })}
      />
      <div className={classes.columns}>
        {error && !data ? (
          <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
        ) : !data ? (
          <LoadingRows rows={10} />
        ) : (
          <Gallery topics={data} />
        )}
        <aside className="column" style={{ gap: 16 }}>
          {canSchedule && <SchedulesPanel />}
          {isOwner && <TargetsPanel />}
          <ViewsPanel />
          {canSchedule && <SharedFilesPanel />}
        </aside>
      </div>
    </>
  )
}

const ALL = 'all'
const FAVOURITES = 'favourites'

type Listed = { report: Report; topic: ReportTopic }

function Gallery({ topics }: { topics: ReportTopic[] }) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(ALL)
  const [favourites] = useFavourites()
  const wanted = text.trim().toLowerCase()
  const shown = topics
    .flatMap((topic) => topic.reports.map((report): Listed => ({ report, topic })))
    .filter(
      ({ report, topic }) =>
        chosen === ALL ||
        (chosen === FAVOURITES ? favourites.includes(report.reportId) : topic.category === chosen),
    )
    .filter(({ report: { reportName, description }, topic }) =>
      `${topic.label} ${reportName} ${description}`.toLowerCase().includes(wanted),
    )
  return (
    <div>
      <div className={classes.bar}>
        <TextInput
          leftSection={<IconSearch size={15} aria-hidden />}
          rightSection={<kbd>/</kbd>}
          placeholder={t('reports.find')}
          aria-label={t('reports.find')}
          w={180}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <TopicChips topics={topics} chosen={chosen} onChoose={setChosen} />
      </div>
      {shown.length === 0 ? (
        <NothingFound
          isFavourites={chosen === FAVOURITES && favourites.length === 0}
          onAll={() => {
            setText('')
            setChosen(ALL)
          }}
        />
      ) : (
        <ul className={classes.cards}>
          {shown.map((listed) => (
            <Card key={listed.report.reportId} {...listed} />
          ))}
        </ul>
      )}
    </div>
  )
}

type ChipsProps = { topics: ReportTopic[]; chosen: string; onChoose: (chosen: string) => void }

function TopicChips({ topics, chosen, onChoose }: ChipsProps) {
  const { t } = useTranslation()
  const chips = [
    { value: ALL, label: t('reports.allTopics') },
    { value: FAVOURITES, label: t('reports.favourites') },
    ...topics.map(({ category, label }) => ({ value: category, label })),
  ]
  return chips.map(({ value, label }) => (
    <button
      key={value}
      type="button"
      className={`button ${classes.chip}`}
      aria-pressed={chosen === value}
      onClick={() => onChoose(value)}
    >
      {label}
    </button>
  ))
}

function NothingFound({ isFavourites, onAll }: { isFavourites: boolean; onAll: () => void }) {
  const { t } = useTranslation()
  return (
    <Empty
      title={t(isFavourites ? 'reports.noFavourites' : 'reports.noneFound')}
      actions={
        <button type="button" className="button" onClick={onAll}>
          {t('reports.all')}
        </button>
      }
    >
      {t(isFavourites ? 'reports.noFavouritesHint' : 'reports.noneFoundHint')}
    </Empty>
  )
}

function Card({ report: { reportId, reportName, description }, topic }: Listed) {
  return (
    <li className={`card ${classes.card}`} data-row>
      <ReportPicture reportId={reportId} />
      <div className={classes.cardText}>
        <div className={classes.cardHead}>
          <h2>
            <Link to="/reports/$reportId" params={{ reportId }} className={classes.open}>
              {reportName}
            </Link>
          </h2>
          <FavouriteStar reportId={reportId} name={reportName} />
        </div>
        <p className="soft small">{description}</p>
        <p className="faint tiny">{topic.label}</p>
      </div>
    </li>
  )
}
