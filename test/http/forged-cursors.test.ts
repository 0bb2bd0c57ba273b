import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATOR_KEY } from '../support/callers.ts'
import { until } from '../support/until.ts'
import { startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const OPERATOR = { authorization: `Bearer ${OPERATOR_KEY}` }

/** Invalid in every cursor: not an id, a time, or a text that PostgreSQL can store. */
const NEVER = [null, true, {}, [], 1.5, -1, 0, 1e300, 2 ** 53, 'a\0b', '\ud800']
const MOMENTS = [
  'x',
  '',
  'now',
  'infinity',
  '2026-13-01T00:00:00Z',
  '2026-03-02',
  '2026-03-02T09:00:00+01:00',
  '0000-01-01T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00Z',
]

test('a forged cursor with values of other types is 422 in every list', async (t) => {
  const world = await startWorld(t, { ADMIN_API_KEY: OPERATOR_KEY })
  const idByName = await fillEveryList(world)
  const lists = (await pathsOfLists(world)).map((path) =>
    path.replace(/\{(\w+)\}/, (_, name: string) => String(idByName[name])),
  )
  assert.ok(lists.length > 20, lists.join())

  for (const path of lists) {
    const as = path === '/business' ? OPERATOR : {}
    const required = path.endsWith('/rows') ? 'startDate=2026-01-01&endDate=2026-12-31&' : ''
    const ask = async (query: string) =>
      world.call('GET', `${path}?${required}${query}`, undefined, as)
    const { body, headers } = await ask('limit=1')
    const next = body.nextCursor ?? /cursor=([\w-]+)/.exec(String(headers.link))?.[1]
    assert.ok(next, `${path} has two rows: ${JSON.stringify(body)}`)
    const [mark, ...position] = readCursor(next)
    const statusOf = async (forged: unknown[]) =>
      (await ask(`cursor=${writeCursor([mark, ...forged])}`)).status

    assert.equal(await statusOf(position), 200, path)
    for (const [i, value] of position.entries()) {
      const wrong = [
        ...NEVER,
        ...(typeof value === 'number' ? ['x', String(value), '2026-03-02T09:00:00Z'] : [1]),
        ...(/^\d{4}-\d\d-\d\dT/.test(String(value)) ? MOMENTS : []),
      ]
      for (const other of wrong) {
        const forged = position.with(i, other)
        assert.equal(await statusOf(forged), 422, `${path} ${JSON.stringify(forged)}`)
      }
      if (typeof value === 'number') {
        const largest = position.with(i, Number.MAX_SAFE_INTEGER)
        assert.equal(await statusOf(largest), 200, `${path} ${JSON.stringify(largest)}`)
      }
    }
    for (const forged of [[], position.slice(1), [...position, 1], [...position, 'x']]) {
      assert.equal(await statusOf(forged), 422, `${path} ${JSON.stringify(forged)}`)
    }
    for (const cursor of ['', 'x', writeCursor({}), writeCursor(null), writeCursor(1)]) {
      assert.equal((await ask(`cursor=${cursor}`)).status, 422, `${path} ${cursor}`)
    }
  }
})

const readCursor = (cursor: string) =>
  JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]

const writeCursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** All paths that take a cursor, according to the API description. */
async function pathsOfLists({ call }: World) {
  const { body } = await call('GET', '/openapi.json')
  type Operation = { get?: { parameters?: { name: string }[] } }
  return Object.entries(body.paths as Record<string, Operation>)
    .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'cursor'))
    .map(([path]) => path)
}

/** Creates at least two rows for each list. */
async function fillEveryList(world: World) {
  const { businessId, call, clock, save, ids } = world
  const start = clock.in({ hours: 72 }).epochMilliseconds
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Consent' })
  const { emailTemplateId } = await save('/emailTemplate', template('Hello'))
  const { locationId, professionalId, reasonId, clientId } = ids
  for (const i of [1, 2]) {
    await save('/location', { name: `Place ${i}` })
    await save('/professional', { firstName: 'Tom', lastName: `Number ${i}` })
    await save('/reason', { name: `Service ${i}` })
    await save('/client', { firstName: 'Ada', lastName: `Number ${i}` })
    await save('/emailCategory', { name: `Category ${i}` })
    await save('/emailTemplate', template(`Template ${i}`))
    await save('/invitationCampaign', { name: `Campaign ${i}` })
    await save('/disclaimerForm', { name: `Form ${i}` })
    const times = { startTime: start + i, endTime: start + i + 1_800_000 }
    await save('/classSchedule', { name: 'Yoga', professionalId, locationId, ...times })
    await save('/invitation', { invitationCampaignId, clientId })
    await save('/recall', { clientId, dueTime: start + i })
    await save('/disclaimer', { disclaimerFormId, clientId })
    await save('/eventDefinition', {
      active: true,
      businessId,
      objectType: 'CALENDAR',
      triggerHours: -24 * i,
      triggerMinutes: 0,
      eventType: { eventTypeId: 3 },
      eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
    })
    await save('/calendar', { locationId, professionalId, reasonId, clientId, ...times })
    await save('/apiKey', { name: `Key ${i}` })
    const person = { username: `person-${i}`, emailAddress: `person-${i}@example.org` }
    await save('/user', { ...person, password: PASSWORD, role: 'ADMINISTRATOR' })
    const suppression = { kind: 'suppression', emailAddress: `no${i}@example.org` }
    await call('POST', '/import', JSON.stringify({ ...suppression, reason: 'UNSUBSCRIBED' }))
    const business = { name: `Business ${i}`, timeZone: 'Europe/Zurich' }
    assert.equal((await call('POST', '/business', business, OPERATOR)).status, 201)
  }
  const [{ calendarId }] = (await call('GET', '/calendar')).body.items
  const [{ invitationUUID }] = (await call('GET', '/invitation')).body.items
  const about = { objectType: 'INVITATION', objectId: invitationUUID }
  const to = ['a@example.org', 'b@example.org']
  await save(`/emailTemplate/${emailTemplateId}/test`, { ...about, to })
  const { runEngine } = startEngine(world)
  for (const hours of [24, 24]) {
    clock.advance({ hours, seconds: 1 })
    await runEngine()
  }
  const { runId, feedId } = await fillListsOfReportsAndMail(world)
  return { calendarId, invitationUUID, clientId, runId, feedId, reportId: 101 } as Record<
    string,
    number | string
  >
}

async function fillListsOfReportsAndMail({ businessId, call, clock, ids, save }: World) {
  const PRINT = '/report/print/file?startDate=2026-03-01&endDate=2026-03-31&format=csv'
  const { body: run } = await call('POST', PRINT, { reportId: 101 }, { prefer: 'respond-async' })
  const read = async () => (await call('GET', `/report/run/${run.runId}`)).body
  await until(async () => (await read()).status === 'COMPLETED')
  const [person] = (await call('GET', '/user')).body.items
  const [{ emailTemplateId }] = (await call('GET', '/emailTemplate')).body.items

  await save('/business', { businessId, bulkLimit: 0 })
  const { emailAddress } = await save('/client', {
    clientId: ids.clientId,
    emailAddress: 'ada@example.org',
  })
  assert.ok(emailAddress)
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const { locationId, professionalId, reasonId, clientId } = ids
  for (const i of [1, 2]) {
    await save(`/report/run/${run.runId}/link`, {})
    await save('/reportView', { name: `View ${i}`, reportId: 101 })
    await save('/reportSchedule', { ...SCHEDULE, name: `Report ${i}`, userIdList: [person.userId] })
    await save('/reportTarget', { ...TARGET, name: `Target ${i}`, userIdList: [person.userId] })
    await save('/fileLibrary', { name: `${i}.txt`, content: btoa(`file ${i}`) })
    const startTime = clock.in({ hours: 100 + i }).epochMilliseconds
    const times = { startTime, endTime: startTime + 1_800_000 }
    const line = { kind: 'calendar', locationId, professionalId, reasonId, clientId, ...times }
    assert.ok((await call('POST', '/import', JSON.stringify(line))).body.approvalId)
  }
  const { feedId } = await fillFeeds({ call, clock, ids, save })
  const senderDomains = ['one.example', 'two.example']
  const saved = await call('POST', '/business', { businessId, senderDomains }, OPERATOR)
  assert.equal(saved.status, 200)
  return { runId: run.runId as number, feedId }
}

async function fillFeeds({
  call,
  clock,
  ids,
  save,
}: Pick<World, 'call' | 'clock' | 'ids' | 'save'>) {
  const { clientId: _clientId, ...defaults } = ids
  const body = { source: 'INLET', mode: 'SHADOW', defaults }
  await save('/feed', { ...body, name: 'Feed 1' })
  const { feedId } = (await save('/feed', { ...body, name: 'Feed 2' })) as { feedId: number }
  const startTime = clock.in({ hours: 200 }).epochMilliseconds
  const entryOf = (i: number) => ({
    key: `B-${i}`,
    version: 1,
    startTime: startTime + i,
    endTime: startTime + 1_800_000,
    client: { emailAddress: `feed-${i}@example.org` },
  })
  const entries = [1, 2].map(entryOf)
  assert.equal((await call('POST', `/feed/${feedId}/entries`, { entries })).status, 200)
  const run = async () => (await call('POST', `/feed/${feedId}/dryRun`)).status === 202
  for (const _ of entries) await until(run)
  return { feedId }
}

const TARGET = {
  reportId: 102,
  kpi: 'noShowRate',
  direction: 'ABOVE',
  value: 8,
  range: 'LAST_30_DAYS',
}

const SCHEDULE = { reportId: 101, frequency: 'DAILY', range: 'YESTERDAY' }

const PASSWORD = 'correct horse battery staple'

const template = (templateName: string) => ({
  templateName,
  subject: 'Hello',
  emailBody: '<p>Hello</p>',
})
