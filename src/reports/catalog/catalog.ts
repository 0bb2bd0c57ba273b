import { appointmentList } from './appointment-list.ts'
import { appointmentsByDay } from './appointments-by-day.ts'
import { isOfMoney } from '../currencies.ts'
import { wordsOf } from '../words.ts'
import { bookedValue } from './booked-value.ts'
import { bookingsMade } from './bookings-made.ts'
import { campaignFunnel } from './campaign-funnel.ts'
import { cancelledAppointments } from './cancellations.ts'
import { classAttendance } from './class-attendance.ts'
import { clients } from './clients.ts'
import { dailySchedule } from './daily-schedule.ts'
import { invitations } from './invitations.ts'
import { lapsedClients } from './lapsed-clients.ts'
import { mailDelivery } from './mail-delivery.ts'
import { newAndReturning } from './new-and-returning.ts'
import { noShows } from './no-shows.ts'
import { peakTimes } from './peak-times.ts'
import { MEASURES } from '../measures.ts'
import type { Category, Column, DrillDown, MeasureName, Report, ReportObject } from '../report.ts'
import { recallsDue } from './recalls-due.ts'
import { retention } from './retention.ts'
import { servicesByPopularity } from './services.ts'
import { staffPerformance } from './staff-performance.ts'
import { staffUtilisation } from './staff-utilisation.ts'
import { remindersAndNoShows } from './reminders-and-no-shows.ts'
import { forms } from './forms.ts'
import { futureBookings } from './future-bookings.ts'
import { repeatNoShows } from './repeat-no-shows.ts'
import { unclosedAppointments } from './unclosed-appointments.ts'
import { unreachableClients } from './unreachable-clients.ts'
import { feeds } from './feeds.ts'
import { emptySlots } from './empty-slots.ts'
import { servicesByLocation } from './services-by-location.ts'
import { classRoster } from './class-roster.ts'
import { automations } from './automations.ts'
import { changedStatuses } from './status-changes.ts'
import { triggerLog } from './trigger-log.ts'
import { yourMonth } from './your-month.ts'

/** All reports. A new one is a file, a line here, and its words in `src/texts/`. */
export const REPORTS: Report[] = [
  yourMonth,
  appointmentList,
  appointmentsByDay,
  dailySchedule,
  bookingsMade,
  peakTimes,
  futureBookings,
  noShows,
  cancelledAppointments,
  changedStatuses,
  repeatNoShows,
  emptySlots,
  unclosedAppointments,
  staffUtilisation,
  staffPerformance,
  servicesByPopularity,
  servicesByLocation,
  clients,
  newAndReturning,
  lapsedClients,
  retention,
  unreachableClients,
  classAttendance,
  classRoster,
  campaignFunnel,
  invitations,
  recallsDue,
  forms,
  triggerLog,
  mailDelivery,
  automations,
  remindersAndNoShows,
  feeds,
  bookedValue,
]

const CATEGORIES: Omit<ReportCategory, 'reports'>[] = [
  { category: 'APPOINTMENTS', label: 'Appointments', description: 'What was booked and when.' },
  { category: 'NO_SHOWS', label: 'No-shows', description: 'Who did not come and what it cost.' },
  { category: 'STAFF', label: 'Staff', description: 'How the time of the staff was used.' },
  { category: 'CLIENTS', label: 'Clients', description: 'Who came and who returned.' },
  { category: 'CLASSES', label: 'Classes', description: 'Classes and their students.' },
  { category: 'AUTOMATION', label: 'Automation', description: 'What fired and what was sent.' },
]

export type ReportCategory = {
  category: Category
  label: string
  description: string
  reports: ReportObject[]
}

/** The reports that a caller with these functions may see, by category. */
export function listCategories(
  businessId: number,
  functions: ReadonlySet<string>,
  { say } = wordsOf('en'),
): ReportCategory[] {
  const visible = REPORTS.filter((report) => mayPrint(report, functions))
  return CATEGORIES.map(({ category, label, description }): ReportCategory => ({
    category,
    label: say(label),
    description: say(description),
    reports: visible
      .filter((report) => report.category === category)
      .map((report) => reportObject(report, businessId))
      .map((report) => ({
        ...report,
        reportName: say(report.reportName),
        description: say(report.description),
      })),
  })).filter(({ reports }) => reports.length > 0)
}

export const mayPrint = (report: Report, functions: ReadonlySet<string>) =>
  report.securityFunctions.every((name) => functions.has(name))

/** Without this function no report shows money. */
const MONEY_FUNCTION = 'VIEW_REVENUE_REPORTS'

/** Removes what a reader with these functions may not see. All formats and totals use the result. */
export function visibleTo(report: Report, functions: ReadonlySet<string>): Report {
  if (functions.has(MONEY_FUNCTION)) return report
  const { groups } = report
  return {
    ...withoutMoneyCharts(report),
    columns: withoutMoney(report.columns),
    ...(groups ? { groups: { ...groups, columns: withoutMoney(groups.columns) } } : {}),
    kpis: report.kpis.filter(({ unit }) => unit !== 'money'),
    ...(report.measures ? { measures: report.measures.filter((name) => !isMoney(name)) } : {}),
    ...(report.drillDown ? { drillDown: withoutMoneySums(report.drillDown) } : {}),
  }
}

const withoutMoneySums = (drillDown: DrillDown): DrillDown => ({
  ...drillDown,
  figures: Object.fromEntries(
    Object.entries(drillDown.figures ?? {}).filter(([, sum]) => !sum.isMoney),
  ),
})

const withoutMoney = (columns: Column[]) =>
  columns.filter(({ type, ifSeveralCurrencies }) => type !== 'money' && !ifSeveralCurrencies)

const isMoney = (name: MeasureName) => MEASURES[name].unit === 'money'

const withoutMoneyCharts = (report: Report): Report => ({
  ...report,
  charts: report.charts.map((source) => ({
    ...source,
    draw: (rows, scope) => source.draw(rows, scope).filter((chart) => !isOfMoney(chart)),
  })),
})

export const showsMoney = ({ columns, kpis }: Report) =>
  columns.some(({ type }) => type === 'money') || kpis.some(({ unit }) => unit === 'money')

/** Built-in reports are part of the program, so they have a fixed date. */
const CREATED_MS = Date.UTC(2026, 0, 1)

/** A report as the API answers it. */
export const reportObject = (report: Report, businessId: number): ReportObject => ({
  active: true,
  businessId,
  category: report.category,
  createdDate: CREATED_MS,
  createdUser: 'SYSTEM',
  modifiedDate: CREATED_MS,
  modifiedUser: 'SYSTEM',
  planIds: 0,
  reportFileName: report.reportFileName,
  reportId: report.reportId,
  reportName: report.reportName,
  reportType: 'BUILT_IN',
  resellerIds: 0,
  securityFunctions: report.securityFunctions.join(','),
  description: report.description,
})
