import type { ObjectType } from '../contract/event-type.ts'
import type { Occurrence } from './occurrence.ts'

export type Tags = Record<string, string[]>

/** One view over all kinds of objects that events happen to: what matching and timing look at. */
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
  /** Does a reminder before it still make sense? */
  live: boolean
  /** Does one after it? */
  liveAfter: boolean
  /** `undefined`: this kind of object has no such thing at all; `null`: this one names none. */
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

type Keyed = { objectType: string | null; objectId: number | null; objectUUId: string | null }

/** One name for objects of every type. */
export const keyOf = ({ objectType, objectId, objectUUId }: Keyed) =>
  `${objectType} ${objectId ?? objectUUId}`

/** Something that happened to a subject. A reminder has no happening: it is planned from the subject. */
export type SchedulingEvent = Occurrence & {
  subject: Subject
  /** For `…_CHANGED`: the status before; equal to the subject's where the status did not move. */
  oldStatus: string | null
  /** The moment of the change. */
  happenedAt: Temporal.Instant
}
