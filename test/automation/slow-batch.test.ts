import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** Longer than a busy machine delays the statements of a worker. */
const IDLE_SECONDS = 6
const MS_PER_MAIL = 50
const MAILS = (1_000 * (IDLE_SECONDS + 1)) / MS_PER_MAIL

test('a batch whose mails take longer than idle_in_transaction_session_timeout is completed', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, save, book } = world
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
    emailCategoryId,
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  for (let i = 0; i < MAILS; i++) await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })

  const [row] = await world.db.query<{ name: string }>(sql`select current_database() as name`)
  const url = new URL(process.env.TEST_SERVER_URL!)
  url.pathname = `/${row!.name}`
  const shortTimeout = openDatabase({
    url: url.href,
    settings: { idle_in_transaction_session_timeout: `${IDLE_SECONDS}s` },
  })
  t.after(() => shortTimeout.close())
  const neverChanged = new Int32Array(new SharedArrayBuffer(4))
  const engine = startEngine(world, {
    database: shortTimeout,
    mailer: scripted().mailer,
    captures: false,
    calendarLink: () => null,
    unsubscribeLink: () => {
      Atomics.wait(neverChanged, 0, 0, MS_PER_MAIL)
      return 'https://example.org/unsubscribe'
    },
  })
  assert.equal(await engine.fire(), MAILS)
  const mails = await world.db.query(sql`select from email where status = 'QUEUED'`)
  assert.equal(mails.length, MAILS)
})
