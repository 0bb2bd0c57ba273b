import { sql } from '../../database/sql.ts'
import { keptRate, measureKpi, noShowRate } from '../measures.ts'
import type { Report } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  appointmentsOverTime,
  drillToAppointments,
} from './appointments.ts'
import { appointmentRows, currencyOfPrice, inOrder } from './conditions.ts'

export const appointmentList: Report = {
  reportId: 101,
  category: 'APPOINTMENTS',
  reportName: 'Appointment list',
  reportFileName: 'appointment-list',
  description: 'All appointments that begin in the period, ordered by time.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 16 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 15 },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'status', label: 'Status', type: 'text', width: 10, fixedWords: 'status' },
    {
      name: 'minutes',
      label: 'Min',
      type: 'minutes',
      width: 5,
      total: 'sum',
    },
    {
      name: 'price',
      label: 'Price',
      type: 'money',
      width: 9,
      total: 'sum',
      currencyIn: 'currency',
      measure: 'value',
    },
    { name: 'currency', label: 'Currency', type: 'text', width: 5, ifSeveralCurrencies: true },
  ],
  rows: (scope) => sql`
    select to_char(a.local_start, 'YYYY-MM-DD') as date,
           to_char(a.local_start, 'HH24:MI') as time,
           cl.first_name || ' ' || cl.last_name as client,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           coalesce(s.label, a.status) as status,
           a.minutes,
           a.price,
           ${currencyOfPrice},
           a.calendar_id as "key_objectId"
    from (${appointmentRows(scope)}) a
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, a.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, a.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, a.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, a.location_id)
    left join status s on s.business_id = ${scope.businessId} and s.object_type = 'CALENDAR' and s.status = a.status
    order by ${inOrder('a', 'calendar_id', scope)}`,
  figures: appointmentFigures,
  kpis: [
    measureKpi('appointments'),
    keptRate,
    noShowRate,
    measureKpi('value'),
    measureKpi('revenue'),
    measureKpi('ahead'),
  ],
  charts: appointmentsOverTime,
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], { figures: { minutes: { of: 'minutes' } } }),
}
