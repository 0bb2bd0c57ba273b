import type { Texts } from '../texts/texts.ts'
import type { Formats } from './formats.ts'

/** Who can read a mail; the first that its address names. Others than the client are staff. */
export const READER_KINDS = ['client', 'staff', 'location', 'business'] as const
export type ReaderKind = (typeof READER_KINDS)[number]

/** The formats of dates and numbers for the readers of a mail. */
export type Readers = {
  /** Of the client. */
  reader: Formats
  staff: Formats
  /** Of the reader of this mail. */
  own: Formats
  /** In the time zone of the location. */
  atLocation: Formats
  /** How the mail writes the time of its visit; null without one. */
  times: VisitTimes | null
  /** In the language of the mail. */
  words: Texts['mail']
  isForStaff: boolean
  /** Whether the appointment has begun when the mail is made. */
  hasStarted: boolean
}

/** The formats of the reader if their clock differs from the location's at the start of the visit. */
function ownFormats(start: Temporal.Instant, readers: Readers): Formats | null {
  const { atLocation, own } = readers
  if (own.timeZone === atLocation.timeZone) return null
  return own.offsetMs(start) === atLocation.offsetMs(start) ? null : own
}

const withZone = (time: string, formats: Formats, moment: Temporal.Instant) =>
  `${time}, ${formats.zoneName(moment)}`

/** A time by the clock of the location. It names the place only for readers with another clock. */
export const timeAtLocation = (time: string, start: Temporal.Instant, readers: Readers) =>
  ownFormats(start, readers) ? withZone(time, readers.atLocation, start) : time

export type VisitTimes = { date: string; time: string; ownTime: string | null }

/**
 * How mails and pages write the time of a visit: by the clock of its location, and by the reader's own if
 * that shows another time.
 */
export function visitTimes(
  { startTime, endTime }: { startTime: Temporal.Instant; endTime: Temporal.Instant },
  readers: Readers,
): VisitTimes {
  const { atLocation } = readers
  const date = asLine(atLocation.date(startTime))
  const time = timeAtLocation(atLocation.timeRange(startTime, endTime), startTime, readers)
  const own = ownFormats(startTime, readers)
  if (!own) return { date, time, ownTime: null }
  const ownDate = own.date(startTime)
  const ownTime = withZone(own.timeRange(startTime, endTime), own, startTime)
  return { date, time, ownTime: asLine(ownDate) === date ? ownTime : `${ownDate}, ${ownTime}` }
}

/** A date on a line of its own: “Mardi 3 novembre”, which is “mardi” in a sentence. */
export const asLine = (date: string) => date.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())
