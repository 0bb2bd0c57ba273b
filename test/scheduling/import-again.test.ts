import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { raw, sql } from '../../src/database/sql.ts'
import { loadDemo } from '../../src/demo/demo.ts'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { exportBusiness, type ExportLine } from '../../src/scheduling/export.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { importLines, tryLines } from '../../src/scheduling/import.ts'
import { insertBusiness } from '../../src/store/businesses.ts'
import { startApp } from '../support/app.ts'
import { addBusiness, reminder } from '../support/world.ts'

const world = startApp({ after })

type Business = Awaited<ReturnType<typeof addBusiness>>

async function createBusiness() {
  const { clock, database } = await world
  const by = { user: 'OPERATOR', now: clock.now() }
  const fields = { name: 'Demo', timeZone: 'Europe/Zurich' }
  const { businessId } = await insertBusiness(database.operator, fields, by)
  return { businessId, db: database.forBusiness(businessId, 'test'), now: clock.now }
}

async function exportLines(db: Db, businessId: number) {
  const lines: ExportLine[] = []
  await exportBusiness(db, businessId, async () => async (some) => void lines.push(...some))
  return lines
}

async function importAll(db: Db, businessId: number, lines: object[], refusals: string[] = []) {
  const { clock } = await world
  const refused: string[] = []
  await importLines(db, [lines.map((body, i) => ({ number: i + 1, body }))], {
    businessId,
    user: 'test',
    now: clock.now,
    onRefused: (_line, reason) => void refused.push(reason),
  })
  assert.deepEqual(refused, refusals)
}

/** How many rows of each table the business has; the audit has a row for each change. */
async function countRows(db: Db) {
  const tables = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'business_id'
      and has_table_privilege(c.oid, 'select') order by 1`)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await db.query<{ count: number }>(sql`select count(*) from ${raw(name)}`)
    counts[name] = row!.count
  }
  return counts
}

test('an export of the demo that is imported twice into its own business changes nothing', async () => {
  const { businessId, db, now } = await createBusiness()
  await loadDemo(db, { businessId, user: 'test', now, appointments: 150 })
  const lines = await exportLines(db, businessId)
  const before = await countRows(db)
  assert.ok(before.event_definition! > 10 && before.event_action! > 10 && before.audit! > 150)
  for (let time = 1; time <= 2; time += 1) {
    await importAll(db, businessId, lines)
    assert.deepEqual(await countRows(db), before)
  }
})

/** One object of each kind, none with an externalId, and automations that name them. */
async function addOneOfEach({ businessId, save, book, ids }: Business) {
  const { clock } = await world
  const { locationId, professionalId, reasonId, clientId } = ids
  const work = { weekday: 'MONDAY', from: '09:00', to: '17:00', locationId }
  await save('/professional', {
    professionalId,
    locationIdList: [locationId],
    workingHours: [work],
  })
  await save('/status', { objectType: 'CALENDAR', status: 'LATE', label: 'Late', live: true })
  const day = clock.in({ hours: 72 })
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { invitationUUID } = await save('/invitation', { invitationCampaignId, clientId })
  const { calendarId } = await book(day, { status: 'LATE', note: 'Left knee', invitationUUID })
  await save('/classSchedule', {
    name: 'Pilates',
    professionalId,
    locationId,
    reasonId,
    startTime: day.epochMilliseconds,
    endTime: day.add({ hours: 1 }).epochMilliseconds,
    clientIdList: [clientId],
    attendance: [{ clientId, present: true }],
  })
  await save('/recall', { clientId, reasonId, dueTime: day.epochMilliseconds })
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Consent' })
  await save('/disclaimer', { disclaimerFormId, clientId, calendarId })
  const { emailCategoryId } = await save('/emailCategory', { name: 'Visits' })
  const template = { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>' }
  const { emailTemplateId } = await save('/emailTemplate', {
    ...template,
    emailCategoryId,
    reasonIdList: [reasonId],
    level: 'LOCATION',
    location: String(locationId),
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const lists = {
    locationIdList: [locationId],
    professionalIdList: [professionalId],
    reasonIdList: [reasonId],
  }
  const define = (eventTypeId: number, more: object) =>
    save('/eventDefinition', {
      ...reminder(businessId, -24, { eventActions: [{ ...action, emailCategoryId }] }),
      eventType: { eventTypeId },
      ...more,
    })
  await define(1, { description: 'Booked', triggerHours: 0, ...lists })
  await define(3, { description: 'Reminder', ...lists })
  await define(3, { description: 'This one', objectId: calendarId })
  await define(6, { description: 'Class', objectType: 'CLASS_SCHEDULE', ...lists })
  await define(8, {
    description: 'Invited',
    objectType: 'INVITATION_CAMPAIGN',
    triggerHours: 24,
    objectId: invitationCampaignId,
    objectUUId: invitationUUID,
  })
  await define(10, { description: 'Recall', objectType: 'RECALL', reasonIdList: [reasonId] })
  await define(12, { description: 'Form', disclaimerFormIdList: [disclaimerFormId] })
}

/** Every row of every table that the business has. */
async function readRows(db: Db) {
  const rows: Record<string, string[]> = {}
  for (const name of Object.keys(await countRows(db))) {
    const read = await db.query<{ row: string }>(
      sql`select to_jsonb(t)::text as row from ${raw(name)} t order by 1`,
    )
    rows[name] = read.map(({ row }) => row)
  }
  return rows
}

test('an export of objects without externalIds that is imported twice into its own business changes nothing', async () => {
  const business = await addBusiness(await world)
  await addOneOfEach(business)
  const { businessId, db } = business
  const lines = await exportLines(db, businessId)
  assert.ok(lines.every(({ externalId = null }) => externalId === null))
  assert.equal(new Set(lines.map(({ kind }) => kind)).size, 16)
  const before = await readRows(db)
  assert.ok(before.pending_trigger!.length === 5)
  for (let time = 1; time <= 2; time += 1) {
    await importAll(db, businessId, lines)
    assert.deepEqual(await readRows(db), before)
  }
  assert.deepEqual(await exportLines(db, businessId), lines)
  const numbered = lines.map((body, i) => ({ number: i + 1, body }))
  const { refusedCount, changes } = await tryLines(db, [numbered], {
    businessId,
    user: 'test',
    now: (await world).clock.now,
  })
  assert.equal(refusedCount, 0)
  assert.ok(Object.values(changes).every(({ created, changed }) => created + changed === 0))
})

const withoutOrigin = ({ origin: _origin, ...line }: ExportLine): ExportLine => line

/** What the automations and appointments of a business name, by the words that people see. */
async function readNames(db: Db) {
  const rows = await db.query<{ names: string }>(sql`
    select concat_ws(', ', c.note, l.name, p.last_name, r.name, k.last_name, a.name) as names
    from calendar c join location l using (location_id) join professional p using (professional_id)
      join reason r using (reason_id) join client k using (client_id)
      join invitation i using (invitation_uuid) join invitation_campaign a using (invitation_campaign_id)
    union all
    select concat_ws(', ', d.description, l.name, p.last_name, r.name, f.name, c.note, i.name, t.subject, g.name, v.name)
    from event_definition d join event_action using (event_defn_id)
      join email_template t using (email_template_id)
      join email_category g on g.email_category_id = t.email_category_id
      left join location v on v.location_id = t.location::bigint
      left join location l on l.location_id = any (d.location_id_list)
      left join professional p on p.professional_id = any (d.professional_id_list)
      left join reason r on r.reason_id = any (d.reason_id_list)
      left join disclaimer_form f on f.disclaimer_form_id = any (d.disclaimer_form_id_list)
      left join calendar c on c.calendar_id = d.object_id and d.object_type = 'CALENDAR'
      left join invitation_campaign i
        on i.invitation_campaign_id = d.object_id and d.object_type = 'INVITATION_CAMPAIGN'`)
  return rows.map(({ names }) => names).toSorted()
}

const theirs = (text: string) => `their ${text}`

/** A line with other words, so that the objects of two businesses differ. */
const withTheirWords = (line: ExportLine): ExportLine => ({
  ...line,
  ...Object.fromEntries(
    ['name', 'lastName', 'note', 'subject', 'description']
      .filter((property) => typeof line[property] === 'string')
      .map((property) => [property, theirs(String(line[property]))]),
  ),
})

const OBJECT_TABLES = [...OBJECT_KINDS.map(({ table }) => table), 'event_definition']

test('an export creates new objects in another business, and in an installation with the same ids', async (t) => {
  const [here, elsewhere] = [await startApp(t), await startApp(t)]
  const ours = await addBusiness(here)
  await addOneOfEach(ours)
  elsewhere.clock.advance({ seconds: 1 })
  for (const started of [here, elsewhere]) {
    const other = await addBusiness(started)
    await addOneOfEach(other)
    assert.equal(other.businessId === ours.businessId, started === elsewhere)
    assert.equal(other.ids.clientId === ours.ids.clientId, started === elsewhere)
    const { createdDate } = (await other.call('GET', '/client')).body.items[0]
    const lines = (await exportLines(ours.db, ours.businessId)).map((line) => ({
      ...withTheirWords(line),
      // As if all objects of both were imported at the same time.
      createdDate,
    }))
    const [rows, names] = [await readRows(other.db), await readNames(other.db)]
    await importAll(other.db, other.businessId, lines)
    const after = await readRows(other.db)
    for (const table of OBJECT_TABLES) {
      const kept = after[table]!.filter((row) => rows[table]!.includes(row))
      assert.deepEqual(kept, rows[table])
      assert.equal(after[table]!.length, 2 * kept.length, table)
    }
    const their = names.map((name) => name.split(', ').map(theirs).join(', '))
    assert.deepEqual(await readNames(other.db), [...names, ...their].toSorted())
  }
})

test('only an object that was created at the same moment is the object of a line', async () => {
  const { businessId, db, call, ids } = await addBusiness(await world)
  const line = (await exportLines(db, businessId)).find(({ kind }) => kind === 'client')!
  // A restored copy of the business has another client under this id.
  await importAll(db, businessId, [{ ...line, lastName: 'Keller', createdDate: 1 }])
  await importAll(db, businessId, [{ ...line, lastName: 'Moser' }])
  const { body } = await call('GET', '/client')
  assert.deepEqual(
    body.items.map(({ lastName }: { lastName: string }) => lastName),
    ['Moser', 'Keller'],
  )
  // What a program names by its own id, or not at all, is what it was before.
  await importAll(db, businessId, [{ ...line, lastName: 'Frei', externalId: 'C7' }])
  const { createdDate: _createdDate, ...undated } = line
  const unknown = ['x', 7, `${line.origin as string}0`].map((origin) => ({ ...line, origin }))
  await importAll(db, businessId, [withoutOrigin(line), undated, ...unknown])
  assert.equal((await call('GET', '/client')).body.items.length, 8)
  assert.equal((await call('GET', `/client/${ids.clientId}`)).body.lastName, 'Moser')
})

test('an export of before the erasure of a client does not bring the client back, also one with an externalId', async () => {
  const started = await world
  for (const externalId of [null, 'C-7']) {
    const { businessId, db, save, book, ids } = await addBusiness(started)
    await save('/client', { clientId: ids.clientId, externalId })
    await book(started.clock.in({ hours: 72 }), { note: 'Left knee' })
    const early = await exportLines(db, businessId)
    await eraseClient(started.database, { businessId, ...ids }, started.clock.now())
    const before = await readRows(db)
    await importAll(db, businessId, early, [
      '/origin: this client was erased. Remove the line',
      '/clientRef: no line before this one is a client with the ref client-1',
    ])
    assert.deepEqual(await readRows(db), before)
    await importAll(db, businessId, await exportLines(db, businessId))
    assert.deepEqual(await readRows(db), before)
  }
})

test('definitions of one name, equal ones, and inactive actions are recognised, each by one line', async () => {
  const started = await world
  const { businessId, call, db, save } = await addBusiness(started)
  const template = { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>', externalId: 'T' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const define = (hours: number, more: object) =>
    save('/eventDefinition', reminder(businessId, hours, { eventActions: [action], ...more }))
  for (const hours of [-24, -3, -3]) await define(hours, { description: 'Reminder' })
  const { eventDefnId } = await define(-48, { description: 'Early' })
  await save('/eventAction', {
    ...action,
    eventDefnId,
    active: false,
    recipient: { value: 'staff' },
  })
  const lines = (await exportLines(db, businessId)).filter(({ kind }) =>
    ['emailTemplate', 'eventDefinition'].includes(kind),
  )
  const before = await countRows(db)
  await importAll(db, businessId, lines)
  assert.deepEqual(await countRows(db), before)

  // A changed line with a name of its own changes that definition.
  const early = lines.find(({ description }) => description === 'Early')!
  await importAll(db, businessId, [lines[0]!, { ...early, triggerHours: -72 }])
  const { body } = await call('GET', `/eventDefinition/${eventDefnId}`)
  assert.equal(body.triggerHours, -72)
  assert.equal((await call('GET', '/eventDefinition')).body.items.length, 4)

  // Into another business they are four definitions too, and stay so.
  const other = await createBusiness()
  for (let time = 1; time <= 2; time += 1) await importAll(other.db, other.businessId, lines)
  const { event_definition: definitions, event_action: actions } = await countRows(other.db)
  assert.deepEqual([definitions, actions], [4, 5])
})

test('an automation whose template is created again by a line without ids keeps its one action', async () => {
  const started = await world
  const { businessId, call, db, save } = await addBusiness(started)
  const template = { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { description: 'Reminder', eventActions: [action] }),
  )
  const lines = (await exportLines(db, businessId))
    .filter(({ kind }) => ['emailTemplate', 'eventDefinition'].includes(kind))
    .map(withoutOrigin)
  await importAll(db, businessId, lines)
  const { body: templates } = await call('GET', '/emailTemplate')
  assert.equal(templates.items.length, 2, 'it was created again')
  const { body: actions } = await call('GET', `/eventAction/eventDefinition/${eventDefnId}`)
  assert.equal(actions.length, 1)
})

/** Adds up how many rows the statements of transactions return. */
function countingRows(db: Db, count: (rows: number) => void): Db {
  const query: Db['query'] = async (statement) => {
    const rows = await db.query(statement)
    count(rows.length)
    return rows as never
  }
  const transaction: Db['transaction'] = (work) =>
    db.transaction((tx) => work(countingRows(tx, count)))
  return { ...db, query, transaction }
}

test('a line about a definition reads none of the definitions with other names', async () => {
  const { businessId, db } = await createBusiness()
  const lines = Array.from({ length: 60 }, (_, i) => ({
    kind: 'eventDefinition',
    ...reminder(businessId, -24, { description: `Reminder ${i}` }),
  }))
  await importAll(db, businessId, lines)
  let rows = 0
  await importAll(
    countingRows(db, (count) => (rows += count)),
    businessId,
    lines,
  )
  assert.equal((await countRows(db)).event_definition, 60)
  assert.ok(rows < 20 * lines.length, `${rows} rows for ${lines.length} lines`)
})
