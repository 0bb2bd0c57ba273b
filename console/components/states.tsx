import { IconAlertTriangle, IconRefresh } from './icons.tsx'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'
import { BELL_BODY } from './bell.tsx'
import { messageOf } from './error-message.tsx'
import { isSignedOut } from '../api/query-client.ts'
import { FilesError } from './lazy-page.tsx'

type PlaceholderProps = { minHeight: number; children: ReactNode }

/** Reserves the space and shows its content after 150 ms, so that a fast answer does not flicker. */
export function Placeholder({ minHeight, children }: PlaceholderProps) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return isSlow ? <div aria-busy>{children}</div> : <div aria-busy style={{ minHeight }} />
}

/** Grey bars as a placeholder. */
export function Loading({ lines = 6, height = 20 }: { lines?: number; height?: number }) {
  return (
    <Placeholder minHeight={lines * (height + 12)}>
      <div className="column" style={{ gap: 12 }}>
        {Array.from({ length: lines }, (_, line) => (
          <div
            key={line}
            className="skeleton"
            style={{ height, width: `${92 - ((line * 17) % 40)}%` }}
          />
        ))}
      </div>
    </Placeholder>
  )
}

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown }
  /** Says what could not be loaded. */
  title?: string
  lines?: number
  /** Instead of grey bars. */
  loading?: ReactNode
  /** What an empty list shows. */
  empty?: ReactNode
  children: (data: Data) => ReactNode
}

/** What a query has read; before that a placeholder, or why it failed. */
export function Loaded<Data>({ query, title, lines, loading, empty, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  if (data === undefined) {
    if (!error) return loading ?? <Loading {...(lines && { lines })} />
    return <Failure {...(title && { title })} error={error} onRetry={() => void refetch()} />
  }
  return empty && Array.isArray(data) && data.length === 0 ? empty : children(data)
}

type EmptyProps = { title: ReactNode; children?: ReactNode; actions?: ReactNode }

/** Says why a list is empty, and what to do. */
export function Empty({ title, children, actions }: EmptyProps) {
  return (
    <div className="card empty">
      <svg width="150" height="58" viewBox="0 4 150 58" aria-hidden>
        <g fill="none" stroke="var(--line-strong)" strokeLinecap="round">
          <path d="M4 10C50 10 60 14 75 14S100 10 146 10" strokeWidth="1.6" strokeDasharray="1 5" />
          <g transform="translate(48 5) scale(1.7)">
            <path d="M13.1 10.2V8.1a2.9 2.9 0 0 1 5.8 0v2.1" strokeWidth="1.8" />
            <path d={BELL_BODY} fill="var(--sunken)" strokeWidth=".9" />
          </g>
        </g>
      </svg>
      <div className="serif">{title}</div>
      {children && <div className="soft">{children}</div>}
      {actions && <div className="row">{actions}</div>}
    </div>
  )
}

type FailureProps = { error: unknown; title?: string; onRetry?: () => void }

/** Says what went wrong, what it means and what to do next. */
export function Failure({ error, title, onRetry }: FailureProps) {
  const { t } = useTranslation()
  return (
    <div role="alert" className="card failure">
      <IconAlertTriangle size={18} className="clay" aria-hidden />
      <div className="grow">
        <div className="strong">{title ?? t('errors.title')}</div>
        <div className="soft">{meaningOf(error, t, onRetry !== undefined)}</div>
        <div className="row">
          {onRetry && (
            <button type="button" className="button" onClick={onRetry}>
              <IconRefresh size={14} aria-hidden />
              {t('errors.again')}
            </button>
          )}
          {error instanceof ProblemError && (
            <span className="faint tiny mono" title={error.requestId}>
              {[error.status, requestOf(error, t)].filter(Boolean).join(' · ')}
            </span>
          )}
        </div>
      </div>
    </div>
  )
}

/** The first part of the id is enough to find the request in the log. */
const requestOf = ({ requestId }: ProblemError, t: Translate) =>
  requestId && t('errors.request', { id: requestId.slice(0, 8) })

function meaningOf(error: unknown, t: Translate, isRead: boolean): string {
  if (error instanceof ConnectionError) return t('errors.offline')
  if (error instanceof ProblemError) {
    if (isSignedOut(error)) return t('signedOut.title')
    if (error.status === 403) return t('errors.forbidden')
    if (error.status === 404) return t('errors.notFound')
    if (error.status === 429) return t('errors.tooMany')
    if (error.status >= 502 && isRead) return t('errors.unavailable')
  }
  if (error instanceof FilesError) return t(error.areGone ? 'errors.filesGone' : 'errors.files')
  const message = messageOf(error, t)
  return FILE_FAILURE.test(message) ? t('errors.files') : message
}

/** The message of a file that cannot be fetched: in Chrome and Firefox, and in Safari. */
const FILE_FAILURE = /dynamically imported module|importing a module script failed/i
