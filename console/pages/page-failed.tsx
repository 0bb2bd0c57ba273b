import { useTranslation } from 'react-i18next'
import { Failure } from '../components/states.tsx'

/** Shown instead of a page whose files or first data cannot be loaded. */
export function PageFailed({ error }: { error: unknown }) {
  const { t } = useTranslation()
  return (
    <Failure title={t('errors.page')} error={error} onRetry={() => globalThis.location.reload()} />
  )
}
