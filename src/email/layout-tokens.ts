import type { MailContext } from '../contract/mail-context.ts'
import { colorsFor } from './colors.ts'
import type { Formats } from './formats.ts'
import type { Readers, Token } from './tokens.ts'

/** The values that the layout of mails needs. Authors of templates cannot use them. */

type Value = (context: MailContext, readers: Readers) => string | null | undefined

const visitOf = ({ calendar, classSchedule }: MailContext) => calendar ?? classSchedule

/** Staff read times in their own zone, everybody else in the client's. */
const formatsOf = ({ isForStaff, staff, reader }: Readers): Formats => (isForStaff ? staff : reader)

/** The formats of the location if its clock differs from the reader's at that moment. */
function localFormats(context: MailContext, readers: Readers): Formats | null {
  const visit = visitOf(context)
  if (!visit || !context.location) return null
  const { atLocation } = readers
  const own = formatsOf(readers)
  if (atLocation.timeZone === own.timeZone) return null
  return atLocation.offsetMs(visit.startTime) === own.offsetMs(visit.startTime) ? null : atLocation
}

const timeIn: (formats: Formats, context: MailContext) => string | null = (formats, context) => {
  const visit = visitOf(context)
  return visit && formats.timeRange(visit.startTime, visit.endTime)
}

const withZone = (formats: Formats, context: MailContext) => {
  const visit = visitOf(context)
  return visit && `${timeIn(formats, context)} (${formats.zoneName(visit.startTime)})`
}

const oneLine = (text: string | null | undefined) => text?.replace(/\s*[\r\n]+\s*/g, ', ')

/** The name and the address of a location, in one line. */
export const placeOf = (location: MailContext['location']) =>
  [location?.name, oneLine(location?.address)].filter(Boolean).join(', ') || null

const fullName = (person: { firstName: string; lastName: string } | null) =>
  person && `${person.firstName} ${person.lastName}`.trim()

const isForClientOf = (c: MailContext, { isForStaff }: Readers) => isForStaff && c.client !== null

const VALUES = {
  MAIL_ACCENT: (c) => colorsFor(c.business.accentColor).accent,
  MAIL_ON_ACCENT: (c) => colorsFor(c.business.accentColor).onAccent,
  MAIL_LINK: (c) => colorsFor(c.business.accentColor).link,
  MAIL_LOGO: (c) => c.business.logo?.fileUUId,
  MAIL_NAME: (c) => (c.business.logo ? null : c.business.name),
  MAIL_HOME: (c) => c.business.website,
  MAIL_SITE: (c) => c.business.website?.replace(/^https?:\/\/|\/$/g, ''),
  MAIL_PHONE: (c) => c.location?.phone ?? c.business.phone,
  MAIL_ADDRESS: (c) => oneLine(c.location?.address),

  MAIL_HAS_VISIT: (c) => (visitOf(c) ? 'yes' : null),
  MAIL_HAS_CARD: (c, { hasStarted }) => (visitOf(c) && !hasStarted ? 'yes' : null),
  MAIL_TITLE: (c) => c.classSchedule?.name ?? c.reason?.name,
  MAIL_DATE: (c, readers) => {
    const visit = visitOf(c)
    return visit && formatsOf(readers).date(visit.startTime)
  },
  MAIL_TIME: (c, readers) =>
    localFormats(c, readers) ? withZone(formatsOf(readers), c) : timeIn(formatsOf(readers), c),
  MAIL_LOCAL_TIME: (c, readers) => {
    const local = localFormats(c, readers)
    if (!local) return null
    const { startTime } = visitOf(c)!
    const date = local.date(startTime)
    const isSameDay = date === formatsOf(readers).date(startTime)
    return isSameDay ? withZone(local, c) : `${date}, ${withZone(local, c)}`
  },
  MAIL_PERSON_WORD: (c, readers) =>
    isForClientOf(c, readers) ? readers.words.client : readers.words.staff,
  MAIL_PERSON: (c, readers) => fullName(isForClientOf(c, readers) ? c.client : c.professional),
  MAIL_CLIENT_PHONE: (c, { isForStaff }) => (isForStaff ? c.client?.phone : null),
  MAIL_PLACE: (c) => placeOf(c.location),
  MAIL_MAP: (c, { isForStaff }) =>
    c.location?.address && !isForStaff && !visitOf(c)?.isCancelled
      ? `https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(oneLine(c.location.address)!.toWellFormed())}`
      : null,
  MAIL_CALENDAR: (c, { hasStarted }) => (visitOf(c)?.isLive && !hasStarted ? c.calendarLink : null),
  MAIL_CANCELLED: (c, { words }) => (visitOf(c)?.isCancelled ? words.cancelled : null),
  MAIL_NOT_CANCELLED: (c) => (visitOf(c)?.isCancelled ? null : 'yes'),

  WORD_COLON: (_, { words }) => words.colon,
  WORD_PHONE: (_, { words }) => words.phone,
  WORD_PLACE: (_, { words }) => words.place,
  WORD_LOCAL_TIME: (_, { words }) => words.localTime,
  WORD_ADD_TO_CALENDAR: (_, { words }) => words.addToCalendar,
  WORD_SHOW_MAP: (_, { words }) => words.showMap,
  WORD_UNSUBSCRIBE: (_, { words }) => words.unsubscribe,
} satisfies Record<string, Value>

const tokens = new Map<string, Token>(
  Object.entries(VALUES as Record<string, Value>).map(([name, value]) => [
    name,
    {
      name: name as Token['name'],
      kind: 'business',
      description: '',
      example: '',
      value: (context, readers) => value(context, readers) ?? null,
    },
  ]),
)

export const findLayoutToken = (name: string): Token | undefined => tokens.get(name)
