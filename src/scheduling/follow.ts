import { readRemindersToPlan, scheduleTriggers } from '../automation/schedule.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { listDefinitionsOfTypes, planAgain, waitForBookings } from '../store/event-definitions.ts'
import type { BusinessFields, BusinessRow } from '../store/businesses.ts'
import { listObjectsOfClients, ofKind, type StoredObject } from '../store/objects.ts'
import { objectIdOf } from '../store/subject.ts'
import { lockSubjectsForUpdate } from '../store/subjects.ts'
import { isSame } from '../contract/json.ts'
import type { Saving } from './saving.ts'
import { reminderTypesOf } from './statuses.ts'

/**
 * Reminders depend on more than their own object: on the time zone of its location, the end of its
 * campaign and the tags of its client. If one of these changes, the reminders are planned again.
 */
export async function followChanges(
  tx: Db,
  kind: ObjectKind,
  changes: { object: StoredObject; before: StoredObject | undefined }[],
  saving: Saving,
) {
  const changed = (property: string) =>
    changes.filter(({ before, object }) => before && !isSame(before[property], object[property]))

  if (kind.kind === 'location' && changed('timeZone').length > 0) {
    await planAgain(
      tx,
      saving.businessId,
      reminderTypesOf(['CALENDAR', 'CLASS_SCHEDULE', 'RECALL']),
    )
  }
  if (kind.kind === 'invitationCampaign' && changed('expiresTime').length > 0) {
    await planAgain(tx, saving.businessId, reminderTypesOf(['INVITATION']))
  }
  const clients = changed('tags').flatMap(({ object }) => ofKind('client', kind, object) ?? [])
  if (clients.length > 0) {
    const clientIds = clients.map(({ clientId }) => clientId)
    await followTags(tx, clientIds, saving)
  }
}

/** Plans reminders again if the business's time zone or quiet hours change. */
export async function followBusiness(tx: Db, before: BusinessRow, after: BusinessFields) {
  const isSameClock =
    before.timeZone === after.timeZone && isSame(before.quietHours, after.quietHours)
  if (!isSameClock) await followZone(tx, before.businessId)
}

export const followZone = (tx: Db, businessId: number) =>
  planAgain(tx, businessId, reminderTypesOf(['CALENDAR', 'CLASS_SCHEDULE', 'INVITATION', 'RECALL']))

/** The tags of clients do not count for a class, because it has many clients. */
const OF_ONE_CLIENT: readonly ObjectType[] = ['CALENDAR', 'INVITATION', 'RECALL']
const PAGE = 1_000

async function followTags(tx: Db, clientIds: number[], saving: Saving) {
  const { businessId } = saving
  const reminders = await listDefinitionsOfTypes(tx, businessId, reminderTypesOf(OF_ONE_CLIENT))
  if (reminders.every((definition) => !definition.filterTagMapJson)) return
  // Bookings that have read the old tags commit first; later ones read the new tags.
  await waitForBookings(tx, businessId)
  for (const objectType of OF_ONE_CLIENT) {
    const ofType = reminders.filter(({ eventTypeId }) =>
      reminderTypesOf([objectType]).includes(eventTypeId),
    )
    const objects = await listObjectsOfClients(tx, businessId, objectType, clientIds)
    for (let start = 0; start < objects.length; start += PAGE) {
      const ids = objects.slice(start, start + PAGE).map(({ id }) => id)
      const subjects = await lockSubjectsForUpdate(tx, businessId, objectType, ids)
      const saved = subjects.map((subject) => ({
        subject,
        version: 0,
        before: subject,
        events: [],
        changes: [],
      }))
      const found = subjects.map(objectIdOf)
      const pending = await readRemindersToPlan(tx, businessId, objectType, found, ofType)
      const toSchedule = { saved, definitions: ofType, reminders: pending }
      // Like history: only reminders that are still ahead change.
      await scheduleTriggers(tx, toSchedule, { ...saving, history: true })
    }
  }
}
