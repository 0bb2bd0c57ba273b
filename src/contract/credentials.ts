import { Type, type Static } from 'typebox'
import { Business, businessExample } from './business.ts'
import { Maybe, serverOwned, ServerOwned } from './schema.ts'
import {
  address,
  boolean,
  instant,
  name,
  optional,
  reference,
  references,
  required,
  type Field,
} from './fields.ts'

export const SCOPES = [
  'definitions:read',
  'definitions:write',
  'scheduling:read',
  'scheduling:write',
  'mail:read',
  'mail:write',
  'reports:print',
  'admin',
] as const

export type Scope = (typeof SCOPES)[number]

export const ROLES = [
  'OWNER',
  'ADMINISTRATOR',
  'LOCATION_SUPER_USER',
  'USER',
  'REPORTS_ONLY',
] as const

export type Role = (typeof ROLES)[number]

const Moment = (description: string) => Type.Integer({ description: `${description} In ms.` })

const stamps = {
  active: Type.Boolean(),
  version: Type.Integer({ description: 'Counts its changes.' }),
  createdDate: Moment('When it was made.'),
  createdUser: Type.String(),
  modifiedDate: Moment('When it was last changed.'),
  modifiedUser: Type.String(),
}

const stampsExample = {
  active: true,
  version: 1,
  createdDate: 1_789_000_000_000,
  createdUser: 'anna',
  modifiedDate: 1_789_000_000_000,
  modifiedUser: 'anna',
}

const apiKey = {
  apiKeyId: Type.Integer(),
  businessId: Type.Integer(),
  name: Type.String({ description: 'Changes made with it are by `key:<name>`.' }),
  prefix: Type.String({ description: 'How the key begins, to know it again.' }),
  scopes: Type.Array(Type.Enum([...SCOPES], { title: 'Scope' })),
  expiresTime: Type.Union([Moment('No longer taken from then on.'), Type.Null()]),
  lastUsedTime: Type.Union([Moment('To the minute.'), Type.Null()]),
  makerUserId: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The person with whom the key ends; null: it belongs to the business.',
  }),
  ...stamps,
}

const apiKeyExample = {
  apiKeyId: 7,
  businessId: 1,
  name: 'booking site',
  prefix: 'bw_3fJ9aQ',
  scopes: ['scheduling:read', 'scheduling:write'],
  expiresTime: null,
  lastUsedTime: null,
  makerUserId: null,
  ...stampsExample,
}

export const ApiKey = Type.Object(apiKey, { title: 'ApiKey', examples: [apiKeyExample] })
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Type.Object(
  { ...apiKey, key: Type.String({ description: 'Shown this once; only its hash is kept.' }) },
  { title: 'NewApiKey', examples: [{ ...apiKeyExample, key: 'bw_3fJ9aQ…' }] },
)

const userExample = {
  userId: 3,
  businessId: 1,
  username: 'anna',
  emailAddress: 'anna@praxis.example',
  role: 'OWNER',
  professionalId: null,
  locationIdList: [],
  ...stampsExample,
}

export const User = Type.Object(
  {
    userId: Type.Integer(),
    businessId: Type.Integer(),
    username: Type.String({ description: 'Unique in the whole installation.' }),
    emailAddress: Type.Union([Type.String(), Type.Null()], {
      description: 'Where invitations and links to a new password are mailed.',
    }),
    role: Type.Enum([...ROLES], { title: 'Role' }),
    professionalId: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Whose appointments a USER sees.',
    }),
    locationIdList: Type.Array(Type.Integer(), {
      description: 'The locations that a LOCATION_SUPER_USER sees.',
    }),
    ...stamps,
  },
  { title: 'User', examples: [userExample] },
)
export type User = Static<typeof User>

export const Session = Type.Object(
  {
    userId: Type.Integer(),
    username: Type.String(),
    role: Type.Enum([...ROLES], { title: 'Role' }),
    functions: Type.Array(Type.String(), { description: 'What the person may do.' }),
    professionalId: Type.Union([Type.Integer(), Type.Null()]),
    locationIdList: Type.Array(Type.Integer()),
    business: Business,
  },
  {
    title: 'Session',
    examples: [
      {
        userId: 3,
        username: 'anna',
        role: 'REPORTS_ONLY',
        functions: ['PRINT_REPORTS'],
        professionalId: null,
        locationIdList: [],
        business: businessExample,
      },
    ],
  },
)

const isOneOf = (choices: readonly string[], value: unknown) =>
  typeof value === 'string' && choices.includes(value)

type Shape = Parameters<typeof optional>[0]

const scopes = (): Shape => ({
  schema: Type.Array(Type.Enum([...SCOPES], { title: 'Scope' })),
  sqlType: 'text[]',
  initially: [...SCOPES],
  faults: (value) => {
    if (!Array.isArray(value) || value.length === 0) {
      return [{ detail: 'must be a list of scopes; absent means all of them' }]
    }
    return value.flatMap((scope, i) =>
      isOneOf(SCOPES, scope)
        ? []
        : [{ at: `/${i}`, detail: `must be one of ${SCOPES.join(', ')}` }],
    )
  },
})

export const API_KEY_FIELDS = {
  name: required(name(100)),
  scopes: optional(scopes()),
  expiresTime: optional(instant()),
}

export const ApiKeyWrite = Type.Object(
  {
    apiKeyId: Maybe(Type.Integer({ description: 'Makes it an update.' })),
    businessId: Maybe(Type.Integer()),
    name: Type.Optional(Type.String({ description: 'Required to make one.' })),
    scopes: Maybe(
      Type.Array(Type.Enum([...SCOPES], { title: 'Scope' }), { description: 'Absent: all.' }),
    ),
    expiresTime: Maybe(Type.Integer()),
    active: ServerOwned,
    prefix: ServerOwned,
    key: ServerOwned,
    lastUsedTime: ServerOwned,
    makerUserId: ServerOwned,
    ...serverOwned,
  },
  {
    title: 'ApiKeyBody',
    examples: [{ name: 'booking site', scopes: ['scheduling:read', 'scheduling:write'] }],
  },
)

/** Letters, digits and what stands in an address; never a name that the service itself uses. */
const username = (): Shape => ({
  schema: Type.String({ minLength: 1, maxLength: 254 }),
  sqlType: 'text',
  faults: (value) => {
    if (typeof value !== 'string' || !/^[\p{L}\p{M}\p{N}._@+-]{1,254}$/u.test(value)) {
      return [{ detail: 'must be 1 to 254 letters, digits or any of . _ @ + -' }]
    }
    return /^(system|operator)$/i.test(value) ? [{ detail: 'is a name of the service itself' }] : []
  },
})

const role = (): Shape => ({
  schema: Type.Enum([...ROLES], { title: 'Role' }),
  sqlType: 'text',
  faults: (value) =>
    isOneOf(ROLES, value) ? [] : [{ detail: `must be one of ${ROLES.join(', ')}` }],
})

const SHORTEST_PASSWORD = 8
const LONGEST_PASSWORD = 256

/** Length is what counts; no rule about kinds of characters makes a password better. */
export const password = (): Shape => ({
  schema: Type.String({ minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD }),
  sqlType: 'text',
  faults: (value) => {
    if (typeof value !== 'string') return [{ detail: 'must be a string' }]
    const length = [...value].length
    return length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD
      ? [{ detail: `must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters` }]
      : []
  },
})

export const USER_FIELDS: Record<string, Field> = {
  username: required(username()),
  emailAddress: optional(address()),
  role: required(role()),
  professionalId: optional(reference('professional')),
  locationIdList: optional(references('location')),
  active: optional(boolean(true)),
}

const userWrite = {
  userId: Maybe(Type.Integer({ description: 'Makes it an update.' })),
  businessId: Maybe(Type.Integer()),
  username: Type.Optional(Type.String({ description: 'Required to make one.' })),
  emailAddress: Maybe(Type.String({ description: 'Where invitations and password links go.' })),
  role: Type.Optional(
    Type.Enum([...ROLES], { title: 'Role', description: 'Required to make one.' }),
  ),
  professionalId: Maybe(Type.Integer()),
  locationIdList: Maybe(Type.Array(Type.Integer())),
  active: Maybe(Type.Boolean()),
  ...serverOwned,
}

export const UserWrite = Type.Object(
  {
    ...userWrite,
    password: Maybe(
      Type.String({ description: 'Required to make one; on an update it ends every session.' }),
    ),
  },
  {
    title: 'UserBody',
    examples: [{ username: 'anna', password: 'a long one, please', role: 'OWNER' }],
  },
)

export const UserInvite = Type.Object(userWrite, {
  title: 'UserInvite',
  examples: [{ username: 'bela', emailAddress: 'bela@praxis.example', role: 'USER' }],
})

export const PASSWORD_LINK_PURPOSES = ['INVITATION', 'FORGOTTEN'] as const

export type PasswordLinkPurpose = (typeof PASSWORD_LINK_PURPOSES)[number]

export const PasswordLink = Type.Object(
  {
    username: Type.String(),
    businessName: Type.String(),
    purpose: Type.Enum([...PASSWORD_LINK_PURPOSES], { title: 'PasswordLinkPurpose' }),
    expiresTime: Moment('The link no longer works from then on.'),
  },
  {
    title: 'PasswordLink',
    examples: [
      {
        username: 'bela',
        businessName: 'Praxis am See',
        purpose: 'INVITATION',
        expiresTime: 1_789_000_000_000,
      },
    ],
  },
)
export type PasswordLink = Static<typeof PasswordLink>
