import type { QuietHours } from '../contract/business.ts'
import type { ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import { findStatusInSettings, timeZoneOf, type Settings } from './settings.ts'

export type Tags = Record<string, string[]>

/** An object of any type, with the properties that matching and timing need. */
export type Subject = {
  businessId: number
  objectType: ObjectType
  /** Set for every kind but invitations. */
  objectId: number | null
  /** Set for invitations only. */
  objectUUId: string | null
  /** False once the object was deleted. */
  active: boolean
  status: string
  /** Whether its status allows reminders before it. */
  live: boolean
  /** Whether its status allows follow-ups after it. */
  liveAfter: boolean
  /** `undefined`: objects of this type have no location; `null`: this one has none. The same below. */
  locationId?: number | null
  professionalId?: number | null
  reasonId?: number | null
  disclaimerFormId?: number | null
  /** A disclaimer's appointment. */
  calendarId?: number | null
  /** An invitation's campaign. */
  invitationCampaignId?: number
  clientId: number | null
  /** The object's own tags and its client's. */
  tags: Tags
  clientTags: Tags
  /** The location's zone, else the business's. */
  timeZone: string
  /** From the business; null and undefined: none. */
  quietHours?: QuietHours | null
  /** For appointments and classes. */
  startTime: Temporal.Instant | null
  endTime: Temporal.Instant | null
  /** For recalls. */
  dueTime: Temporal.Instant | null
  /** An invitation's own end, else its campaign's. */
  expiresTime: Temporal.Instant | null
  campaignExpiresTime?: Temporal.Instant | null
  createdDate: Temporal.Instant
}

/** The stored properties of an object that its subject is built from. */
export type SubjectRow = Record<string, unknown> &
  Pick<Subject, 'businessId' | 'active' | 'createdDate'>

/** The data of a subject that its own object does not contain. */
export type SubjectContext = {
  settings: Settings
  clientTags: Tags | null | undefined
  /** For invitations. */
  campaignExpiresTime: Temporal.Instant | null | undefined
}

/** The only place where subjects are built, from rows and from objects that are being saved. */
export function buildSubject(
  objectType: ObjectType,
  row: SubjectRow,
  { settings, clientTags, campaignExpiresTime = null }: SubjectContext,
): Subject {
  const kind = kindOfObjectType(objectType)
  const own = <Value>(property: string) => (row[property] ?? null) as Value
  const isInvitation = objectType === 'INVITATION'
  const status = findStatusInSettings(settings, objectType, row.status)
  const subject: Subject = {
    businessId: row.businessId,
    objectType,
    objectId: isInvitation ? null : own(kind.id),
    objectUUId: isInvitation ? own(kind.id) : null,
    active: row.active,
    status: own('status'),
    live: status?.live ?? false,
    liveAfter: status?.liveAfter ?? false,
    clientId: 'clientId' in kind.fields ? own('clientId') : null,
    tags: own('tags'),
    clientTags: clientTags ?? {},
    timeZone: timeZoneOf(settings, own('locationId')),
    quietHours: settings.business.quietHours,
    startTime: own('startTime'),
    endTime: own('endTime'),
    dueTime: own('dueTime'),
    expiresTime: own<Temporal.Instant | null>('expiresTime') ?? campaignExpiresTime,
    createdDate: row.createdDate,
  }
  for (const property of SELECTABLE) {
    if (property in kind.fields) subject[property] = own(property)
  }
  if (isInvitation) subject.campaignExpiresTime = campaignExpiresTime
  return subject
}

/** Missing from the subject if objects of its type have no such property. */
const SELECTABLE = [
  'locationId',
  'professionalId',
  'reasonId',
  'disclaimerFormId',
  'calendarId',
  'invitationCampaignId',
] as const

/** The properties of `SubjectRow` that objects of this type have. */
export const subjectProperties = (objectType: ObjectType) => {
  const { id, fields } = kindOfObjectType(objectType)
  return [id, 'businessId', 'active', 'createdDate', ...OWN.filter((name) => name in fields)]
}

const OWN = [
  ...SELECTABLE,
  'status',
  'clientId',
  'tags',
  'startTime',
  'endTime',
  'dueTime',
  'expiresTime',
]

/** Identifies the object of a row: invitations have a UUID, all others a number. */
export type ObjectKey = { businessId: number; objectId: number | null; objectUUId: string | null }

export const objectIdOf = ({ objectId, objectUUId }: Omit<ObjectKey, 'businessId'>) =>
  (objectId ?? objectUUId)!

/** Identifies an object of any type and business. */
export const objectKeyOf = (object: ObjectKey & { objectType: string | null }) =>
  `${object.businessId} ${object.objectType} ${objectIdOf(object)}`
