import { sendAccountMail } from '../automation/account-mails.ts'
import type { Sending } from '../automation/send-again.ts'
import type { Db } from '../database/database.ts'
import type { MessageAttachment } from '../email/message.ts'
import { fillWords, languageOfWords } from '../email/words.ts'
import type { ScheduleObject } from '../store/report-schedules.ts'
import { wordsOf } from '../reports/words.ts'
import { reportMailWordsOf } from './mail-words.ts'

/** A printed report as one group of recipients gets it. */
export type MailedReport = {
  reportName: string
  businessName: string
  locationName: string | null
  startDate: string
  endDate: string
  sentences: string[]
  locale: string
  fileSize: number
}

export type ReportMail = {
  schedule: ScheduleObject
  timeZone: string
  report: MailedReport
  /** The file, unless it is too large for a mail: then the mail has a link. */
  attachment: MessageAttachment | undefined
  to: string
  /** The link, and when it stops working. */
  link: { url: string; expiresTime: Temporal.Instant } | null
}

/** Queues the mail with a report, in the caller's transaction. Returns its id. */
export const queueReportMail = (
  tx: Db,
  { schedule, timeZone, report, attachment, to, link }: ReportMail,
  sending: Pick<Sending, 'now' | 'mailFrom' | 'host'>,
) => {
  const { reportName, businessName, locationName, sentences } = report
  const writing = { language: languageOfWords(report.locale), timeZone }
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
        fillWords(reportMailWordsOf(writing.language).intro, { report: reportName, place, period }),
        ...sentences,
        describeFile(report, link, writing),
      ],
      link: link?.url ?? null,
      after: [describeTiming(schedule, writing)],
      attachment,
    },
    sending,
  )
}

function describePeriod({ startDate, endDate, locale }: MailedReport) {
  const { writeDate } = wordsOf(locale)
  const [begin, end] = [writeDate(startDate), writeDate(endDate)]
  return begin === end ? begin : `${begin} – ${end}`
}

type Writing = { language: string; timeZone: string }

function describeFile(
  { fileSize, locale }: MailedReport,
  link: ReportMail['link'],
  { language, timeZone }: Writing,
) {
  const words = reportMailWordsOf(language)
  if (!link) return words.attached
  return fillWords(words.tooLarge, {
    size: (fileSize / 1_000_000).toLocaleString(language, { maximumFractionDigits: 1 }),
    day: wordsOf(locale).writeDate(
      link.expiresTime.toZonedDateTimeISO(timeZone).toPlainDate().toString(),
    ),
  })
}

function describeTiming(schedule: ScheduleObject, { language, timeZone }: Writing) {
  const { frequency, weekday, dayOfMonth, timeOfDay } = schedule
  return fillWords(reportMailWordsOf(language).timing[frequency], {
    weekday: weekday ? nameWeekday(weekday, language) : '',
    dayOfMonth: String(dayOfMonth),
    time: timeOfDay,
    zone: timeZone,
  })
}

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

/** 1 January 2024 is a Monday. */
const nameWeekday = (weekday: string, language: string) =>
  Temporal.PlainDate.from('2024-01-01')
    .add({ days: WEEKDAYS.indexOf(weekday) })
    .toLocaleString(language, { weekday: 'long' })
