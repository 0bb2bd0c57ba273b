import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  IconDots,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSun,
} from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useBlocker, useNavigate } from '@tanstack/react-router'
import {
  lazy,
  Suspense,
  useCallback,
  useMemo,
  useState,
  useSyncExternalStore,
  type MouseEvent,
} from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useLiveUpdates } from '../api/live.ts'
import { readinessQuery, type Readiness } from '../api/readiness.ts'
import { signOut, useSession } from '../api/session.ts'
import { Bell } from '../components/bell.tsx'
import { chooseTimeZone } from '../components/chosen-time-zone.ts'
import { HeldActions, runHeldActions } from '../components/held-actions.tsx'
import { Loading } from '../components/states.tsx'
import { isEditing, unsavedEditors, watchEditors } from '../records/editor.ts'
import { askToLeave, leaveThen } from '../records/leave.ts'
import { FailureBadge } from './failure-badge.tsx'
import { useShellKeys, useSingleKeySwitch } from './keys.ts'
import { NAVIGATION, type NavigationItem } from './navigation.ts'
import { usePalette } from './palette.tsx'
import { commandKey } from './platform.ts'
import { forgetRecent } from './recent.ts'
import { SignedOutBar } from './signed-out-bar.tsx'

const KeysWindow = lazy(async () => {
  const { KeysWindow } = await import('./keys-window.tsx')
  return { default: KeysWindow }
})

// Loaded at once, because it could not be loaded when it is needed.
const OfflineBar = lazy(async () => {
  const { OfflineBar } = await import('./offline-bar.tsx')
  return { default: OfflineBar }
})

const MailBar = lazy(async () => {
  const { MailBar } = await import('./mail-bar.tsx')
  return { default: MailBar }
})

const LeaveWindow = lazy(async () => {
  const { LeaveWindow } = await import('../records/leave-window.tsx')
  return { default: LeaveWindow }
})

/** Not a part of the window, which may still be loading when the first change is made. */
const useLeaveGuard = () =>
  useBlocker({
    shouldBlockFn: async ({ current, next }) => !(await askToLeave({ from: current, to: next })),
    enableBeforeUnload: () => unsavedEditors().length > 0,
  })

/** The navigation of all pages that need a session. */
export function Shell() {
  const { t } = useTranslation()
  const { functions } = useSession()
  const pages = useMemo(
    () => NAVIGATION.filter(({ needs }) => functions.includes(needs)),
    [functions],
  )
  const [isHelpOpen, setHelpOpen] = useState(false)
  const openHelp = useCallback(() => setHelpOpen(true), [])
  const leave = useSignOut()
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  const isAnyRecordOpen = useSyncExternalStore(watchEditors, isEditing)
  useLiveUpdates(functions.includes('VIEW_SCHEDULE'))
  useSingleKeySwitch()
  useLeaveGuard()
  useShellKeys({ pages, functions, onHelp: openHelp })
  const { open: openPalette, palette } = usePalette({ pages, onHelp: openHelp, onSignOut: leave })
  return (
    <>
      <a href="#page" className="visually-hidden">
        {t('navigation.skip')}
      </a>
      <div className="shell">
        <Navbar pages={pages} onFind={openPalette} onHelp={openHelp} />
        <div style={{ minWidth: 0 }}>
          <Suspense>
            <OfflineBar />
          </Suspense>
          <SignedOutBar />
          <Suspense>
            <MailBar />
          </Suspense>
          {isPhone && <PhoneBar onFind={openPalette} />}
          <main id="page" className="page">
            <Suspense fallback={<Loading />}>
              <Outlet />
            </Suspense>
          </main>
        </div>
        <BottomTabs pages={pages} />
      </div>
      {palette}
      <HeldActions />
      {isAnyRecordOpen && (
        <Suspense>
          <LeaveWindow />
        </Suspense>
      )}
      {isHelpOpen && (
        <Suspense>
          <KeysWindow pages={pages} onClose={() => setHelpOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

type NavbarProps = { pages: NavigationItem[]; onFind: () => void; onHelp: () => void }

function Navbar({ pages, onFind, onHelp }: NavbarProps) {
  const { t } = useTranslation()
  return (
    <nav className="navbar" aria-label={t('navigation.label')}>
      <Brand />
      <button type="button" className="navbar-search" onClick={onFind}>
        <IconSearch size={15} aria-hidden />
        <span className="grow">{t('navigation.find')}</span>
        <kbd>{commandKey()}</kbd>
        <kbd>K</kbd>
      </button>
      {pages.map((page) => (
        <NavbarItem key={page.name} page={page} />
      ))}
      <div className="grow" />
      <Health />
      <Account onHelp={onHelp} />
    </nav>
  )
}

function Brand() {
  const { business } = useSession()
  return (
    <div className="row" style={{ padding: '0 4px', gap: 10 }}>
      <Bell size={32} />
      <div className="grow" style={{ lineHeight: 1.25 }}>
        <div className="serif" style={{ fontWeight: 620, fontSize: 16 }}>
          Bellwether
        </div>
        <div className="soft tiny" style={{ overflowWrap: 'anywhere' }} dir="auto">
          {business.name}
        </div>
      </div>
    </div>
  )
}

/** On a phone, instead of the top of the navigation. */
function PhoneBar({ onFind }: { onFind: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="phone-bar">
      <Brand />
      <button type="button" className="button" aria-label={t('navigation.find')} onClick={onFind}>
        <IconSearch size={18} aria-hidden />
      </button>
    </div>
  )
}

function NavbarItem({ page }: { page: NavigationItem }) {
  const { t } = useTranslation()
  return (
    <Link
      to={page.path}
      className="navbar-item"
      style={page.startsGroup ? { marginTop: 14 } : undefined}
      activeOptions={{ exact: page.path === '/' }}
    >
      <page.icon size={17} stroke={1.7} aria-hidden />
      {t(`navigation.${page.name}`)}
      {page.name === 'activity' && <FailureBadge />}
    </Link>
  )
}

/** How many tabs fit on the narrowest phone; the last one opens the others. */
const TABS = 4
const TAB_ORDER = ['today', 'calendar', 'activity', 'automations']

function BottomTabs({ pages }: { pages: NavigationItem[] }) {
  const { t } = useTranslation()
  const rank = ({ name }: NavigationItem) => {
    const place = TAB_ORDER.indexOf(name)
    return place < 0 ? TAB_ORDER.length : place
  }
  const ranked = pages.toSorted((a, b) => rank(a) - rank(b))
  const [tabs, more] = [ranked.slice(0, TABS), ranked.slice(TABS)]
  return (
    <nav className="tabs-bottom" aria-label={t('navigation.label')}>
      {tabs.map((page) => (
        <Link key={page.name} to={page.path} activeOptions={{ exact: page.path === '/' }}>
          <page.icon size={20} stroke={1.7} aria-hidden />
          {t(`navigation.${page.name}`)}
          {page.name === 'activity' && <FailureBadge />}
        </Link>
      ))}
      <button type="button" popoverTarget="more-pages">
        <IconDots size={20} stroke={1.7} aria-hidden />
        {t('navigation.more')}
      </button>
      <div id="more-pages" popover="auto" className="popover-menu">
        {more.map((page) => (
          <Link key={page.name} to={page.path} onClick={closePopover}>
            <page.icon size={17} stroke={1.7} aria-hidden />
            {t(`navigation.${page.name}`)}
          </Link>
        ))}
        <SchemeButton />
        <SignOutButton />
      </div>
    </nav>
  )
}

/** A dot and a sentence; details are on the page Today. */
function Health() {
  const { t } = useTranslation()
  const { data } = useQuery(readinessQuery)
  const state: Readiness = data ?? 'well'
  const color = state === 'well' ? 'var(--mark)' : 'var(--clay)'
  return (
    <div
      className="small"
      style={{ padding: '10px 10px 12px', borderTop: '1px solid var(--line)', lineHeight: 1.45 }}
      aria-live="polite"
    >
      <div className="row" style={{ gap: 7, fontWeight: 550 }}>
        <svg width="8" height="8" aria-hidden>
          <circle cx="4" cy="4" r="4" fill={color} />
        </svg>
        {t(`health.${state}`)}
      </div>
      <div className="faint tiny" style={{ marginLeft: 15 }}>
        {t(state === 'noMail' ? 'health.mailWaits' : 'health.parts')}
      </div>
    </div>
  )
}

function Account({ onHelp }: { onHelp: () => void }) {
  const { t } = useTranslation()
  const { username, role } = useSession()
  return (
    <div className="row" style={{ paddingTop: 10, borderTop: '1px solid var(--line)' }}>
      <button type="button" popoverTarget="account" className="account">
        <span className="initials" aria-hidden>
          {username.slice(0, 2)}
        </span>
        <span className="grow" style={{ lineHeight: 1.25 }}>
          <span className="ellipsis small" style={{ display: 'block', fontWeight: 550 }}>
            {username}
          </span>
          <span className="faint tiny">{t(`roles.${role}`)}</span>
        </span>
      </button>
      <div id="account" popover="auto" className="popover-menu">
        <button
          type="button"
          onClick={(event) => {
            closePopover(event)
            onHelp()
          }}
        >
          <IconKeyboard size={17} aria-hidden />
          {t('keys.title')}
        </button>
        <SchemeButton />
        <SignOutButton />
      </div>
    </div>
  )
}

function SchemeButton() {
  const { t } = useTranslation()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <button type="button" onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
      {isDark ? <IconSun size={17} aria-hidden /> : <IconMoon size={17} aria-hidden />}
      {t(isDark ? 'account.useLight' : 'account.useDark')}
    </button>
  )
}

function useSignOut() {
  const { userId } = useSession()
  const navigate = useNavigate()
  return () =>
    leaveThen(() => {
      forgetRecent(userId)
      chooseTimeZone(undefined)
      // Actions that wait for their undo would be refused without a session.
      void runHeldActions()
        .then(signOut)
        .then(() => navigate({ to: '/sign-in' }))
    })
}

function SignOutButton() {
  const { t } = useTranslation()
  const leave = useSignOut()
  return (
    <button type="button" onClick={leave}>
      <IconLogout size={17} aria-hidden />
      {t('account.signOut')}
    </button>
  )
}

/** Closes a popover when the user follows a link in it. */
function closePopover({ currentTarget }: MouseEvent<HTMLElement>) {
  currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
}
