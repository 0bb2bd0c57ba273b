import { IconCloudOff } from '../components/icons.tsx'
import { onlineManager, useQuery } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { queryClient } from '../api/query-client.ts'
import { readinessQuery, RETRY_MS } from '../api/readiness.ts'
import { useTimeFormat } from '../components/time.ts'
import { useNow } from './page-head.tsx'

/** Says since when the service cannot be reached, what that means, and when it is tried again. */
export function OfflineBar() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  )
  const { data, dataUpdatedAt, refetch } = useQuery(readinessQuery)
  const isLost = !isOnline || data === 'unreachable'
  const [since, setSince] = useState<number>()
  useEffect(() => {
    setSince(isLost ? Date.now() : undefined)
  }, [isLost])
  // The browser noticed a change: ask at once.
  useEffect(() => {
    if (!isOnline || queryClient.getQueryData(readinessQuery.queryKey) === 'unreachable') {
      void refetch()
    }
  }, [isOnline, refetch])
  const isBack = since !== undefined && dataUpdatedAt > since && data !== 'unreachable'
  useEffect(() => {
    // Some networks are up although the browser says that it is offline.
    if (isBack) onlineManager.setOnline(true)
  }, [isBack])
  useEffect(() => {
    if (since === undefined) return
    return () => void queryClient.invalidateQueries({}, { cancelRefetch: false })
  }, [since])
  return since === undefined ? null : <Notice since={since} nextTry={dataUpdatedAt + RETRY_MS} />
}

function Notice({ since, nextTry }: { since: number; nextTry: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const restMs = Math.min(nextTry - useNow(1_000), RETRY_MS)
  const seconds = Math.ceil(restMs / 1_000)
  return (
    <div className="notice">
      <IconCloudOff size={18} aria-hidden />
      <span role="status" className="grow">
        <b>{t('offline.since', { time: format.time(since) })}</b> {t('offline.meaning')}
      </span>
      <span className="numbers">
        {seconds > 0 ? t('offline.nextTry', { count: seconds }) : t('offline.trying')}
      </span>
    </div>
  )
}
