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
import { readAuditSearch } from './audit/search.ts'
import { readCalendarSearch } from './calendar/search.ts'
import { lazyPage } from './components/lazy-page.tsx'
import { day, flag, id, oneOf, readSearch, text } from './components/search.ts'
import { readActivitySearch } from './messages/search.ts'
import { PageFailed } from './pages/page-failed.tsx'
import { PageMissing } from './pages/page-missing.tsx'
import { STEPS } from './feeds/steps.tsx'
import { readReportSearch } from './reports/search.ts'
import { NAVIGATION } from './shell/navigation.ts'
import { needs } from './shell/needs.ts'
import { Shell } from './shell/shell.tsx'
import { chooseLanguage, loadPageTexts, useLanguage } from './texts/texts.ts'

/** An id in the path. */
function numberParam<Name extends string>(name: Name) {
  type Params<Value> = Record<Name, Value>
  return {
    parse: (params: Params<string>) => ({ [name]: Number(params[name]) }) as Params<number>,
    stringify: (params: Params<number>) => ({ [name]: String(params[name]) }) as Params<string>,
  }
}

const root = createRootRoute({
  component: Root,
  notFoundComponent: PageMissing,
  // The texts of the sign-in are part of the first load.
  beforeLoad: ({ location }) => (location.pathname === '/sign-in' ? undefined : loadPageTexts()),
})

/** Everything is drawn again in another language. */
function Root() {
  return <Outlet key={useLanguage()} />
}

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

const operator = createRoute({
  getParentRoute: () => root,
  path: '/operator',
  component: lazyPage(() => import('./pages/operator.tsx'), 'OperatorPage'),
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
    if (session.language) await chooseLanguage(session.language)
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
  beforeLoad: needs('VIEW_DEFINITIONS'),
  component: lazyPage(() => import('./pages/automations.tsx'), 'AutomationsPage'),
})

const newAutomation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/new',
  beforeLoad: needs('EDIT_DEFINITIONS'),
  component: lazyPage(() => import('./pages/automation-editor.tsx'), 'NewAutomationPage'),
})

const automation = createRoute({
  getParentRoute: () => shell,
  path: '/automations/$eventDefnId',
  beforeLoad: needs('VIEW_DEFINITIONS'),
  validateSearch: readSearch({ on: flag }),
  component: lazyPage(() => import('./pages/automation-editor.tsx'), 'AutomationPage'),
})

const templates = createRoute({
  getParentRoute: () => shell,
  path: '/templates',
  beforeLoad: needs('VIEW_EMAILS'),
  component: lazyPage(() => import('./pages/templates.tsx'), 'TemplatesPage'),
})

const template = createRoute({
  getParentRoute: () => shell,
  path: '/templates/$emailTemplateId',
  beforeLoad: needs('VIEW_EMAILS'),
  component: lazyPage(() => import('./pages/template.tsx'), 'TemplatePage'),
})

const activity = createRoute({
  getParentRoute: () => shell,
  path: '/activity',
  beforeLoad: needs('VIEW_EMAILS'),
  validateSearch: readActivitySearch,
  component: lazyPage(() => import('./pages/activity.tsx'), 'ActivityPage'),
})

const inbox = createRoute({
  getParentRoute: () => shell,
  path: '/inbox',
  beforeLoad: needs('VIEW_EMAILS'),
  validateSearch: readSearch({ mail: id }),
  component: lazyPage(() => import('./pages/inbox.tsx'), 'InboxPage'),
})

const message = createRoute({
  getParentRoute: () => shell,
  path: '/activity/$eventTriggerId',
  beforeLoad: needs('VIEW_EMAILS'),
  params: numberParam('eventTriggerId'),
  validateSearch: readActivitySearch,
  component: lazyPage(() => import('./pages/message.tsx'), 'MessagePage'),
})

const calendar = createRoute({
  getParentRoute: () => shell,
  path: '/calendar',
  beforeLoad: needs('VIEW_SCHEDULE'),
  validateSearch: readCalendarSearch,
  component: lazyPage(() => import('./pages/calendar.tsx'), 'CalendarPage'),
})

const clients = createRoute({
  getParentRoute: () => shell,
  path: '/clients',
  beforeLoad: needs('VIEW_SCHEDULE'),
  validateSearch: readSearch({ text }),
  component: lazyPage(() => import('./pages/clients.tsx'), 'ClientsPage'),
})

const client = createRoute({
  getParentRoute: () => shell,
  path: '/clients/$clientId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  component: lazyPage(() => import('./pages/client.tsx'), 'ClientPage'),
})

const classes = createRoute({
  getParentRoute: () => shell,
  path: '/classes',
  beforeLoad: needs('VIEW_SCHEDULE'),
  validateSearch: readSearch({ day }),
  component: lazyPage(() => import('./pages/classes.tsx'), 'ClassesPage'),
})

const oneClass = createRoute({
  getParentRoute: () => shell,
  path: '/classes/$classScheduleId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  params: numberParam('classScheduleId'),
  component: lazyPage(() => import('./pages/classes.tsx'), 'ClassPage'),
})

const recalls = createRoute({
  getParentRoute: () => shell,
  path: '/recalls',
  beforeLoad: needs('VIEW_SCHEDULE'),
  component: lazyPage(() => import('./pages/recalls.tsx'), 'RecallsPage'),
})

const recall = createRoute({
  getParentRoute: () => shell,
  path: '/recalls/$recallId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  params: numberParam('recallId'),
  component: lazyPage(() => import('./pages/recalls.tsx'), 'RecallPage'),
})

const campaigns = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns',
  beforeLoad: needs('VIEW_SCHEDULE'),
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'CampaignsPage'),
})

const campaign = createRoute({
  getParentRoute: () => shell,
  path: '/campaigns/$invitationCampaignId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  params: numberParam('invitationCampaignId'),
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'CampaignPage'),
})

const invitation = createRoute({
  getParentRoute: () => shell,
  path: '/invitations/$invitationUUID',
  beforeLoad: needs('VIEW_SCHEDULE'),
  component: lazyPage(() => import('./pages/campaigns.tsx'), 'InvitationPage'),
})

const forms = createRoute({
  getParentRoute: () => shell,
  path: '/forms',
  beforeLoad: needs('VIEW_SCHEDULE'),
  component: lazyPage(() => import('./pages/forms.tsx'), 'FormsPage'),
})

const form = createRoute({
  getParentRoute: () => shell,
  path: '/forms/$disclaimerFormId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  params: numberParam('disclaimerFormId'),
  component: lazyPage(() => import('./pages/forms.tsx'), 'FormPage'),
})

const disclaimer = createRoute({
  getParentRoute: () => shell,
  path: '/disclaimers/$disclaimerId',
  beforeLoad: needs('VIEW_SCHEDULE'),
  params: numberParam('disclaimerId'),
  component: lazyPage(() => import('./pages/forms.tsx'), 'DisclaimerPage'),
})

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  beforeLoad: needs('PRINT_REPORTS'),
  component: lazyPage(() => import('./pages/reports.tsx'), 'ReportsPage'),
})

const report = createRoute({
  getParentRoute: () => shell,
  path: '/reports/$reportId',
  beforeLoad: needs('PRINT_REPORTS'),
  params: numberParam('reportId'),
  validateSearch: readReportSearch,
  component: lazyPage(() => import('./pages/report.tsx'), 'ReportPage'),
})

const imports = createRoute({
  getParentRoute: () => shell,
  path: '/import',
  beforeLoad: needs('EDIT_SCHEDULE'),
  component: lazyPage(() => import('./pages/import.tsx'), 'ImportPage'),
})

const restored = createRoute({
  getParentRoute: () => shell,
  path: '/restored',
  component: lazyPage(() => import('./pages/restored.tsx'), 'RestoredPage'),
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

const settingsTags = createRoute({
  getParentRoute: () => settings,
  path: '/tags',
  beforeLoad: needs('EDIT_SETUP'),
  component: lazyPage(() => import('./pages/settings-tags.tsx'), 'SettingsTagsPage'),
})

const settingsPeople = createRoute({
  getParentRoute: () => settings,
  path: '/people',
  beforeLoad: needs('MANAGE_USERS'),
  component: lazyPage(() => import('./pages/settings-people.tsx'), 'SettingsPeoplePage'),
})

const settingsKeys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  beforeLoad: needs('MANAGE_KEYS'),
  component: lazyPage(() => import('./pages/settings-keys.tsx'), 'SettingsKeysPage'),
})

const settingsMail = createRoute({
  getParentRoute: () => settings,
  path: '/mail',
  beforeLoad: needs('MANAGE_BUSINESS'),
  component: lazyPage(() => import('./pages/settings-mail.tsx'), 'SettingsMailPage'),
})

const settingsSuppressions = createRoute({
  getParentRoute: () => settings,
  path: '/suppressions',
  beforeLoad: needs('VIEW_EMAILS'),
  validateSearch: readSearch({ address: text }),
  component: lazyPage(
    () => import('./pages/settings-suppressions.tsx'),
    'SettingsSuppressionsPage',
  ),
})

const settingsAudit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  beforeLoad: needs('VIEW_AUDIT'),
  validateSearch: readAuditSearch,
  component: lazyPage(() => import('./pages/settings-audit.tsx'), 'SettingsAuditPage'),
})

const settingsFeeds = createRoute({
  getParentRoute: () => settings,
  path: '/feeds',
  beforeLoad: needs('MANAGE_BUSINESS'),
  component: lazyPage(() => import('./pages/settings-feeds.tsx'), 'SettingsFeedsPage'),
})

const settingsFeedConnect = createRoute({
  getParentRoute: () => settings,
  path: '/feeds/connect',
  beforeLoad: needs('MANAGE_BUSINESS'),
  component: lazyPage(() => import('./pages/settings-feed-connect.tsx'), 'SettingsFeedConnectPage'),
})

const settingsFeed = createRoute({
  getParentRoute: () => settings,
  path: '/feeds/$feedId',
  beforeLoad: needs('MANAGE_BUSINESS'),
  params: numberParam('feedId'),
  validateSearch: readSearch({ step: oneOf(STEPS) }),
  component: lazyPage(() => import('./pages/settings-feed.tsx'), 'SettingsFeedPage'),
})

const settingsExport = createRoute({
  getParentRoute: () => settings,
  path: '/export',
  beforeLoad: needs('MANAGE_BUSINESS'),
  component: lazyPage(() => import('./pages/settings-export.tsx'), 'SettingsExportPage'),
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
    operator,
    passwordForgotten,
    setPassword,
    shell.addChildren([
      today,
      calendar,
      clients,
      client,
      classes,
      oneClass,
      recalls,
      recall,
      campaigns,
      campaign,
      invitation,
      forms,
      form,
      disclaimer,
      automations,
      newAutomation,
      automation,
      templates,
      template,
      activity,
      message,
      inbox,
      reports,
      report,
      imports,
      restored,
      settings.addChildren([
        settingsIndex,
        settingsBusiness,
        settingsLocations,
        settingsStaff,
        settingsServices,
        settingsStatuses,
        settingsTags,
        settingsPeople,
        settingsKeys,
        settingsMail,
        settingsSuppressions,
        settingsAudit,
        settingsFeeds,
        settingsFeedConnect,
        settingsFeed,
        settingsExport,
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
