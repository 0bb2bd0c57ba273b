import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ask, createBusiness, createKey } from '../support/callers.ts'
import { startApp } from '../support/app.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner, type Table } from './catalogue.ts'
import { fillEveryTable, MARKER } from './rows.ts'

/** Accepted bodies by path. */
export type Bodies = Record<string, object>

export type Ids = Record<string, number | string>

/** Two businesses with an object of every kind; no two objects of any kind share an id. */
export async function startTwoBusinesses(t: TestContext) {
  const { database, url } = await cloneDatabase(t)
  await spreadIds(url)
  const env = { ADMIN_API_KEY: 'the-operator-of-the-tests', RATE_LIMIT: '1000000/s,1000000' }
  const { app, clock } = await startApp(t, { database, env })
  const open = async (name: string, word: string) => {
    const { businessId } = await createBusiness(database, clock, name)
    const { key } = await createKey(database, clock, businessId)
    const call = ask(app, { authorization: `Bearer ${key}` })
    const startTime = clock.in({ hours: 72 }).epochMilliseconds
    return { businessId, call, key, bodies: await createObjects(call, businessId, word, startTime) }
  }
  const own = await open('Ours', 'Ours')
  const other = await open(`${MARKER} business`, MARKER)
  await fillEveryTable(url, [own.businessId], 'OURS')
  const tables = await fillEveryTable(url, [other.businessId])
  return {
    app,
    clock,
    database,
    url,
    tables,
    own: { ...own, ids: await readIds(url, tables, own.businessId) },
    other: { ...other, ids: await readIds(url, tables, other.businessId) },
  }
}

/** Starts each sequence at another million. */
function spreadIds(url: string) {
  return asOwner(url, async (client) => {
    const { rows } = await client.query(`
      select sequencename as name from pg_sequences where schemaname = 'public' order by 1`)
    for (const [i, { name }] of rows.entries()) {
      await client.query(`alter sequence ${name} restart with ${(i + 1) * 1_000_000}`)
    }
  })
}

type Call = ReturnType<typeof ask>

async function createObjects(call: Call, businessId: number, word: string, startTime: number) {
  const made: Ids = { businessId }
  const bodies: Bodies = {}
  const make = async (path: string, id: string, body: object) => {
    const answer = await call('POST', path, body)
    assert.ok(answer.status === 201, `${path}: ${JSON.stringify(answer.body)}`)
    made[id] = answer.body[id]
    bodies[path] = body
  }
  const address = `${word.toLowerCase()}@example.com`
  const person = { firstName: word, lastName: word, emailAddress: address }
  await make('/location', 'locationId', { name: word })
  const { locationId } = made
  await make('/professional', 'professionalId', { ...person, locationIdList: [locationId] })
  await make('/reason', 'reasonId', { name: word })
  await make('/client', 'clientId', { ...person, tags: { word: [word] } })
  const { professionalId, reasonId, clientId } = made
  const times = { startTime, endTime: startTime + 3_600_000 }
  const visit = { professionalId, reasonId, locationId, ...times, tags: { word: [word] } }
  await make('/calendar', 'calendarId', { ...visit, clientId, note: word })
  await make('/classSchedule', 'classScheduleId', {
    ...visit,
    name: word,
    clientIdList: [clientId],
  })
  await make('/invitationCampaign', 'invitationCampaignId', { name: word })
  const { invitationCampaignId, calendarId } = made
  await make('/invitation', 'invitationUUID', { invitationCampaignId, clientId })
  await make('/recall', 'recallId', { clientId, dueTime: startTime })
  await make('/disclaimerForm', 'disclaimerFormId', { name: word, body: word })
  const { disclaimerFormId } = made
  await make('/disclaimer', 'disclaimerId', { disclaimerFormId, clientId, calendarId })
  await make('/emailCategory', 'emailCategoryId', { name: word })
  const content = Buffer.from(word).toString('base64')
  await make('/fileLibrary', 'fileUUId', { name: `${word}.txt`, content })
  await make('/emailTemplate', 'emailTemplateId', {
    templateName: word,
    subject: word,
    emailBody: `<p>${word}</p>`,
    attachFileLibraryUUids: [made.fileUUId],
  })
  await make('/eventDefinition', 'eventDefnId', {
    active: true,
    businessId,
    description: word,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 3 },
    triggerHours: -24,
    triggerMinutes: 0,
    locationIdList: [locationId],
  })
  await make('/eventAction', 'eventActionId', {
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    eventDefnId: made.eventDefnId,
    emailTemplateId: made.emailTemplateId,
  })
  const user = { username: word, password: 'long enough', role: 'OWNER', emailAddress: address }
  await make('/user', 'userId', user)
  await make('/reportSchedule', 'reportScheduleId', {
    name: word,
    reportId: 101,
    frequency: 'DAILY',
    range: 'YESTERDAY',
    userIdList: [made.userId],
  })
  await make('/reportTarget', 'reportTargetId', {
    name: word,
    reportId: 102,
    kpi: 'noShowRate',
    direction: 'ABOVE',
    value: 8,
    range: 'LAST_30_DAYS',
    userIdList: [made.userId],
  })
  await make('/reportView', 'reportViewId', { name: word, reportId: 101 })
  await makeFeed(make, call, made, { word, startTime })
  bodies['/user'] = { username: `${word}2`, password: 'long enough', role: 'OWNER' }
  const definition = bodies['/eventDefinition']!
  bodies['/eventDefinition/plan'] = definition
  bodies['/eventDefinition/backtest'] = {
    definition,
    startDate: '2026-03-01',
    endDate: '2026-03-10',
  }
  const about = { objectType: 'CALENDAR', objectId: made.calendarId }
  bodies['/emailTemplate/{emailTemplateId}/preview'] = about
  bodies['/emailTemplate/{emailTemplateId}/check'] = {}
  const test = { ...about, to: [`${word}@example.org`] }
  bodies['/emailTemplate/{emailTemplateId}/test'] = test
  const sent = await call('POST', `/emailTemplate/${made.emailTemplateId}/test`, test)
  assert.equal(sent.status, 201, JSON.stringify(sent.body))
  const message = bounceOf(`${word}@example.org`, sent.body.items[0].messageId)
  const bounced = await call('POST', '/emails/bounce', { message })
  assert.equal(bounced.status, 200, JSON.stringify(bounced.body))
  await call('POST', '/business', { businessId, bulkLimit: 0 })
  const held = await call('POST', '/emails/resend', { ids: [1, 2] })
  assert.ok(held.body.approvalId, JSON.stringify(held.body))
  await call('POST', '/business', { businessId, bulkLimit: null })
  bodies['/report/print/file'] = { reportId: 101 }
  bodies['/business'] = { businessId, name: word }
  return bodies
}

type Make = (path: string, id: string, body: Record<string, unknown>) => Promise<unknown>

/** A feed with an entry, matches and a dry run. */
async function makeFeed(
  make: Make,
  call: Call,
  made: Ids,
  { word, startTime }: { word: string; startTime: number },
) {
  const { professionalId, reasonId, locationId } = made
  const defaults = { professionalId, reasonId, locationId }
  await make('/feed', 'feedId', { name: word, source: 'INLET', mode: 'SHADOW', defaults })
  const client = { emailAddress: `feed-${word}@example.org`.toLowerCase() }
  const times = { startTime: startTime + 7_200_000, endTime: startTime + 9_000_000 }
  const entries = [{ key: word, version: 1, ...times, client, service: { name: word } }]
  const sent = await call('POST', `/feed/${made.feedId}/entries`, { entries })
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  assert.equal((await call('POST', `/feed/${made.feedId}/dryRun`)).status, 202)
}

/** A bounce: the mailbox does not exist. */
const bounceOf = (
  address: string,
  messageId: string,
) => `Content-Type: multipart/report; boundary="b"

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

Final-Recipient: rfc822; ${address}
Action: failed
Status: 5.1.1

--b
Content-Type: text/rfc822-headers

Message-ID: ${messageId}

--b--
`

/** One id of each kind, under the name that the API gives it. */
function readIds(url: string, tables: Table[], businessId: number) {
  return asOwner(url, async (client) => {
    const ids: Ids = { businessId }
    for (const { name, primaryKey, foreignKeys } of tables) {
      const id = primaryKey[1]
      if (!id || primaryKey.length !== 2) continue
      if (foreignKeys.some(({ columns }) => columns.some(([own]) => own === id))) continue
      const { rows } = await client.query(
        `select ${id} as id from ${name} where business_id = $1 order by 1 limit 1`,
        [businessId],
      )
      const value: unknown = rows[0].id
      if (Buffer.isBuffer(value)) continue
      const property = id.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      ids[property] = /^\d+$/.test(String(value)) ? Number(value) : String(value)
    }
    // A pending trigger can still be fired or cancelled.
    const pending = await client.query(
      'select event_trigger_id as id from pending_trigger where business_id = $1 order by 1 limit 1',
      [businessId],
    )
    ids.eventTriggerId = Number(pending.rows[0].id)
    ids.invitationUUID = ids.invitationUuid!
    ids.fileUUId = ids.fileUuid!
    ids.eventDefinitionId = ids.eventDefnId!
    ids.confirmedClientId = ids.clientId!
    ids.entryId = ids.feedEntryId!
    return ids
  })
}
