import { TOKEN_KINDS } from '../contract/email-template.ts'
import type { MailContext, Tags } from '../contract/mail-context.ts'
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

/** The text between the percent signs. */
export type TokenName = keyof typeof TOKENS | `${'CLIENT' | 'APPT' | 'CLASS'}_TAG_${string}`

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

type Definition = [
  kind: TokenKind,
  description: string,
  example: string,
  value: (context: MailContext, readers: Readers) => string | null | undefined,
]

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

const staffFullName: Definition = [
  'staff',
  'Full name of the member of staff',
  'Dr. Maya Lindqvist',
  (c) => fullName(c.professional),
]
const staffFirstName: Definition = [
  'staff',
  'First name of the member of staff',
  'Maya',
  (c) => c.professional?.firstName,
]
const staffLastName: Definition = [
  'staff',
  'Last name of the member of staff',
  'Lindqvist',
  (c) => c.professional?.lastName,
]
const staffEmail: Definition = [
  'staff',
  'Email address of the member of staff',
  'maya@harbour.example',
  (c) => c.professional?.emailAddress,
]
const businessEmail: Definition = [
  'business',
  'Email address of the business',
  'hello@harbour.example',
  (c) => c.business.emailAddress,
]
const clientEmail: Definition = [
  'client',
  'Email address of the client',
  'ada@example.org',
  (c) => c.client?.emailAddress,
]
const serviceName: Definition = [
  'service',
  'Name of the service, or of the class',
  'First consultation',
  (c) => c.reason?.name ?? c.classSchedule?.name,
]
const apptDate: Definition = [
  'appointment',
  'Day on which it starts, in the client’s zone and language',
  'Tuesday, November 3, 2026',
  (c, { reader }) => withMoment(start(c), reader.date),
]
const apptTime: Definition = [
  'appointment',
  'Time at which it starts, in the client’s zone and language',
  '2:30 PM',
  (c, { reader }) => withMoment(start(c), reader.time),
]
const apptDateTime: Definition = [
  'appointment',
  'Day and time at which it starts, in the client’s zone and language',
  'Tuesday, November 3, 2026 at 2:30 PM',
  (c, { reader }) => withMoment(start(c), reader.dateTime),
]
const classDate: Definition = [
  'class',
  'Day on which the class starts, in the client’s zone and language',
  'Tuesday, November 3, 2026',
  (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.date),
]
const classTime: Definition = [
  'class',
  'Time at which the class starts, in the client’s zone and language',
  '6:00 PM',
  (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.time),
]

const TOKENS = {
  BUSINESS_NAME: ['business', 'Name of the business', 'Harbour Clinic', (c) => c.business.name],
  BUSINESS_EMAILADDRESS: businessEmail,
  BUSINESS_EMAIL: businessEmail,
  BUSINESS_PHONE: [
    'business',
    'Telephone number of the business',
    '+44 20 7946 0000',
    (c) => c.business.phone,
  ],
  BUSINESS_ADDRESS: [
    'business',
    'Postal address of the business',
    '1 Harbour Road, Bristol',
    (c) => c.business.postalAddress,
  ],
  BUSINESS_TIMEZONE: [
    'business',
    'Time zone of the business',
    'Europe/London',
    (c) => c.business.timeZone,
  ],

  LOCATION_NAME: ['location', 'Name of the location', 'Quayside', (c) => c.location?.name],
  LOCATION_ADDRESS: [
    'location',
    'Postal address of the location',
    '4 Quay Street, Bristol',
    (c) => c.location?.address,
  ],
  LOCATION_DIRECTIONS: [
    'location',
    'How to get there',
    'Second floor, ring at the blue door.',
    (c) => c.location?.directions,
  ],
  LOCATION_PHONE: [
    'location',
    'Telephone number of the location',
    '+44 117 496 0000',
    (c) => c.location?.phone,
  ],
  LOCATION_EMAILADDRESS: [
    'location',
    'Email address of the location',
    'quayside@harbour.example',
    (c) => c.location?.emailAddress,
  ],
  LOCATION_TIMEZONE: [
    'location',
    'Time zone of the location, else of the business',
    'Europe/London',
    (c) => c.location && (c.location.timeZone ?? c.business.timeZone),
  ],
  LOCATION_EXTERNALID: [
    'location',
    'Id of the location in another system',
    'loc-7',
    (c) => c.location?.externalId,
  ],

  STAFF_FULLNAME: staffFullName,
  STAFF_FIRSTNAME: staffFirstName,
  STAFF_LASTNAME: staffLastName,
  STAFF_EMAIL: staffEmail,
  STAFF_EMAILADDRESS: staffEmail,
  PROFESSIONAL_FULLNAME: staffFullName,
  PROFESSIONAL_FIRSTNAME: staffFirstName,
  PROFESSIONAL_LASTNAME: staffLastName,
  PROFESSIONAL_EMAIL: staffEmail,
  STAFF_EXTERNALID: [
    'staff',
    'Id of the member of staff in another system',
    'staff-12',
    (c) => c.professional?.externalId,
  ],

  CLIENT_FULLNAME: ['client', 'Full name of the client', 'Ada Okafor', (c) => fullName(c.client)],
  CLIENT_FIRSTNAME: ['client', 'First name of the client', 'Ada', (c) => c.client?.firstName],
  CLIENT_LASTNAME: ['client', 'Last name of the client', 'Okafor', (c) => c.client?.lastName],
  CLIENT_EMAILADDRESS: clientEmail,
  CLIENT_EMAIL: clientEmail,
  CLIENT_PHONE: [
    'client',
    'Telephone number of the client',
    '+44 7700 900123',
    (c) => c.client?.phone,
  ],
  CLIENT_EXTERNALID: [
    'client',
    'Id of the client in another system',
    'client-4821',
    (c) => c.client?.externalId,
  ],
  CLIENT_TAGS: [
    'client',
    'All tags of the client; %CLIENT_TAG_LEVEL% is the tag “level” alone',
    'gold, newsletter',
    (c) => listTags(c.client?.tags),
  ],

  REASON: serviceName,
  REASON_NAME: serviceName,
  SERVICE_NAME: serviceName,
  REASON_DURATION: [
    'service',
    'How long the service takes',
    '45 minutes',
    (c, { reader }) => withMoment(c.reason?.durationMinutes, reader.minutes),
  ],
  REASON_PRICE: [
    'service',
    'Price of the service',
    '£60.00',
    (c, { reader }) =>
      withMoment(c.reason?.price, (price) => reader.price(price, c.reason?.currency ?? null)),
  ],
  SERVICE_EXTERNALID: [
    'service',
    'Id of the service in another system',
    'service-3',
    (c) => c.reason?.externalId,
  ],

  APPT_ID: [
    'appointment',
    'Number of the appointment or class',
    '48213',
    (c) => withMoment(c.calendar?.calendarId ?? c.classSchedule?.classScheduleId, String),
  ],
  APPT_CARD: [
    'appointment',
    'A card with day, time, place and staff; without this token it stands below the text',
    'First consultation, Tuesday, November 3, 2026 at 2:30 PM',
    (c, readers) =>
      withMoment(start(c), (moment) =>
        [serviceName[3](c, readers), dateTimeAtLocation(moment, readers)]
          .filter(Boolean)
          .join(', '),
      ),
  ],
  APPT_EXTERNALID: [
    'appointment',
    'Id of the appointment or class in another system',
    'visit-90210',
    (c) => visit(c)?.externalId,
  ],
  APPT_TAGS: [
    'appointment',
    'All tags of the appointment or class; %APPT_TAG_ROOM% is the tag “room” alone',
    'first visit',
    (c) => listTags(visit(c)?.tags),
  ],
  APPT_DATE: apptDate,
  APPT_TIME: apptTime,
  APPT_DATE_TIME: apptDateTime,
  APPT_START: apptDateTime,
  APPT_START_DATE: apptDate,
  APPT_START_TIME: apptTime,
  APPT_END: [
    'appointment',
    'Day and time at which it ends, in the client’s zone and language',
    'Tuesday, November 3, 2026 at 3:15 PM',
    (c, { reader }) => withMoment(end(c), reader.dateTime),
  ],
  APPT_END_DATE: [
    'appointment',
    'Day on which it ends, in the client’s zone and language',
    'Tuesday, November 3, 2026',
    (c, { reader }) => withMoment(end(c), reader.date),
  ],
  APPT_END_TIME: [
    'appointment',
    'Time at which it ends, in the client’s zone and language',
    '3:15 PM',
    (c, { reader }) => withMoment(end(c), reader.time),
  ],
  APPT_TIMEZONE: [
    'appointment',
    'The clock that %APPT_TIME% follows',
    'London time',
    (c, { reader }) => withMoment(start(c), reader.zoneName),
  ],
  APPT_DURATION: [
    'appointment',
    'How long it takes',
    '45 minutes',
    (c, { reader }) => withMoment(visit(c), (visit) => reader.minutes(lengthOf(visit))),
  ],
  APPT_STATUS: ['appointment', 'Its status', 'Confirmed', (c) => visit(c)?.status],
  APPT_DATE_LOCATION: [
    'appointment',
    'Day on which it starts at the location',
    'Tuesday, November 3, 2026',
    (c, { atLocation }) => withMoment(start(c), atLocation.date),
  ],
  APPT_TIME_LOCATION: [
    'appointment',
    'Time at which it starts at the location; names the place if the reader’s clock differs',
    '2:30 PM, London time',
    (c, readers) =>
      withMoment(start(c), (moment) =>
        timeAtLocation(readers.atLocation.time(moment), moment, readers),
      ),
  ],
  APPT_DATE_TIME_LOCATION: [
    'appointment',
    'Day and time at which it starts at the location; names the place if the reader’s clock differs',
    'Tuesday, November 3, 2026 at 2:30 PM, London time',
    (c, readers) => withMoment(start(c), (moment) => dateTimeAtLocation(moment, readers)),
  ],
  APPT_DATE_STAFF: [
    'appointment',
    'Day on which it starts, in the zone of the member of staff',
    'Tuesday, November 3, 2026',
    (c, { staff }) => withMoment(start(c), staff.date),
  ],
  APPT_TIME_STAFF: [
    'appointment',
    'Time at which it starts, in the zone of the member of staff',
    '2:30 PM',
    (c, { staff }) => withMoment(start(c), staff.time),
  ],
  APPT_DATE_TIME_STAFF: [
    'appointment',
    'Day and time at which it starts, in the zone of the member of staff',
    'Tuesday, November 3, 2026 at 2:30 PM',
    (c, { staff }) => withMoment(start(c), staff.dateTime),
  ],
  APPOINTMENT_NOTE: [
    'appointment',
    'Note of the appointment',
    'Please bring your referral letter.',
    (c) => c.calendar?.note,
  ],
  CHANGE_NOTE: [
    'appointment',
    'Note on the last change',
    'Moved by an hour, sorry for the trouble.',
    (c) => c.calendar?.changeNote,
  ],

  CLASS_ID: [
    'class',
    'Number of the class',
    '912',
    (c) => withMoment(c.classSchedule?.classScheduleId, String),
  ],
  CLASS_EXTERNALID: [
    'class',
    'Id of the class in another system',
    'class-31',
    (c) => c.classSchedule?.externalId,
  ],
  CLASS_TAGS: [
    'class',
    'All tags of the class; %CLASS_TAG_ROOM% is the tag “room” alone',
    'prenatal',
    (c) => listTags(c.classSchedule?.tags),
  ],
  CLASS_NAME: ['class', 'Name of the class', 'Prenatal yoga', (c) => c.classSchedule?.name],
  CLASS_DATE: classDate,
  CLASS_TIME: classTime,
  CLASS_START_DATE: classDate,
  CLASS_START_TIME: classTime,
  CLASS_DATE_TIME: [
    'class',
    'Day and time at which the class starts, in the client’s zone and language',
    'Tuesday, November 3, 2026 at 6:00 PM',
    (c, { reader }) => withMoment(c.classSchedule?.startTime, reader.dateTime),
  ],
  CLASS_END_DATE: [
    'class',
    'Day on which the class ends, in the client’s zone and language',
    'Tuesday, November 3, 2026',
    (c, { reader }) => withMoment(c.classSchedule?.endTime, reader.date),
  ],
  CLASS_END_TIME: [
    'class',
    'Time at which the class ends, in the client’s zone and language',
    '7:00 PM',
    (c, { reader }) => withMoment(c.classSchedule?.endTime, reader.time),
  ],
  CLASS_STATUS: ['class', 'Status of the class', 'Open', (c) => c.classSchedule?.status],
  CLASS_CAPACITY: [
    'class',
    'How many can take part',
    '12',
    (c) => withMoment(c.classSchedule?.capacity, String),
  ],

  CONFIRM_URL: [
    'appointment',
    'Link with which the client confirms the appointment or class; empty in mails to others',
    'https://bellwether.harbour.example/answer/confirm.7d1f',
    (c) => c.answerLinks?.confirm,
  ],
  CANCEL_URL: [
    'appointment',
    'Link with which the client cancels the appointment or class; empty in mails to others',
    'https://bellwether.harbour.example/answer/cancel.7d1f',
    (c) => c.answerLinks?.cancel,
  ],
  SIGN_URL: [
    'disclaimer',
    'Link with which the client reads and signs the form; empty in mails to others',
    'https://bellwether.harbour.example/answer/sign.7d1f',
    (c) => c.answerLinks?.sign,
  ],
  ANSWER_CLIENT: [
    'appointment',
    'Name of the client who answered by the link; empty in mails to clients',
    'Ada Okafor',
    (c, { isForStaff }) =>
      isForStaff ? (c.classSchedule ? c.classSchedule.answeredBy : fullName(c.client)) : null,
  ],
  ANSWER: [
    'class',
    'What the student answered by the link: confirmed, cancelled, or comes after all; empty in mails to clients',
    'confirmed',
    (c, { isForStaff, words }) => {
      const answer = c.classSchedule?.answer
      return isForStaff && answer ? words.answers[answer] : null
    },
  ],
  ANSWER_NOTE: [
    'appointment',
    'Why the client cancelled by the link; empty in mails to clients',
    'I have a cold.',
    (c, { isForStaff }) => (isForStaff ? (c.calendar ?? c.classSchedule)?.answerNote : null),
  ],
  APPT_MOVED_FROM: [
    'appointment',
    'Day and time before the move that the mail tells of, at the location; empty in other mails',
    'Monday, November 2, 2026 at 9:00 AM',
    (c, readers) => withMoment(c.movedFrom, (moment) => dateTimeAtLocation(moment, readers)),
  ],
  RESCHEDULE_URL: [
    'appointment',
    'Booking page of the business, where the client chooses another time',
    'https://book.harbour.example/',
    (c) => c.business.bookingUrl,
  ],

  INVITATION_LINK: [
    'invitation',
    'Link to book with this invitation',
    'https://book.harbour.example/?invitation=4f0c9a',
    (c) => c.invitation?.link,
  ],
  INVITATION_ID: [
    'invitation',
    'Identifier of the invitation',
    '4f0c9a1be2d34c5f8a6b7c8d9e0f1a2b',
    (c) => c.invitation?.invitationUUID,
  ],
  INVITATION_CAMPAIGN: [
    'invitation',
    'Name of the campaign',
    'Winter check-up',
    (c) => c.invitation?.campaignName,
  ],
  INVITATION_DESCRIPTION: [
    'invitation',
    'Description of the campaign',
    'Free check-up for every member.',
    (c) => c.invitation?.campaignDescription,
  ],
  INVITATION_EXPIRES_DATE: [
    'invitation',
    'Last day of the invitation, in the client’s zone and language',
    'Friday, December 18, 2026',
    (c, { reader }) => withMoment(c.invitation?.expiresTime, reader.date),
  ],
  INVITATION_EXPIRES_TIME: [
    'invitation',
    'Time at which the invitation ends, in the client’s zone and language',
    '5:00 PM',
    (c, { reader }) => withMoment(c.invitation?.expiresTime, reader.time),
  ],
  INVITATION_STATUS: [
    'invitation',
    'Status of the invitation',
    'Sent',
    (c) => c.invitation?.status,
  ],

  RECALL_DATE: [
    'recall',
    'Day on which the recall is due, in the client’s zone and language',
    'Monday, January 11, 2027',
    (c, { reader }) => withMoment(c.recall?.dueTime, reader.date),
  ],
  RECALL_TIME: [
    'recall',
    'Time at which the recall is due, in the client’s zone and language',
    '9:00 AM',
    (c, { reader }) => withMoment(c.recall?.dueTime, reader.time),
  ],
  RECALL_STATUS: ['recall', 'Status of the recall', 'Due', (c) => c.recall?.status],

  DISCLAIMER_NAME: [
    'disclaimer',
    'Name of the disclaimer form',
    'Consent to treatment',
    (c) => c.disclaimer?.formName,
  ],
  DISCLAIMER_BODY: [
    'disclaimer',
    'Text of the disclaimer form',
    'I agree to the treatment described to me.',
    (c) => c.disclaimer?.formBody,
  ],
  DISCLAIMER_STATUS: [
    'disclaimer',
    'Status of the disclaimer',
    'Pending',
    (c) => c.disclaimer?.status,
  ],

  UNSUBSCRIBE_LINK: [
    'unsubscribe',
    'Link with which the reader stops mails of this kind',
    'https://bellwether.harbour.example/unsubscribe/7d1f',
    (c) => c.unsubscribeLink,
  ],
} satisfies Record<string, Definition>

const tokens: Map<string, Token> = new Map(
  Object.entries(TOKENS as Record<string, Definition>).map(
    ([name, [kind, description, example, value]]) => [
      name,
      {
        name: name as TokenName,
        kind,
        description,
        example,
        value: (context, readers) => value(context, readers) ?? null,
      },
    ],
  ),
)
