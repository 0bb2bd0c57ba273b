import type { Role, KeyScope } from '../contract/roles.ts'

/**
 * Permissions. A key has scopes, a person has a role; both map to security functions, which routes and
 * reports check. docs/roles.md shows the tables.
 */

/** All security functions, each with the scope that gives it to a key. */
const SCOPE_OF_FUNCTION = {
  VIEW_BUSINESS: 'scheduling:read',
  VIEW_DEFINITIONS: 'definitions:read',
  EDIT_DEFINITIONS: 'definitions:write',
  VIEW_SCHEDULE: 'scheduling:read',
  EDIT_SCHEDULE: 'scheduling:write',
  EDIT_SETUP: 'scheduling:write',
  VIEW_EMAILS: 'mail:read',
  SEND_EMAILS: 'mail:write',
  EDIT_TEMPLATES: 'mail:write',
  EDIT_SUPPRESSIONS: 'mail:write',
  PRINT_REPORTS: 'reports:print',
  VIEW_CLIENT_REPORTS: 'reports:print',
  VIEW_STAFF_REPORTS: 'reports:print',
  VIEW_REVENUE_REPORTS: 'reports:print',
  VIEW_EMAIL_REPORTS: 'reports:print',
  SCHEDULE_REPORTS: 'admin',
  EDIT_BUSINESS: 'admin',
  MANAGE_BUSINESS: 'admin',
  MANAGE_USERS: 'admin',
  MANAGE_KEYS: 'admin',
  VIEW_AUDIT: 'admin',
} as const satisfies Record<string, KeyScope>

export type SecurityFunction = keyof typeof SCOPE_OF_FUNCTION

export const SECURITY_FUNCTIONS = Object.keys(SCOPE_OF_FUNCTION) as SecurityFunction[]

/** The function that a person needs for a route that names only a scope. */
export const FUNCTION_OF_SCOPE: Record<KeyScope, SecurityFunction> = {
  'definitions:read': 'VIEW_DEFINITIONS',
  'definitions:write': 'EDIT_DEFINITIONS',
  'scheduling:read': 'VIEW_SCHEDULE',
  'scheduling:write': 'EDIT_SCHEDULE',
  'mail:read': 'VIEW_EMAILS',
  'mail:write': 'SEND_EMAILS',
  'reports:print': 'PRINT_REPORTS',
  admin: 'MANAGE_BUSINESS',
}

/** In addition, only an OWNER can create and change owners and keys of the business: see docs/roles.md. */
export const FUNCTIONS_OF_ROLE: Record<Role, readonly SecurityFunction[]> = {
  OWNER: SECURITY_FUNCTIONS,
  ADMINISTRATOR: SECURITY_FUNCTIONS.filter((name) => name !== 'EDIT_BUSINESS'),
  LOCATION_SUPER_USER: [
    'VIEW_BUSINESS',
    'VIEW_DEFINITIONS',
    'VIEW_SCHEDULE',
    'EDIT_SCHEDULE',
    'VIEW_EMAILS',
    'SEND_EMAILS',
    'PRINT_REPORTS',
    'VIEW_CLIENT_REPORTS',
    'VIEW_STAFF_REPORTS',
    'VIEW_REVENUE_REPORTS',
    'VIEW_EMAIL_REPORTS',
  ],
  USER: ['VIEW_BUSINESS', 'VIEW_SCHEDULE', 'EDIT_SCHEDULE', 'VIEW_EMAILS', 'PRINT_REPORTS'],
  REPORTS_ONLY: [
    'VIEW_BUSINESS',
    'PRINT_REPORTS',
    'VIEW_CLIENT_REPORTS',
    'VIEW_STAFF_REPORTS',
    'VIEW_REVENUE_REPORTS',
    'VIEW_EMAIL_REPORTS',
  ],
}

type Rights = { functions: ReadonlySet<SecurityFunction>; keyScopes: readonly KeyScope[] }

/** Why the caller may not do what needs this function; undefined if it may. */
export function lackOf({ functions, keyScopes }: Rights, needed: SecurityFunction) {
  if (functions.has(needed)) return undefined
  const scope = SCOPE_OF_FUNCTION[needed]
  return keyScopes.includes(scope) ? lackOfFunction(needed) : lackOfScope(scope)
}

export const lackOfScope = (scope: KeyScope) => `The key lacks the scope ${scope}.`
export const lackOfFunction = (needed: SecurityFunction) =>
  `Your role lacks the function ${needed}.`

/** A key of a person can do no more than the role of the person. */
export function functionsOfKey({ scopes, maker }: KeyRights): ReadonlySet<SecurityFunction> {
  const functions = functionsOfScopes(scopes)
  return maker ? functions.intersection(new Set(FUNCTIONS_OF_ROLE[maker.role])) : functions
}

type KeyRights = { scopes: readonly KeyScope[]; maker: { role: Role } | null }

export function functionsOfScopes(scopes: readonly KeyScope[]): ReadonlySet<SecurityFunction> {
  return new Set(SECURITY_FUNCTIONS.filter((name) => scopes.includes(SCOPE_OF_FUNCTION[name])))
}
