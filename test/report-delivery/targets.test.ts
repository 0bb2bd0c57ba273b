import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { checkIn, holdByHand, releaseHold } from '../../src/automation/restored.ts'
import { createTargetLoop } from '../../src/report-delivery/check-targets.ts'
import { sql } from '../../src/database/sql.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { wordsOf } from '../../src/reports/words.ts'
import { openDelivery } from './open.ts'

const MAILED = { name: 'Bellwether', address: 'no-reply@localhost' }

/** The clock of these tests begins in March 2026. */
async function open(t: TestContext) {
  const delivery = await openDelivery(t)
  const { clock, database, addPerson, db, businessId } = delivery
  const anna = await addPerson('anna', 'OWNER')
  const loop = createTargetLoop({
    database,
    now: () => clock.now(),
    random: randomBytes,
    leaseSeconds: 10,
    publicUrl: 'https://bellwether.example',
    mailFrom: MAILED,
    host: 'localhost',
    onError: (error) => assert.fail(String(error)),
  })
  const check = async () => {
    while ((await loop.runOnce()) > 0);
  }
  const noShows = {
    reportId: 102,
    kpi: 'noShowRate',
    direction: 'ABOVE',
    value: 8,
    range: 'LAST_30_DAYS',
    userIdList: [anna.userId],
  }
  const setStatus = (calendarId: number, status: string) =>
    db.query(sql`
      update calendar set status = ${status} where business_id = ${businessId} and calendar_id = ${calendarId}`)
  const readText = async ({ emailId }: { emailId: number }): Promise<string> =>
    (await delivery.call('GET', `/emails/${emailId}`)).body.text
  return { ...delivery, anna, check, noShows, readText, setStatus }
}

test('a target sends one mail when it is crossed, with the entries behind it, and another after it was back', async (t) => {
  const { book, call, check, clock, listMails, noShows, readText, setStatus } = await open(t)
  const daysAgo = (days: number) =>
    clock
      .now()
      .subtract({ hours: 24 * days })
      .toString()
  for (let day = 2; day < 12; day++) await book({ at: daysAgo(day) })
  const { status, body } = await call('POST', '/reportTarget', noShows)
  assert.equal(status, 201, JSON.stringify(body))
  await check()
  assert.deepEqual(await listMails(), [])
  const path = `/reportTarget/${body.reportTargetId}`
  const stateOf = async () => (await call('GET', path)).body.state
  assert.deepEqual([(await stateOf()).lastValue, (await stateOf()).crossedTime], [0, null])

  const missed = await book({ at: daysAgo(3), status: 'NO_SHOW' })
  await check()
  assert.deepEqual(await listMails(), [], 'it is checked once an hour')
  clock.advance({ hours: 1 })
  await check()
  const [mail] = await listMails()
  assert.equal(mail!.to, 'anna@example.org')
  const text = await readText(mail!)
  assert.equal(mail!.subject, 'No-show rate above 8.0 %: 9.1 %')
  assert.match(text, /No-show rate is 9\.1 %, above 8\.0 %/)
  const day = clock.now().subtract({ hours: 73 }).toZonedDateTimeISO('Europe/Zurich').toPlainDate()
  assert.match(
    text,
    new RegExp(`${wordsOf('en').writeDate(String(day))}, \\d\\d:\\d\\d · Elena García · Zürich`),
  )
  assert.doesNotMatch(text, /Müller/, 'it names no client')
  assert.match(text, /https:\/\/bellwether\.example\/console\/reports\/102\?from=/)

  clock.advance({ hours: 5 })
  await check()
  assert.equal((await listMails()).length, 1, 'one mail for one crossing')
  await setStatus(missed, 'COMPLETED')
  clock.advance({ hours: 1 })
  await check()
  assert.equal((await stateOf()).crossedTime, null)
  await setStatus(missed, 'NO_SHOW')
  clock.advance({ hours: 1 })
  await check()
  assert.equal((await listMails()).length, 2)
})

test('the mail of a target lists the newest entries, the newest first', async (t) => {
  const { book, call, check, clock, listMails, noShows, readText } = await open(t)
  const missedAgo = (days: number) => clock.now().subtract({ hours: 24 * days })
  for (let days = 2; days <= 22; days++)
    await book({ at: missedAgo(days).toString(), status: 'NO_SHOW' })
  await call('POST', '/reportTarget', noShows)
  await check()
  const [mail] = await listMails()
  const text = await readText(mail!)
  const placeOf = (days: number) => {
    const day = missedAgo(days).toZonedDateTimeISO('Europe/Zurich').toPlainDate()
    return text.indexOf(`\n${wordsOf('en').writeDate(String(day))}, `)
  }
  assert.ok(placeOf(2) > 0 && placeOf(2) < placeOf(21), text)
  assert.equal(placeOf(22), -1)
  assert.match(text, /^The newest 20 of 21 entries behind it:$/m)
})

test('a paused target is not checked, and the link in its mail keeps location and filters', async (t) => {
  const { book, call, check, clock, elena, listMails, noShows, readText, zurich } = await open(t)
  const at = clock.now().subtract({ hours: 48 }).toString()
  await book({ at, status: 'NO_SHOW', locationId: zurich, professionalId: elena })
  const filters = { professionalIdList: [elena] }
  const wanted = { ...noShows, locationId: zurich, filters, paused: true }
  const { body } = await call('POST', '/reportTarget', wanted)
  assert.equal(body.paused, true)
  await check()
  assert.deepEqual(await listMails(), [])
  await call('POST', '/reportTarget', { reportTargetId: body.reportTargetId, paused: false })
  await check()
  const [mail] = await listMails()
  assert.match(await readText(mail!), new RegExp(`&location=${zurich}&staff=${elena}\\b`))
})

test('only an owner sets targets, and bad ones name their faults', async (t) => {
  const { addPerson, call, noShows } = await open(t)
  const tom = await addPerson('tom', 'USER')
  const faults = async (body: object) => {
    const answer = await call('POST', '/reportTarget', { ...noShows, ...body })
    assert.equal(answer.status, 422, JSON.stringify(answer.body))
    return answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  assert.deepEqual(await faults({ kpi: 'nothing' }), ['/kpi'])
  assert.deepEqual(await faults({ reportId: 999 }), ['/reportId'])
  assert.deepEqual(await faults({ userIdList: [tom.userId] }), ['/userIdList/0'])
  assert.deepEqual(await faults({ currency: 'CHF' }), ['/currency'])
  assert.deepEqual(await faults({ value: '8' }), ['/value'])
  assert.deepEqual((await call('GET', '/reportTarget')).body.items, [])
})

test('a target on an amount names its currency, below as well, and a deleted one is not checked', async (t) => {
  const { book, call, check, clock, listMails, noShows, readText } = await open(t)
  await book({ at: clock.now().subtract({ hours: 48 }).toString() })
  const revenue = { ...noShows, kpi: 'revenue', direction: 'BELOW', value: 100, name: 'Too little' }
  const { body } = await call('POST', '/reportTarget', revenue)
  await check()
  const [mail] = await listMails()
  assert.equal(mail!.subject, 'Too little')
  const text = await readText(mail!)
  assert.match(text, /Revenue is CHF\s80\.50, below CHF\s100\.00/)
  const deleted = await call('DELETE', `/reportTarget/${body.reportTargetId}`)
  assert.deepEqual([deleted.status, deleted.body.active], [200, false])
  assert.deepEqual((await call('GET', '/reportTarget')).body.items, [])
})

test('a held database checks no target, and a release lets it', async (t) => {
  const { book, call, check, clock, database, listMails, noShows, setStatus } = await open(t)
  const missed = await book({ at: clock.now().subtract({ hours: 72 }).toString() })
  await call('POST', '/reportTarget', noShows)
  await check()
  await setStatus(missed, 'NO_SHOW')
  await checkIn(database.operator, { lastSeen: undefined, folder: undefined })
  await holdByHand(database.operator, clock.now())
  clock.advance({ hours: 1 })
  await check()
  assert.deepEqual(await listMails(), [])
  const by = { user: 'OPERATOR', now: clock.now() }
  await database.operator.transaction((tx) => releaseHold(tx, 'SEND', by))
  await check()
  assert.equal((await listMails()).length, 1)
})

test('a target that was checked while the clock was ahead is checked again within an hour', async (t) => {
  const { book, call, check, clock, database, listMails, noShows, setStatus } = await open(t)
  const missed = await book({ at: clock.now().subtract({ hours: 72 }).toString() })
  await call('POST', '/reportTarget', noShows)
  clock.advance({ hours: 12 })
  await check()
  clock.advance({ hours: -12 })
  const setBack = { stepMs: 12 * 3_600_000, now: clock.now(), leaseSeconds: 15 }
  await correctStoredTimes(database.engine, setBack)
  await setStatus(missed, 'NO_SHOW')
  clock.advance({ hours: 1 })
  await check()
  assert.equal((await listMails()).length, 1)
})
