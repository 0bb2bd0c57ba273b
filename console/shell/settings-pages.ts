/** The pages of the settings in the order of their menu, each with the function that it needs. */
export const SETTINGS_PAGES = [
  { name: 'business', path: '/settings/business', needs: 'VIEW_BUSINESS', startsGroup: true },
  { name: 'locations', path: '/settings/locations', needs: 'EDIT_SETUP' },
  { name: 'staff', path: '/settings/staff', needs: 'EDIT_SETUP' },
  { name: 'services', path: '/settings/services', needs: 'EDIT_SETUP' },
  { name: 'statuses', path: '/settings/statuses', needs: 'EDIT_SETUP' },
  { name: 'campaigns', path: '/campaigns', needs: 'EDIT_SETUP' },
  { name: 'forms', path: '/forms', needs: 'EDIT_SETUP' },
  { name: 'people', path: '/settings/people', needs: 'MANAGE_USERS', startsGroup: true },
  { name: 'keys', path: '/settings/keys', needs: 'MANAGE_KEYS' },
  { name: 'mail', path: '/settings/mail', needs: 'MANAGE_BUSINESS' },
  { name: 'suppressions', path: '/settings/suppressions', needs: 'VIEW_EMAILS' },
  { name: 'audit', path: '/settings/audit', needs: 'VIEW_AUDIT', startsGroup: true },
  { name: 'import', path: '/import', needs: 'EDIT_SCHEDULE' },
  { name: 'feeds', path: '/settings/feeds', needs: 'MANAGE_BUSINESS' },
  { name: 'export', path: '/settings/export', needs: 'MANAGE_BUSINESS' },
  { name: 'account', path: '/settings/account', needs: 'VIEW_BUSINESS', startsGroup: true },
] as const
