import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { Empty } from '../components/states.tsx'
import type { CalendarSearch } from './search.ts'

type Props = {
  /** Whether the business has no staff, so that the day view has no columns. */
  hasNoStaff: boolean
  /** Whether one location or member of staff is shown. */
  hasFilter: boolean
  isToday: boolean
  onBook: (() => void) | undefined
}

/** Offers to book, the other locations, and today. */
export function NoAppointment({ hasNoStaff, hasFilter, isToday, onBook }: Props) {
  const { t } = useTranslation()
  const canAddStaff = useSession().functions.includes('EDIT_SETUP')
  const hint = hasFilter ? 'desk.noneOfChoice' : 'calendar.noneHint'
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
                {t('words.importAFile')}
              </Link>
            </>
          )}
          {hasFilter && (
            <Link
              to="/calendar"
              search={({ location: _location, staff: _staff, ...others }: CalendarSearch) => others}
              className="button quiet"
            >
              {t('desk.showAll')}
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
