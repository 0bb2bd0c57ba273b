import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { loadDemo } from '../../src/scheduling/demo/demo.ts'
import { insertBusiness } from '../../src/store/businesses.ts'
import { suppress } from '../../src/store/suppressions.ts'
import { runCommand } from '../support/command.ts'
import { urlOf } from '../support/owner.ts'
import { reminder, startWorld } from '../support/world.ts'

test('an export, imported into another business, is exported the same', async (t) => {
  const world = await startWorld(t)
  const { database, clock, businessId, db, save, call, book, ids } = world
  const DATABASE_URL = await urlOf(database)
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-export-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  await loadDemo(db, { businessId, user: 'SYSTEM', now: clock.now, appointments: 1_500 })
  // What a demo has not: objects without an externalId, deleted ones, own statuses, every reference.
  const { calendarId } = await book(clock.in({ hours: 30 }), { tags: { a: ['b'] }, note: 'x\ny' })
  const form = await save('/disclaimerForm', { name: 'Photos' })
  const { disclaimerFormId } = form
  await save('/disclaimer', { disclaimerFormId, clientId: ids.clientId, calendarId })
  await save('/status', { objectType: 'CALENDAR', status: 'LATE', label: 'Late', live: true })
  await save('/status', { objectType: 'RECALL', status: 'GONE', label: 'Gone' })
  await call('DELETE', '/status/RECALL/GONE')
  await call('DELETE', `/calendar/${(await book(clock.in({ hours: 31 }))).calendarId}`)
  await save('/eventDefinition', {
    ...reminder(businessId, -3, { objectId: calendarId, locationIdList: [ids.locationId] }),
    triggerMonths: -1,
  })
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -5))
  await call('DELETE', `/eventDefinition/${eventDefnId}`)
  await suppress(
    db,
    [{ businessId, emailAddress: 'no@example.org', reason: 'UNSUBSCRIBED', detail: null }],
    { user: 'SYSTEM', now: clock.now() },
  )

  const by = { user: 'OPERATOR', now: clock.now() }
  const other = await insertBusiness(
    database.operator,
    {
      name: 'Empty',
      timeZone: 'UTC',
      emailAddress: null,
      phone: null,
      language: null,
      externalId: null,
      active: true,
    },
    by,
  )
  const file = path.join(folder, 'all.ndjson')
  const business = ['--business', String(businessId)]
  const exported = await runCommand(['export', ...business, '--out', file], { DATABASE_URL })
  assert.equal(exported.code, 0, exported.stderr)
  const into = ['--business', String(other.businessId), '--events', 'none']
  const imported = await runCommand(['import', file, ...into], { DATABASE_URL })
  assert.equal(imported.stderr, '')
  assert.match(
    imported.stdout,
    /^Accepted: .*1502 calendar, .*14 eventDefinition, 1 suppression\. Refused: 0\.\n$/,
  )
  const again = await runCommand(['export', '--business', String(other.businessId)], {
    DATABASE_URL,
  })
  assert.deepEqual(again.stdout.split('\n'), readFileSync(file, 'utf8').split('\n'))

  const kinds = new Set(
    again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  )
  assert.equal(kinds.size, 17)
})

test('an export into a place that cannot be written is one line and exit 2', async (t) => {
  const world = await startWorld(t)
  const DATABASE_URL = await urlOf(world.database)
  const { code, stderr } = await runCommand(['export', '--out', '/nowhere/x'], { DATABASE_URL })
  assert.equal(code, 2)
  assert.equal(stderr, '/nowhere/x cannot be written (ENOENT).\n')
})
