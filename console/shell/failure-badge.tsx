import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { messageCountsQuery } from '../api/messages.ts'
import { useBusinessTimeFormat } from '../components/time.ts'
import { useNow } from './page-head.tsx'

/** The number of messages that failed today; nothing if none did. */
export function FailureBadge() {
  const { t } = useTranslation()
  const { isoDay, startOfDay, startOfNextDay } = useBusinessTimeFormat()
  const now = useNow()
  const { data } = useQuery(
    messageCountsQuery({ from: startOfDay(isoDay(now)), to: startOfNextDay(now) }),
  )
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
