import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { clientsQuery } from '../api/clients.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { missingParts } from '../setup/missing.ts'
import classes from './calendar.module.css'
import type { Column } from './columns.ts'

type Props = { setup: Setup; columns: Column[] }

/** Says why nothing can be booked yet, and where to add it. */
export function MissingSetup({ setup, columns }: Props) {
  const { t } = useTranslation()
  const canEdit = useSession().functions.includes('EDIT_SETUP')
  const { data: clients } = useInfiniteQuery(clientsQuery(''))
  const parts = missingParts(setup)
  const isUnplaced =
    columns.length === 0 && setup.professionals.length > 0 && setup.locations.length > 0
  const hasNoClient = clients?.pages[0]?.items.length === 0
  if (parts.length === 0 && !isUnplaced && !hasNoClient) return null
  const isOfSetup = parts.length > 0 || isUnplaced
  return (
    <div role="status" className={`small ${classes.missing}`}>
      <b>{t('calendar.missing.title')}</b>
      <ul>
        {parts.map(({ name, path }) => (
          <li key={name}>
            {t(`settings.${name}.none`)}
            {canEdit && <Link to={path}>{t(`settings.${name}.add`)}</Link>}
          </li>
        ))}
        {isUnplaced && (
          <li>
            {t('calendar.missing.unplaced')}
            {canEdit && <Link to="/settings/staff">{t('calendar.missing.place')}</Link>}
          </li>
        )}
        {hasNoClient && (
          <li>
            {t('clients.none')}
            <Link to="/clients">{t('calendar.missing.addClient')}</Link>
          </li>
        )}
      </ul>
      {isOfSetup && !canEdit && t('calendar.missing.ask')}
    </div>
  )
}
