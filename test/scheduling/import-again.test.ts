import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { raw, sql } from '../../src/database/sql.ts'
import { loadDemo } from '../../src/demo/demo.ts'
import { exportBusiness, type ExportLine } from '../../src/scheduling/export.ts'
import { importLines } from '../../src/scheduling/import.ts'
import { insertBusiness } from '../../src/store/businesses.ts'
import { startApp } from '../support/app.ts'
import { addBusiness, reminder } from '../support/world.ts'

const world = startApp({ after })

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

async function importAll(db: Db, businessId: number, lines: object[]) {
  const { clock } = await world
  const refused: string[] = []
  await importLines(db, [lines.map((body, i) => ({ number: i + 1, body }))], {
    businessId,
    user: 'test',
    now: clock.now,
    onRefused: (line, reason) => void refused.push(`${line}: ${reason}`),
  })
  assert.deepEqual(refused, [])
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

test('an automation whose template has no externalId keeps its one action', async () => {
  const started = await world
  const { businessId, call, db, save } = await addBusiness(started)
  const template = { templateName: 'Hello', subject: 'Hi', emailBody: '<p>Hi</p>' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { description: 'Reminder', eventActions: [action] }),
  )
  const lines = (await exportLines(db, businessId)).filter(({ kind }) =>
    ['emailTemplate', 'eventDefinition'].includes(kind),
  )
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
