import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { readinessQuery } from '../api/readiness.ts'
import { restoreQuery } from '../api/restore.ts'
import { useSession } from '../api/session.ts'
import { IconAlertTriangle } from '../components/icons.tsx'

/** Whether the database was restored and is held, for people who may see what waits. */
export function useIsHeld() {
  const { functions } = useSession()
  const { data: readiness } = useQuery(readinessQuery)
  // Only a service with a warning can be held.
  const enabled = readiness === 'noMail' && functions.includes('VIEW_BUSINESS')
  const { data } = useQuery({ ...restoreQuery('business'), enabled })
  return data?.held === true
}

/** Says that the database was restored, and that no mail is sent until the operator releases it. */
export function RestoredBar() {
  const { t } = useTranslation()
  return (
    <div className="notice">
      <IconAlertTriangle size={18} aria-hidden />
      <span role="status" className="grow">
        <b>{t('restored.bar')}</b> {t('restored.barMeaning')}
      </span>
      <Link to="/restored">{t('restored.see')}</Link>
    </div>
  )
}
