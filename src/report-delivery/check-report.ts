import { SECURITY_FUNCTIONS } from '../auth/permissions.ts'
import type { Db } from '../database/database.ts'
import { invalid, RequestError, type Fault } from '../errors.ts'
import { checkPrintRequest } from '../reports/print-request.ts'

type StoredReport = {
  reportId: number
  filters: unknown
  groupBy: unknown
  locationId: number | null
}

/**
 * The faults of report, filters and location, regardless of who will see the report. The range is not
 * checked: printing adds it.
 */
export async function findReportFaults(
  db: Db,
  businessId: number,
  { reportId, filters, groupBy, locationId }: StoredReport,
  now: Temporal.Instant,
): Promise<Fault[]> {
  const reader = {
    businessId,
    functions: new Set<string>(SECURITY_FUNCTIONS),
    locationIds: null,
    professionalIds: null,
  }
  const today = now.toZonedDateTimeISO('UTC').toPlainDate().toString()
  const request = { reportId, filters, groupBy, locationId, startDate: today, endDate: today }
  try {
    await checkPrintRequest(db, request, reader, now)
    return []
  } catch (error) {
    if (!(error instanceof RequestError) || !error.errors) throw error
    return error.errors.map(({ pointer, detail }) => ({
      pointer: pointer.replace(/^\?/, '/'),
      detail,
    }))
  }
}

/** Throws `own` faults, and those of `more` at other places. */
export function throwFaults(own: Fault[], more: Fault[]) {
  const places = new Set(own.map(({ pointer }) => pointer))
  const faults = [...own, ...more.filter(({ pointer }) => !places.has(pointer))]
  if (faults.length > 0) throw invalid(faults)
}
