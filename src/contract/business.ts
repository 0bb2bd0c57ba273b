import { Type, type Static } from 'typebox'
import { about, IdWith, Maybe, serverOwned, stamps } from './schema.ts'
import {
  address,
  bodyProperties,
  boolean,
  color,
  domains,
  fileUUId,
  integer,
  language,
  line,
  name,
  optional,
  quietHours,
  required,
  text,
  timeZone,
  url,
} from './fields.ts'

const OrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const ABOUT = {
  senderDomains:
    'The domains from which the business may send. Email from any other domain is sent from MAIL_FROM, ' +
    'with the address of the template as Reply-To.',
  dailyMailLimit:
    'How many mails the business may send on one day of its time zone; the others wait for the next ' +
    'morning. null: no limit. Only the operator can set it.',
  bulkLimit:
    'An import or bulk call that would send more mails than this at once waits for approval. null: ' +
    'the larger of 50 and three times the busiest hour of the last 30 days.',
  quietHours:
    'Automations send nothing between these times, on the clock of the location or else of the ' +
    'business. null: no quiet hours.',
  accentColor: 'The colour of buttons and lines in emails, such as #2f5d50.',
  postalAddress:
    'The postal address in the footer of emails that are about no location with an address. ' +
    'Null: that of the only active location. ' +
    'Many countries require one in mails that readers can unsubscribe from.',
  postalAddressRequired:
    'Emails that readers can unsubscribe from are sent only if the location or the business has a ' +
    'postal address. Without one they are SKIPPED.',
  website: 'The website, which every email links to.',
  replyTo: 'Where replies to emails go. Null: to `emailAddress`.',
  logo: 'The `fileUUId` of a PNG or JPEG of the file library, up to 200 KB.',
  confirmStatus:
    'The status of an appointment that its client confirms by `%CONFIRM_URL%`. Null: CONFIRMED.',
  cancelStatus:
    'The status of an appointment that its client cancels by `%CANCEL_URL%`. Null: CANCELLED.',
  cancelUntilHours:
    'Clients can cancel by the link until so many hours before the start. Null: until the start.',
  lapsedAfterDays:
    'Reports count a client as lapsed after twice the usual interval between two visits of their service, ' +
    'but not before so many days. Null: 60.',
  bookingUrl: 'The booking page of the business: `%RESCHEDULE_URL%` in an email.',
  mailPaused:
    'No mail of the business is sent while true, except about accounts. Triggers stay SCHEDULED and ' +
    'mails QUEUED. When it ends, what is no longer useful becomes EXPIRED or CANCELLED, and the rest is sent.',
}

const MAX_DAILY_MAILS = 10_000_000

const MAX_BULK_LIMIT = 1_000_000

const QuietHours = Type.Object(
  {
    from: Type.String({ description: 'When quiet hours begin.', examples: ['21:00'] }),
    to: Type.String({
      description: 'When they end; on the next day if it is earlier than `from`.',
      examples: ['08:00'],
    }),
  },
  {
    title: 'QuietHours',
    description: ABOUT.quietHours,
  },
)
export type QuietHours = Static<typeof QuietHours>

export const businessExample = {
  businessId: 1,
  name: 'Praxis am See',
  timeZone: 'Europe/Zurich',
  emailAddress: 'hello@praxis.example',
  phone: '+41 44 000 00 00',
  postalAddress: 'Seestrasse 12\n8002 Zürich',
  postalAddressRequired: true,
  language: 'de-CH',
  logo: '7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a',
  confirmStatus: 'CONFIRMED',
  cancelStatus: 'CANCELLED',
  cancelUntilHours: 24,
  lapsedAfterDays: 60,
  bookingUrl: 'https://praxis.example/book',
  externalId: null,
  senderDomains: ['praxis.example'],
  mailPaused: false,
  mailPausedReason: null,
  accentColor: '#2f5d50',
  website: 'https://praxis.example',
  replyTo: 'desk@praxis.example',
  dailyMailLimit: null,
  bulkLimit: null,
  quietHours: { from: '21:00', to: '08:00' },
  active: true,
  version: 1,
  createdDate: 1_789_000_000_000,
  createdUser: 'OPERATOR',
  modifiedDate: 1_789_000_000_000,
  modifiedUser: 'OPERATOR',
}

export const Business = Type.Object(
  {
    businessId: Type.Integer(),
    name: Type.String(),
    timeZone: Type.String({ description: 'An IANA time zone.' }),
    emailAddress: OrNull('The email address for clients.'),
    phone: OrNull('The phone number for clients.'),
    postalAddress: OrNull(ABOUT.postalAddress),
    postalAddressRequired: Type.Boolean({ description: ABOUT.postalAddressRequired }),
    language: OrNull('A language tag, such as de-CH.'),
    logo: OrNull(ABOUT.logo),
    confirmStatus: OrNull(ABOUT.confirmStatus),
    cancelStatus: OrNull(ABOUT.cancelStatus),
    cancelUntilHours: Type.Union([Type.Integer(), Type.Null()], {
      description: ABOUT.cancelUntilHours,
    }),
    lapsedAfterDays: Type.Union([Type.Integer(), Type.Null()], {
      description: ABOUT.lapsedAfterDays,
      examples: [60],
    }),
    bookingUrl: OrNull(ABOUT.bookingUrl),
    externalId: OrNull('The id of the object in another system.'),
    senderDomains: Type.Array(Type.String(), { description: ABOUT.senderDomains }),
    mailPaused: Type.Boolean({ description: ABOUT.mailPaused }),
    mailPausedReason: about(
      Type.Union([Type.String(), Type.Null()]),
      'Why mail is paused, for people. Null if it is not.',
      'We are moving to new rooms.',
    ),
    accentColor: OrNull(ABOUT.accentColor),
    website: OrNull(ABOUT.website),
    replyTo: OrNull(ABOUT.replyTo),
    dailyMailLimit: Type.Union([Type.Integer(), Type.Null()], {
      description: ABOUT.dailyMailLimit,
      examples: [5_000],
    }),
    bulkLimit: Type.Union([Type.Integer(), Type.Null()], {
      description: ABOUT.bulkLimit,
      examples: [200],
    }),
    quietHours: about(
      Type.Union([QuietHours, Type.Null()]),
      'Automations send nothing in these hours; null: no quiet hours.',
    ),
    active: Type.Boolean(),
    ...stamps,
  },
  { title: 'Business', examples: [businessExample] },
)

export type Business = Static<typeof Business>

const REQUIRED = 'Required to create one.'

export const BUSINESS_FIELDS = {
  name: required(name(), `The name, as clients know it. ${REQUIRED}`),
  timeZone: required(timeZone(), `An IANA time zone, such as Europe/Zurich. ${REQUIRED}`),
  emailAddress: optional(address(), 'The email address for clients.'),
  phone: optional(line(60), 'The phone number for clients.'),
  postalAddress: optional(text(1_000), ABOUT.postalAddress, 'Seestrasse 12\n8002 Zürich'),
  postalAddressRequired: optional(boolean(false), ABOUT.postalAddressRequired),
  language: optional(language(), 'A language tag, such as de-CH.'),
  logo: optional(fileUUId(), ABOUT.logo, '7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a'),
  confirmStatus: optional(name(60), ABOUT.confirmStatus, 'CONFIRMED'),
  cancelStatus: optional(name(60), ABOUT.cancelStatus, 'CANCELLED'),
  cancelUntilHours: optional(integer(0, 8_760), ABOUT.cancelUntilHours, 24),
  lapsedAfterDays: optional(integer(1, 3_650), ABOUT.lapsedAfterDays, 60),
  bookingUrl: optional(url(), ABOUT.bookingUrl, 'https://praxis.example/book'),
  externalId: optional(
    name(200),
    'The id of the business in another system. Only the operator can set it.',
  ),
  senderDomains: optional(domains(), `${ABOUT.senderDomains} Only the operator can set it.`),
  mailPaused: optional(boolean(false), ABOUT.mailPaused),
  mailPausedReason: optional(
    line(),
    'Why mail is paused, for people.',
    'We are moving to new rooms.',
  ),
  accentColor: optional(color(), ABOUT.accentColor),
  website: optional(url(), ABOUT.website, 'https://praxis.example'),
  replyTo: optional(address(), ABOUT.replyTo, 'desk@praxis.example'),
  dailyMailLimit: optional(integer(1, MAX_DAILY_MAILS), ABOUT.dailyMailLimit, 5_000),
  bulkLimit: optional(integer(0, MAX_BULK_LIMIT), ABOUT.bulkLimit, 200),
  quietHours: optional(quietHours(), ABOUT.quietHours),
  active: optional(boolean(true), 'False if it is deactivated. Only the operator can set it.'),
}

/** The body of a POST. With `businessId` it is an update. */
export const BusinessWrite = Type.Object(
  {
    businessId: Maybe(IdWith({ description: 'The business to change; absent: a new one.' })),
    ...bodyProperties(BUSINESS_FIELDS),
    ...serverOwned,
  },
  { title: 'BusinessBody', examples: [{ name: 'Praxis am See', timeZone: 'Europe/Zurich' }] },
)

export const BUSINESS_BODY = { schema: BusinessWrite, fields: BUSINESS_FIELDS }

/** An appointment that is confirmed takes place; one that is cancelled does not. */
export const ANSWER_STATUSES = [
  { property: 'confirmStatus', live: true },
  { property: 'cancelStatus', live: false },
] as const
