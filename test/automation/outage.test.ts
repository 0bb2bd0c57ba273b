import assert from 'node:assert/strict'
import { test } from 'node:test'
import { register } from 'prom-client'
import type { MailServerChange } from '../../src/automation/mail-server.ts'
import { checkEmailQueue, readDelivery } from '../../src/cli/check-delivery.ts'
import { logMailServer } from '../../src/cli/log-mail-server.ts'
import { REASONS } from '../../src/contract/reasons.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer, Outcome, Unavailable } from '../../src/email/mailer.ts'
import { parseSmtpUrl, SmtpMailer } from '../../src/email/smtp.ts'
import { measureAttempt, measureEmailsEnded } from '../../src/http/routes/engine-metrics.ts'
import { openLog } from '../../src/log.ts'
import { findMailServer, saveMailServerWorks } from '../../src/store/mail-servers.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { asOwner } from '../support/owner.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerParts } from '../support/scripted-mailer.ts'
import { until } from '../support/until.ts'
import { watchMail } from '../support/watch-mail.ts'
import { addBusiness, reminder, startEngine, startWorld } from '../support/world.ts'
import { readStored } from '../support/stored-mails.ts'

const SMTP_URL = 'smtp://mail.test:25?tls=never'

type World = Awaited<ReturnType<typeof startWorld>>

const REFUSED: Unavailable = { kind: 'unavailable', phase: 'connect', reply: 'ECONNREFUSED' }

/** A mail server that accepts every mail while `trouble` is unset. */
function switchable() {
  const state = {
    trouble: undefined as Unavailable | undefined,
    /** What it answers to mails although probes succeed. */
    answer: undefined as Outcome | undefined,
    /** The same for mails to one address. */
    answerTo: {} as Record<string, Outcome>,
    /** How it ends the mails that it gets now. */
    held: undefined as Promise<Outcome> | undefined,
    /** How many mails it can begin at a time. */
    room: 10,
    /** Every business that has begun a mail has as many as it may have. */
    full: false,
    /** How it ends the probes that it gets now. */
    heldProbe: undefined as Promise<void> | undefined,
    taken: [] as string[],
    tried: 0,
    probes: 0,
  }
  const mailer: Mailer = {
    ...mailerParts,
    room: () => state.room,
    isFull: () => state.full,
    async send(mail) {
      state.tried++
      const { held } = state
      const refused = state.trouble ?? state.answer ?? state.answerTo[mail.to]
      if (refused) return refused
      await mail.beforeMessageEnd()
      if (held) return held
      state.taken.push(mail.to)
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
    async check() {
      state.probes++
      await state.heldProbe
      return state.trouble
    },
  }
  return Object.assign(state, { mailer })
}

/** A reminder with a mail, `triggerHours` from each appointment. */
async function remind(
  { businessId, save }: Pick<World, 'businessId' | 'save'>,
  triggerHours: number,
) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, triggerHours, { eventActions: [action] }))
}

/** Reminders at `triggerHours` from each appointment, in a world whose mail server can fail. */
async function startMailing(
  t: Parameters<typeof startWorld>[0],
  { triggerHours = -24, mailer }: { triggerHours?: number; mailer?: Mailer } = {},
) {
  const world = await startWorld(t, { SMTP_URL })
  await remind(world, triggerHours)
  const server = switchable()
  const changes: MailServerChange[] = []
  const logged: string[] = []
  const log = openLog('info', { write: (line: string) => void logged.push(line) })
  const start = () =>
    startEngine(world, {
      mailer: mailer ?? server.mailer,
      captures: false,
      onAttempt: measureAttempt,
      onEmailsEnded: measureEmailsEnded,
      onMailServer: (change) => {
        changes.push(change)
        logMailServer(log, change)
      },
    })
  return { ...world, ...start(), server, changes, logged, restart: start }
}

/** With an owner who gets notices. `observe` reads metrics, doctor, overview, log and notices. */
async function startWatched(t: Parameters<typeof startWorld>[0]) {
  const world = await startMailing(t)
  await world.save('/user', {
    username: 'olga',
    password: 'long enough',
    role: 'OWNER',
    emailAddress: 'olga@praxis.example',
  })
  register.resetMetrics()
  const { mailer } = world.server
  const step = async (by: Temporal.DurationLike) => {
    world.clock.advance(by)
    await world.loops.notices.runOnce()
    await world.runEngine()
  }
  const observe = watchMail({ world, mailer, smtpUrl: SMTP_URL, logged: world.logged })
  return { ...world, step, observe }
}

type Mail = { status: string; reason: string | null; attempts: object[]; objectId: number }

const mailsOf = ({ db }: Pick<World, 'db'>) =>
  db.query<Mail>(sql`
    select status, status_reason as reason, attempts, object_id as "objectId" from email
    order by email_id`)

const stateOf = ({ database }: Pick<World, 'database'>) =>
  findMailServer(database.engine, 'mail.test:25')

/** What `observe` gives while the server accepts no mail. */
const whileDown = (down: {
  since: string
  trouble: Unavailable
  metrics: string
  doctor: [server: string, queue: string]
  waiting: number
}) => ({
  metrics: `up 0, ${down.metrics}`,
  doctor: [
    `bad Mail server: mail.test:25 takes no mail, at ${down.trouble.phase}: ${down.trouble.reply}; no mail was taken for ${down.doctor[0]}`,
    `${down.doctor[1]}`,
  ],
  overview: `not ok, ${down.waiting} waiting: the mail server has taken no mail since ${down.since}: ${down.trouble.reply}`,
})

/** What `observe` gives once all mails were accepted. */
const whenBack = (counters: string) => ({
  metrics: `up 1, waiting 0, oldest 0, accepted 0, ${counters}`,
  doctor: [
    'ok Mail server: mail.test:25 accepts connections, and took a mail 0 s ago',
    'ok Mail queue: no mail waits',
  ],
  overview: 'ok, 0 waiting: null',
  owner: [],
})

const failing = ({ phase, reply }: Unavailable, seconds: number) =>
  `error: the mail server takes no mail (${phase}: ${reply}, ${seconds} s)`
const working = ({ phase, reply }: Unavailable, seconds: number) =>
  `info: the mail server takes mails again (${phase}: ${reply}, ${seconds} s)`

const OUTAGE_NOTICE = 'No mail could be sent for an hour'

test('an outage of two days loses no mail that is still useful, and is reported in time', async (t) => {
  const world = await startWatched(t)
  const { book, clock, server, step, observe } = world
  const bookings = new Map<string, { calendarId: number }>()
  for (const hours of [30, 60, 71, 73]) bookings.set(`${hours}`, await book(clock.in({ hours })))
  const byBooking = async () => {
    const mails = await mailsOf(world)
    return [...bookings].map(([hours, { calendarId }]) => {
      const mail = mails.find((one) => one.objectId === calendarId)
      return `${hours}: ${mail?.status} ${mail?.reason}`
    })
  }
  const stepHours = async (count: number) => {
    for (let hour = 0; hour < count; hour += 1) await step({ hours: 1 })
  }
  const outage = { since: '2026-03-02T15:00:00Z', trouble: REFUSED }
  const hourly = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => failing(REFUSED, (from + i) * 3600))

  // It is 10:00 in Zurich. Reminders are due after 6, 36, 47 and 49 hours.
  server.trouble = REFUSED
  await stepHours(6)
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 1, oldest 0, accepted absent, unavailable connect 1',
      doctor: ['0 s', 'ok Mail queue: 1 mail waits, the oldest for 0 s'],
      waiting: 1,
    }),
    log: hourly(0, 0),
    owner: [],
  })
  await stepHours(1)
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 2, oldest 3600, accepted absent, unavailable connect 2',
      doctor: ['60 min', 'note Mail queue: 2 mails wait, the oldest for 60 min'],
      waiting: 2,
    }),
    log: hourly(1, 1),
    owner: [OUTAGE_NOTICE],
  })
  // The first appointment began after 30 hours. The owner is notified at 8:00 the next day.
  await stepHours(38)
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 2, oldest 136800, accepted absent, unavailable connect 40, FAILED 1',
      doctor: ['39 h', 'note Mail queue: 2 mails wait, the oldest for 38 h'],
      waiting: 2,
    }),
    log: hourly(2, 39),
    owner: [],
  })
  await stepHours(1)
  const { owner } = await observe()
  assert.deepEqual(owner, ['One message could not be sent'])
  assert.match(await lastNoticeOf(world), /What to do: the mail server of this installation/)
  await stepHours(3)
  const failed = 'FAILED the mail server took no mail while this one was still useful: ECONNREFUSED'
  assert.deepEqual(await byBooking(), [
    `30: ${failed}`,
    '60: QUEUED null',
    '71: QUEUED null',
    '73: QUEUED null',
  ])
  const { log: _, ...atTheEnd } = await observe()
  assert.deepEqual(atTheEnd, {
    ...whileDown({
      ...outage,
      metrics: 'waiting 5, oldest 151200, accepted absent, unavailable connect 44, FAILED 1',
      doctor: ['43 h', 'note Mail queue: 5 mails wait, the oldest for 42 h'],
      waiting: 5,
    }),
    owner: [],
  })
  assert.deepEqual(new Set((await mailsOf(world)).flatMap((mail) => mail.attempts)), new Set())
  assert.equal(server.tried, 1, 'after the first mail the server is probed without a mail')
  const { todo } = checkEmailQueue(
    await readDelivery(world.database.engine, clock.now(), { smtpUrl: SMTP_URL, leaseSeconds: 10 }),
    clock.now(),
  )
  assert.match(todo!, /GET \/emails\?status=QUEUED/, 'they are not RETRYING')
  const { mail } = (await world.call('GET', '/overview')).body
  assert.equal(mail.failingSince, Temporal.Instant.from(outage.since).epochMilliseconds)
  const [shown] = (await world.call('GET', '/emails?status=QUEUED')).body.items
  assert.equal(shown.statusReason, mail.problem)

  server.trouble = undefined
  await step({ minutes: 5 })
  assert.deepEqual(await byBooking(), [
    `30: ${failed}`,
    '60: SENT null',
    '71: SENT null',
    '73: SENT null',
  ])
  assert.deepEqual(
    server.taken.toSorted(),
    [...Array(3).fill('anna@example.org'), ...Array(2).fill('olga@praxis.example')],
    'each once',
  )
  assert.deepEqual(await observe(), {
    ...whenBack('unavailable connect 44, sent end 5, FAILED 1, SENT 5'),
    log: [working(REFUSED, 43 * 3600 + 300)],
  })
})

test('a server that refuses every connection is probed every 30 s, and the outage is reported in time', async (t) => {
  const world = await startWatched(t)
  const { book, clock, server, step, observe } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  const trouble: Unavailable = { kind: 'unavailable', phase: 'greeting', reply: '554 not welcome' }
  const outage = { since: String(clock.now()), trouble }
  server.trouble = trouble
  await step({ seconds: 0 })
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 1, oldest 0, accepted absent, unavailable greeting 1',
      doctor: ['0 s', 'ok Mail queue: 1 mail waits, the oldest for 0 s'],
      waiting: 1,
    }),
    log: [failing(trouble, 0)],
    owner: [],
  })
  const probedAt: number[] = []
  const since = clock.now()
  for (let second = 5; second <= 145; second += 5) {
    clock.advance({ seconds: 5 })
    const before = server.probes
    while ((await world.deliver()) > 0) await world.settle()
    if (server.probes > before) probedAt.push(clock.now().since(since).total('seconds'))
  }
  assert.deepEqual(probedAt, [5, 15, 35, 65, 95, 125])
  await step({ seconds: 3_450 })
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 1, oldest 3595, accepted absent, unavailable greeting 8',
      doctor: ['60 min', 'note Mail queue: 1 mail waits, the oldest for 60 min'],
      waiting: 1,
    }),
    log: [],
    owner: [],
  })
  await step({ seconds: 5 })
  assert.deepEqual((await observe()).owner, [OUTAGE_NOTICE], 'after exactly an hour')
  assert.match(await lastNoticeOf(world), /The last answer was: 554 not welcome/)
  await step({ minutes: 5 })
  assert.deepEqual(await observe(), {
    ...whileDown({
      ...outage,
      metrics: 'waiting 2, oldest 3900, accepted absent, unavailable greeting 9',
      doctor: ['65 min', 'note Mail queue: 2 mails wait, the oldest for 65 min'],
      waiting: 2,
    }),
    log: [failing(trouble, 3_900)],
    owner: [],
  })
  server.trouble = undefined
  await step({ minutes: 5 })
  assert.deepEqual(await observe(), {
    ...whenBack('unavailable greeting 9, sent end 2, SENT 2'),
    log: [working(trouble, 4_200)],
  })
})

const lastNoticeOf = async ({ db }: Pick<World, 'db'>) => {
  const [notice] = await db.query<{ emailId: number }>(sql`
    select email_id as "emailId" from email
    where event_trigger_id is null order by email_id desc limit 1`)
  return readStored(db, notice!.emailId)
}

test('a wrong password, a refusing relay and a wrong certificate fail no mail', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  const troubles = [
    ['auth', '535 5.7.8 wrong password for <mail@operator.example>'],
    ['greeting', '554 5.7.1 you are not welcome'],
    ['starttls', "Hostname/IP does not match certificate's altnames"],
  ] as const
  for (const [phase, reply] of troubles) {
    for (let i = 0; i < 3; i++) await book(clock.in({ hours: 25 }))
    clock.advance({ hours: 1 })
    server.taken.length = 0
    server.trouble = { kind: 'unavailable', phase, reply }
    await runEngine()
    const waiting = (await mailsOf(world)).filter(({ status }) => status !== 'SENT')
    assert.deepEqual(
      waiting.map(({ status, attempts }) => [status, attempts.length]),
      [1, 2, 3].map(() => ['QUEUED', 0]),
    )
    const shown = reply.replace('<mail@operator.example>', '…')
    assert.equal((await stateOf(world))!.outage!.reply, shown)
    assert.equal(changes.at(-1)!.reply, shown, 'what is logged')
    server.trouble = undefined
    clock.advance({ minutes: 5 })
    await runEngine()
    assert.equal(server.taken.length, 3)
  }
  assert.deepEqual(
    changes.map((change) => `${change.isWorking} ${change.phase}`),
    troubles.flatMap(([phase]) => [`false ${phase}`, `true ${phase}`]),
  )
})

test('a flapping server is reported every five minutes, and each mail is sent once', async (t) => {
  const world = await startWatched(t)
  const { book, clock, server, step, observe } = world
  const start = clock.now()
  // A reminder is due each time the server becomes unavailable.
  for (let i = 0; i < 20; i++) await book(clock.in({ hours: 24, seconds: 20 + 40 * i }))
  const log: string[] = []
  for (let i = 0; i < 40; i++) {
    server.trouble = i % 2 === 0 ? REFUSED : undefined
    await step({ seconds: 20 })
    if (i < 38) continue
    const { log: lines, ...now } = await observe()
    log.push(...lines)
    const down = whileDown({
      since: String(start.add({ seconds: 780 })),
      trouble: REFUSED,
      metrics: 'waiting 1, oldest 0, accepted 20, unavailable connect 20, sent end 19, SENT 19',
      doctor: ['0 s', 'ok Mail queue: 1 mail waits, the oldest for 0 s'],
      waiting: 1,
    })
    const back = whenBack('unavailable connect 20, sent end 20, SENT 20')
    assert.deepEqual(now, i === 38 ? { ...down, owner: [] } : back)
  }
  const pair = [failing(REFUSED, 0), working(REFUSED, 20)]
  assert.deepEqual(log, [...pair, ...pair, ...pair], 'after 20, 340 and 660 seconds')

  // Then it works for a moment in each hour. The owner gets no notice: no mail waits for an hour.
  for (let i = 0; i < 3; i++) await book(clock.in({ hours: 24, minutes: 10 + 60 * i }))
  for (let hour = 0; hour < 3; hour += 1) {
    const since = String(clock.in({ minutes: 10 }))
    const counts = [20 + 5 * (hour + 1), 20 + hour]
    server.trouble = REFUSED
    for (let i = 0; i < 5; i++) await step({ minutes: 10 })
    assert.deepEqual(await observe(), {
      ...whileDown({
        since,
        trouble: REFUSED,
        metrics: `waiting 1, oldest 2400, accepted 3000, unavailable connect ${counts[0]}, sent end ${counts[1]}, SENT ${counts[1]}`,
        doctor: ['40 min', 'note Mail queue: 1 mail waits, the oldest for 40 min'],
        waiting: 1,
      }),
      log: [failing(REFUSED, 0)],
      owner: [],
    })
    server.trouble = undefined
    await step({ minutes: 10 })
    assert.deepEqual((await observe()).log, [working(REFUSED, 3_000)])
  }
  assert.equal(server.taken.length, 23)
  assert.deepEqual(new Set((await mailsOf(world)).map((mail) => mail.status)), new Set(['SENT']))
})

test('after an outage one mail is tried before all others follow', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server } = world
  for (let i = 0; i < 20; i++) await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  await runEngine()
  // Connections are accepted again, but the server requires another user.
  server.trouble = undefined
  server.answer = { kind: 'unavailable', phase: 'mail', reply: '530 5.7.0 sign in' }
  const { tried } = server
  const { since } = (await stateOf(world))!.outage!
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.equal(server.tried, tried + 1)
  const { outage } = (await stateOf(world))!
  assert.equal(outage!.reply, '530 5.7.0 sign in')
  assert.ok(outage!.since.equals(since), 'the same outage')
  server.answer = undefined
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.equal(server.taken.length, 20)
})

test('a sender that is refused only for one recipient does not delay other mails', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, save, server, changes } = world
  const emailAddress = 'strict@example.net'
  const { clientId } = await save('/client', { firstName: 'S', lastName: 'T', emailAddress })
  await book(clock.in({ hours: 25 }), { clientId })
  for (let i = 0; i < 3; i++) await book(clock.in({ hours: 25, minutes: 5 }))
  const reply = '553 5.7.1 <no-reply@op.example>: Sender address rejected: not wanted here'
  server.answerTo[emailAddress] = { kind: 'unavailable', phase: 'rcpt', reply }
  clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(
    (await stateOf(world))!.outage!.reply.slice(0, 9),
    '553 5.7.1',
    'it may concern all recipients',
  )
  for (let minute = 0; minute < 15; minute += 5) {
    clock.advance({ minutes: 5 })
    await runEngine()
  }
  assert.equal(server.taken.length, 3)
  assert.equal((await stateOf(world))!.outage, null)
  assert.equal(changes.filter(({ isWorking }) => !isWorking).length, 1)
  const [strict] = await mailsOf(world)
  assert.deepEqual([strict!.status, strict!.reason], ['RETRYING', reply])
  assert.ok(strict!.attempts.length >= 1)
  clock.advance({ hours: 25 })
  await runEngine()
  const [ended] = await mailsOf(world)
  assert.match(`${ended!.status}: ${ended!.reason}`, /^FAILED: gave up after \d+ attempts?: 553 5/)
})

test('the oldest waiting mail is found in a queue that is too long to count', async (t) => {
  const { book, clock, database, runEngine, server } = await startMailing(t)
  server.trouble = REFUSED
  await book(clock.in({ hours: 25 }))
  await book(clock.in({ hours: 26 }))
  clock.advance({ hours: 1 })
  await runEngine()
  const first = clock.now()
  clock.advance({ hours: 1 })
  await runEngine()
  // The update moves its row behind the other one.
  await database.engine.query(sql`
    update email_queue set attempts = attempts where created_date = ${first}`)
  const health = await readQueueHealth(database.engine, clock.now(), 10, 1)
  assert.deepEqual([health.emailsWaiting, String(health.oldestWaitingEmail)], [1, String(first)])
})

test('a probe ends an outage if no mail waits, and a restart begins with a probe', async (t) => {
  const world = await startMailing(t)
  const { book, clock, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  await world.runEngine()
  await world.database.engine.query(sql`
    with gone as (delete from email_queue returning email_id)
    update email set status = 'CANCELLED', next_attempt_time = null`)
  const restarted = world.restart()
  server.trouble = undefined
  const { tried } = server
  await restarted.runEngine()
  assert.equal(server.probes, 1)
  assert.equal(server.tried, tried)
  assert.equal((await stateOf(world))!.outage, null)
  assert.equal(changes.length, 1, 'the node that restarted had reported nothing')
})

test('a lost connection and a deferred mail are not an outage', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  for (const reply of ['the connection was closed', '451 busy', '421 closing']) {
    server.answer = { kind: 'retry', phase: 'rcpt', reply }
    await runEngine()
    clock.advance({ minutes: 30 })
  }
  assert.equal(changes.length, 0)
  const [mail] = await mailsOf(world)
  assert.deepEqual([mail!.status, mail!.attempts.length], ['RETRYING', 3])
})

test('the time of the last accepted mail is stored', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(String((await stateOf(world))!.lastAcceptedTime), String(clock.now()))
})

test('the overview shows when a mail was last sent, not when it was made', async (t) => {
  const { book, call, clock, runEngine, server } = await startMailing(t)
  server.trouble = REFUSED
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  server.trouble = undefined
  clock.advance({ hours: 2 })
  await runEngine()
  const sentAt = clock.now().epochMilliseconds
  clock.advance({ hours: 1 })
  const { mail } = (await call('GET', '/overview')).body
  assert.equal(mail.lastSentTime, sentAt)
})

test('a server that defers every mail for a minute has failed, until it accepts one', async (t) => {
  const world = await startWatched(t)
  const { book, clock, server, step, observe } = world
  for (let i = 0; i < 3; i += 1) await book(clock.in({ hours: 25 }))
  const full: Unavailable = { kind: 'unavailable', phase: 'data', reply: '452 4.3.1 disk is full' }
  server.answer = { ...full, kind: 'retry' }
  await step({ hours: 1 })
  const since = String(clock.now())
  await step({ seconds: 59 })
  assert.equal((await observe()).overview, 'ok, 3 waiting: null')
  await step({ seconds: 1 })
  const failedFor = (seconds: number, waiting: number) => ({
    doctor: [
      `note Mail server: mail.test:25 accepts connections from here, but the service fails at data: ${full.reply}; no mail was taken for ${seconds} s`,
      `ok Mail queue: ${waiting} mails wait, the oldest for ${seconds} s`,
    ],
    overview: `not ok, ${waiting} waiting: the mail server has taken no mail since ${since}: ${full.reply}`,
    owner: [],
  })
  assert.deepEqual(await observe(), {
    ...failedFor(60, 3),
    metrics: 'up 0, waiting 3, oldest 60, accepted absent, retry data 6',
    log: [failing(full, 60)],
  })

  // Other mails keep their attempts: two are tried after each probe.
  for (let i = 0; i < 5; i += 1) await book(clock.in({ hours: 24, seconds: 5 }))
  await step({ seconds: 5 })
  assert.deepEqual(await observe(), {
    ...failedFor(65, 8),
    metrics: 'up 0, waiting 8, oldest 65, accepted absent, retry data 8',
    log: [],
  })
  server.answer = undefined
  await step({ seconds: 30 })
  const { log, overview } = await observe()
  assert.deepEqual(log, [working(full, 95)])
  assert.equal(overview, 'ok, 0 waiting: null', 'also those whose next attempt was minutes later')
  assert.equal(server.taken.length, 8)
})

test('a server that deferred the only mails for ten minutes gets them within 30 s', async (t) => {
  const world = await startMailing(t)
  const { book, clock, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  server.answer = { kind: 'retry', phase: 'data', reply: '451 4.3.0 the filter does not answer' }
  clock.advance({ hours: 1 })
  await runFor(world, 600)
  server.answer = undefined
  await runFor(world, 35)
  assert.equal(server.taken.length, 2)
})

test('mails that hung before the server deferred them are tried when it works again', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  server.answer = { kind: 'uncertain', phase: 'end', reply: 'no answer within 120 s (end)' }
  clock.advance({ hours: 1 })
  await runEngine()
  server.answer = { kind: 'retry', phase: 'data', reply: '451 4.3.0 the filter does not answer' }
  for (const minutes of [1, 4]) {
    clock.advance({ minutes })
    await runEngine()
  }
  assert.deepEqual(
    (await mailsOf(world)).map(({ status }) => status),
    ['UNCERTAIN', 'UNCERTAIN'],
  )
  server.answer = undefined
  for (let seconds = 0; seconds < 30; seconds += 5) {
    clock.advance({ seconds: 5 })
    await runEngine()
  }
  assert.equal(server.taken.length, 2)
})

/** Runs the engine every five seconds. */
async function runFor(
  { clock, runEngine }: Pick<Awaited<ReturnType<typeof startMailing>>, 'clock' | 'runEngine'>,
  seconds: number,
) {
  for (let waited = 0; waited < seconds; waited += 5) {
    await runEngine()
    clock.advance({ seconds: 5 })
  }
}

test('a server whose filter is away gets mails within 30 s of its return, although it asked for a pause', async (t) => {
  const reply = '451 4.7.1 Service unavailable - try again later'
  const smtp = await startMailServer(t, {
    at: 'end',
    act: { reply: `${reply}\r\n` },
    times: Infinity,
  })
  const mailer = new SmtpMailer(parseSmtpUrl(`smtp://${smtp.host}:${smtp.port}`))
  t.after(() => mailer.close())
  const world = await startMailing(t, { mailer })
  const { book, clock, changes } = world
  for (let i = 0; i < 8; i += 1) await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runFor(world, 50)
  await book(clock.in({ hours: 24 }))
  await runFor(world, 20)
  assert.deepEqual(
    changes.map((change) => `${change.isWorking} ${change.reply}`),
    [`false ${reply}`],
    'an outage after a minute',
  )
  await runFor(world, 60)
  smtp.behave()
  await runFor(world, 35)
  assert.equal(smtp.taken.length, 9)
})

test('a mail that waited for quiet hours before it was deferred is tried again after the outage', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, runEngine, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await world.fire()
  await database.engine.query(sql`
    update email_queue set postponed_reason = ${REASONS.quietHours}`)
  server.answer = { kind: 'retry', phase: 'data', reply: '451 4.3.0 the filter does not answer' }
  for (const minutes of [0, 1, 4]) {
    clock.advance({ minutes })
    await runEngine()
  }
  server.answer = undefined
  await runFor(world, 35)
  assert.equal(server.taken.length, 2)
})

test('a mail whose connection broke when the server went away is tried when it is back', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server } = world
  await book(clock.in({ hours: 25 }))
  await book(clock.in({ hours: 25, seconds: 1 }))
  clock.advance({ hours: 1 })
  server.answer = { kind: 'retry', phase: 'mail', reply: 'the connection was closed' }
  await runEngine()
  clock.advance({ seconds: 1 })
  server.trouble = REFUSED
  await runEngine()
  server.answer = undefined
  server.trouble = undefined
  await runFor(world, 15)
  assert.equal(server.taken.length, 2)
})

/** Copies the mails of the queue, without their triggers. */
const copyMails = (database: World['database'], copies: number) =>
  asOwner(
    database,
    `create temporary table copy as
       select (jsonb_populate_record(e, jsonb_build_object(
         'email_id', e.email_id * 1000000 + n, 'event_trigger_id', null))).*
       from email e, generate_series(1, ${copies}) n`,
    `do $$ begin execute (
       select format('insert into email (%1$s) select %1$s from copy', string_agg(column_name, ', '))
       from information_schema.columns
       where table_schema = 'public' and table_name = 'email' and is_generated = 'NEVER'); end $$`,
    `insert into email_queue
       select (jsonb_populate_record(q, jsonb_build_object('email_id', q.email_id * 1000000 + n))).*
       from email_queue q, generate_series(1, ${copies}) n`,
  )

test('all mails that an outage deferred are tried when it ends, however many', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, runEngine, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  server.answer = { kind: 'retry', phase: 'data', reply: '451 4.3.0 the filter does not answer' }
  clock.advance({ hours: 1 })
  await runEngine()
  clock.advance({ minutes: 1 })
  await runEngine()
  await copyMails(database, 2_600)
  server.answer = undefined
  server.room = 200
  for (let i = 0; i < 6; i += 1) {
    clock.advance({ seconds: 5 })
    await runEngine()
  }
  assert.equal(server.taken.length, 2 + 2 * 2_600)
})

test('after an outage of many mails, one whose domain is paused again is tried once more, not with each page', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, fire, runEngine, save, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  server.answer = { kind: 'retry', phase: 'data', reply: '451 4.3.0 the filter does not answer' }
  clock.advance({ hours: 1 })
  await runEngine()
  clock.advance({ minutes: 1 })
  await runEngine()
  await copyMails(database, 2_600)

  const emailAddress = 'ben@paused.example'
  const { clientId } = await save('/client', { firstName: 'B', lastName: 'P', emailAddress })
  await book(clock.in({ hours: 24 }), { clientId })
  await fire()
  await database.engine.query(sql`
    update email_queue set useful_until = (select min(useful_until) from email_queue),
           next_attempt_time = next_attempt_time + interval '1 hour',
           postponed_reason = ${REASONS.domainPaused}
    where email_id = (select email_id from email where to_address = ${emailAddress})`)
  const reply = REASONS.domainPaused
  server.answerTo[emailAddress] = { kind: 'postponed', phase: 'connect', reply, waitMs: 300_000 }
  server.answer = undefined
  server.room = 200
  const triedBefore = server.tried
  for (let i = 0; i < 6; i += 1) {
    clock.advance({ seconds: 5 })
    await runEngine()
  }
  assert.equal(server.taken.length, 2 + 2 * 2_600)
  assert.equal(server.tried - triedBefore - server.taken.length, 1)
})

test('a deferred mail is no outage, whatever happens to others', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, save, server, changes } = world
  const emailAddress = 'grey@example.net'
  const { clientId } = await save('/client', { firstName: 'G', lastName: 'L', emailAddress })
  await book(clock.in({ hours: 25 }), { clientId })
  server.answerTo[emailAddress] = { kind: 'retry', phase: 'rcpt', reply: '450 4.2.0 greylisted' }
  clock.advance({ hours: 1 })
  for (let minute = 0; minute < 20; minute += 1) {
    await runEngine()
    clock.advance({ minutes: 1 })
  }
  server.answerTo['anna@example.org'] = { kind: 'failed', phase: 'rcpt', reply: '550 5.1.0 no' }
  await book(clock.in({ hours: 24 }))
  await runEngine()
  assert.deepEqual(changes, [])
  const [grey, refused] = await mailsOf(world)
  assert.deepEqual([grey!.status, grey!.attempts.length], ['RETRYING', 4])
  assert.equal(refused!.status, 'FAILED')
})

test('a node whose mails are deferred reports no outage while another one has mails accepted', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, runEngine, server, changes } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 25 }))
  server.answer = { kind: 'retry', phase: 'rcpt', reply: '450 later' }
  clock.advance({ hours: 1 })
  await runEngine()
  clock.advance({ seconds: 50 })
  await saveMailServerWorks(database.engine, 'mail.test:25', clock.now())
  clock.advance({ seconds: 10 })
  await runEngine()
  assert.deepEqual(changes, [])
  clock.advance({ minutes: 4 })
  await runEngine()
  clock.advance({ minutes: 9 })
  await runEngine()
  assert.equal(changes.length, 1)
})

test('a server that answers no mail for a minute has failed, and is tried with one mail at a time', async (t) => {
  const world = await startWatched(t)
  const { book, clock, server, observe } = world
  for (let i = 0; i < 3; i += 1) await book(clock.in({ hours: 25 }))
  const held = Promise.withResolvers<Outcome>()
  server.held = held.promise
  clock.advance({ hours: 1 })
  const since = String(clock.now())
  await world.fire()
  assert.equal(await world.deliver(), 3)
  clock.advance({ seconds: 59 })
  await world.deliver()
  assert.equal((await observe()).overview, 'ok, 3 waiting: null')
  clock.advance({ seconds: 1 })
  await world.deliver()
  const silent: Unavailable = {
    kind: 'unavailable',
    phase: 'end',
    reply: 'no mail was answered for a minute',
  }
  assert.deepEqual(await observe(), {
    metrics: 'up 0, waiting 3, oldest 60, accepted absent',
    doctor: [
      `note Mail server: mail.test:25 accepts connections from here, but the service fails at end: ${silent.reply}; no mail was taken for 60 s`,
      'ok Mail queue: 3 mails wait, the oldest for 60 s',
    ],
    overview: `not ok, 3 waiting: the mail server has taken no mail since ${since}: ${silent.reply}`,
    log: [failing(silent, 60)],
    owner: [],
  })

  // A probe succeeds, and one more mail is tried every 30 s.
  for (let i = 0; i < 3; i += 1) await book(clock.in({ hours: 24, minutes: 1 }))
  clock.advance({ minutes: 1 })
  await world.fire()
  for (const tried of [4, 4, 5]) {
    while ((await world.deliver()) > 0 && server.tried < tried) continue
    assert.equal(server.tried, tried)
    clock.advance({ seconds: 15 })
  }
  server.held = undefined
  held.resolve({ kind: 'uncertain', phase: 'end', reply: 'no answer within 120 s (end)' })
  clock.advance({ seconds: 30 })
  while ((await world.deliver()) > 0) await world.settle()
  const mails = (await mailsOf(world)).map(({ status }) => status)
  assert.deepEqual(mails, [...Array(5).fill('UNCERTAIN'), 'SENT'])
  const { log, overview } = await observe()
  assert.deepEqual(log, [working(silent, 195)])
  assert.equal(overview, 'ok, 5 waiting: null')
})

test('a mail that hangs while the server is tried does not delay the try that a person asks for', async (t) => {
  const world = await startSilent(t)
  const { book, call, clock, held, server } = world
  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 24, minutes: 1 }))
  clock.advance({ minutes: 1 })
  await world.fire()
  const step = async (seconds: number) => {
    clock.advance({ seconds })
    await world.deliver()
    await world.deliver()
  }
  await step(0)
  for (let i = 0; i < 3; i += 1) await step(5)
  assert.equal(server.tried, 4, 'one more after the probe')
  server.held = undefined
  await step(2)
  assert.equal(server.tried, 4)
  await call('POST', '/mail/retry')
  await step(1)
  await until(() => server.taken.length > 0)
  held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
})

/** Three mails that get no answer, in an outage that began with them. */
async function startSilent(t: Parameters<typeof startWorld>[0]) {
  const world = await startMailing(t)
  const { book, clock, server } = world
  for (let i = 0; i < 3; i += 1) await book(clock.in({ hours: 25 }))
  const held = Promise.withResolvers<Outcome>()
  server.held = held.promise
  clock.advance({ hours: 1 })
  await world.fire()
  assert.equal(await world.deliver(), 3)
  return { ...world, held }
}

test('mails that are accepted while the server is probed end the outage, and the next ones are sent together', async (t) => {
  const world = await startSilent(t)
  const { book, clock, held, server } = world
  clock.advance({ minutes: 1 })
  await world.deliver()
  const probe = Promise.withResolvers<void>()
  server.heldProbe = probe.promise
  clock.advance({ seconds: 5 })
  await world.deliver()
  assert.equal(server.probes, 1)
  held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await until(async () => (await mailsOf(world)).every(({ status }) => status === 'SENT'))
  probe.resolve()
  await world.settle()

  for (let i = 0; i < 3; i += 1) await book(clock.in({ hours: 24, minutes: 1 }))
  const next = Promise.withResolvers<Outcome>()
  server.held = next.promise
  clock.advance({ minutes: 1 })
  await world.fire()
  assert.equal(await world.deliver(), 3)
  next.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
  assert.deepEqual(
    world.changes.map(({ isWorking }) => isWorking),
    [false, true],
  )
})

test('a server that was silent before the clock was set back has failed after a minute', async (t) => {
  const world = await startSilent(t)
  world.clock.advance({ minutes: -30 })
  world.deliveries.forgetTimes()
  world.clock.advance({ minutes: 1 })
  await world.deliver()
  assert.equal(world.changes.length, 1)
  world.held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
})

test('an outage that began while the clock was ahead is reported with the time since it was set back', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, runEngine, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  await runEngine()
  clock.advance({ minutes: -30 })
  const setBack = { stepMs: 1_800_000, now: clock.now(), leaseSeconds: 10 }
  await correctStoredTimes(database.engine, setBack)
  world.deliveries.forgetTimes()
  clock.advance({ minutes: 1 })
  server.trouble = undefined
  await runEngine()
  assert.deepEqual(
    changes.map(({ isWorking, seconds }) => `${isWorking} ${seconds}`),
    ['false 0', 'true 60'],
  )
})

test('a mail that was accepted while the clock was ahead hides no outage', async (t) => {
  const world = await startMailing(t)
  const { book, clock, database, server } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await world.runEngine()
  assert.equal(server.taken.length, 1)
  clock.advance({ hours: -1 })
  const setBack = { stepMs: 3_600_000, now: clock.now(), leaseSeconds: 10 }
  await correctStoredTimes(database.engine, setBack)
  world.deliveries.forgetTimes()

  for (let i = 0; i < 2; i += 1) await book(clock.in({ hours: 24, minutes: 1 }))
  const held = Promise.withResolvers<Outcome>()
  server.held = held.promise
  clock.advance({ minutes: 1 })
  await world.fire()
  assert.equal(await world.deliver(), 2)
  clock.advance({ minutes: 1 })
  await world.deliver()
  assert.equal(world.changes.length, 1)
  held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
})

test('one mail that hangs is no outage, unless another one waits for its place', async (t) => {
  const world = await startMailing(t)
  const { book, clock, server, changes } = world
  await book(clock.in({ hours: 25 }))
  await book(clock.in({ hours: 25, minutes: 2 }))
  const held = Promise.withResolvers<Outcome>()
  server.held = held.promise
  clock.advance({ hours: 1 })
  await world.fire()
  assert.equal(await world.deliver(), 1)
  server.room = 0
  clock.advance({ minutes: 1 })
  await world.deliver()
  assert.deepEqual(changes, [])
  clock.advance({ minutes: 1 })
  await world.fire()
  await world.deliver()
  assert.deepEqual(
    changes.map(({ reply }) => reply),
    ['no mail was answered for a minute'],
  )
  held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
})

/** A second reminder an hour before, and clients whose appointments begin soon. */
async function startUrgent(t: Parameters<typeof startWorld>[0]) {
  const world = await startMailing(t)
  const { save } = world
  await remind(world, -1)
  const soon = { firstName: 'Sam', lastName: 'Soon', emailAddress: 'soon@example.org' }
  const { clientId } = await save('/client', soon)
  const bookSoon = (startsAt: Temporal.Instant) => world.book(startsAt, { clientId })
  return { ...world, bookSoon }
}

test('after an outage the mails that lose their use first are sent first', async (t) => {
  const { book, bookSoon, clock, server, ...world } = await startUrgent(t)
  for (let i = 0; i < 20; i += 1) await book(clock.in({ hours: 25 }))
  for (let i = 0; i < 3; i += 1) await bookSoon(clock.in({ hours: 2, minutes: 30 }))
  server.trouble = REFUSED
  clock.advance({ hours: 1 })
  await world.runEngine()
  clock.advance({ minutes: 30 })
  await world.runEngine()
  server.trouble = undefined
  clock.advance({ seconds: 30 })
  await world.runEngine()
  assert.equal(server.taken.length, 23)
  const urgent = server.taken.slice(0, 11).filter((to) => to === 'soon@example.org')
  assert.equal(urgent.length, 3, 'in the first claim after the mail that is tried')
})

/** The ten oldest of these mails are deferred; three others lose their use in a minute. */
async function startUrgentAndDeferred(t: Parameters<typeof startWorld>[0]) {
  const world = await startUrgent(t)
  const { book, bookSoon, clock, save, server } = world
  const emailAddress = 'grey@example.net'
  const { clientId } = await save('/client', { firstName: 'G', lastName: 'L', emailAddress })
  for (let i = 0; i < 10; i += 1) await book(clock.in({ hours: 25, seconds: i }), { clientId })
  for (let i = 0; i < 3; i += 1) await bookSoon(clock.in({ hours: 2, minutes: 1 }))
  server.answerTo[emailAddress] = { kind: 'retry', phase: 'rcpt', reply: '450 4.2.0 greylisted' }
  server.trouble = REFUSED
  clock.advance({ hours: 1 })
  const run = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 5) {
      await world.runEngine()
      clock.advance({ seconds: 5 })
    }
  }
  await world.runEngine()
  clock.advance({ seconds: 62 })
  return { ...world, run }
}

test('after an outage the mail that loses its use first is tried first', async (t) => {
  const { clock, server, run, ...world } = await startUrgentAndDeferred(t)
  clock.advance({ minutes: 59 })
  await world.runEngine()
  server.trouble = undefined
  const back = clock.now()
  await run(35)
  const sent = await world.db.query<{ at: Temporal.Instant }>(sql`
    select sent_time as at from email where to_address = 'soon@example.org' and status = 'SENT'`)
  assert.equal(sent.length, 3)
  assert.ok(sent.every(({ at }) => at.since(back).total('seconds') <= 35))
})

test('a server that defers some recipients after an outage delays the others by no more than a probe', async (t) => {
  const { clock, server, run, ...world } = await startUrgentAndDeferred(t)
  // The urgent mails are those that are deferred.
  server.answerTo['soon@example.org'] = server.answerTo['grey@example.net']!
  const { clientId } = await world.save('/client', {
    firstName: 'L',
    lastName: 'A',
    emailAddress: 'last@example.org',
  })
  await world.book(clock.in({ hours: 24, seconds: 1 }), { clientId })
  clock.advance({ seconds: 30 })
  await world.runEngine()
  server.trouble = undefined
  await run(95)
  assert.deepEqual(server.taken, ['last@example.org'])
})

test('in a long queue the urgent is sent first, however many businesses have no mail', async (t) => {
  const { book, bookSoon, clock, database, server, ...world } = await startUrgent(t)
  // Several pages of them; a claim reads one page at a time.
  await database.maintenance.query(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    select 'Idle', 'UTC', ${clock.now()}::timestamptz, 'TEST', ${clock.now()}::timestamptz, 'TEST'
    from generate_series(1, 450)`)
  for (let i = 0; i < 40; i += 1) await book(clock.in({ hours: 25 }))
  for (let i = 0; i < 3; i += 1) await bookSoon(clock.in({ hours: 2, minutes: 1 }))
  const deliver = async () => {
    await world.fire()
    await world.deliver()
    await world.settle()
  }
  clock.advance({ hours: 1 })
  for (let claims = 0; claims < 2; claims += 1) await deliver()
  clock.advance({ minutes: 1 })
  await deliver()
  const urgent = server.taken.slice(20, 30).filter((to) => to === 'soon@example.org')
  assert.equal(urgent.length, 3, 'in the next claim')
})

test('in a long queue an urgent mail does not wait until each other business has had its share', async (t) => {
  const world = await startMailing(t)
  const { clock, server } = world
  const others = [world]
  for (let i = 0; i < 4; i += 1) others.push({ ...world, ...(await addBusiness(world)) })
  for (const other of others.slice(1)) await remind(other, -24)
  const urgent = { ...world, ...(await addBusiness(world)) }
  await remind(urgent, -1)
  const emailAddress = 'soon@example.org'
  await urgent.save('/client', { clientId: urgent.ids.clientId, emailAddress })
  for (const other of others) {
    for (let i = 0; i < 3; i += 1) await other.book(clock.in({ hours: 25 }))
  }
  for (let i = 0; i < 3; i += 1) await urgent.book(clock.in({ hours: 2 }))
  clock.advance({ hours: 1 })
  await world.fire()
  server.room = 1
  for (let claims = 0; claims < 3; claims += 1) {
    await world.deliver()
    await world.settle()
    clock.advance({ seconds: 5 })
  }
  const taken = server.taken.map((to) => (to === emailAddress ? 'urgent' : 'other'))
  assert.deepEqual(taken.slice(0, 3), ['other', 'urgent', 'other'], 'in turns with the shares')
})

test('a mail that loses its use while no other mail can be sent ends at once, with the reason', async (t) => {
  const world = await startUrgent(t)
  const { bookSoon, clock, server } = world
  await bookSoon(clock.in({ hours: 2 }))
  clock.advance({ hours: 1 })
  await world.fire()
  server.room = 0
  await world.deliver()
  clock.advance({ minutes: 60 })
  await world.deliver()
  await world.settle()
  const [mail] = await mailsOf(world)
  assert.deepEqual(
    [mail!.status, mail!.reason],
    ['CANCELLED', 'it could not be sent while it was still useful'],
  )
  const { body: triggers } = await world.call('GET', `/eventTriggers/CALENDAR/${mail!.objectId}`)
  const ended = triggers.map((one: Record<string, string>) => `${one.status} ${one.statusReason}`)
  assert.ok(ended.includes(`EXPIRED ${mail!.reason}`), ended.join())
  const { expired, mostLateSeconds } = await readQueueHealth(world.database.engine, clock.now(), 10)
  assert.deepEqual([expired, mostLateSeconds], [1, 3600])
})

test('a mail of a business whose mails hang ends at once when it loses its use', async (t) => {
  const world = await startUrgent(t)
  const { bookSoon, clock, database, server } = world
  const held = Promise.withResolvers<Outcome>()
  for (let i = 0; i < 2; i += 1) await bookSoon(clock.in({ hours: 2 }))
  clock.advance({ hours: 1 })
  server.room = 1
  server.held = held.promise
  await world.fire()
  await world.deliver()
  server.full = true
  server.room = 10
  clock.advance({ hours: 1 })
  // Another node has its mails accepted: this is no outage.
  await saveMailServerWorks(database.engine, 'mail.test:25', clock.now())
  await world.deliver()
  held.resolve({ kind: 'sent', phase: 'end', reply: '250 taken' })
  await world.settle()
  const outcomes = (await mailsOf(world)).map(({ status, reason }) => `${status} ${reason}`)
  assert.deepEqual(outcomes.toSorted(), [
    'CANCELLED it could not be sent while it was still useful',
    'SENT null',
  ])
})

test('a probe of a silent server delays the next one no longer than it takes, nor loses a request', async (t) => {
  const world = await startMailing(t)
  const { book, call, clock, server } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  for (const seconds of [0, 5, 10, 20]) {
    clock.advance({ seconds })
    await world.runEngine()
  }
  const probeFor = async (seconds: number, during = async () => {}) => {
    const { probes } = server
    const held = Promise.withResolvers<void>()
    server.heldProbe = held.promise
    await world.deliver()
    assert.equal(server.probes, probes + 1)
    clock.advance({ seconds })
    await during()
    server.heldProbe = undefined
    held.resolve()
    await world.settle()
  }
  const probesAfter = async (seconds: number) => {
    const { probes } = server
    clock.advance({ seconds })
    await world.deliver()
    await world.deliver()
    await world.settle()
    return server.probes - probes
  }
  clock.advance({ seconds: 30 })
  await probeFor(20)
  assert.equal(await probesAfter(9), 0)
  assert.equal(await probesAfter(1), 1, '30 s after the last one began')
  clock.advance({ seconds: 30 })
  await probeFor(20, async () => void (await call('POST', '/mail/retry')))
  assert.equal(await probesAfter(0), 1, 'a person has asked for it meanwhile')
})

test('the mail server is tried at once if a person asks for it, and not more often than that', async (t) => {
  const world = await startMailing(t)
  const { book, call, clock, server } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  for (const seconds of [0, 5, 10, 20]) {
    clock.advance({ seconds })
    await world.runEngine()
  }
  const { probes } = server
  clock.advance({ seconds: 10 })
  await world.runEngine()
  assert.equal(server.probes, probes, 'the next probe is due 30 s after the last one')
  for (let i = 0; i < 3; i += 1) {
    const { status, body } = await call('POST', '/mail/retry')
    assert.equal(status, 200)
    assert.equal(body.retryRequestedTime, clock.now().epochMilliseconds)
    await world.runEngine()
    clock.advance({ seconds: 1 })
    await world.runEngine()
    clock.advance({ seconds: -1 })
  }
  assert.equal(server.probes, probes + 1)
  server.trouble = undefined
  clock.advance({ seconds: 5 })
  assert.notEqual((await call('POST', '/mail/retry')).body.failingSince, null)
  clock.advance({ seconds: 1 })
  await world.runEngine()
  assert.equal(server.taken.length, 1)
  assert.equal((await call('POST', '/mail/retry')).body.failingSince, null)
})
