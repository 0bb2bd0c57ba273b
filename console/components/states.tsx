import { IconRefresh } from '@tabler/icons-react'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'
import { BellShape } from './bell.tsx'

/** Grey bars as a placeholder. Shown after 150 ms, so that a fast answer does not flicker. */
export function Loading({ lines = 6, height = 20 }: { lines?: number; height?: number }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150)
    return () => clearTimeout(timer)
  }, [])
  if (!isShown) return <div aria-busy style={{ minHeight: lines * (height + 12) }} />
  return (
    <div aria-busy className="column" style={{ gap: 12 }}>
      {Array.from({ length: lines }, (_, line) => (
        <div
          key={line}
          className="skeleton"
          style={{ height, width: `${92 - ((line * 17) % 40)}%` }}
        />
      ))}
    </div>
  )
}

/** Says why a list is empty, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="column" style={{ alignItems: 'center', padding: '36px 16px', gap: 6 }}>
      <svg width="44" height="44" viewBox="0 0 32 32" aria-hidden>
        <BellShape body="var(--line)" strap="var(--line-strong)" />
      </svg>
      <div className="serif" style={{ fontSize: 17, fontWeight: 580 }}>
        {title}
      </div>
      <div className="soft small" style={{ textAlign: 'center', maxWidth: 440 }}>
        {children}
      </div>
    </div>
  )
}

/** Says what went wrong, what it means and what to do next. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation()
  return (
    <div role="alert" className="column" style={{ alignItems: 'flex-start', padding: '20px 0' }}>
      <div className="strong">{t('errors.title')}</div>
      <div className="soft small">{meaningOf(error, t)}</div>
      {error instanceof ProblemError && (
        <div className="faint tiny mono">
          {error.status} {error.instance}
        </div>
      )}
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          <IconRefresh size={15} aria-hidden />
          {t('errors.again')}
        </button>
      )}
    </div>
  )
}

function meaningOf(error: unknown, t: ReturnType<typeof useTranslation>['t']): string {
  if (error instanceof ConnectionError) return t('errors.offline')
  if (error instanceof ProblemError) {
    if (error.status === 403) return t('errors.forbidden')
    if (error.status === 404) return t('errors.notFound')
    if (error.status === 429) return t('errors.tooMany')
  }
  return error instanceof Error ? error.message : String(error)
}
