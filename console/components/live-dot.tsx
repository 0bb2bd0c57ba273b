import { useTranslation } from 'react-i18next'
import { useLiveState } from '../api/live.ts'

/** Shows whether the page receives changes live. */
export function LiveDot() {
  const { t } = useTranslation()
  const state = useLiveState()
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
