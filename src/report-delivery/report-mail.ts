import { sendUserMail } from '../automation/account-mails.ts'
import type { Sending } from '../automation/send-again.ts'
import type { Db } from '../database/database.ts'
import { formatsFor } from '../email/formats.ts'
import type { MessageAttachment } from '../email/message.ts'
import type { Paragraph } from '../email/own-mail.ts'
import { writePeriod } from '../reports/formats/format-values.ts'
import type { MailSummary } from '../reports/mail-summary.ts'
import { wordsOf } from '../reports/words.ts'
import type { ScheduleObject } from '../store/report-schedules.ts'
import { fillText, supportedLanguage, textsFor } from '../texts/texts.ts'
import { consoleLink } from './console-link.ts'
import { figuresTable, pictureBlock, pictureFile } from './mail-figures.ts'

/** A printed report as one group of recipients gets it. */
export type MailedReport = {
  reportName: string
  businessName: string
  locationName: string | null
  startDate: string
  endDate: string
  summary: MailSummary
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
  /** Without a login, the mail has no figures: only its link, which expires. */
  hasLogin: boolean
  stopUrl: string
  /** The link, and when it stops working. */
  link: { url: string; expiresTime: Temporal.Instant } | null
}

/** Queues the mail with a report, in the caller's transaction. Returns its id. */
export const queueReportMail = (
  tx: Db,
  mail: ReportMail,
  { publicUrl, ...sending }: Pick<Sending, 'now' | 'mailFrom' | 'host'> & { publicUrl: string },
) => {
  const { schedule, timeZone, report, to, link, stopUrl } = mail
  const { reportName, businessName, locationName, locale } = report
  const words = textsFor(locale).reportMails
  const { now } = sending
  const writing = { language: supportedLanguage(report.locale), timeZone, now }
  const title = schedule.name ?? reportName
  const period = writePeriod(report, wordsOf(report.locale))
  const place = locationName === null ? businessName : `${businessName}, ${locationName}`
  const content = mail.hasLogin ? contentOf(mail, publicUrl) : { before: [], files: [] }
  return sendUserMail(
    tx,
    {
      businessId: schedule.businessId,
      to,
      subject: `${title}: ${period}`,
      before: [
        fillText(words.intro, { report: reportName, place, period }),
        ...content.before,
        describeFile(mail, writing),
      ],
      link: link?.url ?? null,
      after: [describeTiming(schedule, writing), { words: words.stop, url: stopUrl }],
      unsubscribeLink: stopUrl,
      ownFiles: content.files,
    },
    sending,
  )
}

type Writing = { language: string; timeZone: string; now: Temporal.Instant }

/** What a person of the business sees in the mail itself. */
function contentOf(
  { schedule, report, attachment }: ReportMail,
  publicUrl: string,
): { before: Paragraph[]; files: MessageAttachment[] } {
  const { startDate, endDate, summary, locale } = report
  const { figures, picture, sentences, notes } = summary
  const words = textsFor(locale).reportMails
  return {
    before: [
      ...(figures.length > 0 ? [figuresTable(figures, words)] : []),
      ...(picture ? [pictureBlock(picture)] : []),
      ...sentences,
      ...notes,
      { words: words.console, url: consoleLink(publicUrl, { ...schedule, startDate, endDate }) },
    ],
    files: [...(picture ? [pictureFile(picture)] : []), ...(attachment ? [attachment] : [])],
  }
}

function describeFile(
  { report: { fileSize, locale }, hasLogin, link }: ReportMail,
  { language, timeZone }: Writing,
) {
  const words = textsFor(language).reportMails
  if (!link) return words.attached
  return fillText(hasLogin ? words.tooLarge : words.linked, {
    size: (fileSize / 1_000_000).toLocaleString(language, { maximumFractionDigits: 1 }),
    day: wordsOf(locale).writeDate(
      link.expiresTime.toZonedDateTimeISO(timeZone).toPlainDate().toString(),
    ),
  })
}

function describeTiming(schedule: ScheduleObject, { language, timeZone, now }: Writing) {
  const { frequency, weekday, dayOfMonth, timeOfDay } = schedule
  return fillText(textsFor(language).reportMails.timing[frequency], {
    weekday: weekday ? nameWeekday(weekday, language) : '',
    dayOfMonth: String(dayOfMonth),
    time: timeOfDay,
    zone: formatsFor([language], [timeZone]).zoneName(now),
  })
}

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

/** 1 January 2024 is a Monday. */
const nameWeekday = (weekday: string, language: string) =>
  Temporal.PlainDate.from('2024-01-01')
    .add({ days: WEEKDAYS.indexOf(weekday) })
    .toLocaleString(language, { weekday: 'long' })
