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
    'The domains from which it may send. A mail from any other goes out from MAIL_FROM, and replies ' +
    'go to the address that the template names.',
})

const OrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const businessExample = {
  businessId: 1,
  name: 'Praxis am See',
  timeZone: 'Europe/Zurich',
  emailAddress: 'hello@praxis.example',
  phone: '+41 44 000 00 00',
  language: 'de-CH',
  externalId: null,
  senderDomains: ['praxis.example'],
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
    timeZone: Type.String({ description: 'An IANA zone.' }),
    emailAddress: OrNull('Where clients reach it.'),
    phone: OrNull('Where clients call it.'),
    language: OrNull('A language tag, such as de-CH.'),
    externalId: OrNull('Its id in another system.'),
    senderDomains: SenderDomains,
    active: Type.Boolean(),
    version: Type.Integer({ description: 'Counts its changes.' }),
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
  active: optional(boolean(true)),
}

/** The form of a POST. `businessId` makes it an update. */
export const BusinessWrite = Type.Object(
  {
    businessId: Maybe(Type.Integer({ description: 'The business to change; absent: a new one.' })),
    name: Type.Optional(Type.String({ description: 'Required to make one.' })),
    timeZone: Type.Optional(
      Type.String({ description: 'An IANA zone, such as Europe/Zurich. Required to make one.' }),
    ),
    emailAddress: Type.Optional(OrNull('Where clients reach it.')),
    phone: Type.Optional(OrNull('Where clients call it.')),
    language: Type.Optional(OrNull('A language tag, such as de-CH.')),
    externalId: Type.Optional(OrNull('Its id in another system; the operator’s to set.')),
    senderDomains: Type.Optional(
      Type.Union([SenderDomains, Type.Null()], { description: 'The operator’s to set.' }),
    ),
    active: Maybe(Type.Boolean({ description: 'The operator’s to set.' })),
    ...serverOwned,
  },
  { title: 'BusinessBody', examples: [{ name: 'Praxis am See', timeZone: 'Europe/Zurich' }] },
)
