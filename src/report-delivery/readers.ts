import { visibilityOf } from '../auth/credentials.ts'
import { FUNCTIONS_OF_ROLE, functionsOfScopes } from '../auth/permissions.ts'
import type { Reader } from '../reports/print-request.ts'
import type { ReaderRights } from '../store/report-runs.ts'
import type { UserRow } from '../store/users.ts'
import type { Visibility } from '../store/visibility.ts'

type Reading = { businessId: number; functions: ReadonlySet<string>; visibility: Visibility }

/** A LOCATION_SUPER_USER sees their own locations, a USER their own appointments. */
export function readerOf({ businessId, functions, visibility }: Reading): Reader {
  const locationIds = visibility && 'locationIds' in visibility ? visibility.locationIds : null
  const professionalIds =
    visibility && 'professionalId' in visibility
      ? visibility.professionalId === null
        ? []
        : [visibility.professionalId]
      : null
  return { businessId, functions, locationIds, professionalIds }
}

type UserRights = Pick<UserRow, 'businessId' | 'role' | 'locationIdList' | 'professionalId'>

/** The visibility of a person, signed in or not. */
export const readerOfUser = (user: UserRights) =>
  readerOf({
    businessId: user.businessId,
    functions: new Set(FUNCTIONS_OF_ROLE[user.role]),
    visibility: visibilityOf(user),
  })

/** The functions that reports require. */
const REPORT_FUNCTIONS = [...functionsOfScopes(['reports:print'])]

export const rightsOf = ({ functions, locationIds, professionalIds }: Reader): ReaderRights => ({
  functions: REPORT_FUNCTIONS.filter((name) => functions.has(name)),
  locationIds: locationIds?.toSorted((a, b) => a - b) ?? null,
  professionalIds,
})

/** People with the same key see the same in every report. */
export const readerKeyOf = (user: UserRow) => JSON.stringify(rightsOf(readerOfUser(user)))

/** Whether a reader has all the rights that a file was printed with. */
export function mayReadFile(reader: Reader, printedWith: ReaderRights | null) {
  if (!printedWith) return false
  const now = rightsOf(reader)
  return (
    printedWith.functions.every((name) => now.functions.includes(name)) &&
    includesAll(now.locationIds, printedWith.locationIds) &&
    includesAll(now.professionalIds, printedWith.professionalIds)
  )
}

/** Null: all ids. */
const includesAll = (ids: number[] | null, wanted: number[] | null) =>
  ids === null || (wanted !== null && wanted.every((id) => ids.includes(id)))

/** Why a person cannot get reports by mail; undefined if they can. */
export function unreachableReason({
  active,
  emailAddress,
}: Pick<UserRow, 'active' | 'emailAddress'>) {
  if (!active) return 'is not active'
  return emailAddress === null ? 'has no email address' : undefined
}
