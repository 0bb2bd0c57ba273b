import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_TYPES } from '../../src/contract/event-type.ts'
import { kindOfObjectType, objectKind } from '../../src/contract/objects.ts'
import { subjectOf } from '../../src/scheduling/subject-of.ts'
import { findBusiness } from '../../src/store/businesses.ts'
import { listWholeObjects } from '../../src/store/mail-contexts.ts'
import { readBasis } from '../../src/store/basis.ts'
import { findObject } from '../../src/store/objects.ts'
import { listStatusesOf } from '../../src/store/statuses.ts'
import { listSubjects } from '../../src/store/subjects.ts'
import { startWorld } from '../support/world.ts'

test('a new object is seen as it will be read once it is written, and at firing, of every kind', async (t) => {
  const { book, businessId, clock, database, db, ids, save } = await startWorld(t)
  await save('/client', { clientId: ids.clientId, tags: { plan: ['gold'] } })
  const tokyo = await save('/location', { name: 'Ginza', timeZone: 'Asia/Tokyo' })
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Consent' })
  const expiresTime = clock.in({ hours: 99 }).epochMilliseconds
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'W', expiresTime })
  const open = await save('/invitationCampaign', { name: 'Without an end' })
  const { clientId, locationId, professionalId, reasonId } = ids
  const at = { startTime: clock.in({ hours: 5 }).epochMilliseconds, endTime: expiresTime }
  const { calendarId } = await book(clock.in({ hours: 9 }), { tags: { room: ['1'] } })
  const made: [string, object][] = [
    ['CALENDAR', await book(clock.in({ hours: 9 }), { status: 'COMPLETED' })],
    ['CALENDAR', await book(clock.in({ hours: 9 }), { locationId: tokyo.locationId })],
    [
      'CLASS_SCHEDULE',
      await save('/classSchedule', { name: 'Yoga', professionalId, locationId, ...at }),
    ],
    ['INVITATION', await save('/invitation', { invitationCampaignId, clientId })],
    [
      'INVITATION',
      await save('/invitation', { invitationCampaignId, clientId, expiresTime: 1e12 }),
    ],
    [
      'INVITATION',
      await save('/invitation', { invitationCampaignId: open.invitationCampaignId, clientId }),
    ],
    ['RECALL', await save('/recall', { clientId, dueTime: expiresTime, reasonId })],
    ['RECALL', await save('/recall', { clientId, dueTime: 1e12, locationId: tokyo.locationId })],
    ['DISCLAIMER', await save('/disclaimer', { disclaimerFormId, clientId, calendarId })],
    ['DISCLAIMER', await save('/disclaimer', { disclaimerFormId, clientId, status: 'SIGNED' })],
  ]
  assert.deepEqual(new Set(made.map(([type]) => type)), new Set(OBJECT_TYPES))

  const { timeZone } = (await findBusiness(db, businessId))!
  for (const [type, answer] of made) {
    const objectType = OBJECT_TYPES.find((each) => each === type)!
    const kind = kindOfObjectType(objectType)
    const id = (answer as Record<string, number>)[kind.id]!
    const object = (await findObject(db, businessId, kind, id))!
    const wanted = new Map(
      kind.references.map(({ property, refersTo }) => [
        objectKind(refersTo)!,
        new Set([object[property] ?? []].flat() as number[]),
      ]),
    )
    const { known } = await readBasis(db, businessId, kind, { wanted, count: 0 })
    const statuses = await listStatusesOf(db, businessId, objectType)
    const [read] = await listSubjects(db, businessId, objectType, [id])
    // As text: deep equality calls any two moments equal.
    const text = (of: object | undefined) =>
      JSON.stringify(Object.entries(of ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    assert.equal(text(subjectOf(kind, object, { known, timeZone, statuses })), text(read), type)
    const key = { businessId, objectId: read!.objectId, objectUUId: read!.objectUUId }
    const [whole] = await listWholeObjects(database.engine, objectType, [key])
    assert.equal(text(whole?.subject), text(read), `${type} at firing`)
  }
})
