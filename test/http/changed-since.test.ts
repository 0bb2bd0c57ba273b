import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OBJECT_KINDS, objectKind, type ObjectKind } from '../../src/contract/objects.ts'
import { saveObjects } from '../../src/scheduling/save.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { randomFrom, proofSeed } from '../proofs/random.ts'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { addBusiness, reminder, shareWorld, startWorld, type Answer } from '../support/world.ts'

const OPERATOR = 'the-operator-of-the-tests'
const shared = shareWorld({ ADMIN_API_KEY: OPERATOR })

type Call = (method: 'GET', url: string) => Promise<Answer>
type Item = Record<string, unknown>

/**
 * A client that copies a list. Other tests of this server hold transactions open, so a change is listed
 * only after some time: `until` waits for it. Changes from before the first position may be listed too.
 */
function mirrorOf(call: Call, path: string, id: string, position: string, limit = 500) {
  const copy = new Map<unknown, Item>()
  let next = position
  const read = async () => {
    const listed: Item[] = []
    let cursor = ''
    do {
      const url = `${path}?changedSince=${next}&limit=${limit}${cursor}`
      const { status, body } = await call('GET', url)
      assert.equal(status, 200, JSON.stringify(body))
      listed.push(...body.items)
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
      if (!cursor) next = body.nextPosition
    } while (cursor !== '')
    for (const item of listed) copy.set(item[id], item)
    return listed
  }
  const untilListed = (isAsExpected: (copied: Item[]) => boolean) =>
    until(async () => (await read(), isAsExpected([...copy.values()])))
  return { copy, read, untilListed, position: () => next }
}

const positionOf = async (call: Call) => (await call('GET', '/changes/position')).body.position

test('a client that follows positions misses no change of 20 parallel writers, however long their transactions take', async (t) => {
  // Writers and reader are one business, which gets a share of the connections, and wait for each other.
  const { database } = await cloneDatabase({ after }, 60, { lock_timeout: '60s' })
  const { businessId, call, clock } = await startWorld(t, {}, { database })
  const random = randomFrom(proofSeed(t))
  const kind = objectKind('client')!
  const settings = new SettingsCache()
  const save = async (user: string, bodies: object[], held = 0) => {
    await database.forBusiness(businessId, user).transaction(async (tx) => {
      await saveObjects(tx, kind, bodies, { businessId, user, now: clock.now(), settings })
      if (held > 0) await nextPasses(held)
    })
  }
  const mirror = mirrorOf(call, '/client', 'clientId', await positionOf(call), 7)
  const shown = { firstName: 'Bo', lastName: 'Li' }
  await save(
    'first',
    Array.from({ length: 30 }, (_, i) => ({ ...shown, externalId: `${i}` })),
  )

  let passes = 0
  let areWriting = true
  const reading = (async () => {
    while (areWriting) {
      await mirror.read()
      passes += 1
    }
  })()
  const nextPasses = (count: number) => {
    const last = passes + count
    return until(() => passes >= last)
  }

  const write = async (writer: number) => {
    for (let round = 0; round < 3; round += 1) {
      const changed = Array.from({ length: 3 }, () => ({
        externalId: `${random.below(30)}`,
        lastName: `changed by ${writer} in round ${round}`,
        active: random.chance(0.7),
      }))
      const created = { ...shown, externalId: `new ${writer} ${round}` }
      await save(
        `writer ${writer}`,
        [...changed, created],
        random.chance(0.3) ? random.below(8) : 0,
      )
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)))
  areWriting = false
  await reading

  const stored = await readAll(call, '/client?active=all')
  const isWritten = ({ externalId }: Item) => externalId !== null
  const written = stored.filter(isWritten)
  assert.equal(written.length, 90)
  await mirror.untilListed((copied) => sameById(copied.filter(isWritten), 'clientId', written))
})

/** All pages of a list. */
async function readAll(call: Call, url: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor = ''
  do {
    const { body } = await call('GET', `${url}${cursor}`)
    items.push(...body.items)
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
  return items
}

function sameById(some: Item[], id: string, others: Item[]) {
  const texts = (items: Item[]) =>
    items.toSorted((a, b) => Number(a[id]) - Number(b[id])).map((item) => JSON.stringify(item))
  return texts(some).join() === texts(others).join()
}

test('every kind lists created, changed and deleted objects by changedSince, and deleted ones by active', async (t) => {
  const { call, ids, save } = await shared(t)
  const bodies = await bodiesOf(save, ids)
  const copied = await Promise.all(
    OBJECT_KINDS.map(async ({ kind, path, id }) => {
      const mirror = mirrorOf(call, path, id, await positionOf(call))
      const object = await save(path, { ...bodies[kind], externalId: 'mine' })
      const isMine = (item: Item) => item[id] === object[id]
      return { kind, path, mirror, isMine, url: `${path}/${object[id]}` }
    }),
  )
  for (const { mirror, isMine } of copied) await mirror.untilListed((all) => all.some(isMine))
  for (const { url } of copied) await call('DELETE', url)
  for (const { kind, path, mirror, isMine } of copied) {
    await mirror.untilListed((all) => all.some((one) => isMine(one) && one.active === false))
    const listed = async (query: string) =>
      (await readAll(call, `${path}?${query}`)).filter(isMine).length
    assert.deepEqual(
      [
        await listed('limit=500'),
        await listed('active=true'),
        await listed('active=false'),
        await listed('active=all'),
        await listed('externalId=mine'),
        await listed('externalId=mine&active=all'),
      ],
      [0, 0, 1, 1, 0, 1],
      kind,
    )
    const { body } = await call('GET', `${path}?active=some`)
    assert.equal(body.errors[0].pointer, '?active')
  }
})

async function bodiesOf(
  save: Awaited<ReturnType<typeof shared>>['save'],
  ids: { clientId: number },
) {
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Consent' })
  const times = { startTime: 1_800_000_000_000, endTime: 1_800_000_900_000 }
  const { clientId, ...course } = ids
  const bodies: Record<ObjectKind['kind'], object> = {
    location: { name: 'Seefeld' },
    reason: { name: 'Massage' },
    professional: { firstName: 'Tom', lastName: 'Becker' },
    client: { firstName: 'Bo', lastName: 'Li' },
    calendar: { ...ids, ...times },
    classSchedule: { name: 'Pilates', ...course, ...times, clientIdList: [clientId] },
    invitationCampaign: { name: 'Autumn' },
    invitation: { invitationCampaignId, clientId },
    recall: { clientId, dueTime: times.startTime },
    disclaimerForm: { name: 'Photos' },
    disclaimer: { disclaimerFormId, clientId },
    emailCategory: { name: 'News' },
    emailTemplate: { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>' },
  }
  return bodies
}

test('definitions, actions and businesses are listed by changedSince too, with deleted ones', async (t) => {
  const { businessId, call, save } = await shared(t)
  const position = await positionOf(call)
  const definitions = mirrorOf(call, '/eventDefinition', 'eventDefnId', position)
  const actions = mirrorOf(call, '/eventAction', 'eventActionId', position)
  const template = { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions: [action] }),
  )
  await definitions.untilListed(([one]) => one?.eventDefnId === eventDefnId)
  await actions.untilListed(([one]) => one?.eventDefnId === eventDefnId && one?.active === true)
  const [eventActionId] = actions.copy.keys()
  await call('POST', '/eventAction', { eventActionId, active: false })
  await actions.untilListed(([one]) => one?.active === false)
  await call('DELETE', `/eventDefinition/${eventDefnId}`)
  await definitions.untilListed(([one]) => Number(one?.deletedDate) > 0)

  const asOperator: Call = (method, url) =>
    call(method, url, undefined, { authorization: `Bearer ${OPERATOR}` })
  const { nextPosition } = (await asOperator('GET', '/business')).body
  const businesses = mirrorOf(asOperator, '/business', 'businessId', nextPosition)
  await call('DELETE', `/business/${businessId}`, undefined, {
    authorization: `Bearer ${OPERATOR}`,
  })
  await businesses.untilListed((copied) =>
    copied.some((one) => one.businessId === businessId && one.active === false),
  )
})

test('changes of one transaction are read page by page, by cursor or by nextPosition, each once', async (t) => {
  const { businessId, call, clock, db } = await shared(t)
  const start = await positionOf(call)
  await db.transaction((tx) =>
    saveObjects(
      tx,
      objectKind('client')!,
      Array.from({ length: 7 }, (_, i) => ({ firstName: 'Bo', lastName: `${i}` })),
      { businessId, user: 'import', now: clock.now(), settings: new SettingsCache() },
    ),
  )
  const whole = mirrorOf(call, '/client', 'clientId', start)
  await whole.untilListed((copied) => copied.length >= 7)
  const byCursor = await mirrorOf(call, '/client', 'clientId', start, 2).read()
  assert.deepEqual(byCursor, [...whole.copy.values()])

  const byPosition: Item[] = []
  for (let position = start; ;) {
    const { body } = await call('GET', `/client?changedSince=${position}&limit=2`)
    byPosition.push(...body.items)
    position = body.nextPosition
    if (body.items.length === 0) break
  }
  assert.deepEqual(byPosition, byCursor)
})

test('a whole list gives the position of its first page, so that changes of read pages are listed later', async (t) => {
  const { call, ids, save } = await shared(t)
  await save('/client', { firstName: 'Bo', lastName: 'Li' })
  const first = (await call('GET', '/client?limit=1')).body
  await save('/client', { clientId: ids.clientId, lastName: 'Renamed' })
  const last = (await call('GET', `/client?limit=1&cursor=${first.nextCursor}`)).body
  assert.deepEqual([last.nextCursor, last.nextPosition], [null, first.nextPosition])
  const mirror = mirrorOf(call, '/client', 'clientId', last.nextPosition)
  await mirror.untilListed((copied) => copied.some(({ lastName }) => lastName === 'Renamed'))
})

test('a person who loses an appointment sees it as deleted, as it was; never that of others', async (t) => {
  const world = await shared(t)
  const { app, book, businessId, clock, database, ids, save } = world
  const { professionalId } = await save('/professional', { firstName: 'Marc', lastName: 'Roth' })
  const username = `elena${businessId}`
  const person = { username, role: 'USER', professionalId: ids.professionalId } as const
  await createPerson(database, clock, businessId, person)
  const asked = ask(app, { cookie: await signInAs(app, username) })
  const call: Call = async (method, url) => {
    const { status, body } = await asked(method, url)
    return { status, body, headers: {} }
  }
  const mirror = mirrorOf(call, '/calendar', 'calendarId', await positionOf(call))
  await book(clock.in({ hours: 1 }), { professionalId, note: 'of Marc from the beginning' })
  const { calendarId } = await book(clock.in({ hours: 2 }), { note: 'of Elena' })
  await mirror.untilListed(([one]) => one?.note === 'of Elena')
  await save('/calendar', { calendarId, professionalId, note: 'of Marc now' })
  await mirror.untilListed(([one]) => one?.active === false)
  const [lost, ...others] = [...mirror.copy.values()]
  assert.deepEqual(
    [lost!.calendarId, lost!.note, lost!.professionalId, others],
    [calendarId, 'of Elena', ids.professionalId, []],
  )
})

test('a position of another database, another business or another visibility is 410', async (t) => {
  const world = await shared(t)
  const other = await addBusiness(world)
  const restored = await startWorld(t)
  const position = await positionOf(world.call)
  for (const { call } of [other, restored]) {
    const { status, body } = await call('GET', `/client?changedSince=${position}`)
    assert.deepEqual([status, body.code], [410, 'stale-position'])
    assert.match(body.detail, /^The position in changedSince is of no use any more. Read/)
  }
  const ahead = JSON.parse(Buffer.from(position, 'base64url').toString())
  ahead[1] = String(BigInt(ahead[1]) + 1_000_000_000n)
  const forged = Buffer.from(JSON.stringify(ahead)).toString('base64url')
  assert.equal((await world.call('GET', `/client?changedSince=${forged}`)).status, 410)
})

test('what is not a position, or one within another list, is 422', async (t) => {
  const { call, save } = await shared(t)
  const start = await positionOf(call)
  const mirror = mirrorOf(call, '/client', 'clientId', start)
  for (const lastName of ['a', 'b']) await save('/client', { firstName: 'Bo', lastName })
  await mirror.untilListed((copied) => copied.length >= 2)
  const page = (await call('GET', `/client?changedSince=${start}&limit=1`)).body
  const inner = page.nextPosition
  const write = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')
  const [epoch] = JSON.parse(Buffer.from(start, 'base64url').toString())
  for (const [path, text] of [
    ['/reason', inner],
    ['/client', 'x'],
    ['/client', write({})],
    ['/client', write([epoch, -1])],
    ['/client', write([epoch, '9'.repeat(30)])],
    ['/client', write([epoch, '1', 'client', 'x'])],
    ['/client', '1789000000000'],
  ]) {
    const { status, body } = await call('GET', `${path}?changedSince=${text}`)
    assert.deepEqual([status, body.errors?.[0].pointer], [422, '?changedSince'], text)
  }
  const cursor = `cursor=${page.nextCursor}`
  const { status } = await call('GET', `/client?changedSince=${inner}&${cursor}`)
  assert.equal(status, 422, 'a cursor of another list')
})
