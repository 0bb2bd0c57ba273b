import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { failuresOfTodayQuery } from '../api/messages.ts'
import { useBusinessTimeFormat } from '../components/time.ts'

/** The number of messages that failed today; nothing if none did. */
export function FailureBadge() {
  const { t } = useTranslation()
  const { data: count = 0 } = useQuery(failuresOfTodayQuery(useBusinessTimeFormat()))
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
