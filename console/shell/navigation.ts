import {
  IconActivity,
  IconBolt,
  IconCalendar,
  IconChartBar,
  IconHome2,
  IconSettings,
  IconTemplate,
  IconUsers,
} from '@tabler/icons-react'

/** A page of the console. Users see the pages that their role has the function for. */
export type NavigationItem = {
  name:
    | 'today'
    | 'calendar'
    | 'clients'
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
