import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectKind } from '../../src/contract/objects.ts'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { suppress } from '../../src/store/suppressions.ts'
import { runCommand } from '../support/command.ts'
import { findLeftovers } from '../support/leftovers.ts'
import { asOwner, urlOf } from '../support/owner.ts'
import { addBusiness, reminder, startEngine, startWorld } from '../support/world.ts'

/** Values that no row of any table may contain after the client is erased. */
const CANARIES = {
  firstName: 'Canarina',
  lastName: 'Gelbfeder',
  olderName: 'Rotkehlchen',
  emailAddress: 'canarina@gelbfeder.example',
  olderAddress: 'before@gelbfeder.example',
  phone: '+41 44 555 01 99',
  note: 'canary secret diagnosis',
  changeNote: 'canary excuse',
  tag: 'canary-tag-value',
  externalId: 'canary-external-id',
  answerNote: 'canary answer to a question',
  classNote: 'canary reason of a student',
  latestClassNote: 'canary second reason of a student',
  signedName: 'Canarina Signature',
  feedTitle: 'Canary lesson of a feed',
  sampleTitle: 'Canary sample of a dry run',
}
const canaries = Object.values(CANARIES)

/** Stores the previous values in the audit entries, as older versions did. */
const writeOldAudit = (database: Database, calendarId: number) =>
  asOwner(
    database,
    `update audit a set before = e.before from audit_entry e
     where (e.business_id, e.audit_id) = (a.business_id, a.audit_id)
       and a.object = 'calendar' and a.id = '${calendarId}'`,
  )

/** What the answers of students by their links store. */
const storeAnswers = (database: Database, classScheduleId: number, notes: [number, string][]) => {
  const answers = notes.map(([clientId, note]) => ({
    clientId,
    answer: 'CANCELLED',
    time: 1,
    note,
  }))
  return asOwner(
    database,
    `update class_schedule set answers = '${JSON.stringify(answers)}'
     where class_schedule_id = ${classScheduleId}`,
  )
}

/** A student gives up the place and says why; staff get a mail with the name and the reason. */
async function answerByStudent(
  { save, businessId, database, ids }: Awaited<ReturnType<typeof startWorld>>,
  { classScheduleId, clientId }: { classScheduleId: number; clientId: number },
) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Student answered',
    subject: '%ANSWER_CLIENT% %ANSWER%: %ANSWER_NOTE%',
    emailBody: '<p>%ANSWER_NOTE%</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', {
    ...reminder(businessId, 0, { eventType: { eventTypeId: 5 }, objectType: 'CLASS_SCHEDULE' }),
    changes: ['STUDENTS'],
    eventActions: [{ ...action, recipient: { value: 'staff' } }],
  })
  const { professionalId } = ids
  await save('/professional', { professionalId, emailAddress: 'elena@example.org' })
  await storeAnswers(database, classScheduleId, [[clientId, CANARIES.classNote]])
  await save('/classSchedule', { classScheduleId, clientIdList: [ids.clientId] })
}

test('erase-client overwrites all personal data, and counts stay the same', async (t) => {
  const world = await startWorld(t)
  const { businessId, call, save, book, clock, database, db, ids } = world
  const { runEngine } = startEngine(world)
  const url = await urlOf(database)
  const template = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'For %CLIENT_FULLNAME%',
    emailBody: '<p>%CLIENT_FULLNAME%: %APPOINTMENT_NOTE%</p>',
  })
  for (const recipient of ['client', 'staff']) {
    await save('/eventDefinition', {
      ...reminder(businessId, 0, { eventType: { eventTypeId: 1 } }),
      eventActions: [
        {
          actionType: 'SEND_EMAIL',
          active: true,
          businessId,
          emailTemplateId: template.emailTemplateId,
          recipient: { value: recipient },
        },
      ],
    })
  }
  const { firstName, olderName, emailAddress, phone, tag, note, changeNote, externalId } = CANARIES
  const tags = { secret: [tag] }
  const answer = await call(
    'POST',
    '/client',
    {
      firstName,
      lastName: olderName,
      emailAddress: CANARIES.olderAddress,
      phone,
      tags,
      externalId,
    },
    { 'idempotency-key': 'one' },
  )
  const { clientId } = answer.body
  await save('/client', { clientId, lastName: CANARIES.lastName, emailAddress })
  const { calendarId } = await book(clock.in({ hours: 50 }), {
    clientId,
    note,
    changeNote,
    tags,
    externalId,
  })
  // Two appointments that now belong to another client; an older version wrote the audit of one.
  const reassigned = await book(clock.in({ hours: 60 }), { clientId, note })
  const older = await book(clock.in({ hours: 70 }), { clientId, note })
  for (const { calendarId } of [reassigned, older]) {
    await save('/calendar', { calendarId, clientId: ids.clientId })
    await save('/calendar', { calendarId, status: 'CONFIRMED' })
    await save('/calendar', { calendarId, note: 'new' })
  }
  await writeOldAudit(database, older.calendarId)
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Form' })
  await save('/invitation', { invitationCampaignId, clientId, tags, externalId })
  await save('/recall', {
    clientId,
    dueTime: clock.in({ hours: 9 }).epochMilliseconds,
    tags,
    externalId,
  })
  await save('/disclaimer', { disclaimerFormId, clientId, calendarId, tags, externalId })
  const yoga = {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime: clock.in({ hours: 5 }).epochMilliseconds,
    endTime: clock.in({ hours: 6 }).epochMilliseconds,
    clientIdList: [clientId, ids.clientId],
  }
  const { classScheduleId } = await save('/classSchedule', yoga)
  await asOwner(
    database,
    `update calendar set answer_note = '${CANARIES.answerNote}' where calendar_id = ${calendarId};
     update disclaimer set signed_name = '${CANARIES.signedName}' where client_id = ${clientId};
     insert into feed (business_id, name, source, mode, connection, defaults, rules, status_map, horizon_days,
       history_days, several_clients, clients_without_address, created_date, created_user, modified_date, modified_user)
     values (${businessId}, 'Old calendar', 'INLET', 'LIVE', '{}', '{}', '[]', '{}', 90, 7, 'HOLD', 'SKIP',
             now(), 'T', now(), 'T');
     insert into feed_match (business_id, feed_id, kind, match_key, name, object_id, made_by, applied,
       modified_date, modified_user)
     select business_id, feed_id, 'client', '${emailAddress}', '${firstName}', ${clientId}, 'ADDRESS',
            '{"phone": "${phone}"}', now(), 'T' from feed;
     insert into feed_entry (business_id, feed_id, entry_key, resource_key, state, title, source, applied,
       decisions, person_keys, changed_time)
     select business_id, feed_id, 'e1', 'r1', 'MIRRORED', '${CANARIES.feedTitle}', '{"name": "${firstName}"}',
            '{}', '[]', '{${emailAddress}}', now() from feed;
     insert into feed_run (business_id, feed_id, kind, status, result, started_time, started_user)
     select business_id, feed_id, 'DRY_RUN', 'DONE',
            '{"counts": {"entries": 1}, "samples": [{"title": "${CANARIES.sampleTitle}"}]}', now(), 'T' from feed`,
  )
  await answerByStudent(world, { classScheduleId, clientId })
  await runEngine()
  const { body: data } = await call('GET', `/client/${clientId}/data`)
  assert.equal(data.feedMatch[0].name, firstName)
  assert.equal(data.feedEntry[0].title, CANARIES.feedTitle)
  assert.equal(data.disclaimer[0].signedName, CANARIES.signedName)
  assert.equal(
    data.calendar.find((one: { answerNote: string }) => one.answerNote)?.answerNote,
    CANARIES.answerNote,
  )
  assert.equal(data.classSchedule[0].answer.note, CANARIES.classNote)
  await storeAnswers(database, classScheduleId, [
    [clientId, CANARIES.latestClassNote],
    [ids.clientId!, 'No'],
  ])
  const { body: copy } = await call('GET', `/client/${ids.clientId}/data`)
  assert.equal(copy.classSchedule[0].answer.note, 'No')
  await save('/classSchedule', { classScheduleId, clientIdList: [clientId, ids.clientId] })
  await runEngine()
  // A pending reminder whose last attempt failed.
  await save('/eventDefinition', reminder(businessId, -24))
  await asOwner(
    database,
    `update pending_trigger set last_error = 'no mail to ${emailAddress}' where object_id = ${calendarId}`,
  )
  await suppress(
    db,
    [{ businessId, emailAddress, reason: 'BOUNCED', detail: `550 no ${emailAddress}` }],
    { user: 'SYSTEM', now: clock.now() },
  )
  await db.query(sql`
    update email set attempts = jsonb_build_array(jsonb_build_object('phase', 'RCPT', 'reply', ${`550 <${emailAddress}>`}::text)),
           status_reason = ${`550 <${emailAddress}>`} where client_id = ${clientId}`)
  const mails = await db.query<{ emailId: number }>(sql`select email_id as "emailId" from email`)
  assert.ok(mails.length >= 3)
  assert.ok((await findLeftovers(database, canaries)).length > 15)
  const counts = () =>
    db.query(sql`
      select (select count(*) from client) as clients, (select count(*) from calendar) as appointments,
             (select count(*) from email) as emails, (select count(*) from any_trigger) as triggers,
             (select count(*) from suppression) as suppressions, (select count(*) from recall) as recalls`)
  const before = await counts()

  const { code, stdout, stderr } = await runCommand(['erase-client', String(clientId)], {
    DATABASE_URL: url,
  })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Erased client \d+\. Also overwritten: .*1 calendar, .*audit\.\n$/)
  assert.deepEqual(await findLeftovers(database, canaries), [])
  assert.deepEqual(await counts(), before)

  const { body: client } = await call('GET', `/client/${clientId}`)
  const properties = Object.keys(objectKind('client')!.fields)
  assert.deepEqual(
    Object.fromEntries(properties.map((property) => [property, client[property]])),
    {
      firstName: 'Erased',
      lastName: 'client',
      emailAddress: null,
      phone: null,
      timeZone: null,
      language: null,
      tags: {},
    },
    'a new property of clients must be erased too',
  )
  const { body: appointment } = await call('GET', `/calendar/${calendarId}`)
  assert.deepEqual(
    [appointment.clientId, appointment.note, appointment.status],
    [clientId, null, 'OPEN'],
  )
  const { body: other } = await call('GET', `/calendar/${reassigned.calendarId}`)
  assert.equal(other.note, 'new', 'data of another client stays')
  const { body: lesson } = await call('GET', `/classSchedule/${classScheduleId}`)
  assert.deepEqual(
    lesson.answers.map(({ note }: { note: string }) => note),
    [null, 'No'],
  )
  const { body: audit } = await call('GET', `/audit?object=client&id=${clientId}`)
  assert.equal(audit.items[0].user, 'OPERATOR')
  assert.ok(audit.items.length >= 3)
})

test('queued emails to an erased client are not sent', async (t) => {
  const world = await startWorld(t)
  const { db, businessId, database, clock, ids } = world
  await db.query(sql`
    insert into email (business_id, client_id, recipient_key, to_address, from_address, subject, html,
                       message_id, status, next_attempt_time, created_date)
    values (${businessId}, ${ids.clientId}, 'client', 'anna@example.org', 'x@example.org', 'Anna', 'Anna',
            'id', 'RETRYING', ${clock.now()}, ${clock.now()})`)
  await db.query(sql`
    insert into email_queue (business_id, email_id, next_attempt_time, status, created_date, useful_until)
    select business_id, email_id, next_attempt_time, status, created_date, next_attempt_time from email`)
  const settings = { DATABASE_URL: await urlOf(database) }
  await runCommand(['erase-client', String(ids.clientId)], settings)
  const [mail] = await db.query(sql`select status, to_address as "to", html from email`)
  assert.deepEqual(mail, { status: 'CANCELLED', to: 'erased@erased.invalid', html: null })
  assert.deepEqual(await db.query(sql`select from email_queue`), [])
})

test('the suppression of an address stays if another client has the address too', async (t) => {
  const world = await startWorld(t)
  const { db, businessId, database, clock, ids, save } = world
  await save('/client', {
    firstName: 'Child',
    lastName: 'Müller',
    emailAddress: 'ANNA@example.org',
  })
  const by = { user: 'SYSTEM', now: clock.now() }
  const one = { businessId, reason: 'UNSUBSCRIBED', detail: null } as const
  await suppress(db, [{ ...one, emailAddress: 'anna@example.org' }], by)
  await runCommand(['erase-client', String(ids.clientId)], { DATABASE_URL: await urlOf(database) })
  const [row] = await db.query(sql`select email_address as address from suppression`)
  assert.deepEqual(row, { address: 'anna@example.org' })
})

test('erase-client refuses an unknown client and one of another business', async (t) => {
  const world = await startWorld(t)
  const other = await addBusiness(world)
  const settings = { DATABASE_URL: await urlOf(world.database) }
  const mine = ['--business', String(world.businessId)]
  for (const words of [
    ['erase-client', '999999', ...mine],
    ['erase-client', String(other.ids.clientId), ...mine],
    ['erase-client', 'anna', ...mine],
    ['erase-client', String(world.ids.clientId)],
    ['erase-client'],
  ]) {
    const { code, stdout, stderr } = await runCommand(words, settings)
    assert.equal(code, 2, words.join(' '))
    assert.equal(stdout, '')
    assert.equal(stderr.trim().split('\n').length, 1)
  }
  const { body } = await other.call('GET', `/client/${other.ids.clientId}`)
  assert.equal(body.firstName, 'Anna')
})
