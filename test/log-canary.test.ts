import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from './support/folder.ts'
import { startService } from './support/service.ts'

/** What must not be found in anything that the service wrote. Add what your change handles. */
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
}

test('names, addresses and keys never reach the log, whatever goes wrong', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const service = await startService(t, {
    DATA_DIR,
    ADMIN_API_KEY: CANARIES.operatorKey,
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
  // The same again, at once and in many ways that fail.
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
  await business('GET', `/client?search=${CANARIES.searchWord}&limit=${CANARIES.lastName}`)
  await business('GET', `/client/${CANARIES.lastName}`)
  await business('GET', `/${CANARIES.lastName}/${CANARIES.emailAddress}?name=${CANARIES.firstName}`)
  await business('GET', `/suppression/${CANARIES.emailAddress}`)
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
