import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { nextMessagesQuery } from './api/messages.ts'
import { overviewQuery } from './api/overview.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery, type Session } from './api/session.ts'
import type { ActivitySearch } from './messages/filters.ts'
import type { EditorSearch } from './pages/automation-editor.tsx'
import type { CalendarSearch } from './pages/calendar.tsx'
import type { ClientsSearch } from './pages/clients.tsx'
import { PageFailed } from './pages/page-failed.tsx'
import { PageMissing } from './pages/page-missing.tsx'
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
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  component: lazyRouteComponent(() => import('./pages/start.tsx'), 'StartPage'),
})

const passwordForgotten = createRoute({
  getParentRoute: () => root,
  path: '/password-forgotten',
  component: lazyRouteComponent(
    () => import('./pages/password-forgotten.tsx'),
    'PasswordForgottenPage',
  ),
})

const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  component: lazyRouteComponent(() => import('./pages/set-password.tsx'), 'SetPasswordPage'),
})

/** All pages with navigation; without a session they redirect to the sign-in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } })
  },
})

const today = createRoute({
  getParentRoute: () => shell,
  path: '/',
  // A role without access to Today starts on its first page.
  beforeLoad: async () => {
    const session = await queryClient.ensureQueryData(sessionQuery)
    const first = firstPageOf(session)
    if (first && first.path !== '/') throw redirect({ to: first.path, replace: true })
  },
  loader: prefetchToday,
  component: lazyRouteComponent(() => import('./pages/today.tsx'), 'TodayPage'),
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
  component: lazyRouteComponent(() => import('./pages/automations.tsx'), 'AutomationsPage'),
})

const newAutomation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/new',
  component: lazyRouteComponent(() => import('./pages/automation-editor.tsx'), 'NewAutomationPage'),
})

const automation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/$eventDefnId',
  validateSearch: (search): EditorSearch => (search.on ? { on: true } : {}),
  component: lazyRouteComponent(() => import('./pages/automation-editor.tsx'), 'AutomationPage'),
})

const templates = createRoute({
  getParentRoute: () => shell,
  path: '/templates',
  component: lazyRouteComponent(() => import('./pages/templates.tsx'), 'TemplatesPage'),
})

const template = createRoute({
  getParentRoute: () => shell,
  path: '/templates/$emailTemplateId',
  component: lazyRouteComponent(() => import('./pages/template.tsx'), 'TemplatePage'),
})

const activity = createRoute({
  getParentRoute: () => shell,
  path: '/activity',
  validateSearch: (search) => search as ActivitySearch,
  component: lazyRouteComponent(() => import('./pages/activity.tsx'), 'ActivityPage'),
})

const message = createRoute({
  getParentRoute: () => shell,
  path: '/activity/$eventTriggerId',
  params: {
    parse: ({ eventTriggerId }) => ({ eventTriggerId: Number(eventTriggerId) }),
    stringify: ({ eventTriggerId }) => ({ eventTriggerId: String(eventTriggerId) }),
  },
  validateSearch: (search) => search as ActivitySearch,
  component: lazyRouteComponent(() => import('./pages/message.tsx'), 'MessagePage'),
})

const calendar = createRoute({
  getParentRoute: () => shell,
  path: '/calendar',
  validateSearch: (search) => search as CalendarSearch,
  component: lazyRouteComponent(() => import('./pages/calendar.tsx'), 'CalendarPage'),
})

const clients = createRoute({
  getParentRoute: () => shell,
  path: '/clients',
  validateSearch: (search) => search as ClientsSearch,
  component: lazyRouteComponent(() => import('./pages/clients.tsx'), 'ClientsPage'),
})

const client = createRoute({
  getParentRoute: () => shell,
  path: '/clients/$clientId',
  component: lazyRouteComponent(() => import('./pages/client.tsx'), 'ClientPage'),
})

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  component: lazyRouteComponent(() => import('./pages/reports.tsx'), 'ReportsPage'),
})

const report = createRoute({
  getParentRoute: () => shell,
  path: '/reports/$reportId',
  params: {
    parse: ({ reportId }) => ({ reportId: Number(reportId) }),
    stringify: ({ reportId }) => ({ reportId: String(reportId) }),
  },
  validateSearch: (search) => search as ReportSearch,
  component: lazyRouteComponent(() => import('./pages/report.tsx'), 'ReportPage'),
})

const imports = createRoute({
  getParentRoute: () => shell,
  path: '/import',
  component: lazyRouteComponent(() => import('./pages/import.tsx'), 'ImportPage'),
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings.tsx'), 'SettingsPage'),
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
  component: lazyRouteComponent(
    () => import('./pages/settings-business.tsx'),
    'SettingsBusinessPage',
  ),
})

const settingsPeople = createRoute({
  getParentRoute: () => settings,
  path: '/people',
  component: lazyRouteComponent(() => import('./pages/settings-people.tsx'), 'SettingsPeoplePage'),
})

const settingsKeys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/settings-keys.tsx'), 'SettingsKeysPage'),
})

const settingsAccount = createRoute({
  getParentRoute: () => settings,
  path: '/account',
  component: lazyRouteComponent(
    () => import('./pages/settings-account.tsx'),
    'SettingsAccountPage',
  ),
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
        settingsPeople,
        settingsKeys,
        settingsAccount,
      ]),
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
  if (matched.has(shell.id)) {
    void queryClient.prefetchQuery(sessionQuery).then(() => {
      const first = firstPageOf(queryClient.getQueryData(sessionQuery.queryKey))
      if (matched.has(today.id) && first?.path === '/') prefetchToday()
    })
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
