import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { sql } from '../../src/database/sql.ts'
import { ask, OPERATOR_KEY } from '../support/callers.ts'
import { asOwner } from '../support/owner.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** A reminder that is due, and what the operator is told. */
async function startDue(t: TestContext, template: object) {
  const world = await startWorld(t, {
    ADMIN_API_KEY: OPERATOR_KEY,
    SMTP_URL: 'smtp://mail.test:25?tls=never',
  })
  const { businessId, book, call, clock, database, db, save } = world
  const fields = { templateName: 'Reminder', subject: 'See you', emailBody: '<p>Hello</p>' }
  const { emailTemplateId } = await save('/emailTemplate', { ...fields, ...template })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const { calendarId } = await book(clock.in({ hours: 25 }))
  const { mailer, taken } = scripted()
  const told: string[] = []
  const engine = startEngine(world, {
    mailer,
    captures: false,
    onOperatorProblem: ({ detail }) => void told.push(detail),
  })
  const readState = async () => {
    const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
    const [stored] = await database.engine.query<{ attempts: number }>(sql`
      select attempts from pending_trigger`)
    const [mail] = await db.query<{ status: string; attempts: object[] }>(sql`
      select status, attempts from email`)
    const problems = await database.engine.query<{ problem: string }>(sql`
      select problem from operator_problem`)
    return {
      trigger: trigger.status,
      attempts: stored?.attempts ?? mail!.attempts.length,
      mail: mail?.status,
      problems: problems.map(({ problem }) => problem),
      overview: (await call('GET', '/overview')).body.mail.problem,
    }
  }
  return { ...world, ...engine, taken, told, readState, mailer }
}

test('a mail whose DKIM key cannot sign waits, the operator is told, and it is sent when the key is fixed', async (t) => {
  const world = await startDue(t, { fromAddress: 'hello@clinic.example' })
  const { businessId, call, clock, database, runEngine, taken, told } = world
  const operator = ask(world.app, { authorization: `Bearer ${OPERATOR_KEY}` })
  await operator('POST', '/business', { businessId, senderDomains: ['clinic.example'] })
  const setKeys = (value: string) =>
    asOwner(
      database,
      `update sender_domain set rsa_key = ${value}, ed25519_key = ${value}, rsa_public = ${value},
                                ed25519_public = ${value}`,
    )
  await setKeys(`'damaged'`)
  clock.advance({ hours: 1 })
  for (let minute = 0; minute < 15; minute += 1) {
    clock.advance({ minutes: 1 })
    await runEngine()
  }
  const { overview, ...state } = await world.readState()
  assert.deepEqual(state, {
    trigger: 'RUNNING',
    attempts: 0,
    mail: 'QUEUED',
    problems: [`signing for clinic.example of business ${businessId}`],
  })
  assert.match(overview, /^mails from clinic\.example wait: the DKIM key cannot sign: /)
  assert.deepEqual(told, [overview], 'once an hour')
  const [shown] = (await call('GET', '/emails?status=QUEUED')).body.items
  assert.match(shown?.statusReason ?? '', /^the DKIM key cannot sign: .*; it is sent at /)
  assert.match((await call('GET', '/readyz')).body.warnings[0], /only the operator can fix/)

  await setKeys('null')
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 1)
  const fixed = { trigger: 'COMPLETED', attempts: 1, mail: 'SENT', problems: [], overview: null }
  assert.deepEqual(await world.readState(), fixed)
})

test('if the thread that renders templates dies, triggers wait without failed attempts', async (t) => {
  const world = await startDue(t, {})
  const { clock, database, runEngine, taken, told } = world
  // A template that this process has not rendered yet.
  await asOwner(database, `update email_template set email_body = '<p>Not rendered yet</p>'`)
  const killed = t.mock.method(Worker.prototype, 'postMessage', function (this: Worker) {
    void this.terminate()
  })
  clock.advance({ hours: 1 })
  for (let minute = 0; minute < 10; minute += 1) {
    await runEngine()
    clock.advance({ minutes: 1 })
  }
  const { overview, ...state } = await world.readState()
  assert.deepEqual(state, {
    trigger: 'SCHEDULED',
    attempts: 0,
    mail: undefined,
    problems: ['rendering of templates'],
  })
  assert.match(overview, /^templates cannot be rendered, and their mails wait: /)
  assert.deepEqual(told, [overview])

  killed.mock.restore()
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 1)
  const fixed = { trigger: 'COMPLETED', attempts: 1, mail: 'SENT', problems: [], overview: null }
  assert.deepEqual(await world.readState(), fixed)
})
