import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { useLiveState } from '../api/live.ts'
import { readinessQuery } from '../api/readiness.ts'

/** Shows whether the page receives changes live. */
export function LiveDot() {
  const { t } = useTranslation()
  const state = useLiveState()
  const { data: readiness } = useQuery(readinessQuery)
  // A stream may notice late that its connection is lost.
  if (readiness === 'unreachable') return null
  return (
    <span className="chip tiny" title={t(`live.${state}Hint`)} data-live={state}>
      <svg width="8" height="8" aria-hidden>
        <circle
          cx="4"
          cy="4"
          r={state === 'live' ? 4 : 3.25}
          fill={state === 'live' ? 'var(--mark)' : 'none'}
          stroke={state === 'live' ? 'none' : 'var(--line-strong)'}
          strokeWidth="1.5"
        />
      </svg>
      {t(`live.${state}`)}
    </span>
  )
}
