import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { messageText } from '../../src/email/message.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { startEngine, startWorld } from '../support/world.ts'

/** A world with a mail server that accepts every mail. */
async function mailing(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  const { businessId, save } = world
  /** An action for events of this type, with its own template. */
  const define = async (eventTypeId: number, template: object, more: object = {}) => {
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: 'Template',
      subject: 'Hello',
      emailBody: '<p>Hello %CLIENT_FULLNAME%</p>',
      ...template,
    })
    const { action = {}, ...definition } = more as { action?: object }
    return save('/eventDefinition', {
      active: true,
      businessId,
      objectType: eventTypeId >= 4 && eventTypeId <= 6 ? 'CLASS_SCHEDULE' : 'CALENDAR',
      triggerHours: 0,
      triggerMinutes: 0,
      eventType: { eventTypeId },
      eventActions: [
        { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId, ...action },
      ],
      ...definition,
    })
  }
  const emails = async () =>
    (await world.call('GET', '/emails?limit=500')).body.items as Record<string, unknown>[]
  const client = async (firstName: string, more: object = {}) =>
    (
      await save('/client', {
        firstName,
        lastName: 'Student',
        emailAddress: `${firstName.toLowerCase()}@example.org`,
        ...more,
      })
    ).clientId as number
  return { ...world, taken, runEngine, define, emails, client }
}

/** A mail with unfolded lines and a decoded calendar file. */
const textOf = (mail: { message: { headers: string; body: string; messageId: string } }) =>
  messageText(mail.message)
    .replace(/(?:[A-Za-z0-9+/=]{60,}\r\n)+[A-Za-z0-9+/=]*/g, (text) =>
      Buffer.from(text, 'base64').toString('utf8'),
    )
    .replaceAll('\r\n ', '')

test('cc and bcc recipients get their own mail, and the bcc address is not visible', async (t) => {
  const { clock, book, define, runEngine, taken, emails, call } = await mailing(t)
  await define(1, { ccAddress: '%STAFF_EMAIL%', bccAddress: 'archive@example.org' })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await runEngine()
  const byAddress = new Map(taken.map((mail) => [mail.to, textOf(mail)]))
  assert.deepEqual([...byAddress.keys()].toSorted(), [
    'anna@example.org',
    'archive@example.org',
    'elena@example.org',
  ])
  for (const text of byAddress.values()) {
    assert.match(text, /^To: .*<anna@example\.org>/m)
    assert.match(text, /^Cc: .*elena@example\.org/m)
    assert.doesNotMatch(text.split('\r\n\r\n')[0]!, /archive@|^Bcc:/im)
    // A calendar entry with METHOD:PUBLISH names no attendees.
    assert.match(text, /^METHOD:PUBLISH/m)
    assert.doesNotMatch(text, /^ATTENDEE/m)
  }
  const rows = await emails()
  assert.equal(rows.length, 3)
  assert.equal(new Set(rows.map((row) => row.messageId)).size, 3)
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  assert.equal(trigger.status, 'COMPLETED')
})

test('a bad copy address neither delays nor repeats the mail', async (t) => {
  const { clock, book, define, runEngine, taken, emails, save, ids } = await mailing(t)
  await save('/professional', { professionalId: ids.professionalId, emailAddress: null })
  await define(1, { ccAddress: '%STAFF_EMAIL%', bccAddress: 'anna@example.org' })
  await book(clock.in({ hours: 48 }))
  await runEngine()
  assert.deepEqual(
    taken.map((mail) => mail.to),
    ['anna@example.org'],
  )
  assert.equal((await emails()).length, 1)
})

test('a class mails each student, or once if the address has no client token', async (t) => {
  const { clock, define, runEngine, taken, save, ids, client } = await mailing(t)
  await define(4, { subject: 'Class', ccAddress: 'desk@example.org' })
  await define(
    4,
    { templateName: 'Staff', subject: 'For staff' },
    { action: { recipient: { value: 'staff' } } },
  )
  const students = [
    await client('Aya'),
    await client('Bo'),
    await client('Cy', { emailAddress: null }),
  ]
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const { classScheduleId } = await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime,
    endTime: startTime + 3_600_000,
    clientIdList: students,
  })
  await runEngine()
  assert.deepEqual(taken.map((mail) => mail.to).toSorted(), [
    'aya@example.org',
    'bo@example.org',
    'desk@example.org',
    'elena@example.org',
  ])
  const forStaff = textOf(taken.find((mail) => mail.to === 'elena@example.org')!)
  assert.doesNotMatch(forStaff, /Student/, 'a mail about the whole class names no student')
  const forAya = textOf(taken.find((mail) => mail.to === 'aya@example.org')!)
  assert.doesNotMatch(forAya, /bo@example|Bo Student/, 'students do not see each other')
  assert.match(forAya, new RegExp(`UID:class_schedule-\\d+-${classScheduleId}-[a-z0-9]+@`))
})

test('a mail for a whole class names no student, also if there is only one', async (t) => {
  const { clock, define, runEngine, taken, emails, save, ids, client } = await mailing(t)
  await define(4, { subject: 'For staff' }, { action: { recipient: { value: 'staff' } } })
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime,
    endTime: startTime + 3_600_000,
    clientIdList: [await client('Aya')],
  })
  await runEngine()
  assert.deepEqual(
    taken.map((mail) => mail.to),
    ['elena@example.org'],
  )
  assert.doesNotMatch(textOf(taken[0]!), /Aya|Student/)
  assert.equal((await emails())[0]!.clientId, null)
})

test('a trigger of a class without students is skipped', async (t) => {
  const { clock, define, runEngine, taken, save, ids, call } = await mailing(t)
  await define(4, {})
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const { classScheduleId } = await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime,
    endTime: startTime + 3_600_000,
  })
  await runEngine()
  assert.equal(taken.length, 0)
  const [trigger] = (await call('GET', `/eventTriggers/CLASS_SCHEDULE/${classScheduleId}`)).body
  assert.equal(
    `${trigger.status} ${trigger.statusReason}`,
    'SKIPPED there is no client to write to',
  )
})

test('the template variant for the recipient’s language, the service and the location is used', async (t) => {
  const { clock, book, define, runEngine, taken, save, ids, client } = await mailing(t)
  const { reasonId } = await save('/reason', { name: 'Cleaning' })
  const { locationId } = await save('/location', { name: 'Seaside' })
  await define(1, { subject: 'Named' })
  const variant = (subject: string, more: object) =>
    save('/emailTemplate', {
      templateName: 'Template',
      subject,
      emailBody: '<p>%APPT_DATE%</p>',
      ...more,
    })
  await variant('Deutsch', { language: 'de' })
  await variant('Service', { reasonIdList: [reasonId] })
  await variant('Seaside', { level: 'LOCATION', location: String(locationId) })
  const german = await client('Dora', { language: 'de-CH' })
  const at = clock.in({ hours: 48 })
  await book(at)
  await book(at, { clientId: german })
  await book(at, { reasonId })
  await book(at, { locationId })
  await book(at, { clientId: german, reasonId })
  await runEngine()
  const subjects = taken.map((mail) => /^Subject: (.*)$/m.exec(mail.message.headers)![1]!.trim())
  assert.deepEqual(subjects.toSorted(), ['Deutsch', 'Deutsch', 'Named', 'Seaside', 'Service'])
  assert.ok(ids.reasonId)
})

test('values cached between mails equal those in the database', async (t) => {
  const { clock, book, define, runEngine, emails, save, ids, database, businessId } =
    await mailing(t)
  const { locationId, professionalId, reasonId } = ids
  const tokens =
    '%BUSINESS_NAME%, %LOCATION_NAME%, %STAFF_FIRSTNAME%, %SERVICE_NAME%, %APPT_STATUS%'
  await define(1, { subject: tokens })
  const mailAndReadTokens = async () => {
    clock.advance({ minutes: 1 })
    await book(clock.in({ hours: 48 }))
    await runEngine()
    return String((await emails())[0]!.subject).split(', ')
  }
  const before = await mailAndReadTokens()
  assert.deepEqual(await mailAndReadTokens(), before)
  await save('/location', { locationId, name: 'Seaside' })
  assert.equal((await mailAndReadTokens())[1], 'Seaside')
  await save('/professional', { professionalId, firstName: 'Ella' })
  assert.equal((await mailAndReadTokens())[2], 'Ella')
  await save('/reason', { reasonId, name: 'Talk' })
  assert.equal((await mailAndReadTokens())[3], 'Talk')
  await save('/status', { objectType: 'CALENDAR', status: 'OPEN', label: 'Booked', live: true })
  assert.equal((await mailAndReadTokens())[4], 'Booked')
  await database.operator.query(
    sql`update business set name = 'Praxis' where business_id = ${businessId}`,
  )
  assert.deepEqual(await mailAndReadTokens(), ['Praxis', 'Seaside', 'Ella', 'Talk', 'Booked'])
})

test('mails to staff use the language of the business, not of the client', async (t) => {
  const { clock, book, define, runEngine, taken, save, client } = await mailing(t)
  await define(1, { subject: 'Named' }, { action: { recipient: { value: 'staff' } } })
  await save('/emailTemplate', {
    templateName: 'Template',
    subject: 'Deutsch',
    emailBody: '<p>Hallo</p>',
    language: 'de',
  })
  await book(clock.in({ hours: 48 }), { clientId: await client('Dora', { language: 'de' }) })
  await runEngine()
  assert.match(taken[0]!.message.headers, /^Subject: Named/m)
})

test('the calendar file of a cancelled appointment has METHOD CANCEL and a higher sequence', async (t) => {
  const { clock, book, define, runEngine, taken, save } = await mailing(t)
  await define(1, { subject: 'Booked' })
  await define(2, { templateName: 'Changed', subject: 'Changed' })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  await runEngine()
  const moved = clock.in({ hours: 72 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime: moved, endTime: moved + 3_600_000 })
  await runEngine()
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  await runEngine()
  const entries = taken.map((mail) => {
    const text = textOf(mail)
    const value = (name: string) => new RegExp(`^${name}:(.*)\\r$`, 'm').exec(text)![1]
    return { method: value('METHOD'), uid: value('UID'), sequence: Number(value('SEQUENCE')) }
  })
  assert.deepEqual(
    entries.map((entry) => entry.method),
    ['PUBLISH', 'PUBLISH', 'CANCEL'],
  )
  assert.equal(new Set(entries.map((entry) => entry.uid)).size, 1)
  const sequences = entries.map((entry) => entry.sequence)
  assert.ok(sequences[0]! < sequences[1]! && sequences[1]! < sequences[2]!, String(sequences))
})

test('emailBecause is added to both parts, escaped', async (t) => {
  const { clock, book, define, runEngine, emails, call } = await mailing(t)
  await define(1, { emailBecause: 'You booked at %BUSINESS_NAME% <here>.' })
  await book(clock.in({ hours: 48 }))
  await runEngine()
  const [mail] = await emails()
  const { html, text } = (await call('GET', `/emails/${String(mail!.emailId)}`)).body
  assert.match(html, /You booked at Praxis Grüner Baum &lt;here&gt;\.<\/p>/)
  assert.match(text, /\n\nYou booked at Praxis Grüner Baum <here>\.$/)
  const bad = await call('POST', '/emailTemplate', {
    templateName: 'x',
    subject: 'x',
    emailBody: 'x',
    emailBecause: '%NO_SUCH%',
  })
  assert.equal(bad.body.errors[0].pointer, '/emailBecause')
})
