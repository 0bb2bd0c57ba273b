import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { utils, write } from '@e965/xlsx'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { zip } from '../../src/reports/formats/zip.ts'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, shareWorld, startEngine, type Answer } from '../support/world.ts'

const enterWorld = shareWorld()
type World = Awaited<ReturnType<typeof enterWorld>>

type Query = Record<string, string | string[]>

const searchOf = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  )

const send = (
  { call }: Pick<World, 'call'>,
  query: Query,
  file: string | Buffer,
): Promise<Answer> =>
  call('POST', `/import/csv?${searchOf(query)}`, file as never, { 'content-type': 'text/csv' })

/** Sends a file that must be accepted. */
async function bring(world: Pick<World, 'call'>, query: Query, file: string | Buffer) {
  const { status, body } = await send(world, query, file)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const appointments = async ({ call }: World) =>
  (await call('GET', '/calendar?limit=200')).body.items as Record<string, unknown>[]

const clientNames = async ({ call }: World) =>
  (await call('GET', '/client')).body.items.map(
    (client: { firstName: string; lastName: string }) => `${client.firstName} ${client.lastName}`,
  )

const ALL = ['client', 'professional', 'reason', 'location']
const VISITS = [
  'Datum;Zeit;Dauer;Kunde;Leistung;Status',
  '03.05.2032;09:30;45;Keller, Anna;Massage;bestätigt',
  '04.05.2032;10:00;30;"Ben Roth <ben@example.com>";Consultation;offen',
].join('\n')

test('clients and services that do not exist are listed, and created if a person agrees', async (t) => {
  const world = await enterWorld(t)
  const tried = await bring(world, { dryRun: 'true' }, VISITS)
  assert.deepEqual(
    tried.newObjects.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`),
    ['client Anna Keller', 'client Ben Roth', 'reason Massage'],
  )
  assert.deepEqual(tried.clients, { withAddress: 1, withoutAddress: 1 })
  assert.deepEqual(tried.refused, [
    {
      line: 2,
      reason:
        'there is no client “Anna Keller”: create it, or say which one is meant; there is no service “Massage”: create it, or say which one is meant',
    },
    { line: 3, reason: 'there is no client “Ben Roth”: create it, or say which one is meant' },
  ])
  const done = await bring(world, { create: ['client', 'reason'] }, VISITS)
  assert.deepEqual(done.accepted, { reason: 1, client: 2, calendar: 2 })
  assert.deepEqual(await clientNames(world), ['Anna Müller', 'Anna Keller', 'Ben Roth'])
  const [first] = await appointments(world)
  assert.equal(new Date(first!.startTime as number).toISOString(), '2032-05-03T07:30:00.000Z')
  assert.equal(new Date(first!.endTime as number).toISOString(), '2032-05-03T08:15:00.000Z')
  assert.equal(first!.status, 'CONFIRMED')
})

test('the first rows show what can be read of them, also before new names are created', async (t) => {
  const tried = await bring(await enterWorld(t), { dryRun: 'true' }, VISITS)
  const [{ values, why }] = tried.rows
  assert.match(why, /Anna Keller/)
  assert.deepEqual(
    [new Date(values.startTime).toISOString(), values.endTime - values.startTime, values.status],
    ['2032-05-03T07:30:00.000Z', 45 * 60_000, 'CONFIRMED'],
  )
})

test('a client is chosen for a name without an address, however many clients the file names', async (t) => {
  const world = await enterWorld(t)
  const header = 'Datum;Zeit;Dauer;Kunde'
  const row = (client: string) => `03.05.2032;09:30;45;${client}`
  const others = Array.from({ length: 1_001 }, (_, i) => row(`Guest ${i} <g${i}@example.com>`))
  for (const rows of [[row('Nanni')], [...others, row('Nanni')]]) {
    const file = [header, ...rows].join('\n')
    const tried = await bring(world, { dryRun: 'true' }, file)
    assert.equal(tried.newObjects[0].name, 'Nanni')
    assert.deepEqual(tried.clients, { withAddress: rows.length - 1, withoutAddress: 1 })
    const chosen = { dryRun: 'true', match: `client:Nanni=${world.ids.clientId}` }
    const { clients, newCounts } = await bring(world, chosen, file)
    assert.equal(newCounts.client, rows.length - 1)
    assert.equal(clients.withAddress + clients.withoutAddress, rows.length)
  }
})

test('titles above the header are left out, and the answer says which row the header is', async (t) => {
  const world = await enterWorld(t)
  const [header, row] = VISITS.split('\n')
  for (const [titles, headerRow] of [
    [[], 1],
    [['Termine, Salon am See, Mai'], 2],
    [['Termine;Datum: 3.5.2032;;;;', '', 'Kunde: alle, Leistung: alle'], 4],
    [['Kunde;Status', 'alle;alle'], 3],
  ] as const) {
    const file = [...titles, header, row].join('\n')
    const tried = await bring(world, { dryRun: 'true', create: ALL }, file)
    assert.equal(tried.headerRow, headerRow, file)
    assert.deepEqual([tried.rowCount, tried.refused], [1, []])
    assert.equal(tried.rows[0].line, headerRow + 1)
  }
  const unknown = await send(world, {}, 'Praxis am See\n\nX1;X2\n1;2')
  assert.match(unknown.body.detail, /row 3 was taken as the header/)
})

test('bringing the same file twice changes nothing, also after the appointment was booked by hand', async (t) => {
  const world = await enterWorld(t)
  const { book, ids } = world
  await book(Temporal.Instant.from('2032-05-05T08:00:00Z'))
  const file = `${VISITS}\n05.05.2032;10:00;30;Anna Müller;Consultation;offen`
  const once = await bring(world, { create: ALL, events: 'none' }, file)
  assert.deepEqual(once.changes, { created: 2, changed: 0, unchanged: 1 })
  const stored = await appointments(world)
  const twice = await bring(world, { create: ALL, events: 'none' }, file)
  assert.deepEqual(twice.changes, { created: 0, changed: 0, unchanged: 3 })
  assert.deepEqual(await appointments(world), stored)
  assert.equal(stored.filter(({ clientId }) => clientId === ids.clientId).length, 1)
})

test('the number of a row is its key: a moved row moves its appointment', async (t) => {
  const world = await enterWorld(t)
  const file = (time: string) =>
    `ID,Start,End,Customer email\n17,2032-05-03 ${time},2032-05-03 18:00,anna@example.org`
  await bring(world, {}, file('09:30'))
  const moved = await bring(world, {}, file('10:30'))
  assert.deepEqual(moved.changes, { created: 0, changed: 1, unchanged: 0 })
  const [only, ...others] = await appointments(world)
  assert.deepEqual([only!.externalId, others.length], ['17', 0])
})

test('a row that names its appointment changes only what it says', async (t) => {
  const world = await enterWorld(t)
  const { professionalId } = await world.save('/professional', {
    firstName: 'Otto',
    lastName: 'Berg',
  })
  await world.book(Temporal.Instant.from('2032-05-05T08:00:00Z'), {
    externalId: 'x1',
    professionalId,
  })
  const [before] = await appointments(world)
  await bring(world, { default: 'professional=Elena García' }, 'externalId,status\nx1,bestätigt')
  const [after] = await appointments(world)
  assert.deepEqual(
    [after!.status, after!.professionalId, after!.startTime],
    ['CONFIRMED', professionalId, before!.startTime],
  )
  const unknown = await bring(world, {}, 'externalId,status\nx2,bestätigt')
  assert.match(unknown.refused[0].reason, /^names no client: .*; has no start: /)
})

test('the number of a client in another system is not the number of somebody here', async (t) => {
  const world = await enterWorld(t)
  const own = await world.save('/client', { firstName: 'Ida', lastName: 'Frei' })
  const file = `Date,Time,Duration,Client ID,Client\n2032-05-03,9:00,30,${own.clientId},Anna Keller`
  await bring(world, { create: ALL }, file)
  const [booked] = await appointments(world)
  const { body: client } = await world.call('GET', `/client/${String(booked!.clientId)}`)
  assert.deepEqual([client.lastName, client.externalId], ['Keller', String(own.clientId)])
})

test('a sum below the rows is refused alone, and asks nothing', async (t) => {
  const world = await enterWorld(t)
  await world.save('/professional', { firstName: 'Otto', lastName: 'Berg' })
  const rows = ['Datum;Zeit;Dauer;Kunde;Therapeut', '03.05.2032;9:00;30;Anna Keller;Otto Berg']
  const tried = await bring(
    world,
    { dryRun: 'true', create: ALL },
    [...rows, 'Summe;;30;'].join('\n'),
  )
  assert.deepEqual(tried.questions, [])
  assert.match(tried.refused[0].reason, /^“Summe” is not a date/)
  const other = await bring(
    world,
    { dryRun: 'true', create: ALL },
    [...rows, ';;;1 Termin;'].join('\n'),
  )
  assert.deepEqual([other.questions, other.newCounts.client], [[], 1])
  assert.equal(other.refused[0].reason, 'has no start: add a date and a time')
})

test('a number that several rows have is not their key', async (t) => {
  const world = await enterWorld(t)
  const rows = ['9:00', '10:00'].map((time) => `17,2032-05-03 ${time},30,anna@example.org`)
  const done = await bring(world, {}, ['ID,Start,Duration,Customer email', ...rows].join('\n'))
  assert.equal(done.columns[0].field, null)
  assert.equal((await appointments(world)).length, 2)
})

test('a file whose dates begin with the day in one row and the month in another is not imported', async (t) => {
  const world = await enterWorld(t)
  const rows = ['13/05/2032', '05/14/2032'].map((day) => `${day},9:00,30,anna@example.org`)
  const refused = await send(world, {}, ['Date,Time,Duration,Email', ...rows].join('\n'))
  assert.equal(refused.status, 422)
  assert.match(refused.body.detail, /The order of day and month can be read in two ways/)
  assert.deepEqual(await appointments(world), [])
})

test('a date that can be read in two ways is asked once, and nothing is imported before', async (t) => {
  const world = await enterWorld(t)
  const file = 'Date,Time,Duration,Email\n03/04/2032,9:00,30,anna@example.org'
  const tried = await bring(world, { dryRun: 'true' }, file)
  assert.deepEqual(tried.questions, [{ about: 'dates', examples: ['03/04/2032'] }])
  const refused = await send(world, {}, file)
  assert.equal(refused.status, 422)
  assert.match(refused.body.detail, /03\/04\/2032 can be read in two ways/)
  assert.deepEqual(await appointments(world), [])
  await bring(world, { dates: 'mdy' }, file)
  const [found] = await appointments(world)
  assert.match(new Date(found!.startTime as number).toISOString(), /^2032-03-04/)
  const clear = await bring(
    world,
    { dryRun: 'true' },
    `${file}\n13/04/2032,9:00,30,anna@example.org`,
  )
  assert.deepEqual([clear.questions, clear.dates], [[], 'dmy'])
})

test('equal names are asked, never guessed', async (t) => {
  const world = await enterWorld(t)
  const { save, ids } = world
  const { clientId } = await save('/client', { firstName: 'Anna', lastName: 'Müller' })
  const file = 'Start,Duration,Client\n2032-05-03 09:00,30,"Müller, Anna"'
  const tried = await bring(world, { dryRun: 'true' }, file)
  const [question] = tried.questions
  assert.deepEqual(
    [question.about, question.kind, question.name, question.rows],
    ['match', 'client', 'Anna Müller', 1],
  )
  assert.deepEqual(
    question.among.map(({ id }: { id: number }) => id),
    [ids.clientId, clientId],
  )
  assert.deepEqual(tried.refused, [
    { line: 2, reason: '2 clients are called “Anna Müller”: say which one' },
  ])
  await bring(world, { match: `client:Anna Müller=${clientId}` }, file)
  assert.deepEqual(
    (await appointments(world)).map((one) => one.clientId),
    [clientId],
  )
})

test('rows without a service ask for one if the business has several', async (t) => {
  const world = await enterWorld(t)
  await world.save('/reason', { name: 'Massage' })
  const file = 'Start,Duration,Email\n2032-05-03 09:00,30,anna@example.org'
  const tried = await bring(world, { dryRun: 'true' }, file)
  assert.deepEqual(tried.questions, [{ about: 'default', kind: 'reason', rows: 1 }])
  const done = await bring(world, { default: 'reason=massage' }, file)
  assert.deepEqual(done.accepted, { calendar: 1 })
})

test('a column of cancellations says yes, or since when in any order of dates; a fee says nothing', async (t) => {
  const world = await enterWorld(t)
  const cells = ['04/28/2032 10:00', '28/04/2032', '28.04.2032', 'x', 'no', '25.00', '45000,5', '']
  const rows = (some: string[]) =>
    some.map((cell, i) => `13/05/2032;${10 + i}:00;30;anna@example.org;${cell}`)
  const head = 'Date;Time;Duration;Email;Cancelled'
  const read = async (some: string[]) => {
    await bring(world, { events: 'none' }, [head, ...rows(some)].join('\n'))
    const byTime = (await appointments(world)).toSorted(
      (a, b) => Number(a.startTime) - Number(b.startTime),
    )
    return byTime.map(({ status }) => status)
  }
  const fees = cells.map(() => '12.50')
  assert.deepEqual(new Set(await read(fees)), new Set(['OPEN']))
  const gone = Array.from({ length: 4 }, () => 'CANCELLED')
  assert.deepEqual(await read(cells), [...gone, 'OPEN', 'OPEN', 'OPEN', 'OPEN'])
})

test('what a row lacks is said in the words of appointments only for appointments', async (t) => {
  const world = await enterWorld(t)
  const lacking = async (kind: string, file: string) => {
    const { refused } = await bring(world, { kind, dryRun: 'true' }, file)
    return refused[0].reason
  }
  assert.equal(
    await lacking('recall', 'dueTime,tags\n2032-05-03 09:00,a=b'),
    '/clientId: is required',
  )
  const lesson = await lacking('classSchedule', 'name,capacity\nYoga,7')
  assert.match(lesson, /\/startTime: is required/)
  assert.doesNotMatch(lesson, /add a date|choose one/)
})

test('a status word that is not known is asked, and can be told', async (t) => {
  const world = await enterWorld(t)
  const file = 'Start,Duration,Email,Status\n2032-05-03 09:00,30,anna@example.org,Blau'
  const tried = await bring(world, { dryRun: 'true' }, file)
  assert.deepEqual(tried.questions, [{ about: 'status', name: 'Blau', rows: 1 }])
  assert.match(tried.refused[0].reason, /the status “Blau” is not known/)
  await bring(world, { status: 'Blau=CONFIRMED' }, file)
  assert.equal((await appointments(world))[0]!.status, 'CONFIRMED')
})

test('refused rows are a file with a reason each, which can be corrected and brought again', async (t) => {
  const world = await enterWorld(t)
  const file = [
    'Start;Duration;Email;Remark',
    '2032-05-03 09:00;30;anna@example.org;"a; ""b"""',
    'soon;30;anna@example.org;first',
    '2032-05-04 09:00;30;no address;=1+1',
    '2032-05-05 09:00;long;anna@example.org;',
  ].join('\n')
  const { app, key } = world
  const answer = await app.inject({
    method: 'POST',
    url: `/import/csv?${searchOf({ dryRun: 'true', refused: 'csv' })}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv' },
    payload: file,
  })
  assert.equal(answer.statusCode, 200)
  assert.match(answer.headers['content-type'] as string, /text\/csv/)
  const rows = answer.body.replace('\ufeff', '').trim().split('\r\n')
  assert.deepEqual(rows, [
    'Start,Duration,Email,Remark,why',
    'soon,30,anna@example.org,first,“soon” is not a date or time: write it as 2026-07-01 09:30',
    `2032-05-04 09:00,30,no address,'=1+1,"“no address” is not an email address: correct it, or empty it"`,
    '2032-05-05 09:00,long,anna@example.org,,"“long” is not a duration: write minutes, such as 45"',
  ])
  const corrected = answer.body
    .replace('soon', '2032-05-06 10:00')
    .replace('no address,', 'anna@example.org,')
    .replace(',long,', ',30,')
  assert.deepEqual((await bring(world, {}, corrected)).accepted, { calendar: 3 })
})

/** A confirmation at once, and a reminder a day before. */
async function addAutomations({ businessId, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Visit',
    subject: 'Your visit',
    emailBody: '<p>See you</p>',
  })
  const eventActions = [
    { actionType: 'SEND_EMAIL', active: true, businessId, template: { emailTemplateId } },
  ]
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions }),
  )
  await save('/eventDefinition', {
    ...reminder(businessId, 0, { eventActions }),
    eventType: { eventTypeId: 1 },
  })
  return { reminderId: eventDefnId as number }
}

test('a dry run says how many reminders are planned and how many mails leave at once, none for history', async (t) => {
  const world = await enterWorld(t)
  await addAutomations(world)
  const tried = (query: Query) => bring(world, { dryRun: 'true', create: ALL, ...query }, VISITS)
  assert.deepEqual((await tried({})).planned, { triggers: 2, mailsAtOnce: 2 })
  assert.deepEqual((await tried({ events: 'none' })).planned, { triggers: 2, mailsAtOnce: 0 })
  assert.deepEqual((await world.call('GET', '/approval')).body.items, [])
})

test('an import is undone as a whole: new objects go, changed ones are as before', async (t) => {
  const world = await enterWorld(t)
  const { reminderId } = await addAutomations(world)
  const { call } = world
  const own = 'Start,Duration,Email,ID\n2032-05-03 09:00,30,anna@example.org,7'
  await bring(world, {}, own)
  const before = await appointments(world)
  const file = `${own.replace('09:00', '11:00')}\n2032-05-04 09:00,30,ben@example.com,8`
  const { fileImportId } = await bring(world, { create: ALL, fileName: 'may.csv' }, file)
  const [listed] = (await call('GET', '/import/file')).body.items
  assert.deepEqual([listed.fileName, listed.objects, listed.undoneDate], ['may.csv', 3, null])

  const undone = await call('POST', `/import/file/${fileImportId}/undo`)
  assert.deepEqual(undone.body, { undone: 3, kept: 0 })
  const after = await appointments(world)
  const essence = (items: Record<string, unknown>[]) =>
    items.map(({ externalId, startTime, endTime, status }) => ({
      externalId,
      startTime,
      endTime,
      status,
    }))
  assert.deepEqual(essence(after), essence(before))
  assert.deepEqual(await clientNames(world), ['Anna Müller'])
  const pending = `/eventTriggers?status=SCHEDULED&eventDefnId=${reminderId}`
  const { items } = (await call('GET', pending)).body
  assert.equal(items.length, 1)

  const again = await bring(world, { create: ALL }, file)
  assert.equal(again.accepted.calendar, 2)
})

test('what was changed after the import stays, and a client who has another appointment', async (t) => {
  const world = await enterWorld(t)
  const { call, save, ids } = world
  const { fileImportId } = await bring(world, { create: ALL }, VISITS)
  const [first, second] = await appointments(world)
  await save('/calendar', { calendarId: first!.calendarId, note: 'Bring the X-rays.' })
  await save('/calendar', {
    ...ids,
    clientId: second!.clientId,
    startTime: 2e12,
    endTime: 2e12 + 1,
  })
  const { body } = await call('POST', `/import/file/${fileImportId}/undo`)
  // The changed appointment with its client and service, and the client of the new one.
  assert.deepEqual(body, { undone: 1, kept: 4 })
  assert.equal((await appointments(world)).length, 2)
})

test('an import cannot be undone after a mail was sent for it, or after a day', async (t: TestContext) => {
  const world = await enterWorld(t)
  await addAutomations(world)
  const { call, clock } = world
  const sent = await bring(world, { create: ALL }, VISITS)
  const { runEngine } = startEngine(world, { mailer: scripted().mailer, captures: false })
  await runEngine()
  const refused = await call('POST', `/import/file/${sent.fileImportId}/undo`)
  assert.equal(refused.status, 409)
  assert.match(refused.body.detail, /A mail about this import was sent/)

  const file = 'Start,Duration,Email\n2032-06-03 09:00,30,anna@example.org'
  const quiet = await bring(world, { events: 'none' }, file)
  clock.advance({ hours: 25 })
  const late = await call('POST', `/import/file/${quiet.fileImportId}/undo`)
  assert.equal(late.status, 409)
  assert.match(late.body.detail, /24 hours/)
  assert.equal((await call('POST', '/import/file/999999/undo')).status, 404)
})

test('a mapping is kept by name and used for the next file', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const rows = (day: string) =>
    `Wann;Wie lange;Wer;Z\n${day}/04/2032 09:00;30;anna@example.org;Blau`
  const choices = {
    map: ['Wann=startTime', 'Wie lange=durationMinutes', 'Wer=client', 'Z=status'],
    dates: 'dmy',
    status: 'Blau=CONFIRMED',
  }
  await bring(world, { ...choices, keepAs: 'Our tool' }, rows('03'))
  const next = await bring(world, { mapping: 'Our tool' }, rows('04'))
  assert.deepEqual([next.accepted, next.questions], [{ calendar: 1 }, []])
  const { items } = (await call('GET', '/import/mapping')).body
  assert.deepEqual(
    items.map(({ name }: { name: string }) => name),
    ['Our tool'],
  )
  assert.equal((await call('DELETE', '/import/mapping/Our%20tool')).status, 200)
  const { status, body } = await send(world, { mapping: 'Our tool' }, rows('05'))
  assert.deepEqual([status, body.detail], [422, '?mapping: there is no mapping Our tool.'])
})

test('times are those of the location', async (t) => {
  const world = await enterWorld(t)
  await world.save('/location', { name: 'Lisboa', timeZone: 'Europe/Lisbon' })
  const file = 'Start,Duration,Email,Location\n2032-05-03 09:00,30,anna@example.org,lisboa'
  await bring(world, {}, file)
  const [found] = await appointments(world)
  assert.equal(new Date(found!.startTime as number).toISOString(), '2032-05-03T08:00:00.000Z')
})

test('a person without the right to change the setup creates clients, but no services', async (t) => {
  const world = await enterWorld(t)
  const { app, database, clock, businessId, ids } = world
  const { username } = await createPerson(database, clock, businessId, {
    username: 'udo',
    role: 'LOCATION_SUPER_USER',
    locationIdList: [ids.locationId],
  })
  const call = ask(app, { cookie: await signInAs(app, username) }) as never
  const { accepted, refused } = await bring({ call }, { create: ALL }, VISITS)
  assert.equal(accepted.calendar, 1)
  assert.match(
    refused[0].reason,
    /no service “Massage”\. Your role lacks the function EDIT_SETUP\.$/,
  )
})

function workbook(rows: unknown[][]) {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([['hidden']]), 'Notes')
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows, { UTC: true }), 'Visits')
  book.Workbook = { Sheets: [{ Hidden: 1 }, { Hidden: 0 }] }
  return write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer
}

test('a workbook is read with its dates, times and numbers', async (t) => {
  const world = await enterWorld(t)
  const file = workbook([
    ['Visits in May'],
    [],
    ['Nr', 'Datum', 'Zeit', 'Dauer', 'Kunde', 'Preis', 'Status'],
    [
      17,
      { t: 'd', v: new Date('2032-05-03T00:00:00Z'), z: 'dd/mm/yyyy' },
      { t: 'n', v: 9.5 / 24, z: 'h:mm' },
      { t: 'n', v: 45 },
      'Zoë & Söhne <zoe@example.com>',
      92.5,
      'bestätigt',
    ],
  ])
  const done = await bring(world, { create: ALL }, file)
  assert.deepEqual([done.format, done.accepted], ['xlsx', { client: 1, calendar: 1 }])
  const [found] = await appointments(world)
  assert.equal(new Date(found!.startTime as number).toISOString(), '2032-05-03T07:30:00.000Z')
  assert.deepEqual([found!.externalId, found!.price, found!.status], ['17', 92.5, 'CONFIRMED'])
  assert.ok((await clientNames(world)).includes('Zoë & Söhne'))
})

test('a workbook whose dates and times are plain numbers is read', async (t) => {
  const world = await enterWorld(t)
  const file = workbook([
    ['Datum', 'Uhrzeit', 'Dauer', 'Kundin'],
    [48337, 0.395833333, 45, 'Anna Keller'],
  ])
  await bring(world, { create: ALL }, file)
  const [found] = await appointments(world)
  assert.equal(new Date(found!.startTime as number).toISOString(), '2032-05-03T07:30:00.000Z')
})

const archive = (parts: Record<string, string | Iterable<string>>) =>
  buffer(
    Readable.from(
      zip(
        Object.entries(parts).map(([name, content]) => ({
          name,
          content: typeof content === 'string' ? [content] : content,
        })),
      ),
    ),
  )

const BOOK = {
  'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
}

function* repeat(text: string, times: number) {
  for (let i = 0; i < times; i += 1) yield text
}

test('a file that is no export is refused with what to do, and a bomb does not unpack', async (t) => {
  const world = await enterWorld(t)
  const mebibyte = ' '.repeat(1_048_576)
  const files: [string, Buffer, number, RegExp][] = [
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 422, /old Excel/],
    ['a PDF', Buffer.from('%PDF-1.7'), 422, /PDF/],
    ['another zip', await archive({ 'readme.txt': 'hello' }), 422, /not a workbook/],
    ['a cut zip', (await archive(BOOK)).subarray(0, 100), 422, /damaged/],
    ['a workbook without its sheet', await archive(BOOK), 422, /damaged/],
    [
      'a document type',
      await archive({
        ...BOOK,
        'xl/worksheets/sheet1.xml': '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      }),
      422,
      /damaged/,
    ],
    [
      'shared texts of 100 MiB',
      await archive({
        ...BOOK,
        'xl/sharedStrings.xml': repeat(`<si><t>${mebibyte.slice(0, 1_000_000)}</t></si>`, 105),
        'xl/worksheets/sheet1.xml': '<worksheet/>',
      }),
      413,
      /too large/,
    ],
    ['a calendar file', Buffer.from('BEGIN:VCALENDAR\r\n'), 422, /calendar file.*Feeds/],
    ['a web page', Buffer.from('\ufeff<html><table>'), 422, /web page/],
    ['JSON', Buffer.from('[{"date": "2032-05-03"}]'), 422, /JSON/],
    ['a header that says nothing', Buffer.from('a,b\n1,2\n'), 422, /No column is a property/],
    ['nothing', Buffer.from(''), 422, /empty/],
  ]
  for (const [name, file, status, detail] of files) {
    const answer = await send(world, {}, file)
    assert.equal(answer.status, status, `${name}: ${JSON.stringify(answer.body)}`)
    assert.match(answer.body.detail, detail, name)
  }
  assert.deepEqual(await appointments(world), [])
  assert.deepEqual((await world.call('GET', '/import/file')).body.items, [])
})
