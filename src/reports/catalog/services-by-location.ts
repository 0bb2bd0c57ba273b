import { measuredReport, APPOINTMENT_MEASURES } from './appointments.ts'

export const servicesByLocation = measuredReport({
  reportId: 402,
  category: 'APPOINTMENTS',
  reportName: 'Services by location',
  reportFileName: 'services-by-location',
  description: 'How often each service was booked at each location, and how it ended.',
  securityFunctions: ['PRINT_REPORTS'],
  measures: APPOINTMENT_MEASURES,
  groupedBy: () => ['location', 'service'],
})
