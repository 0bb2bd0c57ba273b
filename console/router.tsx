import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { nextMessagesQuery } from './api/messages.ts'
import { overviewQuery } from './api/overview.ts'
import { queryClient } from './api/query-client.ts'
import { findSession, sessionQuery, type Session } from './api/session.ts'
import type { AuditSearch } from './audit/search.ts'
import { lazyPage } from './components/lazy-page.tsx'
import type { ActivitySearch } from './messages/filters.ts'
import type { EditorSearch } from './automations/editor-state.ts'
import type { CalendarSearch } from './pages/calendar.tsx'
import type { ClientsSearch } from './pages/clients.tsx'
import { PageFailed } from './pages/page-failed.tsx'
import { PageMissing } from './pages/page-missing.tsx'
import type { SuppressionsSearch } from './pages/settings-suppressions.tsx'
import type { ReportSearch } from './reports/search.ts'
import { NAVIGATION } from './shell/navigation.ts'
import { Shell } from './shell/shell.tsx'
import { loadPageTexts } from './texts/texts.ts'

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: PageMissing,
  // The texts of the sign-in are part of the first load.
  beforeLoad: ({ location }) => (location.pathname === '/sign-in' ? undefined : loadPageTexts()),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  component: lazyPage(() => import('./pages/start.tsx'), 'StartPage'),
})

const passwordForgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-forgotten',
  component: lazyPage(() => import('./pages/password-forgotten.tsx'), 'PasswordForgottenPage'),
})

const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  component: lazyPage(() => import('./pages/set-password.tsx'), 'SetPasswordPage'),
})

/** All pages with navigation; without a session they redirect to the sign-in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = await findSession()
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } })
  },
})

const today = createRoute({
  getParentRoute: () => shell,
  path: '/',
  // A role without access to Today starts on its first page.
  beforeLoad: async () => {
    const first = firstPageOf(await findSession())
    if (first && first.path !== '/') throw redirect({ to: first.path, replace: true })
  },
  loader: prefetchToday,
  component: lazyPage(() => import('./pages/today.tsx'), 'TodayPage'),
})

const firstPageOf = (session: Session | null | undefined) =>
  NAVIGATION.find(({ needs }) => session?.functions.includes(needs))

function prefetchToday() {
  void queryClient.prefetchQuery(overviewQuery())
  void queryClient.prefetchQuery(nextMessagesQuery)
}

const automations = createRoute({
  getParentRoute: () => shell,
  path: '/automations',
  component: lazyPage(() => import('./pages/automations.tsx'), 'AutomationsPage'),
})

const newAutomation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/new',
  component: lazyPage(() => import('./pages/automation-editor.tsx'), 'NewAutomationPage'),
})

const automation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/$eventDefnId',
  validateSearch: (search): EditorSearch => (search.on ? { on: true } : {}),
  component: lazyPage(() => import('./pages/automation-editor.tsx'), 'AutomationPage'),
})

const templates = createRoute({
  getParentRoute: () => shell,
  path: '/templates',
  component: lazyPage(() => import('./pages/templates.tsx'), 'TemplatesPage'),
})

const template = createRoute({
  getParentRoute: () => shell,
  path: '/templates/$emailTemplateId',
  component: lazyPage(() => import('./pages/template.tsx'), 'TemplatePage'),
})

const activity = createRoute({
  getParentRoute: () => shell,
  path: '/activity',
  validateSearch: (search) => search as ActivitySearch,
  component: lazyPage(() => import('./pages/activity.tsx'), 'ActivityPage'),
})

const message = createRoute({
  getParentRoute: () => shell,
  path: '/activity/$eventTriggerId',
  params: {
    parse: ({ eventTriggerId }) => ({ eventTriggerId: Number(eventTriggerId) }),
    stringify: ({ eventTriggerId }) => ({ eventTriggerId: String(eventTriggerId) }),
  },
  validateSearch: (search) => search as ActivitySearch,
  component: lazyPage(() => import('./pages/message.tsx'), 'MessagePage'),
})

const calendar = createRoute({
  getParentRoute: () => shell,
  path: '/calendar',
  validateSearch: (search) => search as CalendarSearch,
  component: lazyPage(() => import('./pages/calendar.tsx'), 'CalendarPage'),
})

const clients = createRoute({
  getParentRoute: () => shell,
  path: '/clients',
  validateSearch: (search) => search as ClientsSearch,
  component: lazyPage(() => import('./pages/clients.tsx'), 'ClientsPage'),
})

const client = createRoute({
  getParentRoute: () => shell,
  path: '/clients/$clientId',
  component: lazyPage(() => import('./pages/client.tsx'), 'ClientPage'),
})

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  component: lazyPage(() => import('./pages/reports.tsx'), 'ReportsPage'),
})

const report = createRoute({
  getParentRoute: () => shell,
  path: '/reports/$reportId',
  params: {
    parse: ({ reportId }) => ({ reportId: Number(reportId) }),
    stringify: ({ reportId }) => ({ reportId: String(reportId) }),
  },
  validateSearch: (search) => search as ReportSearch,
  component: lazyPage(() => import('./pages/report.tsx'), 'ReportPage'),
})

const imports = createRoute({
  getParentRoute: () => shell,
  path: '/import',
  component: lazyPage(() => import('./pages/import.tsx'), 'ImportPage'),
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyPage(() => import('./pages/settings.tsx'), 'SettingsPage'),
})

const settingsIndex = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/business', replace: true })
  },
})

const settingsBusiness = createRoute({
  getParentRoute: () => settings,
  path: '/business',
  component: lazyPage(() => import('./pages/settings-business.tsx'), 'SettingsBusinessPage'),
})

const settingsLocations = createRoute({
  getParentRoute: () => settings,
  path: '/locations',
  component: lazyPage(() => import('./pages/settings-locations.tsx'), 'SettingsLocationsPage'),
})

const settingsStaff = createRoute({
  getParentRoute: () => settings,
  path: '/staff',
  component: lazyPage(() => import('./pages/settings-staff.tsx'), 'SettingsStaffPage'),
})

const settingsServices = createRoute({
  getParentRoute: () => settings,
  path: '/services',
  component: lazyPage(() => import('./pages/settings-services.tsx'), 'SettingsServicesPage'),
})

const settingsStatuses = createRoute({
  getParentRoute: () => settings,
  path: '/statuses',
  component: lazyPage(() => import('./pages/settings-statuses.tsx'), 'SettingsStatusesPage'),
})

const settingsPeople = createRoute({
  getParentRoute: () => settings,
  path: '/people',
  component: lazyPage(() => import('./pages/settings-people.tsx'), 'SettingsPeoplePage'),
})

const settingsKeys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyPage(() => import('./pages/settings-keys.tsx'), 'SettingsKeysPage'),
})

const settingsMail = createRoute({
  getParentRoute: () => settings,
  path: '/mail',
  component: lazyPage(() => import('./pages/settings-mail.tsx'), 'SettingsMailPage'),
})

const settingsSuppressions = createRoute({
  getParentRoute: () => settings,
  path: '/suppressions',
  validateSearch: (search) => search as SuppressionsSearch,
  component: lazyPage(
    () => import('./pages/settings-suppressions.tsx'),
    'SettingsSuppressionsPage',
  ),
})

const settingsAudit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: (search) => search as AuditSearch,
  component: lazyPage(() => import('./pages/settings-audit.tsx'), 'SettingsAuditPage'),
})

const settingsAccount = createRoute({
  getParentRoute: () => settings,
  path: '/account',
  component: lazyPage(() => import('./pages/settings-account.tsx'), 'SettingsAccountPage'),
})

/** An unknown address, with the navigation. */
const missing = createRoute({
  getParentRoute: () => shell,
  path: '$',
  component: PageMissing,
})

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    start,
    passwordForgotten,
    setPassword,
    shell.addChildren([
      today,
      calendar,
      clients,
      client,
      automations,
      newAutomation,
      automation,
      templates,
      template,
      activity,
      message,
      reports,
      report,
      imports,
      settings.addChildren([
        settingsIndex,
        settingsBusiness,
        settingsLocations,
        settingsStaff,
        settingsServices,
        settingsStatuses,
        settingsPeople,
        settingsKeys,
        settingsMail,
        settingsSuppressions,
        settingsAudit,
        settingsAccount,
      ]),
      missing,
    ]),
  ]),
  basepath: '/console',
  defaultErrorComponent: PageFailed,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

/** Loads the parts of the first page in parallel: the router loads them one after the other. */
export function preloadFirstPage() {
  const matched = new Set(router.matchRoutes(router.latestLocation).map((match) => match.routeId))
  // Also on pages without a session: the browser keeps the preloaded answer of index.html until a
  // request uses it, and that must not be a request after the sign-in.
  void queryClient.prefetchQuery(sessionQuery).then(() => {
    const first = firstPageOf(queryClient.getQueryData(sessionQuery.queryKey))
    if (matched.has(today.id) && first?.path === '/') prefetchToday()
  })
  if (matched.has(shell.id)) {
    // The router loads them as well, and shows a failure.
    loadPageTexts().catch(() => {})
  }
  for (const { id, options } of Object.values(router.routesById)) {
    if (matched.has(id)) void options.component?.preload?.()
  }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
