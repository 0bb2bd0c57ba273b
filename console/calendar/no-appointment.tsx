import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import { Empty } from '../components/states.tsx'

type Props = {
  /** Whether the business has no staff, so that the day view has no columns. */
  hasNoStaff: boolean
  hasLocation: boolean
  isToday: boolean
  onBook: (() => void) | undefined
}

/** Offers to book, the other locations, and today. */
export function NoAppointment({ hasNoStaff, hasLocation, isToday, onBook }: Props) {
  const { t } = useTranslation()
  const canAddStaff = useSession().functions.includes('EDIT_SETUP')
  const hint = hasLocation ? 'calendar.noneAtLocation' : 'calendar.noneHint'
  return (
    <Empty
      title={t(hasNoStaff ? 'calendar.noStaff' : 'calendar.none')}
      actions={
        <>
          {onBook && !hasNoStaff && (
            <button type="button" className="button" onClick={onBook}>
              {t('palette.book')}
            </button>
          )}
          {canAddStaff && hasNoStaff && (
            <>
              <Link to="/settings/staff" className="button">
                {t('settings.staff.add')}
              </Link>
              <Link to="/import" className="button quiet">
                {t('import.title')}
              </Link>
            </>
          )}
          {hasLocation && (
            <Link
              to="/calendar"
              search={({ location: _location, ...others }: { location?: number }) => others}
              className="button quiet"
            >
              {t('calendar.anyLocation')}
            </Link>
          )}
          {!isToday && (
            <Link
              to="/calendar"
              search={({ day: _day, ...others }: { day?: string }) => others}
              className="button quiet"
            >
              {t('calendar.toToday')}
            </Link>
          )}
        </>
      }
    >
      {t(hasNoStaff ? 'calendar.noStaffHint' : hint)}
    </Empty>
  )
}
