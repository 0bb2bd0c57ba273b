import { sendAccountMail } from '../automation/account-mails.ts'
import type { Sending } from '../automation/send-again.ts'
import type { Db } from '../database/database.ts'
import type { MessageAttachment } from '../email/message.ts'
import type { ScheduleObject } from '../store/report-schedules.ts'

/** A printed report as one group of recipients gets it. */
export type MailedReport = {
  reportName: string
  businessName: string
  locationName: string | null
  startDate: string
  endDate: string
  sentences: string[]
  /** The file, or its size if it is too large for a mail and the mail has a link instead. */
  attachment: MessageAttachment | undefined
  fileSize: number
}

export type ReportMail = {
  schedule: ScheduleObject
  timeZone: string
  report: MailedReport
  to: string
  /** The link, and when it stops working. */
  link: { url: string; expiresTime: Temporal.Instant } | null
}

/** Queues the mail with a report, in the caller's transaction. Returns its id. */
export const queueReportMail = (
  tx: Db,
  { schedule, timeZone, report, to, link }: ReportMail,
  sending: Pick<Sending, 'now' | 'mailFrom' | 'host'>,
) => {
  const { reportName, businessName, locationName, sentences, attachment } = report
  const title = schedule.name ?? reportName
  const period = describePeriod(report)
  const place = locationName === null ? businessName : `${businessName}, ${locationName}`
  return sendAccountMail(
    tx,
    {
      businessId: schedule.businessId,
      to,
      subject: `${title}: ${period}`,
      before: [
        `${reportName} of ${place}, ${period}.`,
        ...sentences,
        describeFile(report, link, timeZone),
      ],
      link: link?.url ?? null,
      after: [`You get this mail ${describeTiming(schedule)} (${timeZone}).`],
      attachment,
    },
    sending,
  )
}

const describePeriod = ({ startDate, endDate }: MailedReport) =>
  startDate === endDate ? startDate : `${startDate} – ${endDate}`

function describeFile({ fileSize }: MailedReport, link: ReportMail['link'], timeZone: string) {
  if (!link) return 'The report is attached.'
  const size = (fileSize / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })
  const until = link.expiresTime.toZonedDateTimeISO(timeZone)
  const day = until.toPlainDate().toString()
  return `The report has ${size} MB, which is too large for a mail. Until ${day} you can download it here:`
}

function describeTiming({ frequency, weekday, dayOfMonth, timeOfDay }: ScheduleObject) {
  if (frequency === 'DAILY') return `every day at ${timeOfDay}`
  if (frequency === 'MONTHLY') return `on day ${dayOfMonth} of every month at ${timeOfDay}`
  const name = String(weekday)
  return `every ${name[0]}${name.slice(1).toLowerCase()} at ${timeOfDay}`
}
