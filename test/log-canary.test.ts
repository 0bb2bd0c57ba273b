import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from './support/folder.ts'
import { startMailServer } from './support/mail-server.ts'
import { startService } from './support/service.ts'
import { until } from './support/until.ts'

/** Values that must not appear in any output of the service. Add those that your change handles. */
const CANARIES = {
  operatorKey: 'canary-operator-key-7f3a',
  wrongKey: 'canary-wrong-key-91bc',
  username: 'canary.username',
  password: 'canary-password-55',
  businessName: 'Canary Clinic',
  firstName: 'Canarina',
  lastName: 'Gelbfeder',
  emailAddress: 'canarina@gelbfeder.example',
  phone: '+41 44 555 01 99',
  note: 'canary secret diagnosis',
  tag: 'canary-tag-value',
  subject: 'Canary subject line',
  idempotencyKey: 'canary-idempotency-key',
  searchWord: 'canarysearch',
  mailAddress: 'canary.mail@gelbfeder.example',
  mailBody: 'canary words of a mail',
  bounceWords: 'canary bounced here',
  unsubscribeToken: 'canary-unsubscribe-token',
  smtpUser: 'canary-smtp-user',
  smtpPassword: 'canary-smtp-password',
}

test('names, addresses and keys never reach the log, whatever goes wrong', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const reply = `550 5.1.1 <${CANARIES.emailAddress}>: ${CANARIES.firstName} has left\r\n`
  const mailServer = await startMailServer(t, { auth: true, at: 'rcpt', act: { reply } })
  const { smtpUser, smtpPassword } = CANARIES
  const service = await startService(t, {
    DATA_DIR,
    ADMIN_API_KEY: CANARIES.operatorKey,
    SMTP_URL: `smtp://${smtpUser}:${smtpPassword}@127.0.0.1:${mailServer.port}`,
    LOG_LEVEL: 'trace',
  })
  const ask = asker(service.base)
  const operator = ask(CANARIES.operatorKey)

  const { businessId } = await operator('POST', '/business', {
    name: CANARIES.businessName,
    timeZone: 'Europe/Zurich',
    emailAddress: CANARIES.emailAddress,
  })
  const made = await operator('POST', `/business/${businessId}/apiKey`, { name: 'canary' })
  assert.ok(made.key)
  await operator('POST', `/business/${businessId}/user`, {
    username: CANARIES.username,
    password: CANARIES.password,
    role: 'OWNER',
  })
  const business = ask(made.key as string)

  const client = {
    firstName: CANARIES.firstName,
    lastName: CANARIES.lastName,
    emailAddress: CANARIES.emailAddress,
    phone: CANARIES.phone,
    tags: { kind: [CANARIES.tag] },
    externalId: CANARIES.searchWord,
  }
  const key = { 'idempotency-key': CANARIES.idempotencyKey }
  const { clientId } = await business('POST', '/client', client, key)
  assert.ok(clientId)
  // The same again, concurrently and with many kinds of failure.
  await Promise.all(Array.from({ length: 8 }, () => business('POST', '/client', client)))
  await business('POST', '/client', { ...client, emailAddress: `${CANARIES.emailAddress},x` })
  await business('POST', '/client', { ...client, firstName: 5, lastName: [CANARIES.lastName] })
  await business('POST', '/client', `{ "firstName": "${CANARIES.firstName}"`)
  await business('POST', '/client', { ...client, note: '\0' + CANARIES.note })
  await business('POST', '/calendar', { clientId: CANARIES.firstName, note: CANARIES.note })
  await business('POST', '/emailTemplate', {
    templateName: CANARIES.subject,
    subject: `${CANARIES.subject} %NO_SUCH_TOKEN%`,
    emailBody: CANARIES.note,
  })
  await mailTo(business, Number(businessId), Number(clientId))
  assert.equal(mailServer.taken.length, 1, 'one mail was refused, the next one taken')
  await business('GET', `/client?search=${CANARIES.searchWord}&limit=${CANARIES.lastName}`)
  await business('GET', `/client/${CANARIES.lastName}`)
  await business('GET', `/${CANARIES.lastName}/${CANARIES.emailAddress}?name=${CANARIES.firstName}`)
  await business('GET', `/suppression/${CANARIES.emailAddress}`)
  const { emailTemplateId } = await business('POST', '/emailTemplate', {
    templateName: CANARIES.subject,
    subject: CANARIES.subject,
    emailBody: `<p>${CANARIES.mailBody}</p>`,
    bccAddress: CANARIES.mailAddress,
  })
  await business('POST', `/emailTemplate/${String(emailTemplateId)}/test`, {
    objectType: 'CALENDAR',
    objectId: 1,
    to: [CANARIES.mailAddress],
  })
  await business('POST', '/emails/bounce', {
    message: `From: ${CANARIES.mailAddress}\r\n\r\n${CANARIES.bounceWords}`,
  })
  await business('DELETE', `/suppression/${CANARIES.mailAddress}`)
  await ask(undefined)('POST', `/unsubscribe/${CANARIES.unsubscribeToken}`)
  await ask(CANARIES.wrongKey)('GET', '/client')
  await ask(undefined)('POST', '/session', {
    username: CANARIES.username,
    password: `${CANARIES.password}x`,
  })
  await ask(undefined)('POST', '/session', {
    username: CANARIES.username,
    password: CANARIES.password,
  })
  await sendRaw(service.base, `GET /${CANARIES.lastName} HTTP/9.9\r\nX: ${CANARIES.note}\r\n\r\n`)
  await service.stop()

  const files = globSync('**/*', { cwd: DATA_DIR })
    .filter((file) => /log/i.test(path.basename(file)) && !file.includes('pg_'))
    .map((file) => readQuietly(path.join(DATA_DIR, file)))
  const written = [service.output(), ...files].join('\n')
  assert.ok(written.includes('"route":"/client"'), 'the requests are in the log')
  const secrets = {
    ...CANARIES,
    apiKey: made.key as string,
    apiKeyTail: String(made.key).slice(12),
  }
  for (const [name, canary] of Object.entries(secrets)) {
    const at = written.toLowerCase().indexOf(canary.toLowerCase())
    assert.equal(at, -1, `${name} was written: …${written.slice(Math.max(0, at - 200), at + 80)}`)
  }
})

type Ask = ReturnType<ReturnType<typeof asker>>

/** Two appointments with a mail each: one is refused, one is accepted. */
async function mailTo(business: Ask, businessId: number, clientId: number) {
  const { locationId } = await business('POST', '/location', { name: 'Nord' })
  const { reasonId } = await business('POST', '/reason', { name: CANARIES.note })
  const { professionalId } = await business('POST', '/professional', {
    firstName: CANARIES.firstName,
    lastName: CANARIES.lastName,
  })
  const { emailTemplateId } = await business('POST', '/emailTemplate', {
    templateName: 'Booked',
    subject: `${CANARIES.subject} %CLIENT_FULLNAME%`,
    emailBody: `<p>${CANARIES.note}</p>`,
  })
  await business('POST', '/eventDefinition', {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId: 1 },
    eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
  })
  const ids = { clientId, locationId, reasonId, professionalId }
  const times = { startTime: 4_000_000_000_000, endTime: 4_000_001_800_000 }
  const statuses = async () =>
    ((await business('GET', '/emails')).items as { status: string }[]).map(({ status }) => status)
  for (const expected of ['FAILED', 'SENT']) {
    await business('DELETE', `/suppression/${CANARIES.emailAddress}`) // after the first, it bounced
    await business('POST', '/calendar', { ...ids, ...times, note: CANARIES.note })
    await until(async () => (await statuses()).includes(expected))
  }
}

const asker =
  (base: string) =>
  (credential: string | undefined) =>
  async (method: string, place: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(new URL(place, base), {
      method,
      headers: {
        ...(credential ? { authorization: `Bearer ${credential}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.status < 500, `${method} ${place}: ${answer.status} ${text}`)
    return (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
  }

async function sendRaw(base: string, text: string) {
  const { hostname, port } = new URL(base)
  const socket = net.connect(Number(port), hostname)
  socket
    .on('error', () => {})
    .resume()
    .write(text)
  await new Promise((done) => socket.once('close', done))
}

function readQuietly(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // a folder
  }
}
