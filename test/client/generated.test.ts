import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/folder.ts'
import { installForTests } from '../support/install.ts'
import { startWorld } from '../support/world.ts'

const run = promisify(execFile)
const modules = path.join(import.meta.dirname, '../../node_modules')
/** A package of its own: every other use of the project does without its 70 packages. */
const generator = path.join(import.meta.dirname, 'generator')
const orval = path.join(generator, 'node_modules/orval/dist/bin/orval.mjs')

/** Uses the generated client like a developer who knows only the API description. */
const CALLS = `
import * as api from './client.ts'

const headers = { authorization: 'Bearer ' + process.env.KEY }
const options = { headers }
const businessId = Number(process.env.BUSINESS_ID)
const startTime = Number(process.env.START_TIME)

/** The type of the answer follows from its status. */
const location = await api.createLocation({ name: 'Seestrasse' }, options)
if (location.status !== 201) throw new Error('1: ' + location.status)
const staff = await api.createMemberOfStaff({ firstName: 'Elena', lastName: 'García' }, options)
if (staff.status !== 201) throw new Error('2: ' + staff.status)
const service = await api.createService({ name: 'Massage', durationMinutes: 30 }, options)
if (service.status !== 201) throw new Error('3: ' + service.status)
const client = await api.createClient(
  { firstName: 'Anna', lastName: 'Müller', emailAddress: 'anna@example.org' },
  options,
)
if (client.status !== 201) throw new Error('4: ' + client.status)
const template = await api.createEmailTemplate(
  { templateName: 'Reminder', subject: 'See you', emailBody: '<p>See you</p>' },
  options,
)
if (template.status !== 201) throw new Error('5: ' + template.status)

const definition: api.EventDefinitionBody = {
  active: true,
  businessId,
  objectType: api.DefinitionObjectType.CALENDAR,
  eventType: { eventType: api.EventTypeName.APPT_REMINDER },
  triggerHours: -24,
  triggerMinutes: 0,
  eventActions: [
    {
      active: true,
      businessId,
      actionType: api.ActionType.SEND_EMAIL,
      emailTemplateId: template.data.emailTemplateId,
      recipient: { value: api.Recipient.client },
    },
  ],
}
const saved = await api.createEventDefinition(definition, options)
if (saved.status !== 201) throw new Error('6: ' + saved.status)

const booked: number[] = []
for (let day = 0; day < 3; day += 1) {
  const appointment = await api.createAppointment(
    {
      clientId: client.data.clientId,
      professionalId: staff.data.professionalId,
      reasonId: service.data.reasonId,
      locationId: location.data.locationId,
      startTime: startTime + day * 86_400_000,
      endTime: startTime + day * 86_400_000 + 1_800_000,
    },
    { headers: { ...headers, 'Idempotency-Key': 'booking-' + day } },
  )
  if (appointment.status !== 201) throw new Error('7: ' + appointment.status)
  booked.push(appointment.data.calendarId)
}
const [calendarId] = booked as [number, ...number[]]

const list = await api.listAppointments({ clientId: client.data.clientId, expand: 'names' }, options)
if (list.status !== 200) throw new Error('8: ' + list.status)
const names = list.data.items.map((appointment) => appointment.clientName)

const plan = await api.planAppointment({ calendarId, status: 'CANCELLED' }, options)
if (plan.status !== 200) throw new Error('9: ' + plan.status)

const explained = await api.explainObject('CALENDAR', String(calendarId), options)
if (explained.status !== 200) throw new Error('10: ' + explained.status)
const outcomes: api.ExplanationOutcome[] = explained.data.map((one) => one.outcome)

const statuses: api.TriggerStatus[] = []
let cursor: string | undefined
do {
  const page = await api.listEventTriggers({ limit: 2, ...(cursor ? { cursor } : {}) }, options)
  if (page.status !== 200) throw new Error('11: ' + page.status)
  statuses.push(...page.data.items.map((trigger) => trigger.status))
  cursor = page.data.nextCursor ?? undefined
} while (cursor)

const refused = await api.createClient({ firstName: 'Anna' }, options)
if (refused.status === 200 || refused.status === 201) throw new Error('12: ' + refused.status)
const problem: api.Problem = refused.data

// @ts-expect-error -- a property that does not exist is found before the call is made
void (() => api.createClient({ firstNam: 'Anna' }, options))

console.log(
  JSON.stringify({
    names,
    cancel: plan.data.cancel,
    outcomes,
    statuses,
    code: problem.code,
    errors: problem.errors,
  }),
)
`

test('the client that orval generates from the description compiles and calls the service', async (t) => {
  installGenerator()
  const { app, key, businessId, clock } = await startWorld(t)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const folder = temporaryFolder(t)
  const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text)
  symlinkSync(modules, path.join(folder, 'node_modules'))
  write('package.json', '{ "type": "module" }')
  write('openapi.json', (await app.inject('/openapi.json')).body)
  const output = { target: 'client.ts', client: 'fetch', mode: 'single', baseUrl: address }
  write(
    'orval.config.mjs',
    `export default ${JSON.stringify({ api: { input: 'openapi.json', output } })}`,
  )
  write('calls.ts', CALLS)
  write('tsconfig.json', JSON.stringify(STRICT))

  const node = (...given: string[]) =>
    run(process.execPath, given, {
      cwd: folder,
      env: {
        ...process.env,
        KEY: key,
        BUSINESS_ID: String(businessId),
        START_TIME: String(clock.now().add({ hours: 72 }).epochMilliseconds),
      },
    })
  await node(orval, '--config', 'orval.config.mjs')
  await node(path.join(modules, 'typescript/bin/tsc'), '-p', '.').catch((error) =>
    assert.fail(String(error.stdout)),
  )
  const { stdout } = await node('calls.ts')
  assert.deepEqual(JSON.parse(stdout), {
    names: ['Anna Müller', 'Anna Müller', 'Anna Müller'],
    cancel: 1,
    outcomes: ['WAITING'],
    statuses: ['SCHEDULED', 'SCHEDULED', 'SCHEDULED'],
    code: 'invalid-input',
    errors: [{ pointer: '/lastName', detail: 'is required' }],
  })
  const generated = readFileSync(path.join(folder, 'client.ts'), 'utf8')
  const unnamed = [
    ...generated.matchAll(/^export (?:interface|type) (\w*(?:\d{3}|Item|AnyOf)\w*) /gm),
  ]
    .map(([, name]) => name!)
    .filter((name) => !/Response\d|^HTTPStatus/.test(name))
  assert.deepEqual(unnamed, [], 'schemas without a name of their own')
})

function installGenerator() {
  if (existsSync(orval)) return
  const isInstalled = installForTests({
    missing: 'orval, which generates a client from the API description',
    command: `npm ci --prefix "${generator}" --ignore-scripts --no-audit --no-fund`,
    instead: 'Without it this test fails.',
  })
  assert.ok(isInstalled, 'orval is not installed')
}

const STRICT = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: ['node'],
    skipLibCheck: true,
  },
  files: ['calls.ts'],
}
