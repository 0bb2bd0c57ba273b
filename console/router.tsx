import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import type { ActivitySearch } from './messages/filters.ts'
import type { EditorSearch } from './pages/automation-editor.tsx'
import type { CalendarSearch } from './pages/calendar.tsx'
import type { ClientsSearch } from './pages/clients.tsx'
import { PageMissing } from './pages/page-missing.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: PageMissing })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

/** Every page around which the navigation stands; without a session it leads to the sign-in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery)
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } as never })
  },
})

const today = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/today.tsx'), 'TodayPage'),
})

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

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      today,
      calendar,
      clients,
      client,
      automations,
      newAutomation,
      automation,
      activity,
      message,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
