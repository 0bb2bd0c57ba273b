import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { VERSION } from '../src/version.ts'
import { startApp } from '../test/support/app.ts'
import { debianPrograms, startInstalledServer } from '../test/support/installed-server.ts'
import { addBusiness, reminder, startEngine } from '../test/support/world.ts'

/**
 * Writes the dump that test/database/upgrade.test.ts upgrades, for the version of package.json:
 * npm run schema:fixture. It needs Debian's PostgreSQL, because others bring no pg_dump.
 */
const bin = debianPrograms()
if (!bin) throw new Error('PostgreSQL is missing; "apt-get install postgresql" installs it')
const server = await startInstalledServer(bin)
try {
  const url = await createDatabase(server.url)
  await migrate(url)
  await fill(url)
  const options = [
    '--no-owner',
    '--inserts',
    '--no-toast-compression',
    '--enable-row-security',
    url,
  ]
  const dump = execFileSync(path.join(bin, 'pg_dump'), options, { encoding: 'utf8' })
  const file = path.join(import.meta.dirname, `../test/fixtures/schemas/${VERSION}.sql.gz`)
  fs.writeFileSync(file, gzipSync(loadable(dump), { level: 9 }))
} finally {
  await server.stop()
}
process.exit()

async function createDatabase(serverUrl: string) {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query('create database release template template0').finally(() => client.end())
  const url = new URL(serverUrl)
  url.pathname = '/release'
  return url.href
}

/** As any role can load it without psql: policies of the owner name whoever loads the dump. */
function loadable(dump: string) {
  return dump
    .replaceAll(/^\\.*\n/gm, '')
    .replaceAll(/^(CREATE POLICY .*) TO owner /gm, '$1 TO current_user ')
}

/** A business with an object of each kind, a mail, and reminders that are planned. */
async function fill(url: string) {
  const database = openDatabase({ url, connections: 2 })
  const closing: (() => unknown)[] = [() => database.close()]
  try {
    const lifetime = { after: (close: () => unknown) => void closing.unshift(close) }
    const app = await startApp(lifetime, { database })
    const world = { ...app, ...(await addBusiness(app)) }
    const { businessId, save, book, clock, ids } = world
    const { clientId, locationId, professionalId, reasonId } = ids
    await save('/client', {
      clientId,
      firstName: 'Ada',
      timeZone: 'America/New_York',
      language: 'en',
    })
    const ben = await save('/client', { firstName: 'Ben', lastName: 'Abel' })
    const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: 'Booked',
      subject: 'See you on %APPT_DATE%',
      emailBody: '<p>Dear %CLIENT_FIRSTNAME%, see you soon.</p>',
      emailCategoryId,
    })
    const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
    const booked = { eventType: { eventTypeId: 1 }, eventActions: [action] }
    const { eventDefnId } = await save('/eventDefinition', reminder(businessId, 0, booked))
    await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
    await book(clock.in({ hours: 48 }))
    await startEngine(world).runEngine()
    await save('/eventDefinition', { eventDefnId, active: false })
    await book(clock.in({ hours: 72 }))
    const { calendarId } = await book(clock.in({ hours: 96 }))
    await save('/calendar', { calendarId, status: 'CANCELLED' })

    const startTime = clock.in({ hours: 50 }).epochMilliseconds
    const lesson = {
      locationId,
      professionalId,
      reasonId,
      startTime,
      endTime: startTime + 3_600_000,
    }
    const clientIdList = [clientId, ben.clientId]
    await save('/classSchedule', { ...lesson, name: 'Pilates', clientIdList, capacity: 8 })
    const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Autumn' })
    await save('/invitation', { invitationCampaignId, clientId })
    await save('/recall', { clientId, dueTime: startTime })
    const { disclaimerFormId } = await save('/disclaimerForm', {
      name: 'Consent',
      body: 'I agree.',
    })
    await save('/disclaimer', { disclaimerFormId, clientId, calendarId: 1 })
  } finally {
    for (const close of closing) await close()
  }
}
