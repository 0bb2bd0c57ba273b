import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { loadDemo } from '../../src/demo/demo.ts'
import { sql } from '../../src/database/sql.ts'
import { BUSINESS_FIELDS } from '../../src/contract/business.ts'
import { insertBusiness } from '../../src/store/businesses.ts'
import { suppress } from '../../src/store/suppressions.ts'
import { runCommand } from '../support/command.ts'
import { urlOf } from '../support/owner.ts'
import { reminder, startWorld } from '../support/world.ts'

const OF_THE_OPERATOR = ['active', 'externalId', 'senderDomains', 'dailyMailLimit']

test('an export that is imported into another business exports the same lines, except the business itself', async (t) => {
  const world = await startWorld(t)
  const { database, clock, businessId, db, save, call, book, ids } = world
  const DATABASE_URL = await urlOf(database)
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-export-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  await loadDemo(db, { businessId, user: 'SYSTEM', now: clock.now, appointments: 1_500 })
  // Not in the demo: objects without an externalId, deleted objects, custom statuses, all references.
  const { calendarId } = await book(clock.in({ hours: 30 }), { tags: { a: ['b'] }, note: 'x\ny' })
  const form = await save('/disclaimerForm', { name: 'Photos' })
  const { disclaimerFormId } = form
  const { clientId } = ids
  const { disclaimerId } = await save('/disclaimer', { disclaimerFormId, clientId, calendarId })
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { invitationUUID } = await save('/invitation', { invitationCampaignId, clientId })
  const watched = [
    { objectType: 'RECALL', objectId: disclaimerId, eventType: { eventTypeId: 13 } },
    { objectType: 'CALENDAR', objectId: calendarId, eventType: { eventTypeId: 12 } },
    {
      objectType: 'INVITATION_CAMPAIGN',
      objectId: invitationCampaignId,
      objectUUId: invitationUUID,
      eventType: { eventTypeId: 11 },
    },
  ]
  for (const about of watched) {
    await save('/eventDefinition', reminder(businessId, 0, { ...about, description: 'watched' }))
  }
  // A file whose line is longer than lines of other kinds may be, and a deleted file.
  const content = Buffer.alloc(1_500_000, 'x').toString('base64')
  const { fileUUId } = await save('/fileLibrary', { name: 'Prices.txt', content })
  const deletedFile = await save('/fileLibrary', { name: 'Old.txt', content: 'eA==' })
  await call('DELETE', `/fileLibrary/${deletedFile.fileUUId}`)
  await save('/emailTemplate', {
    templateName: 'With prices',
    subject: 'Prices',
    emailBody: '<p>Attached.</p>',
    attachFileLibraryUUids: [fileUUId],
  })
  await save('/status', { objectType: 'CALENDAR', status: 'LATE', label: 'Late', live: true })
  await save('/status', { objectType: 'RECALL', status: 'GONE', label: 'Gone' })
  await call('DELETE', '/status/RECALL/GONE')
  await call('DELETE', `/calendar/${(await book(clock.in({ hours: 31 }))).calendarId}`)
  await save('/eventDefinition', {
    ...reminder(businessId, -3, { objectId: calendarId, locationIdList: [ids.locationId] }),
    triggerMonths: -1,
  })
  await save('/eventDefinition', reminder(businessId, -6, { active: false, description: 'paused' }))
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -5, { description: 'deleted' }),
  )
  await call('DELETE', `/eventDefinition/${eventDefnId}`)
  const unsubscribed = { businessId, reason: 'UNSUBSCRIBED' as const, detail: null }
  const [{ emailCategoryId }] = (await call('GET', '/emailCategory')).body.items
  await suppress(
    db,
    [
      { ...unsubscribed, emailAddress: 'no@example.org' },
      { ...unsubscribed, emailAddress: 'some@example.org', emailCategoryId },
    ],
    { user: 'SYSTEM', now: clock.now() },
  )

  const by = { user: 'OPERATOR', now: clock.now() }
  const other = await insertBusiness(
    database.operator,
    {
      name: 'Empty',
      timeZone: 'UTC',
      emailAddress: null,
      phone: '+41 1',
      language: null,
      externalId: null,
      senderDomains: [],
      accentColor: null,
      website: null,
      replyTo: null,
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
    /^Accepted: .*1502 calendar, .*24 eventDefinition, 2 suppression\. Refused: 0\.\n$/,
  )
  const again = await runCommand(['export', '--business', String(other.businessId)], {
    DATABASE_URL,
  })
  const [theirBusiness, ...theirLines] = again.stdout.split('\n')
  const [ourBusiness, ...ourLines] = readFileSync(file, 'utf8').split('\n')
  assert.deepEqual(theirLines.map(withoutId), ourLines.map(withoutId))
  // The other business keeps its own name, time zone and addresses.
  assert.deepEqual(JSON.parse(theirBusiness!), {
    kind: 'business',
    name: 'Empty',
    timeZone: 'UTC',
    emailAddress: null,
    phone: '+41 1',
    postalAddress: null,
    postalAddressRequired: false,
    language: null,
    logo: null,
    confirmStatus: null,
    cancelStatus: null,
    cancelUntilHours: null,
    lapsedAfterDays: null,
    bookingUrl: null,
    mailPaused: false,
    mailPausedReason: null,
    accentColor: null,
    website: null,
    replyTo: null,
    bulkLimit: null,
    quietHours: null,
  })
  assert.deepEqual(
    Object.keys(JSON.parse(ourBusiness!)),
    ['kind', ...Object.keys(BUSINESS_FIELDS).filter((field) => !OF_THE_OPERATOR.includes(field))],
    'every field that a business can save',
  )

  assert.match(again.stdout, /"description":"paused"/)
  assert.doesNotMatch(again.stdout, /"description":"deleted"/)

  // The ids differ, but the definitions refer to the same objects.
  const theirs = database.forBusiness(other.businessId, 'SYSTEM')
  const [named] = await theirs.query<{ disclaimers: number; invitations: number }>(sql`
    select (select count(*) from disclaimer d join event_definition e on e.object_id = d.disclaimer_id
            where e.event_type_id = 13 and d.business_id = ${other.businessId}
              and e.business_id = d.business_id) as disclaimers,
           (select count(*) from invitation i join event_definition e
              on e.object_uuid = i.invitation_uuid
            where i.business_id = ${other.businessId} and e.business_id = i.business_id) as invitations`)
  assert.deepEqual(named, { disclaimers: 1, invitations: 1 })

  const kinds = new Set(
    again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  )
  assert.equal(kinds.size, 18)
})

/** The line without the id in its `origin`, which names one object of one business. */
const withoutId = (line: string) => line.replace(/(?<="origin":")[^"]+/, '')

test('an export to a file that cannot be written is one line and exit code 2', async (t) => {
  const world = await startWorld(t)
  const DATABASE_URL = await urlOf(world.database)
  const { code, stderr } = await runCommand(['export', '--out', '/nowhere/x'], { DATABASE_URL })
  assert.equal(code, 2)
  assert.equal(stderr, '/nowhere/x cannot be written (ENOENT).\n')
})
