import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOwner } from '../support/owner.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a node uses settings that were changed directly in the database for its next booking', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, ids, save } = world
  await save('/eventDefinition', reminder(businessId, -24, { locationIdList: [ids.locationId] }))
  const planned = async () => {
    const { calendarId } = await book(clock.in({ hours: 72 }))
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    return (body as unknown[]).length
  }
  assert.equal(await planned(), 1)

  const change = (statement: string) => asOwner(world.database, statement)
  await change(`update status set live = false where object_type = 'CALENDAR'`)
  assert.equal(await planned(), 0, 'a status')
  await change(`update status set live = true where object_type = 'CALENDAR'`)
  assert.equal(await planned(), 1)
  await change(`update event_definition set location_id_list = '{}', active = false`)
  assert.equal(await planned(), 0, 'a definition')
})
