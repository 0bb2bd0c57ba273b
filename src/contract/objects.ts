import type { ObjectType } from './event-type.ts'
import {
  address,
  addressOrToken,
  amount,
  attendance,
  boolean,
  classAnswers,
  currency,
  instant,
  integer,
  language,
  line,
  lines,
  mirroringFeed,
  name,
  optional,
  invitationReference,
  reference,
  references,
  required,
  status,
  tags,
  text,
  timeZone,
  url,
  workingExceptions,
  workingHours,
  type Field,
} from './fields.ts'

/**
 * A kind of scheduling object. The store and the routes read these declarations: to add an object or a
 * property, declare it here and add its table or column in a migration.
 */
export type ObjectKind = {
  kind: string
  path: string
  table: string
  id: string
  /** The name for people, in singular and plural. */
  title: string
  titles: string
  /** An example of a body. */
  example: Record<string, unknown>
  /** Set if it has events. */
  objectType?: ObjectType
  fields: Record<string, Field>
  /** The required properties. */
  required: string[]
  /** The properties that hold ids of other objects, each with their kind. */
  references: { property: string; refersTo: string }[]
  /** The default values. */
  initially: Record<string, unknown>
  /** The query parameters of its list, each with the property that it filters by. */
  filters: Record<string, Filter>
  /** The property by which lists are ordered before the id. Absent: by id alone. */
  listedBy?: string
}

export type Filter = {
  field: string
  match: 'equal' | 'among' | 'from' | 'before' | 'contains' | 'words' | 'active'
}

export const ACTIVE_FILTERS = ['true', 'false', 'all'] as const
export type ActiveFilter = (typeof ACTIVE_FILTERS)[number]

const equal = <F extends string>(field: F) => ({ field, match: 'equal' }) as const

/** One or several values, separated by commas. */
const among = <F extends string>(field: F) => ({ field, match: 'among' }) as const

const during = <F extends string>(field: F) =>
  ({ from: { field, match: 'from' }, to: { field, match: 'before' } }) as const

/**
 * The property that a list is ordered by before the id. With `modifiedSince` it is the time of the change,
 * so that no page reads unchanged objects. Deleted objects are in no index but that of the ids.
 */
export function orderedBy(kind: ObjectKind, filters: Record<string, unknown>) {
  if (filters.modifiedSince !== undefined) return 'modifiedDate'
  return (filters.active ?? 'true') === 'true' ? kind.listedBy : undefined
}

/** For clients that synchronise their data. All lists also take `changedSince`: see docs/changes.md. */
const COMMON_FILTERS = {
  externalId: equal('externalId'),
  active: { field: 'active', match: 'active' },
  modifiedSince: { field: 'modifiedDate', match: 'from' },
} as const

const MIRRORED_BY =
  'The feed that mirrors it; null: it was entered here. Its time, client, staff, service and location are changed in the source of the feed. Set by the service.'

const TAGS = 'For `filterTagMapJson` of definitions, in addition to the tags of the client.'

const previousStart = () =>
  optional(instant(), 'The start before the last move. Set by the service.', 1_799_990_000_000)

const location = declare({
  kind: 'location',
  title: 'location',
  example: {
    name: 'Zürich Altstadt',
    timeZone: 'Europe/Zurich',
    address: 'Lindenhofstrasse 11\n8001 Zürich',
    phone: '+41 44 555 01 10',
  },
  fields: {
    name: required(name(), 'The name.'),
    timeZone: optional(timeZone(), 'The time zone. Default: that of the business.'),
    address: optional(text(1_000), 'The postal address.'),
    emailAddress: optional(address(), 'The email address for clients.'),
    phone: optional(line(60), 'The phone number for clients.'),
    directions: optional(
      text(),
      'How to get there.',
      'Tram 4 to Rudolf-Brun-Brücke, then two minutes on foot.',
    ),
  },
})

const professional = declare({
  kind: 'professional',
  title: 'member of staff',
  titles: 'members of staff',
  example: {
    firstName: 'Elena',
    lastName: 'García',
    emailAddress: 'elena@example.com',
    locationIdList: [1],
    workingHours: [{ weekday: 'MONDAY', from: '09:00', to: '17:30' }],
  },
  fields: {
    firstName: required(name()),
    lastName: required(name()),
    emailAddress: optional(address(), 'Receives emails to staff.'),
    timeZone: optional(timeZone(), 'The time zone for emails to them.'),
    locationIdList: optional(references('location'), 'The locations where they work.'),
    workingHours: optional(workingHours(), 'The working hours, in the time zone of the location.'),
    workingExceptions: optional(
      workingExceptions(),
      'Days off and special hours, which replace `workingHours` on these days.',
    ),
  },
  filters: { locationId: { field: 'locationIdList', match: 'contains' } },
})

const reason = declare({
  kind: 'reason',
  title: 'service',
  example: { name: 'Physiotherapy', durationMinutes: 30, price: 92, currency: 'CHF' },
  fields: {
    name: required(name(), 'The name.'),
    durationMinutes: optional(integer(1, 100_000), 'The usual duration.'),
    price: optional(
      amount(),
      'The price, with at most the decimals of its currency: two, or three for KWD.',
    ),
    currency: optional(currency(), 'The currency of the price.'),
  },
})

const client = declare({
  kind: 'client',
  title: 'client',
  example: {
    firstName: 'Anna',
    lastName: 'Müller',
    emailAddress: 'anna@example.com',
    phone: '+41 44 555 77 00',
    language: 'de-CH',
    tags: { level: ['gold'] },
  },
  fields: {
    firstName: required(name()),
    lastName: required(name()),
    emailAddress: optional(address(), 'Receives emails to the client. Without it none are sent.'),
    phone: optional(line(60)),
    timeZone: optional(
      timeZone(),
      'The time zone for emails to the client. Default: that of the location.',
    ),
    language: optional(
      language(),
      'The preferred language, used if a template has a variant in it.',
    ),
    tags: optional(tags(), 'For `filterTagMapJson` of definitions.'),
  },
  filters: { search: { field: 'search', match: 'words' } },
})

const calendar = declare({
  kind: 'calendar',
  title: 'appointment',
  objectType: 'CALENDAR',
  example: {
    clientId: 1,
    professionalId: 1,
    reasonId: 1,
    locationId: 1,
    startTime: 1_800_000_000_000,
    endTime: 1_800_001_800_000,
    status: 'OPEN',
    note: 'Left knee, after surgery.',
  },
  fields: {
    clientId: required(reference('client'), 'The client.'),
    professionalId: required(reference('professional'), 'The member of staff.'),
    reasonId: required(reference('reason'), 'The service.'),
    locationId: required(reference('location'), 'The location.'),
    startTime: required(instant(), 'The start.'),
    endTime: required(instant(), 'The end, after the start.'),
    status: optional(status('OPEN'), 'One of the CALENDAR statuses.'),
    note: optional(text(), 'A note to the client: `%APPOINTMENT_NOTE%` in an email.'),
    changeNote: optional(
      text(),
      'The reason of a change: `%CHANGE_NOTE%` in an email.',
      'Elena is ill; Marco sees you instead.',
    ),
    tags: optional(tags(), TAGS),
    price: optional(
      amount(),
      'The price at booking. Default: that of the service; none for an appointment of the past that is imported. Lists leave it out for roles without `VIEW_REVENUE_REPORTS`. A later change of the service’s price does not change it; choosing another service does.',
    ),
    currency: optional(currency(), 'The currency of `price`. Default: that of the service.'),
    bookedTime: optional(
      instant(),
      'The time of booking. Default: the time of creation.',
      1_789_000_000_000,
    ),
    previousStartTime: previousStart(),
    answeredTime: optional(
      instant(),
      'When the client last answered by a link in an email. Set by the service.',
      1_799_000_000_000,
    ),
    answerNote: optional(
      text(1_000),
      'Why the client cancelled by the link: `%ANSWER_NOTE%` in an email to staff.',
      'I have a cold.',
    ),
    invitationUUID: optional(
      invitationReference(),
      'The invitation by whose link the client booked: the parameter `invitation` of the booking page. Reports credit its campaign with the appointment.',
      '0123456789abcdef0123456789abcdef',
    ),
    feedId: optional(mirroringFeed(), MIRRORED_BY, 3),
  },
  filters: {
    ...during('startTime'),
    locationId: equal('locationId'),
    professionalId: equal('professionalId'),
    reasonId: equal('reasonId'),
    clientId: equal('clientId'),
    status: among('status'),
    feedId: equal('feedId'),
  },
  listedBy: 'startTime',
})

const classSchedule = declare({
  kind: 'classSchedule',
  title: 'class',
  titles: 'classes',
  objectType: 'CLASS_SCHEDULE',
  example: {
    name: 'Pilates for backs',
    professionalId: 1,
    locationId: 1,
    startTime: 1_800_000_000_000,
    endTime: 1_800_003_600_000,
    clientIdList: [1],
    capacity: 12,
    status: 'OPEN',
  },
  fields: {
    name: required(name(), 'The name.'),
    professionalId: required(reference('professional'), 'The teacher.'),
    locationId: required(reference('location'), 'The location.'),
    startTime: required(instant(), 'The start.'),
    endTime: required(instant(), 'The end, after the start.'),
    reasonId: optional(reference('reason'), 'The service.'),
    status: optional(status('OPEN'), 'One of the CLASS_SCHEDULE statuses.'),
    clientIdList: optional(references('client'), 'The students.'),
    capacity: optional(integer(0, 100_000), 'The number of places. More students are not refused.'),
    attendance: optional(attendance(), 'Who of `clientIdList` was present.'),
    confirmedClientIdList: optional(
      references('client'),
      'Who of `clientIdList` confirmed by the link in an email.',
    ),
    previousStartTime: previousStart(),
    answers: optional(
      classAnswers(),
      'The last answer of each student by the link in an email, also of students who left; the latest is at the end. Set by the service.',
    ),
    tags: optional(tags(), 'For `filterTagMapJson` of definitions.'),
    feedId: optional(mirroringFeed(), MIRRORED_BY, 3),
  },
  filters: {
    ...during('startTime'),
    locationId: equal('locationId'),
    professionalId: equal('professionalId'),
    reasonId: equal('reasonId'),
    clientId: { field: 'clientIdList', match: 'contains' },
    status: among('status'),
    feedId: equal('feedId'),
  },
  listedBy: 'startTime',
})

const invitationCampaign = declare({
  kind: 'invitationCampaign',
  title: 'invitation campaign',
  example: {
    name: 'Winter check-up',
    expiresTime: 1_802_000_000_000,
    bookingUrl: 'https://book.example.com/check-up',
  },
  fields: {
    name: required(name(), 'The name.'),
    description: optional(text(), 'The description: `%INVITATION_DESCRIPTION%` in an email.'),
    expiresTime: optional(instant(), 'The default expiry of its invitations.'),
    bookingUrl: optional(
      url(),
      'The target of `%INVITATION_LINK%`, to which `?invitation=<uuid>` is added.',
      'https://praxis.example/book',
    ),
  },
})

const invitation = declare({
  kind: 'invitation',
  title: 'invitation',
  id: 'invitationUUID',
  objectType: 'INVITATION',
  example: { invitationCampaignId: 1, clientId: 1, status: 'SENT' },
  fields: {
    invitationCampaignId: required(reference('invitationCampaign'), 'The campaign.'),
    clientId: required(reference('client'), 'The invited client.'),
    status: optional(status('SENT'), 'One of the INVITATION statuses.'),
    expiresTime: optional(instant(), 'The expiry. Default: that of the campaign.'),
    tags: optional(tags(), TAGS),
  },
  filters: {
    invitationCampaignId: equal('invitationCampaignId'),
    clientId: equal('clientId'),
    status: among('status'),
  },
  listedBy: 'createdDate',
})

const recall = declare({
  kind: 'recall',
  title: 'recall',
  objectType: 'RECALL',
  example: { clientId: 1, dueTime: 1_802_000_000_000, reasonId: 1, status: 'DUE' },
  fields: {
    clientId: required(reference('client'), 'The client who should come again.'),
    dueTime: required(instant(), 'When the client should come.'),
    reasonId: optional(reference('reason'), 'The service.'),
    professionalId: optional(reference('professional'), 'The member of staff.'),
    locationId: optional(reference('location'), 'The location.'),
    status: optional(status('DUE'), 'One of the RECALL statuses.'),
    tags: optional(tags(), TAGS),
  },
  filters: {
    ...during('dueTime'),
    clientId: equal('clientId'),
    professionalId: equal('professionalId'),
    locationId: equal('locationId'),
    status: among('status'),
  },
  listedBy: 'dueTime',
})

const disclaimerForm = declare({
  kind: 'disclaimerForm',
  title: 'disclaimer form',
  example: { name: 'Consent to treatment', body: 'I have been told how I am treated. I agree.' },
  fields: {
    name: required(name(), 'The name.'),
    body: optional(text(200_000), 'The text of the form.'),
  },
})

const disclaimer = declare({
  kind: 'disclaimer',
  title: 'disclaimer',
  objectType: 'DISCLAIMER',
  example: { disclaimerFormId: 1, clientId: 1, calendarId: 1, status: 'PENDING' },
  fields: {
    disclaimerFormId: required(reference('disclaimerForm'), 'The form to sign.'),
    clientId: required(reference('client'), 'The client who signs it.'),
    calendarId: optional(reference('calendar'), 'The appointment that it belongs to.'),
    status: optional(status('PENDING'), 'One of the DISCLAIMER statuses.'),
    signedName: optional(name(200), 'The name that the client signed with.', 'Anna Müller'),
    signedTime: optional(instant(), 'When the client signed it.', 1_799_000_000_000),
    signedText: optional(
      text(200_000),
      'The text of the form as the client read it.',
      'I have been told how I am treated. I agree.',
    ),
    tags: optional(tags(), TAGS),
  },
  filters: {
    disclaimerFormId: equal('disclaimerFormId'),
    clientId: equal('clientId'),
    calendarId: equal('calendarId'),
    status: among('status'),
  },
})

const emailCategory = declare({
  kind: 'emailCategory',
  title: 'email category',
  titles: 'email categories',
  example: { name: 'News and offers', code: 'NEWS', transactional: false },
  fields: {
    name: required(name(), 'The name.'),
    code: optional(line(60), 'A short name.'),
    transactional: optional(boolean(true), 'False if recipients can unsubscribe from its emails.'),
  },
})

/** See docs/mail.md. */
const emailTemplate = declare({
  kind: 'emailTemplate',
  title: 'email template',
  example: {
    templateName: 'Reminder',
    subject: 'See you on %APPT_DATE%',
    emailBody: '<p>Dear %CLIENT_FULLNAME%, see you at %APPT_TIME%.</p>',
    emailCategoryId: 1,
  },
  fields: {
    templateName: required(name(), 'The internal name.'),
    subject: required(name(1_000), 'The subject, with tokens such as %CLIENT_FULLNAME%.'),
    emailBody: required(
      text(500_000),
      'HTML with tokens, `%TOKEN|fallback%` and `%IF:TOKEN% … %END:IF%`. Scripts and external resources are removed.',
      '<p>Dear %CLIENT_FULLNAME%, see you at %APPT_TIME%.</p>',
    ),
    emailBodyText: optional(
      text(200_000),
      'The text part. Default: generated from the HTML.',
      'Dear %CLIENT_FULLNAME%, see you at %APPT_TIME%.',
    ),
    emailCategoryId: optional(
      reference('emailCategory'),
      'The category decides whether recipients can unsubscribe.',
    ),
    emailBecause: optional(
      text(1_000),
      'Why the recipient gets the email.',
      'You booked an appointment with us.',
    ),
    externalName: optional(line(), 'The public name.', 'Your reminder'),
    language: optional(
      language(),
      'The language of the email: of its dates, numbers and fixed words. Of several templates with the same name, the one in the language of the client is used.',
    ),
    level: optional(
      line(60),
      '`LOCATION`: this variant is for the location in `location`. Otherwise it is for all locations.',
      'LOCATION',
    ),
    location: optional(
      { ...line(), textRefersTo: 'location' },
      'The id of the location that this variant is for, if `level` is `LOCATION`.',
      '1',
    ),
    fromAddress: optional(
      addressOrToken(),
      'Used if its domain is in `senderDomains` of the business. Otherwise the email is sent from MAIL_FROM, with this as Reply-To.',
      'hello@praxis.example',
    ),
    fromName: optional(line(), 'The name of the sender.', '%BUSINESS_NAME%'),
    toAddress: optional(addressOrToken(), 'An address or a token.'),
    toName: optional(line(), 'The name of the recipient.', '%CLIENT_FULLNAME%'),
    ccAddress: optional(
      addressOrToken(),
      'An address that receives a copy.',
      'desk@praxis.example',
    ),
    bccAddress: optional(
      addressOrToken(),
      'An address that receives a hidden copy.',
      'archive@praxis.example',
    ),
    replyToAddress: optional(
      addressOrToken(),
      'The address that replies go to.',
      'desk@praxis.example',
    ),
    allowOnline: optional(boolean(false), 'Stored, but not used.'),
    noHeader: optional(
      boolean(false),
      'True: the email is sent without the layout of the business.',
    ),
    attachFileLibraryUUids: optional(
      lines(50),
      'The `fileUUId`s of files of the library to attach, up to 10 MB together.',
      ['7d1f0c9a1be2d34c5f8a6b7c8d9e0f1a'],
    ),
    reasonIdList: optional(references('reason'), 'The services that this variant is for.'),
    reasonNameList: optional(lines(), 'Stored, but not used.', ['Physiotherapy']),
    resellerId: optional(integer(1, Number.MAX_SAFE_INTEGER), 'Stored, but not used.'),
    s3FileName: optional(line(), 'Stored, but not used.', 'reminder.html'),
    sortOrder: optional(
      integer(-1_000_000, 1_000_000),
      'Of variants that fit equally well, the one with the lowest number is used.',
      10,
    ),
  },
})

/** In the order of an import: an object comes after those that it refers to. */
export const OBJECT_KINDS: readonly ObjectKind[] = [
  location,
  reason,
  professional,
  client,
  invitationCampaign,
  invitation,
  calendar,
  classSchedule,
  recall,
  disclaimerForm,
  disclaimer,
  emailCategory,
  emailTemplate,
]

export const objectKind = (kind: string): ObjectKind | undefined =>
  OBJECT_KINDS.find((declared) => declared.kind === kind)

export const kindOfObjectType = (objectType: ObjectType): ObjectKind => {
  const kind = OBJECT_KINDS.find((declared) => declared.objectType === objectType)
  if (!kind) throw new Error(`no kind of object is a ${objectType}`)
  return kind
}

type Declaration = Pick<
  ObjectKind,
  'kind' | 'title' | 'example' | 'fields' | 'objectType' | 'listedBy'
> &
  Partial<Pick<ObjectKind, 'id' | 'titles' | 'filters'>>

/** A kind whose fields and filters are known to the type checker. */
type Declared<D extends Declaration> = Omit<ObjectKind, 'kind' | 'fields' | 'id' | 'filters'> &
  Pick<D, Extract<keyof D, 'kind' | 'fields' | 'objectType'>> & {
    id: D extends { id: infer Id extends string } ? Id : `${D['kind']}Id`
    filters: D extends { filters: infer Filters } ? Filters : {}
  }

function declare<const D extends Declaration>(declaration: D): Declared<D> {
  const { kind, title, titles, fields, id, filters, ...rest }: Declaration = declaration
  const all = Object.entries(fields)
  for (const [property, field] of all) field.column = toColumn(property)
  const declared: ObjectKind = {
    kind,
    title,
    titles: titles ?? `${title}s`,
    path: `/${kind}`,
    table: toColumn(kind),
    id: id ?? `${kind}Id`,
    filters: { ...filters, ...COMMON_FILTERS },
    fields,
    required: all.flatMap(([property, field]) => (field.required ? [property] : [])),
    references: all.flatMap(([property, { refersTo }]) =>
      refersTo ? [{ property, refersTo }] : [],
    ),
    initially: Object.fromEntries(all.map(([property, field]) => [property, field.initially])),
    ...rest,
  }
  return declared as Declared<D>
}

/** Every kind by its name, for the types of the objects. */
export type Kinds = {
  location: typeof location
  professional: typeof professional
  reason: typeof reason
  client: typeof client
  calendar: typeof calendar
  classSchedule: typeof classSchedule
  invitationCampaign: typeof invitationCampaign
  invitation: typeof invitation
  recall: typeof recall
  disclaimerForm: typeof disclaimerForm
  disclaimer: typeof disclaimer
  emailCategory: typeof emailCategory
  emailTemplate: typeof emailTemplate
}

/** `startTime` → `start_time`; `invitationUUID` → `invitation_uuid`. */
export function toColumn(property: string) {
  return property.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}
