import { useQuery } from '@tanstack/react-query'
import { runsQuery, type Feed } from '../api/feeds.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { RunResult } from './run-result.tsx'

/** The latest pulls, reconciliations and dry runs, with what they found. */
export function RunsTab({ feed }: { feed: Feed }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data: runs, error, refetch } = useQuery(runsQuery(feed.feedId))
  if (error && !runs) return <Failure error={error} onRetry={() => void refetch()} />
  if (!runs) return <Loading />
  if (runs.length === 0) return <p className="soft">{t('settings.feeds.noRun')}</p>
  return (
    <ul className={classes.list}>
      {runs.map((run) => (
        <li key={run.feedRunId} className={classes.entry}>
          <div className="strong">
            {t(`settings.feeds.runKinds.${run.kind}`)} ·{' '}
            <span className="numbers">{format.moment(run.startedTime)}</span>{' '}
            <span className="soft small" dir="auto">
              {nameOfUser(run.startedUser, t)}
            </span>
          </div>
          {run.status === 'RUNNING' ? (
            <span className="soft small">{t('settings.feeds.running')}</span>
          ) : (
            <RunResult run={run} />
          )}
        </li>
      ))}
    </ul>
  )
}
