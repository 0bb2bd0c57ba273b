import { Type, type Static } from 'typebox'
import { Maybe, serverOwned } from './schema.ts'
import {
  address,
  boolean,
  domains,
  language,
  line,
  name,
  optional,
  required,
  timeZone,
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

export const businessExample = {
  businessId: 1,
  name: 'Praxis am See',
  timeZone: 'Europe/Zurich',
  emailAddress: 'hello@praxis.example',
  phone: '+41 44 000 00 00',
  language: 'de-CH',
  externalId: null,
  senderDomains: ['praxis.example'],
  mailPaused: false,
  mailPausedReason: null,
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
    language: OrNull('A language tag, such as de-CH.'),
    externalId: OrNull('The id of the object in another system.'),
    senderDomains: SenderDomains,
    mailPaused: Type.Boolean({ description: MAIL_PAUSED }),
    mailPausedReason: OrNull('Why mail is paused, for people. Null if it is not.'),
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
  externalId: optional(name(200)),
  senderDomains: optional(domains()),
  mailPaused: optional(boolean(false)),
  mailPausedReason: optional(line()),
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
    externalId: Type.Optional(
      OrNull('The id of the business in another system. Only the operator can set it.'),
    ),
    senderDomains: Type.Optional(
      Type.Union([SenderDomains, Type.Null()], { description: 'Only the operator can set it.' }),
    ),
    mailPaused: Maybe(Type.Boolean({ description: MAIL_PAUSED })),
    mailPausedReason: Type.Optional(OrNull('Why mail is paused, for people.')),
    active: Maybe(Type.Boolean({ description: 'Only the operator can set it.' })),
    ...serverOwned,
  },
  { title: 'BusinessBody', examples: [{ name: 'Praxis am See', timeZone: 'Europe/Zurich' }] },
)
