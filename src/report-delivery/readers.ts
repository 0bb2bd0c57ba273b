import type { CallerScope } from '../auth/caller.ts'
import { scopeOf } from '../auth/credentials.ts'
import { FUNCTIONS_OF_ROLE } from '../auth/permissions.ts'
import type { Reader } from '../reports/print-request.ts'
import type { UserRow } from '../store/users.ts'

type Reading = { businessId: number; functions: ReadonlySet<string>; scope: CallerScope }

/** A LOCATION_SUPER_USER sees the own locations, a USER the own appointments. */
export function readerOf({ businessId, functions, scope }: Reading): Reader {
  const locationIds = scope && 'locationIds' in scope ? scope.locationIds : null
  const professionalIds =
    scope && 'professionalId' in scope
      ? scope.professionalId === null
        ? []
        : [scope.professionalId]
      : null
  return { businessId, functions, locationIds, professionalIds }
}

/** What a person sees in reports, signed in or not. */
export const readerOfUser = (user: UserRow) =>
  readerOf({
    businessId: user.businessId,
    functions: new Set(FUNCTIONS_OF_ROLE[user.role]),
    scope: scopeOf(user),
  })

/** People with the same key see the same in every report. */
export function readerKeyOf(user: UserRow) {
  const { functions, locationIds, professionalIds } = readerOfUser(user)
  const sorted = locationIds?.toSorted((a, b) => a - b) ?? null
  return JSON.stringify([[...functions].toSorted(), sorted, professionalIds])
}

/** Why a person cannot get reports by mail; undefined if they can. */
export function unreachableReason({ active, emailAddress }: UserRow) {
  if (!active) return 'is not active'
  return emailAddress === null ? 'has no email address' : undefined
}
