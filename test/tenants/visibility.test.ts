import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { asOwner } from './catalogue.ts'
import { readRoutes } from './id-positions.ts'
import { MARKER } from './rows.ts'
import { startTwoBusinesses } from './two-businesses.ts'

/**
 * All objects of the other business have one location and one member of staff, and contain MARKER.
 * Users of that business with another location, or without appointments, must not see them.
 */
test('no route shows people objects outside the part of the business that they may see', async (t) => {
  const { app, url, database, clock, other } = await startTwoBusinesses(t)
  const { call, businessId, ids } = other
  const make = async (path: string, body: object) => (await call('POST', path, body)).body
  const { locationId } = await make('/location', { name: 'Elsewhere' })
  const staff = { firstName: 'Else', lastName: 'Where', locationIdList: [locationId] }
  const { professionalId } = await make('/professional', staff)
  // Remove MARKER from what all users may see; appointments and mails still contain it.
  await asOwner(url, async (client) => {
    await client.query('set session_replication_role = replica')
    for (const [table, columns] of SEEN_BY_ALL) {
      for (const column of columns) await client.query(`update ${table} set ${column} = 'seen'`)
    }
    await client.query(`update client set tags = '{}'`)
  })

  await createPerson(database, clock, businessId, {
    username: 'manager',
    role: 'LOCATION_SUPER_USER',
    locationIdList: [locationId],
  })
  await createPerson(database, clock, businessId, {
    username: 'member',
    role: 'USER',
    professionalId,
  })
  const routes = await readRoutes(app, ids, other.bodies)
  for (const username of ['manager', 'member']) {
    const person = ask(app, { cookie: await signInAs(app, username) })
    let answered = 0
    for (const { name, plain } of routes) {
      if (!plain || plain.method !== 'GET' || !PLACED.test(name)) continue
      const { status, body } = await person('GET', plain.url)
      assert.ok(status < 500, name)
      if (status === 200) answered += 1
      const text = JSON.stringify(body)
      assert.equal(text.includes(MARKER), false, `${name} shows ${username}: ${text}`)
      for (const [property, id] of PLACED_IDS.map((one) => [one, ids[one]] as const)) {
        const shown = new RegExp(`"(objectId|${property})":${id}\\b`).test(text)
        assert.equal(shown, false, `${name} shows ${username} the ${property}`)
      }
    }
    assert.ok(answered > 3, `${username} was answered ${answered} times`)
    for (const action of [
      ['POST', `/eventTriggers/${ids.eventTriggerId}/cancel`],
      ['DELETE', `/calendar/${ids.calendarId}`],
      ['DELETE', `/classSchedule/${ids.classScheduleId}`],
    ] as const) {
      assert.equal((await person(action[0], action[1])).status, 404, action[1])
    }
    const { disclaimerFormId, clientId, calendarId } = ids
    const form = { disclaimerFormId, clientId, calendarId }
    const refused = await person('POST', '/disclaimer', form)
    assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '/calendarId'])
    const { disclaimerId } = await make('/disclaimer', form)
    const same = await person('POST', '/disclaimer', { disclaimerId, ...form })
    assert.equal(same.status, 200, 'what stays as it was is not refused')
  }
})

const SEEN_BY_ALL: [string, string[]][] = [
  ['location', ['name']],
  ['professional', ['first_name', 'last_name', 'email_address']],
  ['reason', ['name']],
  ['client', ['first_name', 'last_name', 'email_address']],
  ['business', ['name']],
]

const PLACED = /\/(calendar|classSchedule|recall|eventTriggers|emails|explain|overview)/
const PLACED_IDS = ['calendarId', 'classScheduleId', 'recallId'] as const
