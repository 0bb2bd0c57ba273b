import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import PostalMime from 'postal-mime'
import { sql } from '../../src/database/sql.ts'
import { SmtpMailer } from '../../src/email/smtp.ts'
import { forgetContents } from '../../src/store/files.ts'
import { startMailServer, type Behaviour } from '../support/mail-server.ts'
import { addBusiness, reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

const PDF = Buffer.from('%PDF-1.7\nsome pages')
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 7)])
const MISSING = 'f'.repeat(32)

type World = Awaited<ReturnType<typeof enterWorld>>

const upload = (world: World, name: string, bytes: Buffer, more: object = {}) =>
  world.call('POST', '/fileLibrary', { name, content: bytes.toString('base64'), ...more })

const saveTemplate = (world: World, attachFileLibraryUUids: string[], more: object = {}) =>
  world.call('POST', '/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
    attachFileLibraryUUids,
    ...more,
  })

const pointersOf = (body: { errors: { pointer: string }[] }) =>
  body.errors.map(({ pointer }) => pointer)

test('a file is uploaded, listed, read, renamed, deleted and restored', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const created = await upload(world, 'Prices 2027.pdf', PDF)
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { fileUUId } = created.body
  assert.equal(created.headers.location, `/fileLibrary/${fileUUId}`)
  assert.deepEqual(
    [created.body.name, created.body.type, created.body.size, created.body.createdUser],
    ['Prices 2027.pdf', 'application/pdf', PDF.length, 'key:test'],
  )
  assert.equal('content' in created.body, false)

  const read = await call('GET', `/fileLibrary/${fileUUId}`)
  assert.deepEqual(read.body, created.body)
  assert.deepEqual((await call('GET', '/fileLibrary')).body, {
    items: [created.body],
    nextCursor: null,
  })
  const content = await call('GET', `/fileLibrary/${fileUUId}/content`)
  assert.equal(content.body, PDF.toString())
  assert.equal(content.headers['content-type'], 'application/pdf')
  assert.equal(content.headers['content-disposition'], 'attachment; filename="Prices 2027.pdf"')

  const renamed = await call('POST', '/fileLibrary', { ...read.body, name: 'Preise für 2027.pdf' })
  assert.equal(renamed.status, 200, JSON.stringify(renamed.body))
  const again = await call('GET', `/fileLibrary/${fileUUId}/content`)
  assert.match(String(again.headers['content-disposition']), /filename\*=UTF-8''Preise%20f%C3%BCr/)
  const stale = await call('DELETE', `/fileLibrary/${fileUUId}`, undefined, {
    'if-match': String(created.headers.etag),
  })
  assert.equal(stale.status, 412)

  const deleted = await call('DELETE', `/fileLibrary/${fileUUId}`)
  assert.deepEqual([deleted.status, deleted.body.active], [200, false])
  assert.deepEqual((await call('GET', '/fileLibrary')).body.items, [])
  assert.equal((await call('GET', `/fileLibrary/${fileUUId}`)).body.active, false)
  const restored = await call('POST', '/fileLibrary', { fileUUId, active: true })
  assert.deepEqual([restored.status, restored.body.active], [200, true])
})

test('a file can be uploaded as raw bytes, with its name in the query', async (t) => {
  const { call } = await enterWorld(t)
  const type = { 'content-type': 'image/png' }
  const created = await call('POST', '/fileLibrary?name=Logo.png', PNG, type)
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.deepEqual([created.body.type, created.body.size], ['image/png', PNG.length])
  const repeated = { ...type, 'idempotency-key': 'one' }
  const first = await call('POST', '/fileLibrary?name=Logo.png', PNG, repeated)
  const second = await call('POST', '/fileLibrary?name=Logo.png', PNG, repeated)
  assert.equal(first.body.fileUUId, second.body.fileUUId)
  const wrong = await call('POST', '/fileLibrary?name=Logo.jpg', PNG, type)
  assert.deepEqual([wrong.status, pointersOf(wrong.body)], [422, ['/type']])
  const nameless = await call('POST', '/fileLibrary', PNG, type)
  assert.deepEqual([nameless.status, pointersOf(nameless.body)], [422, ['/name']])
  const unknown = await call('POST', '/fileLibrary?title=Logo.png', PNG, type)
  assert.deepEqual([unknown.status, pointersOf(unknown.body)], [422, ['?title']])
})

test('a file that is too large, of another type or badly named is refused with its pointer', async (t) => {
  const world = await enterWorld(t)
  const large = Buffer.concat([PDF, Buffer.alloc(5 * 1_048_576)])
  const zip = Buffer.from('PK\x03\x04 [Content_Types].xml word/document.xml', 'latin1')
  const macro = Buffer.concat([zip, Buffer.from('word/vbaProject.bin')])
  const refused: [string, Buffer, object, string][] = [
    ['big.pdf', large, {}, '/content'],
    ['run.exe', Buffer.from('MZ'), {}, '/name'],
    ['prices.pdf.exe', PDF, {}, '/name'],
    ['page.html', Buffer.from('<script>'), {}, '/name'],
    ['drawing.svg', Buffer.from('<svg/>'), {}, '/name'],
    ['../prices.pdf', PDF, {}, '/name'],
    ['prices.pdf', PNG, {}, '/content'],
    ['logo.png', PDF, {}, '/content'],
    ['photo.jpg', PNG, {}, '/content'],
    ['notes.txt', Buffer.from([0x61, 0, 0x62]), {}, '/content'],
    ['notes.txt', Buffer.from([0xff, 0xfe]), {}, '/content'],
    ['letter.docx', macro, {}, '/content'],
    ['letter.docx', PDF, {}, '/content'],
    ['prices.pdf', PDF, { type: 'image/png' }, '/type'],
    ['prices.pdf', Buffer.alloc(0), {}, '/content'],
    ['prices.pdf', PDF, { contents: 'x' }, '/contents'],
    ['prices.pdf', PDF, { businessId: world.businessId + 1 }, '/businessId'],
  ]
  for (const [name, bytes, more, pointer] of refused) {
    const { status, body } = await upload(world, name, bytes, more)
    assert.deepEqual([status, pointersOf(body)], [422, [pointer]], `${name} ${body.detail}`)
  }
  const { detail } = (await upload(world, 'big.pdf', large)).body
  assert.match(detail, /may have 5 MB, has 5\.1 MB/)
  assert.equal((await upload(world, 'letter.docx', zip)).status, 201)
  const notBase64 = await world.call('POST', '/fileLibrary', { name: 'a.pdf', content: 'ü' })
  assert.deepEqual([notBase64.status, pointersOf(notBase64.body)], [422, ['/content']])
  const huge = await upload(world, 'huge.pdf', Buffer.alloc(7 * 1_048_576))
  assert.equal(huge.status, 413)
  assert.equal((await upload(world, 'x.pdf', PDF, { fileUUId: MISSING })).status, 404)
  const changed = (await upload(world, 'x.pdf', PDF)).body.fileUUId
  const replaced = await upload(world, 'x.pdf', PDF, { fileUUId: changed })
  assert.deepEqual([replaced.status, pointersOf(replaced.body)], [422, ['/content']])
  assert.equal((await world.call('GET', '/fileLibrary')).body.items.length, 2)
})

test('a template names files that exist, up to 10 MB together', async (t) => {
  const world = await enterWorld(t)
  const big = Buffer.concat([PDF, Buffer.alloc(4 * 1_048_576)])
  const ids: string[] = []
  for (const name of ['one.pdf', 'two.pdf', 'three.pdf']) {
    ids.push((await upload(world, name, big)).body.fileUUId)
  }
  const unknown = await saveTemplate(world, [ids[0]!, MISSING])
  assert.deepEqual([unknown.status, pointersOf(unknown.body)], [422, ['/attachFileLibraryUUids/1']])
  const twice = await saveTemplate(world, [ids[0]!, ids[0]!])
  assert.deepEqual(pointersOf(twice.body), ['/attachFileLibraryUUids/1'])
  const tooMuch = await saveTemplate(world, ids)
  assert.deepEqual(pointersOf(tooMuch.body), ['/attachFileLibraryUUids'])
  assert.match(tooMuch.body.detail, /have 12\.1 MB together; a mail may have 10 MB/)

  const other = await addBusiness(world)
  const foreign = await other.call('POST', '/emailTemplate', {
    templateName: 'Theirs',
    subject: 'x',
    emailBody: 'x',
    attachFileLibraryUUids: [ids[0]],
  })
  assert.deepEqual([foreign.status, pointersOf(foreign.body)], [422, ['/attachFileLibraryUUids/0']])

  const saved = await saveTemplate(world, ids.slice(0, 2))
  assert.equal(saved.status, 201, JSON.stringify(saved.body))
  const used = await world.call('DELETE', `/fileLibrary/${ids[0]}`)
  assert.equal(used.status, 409)
  assert.match(used.body.detail, /“Reminder”/)
  const { emailTemplateId } = saved.body
  await world.call('DELETE', `/emailTemplate/${emailTemplateId}`)
  assert.equal((await world.call('DELETE', `/fileLibrary/${ids[0]}`)).status, 200)
  const revived = await world.call('POST', '/emailTemplate', { emailTemplateId, active: true })
  assert.deepEqual(pointersOf(revived.body), ['/attachFileLibraryUUids/0'])
})

test('the logo of a business is a PNG or JPEG of at most 200 KB', async (t) => {
  const world = await enterWorld(t)
  const { businessId, call } = world
  const logo = async (fileUUId: string) => call('POST', '/business', { businessId, logo: fileUUId })
  const good = (await upload(world, 'logo.png', PNG)).body.fileUUId
  const pdf = (await upload(world, 'logo.pdf', PDF)).body.fileUUId
  const large = Buffer.concat([PNG, Buffer.alloc(200 * 1_024)])
  const big = (await upload(world, 'big.png', large)).body.fileUUId
  for (const bad of [pdf, big, MISSING, 'x']) {
    const { status, body } = await logo(bad)
    assert.deepEqual([status, pointersOf(body)], [422, ['/logo']])
  }
  const saved = await logo(good)
  assert.deepEqual([saved.status, saved.body.logo], [200, good], JSON.stringify(saved.body))
  assert.equal((await call('DELETE', `/fileLibrary/${good}`)).status, 409)
  assert.equal((await call('POST', '/business', { businessId, logo: null })).body.logo, null)
  assert.equal((await call('DELETE', `/fileLibrary/${good}`)).status, 200)
})

/** A world that sends reminders over SMTP, with these files attached. */
async function startSending(
  t: TestContext,
  { names, bytes, behaviour }: { names: string[]; bytes: Buffer; behaviour?: Behaviour },
) {
  const world = await enterWorld(t)
  const server = await startMailServer(t, behaviour)
  const { host, port } = server
  const mailer = new SmtpMailer({
    host,
    port,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
  })
  t.after(() => mailer.close())
  const engine = startEngine(world, { mailer, captures: false })
  const ids: string[] = []
  for (const name of names) ids.push((await upload(world, name, bytes)).body.fileUUId)
  const { businessId, save } = world
  const { emailTemplateId } = (await saveTemplate(world, ids)).body
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  return { ...world, ...engine, server, ids, emailTemplateId }
}

test('a mail has the files of its template attached, byte for byte, and is stored without them', async (t) => {
  const bytes = Buffer.concat([PDF, Buffer.alloc(300_000, 'ü'), Buffer.from('\n.\n..\n=_file x\n')])
  const names = ['Anfahrt für alle.pdf', 'Prices.pdf']
  const world = await startSending(t, { names, bytes })
  const { book, call, clock, db, ids, server } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await world.runEngine()
  const { attachments, html, text } = await PostalMime.parse(server.taken.at(-1)!.bytes)
  assert.deepEqual(
    attachments.map(({ filename, mimeType }) => [filename, mimeType]),
    [
      [attachments[0]!.filename, 'text/calendar'],
      ...names.map((name) => [name, 'application/pdf']),
    ],
  )
  for (const { content } of attachments.slice(1)) {
    assert.ok(bytes.equals(Buffer.from(content as ArrayBuffer)))
  }
  assert.match(html ?? '', /Tomorrow/)
  assert.match(text ?? '', /Tomorrow/)

  const [stored] = await db.query<{ size: number }>(
    sql`select length(message) as size from email where object_id = ${calendarId}`,
  )
  assert.ok(stored!.size < 1_000, `${stored!.size} bytes`)
  const [{ emailId }] = (await call('GET', `/emails/calendar/${calendarId}`)).body
  const whole = (await call('GET', `/emails/${emailId}`)).body
  assert.deepEqual(
    whole.attachments,
    ids.map((fileUUId, i) => ({
      fileUUId,
      name: names[i],
      type: 'application/pdf',
      size: bytes.length,
    })),
  )
  assert.match(whole.html, /Tomorrow/)
  const about = { objectType: 'CALENDAR', objectId: calendarId }
  const preview = await call('POST', `/emailTemplate/${world.emailTemplateId}/preview`, about)
  assert.deepEqual(preview.body.attachments, whole.attachments)
})

test('a queued mail is sent with a file that was deleted meanwhile; later it cannot be sent again', async (t) => {
  const behaviour: Behaviour = { at: 'end', act: { reply: '451 later\r\n' } }
  const world = await startSending(t, { names: ['Prices.pdf'], bytes: PDF, behaviour })
  const { book, call, clock, database, emailTemplateId, ids, server } = world
  await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await world.runEngine()
  assert.equal(server.taken.length, 0)
  await call('POST', '/emailTemplate', { emailTemplateId, attachFileLibraryUUids: [] })
  assert.equal((await call('DELETE', `/fileLibrary/${ids[0]}`)).status, 200)
  clock.advance({ minutes: 5 })
  await forgetContents(database.engine, clock.now(), 10)
  await world.runEngine()
  const { attachments } = await PostalMime.parse(server.taken.at(-1)!.bytes)
  assert.equal(attachments.at(-1)!.filename, 'Prices.pdf')

  const [{ emailId }] = (await call('GET', '/emails')).body.items
  assert.equal((await call('POST', `/emails/${emailId}/resend`)).status, 201)
  await world.runEngine()
  assert.equal(await forgetContents(database.engine, clock.now(), 10), 1)
  assert.equal((await call('POST', `/emails/${emailId}/resend`)).status, 409)
  assert.equal((await call('GET', `/fileLibrary/${ids[0]}/content`)).status, 404)
  const revived = await call('POST', '/fileLibrary', { fileUUId: ids[0], active: true })
  assert.equal(revived.status, 409)
})
