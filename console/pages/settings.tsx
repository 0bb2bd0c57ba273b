import { Link, Outlet } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.ts'
import { Loading } from '../components/states.tsx'
import classes from './settings.module.css'

const PAGES = [
  { name: 'business', path: '/settings/business', needs: 'VIEW_BUSINESS' },
  { name: 'people', path: '/settings/people', needs: 'MANAGE_USERS' },
  { name: 'keys', path: '/settings/keys', needs: 'MANAGE_KEYS' },
  { name: 'import', path: '/import', needs: 'EDIT_SCHEDULE' },
  { name: 'account', path: '/settings/account', needs: 'VIEW_BUSINESS' },
] as const

/** The list of settings; each page draws its own head and this next to it. */
export function SettingsPage() {
  return (
    <Suspense fallback={<Loading />}>
      <Outlet />
    </Suspense>
  )
}

export function SettingsColumns({ children }: { children: React.ReactNode }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  return (
    <div className={classes.columns}>
      <nav className={classes.list} aria-label={t('settings.label')}>
        {PAGES.filter(({ needs }) => functions.includes(needs)).map(({ name, path }) => (
          <Link key={name} to={path} className={classes.item}>
            {t(`settings.${name}.title`)}
          </Link>
        ))}
      </nav>
      <div className="column" style={{ gap: 20 }}>
        {children}
      </div>
    </div>
  )
}
