import type { ObjectType } from '../contract/event-type.ts'

export type Tags = Record<string, string[]>

/** An object that events happen to, of any type, as matching and timing see it. */
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
  /** Of appointments and classes. */
  startTime: Temporal.Instant | null
  endTime: Temporal.Instant | null
  /** Of recalls. */
  dueTime: Temporal.Instant | null
  /** An invitation's own end, else its campaign's. */
  expiresTime: Temporal.Instant | null
  campaignExpiresTime?: Temporal.Instant | null
  createdDate: Temporal.Instant
}

/** Which object a row is about: invitations have a UUID, all others a number. */
export type ObjectKey = { businessId: number; objectId: number | null; objectUUId: string | null }

export const objectIdOf = ({ objectId, objectUUId }: Omit<ObjectKey, 'businessId'>) =>
  (objectId ?? objectUUId)!

/** Identifies an object of any type within its business. */
export const objectKeyOf = (
  object: Omit<ObjectKey, 'businessId'> & { objectType: string | null },
) => `${object.objectType} ${objectIdOf(object)}`
