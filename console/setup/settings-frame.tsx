import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useLoadedCounts } from '../api/loaded-counts.ts'
import { useSession } from '../api/session.ts'
import { useCentredCurrent } from '../components/centre-current.ts'
import { SETTINGS_PAGES } from '../shell/settings-pages.ts'
import classes from './settings.module.css'

export function SettingsColumns({ children }: { children: ReactNode }) {
  return (
    <div className={classes.columns}>
      <SettingsMenu />
      <div className="column" style={{ gap: 20 }}>
        {children}
      </div>
    </div>
  )
}

type SettingsEntry = (typeof SETTINGS_PAGES)[number]

/** The pages that the user may open. A group keeps its place if its first page is hidden. */
function groupsFor(functions: readonly string[]) {
  const groups: SettingsEntry[][] = []
  for (const page of SETTINGS_PAGES) {
    if ('startsGroup' in page) groups.push([])
    if (functions.includes(page.needs)) groups.at(-1)?.push(page)
  }
  return groups.filter((group) => group.length > 0)
}

function SettingsMenu() {
  const { t } = useTranslation()
  const { functions } = useSession()
  const counts = useLoadedCounts()
  const menu = useCentredCurrent()
  return (
    <nav ref={menu} className={classes.list} aria-label={t('settings.label')}>
      {groupsFor(functions).map((group) => (
        <div key={group[0]?.name} className={classes.group}>
          {group.map(({ name, path }) => (
            <Link key={name} to={path} className={classes.item}>
              {t(`settings.${name}.title`)}
              {counts[name] !== undefined && <span className={classes.count}>{counts[name]}</span>}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  )
}

/** A table whose last column holds the actions of each row. */
export function SettingsTable({ head, children }: { head: string[]; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <table className="table">
      <thead>
        <tr>
          {head.map((label) => (
            <th key={label}>{label}</th>
          ))}
          <th>
            <span className="visually-hidden">{t('form.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
