import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { openPulled } from '../feeds/fake-source.ts'
import { PULLING } from '../feeds/loop-parts.ts'
import { capturing } from '../support/capturing-engine.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'
import { isFull, proofSeed, randomFrom } from './random.ts'

/*
 * The same fortnight of a salon, mirrored in SHADOW and in LIVE: SHADOW sends nothing, and captures what
 * LIVE sends.
 */

const DAYS = 14
const REPLAYS = isFull ? 20 : 1
const APPOINTMENTS = 25
const REASON = 'feed "Salon" is in shadow mode'

type Mail = {
  address: string
  anchor: string
  eventTypeId: number
  status: string
  reason: string | null
}

async function replay(t: TestContext, seed: number, mode: 'SHADOW' | 'LIVE') {
  const random = randomFrom(seed)
  const { below, chance, pick } = random
  const world = await startWorld(t, PULLING)
  const { businessId, clock, db, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  for (const [eventTypeId, hours] of [
    [1, 0],
    [2, 0],
    [3, -24],
    [3, -2],
    [3, 3],
  ] as const) {
    await save(
      '/eventDefinition',
      reminder(businessId, hours, { eventActions, eventType: { eventTypeId } }),
    )
  }
  const mails = () =>
    db.query<Mail>(sql`
      select m.to_address as address, t.anchor_time::text as anchor, d.event_type_id::int as "eventTypeId",
        m.status, m.status_reason as reason
      from email m
      join any_trigger t using (business_id, event_trigger_id)
      join event_definition d on d.business_id = t.business_id and d.event_defn_id = t.event_defn_id
      where m.business_id = ${businessId}`)
  const feed = await openPulled(world)
  const { shelf, put, entryOf } = feed
  /** The hours of each appointment from the beginning, so that both replays are equal. */
  const startedAt = clock.now()
  const hoursNow = () => startedAt.until(clock.now()).total('hours')
  let made = 0
  const people = Array.from({ length: 6 }, (_, at) => [{ emailAddress: `client${at}@example.org` }])
  const booked = new Map<
    string,
    { hours: number; attendees: { emailAddress: string }[]; status: string | null }
  >()
  const write = (key: string) => {
    const { hours, attendees, status } = booked.get(key)!
    const start = startedAt.add({ hours })
    put(key, entryOf(key, 0, { start, end: start.add({ minutes: 30 }), attendees, status }))
  }
  const book = () => {
    const key = `a${(made += 1)}`
    booked.set(key, {
      hours: Math.ceil(hoursNow()) + 3 + below(200),
      attendees: pick(people),
      status: null,
    })
    write(key)
  }
  const change = () => {
    const keys = [...booked.keys()]
    if (keys.length < 5 || chance(0.4)) return book()
    const key = pick(keys)
    const one = booked.get(key)!
    const kind = below(4)
    if (kind === 0) {
      booked.delete(key)
      shelf.resources.delete(key)
      return
    }
    if (kind === 1) one.status = one.status ? null : 'CANCELLED'
    else one.hours = Math.ceil(hoursNow()) + 3 + below(150)
    write(key)
  }
  for (let at = 0; at < APPOINTMENTS; at += 1) book()

  const start = () => ({
    loop: createFeedLoops(feed.parts)[0]!,
    // As with a mail server: what is captured has a reason.
    engine: startEngine(world, { ...capturing(), captures: false }),
  })
  let { loop, engine } = start()
  assert.equal(await loop.runOnce(), 1)
  await engine.runEngine()
  assert.deepEqual(await mails(), [], 'the first pull')
  if (mode === 'LIVE') await save('/feed', { feedId: feed.feedId, mode })

  for (let day = 0; day < DAYS; day += 1) {
    for (let step = 0; step < 12; step += 1) {
      for (let changes = below(3); changes > 0; changes -= 1) change()
      clock.advance({ minutes: 60 + below(120) })
      await loop.runOnce()
      await engine.runEngine()
    }
    const before = (await mails()).length
    ;({ loop, engine } = start())
    await loop.runOnce()
    await engine.runEngine()
    assert.equal((await mails()).length, before, 'a restart')
  }
  return mails()
}

test('a feed in SHADOW sends nothing, and captures what the same fortnight sends in LIVE', async (t) => {
  const seed = proofSeed(t)
  for (let at = 0; at < REPLAYS; at += 1) {
    const [shadow, live] = [
      await replay(t, seed + at, 'SHADOW'),
      await replay(t, seed + at, 'LIVE'),
    ]
    const describe = ({ address, anchor, eventTypeId }: Mail) =>
      `${eventTypeId} ${anchor} ${address}`
    assert.deepEqual(
      [...new Set(shadow.map(({ status, reason }) => `${status} ${reason}`))],
      [`CAPTURED ${REASON}`],
    )
    assert.ok(
      live.every(({ reason }) => reason === null),
      'LIVE sends',
    )
    assert.deepEqual(
      shadow.map(describe).toSorted(),
      live.map(describe).toSorted(),
      `PROOF_SEED=${seed + at}`,
    )
    t.diagnostic(`${live.length} mails`)
    assert.ok(live.length > APPOINTMENTS)
  }
})
