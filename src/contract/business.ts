import { Type, type Static } from 'typebox'
import { about, IdWith, Maybe, Named, OrNull, serverOwned, stamps } from './schema.ts'
import {
  address,
  answerProperties,
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

const MAX_DAILY_MAILS = 10_000_000

const MAX_BULK_LIMIT = 1_000_000

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

export const BUSINESS_FIELDS = {
  name: required(name(), 'The name, as clients know it.'),
  timeZone: required(timeZone(), 'An IANA time zone, such as Europe/Zurich.'),
  emailAddress: optional(address(), 'The email address for clients.'),
  phone: optional(line(60), 'The phone number for clients.'),
  postalAddress: optional(
    text(1_000),
    'The postal address in the footer of emails that are about no location with an address. ' +
      'Null: that of the only active location. ' +
      'Many countries require one in mails that readers can unsubscribe from.',
    'Seestrasse 12\n8002 Zürich',
  ),
  postalAddressRequired: optional(
    boolean(false),
    'Emails that readers can unsubscribe from are sent only if the location or the business has a ' +
      'postal address. Without one they are SKIPPED.',
  ),
  language: optional(language(), 'A language tag, such as de-CH.'),
  logo: optional(
    fileUUId(),
    'The `fileUUId` of a PNG or JPEG of the file library, up to 200 KB.',
    '7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a',
  ),
  confirmStatus: optional(
    name(60),
    'The status of an appointment that its client confirms by `%CONFIRM_URL%`. Null: CONFIRMED.',
    'CONFIRMED',
  ),
  cancelStatus: optional(
    name(60),
    'The status of an appointment that its client cancels by `%CANCEL_URL%`. Null: CANCELLED.',
    'CANCELLED',
  ),
  cancelUntilHours: optional(
    integer(0, 8_760),
    'Clients can cancel by the link until so many hours before the start. Null: until the start.',
    24,
  ),
  lapsedAfterDays: optional(
    integer(1, 3_650),
    'Reports count a client as lapsed after twice the usual interval between two visits of their service, ' +
      'but not before so many days. Null: 60.',
    60,
  ),
  bookingUrl: optional(
    url(),
    'The booking page of the business: `%RESCHEDULE_URL%` in an email.',
    'https://praxis.example/book',
  ),
  externalId: optional(
    name(200),
    'The id of the business in another system. Only the operator can set it.',
  ),
  senderDomains: optional(
    domains(),
    'The domains from which the business may send. Email from any other domain is sent from MAIL_FROM, ' +
      'with the address of the template as Reply-To. Only the operator can set it.',
  ),
  mailPaused: optional(
    boolean(false),
    'No mail of the business is sent while true, except about accounts. Triggers stay SCHEDULED and ' +
      'mails QUEUED. When it ends, what is no longer useful becomes EXPIRED or CANCELLED, and the rest is sent.',
  ),
  mailPausedReason: optional(
    line(),
    'Why mail is paused, for people. Null if it is not.',
    'We are moving to new rooms.',
  ),
  accentColor: optional(color(), 'The colour of buttons and lines in emails, such as #2f5d50.'),
  website: optional(url(), 'The website, which every email links to.', 'https://praxis.example'),
  replyTo: optional(
    address(),
    'Where replies to emails go. Null: to `emailAddress`.',
    'desk@praxis.example',
  ),
  dailyMailLimit: optional(
    integer(1, MAX_DAILY_MAILS),
    'How many mails the business may send on one day of its time zone; the others wait for the next ' +
      'morning. null: no limit. Only the operator can set it.',
    5_000,
  ),
  bulkLimit: optional(
    integer(0, MAX_BULK_LIMIT),
    'An import or bulk call that would send more mails than this at once waits for approval. null: ' +
      'the larger of 50 and three times the busiest hour of the last 30 days.',
    200,
  ),
  quietHours: optional(
    quietHours(),
    'Automations send nothing between these times, on the clock of the location or else of the ' +
      'business. null: no quiet hours.',
  ),
  active: optional(boolean(true), 'False if it is deactivated. Only the operator can set it.'),
}

const QuietHours = Named('QuietHours', BUSINESS_FIELDS.quietHours.schema.properties)
export type QuietHours = Static<typeof QuietHours>

export const Business = Named(
  'Business',
  {
    businessId: Type.Integer(),
    ...answerProperties(BUSINESS_FIELDS),
    quietHours: about(
      OrNull(QuietHours),
      'Automations send nothing in these hours; null: no quiet hours.',
    ),
    ...stamps,
  },
  businessExample,
)
export type Business = Static<typeof Business>

/** The body of a POST. With `businessId` it is an update. */
export const BusinessWrite = Named(
  'BusinessBody',
  {
    businessId: Maybe(IdWith({ description: 'The business to change; absent: a new one.' })),
    ...bodyProperties(BUSINESS_FIELDS),
    ...serverOwned,
  },
  { name: 'Praxis am See', timeZone: 'Europe/Zurich' },
)

export const BUSINESS_BODY = { schema: BusinessWrite, fields: BUSINESS_FIELDS }

/** An appointment that is confirmed takes place; one that is cancelled does not. */
export const ANSWER_STATUSES = [
  { property: 'confirmStatus', live: true },
  { property: 'cancelStatus', live: false },
] as const
