import {
  IconActivity,
  IconBolt,
  IconCalendar,
  IconChartBar,
  IconHome2,
  IconMailForward,
  IconRepeat,
  IconSchool,
  IconSettings,
  IconSignature,
  IconTemplate,
  IconUsers,
} from '../components/icons.tsx'

/** A page of the console. Users see the pages that their role has the function for. */
export type NavigationItem = {
  name:
    | 'today'
    | 'calendar'
    | 'clients'
    | 'classes'
    | 'recalls'
    | 'campaigns'
    | 'forms'
    | 'automations'
    | 'templates'
    | 'activity'
    | 'reports'
    | 'settings'
  path: string
  icon: typeof IconHome2
  /** `G` and then this letter goes there. */
  key: string
  needs: string
  /** Adds space before it in the navigation. */
  startsGroup?: boolean
}

/** All pages in the order of the navigation. */
export const NAVIGATION: NavigationItem[] = [
  { name: 'today', path: '/', icon: IconHome2, key: 't', needs: 'VIEW_SCHEDULE' },
  { name: 'calendar', path: '/calendar', icon: IconCalendar, key: 'c', needs: 'VIEW_SCHEDULE' },
  { name: 'clients', path: '/clients', icon: IconUsers, key: 'l', needs: 'VIEW_SCHEDULE' },
  { name: 'classes', path: '/classes', icon: IconSchool, key: 'k', needs: 'VIEW_SCHEDULE' },
  { name: 'recalls', path: '/recalls', icon: IconRepeat, key: 'd', needs: 'VIEW_SCHEDULE' },
  {
    name: 'campaigns',
    path: '/campaigns',
    icon: IconMailForward,
    key: 'i',
    needs: 'VIEW_SCHEDULE',
  },
  { name: 'forms', path: '/forms', icon: IconSignature, key: 'f', needs: 'VIEW_SCHEDULE' },
  {
    name: 'automations',
    path: '/automations',
    icon: IconBolt,
    key: 'a',
    needs: 'VIEW_DEFINITIONS',
    startsGroup: true,
  },
  { name: 'templates', path: '/templates', icon: IconTemplate, key: 'm', needs: 'VIEW_EMAILS' },
  { name: 'activity', path: '/activity', icon: IconActivity, key: 'v', needs: 'VIEW_EMAILS' },
  {
    name: 'reports',
    path: '/reports',
    icon: IconChartBar,
    key: 'r',
    needs: 'PRINT_REPORTS',
    startsGroup: true,
  },
  { name: 'settings', path: '/settings', icon: IconSettings, key: 's', needs: 'VIEW_BUSINESS' },
]
