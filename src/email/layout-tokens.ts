import type { MailContext } from '../contract/mail-context.ts'
import { colorsFor } from './colors.ts'
import { asLine, timeAtLocation, type Readers } from './readers.ts'
import type { Token } from './tokens.ts'

/** The values that the layout of mails needs. Authors of templates cannot use them. */

type Value = (context: MailContext, readers: Readers) => string | null | undefined

const visitOf = ({ calendar, classSchedule }: MailContext) => calendar ?? classSchedule

/** The postal address in the footer of a mail. */
export const postalAddressOf = ({ location, business }: MailContext) =>
  location?.address || business.postalAddress

const oneLine = (text: string | null | undefined) => text?.replace(/\s*[\r\n]+\s*/g, ', ')

/** The name and the address of a location, in one line. */
export const placeOf = (location: MailContext['location']) =>
  [location?.name, oneLine(location?.address)].filter(Boolean).join(', ') || null

const fullName = (person: { firstName: string; lastName: string } | null) =>
  person && `${person.firstName} ${person.lastName}`.trim()

const isForClientOf = (c: MailContext, { isForStaff }: Readers) => isForStaff && c.client !== null

const titleOf = (c: MailContext) => c.classSchedule?.name ?? c.reason?.name

/** The visit for links to calendars on the web. */
export const linkedEntry = (c: MailContext) => ({
  ...visitOf(c)!,
  summary: [titleOf(c), c.business.name].filter(Boolean).join(', '),
  place: placeOf(c.location),
})

export const mapLink = (address: string) =>
  `https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(oneLine(address)!.toWellFormed())}`

const VALUES = {
  MAIL_ACCENT: (c) => colorsFor(c.business.accentColor).accent,
  MAIL_ON_ACCENT: (c) => colorsFor(c.business.accentColor).onAccent,
  MAIL_LINK: (c) => colorsFor(c.business.accentColor).link,
  MAIL_LOGO: (c) => c.business.logo?.fileUUId,
  MAIL_NAME: (c) => (c.business.logo ? null : c.business.name),
  MAIL_HOME: (c) => c.business.website,
  MAIL_SITE: (c) => c.business.website?.replace(/^https?:\/\/|\/$/g, ''),
  MAIL_PHONE: (c) => c.location?.phone ?? c.business.phone,
  MAIL_ADDRESS: (c) => oneLine(postalAddressOf(c)),

  MAIL_HAS_VISIT: (c) => (visitOf(c) ? 'yes' : null),
  MAIL_HAS_CARD: (c, { hasStarted }) => (visitOf(c) && !hasStarted ? 'yes' : null),
  MAIL_TITLE: titleOf,
  MAIL_DATE: (_, { times }) => times?.date,
  MAIL_TIME: (_, { times }) => times?.time,
  MAIL_OWN_TIME: (_, { times }) => times?.ownTime,
  MAIL_OWN_TIME_LINE: (c) => (visitOf(c)?.isCancelled ? 'line-through' : 'none'),
  MAIL_PERSON_WORD: (c, readers) =>
    isForClientOf(c, readers) ? readers.words.client : readers.words.staff,
  MAIL_PERSON: (c, readers) => fullName(isForClientOf(c, readers) ? c.client : c.professional),
  MAIL_CLIENT_PHONE: (c, { isForStaff }) => (isForStaff ? c.client?.phone : null),
  MAIL_PLACE: (c) => placeOf(c.location),
  MAIL_MAP: (c, { isForStaff }) =>
    c.location?.address && !isForStaff && !visitOf(c)?.isCancelled
      ? mapLink(c.location.address)
      : null,
  MAIL_DIRECTIONS: (c, { isForStaff, hasStarted }) =>
    visitOf(c)?.isLive && !isForStaff && !hasStarted ? c.location?.directions : null,
  MAIL_CALENDAR: (c, { hasStarted }) => (visitOf(c)?.isLive && !hasStarted ? c.calendarLink : null),
  MAIL_MOVED_FROM: (c, readers) =>
    c.movedFrom &&
    asLine(timeAtLocation(readers.atLocation.dateTime(c.movedFrom), c.movedFrom, readers)),
  MAIL_PREHEADER: (c, readers) => {
    const { times } = readers
    if (times) return [times.time, titleOf(c), placeOf(c.location)].filter(Boolean).join(' · ')
    if (c.invitation) return c.invitation.campaignDescription ?? c.invitation.campaignName
    if (c.recall) return readers.reader.date(c.recall.dueTime)
    return c.disclaimer?.formName
  },
  MAIL_CANCELLED: (c, { words }) => (visitOf(c)?.isCancelled ? words.cancelled : null),
  MAIL_NOT_CANCELLED: (c) => (visitOf(c)?.isCancelled ? null : 'yes'),

  WORD_COLON: (_, { words }) => words.colon,
  WORD_PHONE: (_, { words }) => words.phone,
  WORD_PLACE: (_, { words }) => words.place,
  WORD_OWN_TIME: (_, { words }) => words.ownTime,
  WORD_ADD_TO_CALENDAR: (_, { words }) => words.addToCalendar,
  WORD_ADD_TO_GOOGLE: (_, { words }) => words.addToGoogle,
  WORD_ADD_TO_OUTLOOK: (_, { words }) => words.addToOutlook,
  WORD_BEFORE: (_, { words }) => words.before,
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
