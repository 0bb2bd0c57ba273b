import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const KEY = 'operator-key-of-this-test'
const ERASED = ['Canarina', 'Gelbfeder', 'canarina@gelbfeder.example', 'canary secret diagnosis']
const DELETED = ['Rotkehlchen', 'otto@rotkehlchen.example', 'Praxis Waldrand']

test('no file has values of an erased client or a deleted business, and a restore leaves none in those of PostgreSQL', async (t) => {
  const folder = temporaryFolder(t)
  const DATA_DIR = path.join(folder, 'data')
  // Beside the sockets of the embedded server: files of reports, imports and backups.
  const TMPDIR = path.join(folder, 'tmp')
  fs.mkdirSync(TMPDIR)
  const settings = { DATA_DIR, TMPDIR, ADMIN_API_KEY: KEY, LOG_LEVEL: 'trace' }
  const service = await startService(t, settings)
  const operator = callWith(service.base, KEY)
  const { businessId } = await operator('POST', '/business', {
    name: 'Praxis Waldrand',
    timeZone: 'Europe/Zurich',
  })
  const { key } = await operator('POST', `/business/${businessId}/apiKey`, { name: 'test' })
  const call = callWith(service.base, key)
  const clientId = await fill(call, businessId)
  assert.match(await call('POST', `/report/print/file?${REPORT}`), /Gelbfeder/)
  await call('POST', '/import/csv?dryRun=true&create=client&create=reason', VISITS)

  await call('POST', `/client/${clientId}/erase`)
  const ofPostgres = path.join(DATA_DIR, 'postgres')
  const outside = () => findInFiles(folder, ERASED, ofPostgres)
  assert.deepEqual(outside(), [])
  await operator('DELETE', `/business/${businessId}`)
  await service.stop()
  fs.writeFileSync(path.join(folder, 'output'), service.output())

  const run = async (words: string[], more = {}) => {
    const { code, stderr } = await runCommand(words, { DATA_DIR, TMPDIR, ...more })
    assert.equal(code, 0, stderr)
  }
  await run(['erase-business', String(businessId), '--name', 'Praxis Waldrand'])
  assert.deepEqual(findInFiles(folder, [...ERASED, ...DELETED], ofPostgres), [])

  // Dead rows and the write-ahead log still have them, as docs/operate/privacy.md says.
  assert.ok(findInFiles(ofPostgres, ERASED).length > 0)
  const backup = path.join(folder, 'bellwether.backup')
  await run(['backup', backup])
  const restored = path.join(folder, 'restored')
  await run(['restore', backup], { DATA_DIR: restored })
  assert.deepEqual(findInFiles(restored, [...ERASED, ...DELETED]), [])
})

const REPORT = 'reportFileName=appointment-list&startDate=2096-10-01&endDate=2096-10-31&format=csv'
const VISITS = `Client,Email,Date,Time,Service
Canarina Gelbfeder,canarina@gelbfeder.example,2040-12-01,10:00,Yoga
`

type Call = ReturnType<typeof callWith>

/** Two clients with an appointment and a mail each; returns the one to erase. */
async function fill(call: Call, businessId: number) {
  const { locationId } = await call('POST', '/location', { name: 'Nord' })
  const { reasonId } = await call('POST', '/reason', { name: 'Control' })
  const { professionalId } = await call('POST', '/professional', { firstName: 'E', lastName: 'B' })
  const { emailTemplateId } = await call('POST', '/emailTemplate', {
    templateName: 'Booked',
    subject: 'For %CLIENT_FULLNAME%',
    emailBody: '<p>%APPOINTMENT_NOTE%</p>',
  })
  await call('POST', '/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const ids: number[] = []
  for (const [firstName, lastName, emailAddress] of [
    [ERASED[0], ERASED[1], ERASED[2]],
    ['Otto', DELETED[0], DELETED[1]],
  ]) {
    const { clientId } = await call('POST', '/client', { firstName, lastName, emailAddress })
    ids.push(clientId)
    await call('POST', '/calendar', {
      clientId,
      locationId,
      reasonId,
      professionalId,
      startTime: 4_000_000_000_000,
      endTime: 4_000_001_800_000,
      note: ids.length === 1 ? ERASED[3] : null,
    })
  }
  await until(async () => {
    const { items } = await call('GET', '/emails?status=CAPTURED')
    return items.length === 2
  })
  return ids[0]!
}

/** Searches the bytes of all files of a folder, except those under `without`. */
function findInFiles(folder: string, values: string[], without?: string) {
  const found: string[] = []
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (!entry.isFile() || (without && file.startsWith(`${without}${path.sep}`))) continue
    const text = fs.readFileSync(file, 'latin1').toLowerCase()
    for (const value of values) {
      if (text.includes(value.toLowerCase())) found.push(`${path.relative(folder, file)}: ${value}`)
    }
  }
  return found
}

const callWith =
  (base: string, key: string) =>
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
  async (method: string, place: string, body?: object | string): Promise<any> => {
    const type = typeof body === 'string' ? 'text/csv' : 'application/json'
    const answer = await fetch(new URL(place, base), {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': type }) },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${place}: ${answer.status} ${text}`)
    return text.startsWith('{') ? JSON.parse(text) : text
  }
