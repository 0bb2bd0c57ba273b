import { EMAIL_STATUSES } from '../contract/email.ts'
import { TRIGGER_STATUSES } from '../contract/event-trigger.ts'
import { DIMENSIONS, type ReportOptions } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { visibleTo } from './catalog/catalog.ts'
import { canFilterBy, OBJECT_TYPES } from './filters.ts'
import { canGroupBy } from './grouping.ts'
import type { Reader } from './print-request.ts'
import type { Report } from './report.ts'

/** What the reader can filter and group a report by. A list is empty if the report has no such filter. */
export async function findOptions(db: Db, report: Report, reader: Reader): Promise<ReportOptions> {
  const names = await listNames(db, reader)
  const hasStatuses = canFilterBy(report, 'statusList')
  return {
    reportId: report.reportId,
    locations: canFilterBy(report, 'locationIdList') ? names.locations : [],
    staff: canFilterBy(report, 'professionalIdList') ? names.staff : [],
    services: canFilterBy(report, 'reasonIdList') ? names.services : [],
    statuses: hasStatuses ? await statusesOf(db, report, reader.businessId) : [],
    groupBy: DIMENSIONS.filter((name) => canGroupBy(report, name)),
    kpis: visibleTo(report, reader.functions).kpis.map(({ name, label, unit }) => ({
      name,
      label,
      unit,
    })),
  }
}

type Names = Pick<ReportOptions, 'locations' | 'staff' | 'services'>

/** Also those that are no longer active: reports of the past have them. */
const listNames = (db: Db, { businessId, locationIds, professionalIds }: Reader) =>
  db.getRow<Names>(sql`
    select (select coalesce(json_agg(json_build_object('id', location_id, 'name', name) order by name collate name_order), '[]')
            from location
            where business_id = ${businessId}
              and (${locationIds}::bigint[] is null or location_id = any (${locationIds}::bigint[]))) as locations,
           (select coalesce(json_agg(json_build_object('id', professional_id, 'name', first_name || ' ' || last_name)
                                     order by first_name collate name_order, last_name collate name_order), '[]')
            from professional
            where business_id = ${businessId}
              and (${professionalIds}::bigint[] is null or professional_id = any (${professionalIds}::bigint[]))) as staff,
           (select coalesce(json_agg(json_build_object('id', reason_id, 'name', name) order by name collate name_order), '[]')
            from reason
            where business_id = ${businessId}) as services`)

async function statusesOf(db: Db, { about }: Report, businessId: number) {
  if (about === 'triggers') return TRIGGER_STATUSES.map(withLabel)
  if (about === 'emails') return EMAIL_STATUSES.map(withLabel)
  return db.query<{ status: string; label: string }>(sql`
    select status, label from status
    where business_id = ${businessId} and object_type = ${OBJECT_TYPES[about]} and active
    order by created_date, status`)
}

/** "Scheduled" for SCHEDULED. */
const withLabel = (status: string) => ({
  status,
  label: `${status[0]}${status.slice(1).toLowerCase()}`,
})
