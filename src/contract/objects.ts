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
  /** What a person calls it. */
  title: string
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

const equal = (field: string): Filter => ({ field, match: 'equal' })

const during = (field: string): Record<string, Filter> => ({
  from: { field, match: 'from' },
  to: { field, match: 'before' },
})

const location = declare({
  kind: 'location',
  title: 'location',
  fields: {
    name: required(name()),
    timeZone: optional(timeZone()),
    address: optional(text(1_000)),
    emailAddress: optional(address()),
    phone: optional(line(60)),
    directions: optional(text()),
  },
})

const professional = declare({
  kind: 'professional',
  title: 'member of staff',
  fields: {
    firstName: required(name()),
    lastName: required(name()),
    emailAddress: optional(address()),
    timeZone: optional(timeZone()),
    locationIdList: optional(references('location')),
    workingHours: optional(workingHours()),
  },
  filters: { locationId: { field: 'locationIdList', match: 'contains' } },
})

const reason = declare({
  kind: 'reason',
  title: 'service',
  fields: {
    name: required(name()),
    durationMinutes: optional(integer(1, 100_000)),
    price: optional(amount()),
    currency: optional(currency()),
  },
})

const client = declare({
  kind: 'client',
  title: 'client',
  fields: {
    firstName: required(name()),
    lastName: required(name()),
    emailAddress: optional(address()),
    phone: optional(line(60)),
    timeZone: optional(timeZone()),
    language: optional(language()),
    tags: optional(tags()),
  },
  filters: { search: { field: 'search', match: 'words' } },
})

const calendar = declare({
  kind: 'calendar',
  title: 'appointment',
  objectType: 'CALENDAR',
  fields: {
    clientId: required(reference('client')),
    professionalId: required(reference('professional')),
    reasonId: required(reference('reason')),
    locationId: required(reference('location')),
    startTime: required(instant()),
    endTime: required(instant()),
    status: optional(status('OPEN')),
    note: optional(text()),
    changeNote: optional(text()),
    tags: optional(tags()),
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
  objectType: 'CLASS_SCHEDULE',
  fields: {
    name: required(name()),
    professionalId: required(reference('professional')),
    locationId: required(reference('location')),
    startTime: required(instant()),
    endTime: required(instant()),
    reasonId: optional(reference('reason')),
    status: optional(status('OPEN')),
    clientIdList: optional(references('client')),
    capacity: optional(integer(0, 100_000)),
    tags: optional(tags()),
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
  fields: {
    name: required(name()),
    description: optional(text()),
    expiresTime: optional(instant()),
    bookingUrl: optional(url()),
  },
})

const invitation = declare({
  kind: 'invitation',
  title: 'invitation',
  id: 'invitationUUID',
  objectType: 'INVITATION',
  fields: {
    invitationCampaignId: required(reference('invitationCampaign')),
    clientId: required(reference('client')),
    status: optional(status('SENT')),
    expiresTime: optional(instant()),
    tags: optional(tags()),
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
  fields: {
    clientId: required(reference('client')),
    dueTime: required(instant()),
    reasonId: optional(reference('reason')),
    professionalId: optional(reference('professional')),
    locationId: optional(reference('location')),
    status: optional(status('DUE')),
    tags: optional(tags()),
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
  fields: { name: required(name()), body: optional(text(200_000)) },
})

const disclaimer = declare({
  kind: 'disclaimer',
  title: 'disclaimer',
  objectType: 'DISCLAIMER',
  fields: {
    disclaimerFormId: required(reference('disclaimerForm')),
    clientId: required(reference('client')),
    calendarId: optional(reference('calendar')),
    status: optional(status('PENDING')),
    tags: optional(tags()),
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
  fields: {
    name: required(name()),
    code: optional(line(60)),
    transactional: optional(boolean(true)),
  },
})

/** Spec 2.6. */
const emailTemplate = declare({
  kind: 'emailTemplate',
  title: 'email template',
  fields: {
    templateName: required(name()),
    subject: required(name(1_000)),
    emailBody: required(text(500_000)),
    emailBodyText: optional(text(200_000)),
    emailCategoryId: optional(reference('emailCategory')),
    emailBecause: optional(text(1_000)),
    externalName: optional(line()),
    language: optional(language()),
    level: optional(line(60)),
    location: optional(line()),
    fromAddress: optional(addressOrToken()),
    fromName: optional(line()),
    toAddress: optional(addressOrToken()),
    toName: optional(line()),
    ccAddress: optional(addressOrToken()),
    bccAddress: optional(addressOrToken()),
    replyToAddress: optional(addressOrToken()),
    allowOnline: optional(boolean(false)),
    noHeader: optional(boolean(false)),
    attachFileLibraryUUids: optional(lines()),
    reasonIdList: optional(references('reason')),
    reasonNameList: optional(lines()),
    resellerId: optional(integer(1, Number.MAX_SAFE_INTEGER)),
    s3FileName: optional(line()),
    sortOrder: optional(integer(-1_000_000, 1_000_000)),
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

type Declaration = Pick<ObjectKind, 'kind' | 'title' | 'fields' | 'objectType' | 'listedBy'> &
  Partial<Pick<ObjectKind, 'id' | 'filters'>>

function declare({ kind, title, fields, id, filters, ...rest }: Declaration): ObjectKind {
  const all = Object.entries(fields)
  for (const [property, field] of all) field.column = toColumn(property)
  return {
    kind,
    title,
    path: `/${kind}`,
    table: toColumn(kind),
    id: id ?? `${kind}Id`,
    filters: filters ?? {},
    fields,
    required: all.flatMap(([property, field]) => (field.required ? [property] : [])),
    references: all.flatMap(([property, { refersTo }]) =>
      refersTo ? [{ property, refersTo }] : [],
    ),
    initially: Object.fromEntries(all.map(([property, field]) => [property, field.initially])),
    ...rest,
  }
}

/** `startTime` → `start_time`; `invitationUUID` → `invitation_uuid`. */
export function toColumn(property: string) {
  return property.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}
