import type { Report } from '../report.ts'
import { linesOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, measuredReport } from './appointments.ts'

export const appointmentsByDay: Report = measuredReport({
  reportId: 102,
  category: 'APPOINTMENTS',
  reportName: 'Appointment summary',
  reportFileName: 'appointment-summary',
  description:
    'One line for each day, or for each month of a long period: the number of appointments, their outcomes and the revenue.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_REVENUE_REPORTS'],
  measures: APPOINTMENT_MEASURES,
  groupedBy: (range) => [linesOf(range)],
})
