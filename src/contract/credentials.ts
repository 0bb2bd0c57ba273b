import { Type, type Static } from 'typebox'
import { Business, businessExample } from './business.ts'

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
  scopes: Type.Array(Type.Enum([...SCOPES])),
  expiresTime: Type.Union([Moment('No longer taken from then on.'), Type.Null()]),
  lastUsedTime: Type.Union([Moment('To the minute.'), Type.Null()]),
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
  ...stampsExample,
}

export const ApiKey = Type.Object(apiKey, { examples: [apiKeyExample] })
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Type.Object(
  { ...apiKey, key: Type.String({ description: 'Shown this once; only its hash is kept.' }) },
  { examples: [{ ...apiKeyExample, key: 'bw_3fJ9aQ…' }] },
)

const userExample = {
  userId: 3,
  businessId: 1,
  username: 'anna',
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
    role: Type.Enum([...ROLES]),
    professionalId: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Whose appointments a USER sees.',
    }),
    locationIdList: Type.Array(Type.Integer(), {
      description: 'The locations that a LOCATION_SUPER_USER sees.',
    }),
    ...stamps,
  },
  { examples: [userExample] },
)
export type User = Static<typeof User>

export const Session = Type.Object(
  {
    userId: Type.Integer(),
    username: Type.String(),
    role: Type.Enum([...ROLES]),
    functions: Type.Array(Type.String(), { description: 'What the person may do.' }),
    professionalId: Type.Union([Type.Integer(), Type.Null()]),
    locationIdList: Type.Array(Type.Integer()),
    business: Business,
  },
  {
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
