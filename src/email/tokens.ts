import { TOKEN_KINDS } from '../contract/email-template.ts'
import type { MailContext, Tags } from '../contract/mail-context.ts'
import texts from '../texts/tokens/en.json' with { type: 'json' }
import { timeAtLocation, type Readers } from './readers.ts'

/** The subject of a token, by which the list of tokens is grouped. */
export type TokenKind = (typeof TOKEN_KINDS)[number]

export type Token = {
  name: TokenName
  kind: TokenKind
  description: string
  example: string
  value: (context: MailContext, readers: Readers) => string | null
}

/** By kind and name: the description and an example, for authors of templates. */
const TEXTS: Record<TokenKind, Record<string, string[]>> = texts

type NamesOf<T> = T extends unknown ? keyof T : never
type ListedName = NamesOf<(typeof texts)[TokenKind]>

/** The text between the percent signs. */
export type TokenName = ListedName | `${'CLIENT' | 'APPT' | 'CLASS'}_TAG_${string}`

/** All tokens by the kind of object, for authors of templates. */
export const listTokens = () =>
  TOKEN_KINDS.map((objectType) => ({
    objectType,
    tokens: [...tokens.values()]
      .filter((token) => token.kind === objectType)
      .map(({ name, description, example }) => ({ token: `%${name}%`, description, example })),
  }))

export const findToken = (name: string): Token | undefined => tokens.get(name) ?? findTagToken(name)

/** `%CLIENT_TAG_LEVEL%` is the tag `level` of the client. The names of tags are the business's own. */
function findTagToken(name: string): Token | undefined {
  const [, prefix, tag] = /^(CLIENT|APPT|CLASS)_TAG_([A-Z0-9_]+)$/.exec(name) ?? []
  if (prefix === undefined || tag === undefined) return undefined
  const [kind, tagsOf] = TAGGED[prefix as keyof typeof TAGGED]
  return {
    name: name as TokenName,
    kind,
    description: `Tag of the ${kind}`,
    example: 'gold',
    value: (context) => tagValue(tagsOf(context), tag),
  }
}

type Value = (context: MailContext, readers: Readers) => string | null | undefined

const fullName = (person: { firstName: string; lastName: string } | null) =>
  person && `${person.firstName} ${person.lastName}`.trim()

/** The same tokens are used for appointments and classes. */
const visit = ({ calendar, classSchedule }: MailContext) => calendar ?? classSchedule

const lengthOf = (visit: { startTime: Temporal.Instant; endTime: Temporal.Instant }) =>
  Math.round((visit.endTime.epochMilliseconds - visit.startTime.epochMilliseconds) / 60_000)

const withMoment = <T, R>(moment: T | null | undefined, write: (moment: T) => R) =>
  moment === null || moment === undefined ? null : write(moment)

const listTags = (tags: Tags | null | undefined) =>
  Object.values(tags ?? {})
    .flat()
    .join(', ')

/** Compares in upper case, with an underscore for each character that a token cannot contain. */
const tagValue = (tags: Tags | null | undefined, name: string) =>
  Object.entries(tags ?? {})
    .filter(([tag]) => tag.toUpperCase().replace(/[^A-Z0-9_]/g, '_') === name)
    .flatMap(([, values]) => values)
    .join(', ')

const TAGGED = {
  CLIENT: ['client', (c: MailContext) => c.client?.tags],
  APPT: ['appointment', (c: MailContext) => visit(c)?.tags],
  CLASS: ['class', (c: MailContext) => c.classSchedule?.tags],
} as const

const start = (context: MailContext) => visit(context)?.startTime
const end = (context: MailContext) => visit(context)?.endTime

const dateTimeAtLocation = (moment: Temporal.Instant, readers: Readers) =>
  timeAtLocation(readers.atLocation.dateTime(moment), moment, readers)

const businessEmail: Value = (c) => c.business.emailAddress
const staffFullName: Value = (c) => fullName(c.professional)
const staffFirstName: Value = (c) => c.professional?.firstName
const staffLastName: Value = (c) => c.professional?.lastName
const staffEmail: Value = (c) => c.professional?.emailAddress
const clientEmail: Value = (c) => c.client?.emailAddress
const serviceName: Value = (c) => c.reason?.name ?? c.classSchedule?.name
const apptDate: Value = (c, { reader }) => withMoment(start(c), reader.date)
const apptTime: Value = (c, { reader }) => withMoment(start(c), reader.time)
const apptDateTime: Value = (c, { reader }) => withMoment(start(c), reader.dateTime)
const classDate: Value = (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.date)
const classTime: Value = (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.time)

const VALUES = {
  BUSINESS_NAME: (c) => c.business.name,
  BUSINESS_EMAILADDRESS: businessEmail,
  BUSINESS_EMAIL: businessEmail,
  BUSINESS_PHONE: (c) => c.business.phone,
  BUSINESS_ADDRESS: (c) => c.business.postalAddress,
  BUSINESS_TIMEZONE: (c) => c.business.timeZone,

  LOCATION_NAME: (c) => c.location?.name,
  LOCATION_ADDRESS: (c) => c.location?.address,
  LOCATION_DIRECTIONS: (c) => c.location?.directions,
  LOCATION_PHONE: (c) => c.location?.phone,
  LOCATION_EMAILADDRESS: (c) => c.location?.emailAddress,
  LOCATION_TIMEZONE: (c) => c.location && (c.location.timeZone ?? c.business.timeZone),
  LOCATION_EXTERNALID: (c) => c.location?.externalId,

  STAFF_FULLNAME: staffFullName,
  STAFF_FIRSTNAME: staffFirstName,
  STAFF_LASTNAME: staffLastName,
  STAFF_EMAIL: staffEmail,
  STAFF_EMAILADDRESS: staffEmail,
  PROFESSIONAL_FULLNAME: staffFullName,
  PROFESSIONAL_FIRSTNAME: staffFirstName,
  PROFESSIONAL_LASTNAME: staffLastName,
  PROFESSIONAL_EMAIL: staffEmail,
  STAFF_EXTERNALID: (c) => c.professional?.externalId,

  CLIENT_FULLNAME: (c) => fullName(c.client),
  CLIENT_FIRSTNAME: (c) => c.client?.firstName,
  CLIENT_LASTNAME: (c) => c.client?.lastName,
  CLIENT_EMAILADDRESS: clientEmail,
  CLIENT_EMAIL: clientEmail,
  CLIENT_PHONE: (c) => c.client?.phone,
  CLIENT_EXTERNALID: (c) => c.client?.externalId,
  CLIENT_TAGS: (c) => listTags(c.client?.tags),

  REASON: serviceName,
  REASON_NAME: serviceName,
  SERVICE_NAME: serviceName,
  REASON_DURATION: (c, { reader }) => withMoment(c.reason?.durationMinutes, reader.minutes),
  REASON_PRICE: (c, { reader }) =>
    withMoment(c.reason?.price, (price) => reader.price(price, c.reason?.currency ?? null)),
  SERVICE_EXTERNALID: (c) => c.reason?.externalId,

  APPT_ID: (c) => withMoment(c.calendar?.calendarId ?? c.classSchedule?.classScheduleId, String),
  APPT_CARD: (c, readers) =>
    withMoment(start(c), (moment) =>
      [serviceName(c, readers), dateTimeAtLocation(moment, readers)].filter(Boolean).join(', '),
    ),
  APPT_EXTERNALID: (c) => visit(c)?.externalId,
  APPT_TAGS: (c) => listTags(visit(c)?.tags),
  APPT_DATE: apptDate,
  APPT_TIME: apptTime,
  APPT_DATE_TIME: apptDateTime,
  APPT_START: apptDateTime,
  APPT_START_DATE: apptDate,
  APPT_START_TIME: apptTime,
  APPT_END: (c, { reader }) => withMoment(end(c), reader.dateTime),
  APPT_END_DATE: (c, { reader }) => withMoment(end(c), reader.date),
  APPT_END_TIME: (c, { reader }) => withMoment(end(c), reader.time),
  APPT_TIMEZONE: (c, { reader }) => withMoment(start(c), reader.zoneName),
  APPT_DURATION: (c, { reader }) =>
    withMoment(visit(c), (visit) => reader.minutes(lengthOf(visit))),
  APPT_STATUS: (c) => visit(c)?.status,
  APPT_DATE_LOCATION: (c, { atLocation }) => withMoment(start(c), atLocation.date),
  APPT_TIME_LOCATION: (c, readers) =>
    withMoment(start(c), (moment) =>
      timeAtLocation(readers.atLocation.time(moment), moment, readers),
    ),
  APPT_DATE_TIME_LOCATION: (c, readers) =>
    withMoment(start(c), (moment) => dateTimeAtLocation(moment, readers)),
  APPT_DATE_STAFF: (c, { staff }) => withMoment(start(c), staff.date),
  APPT_TIME_STAFF: (c, { staff }) => withMoment(start(c), staff.time),
  APPT_DATE_TIME_STAFF: (c, { staff }) => withMoment(start(c), staff.dateTime),
  APPOINTMENT_NOTE: (c) => c.calendar?.note,
  CHANGE_NOTE: (c) => c.calendar?.changeNote,

  CLASS_ID: (c) => withMoment(c.classSchedule?.classScheduleId, String),
  CLASS_EXTERNALID: (c) => c.classSchedule?.externalId,
  CLASS_TAGS: (c) => listTags(c.classSchedule?.tags),
  CLASS_NAME: (c) => c.classSchedule?.name,
  CLASS_DATE: classDate,
  CLASS_TIME: classTime,
  CLASS_START_DATE: classDate,
  CLASS_START_TIME: classTime,
  CLASS_DATE_TIME: (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.dateTime),
  CLASS_END_DATE: (c, { reader }) => withMoment(c.classSchedule?.endTime, reader.date),
  CLASS_END_TIME: (c, { reader }) => withMoment(c.classSchedule?.endTime, reader.time),
  CLASS_STATUS: (c) => c.classSchedule?.status,
  CLASS_CAPACITY: (c) => withMoment(c.classSchedule?.capacity, String),

  CONFIRM_URL: (c) => c.answerLinks?.confirm,
  CANCEL_URL: (c) => c.answerLinks?.cancel,
  SIGN_URL: (c) => c.answerLinks?.sign,
  ANSWER_CLIENT: (c, { isForStaff }) =>
    isForStaff ? (c.classSchedule ? c.classSchedule.answeredBy : fullName(c.client)) : null,
  ANSWER: ({ classSchedule }, { isForStaff, words }) =>
    isForStaff && classSchedule?.answer ? words.answers[classSchedule.answer] : null,
  ANSWER_NOTE: (c, { isForStaff }) =>
    isForStaff ? (c.calendar ?? c.classSchedule)?.answerNote : null,
  APPT_MOVED_FROM: (c, readers) =>
    withMoment(c.movedFrom, (moment) => dateTimeAtLocation(moment, readers)),
  RESCHEDULE_URL: (c) => c.business.bookingUrl,

  INVITATION_LINK: (c) => c.invitation?.link,
  INVITATION_ID: (c) => c.invitation?.invitationUUID,
  INVITATION_CAMPAIGN: (c) => c.invitation?.campaignName,
  INVITATION_DESCRIPTION: (c) => c.invitation?.campaignDescription,
  INVITATION_EXPIRES_DATE: (c, { reader }) => withMoment(c.invitation?.expiresTime, reader.date),
  INVITATION_EXPIRES_TIME: (c, { reader }) => withMoment(c.invitation?.expiresTime, reader.time),
  INVITATION_STATUS: (c) => c.invitation?.status,

  RECALL_DATE: (c, { reader }) => withMoment(c.recall?.dueTime, reader.date),
  RECALL_TIME: (c, { reader }) => withMoment(c.recall?.dueTime, reader.time),
  RECALL_STATUS: (c) => c.recall?.status,

  DISCLAIMER_NAME: (c) => c.disclaimer?.formName,
  DISCLAIMER_BODY: (c) => c.disclaimer?.formBody,
  DISCLAIMER_STATUS: (c) => c.disclaimer?.status,

  UNSUBSCRIBE_LINK: (c) => c.unsubscribeLink,
} satisfies Record<ListedName, Value>

const tokens: Map<string, Token> = new Map(
  TOKEN_KINDS.flatMap((kind) =>
    Object.entries(TEXTS[kind]).map(([name, [description = '', example = '']]): [string, Token] => [
      name,
      {
        name: name as TokenName,
        kind,
        description,
        example,
        value: (context, readers) => VALUES[name as ListedName](context, readers) ?? null,
      },
    ]),
  ),
)
