import type { Subject, Tags } from '../store/subject.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { Basis, Setup } from '../store/basis.ts'
import type { StoredObject } from '../store/objects.ts'
import type { Status } from '../store/statuses.ts'

/** What a subject has from beside its own object. */
export type Nearby = Pick<Basis, 'known'> & Pick<Setup, 'timeZone'> & { statuses: Status[] }

/**
 * A new object as matching and timing see it: what `listSubjects` would read once it is written,
 * so that the triggers can be written with it.
 */
export function subjectOf(kind: ObjectKind, object: StoredObject, nearby: Nearby): Subject {
  const status = nearby.statuses.find((each) => each.status === object.status)
  const own = (property: string) => (object[property] ?? null) as never
  const where = `location:${object.locationId as number}`
  const subject: Subject = {
    businessId: object.businessId,
    objectType: kind.objectType!,
    objectId: kind.id === 'invitationUUID' ? null : own(kind.id),
    objectUUId: kind.id === 'invitationUUID' ? own(kind.id) : null,
    active: object.active,
    status: own('status'),
    live: status?.live ?? false,
    liveAfter: status?.liveAfter ?? false,
    clientId: own('clientId'),
    tags: own('tags'),
    clientTags: (nearby.known.get(`client:${object.clientId as number}`) ?? {}) as Tags,
    timeZone: (nearby.known.get(where) as string | null | undefined) ?? nearby.timeZone,
    startTime: own('startTime'),
    endTime: own('endTime'),
    dueTime: own('dueTime'),
    expiresTime: own('expiresTime'),
    createdDate: object.createdDate,
  }
  for (const property of SELECTABLE) {
    if (property in kind.fields) subject[property] = own(property)
  }
  if (kind.kind === 'invitation') {
    const campaign = `invitationCampaign:${object.invitationCampaignId as number}`
    subject.campaignExpiresTime = momentOf(nearby.known.get(campaign))
    subject.expiresTime ??= subject.campaignExpiresTime
  }
  return subject
}

/** Left out where a kind of object has no such thing at all. */
const SELECTABLE = [
  'locationId',
  'professionalId',
  'reasonId',
  'disclaimerFormId',
  'calendarId',
  'invitationCampaignId',
] as const

const momentOf = (ms: unknown) =>
  typeof ms === 'number' ? Temporal.Instant.fromEpochMilliseconds(ms) : null
