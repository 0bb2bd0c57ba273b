import { Type, type Static } from 'typebox'
import type { ObjectType } from './event-type.ts'
import { Named, about } from './schema.ts'

/*
 * A reason is stored and answered as English text (`statusReason`). The same templates write that text and
 * read it back as codes with parameters (`statusReasons`), which src/texts/reasons/ says in each language.
 */

/**
 * The reasons that users read next to the status of a trigger or a mail. Each one is a clause that
 * follows "Cancelled: " or "Skipped: ", and names the next step if there is one.
 */
export const REASONS = {
  // CANCELLED
  definitionInactive: 'the definition is not active',
  timeChanged: 'its time changed just before it fired; see the trigger for the new time',

  otherEventType: 'the definition is now for another event type',
  notAskedFor: 'the definition no longer asks for it',
  newTimePassed: 'its new time has already passed',
  alreadyReminded: 'there is already a reminder for this time',
  noAnchor: 'the time that it counts from was removed',

  // EXPIRED
  bookedLate: 'booked after its reminder time',
  isPast: 'it was already over when it was saved; allowPast of the definition sends it anyway',
  uselessWhileHeld: 'it waited for approval until it was no longer useful',
  alreadyPast: 'its time has already passed',
  beforeRestore: 'it was due before the database was restored, and may have been sent then',

  // SKIPPED
  noActiveAction: 'the definition has no active action; add one to send a mail',
  templateInactive: 'the template is not active; activate it or choose another one',
  noClient: 'there is no client to write to',
  noAddress: 'the recipient has no email address; add one',
  noPostalAddress:
    'the mail is not transactional, and neither its location nor the business has a postal address; ' +
    'add postalAddress to the business',
  invalidAddress: 'the recipient does not have a valid email address; correct it',

  // Mails
  businessInactive: 'the business is not active',
  restoredSince: 'the database was restored',
  databaseHeld: 'the database was restored; no mail is sent until the operator releases it',
  maybeSent: 'it may have been delivered, and was not sent again',
  uselessNow: 'it could not be sent while it was still useful',
  serverTookNone: 'the mail server took no mail while this one was still useful',
  quietHours: 'the business has quiet hours',
  domainPaused:
    'many mails to the domain of the recipient were deferred, so delivery to it is paused',
  uselessWhilePaused: 'all mail of the business was paused until it was no longer useful',
  // Also in migrations: triggers with this reason are due when mail resumes (0009), and show it (0010).
  mailPaused: 'all mail of the business is paused',
} as const

/** Why a suppressed address gets no mail. */
export const SUPPRESSED_REASONS = {
  BOUNCED: 'an earlier mail to this address bounced; correct the address or delete its suppression',
  COMPLAINED: 'the recipient reported an earlier mail as spam',
  UNSUBSCRIBED: 'the recipient unsubscribed',
} as const

/** The name of each kind of object, for people. */
export const OBJECT_NAMES: Record<ObjectType, string> = {
  CALENDAR: 'appointment',
  CLASS_SCHEDULE: 'class',
  INVITATION: 'invitation',
  RECALL: 'recall',
  DISCLAIMER: 'disclaimer',
}

/** Reasons with values: `{name}` stands for one. */
const WITH_VALUES = {
  // What a definition does not match.
  status: "the {objectType}'s status is {status}",
  otherStatus: "the {objectType}'s status is {status}, not {wanted}",
  deleted: 'it was deleted',
  otherBusiness: 'it belongs to another business',
  otherEvent: 'the definition is for {wanted}, this is {status}',
  otherObject: 'the definition is only for {wanted}',
  otherCampaign:
    'the definition is only for campaign {wanted}, this invitation is of campaign {name}',
  otherLocation: 'the definition does not select location {name}',
  otherStaff: 'the definition does not select staff {name}',
  otherService: 'the definition does not select service {name}',
  otherForm: 'the definition does not select disclaimer form {name}',
  noLocation: 'it has no location, and the definition selects by location',
  noStaff: 'it has no staff, and the definition selects by staff',
  noService: 'it has no service, and the definition selects by service',
  noForm: 'it has no disclaimer form, and the definition selects by disclaimer form',
  missingTag: 'it has no tag {tag} with one of these values: {values}',

  // How a trigger ended.
  lateMinutes: 'the service was {count} minutes late; the mail was no longer useful',
  lateHours: 'the service was {count} hours late; the mail was no longer useful',
  cancelledBy: 'cancelled by {user}',
  mailNotMade: 'the mail of action {name} could not be created',
  gaveUpFiring: 'gave up after {count} failed attempts',
  /** Also in migrations. */
  erased: 'erased',

  // How a mail ended, or why it waits.
  gaveUpOnce: 'gave up after 1 attempt',
  gaveUp: 'gave up after {count} attempts',
  moved: 'the {objectType} moved before the mail was sent',
  workerStopped: 'the worker stopped before it recorded the answer',
  workerDied: 'the worker died or lost its lease',
  workerDiedBeforeAnswer: 'the worker died before the answer came',
  workerDiedBeforeEnd: 'the worker died before the message ended',
  fileDeleted: 'the content of an attached file was deleted',
  filesBusy: 'other mails with large files are being sent',
  notOneAddress: 'not one plain address',
  tooLarge: 'the message is larger than the {count} bytes that the server takes',
  noSignIn: 'the server offers no way to sign in',
  cannotSign: 'the DKIM key cannot sign',
  noServer: 'captured: no mail server is set',
  noMailSince: 'the mail server has taken no mail since {time}',
  sentAt: 'it is sent at {time}',
  limitReached:
    'the business has reached its daily limit of {count} mails; mails are sent again from {time} on',
  notRendered: 'templates cannot be rendered, and their mails wait',
  unsigned: 'mails from {name} wait',
  shadow: 'feed "{name}" is in shadow mode',
} as const

const TEXTS = {
  ...REASONS,
  bounced: SUPPRESSED_REASONS.BOUNCED,
  complained: SUPPRESSED_REASONS.COMPLAINED,
  unsubscribed: SUPPRESSED_REASONS.UNSUBSCRIBED,
  ...WITH_VALUES,
  /** What others say: a mail server, the database, or a person who paused the mail. */
  words: '{words}',
} as const

export type ReasonCode = keyof typeof TEXTS
export const REASON_CODES = Object.keys(TEXTS) as ReasonCode[]

type ValueName<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueName<Rest>
  : never

type Values<Code extends ReasonCode> = {
  [Name in ValueName<(typeof TEXTS)[Code]>]: Name extends 'objectType' ? ObjectType : unknown
}

/** The text of a reason with its values. */
export const reasonText = <Code extends keyof typeof WITH_VALUES>(
  code: Code,
  ...[values]: [ValueName<(typeof TEXTS)[Code]>] extends [never] ? [] : [Values<Code>]
) =>
  TEXTS[code].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value: unknown = (values as Record<string, unknown>)[name]
    return name === 'objectType' ? OBJECT_NAMES[value as ObjectType] : String(value)
  })

/** The names of the values of a reason. */
export const valuesOfReason = (code: ReasonCode) =>
  [...TEXTS[code].matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

export const Reason = Named('Reason', {
  code: Type.Enum(REASON_CODES, {
    title: 'ReasonCode',
    description: 'What is the reason; `words`: what others said, such as a mail server.',
  }),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
    title: 'ReasonParameters',
    description: 'The values that belong to `code`; times in ms.',
    examples: [{ objectType: 'CALENDAR', status: 'CANCELLED' }],
  }),
})
export type Reason = Static<typeof Reason>

/** The clauses of a reason. Codes and parameters never change their meaning, so programs can translate them. */
export const Reasons = about(
  Type.Array(Reason),
  'The same as codes with values, to be said in any language; several clauses belong together.',
)

/** Reads the text of a reason. What no template explains are the words of others. */
export function readReasons(text: string | null | undefined): Reason[] {
  const reasons: Reason[] = []
  let rest = text ?? ''
  while (rest !== '') {
    const found = readClause(rest)
    reasons.push(found.reason)
    rest = rest.slice(found.length).replace(/^[;:] /, '')
  }
  return reasons
}

function readClause(text: string): { reason: Reason; length: number } {
  for (const { code, pattern } of PATTERNS) {
    const match = pattern.exec(text)
    if (!match) continue
    const params = Object.entries(match.groups ?? {}).map(([name, value]) => [
      name,
      readValue(name, value),
    ])
    return { reason: { code, params: Object.fromEntries(params) }, length: match[0].length }
  }
  return { reason: { code: 'words', params: { words: text } }, length: text.length }
}

function readValue(name: string, value: string) {
  if (name === 'count') return Number(value)
  if (name === 'time') return Temporal.Instant.from(value).epochMilliseconds
  if (name === 'objectType') return OBJECT_TYPES_BY_NAME[value]!
  return value
}

const VALUE_PATTERNS: Record<string, string> = {
  count: '\\d+',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d[\\d:.]*Z',
  status: '\\w+',
  objectType: Object.values(OBJECT_NAMES).join('|'),
}

const OBJECT_TYPES_BY_NAME: Record<string, string> = Object.fromEntries(
  Object.entries(OBJECT_NAMES).map(([objectType, name]) => [name, objectType]),
)

/** The longest first: some reasons begin like others. */
const PATTERNS = REASON_CODES.filter((code) => code !== 'words')
  .toSorted((a, b) => TEXTS[b].length - TEXTS[a].length)
  .map((code) => {
    const source = RegExp.escape(TEXTS[code]).replaceAll(
      /\\\{((?:\w|\\x\w\w)+?)\\\}/g,
      (_, name: string) => `(?<${name}>${VALUE_PATTERNS[name] ?? '.+?'})`,
    )
    return { code, pattern: new RegExp(`^${source}(?=$|[;:] )`) }
  })

/** Why a mail about a mirrored object was captured. */
export const shadowReason = (feed: string) => reasonText('shadow', { name: feed })

/** Such a mail is never sent later. */
export const isShadowReason = (reason: string | null) =>
  readReasons(reason).some(({ code }) => code === 'shadow')
