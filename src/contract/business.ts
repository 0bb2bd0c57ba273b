import { Type, type Static } from 'typebox'
import { Maybe, serverOwned } from './schema.ts'
import {
  address,
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
  timeZone,
  url,
} from './fields.ts'

const SenderDomains = Type.Array(Type.String(), {
  description:
    'The domains from which the business may send. Email from any other domain is sent from MAIL_FROM, ' +
    'with the address of the template as Reply-To.',
})

const OrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const MAIL_PAUSED =
  'No mail of the business is sent while true. Triggers stay SCHEDULED and mails QUEUED. When it ends, ' +
  'what is no longer useful becomes EXPIRED or CANCELLED, and the rest is sent.'

const MAX_DAILY_MAILS = 10_000_000

const DailyMailLimit = Type.Union(
  [Type.Integer({ minimum: 1, maximum: MAX_DAILY_MAILS }), Type.Null()],
  {
    description:
      'How many mails the business may send on one day of its time zone; the others wait for the next ' +
      'day. null: no limit. Only the operator can set it.',
    examples: [5_000],
  },
)

const MAX_BULK_LIMIT = 1_000_000

const BulkLimit = Type.Union([Type.Integer({ minimum: 0, maximum: MAX_BULK_LIMIT }), Type.Null()], {
  description:
    'An import or bulk call that would send more mails than this at once waits for approval. null: ' +
    'the larger of 50 and three times the busiest hour of the last 30 days.',
  examples: [200],
})

/** A schema of a body and one of an answer cannot have the same title. */
const QuietHoursAs = (title: string) =>
  Type.Object(
    {
      from: Type.String({ description: 'When quiet hours begin.', examples: ['21:00'] }),
      to: Type.String({
        description: 'When they end; on the next day if it is earlier than `from`.',
        examples: ['08:00'],
      }),
    },
    {
      title,
      description:
        'Automations send nothing between these times, on the clock of the location or else of the ' +
        'business. null: no quiet hours.',
    },
  )
const QuietHours = QuietHoursAs('QuietHours')
export type QuietHours = Static<typeof QuietHours>

export const businessExample = {
  businessId: 1,
  name: 'Praxis am See',
  timeZone: 'Europe/Zurich',
  emailAddress: 'hello@praxis.example',
  phone: '+41 44 000 00 00',
  language: 'de-CH',
  logo: '7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a',
  confirmStatus: 'CONFIRMED',
  cancelStatus: 'CANCELLED',
  cancelUntilHours: 24,
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

/** How emails look, and where replies to them go. */
const mailing = {
  accentColor: OrNull('The colour of buttons and lines in emails, such as #2f5d50.'),
  website: OrNull('The website, which every email links to.'),
  replyTo: OrNull('Where replies to emails go. Null: to `emailAddress`.'),
}

/** The logo in mails, and what clients can do by the links in them. */
const answering = {
  logo: OrNull('The `fileUUId` of a PNG or JPEG of the file library, up to 200 KB.'),
  confirmStatus: OrNull(
    'The status of an appointment that its client confirms by `%CONFIRM_URL%`. Null: CONFIRMED.',
  ),
  cancelStatus: OrNull(
    'The status of an appointment that its client cancels by `%CANCEL_URL%`. Null: CANCELLED.',
  ),
  cancelUntilHours: Type.Union([Type.Integer({ minimum: 0, maximum: 8_760 }), Type.Null()], {
    description:
      'Clients can cancel by the link until so many hours before the start. Null: until the start.',
  }),
  bookingUrl: OrNull('The booking page of the business: `%RESCHEDULE_URL%` in an email.'),
}

export const Business = Type.Object(
  {
    businessId: Type.Integer(),
    name: Type.String(),
    timeZone: Type.String({ description: 'An IANA time zone.' }),
    emailAddress: OrNull('The email address for clients.'),
    phone: OrNull('The phone number for clients.'),
    language: OrNull('A language tag, such as de-CH.'),
    ...answering,
    externalId: OrNull('The id of the object in another system.'),
    senderDomains: SenderDomains,
    mailPaused: Type.Boolean({ description: MAIL_PAUSED }),
    mailPausedReason: OrNull('Why mail is paused, for people. Null if it is not.'),
    ...mailing,
    dailyMailLimit: DailyMailLimit,
    bulkLimit: BulkLimit,
    quietHours: Type.Union([QuietHours, Type.Null()]),
    active: Type.Boolean(),
    version: Type.Integer({ description: 'Incremented by every change.' }),
    createdDate: Type.Integer(),
    createdUser: Type.String(),
    modifiedDate: Type.Integer(),
    modifiedUser: Type.String(),
  },
  { title: 'Business', examples: [businessExample] },
)

export type Business = Static<typeof Business>

export const BUSINESS_FIELDS = {
  name: required(name()),
  timeZone: required(timeZone()),
  emailAddress: optional(address()),
  phone: optional(line(60)),
  language: optional(language()),
  logo: optional(fileUUId()),
  confirmStatus: optional(name(60)),
  cancelStatus: optional(name(60)),
  cancelUntilHours: optional(integer(0, 8_760)),
  bookingUrl: optional(url()),
  externalId: optional(name(200)),
  senderDomains: optional(domains()),
  mailPaused: optional(boolean(false)),
  mailPausedReason: optional(line()),
  accentColor: optional(color()),
  website: optional(url()),
  replyTo: optional(address()),
  dailyMailLimit: optional(integer(1, MAX_DAILY_MAILS)),
  bulkLimit: optional(integer(0, MAX_BULK_LIMIT)),
  quietHours: optional(quietHours()),
  active: optional(boolean(true)),
}

/** The body of a POST. With `businessId` it is an update. */
export const BusinessWrite = Type.Object(
  {
    businessId: Maybe(Type.Integer({ description: 'The business to change; absent: a new one.' })),
    name: Type.Optional(Type.String({ description: 'Required to create one.' })),
    timeZone: Type.Optional(
      Type.String({
        description: 'An IANA time zone, such as Europe/Zurich. Required to create one.',
      }),
    ),
    emailAddress: Type.Optional(OrNull('The email address for clients.')),
    phone: Type.Optional(OrNull('The phone number for clients.')),
    language: Type.Optional(OrNull('A language tag, such as de-CH.')),
    logo: Type.Optional(answering.logo),
    confirmStatus: Type.Optional(answering.confirmStatus),
    cancelStatus: Type.Optional(answering.cancelStatus),
    cancelUntilHours: Type.Optional(answering.cancelUntilHours),
    bookingUrl: Type.Optional(answering.bookingUrl),
    externalId: Type.Optional(
      OrNull('The id of the business in another system. Only the operator can set it.'),
    ),
    senderDomains: Type.Optional(
      Type.Union([SenderDomains, Type.Null()], { description: 'Only the operator can set it.' }),
    ),
    mailPaused: Maybe(Type.Boolean({ description: MAIL_PAUSED })),
    mailPausedReason: Type.Optional(OrNull('Why mail is paused, for people.')),
    accentColor: Type.Optional(mailing.accentColor),
    website: Type.Optional(mailing.website),
    replyTo: Type.Optional(mailing.replyTo),
    dailyMailLimit: Type.Optional(DailyMailLimit),
    bulkLimit: Type.Optional(BulkLimit),
    quietHours: Maybe(QuietHoursAs('QuietHoursBody')),
    active: Maybe(Type.Boolean({ description: 'Only the operator can set it.' })),
    ...serverOwned,
  },
  { title: 'BusinessBody', examples: [{ name: 'Praxis am See', timeZone: 'Europe/Zurich' }] },
)
