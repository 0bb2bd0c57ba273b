import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { ask, signInAs } from '../support/callers.ts'
import { MONDAYS, openDelivery } from './open.ts'

const WEEK = { hours: 7 * 24 }

/** The path of a link in a mail. */
const linkIn = (text: string, path: string) =>
  new RegExp(`https://bellwether\\.example(${path}/\\S+)`).exec(text)![1]!

const textOf = async (message: string | null) => (await PostalMime.parse(message!)).text!

test('a reader stops a report by the link in its mail, only for themselves, and takes it back', async (t) => {
  const { addPerson, app, call, clock, listMails, runDue } = await openDelivery(t)
  const anna = await addPerson('anna', 'OWNER')
  const tom = await addPerson('tom', 'REPORTS_ONLY')
  const body = { ...MONDAYS, userIdList: [anna.userId, tom.userId] }
  const { body: saved } = await call('POST', '/reportSchedule', body)
  const read = async () => (await call('GET', `/reportSchedule/${saved.reportScheduleId}`)).body
  clock.advance(WEEK)
  await runDue()
  const [first] = await listMails()
  const message = first!.message!
  const url = linkIn(await textOf(message), '/report/stop')
  assert.match(message, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  assert.ok(message.replaceAll('\r\n ', '').includes(`<https://bellwether.example${url}>`))

  const shown = await app.inject({ url })
  assert.equal(shown.statusCode, 200)
  assert.match(
    shown.body,
    /Should <b>.+<\/b> no longer send you the report <b>Appointment list<\/b>/,
  )
  assert.deepEqual((await read()).stoppedUserIdList, [])
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = (payload: string) => app.inject({ method: 'POST', url, headers: form, payload })
  assert.match((await post('List-Unsubscribe=One-Click')).body, /You no longer get this report/)
  assert.match((await post('')).body, /You no longer get this report/)
  assert.deepEqual((await read()).stoppedUserIdList, [anna.userId])
  clock.advance(WEEK)
  await runDue()
  assert.deepEqual(
    (await listMails()).slice(2).map(({ to }) => to),
    ['tom@example.org'],
  )
  assert.equal((await read()).delivery.runs[0].status, 'COMPLETED')

  assert.match((await post('undo=yes')).body, /You get this report again/)
  clock.advance(WEEK)
  await runDue()
  assert.equal((await listMails()).length, 5)

  // Removing a person and adding them again forgets that they stopped it.
  await post('')
  const { reportScheduleId } = saved
  await call('POST', '/reportSchedule', { reportScheduleId, userIdList: [tom.userId] })
  assert.equal((await app.inject({ url })).statusCode, 404)
  await call('POST', '/reportSchedule', { reportScheduleId, userIdList: [anna.userId] })
  assert.deepEqual((await read()).stoppedUserIdList, [])
  const forged = url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  assert.equal((await app.inject({ url: forged })).statusCode, 404)
  assert.equal((await app.inject({ url: '/report/stop/1.1.u1.x' })).statusCode, 404)
})

test('a schedule that skips empty reports mails only a period in which something happened', async (t) => {
  const { addPerson, book, call, clock, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const ids = []
  for (const reportId of [101, 102]) {
    const body = { ...MONDAYS, reportId, skipIfEmpty: true, userIdList: [userId] }
    ids.push((await call('POST', '/reportSchedule', body)).body.reportScheduleId)
  }
  await book({ at: '2026-03-11T09:00+01:00' })
  clock.advance(WEEK)
  await runDue()
  assert.deepEqual(await listMails(), [])
  for (const id of ids) {
    const [run] = (await call('GET', `/reportSchedule/${id}`)).body.delivery.runs
    assert.deepEqual(
      [run.status, run.statusReason, run.recipients],
      ['SKIPPED', 'Nothing in this period.', []],
    )
  }
  clock.advance(WEEK)
  await runDue()
  assert.equal((await listMails()).length, 2)
})

test('a paused schedule does not run, and after the pause only from its next time', async (t) => {
  const { addPerson, call, clock, listMails, runDue } = await openDelivery(t)
  const { userId } = await addPerson('anna', 'OWNER')
  const saved = await call('POST', '/reportSchedule', { ...MONDAYS, userIdList: [userId] })
  const { reportScheduleId } = saved.body
  const paused = await call('POST', '/reportSchedule', { reportScheduleId, paused: true })
  assert.deepEqual([paused.body.active, paused.body.delivery.nextRunTime], [true, null])
  clock.advance({ hours: 15 * 24 })
  assert.equal(await runDue(), 0)
  await call('POST', '/reportSchedule', { reportScheduleId, paused: false })
  assert.equal(await runDue(), 0)
  clock.advance(WEEK)
  assert.equal(await runDue(), 1)
  assert.equal((await listMails()).length, 1)
})

test('an address without a login gets a link that expires, with the rights of who added it', async (t) => {
  const opened = await openDelivery(t)
  const { addPerson, app, book, call, clock, listMails, runDue } = opened
  const anna = await addPerson('anna', 'OWNER')
  const owner = await addPerson('olga', 'OWNER')
  await book({ at: '2026-03-03T09:00+01:00' })
  const addressList = ['books@accountant.example']
  const body = { ...MONDAYS, addressList, userIdList: [] }
  const refused = await call('POST', '/reportSchedule', body)
  assert.equal(refused.status, 422)
  assert.match(JSON.stringify(refused.body), /can only be changed by a signed-in person/)
  const asAnna = ask(app, { cookie: await signInAs(app, 'anna') })
  const { body: saved } = await asAnna('POST', '/reportSchedule', body)
  assert.equal(saved.linkUserId, anna.userId)

  clock.advance(WEEK)
  await runDue()
  const [mail] = await listMails()
  assert.equal(mail!.to, addressList[0])
  const { text, attachments } = await PostalMime.parse(mail!.message!)
  assert.deepEqual(attachments, [])
  assert.doesNotMatch(text!, /Appointments: 1|\/console\//)
  const url = linkIn(text!, '/report/link')
  const file = await app.inject({ url })
  assert.match(file.body, /2026-03-03/)
  const [run] = (await call('GET', `/reportSchedule/${saved.reportScheduleId}`)).body.delivery.runs
  assert.deepEqual([run.recipients[0].userId, run.recipients[0].username], [null, addressList[0]])

  // Its reader can stop it as people do.
  const stop = linkIn(text!, '/report/stop')
  assert.doesNotMatch(stop, /accountant/)
  await app.inject({ method: 'POST', url: stop })
  clock.advance(WEEK)
  await runDue()
  assert.equal((await listMails()).length, 1)
  assert.equal((await app.inject({ url })).statusCode, 410)
  await app.inject({ method: 'POST', url: stop, headers: FORM, payload: 'undo=yes' })

  // Without the rights of the person who added it there is no link, and older ones are dead.
  clock.advance(WEEK)
  await runDue()
  const second = linkIn(await textOf((await listMails())[1]!.message), '/report/link')
  assert.equal((await app.inject({ url: second })).statusCode, 200)
  await call('POST', '/user', { userId: anna.userId, role: 'USER' })
  assert.equal((await app.inject({ url: second })).statusCode, 410)
  await call('DELETE', `/user/${anna.userId}`)
  clock.advance(WEEK)
  await runDue()
  assert.equal((await listMails()).length, 2)
  const [last] = (await call('GET', `/reportSchedule/${saved.reportScheduleId}`)).body.delivery.runs
  assert.equal(last.status, 'FAILED')
  assert.match(last.statusReason, /person who added the address is not active/)

  // Removing the address revokes its links.
  const asOlga = ask(app, { cookie: await signInAs(app, 'olga') })
  const { reportScheduleId } = saved
  const change = { reportScheduleId, addressList: ['new@accountant.example'] }
  assert.equal((await asOlga('POST', '/reportSchedule', change)).body.linkUserId, owner.userId)
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
