import type { ObjectType } from './event-type.ts'
import {
  address,
  addressOrToken,
  amount,
  boolean,
  currency,
  instant,
  integer,
  language,
  line,
  lines,
  name,
  optional,
  reference,
  references,
  required,
  status,
  tags,
  text,
  timeZone,
  url,
  workingHours,
  type Field,
} from './fields.ts'

/**
 * The objects behind the events. One generic store and one generic route file read these
 * declarations: a new object or property is declared here, and its column made in a migration.
 */
export type ObjectKind = {
  kind: string
  path: string
  table: string
  id: string
  /** What a person calls it, and several of it. */
  title: string
  titles: string
  /** A body such as people send. */
  example: Record<string, unknown>
  /** Set where events happen to it. */
  objectType?: ObjectType
  fields: Record<string, Field>
  /** The properties that it cannot be without. */
  required: string[]
  /** The properties that name other objects, and the kind they name. */
  references: { property: string; refersTo: string }[]
  /** What its properties are before anything is said of them. */
  initially: Record<string, unknown>
  /** Query parameters of its list, each with the property it looks at. */
  filters: Record<string, Filter>
  /** The property by which it is listed, before its id; by its id alone where there is none. */
  listedBy?: string
}

export type Filter = { field: string; match: 'equal' | 'from' | 'before' | 'contains' | 'words' }

const equal = <F extends string>(field: F) => ({ field, match: 'equal' }) as const

const during = <F extends string>(field: F) =>
  ({ from: { field, match: 'from' }, to: { field, match: 'before' } }) as const

/** So that a client that synchronises finds its own objects, and what has changed. */
const FILTERS_OF_ALL = {
  externalId: equal('externalId'),
  modifiedSince: { field: 'modifiedDate', match: 'from' },
} as const

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
    name: required(name(), 'What people call it.'),
    timeZone: optional(timeZone(), 'Its clock; the business’s where it has none.'),
    address: optional(text(1_000), 'As it is written on an envelope.'),
    emailAddress: optional(address(), 'Where clients reach it.'),
    phone: optional(line(60), 'Where clients call it.'),
    directions: optional(text(), 'How one gets there.'),
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
    emailAddress: optional(address(), 'Where mails to staff go.'),
    timeZone: optional(timeZone(), 'Their own clock, in mails to them.'),
    locationIdList: optional(references('location'), 'Where they work.'),
    workingHours: optional(workingHours(), 'When they work, on the clock of the place.'),
  },
  filters: { locationId: { field: 'locationIdList', match: 'contains' } },
})

const reason = declare({
  kind: 'reason',
  title: 'service',
  example: { name: 'Physiotherapy', durationMinutes: 30, price: 92, currency: 'CHF' },
  fields: {
    name: required(name(), 'What it is called.'),
    durationMinutes: optional(integer(1, 100_000), 'How long it usually takes.'),
    price: optional(amount(), 'What it costs, with at most two decimals.'),
    currency: optional(currency(), 'In which currency.'),
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
    emailAddress: optional(address(), 'Where mails to them go; without one they get none.'),
    phone: optional(line(60)),
    timeZone: optional(timeZone(), 'Their own clock, in mails to them; else that of the location.'),
    language: optional(
      language(),
      'In which they are written to, where a template has that variant.',
    ),
    tags: optional(tags(), 'What definitions can ask for in `filterTagMapJson`.'),
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
    clientId: required(reference('client'), 'Who comes.'),
    professionalId: required(reference('professional'), 'To whom.'),
    reasonId: required(reference('reason'), 'For what.'),
    locationId: required(reference('location'), 'Where.'),
    startTime: required(instant(), 'When it begins.'),
    endTime: required(instant(), 'When it ends, after it begins.'),
    status: optional(status('OPEN'), 'One of the CALENDAR statuses.'),
    note: optional(text(), 'For the client; `%APPOINTMENT_NOTE%` in a mail.'),
    changeNote: optional(text(), 'Why it changed; `%CHANGE_NOTE%` in a mail.'),
    tags: optional(tags(), 'What definitions can ask for, beside the client’s.'),
    price: optional(
      amount(),
      'The price at booking: the service’s unless given. A later price of the service does not change it; another service does.',
    ),
    currency: optional(currency(), 'The currency of `price`: the service’s unless given.'),
    bookedTime: optional(instant(), 'When it was booked: when it was created unless given.'),
  },
  filters: {
    ...during('startTime'),
    locationId: equal('locationId'),
    professionalId: equal('professionalId'),
    reasonId: equal('reasonId'),
    clientId: equal('clientId'),
    status: equal('status'),
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
    name: required(name(), 'What it is called.'),
    professionalId: required(reference('professional'), 'Who teaches.'),
    locationId: required(reference('location'), 'Where.'),
    startTime: required(instant(), 'When it begins.'),
    endTime: required(instant(), 'When it ends, after it begins.'),
    reasonId: optional(reference('reason'), 'The service that it is.'),
    status: optional(status('OPEN'), 'One of the CLASS_SCHEDULE statuses.'),
    clientIdList: optional(references('client'), 'The students.'),
    capacity: optional(integer(0, 100_000), 'How many there is room for; more are not refused.'),
    tags: optional(tags(), 'What definitions can ask for.'),
  },
  filters: {
    ...during('startTime'),
    locationId: equal('locationId'),
    professionalId: equal('professionalId'),
    reasonId: equal('reasonId'),
    clientId: { field: 'clientIdList', match: 'contains' },
    status: equal('status'),
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
    name: required(name(), 'What it is called.'),
    description: optional(text(), 'What it is about; `%INVITATION_DESCRIPTION%` in a mail.'),
    expiresTime: optional(instant(), 'When its invitations end that say nothing else.'),
    bookingUrl: optional(
      url(),
      'Where `%INVITATION_LINK%` leads, with `?invitation=<uuid>` behind it.',
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
    invitationCampaignId: required(
      reference('invitationCampaign'),
      'The campaign that it belongs to.',
    ),
    clientId: required(reference('client'), 'Who is invited.'),
    status: optional(status('SENT'), 'One of the INVITATION statuses.'),
    expiresTime: optional(instant(), 'When it ends; else when its campaign does.'),
    tags: optional(tags(), 'What definitions can ask for, beside the client’s.'),
  },
  filters: {
    invitationCampaignId: equal('invitationCampaignId'),
    clientId: equal('clientId'),
    status: equal('status'),
  },
  listedBy: 'createdDate',
})

const recall = declare({
  kind: 'recall',
  title: 'recall',
  objectType: 'RECALL',
  example: { clientId: 1, dueTime: 1_802_000_000_000, reasonId: 1, status: 'DUE' },
  fields: {
    clientId: required(reference('client'), 'Who should come again.'),
    dueTime: required(instant(), 'When.'),
    reasonId: optional(reference('reason'), 'For what.'),
    professionalId: optional(reference('professional'), 'To whom.'),
    locationId: optional(reference('location'), 'Where.'),
    status: optional(status('DUE'), 'One of the RECALL statuses.'),
    tags: optional(tags(), 'What definitions can ask for, beside the client’s.'),
  },
  filters: {
    ...during('dueTime'),
    clientId: equal('clientId'),
    professionalId: equal('professionalId'),
    locationId: equal('locationId'),
    status: equal('status'),
  },
  listedBy: 'dueTime',
})

const disclaimerForm = declare({
  kind: 'disclaimerForm',
  title: 'disclaimer form',
  example: { name: 'Consent to treatment', body: 'I have been told how I am treated. I agree.' },
  fields: {
    name: required(name(), 'What it is called.'),
    body: optional(text(200_000), 'What is agreed to.'),
  },
})

const disclaimer = declare({
  kind: 'disclaimer',
  title: 'disclaimer',
  objectType: 'DISCLAIMER',
  example: { disclaimerFormId: 1, clientId: 1, calendarId: 1, status: 'PENDING' },
  fields: {
    disclaimerFormId: required(reference('disclaimerForm'), 'The form that is to be signed.'),
    clientId: required(reference('client'), 'By whom.'),
    calendarId: optional(reference('calendar'), 'Before which appointment.'),
    status: optional(status('PENDING'), 'One of the DISCLAIMER statuses.'),
    tags: optional(tags(), 'What definitions can ask for, beside the client’s.'),
  },
  filters: {
    disclaimerFormId: equal('disclaimerFormId'),
    clientId: equal('clientId'),
    calendarId: equal('calendarId'),
    status: equal('status'),
  },
})

const emailCategory = declare({
  kind: 'emailCategory',
  title: 'email category',
  titles: 'email categories',
  example: { name: 'News and offers', code: 'NEWS', transactional: false },
  fields: {
    name: required(name(), 'What it is called.'),
    code: optional(line(60), 'Its short name.'),
    transactional: optional(boolean(true), 'False for what people may unsubscribe from.'),
  },
})

/** Spec 2.6. */
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
    templateName: required(name(), 'What it is called here.'),
    subject: required(name(1_000), 'With tokens such as %CLIENT_FULLNAME%.'),
    emailBody: required(text(500_000), 'HTML with tokens; what could run or load is taken out.'),
    emailBodyText: optional(
      text(200_000),
      'The text part; made from the HTML where there is none.',
    ),
    emailCategoryId: optional(reference('emailCategory'), 'Decides whether one can unsubscribe.'),
    emailBecause: optional(text(1_000), 'Why the reader gets it.'),
    externalName: optional(line(), 'What it is called outside.'),
    language: optional(language(), 'The language of this variant.'),
    level: optional(line(60), 'Kept as sent.'),
    location: optional(line(), 'Kept as sent.'),
    fromAddress: optional(
      addressOrToken(),
      'Used if its domain is one of the business’s senderDomains; else MAIL_FROM, with this as Reply-To.',
    ),
    fromName: optional(line()),
    toAddress: optional(addressOrToken(), 'An address or a token that becomes one.'),
    toName: optional(line()),
    ccAddress: optional(addressOrToken()),
    bccAddress: optional(addressOrToken()),
    replyToAddress: optional(addressOrToken()),
    allowOnline: optional(boolean(false), 'Kept as sent.'),
    noHeader: optional(boolean(false), 'Kept as sent.'),
    attachFileLibraryUUids: optional(lines(), 'Kept as sent.'),
    reasonIdList: optional(references('reason'), 'The services that this variant is for.'),
    reasonNameList: optional(lines(), 'Kept as sent.'),
    resellerId: optional(integer(1, Number.MAX_SAFE_INTEGER), 'Kept as sent.'),
    s3FileName: optional(line(), 'Kept as sent.'),
    sortOrder: optional(integer(-1_000_000, 1_000_000), 'Kept as sent.'),
  },
})

/** In the order in which an import needs them: what is referred to comes first. */
export const OBJECT_KINDS: readonly ObjectKind[] = [
  location,
  reason,
  professional,
  client,
  calendar,
  classSchedule,
  invitationCampaign,
  invitation,
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
    filters: { ...filters, ...FILTERS_OF_ALL },
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
