import { sql } from '../../database/sql.ts'
import { appointmentFigures, appointmentKpis, appointmentsOverTime } from './appointments.ts'
import { appointmentsIn, dateOf, minutesOf, timeOf } from './conditions.ts'
import type { Report } from '../report.ts'

export const appointmentList: Report = {
  reportId: 101,
  category: 'APPOINTMENTS',
  reportName: 'Appointment list',
  reportFileName: 'appointment-list',
  description: 'All appointments that begin in the period, ordered by time.',
  securityFunctions: ['PRINT_REPORTS'],
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 16 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 15 },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'status', label: 'Status', type: 'text', width: 10 },
    { name: 'minutes', label: 'Min', type: 'minutes', width: 5, total: 'sum' },
    { name: 'price', label: 'Price', type: 'money', width: 9, total: 'sum' },
  ],
  rows: (scope) => sql`
    select ${dateOf('c.start_time', scope)} as date,
           ${timeOf('c.start_time', scope)} as time,
           cl.first_name || ' ' || cl.last_name as client,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           coalesce(s.label, c.status) as status,
           ${minutesOf('c')} as minutes,
           c.price
    from calendar c
    join client cl on (cl.business_id, cl.client_id) = (c.business_id, c.client_id)
    join reason r on (r.business_id, r.reason_id) = (c.business_id, c.reason_id)
    join professional p on (p.business_id, p.professional_id) = (c.business_id, c.professional_id)
    join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
    left join status s on s.business_id = c.business_id and s.object_type = 'CALENDAR' and s.status = c.status
    where ${appointmentsIn(scope)}
    order by c.start_time, c.calendar_id`,
  figures: appointmentFigures,
  kpis: appointmentKpis,
  charts: appointmentsOverTime,
}
