/* Tables without imports, which the console loads too. */

export const SCOPES = [
  'definitions:read',
  'definitions:write',
  'scheduling:read',
  'scheduling:write',
  'mail:read',
  'mail:write',
  'reports:print',
  'admin',
] as const

export type KeyScope = (typeof SCOPES)[number]

export const ROLES = [
  'OWNER',
  'ADMINISTRATOR',
  'LOCATION_SUPER_USER',
  'USER',
  'REPORTS_ONLY',
] as const

export type Role = (typeof ROLES)[number]
