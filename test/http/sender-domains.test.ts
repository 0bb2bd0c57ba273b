import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { authenticate } from 'mailauth'
import PostalMime from 'postal-mime'
import { dkimSigner } from '../../src/email/dkim.ts'
import { SmtpMailer } from '../../src/email/smtp.ts'
import { ask, createPerson, OPERATOR_KEY, signInAs } from '../support/callers.ts'
import { startMailServer } from '../support/mail-server.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

const enterWorld = shareWorld({
  ADMIN_API_KEY: OPERATOR_KEY,
  MAIL_FROM: 'Operator <mail@operator.example>',
})

/** A world that sends mail over SMTP, DKIM-signed as operator.example. */
async function startWithMailServer(t: TestContext) {
  const world = await enterWorld(t)
  const server = await startMailServer(t)
  const { host, port } = server
  const mailer = new SmtpMailer(
    { host, port, secure: false, requireTls: false, user: null, password: null },
    { dkim: [dkimSigner('operator.example', 'one', PEM)] },
  )
  t.after(() => mailer.close())
  const mailFrom = { name: 'Operator', address: 'mail@operator.example' }
  const { runEngine } = startEngine(world, { mailer, captures: false, mailFrom })
  const operator = ask(world.app, { authorization: `Bearer ${OPERATOR_KEY}` })
  const allow = async (senderDomains: string[] | null) => {
    const { businessId } = world
    const saved = await operator('POST', '/business', { businessId, senderDomains })
    assert.equal(saved.status, 200, JSON.stringify(saved.body))
    return saved.body.senderDomains
  }
  /** The last mail that the server accepted, read by an independent parser. */
  const lastMail = async () => {
    const { from: envelope, bytes } = server.taken.at(-1)!
    const { from, replyTo } = await PostalMime.parse(bytes)
    return {
      envelope,
      from: `${from?.name} <${from?.address}>`,
      replyTo: replyTo?.map(({ name, address }) => `${name} <${address}>`).join() ?? null,
      isSigned: /^DKIM-Signature: /m.test(bytes),
    }
  }
  /** The signatures of the last mail, checked with the keys that the business is told to publish. */
  const checkSignatures = async () => {
    const { items } = (await world.call('GET', '/senderDomain')).body
    const published = new Map<string, string>(
      items.flatMap(({ dnsRecords }: { dnsRecords: { name: string; value: string }[] }) =>
        dnsRecords.map(({ name, value }) => [name, value]),
      ),
    )
    const { dkim } = await authenticate(Buffer.from(server.taken.at(-1)!.bytes), {
      resolver: async (name) => {
        const value = published.get(name)
        if (value === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
        return [[value]] as unknown as string[]
      },
    })
    return dkim.results.map(({ signingDomain, status }) => `${signingDomain} ${status.result}`)
  }
  /** Sends a reminder from a template with these fields. */
  const send = async (fields: object) => {
    const { businessId, clock, save } = world
    const { emailTemplateId } = await save('/emailTemplate', {
      templateName: `Reminder ${server.taken.length}`,
      subject: 'See you',
      emailBody: '<p>Tomorrow</p>',
      ...fields,
    })
    const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
    const definition = reminder(businessId, -24, { eventActions: [action] })
    const { eventDefnId } = await save('/eventDefinition', definition)
    const booked = await world.book(clock.in({ hours: 48 }))
    clock.advance({ hours: 24 })
    const before = server.taken.length
    await runEngine()
    assert.equal(server.taken.length, before + 1)
    await save('/eventDefinition', { ...definition, eventDefnId, active: false })
    return { booked, emailTemplateId, mail: await lastMail() }
  }
  return { ...world, server, operator, allow, send, lastMail, checkSignatures, runEngine }
}

const ENVELOPE = 'mail@operator.example'
const NAME = 'Praxis Grüner Baum'

test('only the operator sets the sender domains of a business', async (t) => {
  const world = await startWithMailServer(t)
  const { app, database, clock, businessId, call, allow } = world
  await createPerson(database, clock, businessId, { username: 'olga', role: 'OWNER' })
  const owner = ask(app, { cookie: await signInAs(app, 'olga') })
  for (const caller of [owner, call]) {
    const refused = await caller('POST', '/business', { businessId, senderDomains: ['a.example'] })
    assert.equal(refused.status, 422)
    assert.deepEqual(refused.body.errors, [
      { pointer: '/senderDomains', detail: 'is the operator’s to change' },
    ])
  }
  assert.deepEqual(await allow(['Clinic.example', 'clinic.example', 'bücher.example']), [
    'clinic.example',
    'xn--bcher-kva.example',
  ])
  const own = (await owner('GET', `/business/${businessId}`)).body
  const renamed = await owner('POST', '/business', { ...own, name: 'Other' })
  assert.deepEqual([renamed.status, renamed.body.name], [200, 'Other'])
  assert.deepEqual(renamed.body.senderDomains, own.senderDomains)
  const cleared = await owner('POST', '/business', { businessId, senderDomains: null })
  assert.equal(cleared.status, 422)
  assert.deepEqual(await allow(null), [])
})

test('an import does not set sender domains', async (t) => {
  const world = await startWithMailServer(t)
  const { app, key, businessId, call } = world
  const line = { kind: 'business', name: 'Other', senderDomains: ['operator.example'] }
  await app.inject({
    method: 'POST',
    url: '/import',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    payload: `${JSON.stringify(line)}\n`,
  })
  assert.deepEqual((await call('GET', `/business/${businessId}`)).body.senderDomains, [])
})

test('a sender domain that is not a domain name is refused with its pointer', async (t) => {
  const { operator, businessId } = await startWithMailServer(t)
  const bad = ['', 'a b', 'a@b.example', '.example', '*.example', 'a..b', '1.2.3.4', 7, null]
  const senderDomains = ['good.example', ...bad]
  const { status, body } = await operator('POST', '/business', { businessId, senderDomains })
  assert.equal(status, 422)
  assert.deepEqual(
    body.errors.map(({ pointer }: { pointer: string }) => pointer),
    bad.map((_, i) => `/senderDomains/${i + 1}`),
  )
  const many = Array.from({ length: 101 }, (_, i) => `d${i}.example`)
  assert.equal(
    (await operator('POST', '/business', { businessId, senderDomains: many })).status,
    422,
  )
  const text = { businessId, senderDomains: 'a.example' }
  assert.equal((await operator('POST', '/business', text)).status, 422)
})

test('a business cannot send from the operator’s domain, or from any domain that is not allowed for it', async (t) => {
  const { allow, send } = await startWithMailServer(t)
  const ceo = await send({ fromAddress: 'ceo@operator.example', fromName: 'The CEO' })
  assert.deepEqual(ceo.mail, {
    envelope: ENVELOPE,
    from: 'The CEO <mail@operator.example>',
    replyTo: 'The CEO <ceo@operator.example>',
    isSigned: true,
  })
  const replaced = {
    envelope: ENVELOPE,
    from: `${NAME} <mail@operator.example>`,
    replyTo: ' <hello@clinic.example>',
    isSigned: true,
  }
  assert.deepEqual((await send({ fromAddress: 'hello@clinic.example' })).mail, replaced)
  await allow(['sub.clinic.example', 'inic.example'])
  assert.deepEqual((await send({ fromAddress: 'hello@clinic.example' })).mail, replaced)
})

test('a mail from an allowed domain keeps the template’s sender, and the keys of that domain sign it', async (t) => {
  const { allow, checkSignatures, send } = await startWithMailServer(t)
  await allow(['clinic.example', 'praxis.operator.example'])
  const own = await send({ fromAddress: 'hello@Clinic.example', fromName: 'Dr. Anna' })
  assert.deepEqual(own.mail, {
    envelope: ENVELOPE,
    from: 'Dr. Anna <hello@clinic.example>',
    replyTo: null,
    isSigned: true,
  })
  assert.deepEqual(await checkSignatures(), Array<string>(2).fill('clinic.example pass'))
  const unnamed = await send({ fromAddress: 'hello@clinic.example' })
  assert.equal(unnamed.mail.from, `${NAME} <hello@clinic.example>`)
  const subdomain = await send({ fromAddress: 'hello@praxis.operator.example', fromName: 'Us' })
  assert.deepEqual(subdomain.mail, {
    envelope: ENVELOPE,
    from: 'Us <hello@praxis.operator.example>',
    replyTo: null,
    isSigned: true,
  })
  assert.deepEqual(await checkSignatures(), [
    ...Array<string>(2).fill('praxis.operator.example pass'),
    'operator.example neutral', // its key is not among those of the business
  ])
})

test('replies go to the template’s address, else the refused sender, else the business', async (t) => {
  const { save, send, businessId } = await startWithMailServer(t)
  const replyToOf = async (fields: object) => (await send(fields)).mail.replyTo
  assert.equal(await replyToOf({}), null)
  await save('/business', { businessId, emailAddress: 'hello@praxis.example' })
  const none = await send({})
  assert.deepEqual(none.mail, {
    envelope: ENVELOPE,
    from: 'Praxis Grüner Baum <mail@operator.example>',
    replyTo: ' <hello@praxis.example>',
    isSigned: true,
  })
  const fromAddress = 'anna@praxis.example'
  assert.equal(await replyToOf({ fromAddress }), ' <anna@praxis.example>')
  const replyToAddress = 'desk@praxis.example'
  assert.equal(await replyToOf({ fromAddress, replyToAddress }), ' <desk@praxis.example>')
  const same = { fromAddress: 'mail@operator.example' }
  assert.equal(await replyToOf(same), ' <hello@praxis.example>', 'never the operator’s address')
})

test('a test mail, and a mail that is sent again, come from allowed domains only', async (t) => {
  const world = await startWithMailServer(t)
  const { allow, send, lastMail, runEngine, call } = world
  await allow(['clinic.example'])
  const { booked, emailTemplateId, mail } = await send({
    fromAddress: 'hello@clinic.example',
    fromName: 'A rather long name of a clinic, so that the header is folded into several lines',
  })
  assert.match(mail.from, /<hello@clinic\.example>$/)
  const [{ emailId }] = (await call('GET', '/emails')).body.items
  const again = async () => {
    const { status, body } = await call('POST', `/emails/${emailId}/resend`)
    assert.equal(status, 201, JSON.stringify(body))
    await runEngine()
    return lastMail()
  }
  assert.deepEqual(await again(), mail, 'while the domain is allowed')

  await allow([])
  assert.deepEqual(await again(), {
    envelope: ENVELOPE,
    from: `${NAME} <mail@operator.example>`,
    replyTo: mail.from,
    isSigned: true,
  })
  const about = { objectType: 'CALENDAR', objectId: booked.calendarId, to: ['me@example.org'] }
  assert.equal((await call('POST', `/emailTemplate/${emailTemplateId}/test`, about)).status, 201)
  await runEngine()
  const { envelope, from, replyTo } = await lastMail()
  assert.equal(envelope, ENVELOPE)
  assert.match(from, /^A rather long name .* <mail@operator\.example>$/)
  assert.match(replyTo!, /<hello@clinic\.example>$/)
})
