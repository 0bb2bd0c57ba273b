import { SECURITY_FUNCTIONS } from '../auth/permissions.ts'
import { isPlainObject } from '../contract/json.ts'
import { readFields, type Fields } from '../contract/read-fields.ts'
import { unknownProperties } from '../contract/unknown-properties.ts'
import type { Db } from '../database/database.ts'
import { invalid, RequestError, type Fault } from '../errors.ts'
import { checkPrintRequest } from '../reports/print-request.ts'
import type { TSchema } from 'typebox'

type Body<T> = { fields: Fields; schema: TSchema; body: unknown; current: T | undefined }

/** Reads the body of a schedule or a view. The caller adds its own faults before it throws them. */
export function readBody<T extends object>(
  { fields, schema, body, current }: Body<T>,
  businessId: number,
) {
  const { values, faults } = readFields<T>(fields, body, current)
  faults.push(...unknownProperties(schema, body))
  const named: unknown = isPlainObject(body) ? body.businessId : undefined
  if (named !== undefined && named !== null && named !== businessId) {
    faults.push({ pointer: '/businessId', detail: 'must be your own business' })
  }
  return { values, faults }
}

/** The id of the object that a body updates; undefined if it creates one. */
export function readId(body: unknown, name: string): number | undefined {
  const id: unknown = isPlainObject(body) ? body[name] : undefined
  if (id === undefined || id === null) return undefined
  if (Number.isSafeInteger(id) && Number(id) > 0) return Number(id)
  throw invalid([{ pointer: `/${name}`, detail: 'must be an id' }])
}

type StoredReport = {
  reportId: number
  filters: unknown
  groupBy: unknown
  locationId: number | null
}

/**
 * The faults of report, filters and location, regardless of who will see the report. Only the range
 * is left out, which printing adds.
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

/** Throws all faults, of each place the first ones only. */
export function throwFaults(own: Fault[], more: Fault[] = []) {
  const places = new Set(own.map(({ pointer }) => pointer))
  const faults = [...own, ...more.filter(({ pointer }) => !places.has(pointer))]
  if (faults.length > 0) throw invalid(faults)
}
