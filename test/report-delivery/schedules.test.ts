import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { readCsv } from '../reports/read-back.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { createKey, signInAs } from '../support/callers.ts'
import { MONDAYS, openDelivery } from './open.ts'

test('a schedule mails the report at its time, as a file, with its figures in the text', async (t) => {
  const { addPerson, book, call, clock, listMails, runDue, runEngine } = await openDelivery(t)
  const anna = await addPerson('anna', 'OWNER')
  await book({ at: '2026-03-03T09:00+01:00' })
  const saved = await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [anna.userId] })
  assert.equal(saved.status, 201)
  assert.equal(saved.headers.location, `/reportSchedule/${saved.body.reportScheduleId}`)
  assert.equal(saved.body.delivery.nextRunTime, Date.parse('2026-03-09T06:00:00Z'))
  assert.equal(await runDue(), 0)

  clock.advance({ milliseconds: (7 * 24 - 3) * 3_600_000 - 1 })
  assert.equal(await runDue(), 0)
  clock.advance({ milliseconds: 1 })
  assert.equal(await runDue(), 1)
  assert.equal(await runDue(), 0)

  const [mail, ...others] = await listMails()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [mail!.to, mail!.subject],
    ['anna@example.org', 'Appointment list: 2–8 March 2026'],
  )
  const { rows } = readCsv(attachmentOf(mail!.message!))
  assert.deepEqual(
    rows.map((row) => row.slice(0, 2)),
    [['2026-03-03', '09:00']],
  )

  await runEngine()
  const { body: email } = await call('GET', `/emails/${mail!.emailId}`)
  assert.match(email.text, /Appointments: 1 \(/)
  assert.match(email.text, /every Monday at 07:00 \(Zürich time\)/)
  const { body: schedule } = await call('GET', `/reportSchedule/${saved.body.reportScheduleId}`)
  assert.equal(schedule.delivery.nextRunTime, Date.parse('2026-03-16T06:00:00Z'))
  const [run] = schedule.delivery.runs
  assert.deepEqual(
    [run.status, run.startDate, run.endDate, run.scheduledTime],
    ['COMPLETED', '2026-03-02', '2026-03-08', Date.parse('2026-03-09T06:00:00Z')],
  )
  const { emailId } = mail!
  const recipient = { userId: anna.userId, username: 'anna', emailId, emailStatus: 'CAPTURED' }
  assert.deepEqual(run.recipients, [{ ...recipient, reason: run.recipients[0].reason }])
})

test('recipients get only rows that they may see, and no mail if they may not see the report', async (t) => {
  const opened = await openDelivery(t)
  const { addPerson, book, call, clock, listMails, newYork, runDue, zurich } = opened
  const anna = await addPerson('anna', 'OWNER')
  const lea = await addPerson('lea', 'LOCATION_SUPER_USER', { locationIdList: [zurich] })
  const tom = await addPerson('tom', 'REPORTS_ONLY')
  await book({ at: '2026-03-03T09:00+01:00', locationId: zurich })
  await book({ at: '2026-03-03T20:00+01:00', locationId: newYork })
  const body = { ...MONDAYS, reportId: 501, userIdList: [anna, lea, tom].map((one) => one.userId) }
  const { body: saved } = await call('POST', '/reportSchedule', { ...body, reportId: 101 })

  clock.advance({ hours: 7 * 24 })
  await runDue()
  assert.equal(countOpenFiles(), 0)
  const first = await listMails()
  const counts = first.map(({ to, message }) => [to, readCsv(attachmentOf(message!)).rows.length])
  assert.deepEqual(counts, [
    ['anna@example.org', 2],
    ['lea@example.org', 1],
    ['tom@example.org', 2],
  ])

  // A USER may not see the report on clients.
  const { reportScheduleId } = saved
  assert.equal(
    (await call('POST', '/reportSchedule', { reportScheduleId, reportId: 501 })).status,
    200,
  )
  await call('POST', '/user', { userId: tom.userId, role: 'USER' })
  await call('DELETE', `/user/${lea.userId}`)
  clock.advance({ hours: 7 * 24 })
  await runDue()
  const mails = (await listMails()).slice(3)
  assert.deepEqual(
    mails.map(({ to }) => to),
    ['anna@example.org'],
  )
  const [run] = (await call('GET', `/reportSchedule/${reportScheduleId}`)).body.delivery.runs
  assert.equal(run.status, 'PARTIAL')
  const reasons = run.recipients.map((one: { reason: string | null }) => one.reason)
  assert.equal(reasons[0], null)
  assert.match(reasons[1], /lea is not active/)
  assert.match(reasons[2], /needs the function VIEW_CLIENT_REPORTS/)
  const { body: audit } = await call('GET', '/audit?object=reportScheduleRun')
  assert.equal(audit.items[0].after.status, 'PARTIAL')

  await call('POST', '/user', { userId: anna.userId, emailAddress: null })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  assert.equal((await listMails()).length, 4)
  const listed = (await call('GET', '/reportSchedule')).body.items[0]
  assert.equal(listed.delivery.runs.length, 1)
  assert.equal(listed.delivery.runs[0].status, 'FAILED')
  // The answer can be POSTed back, although its recipients could not be added now.
  assert.equal((await call('POST', '/reportSchedule', listed)).status, 200)
})

test('missed times are mailed once, with the date range of the last one', async (t) => {
  const { addPerson, call, clock, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const daily = { ...MONDAYS, frequency: 'DAILY', range: 'YESTERDAY', userIdList: [userId] }
  const { body } = await call('POST', '/reportSchedule', daily)
  clock.advance({ hours: 4 * 24 })
  await runDue()
  const mails = await listMails()
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['Appointment list: 5 March 2026'],
  )
  const [run] = (await call('GET', `/reportSchedule/${body.reportScheduleId}`)).body.delivery.runs
  assert.equal(run.statusReason, '3 earlier times were missed while the service was down.')
})

test('two nodes mail each scheduled time once, also after a takeover', async (t) => {
  const { addPerson, call, clock, database, listMails, startNode } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [userId] })
  clock.advance({ hours: 7 * 24 })
  const nodes = [...startNode(), ...startNode()]
  // The first print waits until the lease of its worker has expired and the others have tried.
  const { reportsOf } = database
  const printing = Promise.withResolvers<void>()
  const blocked = Promise.withResolvers<void>()
  database.reportsOf = (businessId) => {
    database.reportsOf = reportsOf
    const db = reportsOf(businessId)
    return {
      ...db,
      snapshot: async (work) => {
        printing.resolve()
        await blocked.promise
        return db.snapshot(work)
      },
    }
  }
  const slow = nodes[0]!.runOnce()
  await printing.promise
  assert.equal(await nodes[2]!.runOnce(), 0)
  clock.advance({ seconds: 11 })
  assert.equal(await nodes[2]!.runOnce(), 1)
  assert.equal((await listMails()).length, 1)
  blocked.resolve()
  assert.equal(await slow, 1)
  await Promise.all(nodes.map((node) => node.runOnce()))
  assert.equal((await listMails()).length, 1)
})

test('a failed run is retried, then given up, and the next scheduled time runs again', async (t) => {
  const { addPerson, call, clock, database, errors, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const { body } = await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [userId] })
  const read = async () =>
    (await call('GET', `/reportSchedule/${body.reportScheduleId}`)).body.delivery
  const { reportsOf } = database
  // A missing file has the same code as the missing socket of a database.
  database.reportsOf = () => {
    throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' })
  }
  clock.advance({ hours: 7 * 24 })
  assert.equal(await runDue(), 1)
  const { attempts, lastError, nextRunTime } = await read()
  assert.equal(attempts, 1)
  assert.match(lastError, /printing failed/)
  assert.equal(nextRunTime, clock.in({ minutes: 1 }).epochMilliseconds)
  for (let i = 0; i < 5; i++) {
    clock.advance({ minutes: 30 })
    await runDue()
  }
  assert.equal(errors.length, 5)
  const { runs, nextRunTime: next } = await read()
  assert.match(runs[0].statusReason, /^Gave up after 5 failed attempts: printing failed/)
  assert.equal(next, Date.parse('2026-03-16T06:00:00Z'))

  database.reportsOf = reportsOf
  clock.advance({ hours: 7 * 24 })
  await runDue()
  assert.equal((await listMails()).length, 1)
})

test('a file above the limit is mailed as a link that works while its recipient may see the report', async (t) => {
  const opened = await openDelivery(t, { maxAttachedBytes: 10 })
  const { addPerson, app, book, call, clock, listMails, runDue, runEngine } = opened
  const anna = await addPerson('anna', 'ADMINISTRATOR')
  await book({ at: '2026-03-03T09:00+01:00' })
  await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [anna.userId] })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  await runEngine()
  const [mail] = await listMails()
  const { body: email } = await call('GET', `/emails/${mail!.emailId}`)
  const [link] = /https:\/\/bellwether\.example\/report\/link\/\S+/.exec(email.text)!
  assert.match(email.text, /too large for a mail\. Until 16 March 2026/)
  const { pathname } = new URL(link)
  // The file is kept as long as the link works, although others are deleted after a day.
  clock.advance({ hours: 6 * 24 })
  await call(
    'POST',
    '/report/print/file?startDate=2026-03-01&endDate=2026-03-02&format=csv',
    { reportId: 101 },
    { prefer: 'respond-async' },
  )
  const file = await app.inject(pathname)
  assert.equal(file.statusCode, 200)
  assert.equal(readCsv(file.rawPayload).rows.length, 1)
  await call('POST', '/user', { userId: anna.userId, active: false })
  assert.equal((await app.inject(pathname)).statusCode, 410)
  await call('POST', '/user', { userId: anna.userId, active: true })
  assert.equal((await app.inject(pathname)).statusCode, 200)
  clock.advance({ hours: 24 })
  assert.equal((await app.inject(pathname)).statusCode, 410)
})

test('deleting a schedule disables the links in its mails', async (t) => {
  const opened = await openDelivery(t, { maxAttachedBytes: 10 })
  const { addPerson, app, call, clock, listMails, runDue, runEngine } = opened
  const { userId } = await addPerson('anna', 'ADMINISTRATOR')
  const schedule = { ...MONDAYS, userIdList: [userId] }
  const { body } = await call('POST', '/reportSchedule', schedule)
  const { body: other } = await call('POST', '/reportSchedule', schedule)
  clock.advance({ hours: 7 * 24 })
  await runDue()
  await runEngine()
  const paths: string[] = []
  for (const { emailId } of await listMails()) {
    const { body: email } = await call('GET', `/emails/${emailId}`)
    paths.push(/\/report\/link\/\S+/.exec(email.text)![0])
  }
  const statuses = async () =>
    (await Promise.all(paths.map((path) => app.inject(path)))).map((one) => one.statusCode)
  assert.deepEqual(await statuses(), [200, 200])
  await call('DELETE', `/reportSchedule/${body.reportScheduleId}`)
  assert.deepEqual((await statuses()).toSorted(), [200, 410])
  await call('POST', '/reportSchedule', { reportScheduleId: other.reportScheduleId, active: false })
  assert.deepEqual(await statuses(), [410, 410])
})

test('a queued mail with a report is cancelled if its recipient loses a right', async (t) => {
  const { addPerson, call, clock, newYork, runDue, runEngine, zurich } = await openDelivery(t)
  const one = { locationIdList: [zurich] }
  const people = [
    await addPerson('anna', 'ADMINISTRATOR'),
    await addPerson('lea', 'LOCATION_SUPER_USER', one),
    await addPerson('max', 'LOCATION_SUPER_USER', one),
    await addPerson('zoe', 'ADMINISTRATOR'),
  ]
  const [anna, lea, max, zoe] = people.map(({ userId }) => userId)
  const userIdList = people.map(({ userId }) => userId)
  const { body } = await call('POST', '/reportSchedule', { ...MONDAYS, userIdList })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  for (const change of [
    { userId: anna, role: 'USER' },
    { userId: lea, locationIdList: [newYork] },
    { userId: max, locationIdList: [newYork, zurich] },
  ]) {
    assert.equal((await call('POST', '/user', change)).status, 200)
  }
  assert.equal((await call('DELETE', `/user/${zoe}`)).status, 200)
  await runEngine()
  const { delivery } = (await call('GET', `/reportSchedule/${body.reportScheduleId}`)).body
  const lost = ['CANCELLED', 'the rights of the recipient changed before it was sent']
  assert.deepEqual(
    delivery.runs[0].recipients.map(
      ({ username, emailStatus, reason }: Record<string, string | null>) => [
        username,
        emailStatus,
        reason,
      ],
    ),
    [
      ['anna', ...lost],
      ['lea', ...lost],
      ['max', 'CAPTURED', null],
      ['zoe', ...lost],
    ],
  )
})

test('a schedule follows the time zone of its location', async (t) => {
  const { addPerson, call, clock, listMails, newYork, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const daily = { ...MONDAYS, frequency: 'DAILY', range: 'TODAY', locationId: newYork }
  const { body } = await call('POST', '/reportSchedule', { ...daily, userIdList: [userId] })
  const next = async () =>
    (await call('GET', `/reportSchedule/${body.reportScheduleId}`)).body.delivery.nextRunTime
  assert.equal(await next(), Date.parse('2026-03-02T12:00:00Z'))
  await call('POST', '/location', { locationId: newYork, timeZone: 'America/Los_Angeles' })
  await runDue()
  assert.equal(await next(), Date.parse('2026-03-02T15:00:00Z'))
  await call('POST', '/location', { locationId: newYork, timeZone: 'Asia/Tokyo' })
  await runDue()
  assert.equal(await next(), Date.parse('2026-03-02T22:00:00Z'))
  assert.deepEqual(await listMails(), [])
  clock.advance({ hours: 13 })
  await runDue()
  assert.deepEqual(
    (await listMails()).map(({ subject }) => subject),
    ['Appointment list: 3 March 2026'],
  )
})

test('a schedule is changed, deleted and restored, and runs only while it is active', async (t) => {
  const { addPerson, call, clock, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const { body, headers } = await call('POST', '/reportSchedule', {
    ...MONDAYS,
    userIdList: [userId],
  })
  const { reportScheduleId } = body
  const path = `/reportSchedule/${reportScheduleId}`
  const stale = { 'if-match': '"another"' }
  const change = { reportScheduleId, name: 'The week' }
  assert.equal((await call('POST', '/reportSchedule', change, stale)).status, 412)
  const etag = { 'if-match': String(headers.etag) }
  assert.equal((await call('POST', '/reportSchedule', change, etag)).body.name, 'The week')
  const deleted = await call('DELETE', path)
  assert.deepEqual([deleted.status, deleted.body.active], [200, false])
  assert.equal(deleted.body.delivery.nextRunTime, null)
  assert.deepEqual((await call('GET', '/reportSchedule')).body.items, [])
  assert.equal((await call('GET', path)).body.active, false)
  clock.advance({ hours: 8 * 24 })
  assert.equal(await runDue(), 0)

  // Times that passed while the schedule was deleted are not mailed.
  await call('POST', '/reportSchedule', { reportScheduleId, active: true })
  assert.equal(await runDue(), 0)
  clock.advance({ hours: 6 * 24 })
  await runDue()
  assert.deepEqual(
    (await listMails()).map(({ subject }) => subject),
    ['The week: 9–15 March 2026'],
  )
})

test('a run does not change the ETag of its schedule', async (t) => {
  const { addPerson, call, clock, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const saved = await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [userId] })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  const read = await call('GET', `/reportSchedule/${saved.body.reportScheduleId}`)
  assert.equal(read.headers.etag, saved.headers.etag)
  const match = { 'if-match': String(saved.headers.etag) }
  assert.equal((await call('POST', '/reportSchedule', read.body, match)).status, 200)
})

test('bad schedules are refused with all faults, and nothing is written', async (t) => {
  const { addPerson, call, tom, zurich } = await openDelivery(t)
  const user = await addPerson('tom', 'USER', { professionalId: tom })
  const mute = await addPerson('mute', 'OWNER', { emailAddress: null })
  const lea = await addPerson('lea', 'LOCATION_SUPER_USER', { locationIdList: [] })
  const good = { ...MONDAYS, userIdList: [user.userId] }
  const cases: [body: object, pointers: string[]][] = [
    [{}, ['/reportId', '/frequency', '/range', '/userIdList']],
    [{ ...good, reportId: 999 }, ['/reportId']],
    [{ ...good, format: 'docx', timeOfDay: '7:00' }, ['/format', '/timeOfDay']],
    [{ ...good, weekday: null }, ['/weekday']],
    [{ ...good, frequency: 'MONTHLY' }, ['/dayOfMonth']],
    [{ ...good, range: 'last month' }, ['/range']],
    [{ ...good, locationId: 999_999 }, ['/locationId']],
    [{ ...good, filters: { professionalIdList: [999_999] } }, ['/filters/professionalIdList/0']],
    [{ ...good, filters: { profesionalIdList: [1] } }, ['/filters/profesionalIdList']],
    [{ ...good, userIdList: [] }, ['/userIdList']],
    [{ ...good, userIdList: [user.userId, 999_999] }, ['/userIdList/1']],
    [{ ...good, reportId: 201 }, ['/userIdList/0']],
    [{ ...good, userIdList: [mute.userId] }, ['/userIdList/0']],
    [{ ...good, userIdList: [lea.userId], locationId: zurich }, ['/userIdList/0']],
    [{ ...good, userIdList: [999_999], locationId: 999_999 }, ['/userIdList/0', '/locationId']],
    [{ ...good, recipients: ['a@b.c'] }, ['/recipients']],
    [{ ...good, businessId: 999 }, ['/businessId']],
  ]
  for (const [body, pointers] of cases) {
    const answer = await call('POST', '/reportSchedule', body)
    assert.equal(answer.status, 422, JSON.stringify(body))
    const found = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)
    assert.deepEqual(found, pointers, JSON.stringify(answer.body))
  }
  // After a hundred faults the rest of the body is neither checked nor used.
  const filters = { locationIdList: Array.from({ length: 100 }, () => 'x') }
  for (const userIdList of [['x'], 5]) {
    const answer = await call('POST', '/reportSchedule', { ...good, filters, userIdList })
    assert.deepEqual([answer.status, answer.body.errors.length], [422, 100])
  }
  assert.deepEqual((await call('GET', '/reportSchedule')).body.items, [])
  assert.equal((await call('POST', '/reportSchedule', { reportScheduleId: 999 })).status, 404)
})

test('only callers who may see a report can read its mail, and the mail cannot be sent again', async (t) => {
  const opened = await openDelivery(t)
  const { addPerson, app, businessId, call, callAs, clock, database, listMails, runDue } = opened
  const anna = await addPerson('anna', 'OWNER')
  await addPerson('lea', 'LOCATION_SUPER_USER')
  await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [anna.userId] })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  const [mail] = await listMails()
  const { key } = await createKey(database, clock, businessId, ['mail:read', 'mail:write'])
  const mailOnly = callAs({ authorization: `Bearer ${key}` })
  assert.equal((await mailOnly('GET', `/emails/${mail!.emailId}`)).status, 403)
  const lea = callAs({ cookie: await signInAs(app, 'lea') })
  assert.equal((await lea('GET', `/emails/${mail!.emailId}`)).status, 404)
  assert.equal((await call('GET', `/emails/${mail!.emailId}`)).status, 200)
  assert.equal((await call('POST', `/emails/${mail!.emailId}/resend`)).status, 409)
  // Schedules are for owners and administrators.
  assert.equal((await lea('GET', '/reportSchedule')).status, 403)
})

test('erasing a client deletes the reports in mails, sent or not', async (t) => {
  const {
    anna: clientId,
    businessId,
    addPerson,
    book,
    call,
    clock,
    database,
    db,
    listMails,
    runDue,
    runEngine,
  } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  await book({ at: '2026-03-03T09:00+01:00' })
  await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [userId] })
  clock.advance({ hours: 7 * 24 })
  await runDue()
  await runEngine()
  clock.advance({ hours: 7 * 24 })
  await runDue()
  await eraseClient(database, { businessId, clientId }, clock.now())
  assert.deepEqual(
    (await listMails()).map(({ message }) => message),
    [null, null],
  )
  const statuses = await db.query(sql`select status from email order by email_id`)
  assert.deepEqual(statuses, [{ status: 'CAPTURED' }, { status: 'CANCELLED' }])
  assert.deepEqual(await db.query(sql`select from email_queue`), [])
})

function attachmentOf(message: string) {
  const [, encoded] = /Content-Disposition: attachment;[^]*?\r\n\r\n([^]*?)\r\n--/.exec(message)!
  return Buffer.from(encoded!, 'base64')
}

/** Printed files that are still open; they are deleted from the disk when they are closed. */
function countOpenFiles() {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return '' // The handle of this directory listing.
    }
  })
  return targets.filter((target) => target.includes('bellwether-report-')).length
}

test('a report that was sent while the clock was a year ahead is sent again at its next time', async (t) => {
  const { addPerson, call, clock, database, listMails, runDue } = await openDelivery(t)
  const anna = await addPerson('anna', 'OWNER')
  await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [anna.userId] })
  const ahead = { hours: 365 * 24 }
  clock.advance(ahead)
  await runDue()
  assert.equal((await listMails()).length, 1)
  clock.advance({ hours: -ahead.hours })
  const setBack = { stepMs: ahead.hours * 3_600_000, now: clock.now(), leaseSeconds: 15 }
  for (let i = 0; i < 2; i += 1) {
    await correctStoredTimes(database.engine, setBack)
    await runDue()
  }
  assert.equal((await listMails()).length, 1, 'not before its time')
  clock.advance({ hours: 7 * 24 })
  await runDue()
  assert.equal((await listMails()).length, 2)
})

test('a report that was mailed shortly before the clock was set back is not mailed again, and stops no other', async (t) => {
  const { addPerson, call, clock, database, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const daily = { ...MONDAYS, frequency: 'DAILY', range: 'YESTERDAY', userIdList: [userId] }
  await call('POST', '/reportSchedule', daily)
  await call('POST', '/reportSchedule', { ...daily, timeOfDay: '11:00' })
  // At 07:05, by a clock that is ten minutes ahead.
  clock.advance({ hours: 21, minutes: 5 })
  await runDue()
  assert.equal((await listMails()).length, 2, 'that of 11:00 was due the day before')
  clock.advance({ minutes: -10 })
  const setBack = { stepMs: 600_000, now: clock.now(), leaseSeconds: 15 }
  await correctStoredTimes(database.engine, setBack)

  for (let halfHours = 0; halfHours < 9; halfHours += 1) {
    clock.advance({ minutes: 30 })
    await runDue()
  }
  assert.equal((await listMails()).length, 3)
  clock.advance({ hours: 24 })
  await runDue()
  assert.equal((await listMails()).length, 5)
})
