import { Type, type Static, type TString } from 'typebox'
import { Business, businessExample } from './business.ts'
import { inWords, withRule } from './rules.ts'
import {
  Named,
  about,
  Id,
  Maybe,
  serverOwned,
  ServerOwned,
  UpdatedId,
  stamps,
  stampsExample,
} from './schema.ts'
import {
  address,
  answerProperties,
  bodyProperties,
  boolean,
  instant,
  name,
  oneOf,
  optional,
  reference,
  references,
  required,
  type Of,
} from './fields.ts'
import { ROLES, SCOPES, type KeyScope } from './roles.ts'

/** The languages of the console. */
export const CONSOLE_LANGUAGES = ['en', 'de', 'fr'] as const

const Moment = (description: string) => Type.Integer({ description: `${description} In ms.` })

const ScopeList = inWords(
  Type.Array(Type.Enum([...SCOPES], { title: 'Scope' }), { minItems: 1 }),
  'must be a non-empty list of scopes; leave it out for all of them',
)

const scopes = (): Of<typeof ScopeList> & { initially: KeyScope[] } => ({
  schema: ScopeList,
  sqlType: 'text[]',
  initially: [...SCOPES],
})

export const API_KEY_FIELDS = {
  name: required(name(100), 'The author of changes with this key is `key:<name>`.'),
  scopes: optional(scopes(), 'What the key may do. Default: everything in its business.'),
  expiresTime: optional(instant(), 'The key is refused from this time on.'),
}

const apiKey = {
  apiKeyId: Type.Integer(),
  businessId: Type.Integer(),
  ...answerProperties(API_KEY_FIELDS),
  prefix: Type.String({ description: 'The first characters of the key, to recognise it.' }),
  lastUsedTime: Type.Union([Moment('Last use, to the minute.'), Type.Null()]),
  makerUserId: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'The person who created the key: it is revoked with them. null: it belongs to the business.',
  }),
  active: Type.Boolean(),
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
  active: true,
  ...stampsExample,
}

export const ApiKey = Named('ApiKey', apiKey, apiKeyExample)
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Named(
  'NewApiKey',
  { ...apiKey, key: Type.String({ description: 'Shown only once: the service stores its hash.' }) },
  { ...apiKeyExample, key: 'bw_3fJ9aQ…' },
)

export const ApiKeyWrite = Named(
  'ApiKeyBody',
  {
    apiKeyId: UpdatedId,
    businessId: Maybe(Id),
    ...bodyProperties(API_KEY_FIELDS),
    active: ServerOwned,
    prefix: ServerOwned,
    key: ServerOwned,
    lastUsedTime: ServerOwned,
    makerUserId: ServerOwned,
    ...serverOwned,
  },
  { name: 'booking site', scopes: ['scheduling:read', 'scheduling:write'] },
)

export const API_KEY_BODY = { schema: ApiKeyWrite, fields: API_KEY_FIELDS }

/** An email address is a valid username. The names of the service itself are reserved. */
const username = (): Of<TString> => ({
  schema: withRule(Type.String({ minLength: 1, maxLength: 254 }), (value) => {
    if (typeof value !== 'string' || !/^[\p{L}\p{M}\p{N}._@+-]{1,254}$/u.test(value)) {
      return [{ detail: 'must be 1 to 254 letters, digits or any of . _ @ + -' }]
    }
    return /^(system|operator|client)$/i.test(value)
      ? [{ detail: 'is reserved; choose another name' }]
      : []
  }),
  sqlType: 'text',
})

/** Only the length is checked, as NIST SP 800-63B recommends. */
export const password = (): Of<TString> => ({
  schema: inWords(Type.String({ minLength: 8, maxLength: 256 }), 'must be 8 to 256 characters'),
  sqlType: 'text',
})

export const USER_FIELDS = {
  username: required(username(), 'Unique in the whole installation.'),
  emailAddress: optional(address(), 'Receives invitations and password links.'),
  role: required(oneOf(ROLES, 'Role'), 'What the person may see and do.'),
  professionalId: optional(
    reference('professional'),
    'The member of staff whose appointments a USER sees.',
  ),
  locationIdList: optional(
    references('location'),
    'The locations that a LOCATION_SUPER_USER sees.',
  ),
  failureMails: optional(
    boolean(null),
    'Whether the person gets mails about mails that could not be sent, and about bulk calls that wait ' +
      'for approval. null: only as an OWNER.',
  ),
  language: optional(
    oneOf(CONSOLE_LANGUAGES, 'ConsoleLanguage'),
    'The language in which the person reads the console. null: that of their browser.',
  ),
  active: optional(boolean(true)),
}

const userExample = {
  userId: 3,
  businessId: 1,
  username: 'anna',
  emailAddress: 'anna@praxis.example',
  role: 'OWNER',
  professionalId: null,
  locationIdList: [],
  failureMails: null,
  language: null,
  active: true,
  ...stampsExample,
}

export const User = Named(
  'User',
  {
    userId: Type.Integer(),
    businessId: Type.Integer(),
    ...answerProperties(USER_FIELDS),
    ...stamps,
  },
  userExample,
)
export type User = Static<typeof User>

export const Session = Named(
  'Session',
  {
    userId: Type.Integer(),
    username: Type.String(),
    role: User.properties.role,
    functions: Type.Array(Type.String(), { description: 'The security functions of the person.' }),
    professionalId: User.properties.professionalId,
    locationIdList: User.properties.locationIdList,
    language: User.properties.language,
    business: about(Business, 'The business of the person.'),
  },
  {
    userId: 3,
    username: 'anna',
    role: 'REPORTS_ONLY',
    functions: ['PRINT_REPORTS'],
    professionalId: null,
    locationIdList: [],
    language: 'de',
    business: businessExample,
  },
)

const userWrite = {
  userId: UpdatedId,
  businessId: Maybe(Id),
  ...bodyProperties(USER_FIELDS),
  ...serverOwned,
}

const NEW_PASSWORD = optional(
  password(),
  'The password to sign in with. Required to create one. An update with it ends all sessions of the person.',
)

export const UserWrite = Named(
  'UserBody',
  {
    ...userWrite,
    ...bodyProperties({ password: NEW_PASSWORD }),
  },
  { username: 'anna', password: 'a long one, please', role: 'OWNER' },
)

export const UserInvite = Named('UserInvite', userWrite, {
  username: 'bela',
  emailAddress: 'bela@praxis.example',
  role: 'USER',
})

export const USER_BODY = { schema: UserWrite, fields: { ...USER_FIELDS, password: NEW_PASSWORD } }

const LANGUAGE_FIELDS = { language: USER_FIELDS.language }

export const LanguageChoice = Named('LanguageChoice', bodyProperties(LANGUAGE_FIELDS), {
  language: 'de',
})

export type LanguageChoice = Pick<User, 'language'>

export const LANGUAGE_BODY = { schema: LanguageChoice, fields: LANGUAGE_FIELDS }

const PASSWORD_LINK_PURPOSES = ['INVITATION', 'FORGOTTEN'] as const

export type PasswordLinkPurpose = (typeof PASSWORD_LINK_PURPOSES)[number]

export const PasswordLink = Named(
  'PasswordLink',
  {
    username: Type.String(),
    businessName: about(Type.String(), 'The name of the business.'),
    purpose: about(
      Type.Enum([...PASSWORD_LINK_PURPOSES], { title: 'PasswordLinkPurpose' }),
      'Why the link was sent.',
    ),
    expiresTime: Moment('The link expires at this time.'),
  },
  {
    username: 'bela',
    businessName: 'Praxis am See',
    purpose: 'INVITATION',
    expiresTime: 1_789_000_000_000,
  },
)
export type PasswordLink = Static<typeof PasswordLink>
