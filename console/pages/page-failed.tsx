import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { readinessQuery } from '../api/readiness.ts'
import { FilesError, isServiceReachable } from '../components/lazy-page.tsx'
import { Failure } from '../components/states.tsx'
import { NoRightError } from '../shell/needs.ts'
import { NoRight } from './no-right.tsx'

/** Shown instead of a page whose files or first data cannot be loaded. */
export function PageFailed({ error }: { error: unknown }) {
  const { t } = useTranslation()
  if (error instanceof NoRightError) return <NoRight />
  const isOffline = error instanceof FilesError && !error.areGone
  return isOffline ? (
    <PageOffline error={error} />
  ) : (
    <Failure title={t('errors.page')} error={error} onRetry={() => void reload()} />
  )
}

/** Loads the page as soon as the service can be reached again. */
function PageOffline({ error }: { error: FilesError }) {
  const { t } = useTranslation()
  const router = useRouter()
  const [since] = useState(() => Date.now())
  const { data, dataUpdatedAt } = useQuery(readinessQuery)
  const isBack = data !== 'unreachable' && dataUpdatedAt > since
  useEffect(() => {
    if (isBack) void router.invalidate()
  }, [isBack, dataUpdatedAt, router])
  return <Failure title={t('errors.page')} error={error} onRetry={() => void router.invalidate()} />
}

/** Without a connection the browser would replace the console by its error page. */
async function reload() {
  if (await isServiceReachable()) globalThis.location.reload()
}
