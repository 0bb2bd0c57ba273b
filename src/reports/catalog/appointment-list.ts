import { keptRate, measureKpi, noShowRate } from '../measures.ts'
import type { Report } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  appointmentsOverTime,
  drillToAppointments,
} from './appointments.ts'
import { appointmentRows } from './conditions.ts'
import { listAppointments, listColumns, priceColumns } from './listed-appointments.ts'

const LISTED = [
  'date',
  'time',
  'client',
  'service',
  'staff',
  'location',
  'status',
  'minutes',
] as const

export const appointmentList: Report = {
  reportId: 101,
  category: 'APPOINTMENTS',
  reportName: 'Appointment list',
  reportFileName: 'appointment-list',
  description: 'All appointments that begin in the period, ordered by time.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [...listColumns(LISTED), ...priceColumns({ measure: 'value' })],
  rows: (scope) => listAppointments({ names: LISTED, from: appointmentRows(scope) }, scope),
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
