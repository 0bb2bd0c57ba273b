import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EarlierLines } from '../../src/scheduling/earlier-lines.ts'
import {
  importLines,
  tryLines,
  type Imported,
  type ImportLine,
} from '../../src/scheduling/import.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { reminder, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** Each line in a window of its own: it cannot see the lines before it in its transaction. */
const inWindows = (bodies: Record<string, unknown>[]): ImportLine[][] =>
  bodies.map((body, i) => [{ number: i + 1, body: structuredClone(body), bytes: 300_000 }])

async function run(
  { businessId, clock, db }: World,
  work: typeof importLines,
  lines: Parameters<typeof importLines>[1],
) {
  const refused: string[] = []
  const imported: Imported = await work(db, lines, {
    businessId,
    user: 'key:test',
    now: clock.now,
    onRefused: (line, reason) => void refused.push(`${line} ${reason}`),
  })
  return { ...imported, refused }
}

test('a dry run whose lines arrive slowly delays no booking, no definition and no other save', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, db, ids, save } = world
  const appointment = await book(clock.in({ hours: 48 }))
  await save('/eventDefinition', reminder(businessId, -24))
  const times = {
    startTime: clock.in({ hours: 72 }).epochMilliseconds,
    endTime: clock.in({ hours: 73 }).epochMilliseconds,
  }
  const answersAtOnce = async (request: Promise<unknown>) => {
    let isDone = false
    const done = request.then(() => (isDone = true))
    await until(async () => isDone || (await isLockAwaited(db)))
    assert.ok(isDone, 'the request waits for a lock')
    await done
  }
  const change = { kind: 'calendar', calendarId: appointment.calendarId, ...times }
  const created = { kind: 'calendar', ...ids, ...times }
  const bodies: Record<string, unknown>[] = [
    change,
    { kind: 'client', clientId: ids.clientId, phone: '+41 1' },
  ]
  for (let i = 0; i < 1_500; i += 1) bodies.push({ ...created, externalId: `A${i}` })
  const lines = bodies.map((body, i) => ({ number: i + 1, body }))
  async function* slowly() {
    yield lines.slice(0, 1_200)
    // The first window is done when the reader asks for more.
    await answersAtOnce(
      save('/calendar', { calendarId: appointment.calendarId, note: 'moved', ...times }),
    )
    await answersAtOnce(save('/client', { clientId: ids.clientId, phone: '+41 2' }))
    await answersAtOnce(save('/eventDefinition', reminder(businessId, -48)))
    await answersAtOnce(book(clock.in({ hours: 96 })))
    yield lines.slice(1_200)
  }
  const { accepted, refused } = await run(world, tryLines, slowly())
  assert.deepEqual([accepted, refused], [{ calendar: 1_501, client: 1 }, []])
})

test('a dry run refuses the same lines as the import, whatever earlier lines they name', async (t) => {
  const world = await enterWorld(t)
  const { call, clock, ids } = world
  const times = (hours: number) => ({
    startTime: clock.in({ hours }).epochMilliseconds,
    endTime: clock.in({ hours: hours + 1 }).epochMilliseconds,
  })
  const booking = {
    kind: 'calendar',
    clientExternalId: 'C',
    locationExternalId: 'L',
    professionalRef: 'p',
    reasonId: ids.reasonId,
  }
  const fileUUId = 'a'.repeat(32)
  const content = Buffer.from('hello').toString('base64')
  const bodies = [
    { kind: 'location', externalId: 'L', name: 'Altstadt' },
    { kind: 'professional', ref: 'p', firstName: 'Grace', lastName: 'Hopper' },
    { kind: 'client', externalId: 'C', firstName: 'Ada', lastName: 'Okafor' },
    { kind: 'client', externalId: 'C', lastName: 'Moss' },
    { kind: 'client', externalId: 'D', lastName: 'Moss' },
    { ...booking, externalId: 'A', ...times(24) },
    { kind: 'calendar', externalId: 'A', note: 'moved' },
    { kind: 'calendar', externalId: 'A', endTime: times(20).endTime },
    { kind: 'calendar', externalId: 'B', note: 'unknown' },
    { ...booking, clientExternalId: 'D', ...times(24) },
    { ...booking, professionalRef: 'q', ...times(24) },
    { kind: 'client', clientId: ids.clientId, externalId: 'known' },
    { ...booking, clientExternalId: 'known', ...times(48) },
    { kind: 'client', ref: 's', firstName: 'Bo', lastName: 'Lee' },
    {
      kind: 'classSchedule',
      name: 'Yoga',
      clientRefList: ['s'],
      attendance: [{ clientRef: 's', present: true }],
      professionalRef: 'p',
      locationExternalId: 'L',
      reasonId: ids.reasonId,
      ...times(30),
    },
    { ...booking, status: 'LATE', ...times(24) },
    { kind: 'status', objectType: 'CALENDAR', status: 'LATE', label: 'Late' },
    { ...booking, status: 'LATE', ...times(24) },
    { kind: 'recall', clientExternalId: 'C', status: 'LATE', dueTime: times(24).startTime },
    { kind: 'fileLibrary', fileUUId, name: 'a.txt', content },
    {
      kind: 'emailTemplate',
      externalId: 'T',
      templateName: 'Reminder',
      subject: 'See you',
      emailBody: '<p>Tomorrow</p>',
      attachFileLibraryUUids: [fileUUId],
    },
    {
      ...reminder(world.businessId, -24),
      kind: 'eventDefinition',
      locationExternalIdList: ['L'],
      eventActions: [{ actionType: 'SEND_EMAIL', active: true, emailTemplateExternalId: 'T' }],
    },
    {
      ...reminder(world.businessId, -24),
      kind: 'eventDefinition',
      locationExternalIdList: ['M'],
    },
  ]
  const before = (await call('GET', '/client')).body.items
  const tried = await run(world, tryLines, inWindows(bodies))
  assert.deepEqual((await call('GET', '/client')).body.items, before)
  const done = await run(world, importLines, inWindows(bodies))
  const { planned, ...same } = tried
  assert.deepEqual(same, done)
  assert.ok(planned)
  assert.deepEqual(
    done.refused.map((line) => Number(line.split(' ')[0])),
    [5, 8, 9, 10, 11, 16, 19, 23],
  )
})

test('many lines about one object are saved again as one', () => {
  const earlier = new EarlierLines()
  for (let i = 0; i < 100; i += 1)
    earlier.keep({ kind: 'client', externalId: 'C', phone: `+41 ${i}` })
  const named = earlier.namedBy([{ kind: 'recall', clientExternalId: 'C' }])
  assert.deepEqual(named, [{ kind: 'client', externalId: 'C', phone: '+41 99' }])
})
