import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { PhaseTimeouts } from '../../src/email/smtp-dialogue.ts'
import { SmtpMailer } from '../../src/email/smtp.ts'
import { startMailServer, type Behaviour } from '../support/mail-server.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/**
 * The engine, the real mailer and a server that misbehaves at every step of the SMTP dialogue. The tests
 * compare the stored rows with what the server received.
 */
type Case = {
  name: string
  behaviour: Behaviour
  /** The status after the first attempt. If it is not final, the next attempt sends the mail. */
  becomes: 'QUEUED' | 'RETRYING' | 'UNCERTAIN' | 'FAILED' | 'SENT'
  /** Of the first attempt. A failure before MAIL is not recorded as an attempt. */
  phase: string
  /** How often the server accepted the mail: twice only if its answer was lost. */
  taken?: 0 | 1 | 2
}

const HANG = { next: 'hang' } as const
const CLOSE = { next: 'close' } as const
const RESET = { next: 'reset' } as const
const say = (reply: string) => ({ reply: `${reply}\r\n` })

const CASES: Case[] = [
  { name: 'accepts it', behaviour: {}, becomes: 'SENT', phase: 'end' },
  { name: 'answers slowly', behaviour: { delay: 30 }, becomes: 'SENT', phase: 'end' },
  { name: 'answers letter by letter', behaviour: { trickle: true }, becomes: 'SENT', phase: 'end' },
  {
    name: 'does not support pipelining',
    behaviour: { pipelining: false },
    becomes: 'SENT',
    phase: 'end',
  },
  ...(
    [
      ['closes at once', 'connect', CLOSE, 'greeting'],
      ['says nothing', 'greeting', HANG, 'greeting'],
      ['is not available', 'greeting', { ...say('421 later'), next: 'close' }, 'greeting'],
      ['refuses every client', 'greeting', { ...say('554 no service'), next: 'close' }, 'greeting'],
      ['resets at EHLO', 'ehlo', RESET, 'ehlo'],
    ] as const
  ).map(([name, at, act, phase]): Case => {
    return { name, behaviour: { at, act }, becomes: 'QUEUED', phase }
  }),
  ...(
    [
      ['defers the sender', 'mail', say('451 4.3.0 busy'), 'mail'],
      ['hangs at the sender', 'mail', HANG, 'mail'],
      ['defers the recipient', 'rcpt', say('450 4.2.1 greylisted'), 'rcpt'],
      ['closes at the recipient', 'rcpt', CLOSE, 'rcpt'],
      ['defers the data', 'data', say('452 4.3.1 full'), 'data'],
      ['hangs before the data', 'data', HANG, 'data'],
      ['defers the message', 'end', say('451 4.7.1 try again'), 'end'],
    ] as const
  ).map(([name, at, act, phase]): Case => {
    return { name, behaviour: { at, act }, becomes: 'RETRYING', phase }
  }),
  ...(
    [
      ['refuses the sender', 'mail', say('550 5.1.0 not you'), 'mail'],
      ['refuses the recipient', 'rcpt', say('550 5.1.1 no such user'), 'rcpt'],
      ['refuses the data', 'data', say('554 5.5.1 no'), 'data'],
      ['refuses the message', 'end', say('554 5.7.1 spam'), 'end'],
    ] as const
  ).map(([name, at, act, phase]): Case => {
    return { name, behaviour: { at, act }, becomes: 'FAILED', phase, taken: 0 }
  }),
  ...(
    [
      ['closes before its answer', CLOSE],
      ['resets before its answer', RESET],
      ['never answers', HANG],
    ] as const
  ).flatMap(([name, act]): Case[] => {
    const at = 'end'
    const lost = { becomes: 'UNCERTAIN', phase: 'end' } as const
    return [
      { ...lost, name: `${name} and has not accepted the mail`, behaviour: { at, act }, taken: 1 },
      {
        ...lost,
        name: `${name} and has accepted the mail`,
        behaviour: { at, act: { ...act, takes: true } },
        taken: 2,
      },
    ]
  }),
  {
    name: 'closes after its answer',
    behaviour: { at: 'after', act: CLOSE },
    becomes: 'SENT',
    phase: 'end',
  },
]

const LONG_MS = 300_000

function mailerFor(
  { host, port }: { host: string; port: number },
  shorter: Partial<PhaseTimeouts> = {},
) {
  const server = { host, port, secure: false, requireTls: false, user: null, password: null }
  const ms = LONG_MS
  const timeouts = { connect: ms, greeting: ms, command: ms, body: ms, end: ms, ...shorter }
  return new SmtpMailer(server, { timeouts })
}

test('the rows record what the mail server did, and a mail is sent twice only if an answer was lost', async (t) => {
  const world = await startWorld(t)
  const { clock, save, businessId, call } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>\n.\nand a dot',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))

  for (const [index, { name, behaviour, becomes, phase, taken = 1 }] of CASES.entries()) {
    await t.test(`a server that ${name}`, async (t) => {
      const server = await startMailServer(t, behaviour)
      const mailers = new Set<SmtpMailer>()
      const engineWith = (shorter: Partial<PhaseTimeouts> = {}) => {
        const mailer = mailerFor(server, shorter)
        mailers.add(mailer)
        return startEngine(world, { mailer, captures: false })
      }
      const { clientId } = await save('/client', {
        firstName: 'C',
        lastName: name.slice(0, 50),
        emailAddress: `client-of-case-${index}@example.org`,
      })
      const { calendarId } = await world.book(clock.in({ hours: 25 }), { clientId })
      clock.advance({ hours: 1 })
      const hangs = behaviour.act?.next === 'hang'
      // Only the phase in which the server is silent has a short timeout: this machine may be busy.
      await engineWith(hangs ? { [phase]: 200 } : {}).runEngine()
      const { runEngine } = engineWith()
      const read = async () => {
        const [row, ...more] = (await call('GET', `/emails/calendar/${calendarId}`)).body
        assert.equal(more.length, 0)
        return row
      }
      const first = await read()
      assert.equal(first.status, becomes, JSON.stringify(first.attempts))
      if (becomes === 'QUEUED') {
        assert.deepEqual([first.attempts, server.taken], [[], []])
        await runEngine()
        assert.equal((await read()).status, 'SENT')
      } else {
        assert.equal(first.attempts.length, 1)
        assert.equal(first.attempts[0].phase, phase)
      }
      if (becomes === 'FAILED') assert.match(first.statusReason, /^55\d /)
      if (becomes === 'RETRYING') assert.equal(server.taken.length, 0)

      if (becomes === 'RETRYING' || becomes === 'UNCERTAIN') {
        await runEngine()
        assert.equal((await read()).attempts.length, 1, 'no attempt before the next is due')
        clock.advance({ minutes: 1 })
        await runEngine()
        const second = await read()
        assert.equal(second.status, 'SENT')
        assert.equal(second.attempts.length, 2)
      }
      assert.equal(server.taken.length, taken)
      const bytes = new Set(server.taken.map((mail) => mail.bytes))
      assert.ok(bytes.size <= 1, 'the same bytes each time')
      for (const one of bytes) assert.ok(one.includes(`Message-ID: ${first.messageId}\r\n`))
      const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
      assert.equal(trigger.status, becomes === 'FAILED' ? 'FAILED' : 'COMPLETED')
      for (const mailer of mailers) await mailer.close()
    })
  }
})

test('one bad recipient neither delays nor repeats the others', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, save, ids, call } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Class',
    subject: 'Class',
    emailBody: '<p>Hello</p>',
  })
  await save('/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CLASS_SCHEDULE',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 4 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const clientIdList: number[] = []
  for (let i = 0; i < 8; i++) {
    const emailAddress = `student${i}@example.org`
    clientIdList.push(
      (await save('/client', { firstName: 'S', lastName: `${i}`, emailAddress })).clientId,
    )
  }
  const startTime = clock.in({ hours: 9 }).epochMilliseconds
  const { locationId, professionalId } = ids
  const { classScheduleId } = await save('/classSchedule', {
    name: 'Yoga',
    locationId,
    professionalId,
    clientIdList,
    startTime,
    endTime: startTime + 60_000,
  })
  const server = await startMailServer(t, {
    at: 'rcpt',
    act: { reply: '550 5.1.1 no such user\r\n' },
  })
  const mailer = mailerFor(server)
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  clock.advance({ minutes: 30 })
  await runEngine()
  const to = server.taken.flatMap((mail) => mail.to)
  assert.equal(to.length, 7)
  assert.equal(new Set(to).size, 7)
  const rows = await world.db.query<{ status: string; count: number }>(
    sql`select status, count(*) from email group by status order by status`,
  )
  assert.deepEqual(
    rows.map((row) => `${row.status} ${row.count}`),
    ['FAILED 1', 'SENT 7'],
  )
  const [trigger] = (await call('GET', `/eventTriggers/CLASS_SCHEDULE/${classScheduleId}`)).body
  assert.equal(`${trigger.status} ${trigger.statusReason}`, 'FAILED 550 5.1.1 no such user')
  await mailer.close()
})
