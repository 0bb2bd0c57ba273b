import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ConnectionError } from '../../src/database/postgres-errors.ts'
import { objectKind } from '../../src/contract/objects.ts'
import type { Db } from '../../src/database/database.ts'
import { raw, sql } from '../../src/database/sql.ts'
import { toJson } from '../../src/http/server/serialize.ts'
import { findObject } from '../../src/store/objects.ts'
import { RequestError } from '../../src/errors.ts'
import { sharedSaves, type Saved, type ToSave } from '../../src/scheduling/shared-saves.ts'
import { reminder, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type Ended = { saved?: Saved; failed?: unknown }

/** Saves several bodies at once, and reads which transactions wrote them. */
async function start(t: TestContext) {
  const world = await enterWorld(t)
  const { businessId, clock, db, ids, settings } = world
  const shared = sharedSaves(() => clock.now())
  const startTime = clock.in({ hours: 72 }).epochMilliseconds
  const common = { db, businessId, user: 'key:test', settings, kind: objectKind('calendar')! }
  const booking = (more: object = {}) => ({
    ...ids,
    startTime,
    endTime: startTime + 1_800_000,
    ...more,
  })
  const saveAtOnce = (all: (Partial<ToSave> & { body: unknown })[]): Promise<Ended[]> =>
    Promise.all(
      all.map((each) =>
        shared.run({ ...common, ...each }).then(
          (saved) => ({ saved }),
          (failed: unknown) => ({ failed }),
        ),
      ),
    )
  const transactions = async (table = 'calendar') => {
    const rows = await db.query(sql`select distinct xmin::text from ${raw(table)}`)
    return rows.length
  }
  const count = async (table: string) => {
    const [row] = await db.query<{ count: number }>(sql`select count(*) from ${raw(table)}`)
    return row!.count
  }
  /** The users that the audit recorded for appointments. */
  const audited = async () => {
    const rows = await db.query<{ username: string }>(sql`
      select username from audit where object = 'calendar' order by username`)
    return rows.map((row) => row.username)
  }
  return { ...world, booking, saveAtOnce, transactions, count, audited }
}

const statusOf = ({ failed }: Ended) => (failed instanceof RequestError ? failed.status : failed)

test('saves at the same time share a transaction with their triggers and audit', async (t) => {
  const { audited, booking, businessId, call, save, saveAtOnce, transactions } = await start(t)
  for (const hours of [-24, -2]) await save('/eventDefinition', reminder(businessId, hours))
  const notes = Array.from({ length: 8 }, (_, i) => `number ${i}`)
  const ended = await saveAtOnce(notes.map((note) => ({ body: booking({ note }) })))

  assert.equal(await transactions(), 1)
  assert.equal(await transactions('pending_trigger'), 1)
  for (const [i, { saved }] of ended.entries()) {
    assert.equal(saved!.isNew, true)
    assert.equal(saved!.object.note, notes[i], 'each save gets its own object')
    const { calendarId } = saved!.object
    const triggers = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    assert.equal(triggers.body.length, 2)
    const read = await call('GET', `/calendar/${calendarId}`)
    assert.equal(read.body.note, notes[i])
  }
  assert.deepEqual(await audited(), Array(8).fill('key:test'))
})

test('a fault in one body is reported only to its sender', async (t) => {
  const { book, booking, clock, saveAtOnce } = await start(t)
  const { calendarId } = await book(clock.in({ hours: 96 }))
  const refuse = () => {
    throw new RequestError(412, 'stale')
  }
  const ended = await saveAtOnce([
    { body: booking() },
    { body: booking({ clientId: 999_999 }) },
    { body: { calendarId, note: 'stale' }, allow: refuse },
    { body: { calendarId, note: 'first' } },
    { body: 'nonsense' },
    { body: null },
    { body: { calendarId: 999_999, note: 'nobody’s' } },
    { body: { calendarId, note: 'second' } },
  ])
  const statuses = ended.map((each) => (each.saved ? 'saved' : statusOf(each)))
  assert.deepEqual(statuses, ['saved', 422, 412, 'saved', 422, 422, 404, 'saved'])
  const [first, second] = [ended[3]!, ended[7]!].map((each) => each.saved!.object)
  assert.deepEqual([first!.note, first!.version], ['first', 2], 'as it was after the first change')
  assert.deepEqual([second!.note, second!.version], ['second', 3])
})

test('saves of the same externalId at the same time create one object, then change it', async (t) => {
  const { booking, saveAtOnce } = await start(t)
  const bodies = ['a', 'b', 'c'].map((note) => ({ body: booking({ externalId: 'A-1', note }) }))
  const ended = await saveAtOnce([{ body: booking() }, ...bodies])
  const [, ...same] = ended.map(({ saved }) => saved!)
  assert.equal(new Set(same.map(({ object }) => object.calendarId)).size, 1)
  assert.deepEqual(
    same.map(({ isNew, object }) => [isNew, object.note, object.version]),
    [
      [true, 'a', 1],
      [false, 'b', 2],
      [false, 'c', 3],
    ],
  )
})

test('a body that the database refuses does not fail the others', async (t) => {
  const { book, booking, clock, count, saveAtOnce } = await start(t)
  await book(clock.in({ hours: 96 }), { externalId: 'taken' })
  const { calendarId } = await book(clock.in({ hours: 96 }))
  const ended = await saveAtOnce([
    { body: booking({ note: 'before' }) },
    { body: { calendarId, externalId: 'taken' } },
    { body: booking({ note: 'after' }) },
  ])
  assert.match(String(ended[1]!.failed), /duplicate key/)
  assert.deepEqual(
    [ended[0]!, ended[2]!].map(({ saved }) => saved!.object.note),
    ['before', 'after'],
  )
  assert.equal(await count('calendar'), 4, 'nothing was saved twice')
})

test('saves of different users, visibility or kinds never share a transaction; each is audited under its own user', async (t) => {
  const { audited, booking, businessId, database, ids, saveAtOnce, transactions } = await start(t)
  const other = { user: 'key:other', db: database.forBusiness(businessId, 'key:other') }
  const ended = await saveAtOnce([
    { body: booking() },
    { body: booking(), ...other },
    { body: booking(), visibility: { locationIds: [ids.locationId] } },
    { body: booking(), visibility: { professionalId: ids.professionalId + 1 } },
    { body: { name: 'Seefeld' }, kind: objectKind('location')! },
  ])
  assert.deepEqual(
    ended.map((each) => (each.saved ? each.saved.object.createdUser : statusOf(each))),
    ['key:test', 'key:other', 'key:test', 422, 'key:test'],
  )
  assert.equal(await transactions(), 3)
  assert.deepEqual(await audited(), ['key:other', 'key:test', 'key:test'])
})

test('many saves at once are written in bounded rounds, two at a time', async (t) => {
  const { booking, saveAtOnce, transactions } = await start(t)
  const ended = await saveAtOnce(Array.from({ length: 100 }, () => ({ body: booking() })))
  assert.ok(ended.every(({ saved }) => saved))
  assert.equal(await transactions(), 4)
})

test('a round whose commit is uncertain is not retried', async (t) => {
  const { booking, db, saveAtOnce } = await start(t)
  let tries = 0
  const cut: Db = {
    ...db,
    transaction: () => {
      tries += 1
      return Promise.reject(new ConnectionError(new Error('Connection terminated unexpectedly')))
    },
  }
  const ended = await saveAtOnce([
    { body: booking(), db: cut },
    { body: booking(), db: cut },
  ])
  assert.equal(tries, 1)
  for (const { failed } of ended) assert.match(String(failed), /Connection terminated/)
})

test('the saves of a refused round are retried at the same time, in a transaction each', async (t) => {
  const { booking, db, saveAtOnce } = await start(t)
  let [tries, running, maxRunning] = [0, 0, 0]
  const refusing: Db = {
    ...db,
    transaction: (async (work) => {
      tries += 1
      if (tries === 1) throw new Error('refused')
      running += 1
      maxRunning = Math.max(maxRunning, running)
      return db.transaction(work).finally(() => (running -= 1))
    }) as Db['transaction'],
  }
  const ended = await saveAtOnce(
    Array.from({ length: 4 }, () => ({ body: booking(), db: refusing })),
  )
  assert.ok(ended.every(({ saved }) => saved))
  assert.equal(maxRunning, 4)
})

test('the answer to each save equals what is read afterwards, alone and in a batch', async (t) => {
  const { booking, businessId, db, saveAtOnce, ids } = await start(t)
  const { clientId: _client, ...lesson } = booking()
  const bodies = {
    calendar: [
      booking(),
      booking({ note: 'Grüße “an” \\ 😀', tags: { longer: ['b', 'a'], x: ['1'] } }),
      booking({ tags: { one: ['2'] }, externalId: 'E-1', active: false }),
    ],
    recall: [{ clientId: ids.clientId, dueTime: booking().startTime }],
    classSchedule: [
      { ...lesson, name: 'Yoga', clientIdList: [ids.clientId], capacity: 12 },
      { ...lesson, name: 'Pilates', capacity: null },
    ],
    reason: [{ name: 'Consultation', price: 12.5, durationMinutes: 30 }, { name: 'Other' }],
  }
  for (const [name, all] of Object.entries(bodies)) {
    const kind = objectKind(name)!
    const ended = await saveAtOnce(all.map((body) => ({ kind, body })))
    ended.push(...(await saveAtOnce([{ kind, body: all[0] }])))
    for (const { saved, failed } of ended) {
      assert.ifError(failed)
      const read = await findObject(db, businessId, kind, saved!.object[kind.id] as number)
      assert.equal(toJson(saved!.object), toJson(read))
    }
  }
})
