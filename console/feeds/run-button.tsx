import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import {
  refreshFeeds,
  runQuery,
  startRun,
  type Feed,
  type FeedRun,
  type RunAction,
} from '../api/feeds.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useTranslation } from '../texts/translate.ts'
import { RunResult } from './run-result.tsx'

type Props = {
  feed: Feed
  action: RunAction
  /** For a dry run with rules that are not saved. */
  rules?: Feed['rules']
  /** A run that began before the page was opened. */
  begunId?: number | undefined
  onEnded?: (run: FeedRun) => void
  /** The page shows the latest run itself. */
  isResultElsewhere?: boolean
}

/** Starts a run, waits for its end, and shows what it found. */
export function RunButton({ feed, action, rules, begunId, onEnded, isResultElsewhere }: Props) {
  const { t } = useTranslation()
  const { feedId } = feed
  const start = useMutation({ mutationFn: () => startRun(feedId, action, rules) })
  const runId = start.data ?? begunId
  const { data: run } = useQuery(runQuery(feedId, runId))
  const hasEnded = run !== undefined && run.status !== 'RUNNING'
  useEffect(() => {
    if (!hasEnded) return
    onEnded?.(run)
    void refreshFeeds()
  }, [hasEnded])
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        loading={start.isPending || (runId !== undefined && !hasEnded)}
        onClick={() => start.mutate()}
      >
        {t(`settings.feeds.run.${action}`)}
      </Button>
      <div role="status" style={{ flexBasis: '100%' }}>
        {start.error ? (
          <span className="small clay">
            <ErrorMessage error={start.error} />
          </span>
        ) : (
          hasEnded && !isResultElsewhere && <RunResult run={run} />
        )}
      </div>
    </>
  )
}
