import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { messageCountsQuery } from '../api/messages.ts'
import { useBusinessTimeFormat } from '../components/time.ts'
import { useNow } from './page-head.tsx'

/** The number of messages that failed today; nothing if none did. */
export function FailureBadge() {
  const { t } = useTranslation()
  const { isoDay, startOfDay } = useBusinessTimeFormat()
  const from = startOfDay(isoDay(useNow()))
  const to = startOfDay(isoDay(from + DAY_AND_A_HALF_MS))
  const { data } = useQuery(messageCountsQuery({ from, to }))
  const count = data?.FAILED ?? 0
  if (count === 0) return null
  return (
    <>
      <span className="failure-badge numbers" aria-hidden>
        {count > MAX_SHOWN ? `${MAX_SHOWN}+` : count}
      </span>
      <span className="visually-hidden">{t('navigation.failedToday', { count })}</span>
    </>
  )
}

const MAX_SHOWN = 999

/** Start of day plus this is in the next day, even after a day of 23 or 25 hours. */
const DAY_AND_A_HALF_MS = 129_600_000
