import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { feedQuery } from '../api/feeds.ts'
import { useSession } from '../api/session.ts'
import { useTranslation } from '../texts/translate.ts'

/** Which feed an appointment or class comes from, and what must be changed in its source. */
export function MirroredNotice({ feedId }: { feedId: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const isAllowed = functions.includes('MANAGE_BUSINESS')
  const { data } = useQuery({ ...feedQuery(feedId), enabled: isAllowed })
  return (
    <p className="small soft" style={{ margin: 0 }}>
      {isAllowed ? (
        <Link
          to="/settings/feeds/$feedId"
          params={{ feedId }}
          style={{ textDecoration: 'underline' }}
        >
          {t('appointment.feed')} <bdi>{data?.name}</bdi>
        </Link>
      ) : (
        t('appointment.feed')
      )}
      {'. '}
      {t('appointment.mirrored')}
    </p>
  )
}
