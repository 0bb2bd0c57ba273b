import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_TYPES } from '../../src/contract/event-type.ts'
import { kindOfObjectType, objectKind, type ObjectKind } from '../../src/contract/objects.ts'
import { listWholeObjects } from '../../src/store/mail-contexts.ts'
import { findObject } from '../../src/store/objects.ts'
import { readSettings, SettingsCache } from '../../src/store/settings.ts'
import { buildSubject, objectKeyOf, type Tags } from '../../src/store/subject.ts'
import { readSubjects, listSubjects, listSubjectStates } from '../../src/store/subjects.ts'
import { asOwner } from '../support/owner.ts'
import { addBusiness, startWorld } from '../support/world.ts'

test('objects of every type give the same subject when saved, planned, fired, delivered and explained', async (t) => {
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

  for (const [type, answer] of made) {
    const objectType = OBJECT_TYPES.find((each) => each === type)!
    const kind = kindOfObjectType(objectType)
    const id = (answer as Record<string, number>)[kind.id]!
    const object = (await findObject(db, businessId, kind, id))!
    const campaign = objectKind('invitationCampaign')!
    const client = objectKind('client')!
    const read = async (of: ObjectKind) =>
      object[of.id] ? await findObject(db, businessId, of, object[of.id] as number) : undefined
    const built = buildSubject(objectType, object, {
      settings: (await readSettings(db, [object])).get(businessId)!,
      clientTags: (await read(client))?.tags as Tags | undefined,
      campaignExpiresTime: (await read(campaign))?.expiresTime as Temporal.Instant | undefined,
    })
    const [listed] = await listSubjects(db, businessId, objectType, [id])
    // As text: deepEqual calls any two Temporal.Instants equal.
    const text = (of: object | undefined) =>
      JSON.stringify(Object.entries(of ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    assert.equal(text(built), text(listed), type)
    const key = { businessId, objectId: built.objectId, objectUUId: built.objectUUId }
    const cache = new SettingsCache()
    const [held] = await database.engine.transaction((tx) =>
      readSubjects(tx, cache, objectType, [key]),
    )
    assert.equal(text(held), text(listed), `${type} at delivery`)
    const [whole] = await listWholeObjects(database.engine, cache, objectType, [key])
    assert.equal(text(whole?.subject), text(listed), `${type} at firing`)
    const [latest] = (
      await listSubjectStates(db, businessId, { objectType, id, until: clock.now(), limit: 1 })
    ).map(({ auditId: _auditId, time: _time, user: _user, change: _change, ...subject }) => subject)
    assert.equal(text(latest), text(listed), `${type} in its history`)
  }
})

test('objects of two businesses with the same id are not confused', async (t) => {
  const world = await startWorld(t)
  const { database, clock } = world
  const other = await addBusiness(world)
  const dueTime = clock.in({ hours: 9 }).epochMilliseconds
  const recallOf = ({ save, ids: { clientId } }: Pick<typeof world, 'save' | 'ids'>) =>
    save('/recall', { clientId, dueTime })
  const { recallId } = await recallOf(world)
  const theirs = await recallOf(other)
  await asOwner(
    database,
    `update recall set recall_id = ${recallId} where recall_id = ${theirs.recallId}`,
  )
  const keys = [world, other].map(({ businessId }) => ({
    businessId,
    objectId: recallId as number,
    objectUUId: null,
  }))
  const whole = await listWholeObjects(database.engine, new SettingsCache(), 'RECALL', keys)
  assert.deepEqual(
    whole.map(({ subject }) => subject.businessId).toSorted((a, b) => a - b),
    [world.businessId, other.businessId],
  )
  assert.equal(new Set(whole.map(({ subject }) => objectKeyOf(subject))).size, 2)
})
