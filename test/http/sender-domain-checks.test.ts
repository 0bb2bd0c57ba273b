import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSenders } from '../../src/cli/check-senders.ts'
import { readConfig } from '../../src/config.ts'
import { sql } from '../../src/database/sql.ts'
import { makeResolver } from '../../src/email/resolver.ts'
import { ask, createPerson, OPERATOR_KEY, signInAs } from '../support/callers.ts'
import { startNameServer, type Zone } from '../support/name-server.ts'
import { addBusiness, startEngine, startWorld, type Answer } from '../support/world.ts'

const ROUTE = { spfMechanism: 'a:relay.example', envelopeDomain: 'operator.example' }

const publish = (zone: Zone, { dnsRecords }: Answer['body']) => {
  for (const { name, value } of dnsRecords) zone[name] = { TXT: [value] }
}

const resultsOf = ({ status, checks }: Answer['body']) =>
  `${status}: ${checks.map((one: { check: string; result: string }) => `${one.check} ${one.result}`).join(', ')}`

test('the DNS records of a sender domain are shown, checked after a save, every night and on request', async (t) => {
  const { zone, server } = await startNameServer(t, { 'relay.example': { A: ['192.0.2.10'] } })
  const world = await startWorld(t, {
    ADMIN_API_KEY: OPERATOR_KEY,
    MAIL_FROM: 'Operator <mail@operator.example>',
    SMTP_URL: 'smtp://relay.example:587',
    DNS_SERVERS: server,
  })
  const { app, businessId, call, clock, database } = world
  const operator = ask(app, { authorization: `Bearer ${OPERATOR_KEY}` })
  const engine = startEngine(world, {
    senderChecks: { route: ROUTE, resolver: makeResolver([server]) },
  })
  const checkDue = () => engine.loops.senders[0]!.runOnce()
  const read = async () => (await call('GET', '/senderDomain')).body.items[0]

  assert.deepEqual((await call('GET', '/senderDomain')).body, { items: [], nextCursor: null })
  const body = { businessId, senderDomains: ['clinic.example'] }
  assert.equal((await operator('POST', '/business', body)).status, 200)
  const saved = await read()
  assert.deepEqual([saved.domain, saved.status, saved.checks], ['clinic.example', 'UNKNOWN', []])
  assert.deepEqual(
    saved.dnsRecords.map((record: { purpose: string; value: string }) => record.value.slice(0, 18)),
    ['v=DKIM1; k=rsa; p=', 'v=DKIM1; k=ed25519', 'v=spf1 a:relay.exa', 'v=DMARC1; p=none'],
  )
  assert.doesNotMatch(JSON.stringify(saved), /PRIVATE/)

  assert.equal(await checkDue(), 1)
  assert.equal(resultsOf(await read()), 'FAIL: SPF FAIL, DKIM FAIL, DMARC FAIL')
  assert.equal(await checkDue(), 0, 'not checked again before the night')

  publish(zone, saved)
  const checked = await call('POST', '/senderDomain/Clinic.example/check')
  assert.equal(checked.status, 200, JSON.stringify(checked.body))
  assert.equal(resultsOf(checked.body), 'PASS: SPF PASS, DKIM PASS, DMARC PASS')
  assert.deepEqual(await read(), checked.body)
  assert.deepEqual((await call('GET', '/senderDomain/clinic.example')).body, checked.body)
  assert.equal((await call('GET', '/senderDomain/other.example')).status, 404)

  delete zone['_dmarc.clinic.example']
  const night = Temporal.Instant.fromEpochMilliseconds(checked.body.nextCheckTime)
  const { hour } = night.toZonedDateTimeISO('Europe/Zurich')
  assert.ok(hour >= 2 && hour < 5, String(night))
  clock.advance({ hours: 36 })
  assert.equal(await checkDue(), 1)
  assert.equal(resultsOf(await read()), 'FAIL: SPF PASS, DKIM PASS, DMARC FAIL')

  // Removed and allowed again: the published keys stay valid, and the domain is checked again.
  await operator('POST', '/business', { businessId, senderDomains: [] })
  assert.deepEqual((await call('GET', '/senderDomain')).body.items, [])
  await operator('POST', '/business', body)
  assert.deepEqual((await read()).dnsRecords, saved.dnsRecords)
  assert.equal(await checkDue(), 1)

  const config = readConfig({ SMTP_URL: 'smtp://relay.example:587', DNS_SERVERS: server })
  const [finding] = await checkSenders(config, database.operator)
  assert.deepEqual(finding, {
    state: 'note',
    about: 'Sender',
    says: `clinic.example of business ${businessId}: SPF PASS, DKIM PASS, DMARC FAIL`,
    todo: 'Add a TXT record at _dmarc.clinic.example: "v=DMARC1; p=none".',
  })

  const other = await addBusiness(world)
  assert.deepEqual((await other.call('GET', '/senderDomain')).body.items, [])
  assert.equal((await other.call('POST', '/senderDomain/clinic.example/check')).status, 404)
  await operator('POST', '/business', {
    businessId: other.businessId,
    senderDomains: ['clinic.example'],
  })
  const [theirs] = (await other.call('GET', '/senderDomain')).body.items
  const names = new Set([...saved.dnsRecords, ...theirs.dnsRecords].map(({ name }) => name))
  assert.equal(names.size, 6, 'two businesses with the same domain have different keys')
  const all = (await operator('GET', '/senderDomain?limit=1')).body
  assert.deepEqual(all.items[0].businessId, businessId)
  const next = (await operator('GET', `/senderDomain?limit=1&cursor=${all.nextCursor}`)).body
  assert.deepEqual([next.items[0].businessId, next.nextCursor], [other.businessId, null])

  await createPerson(database, clock, businessId, { username: 'uma', role: 'USER' })
  const user = ask(app, { cookie: await signInAs(app, 'uma') })
  assert.equal((await user('GET', '/senderDomain')).status, 403)
  await assert.rejects(
    world.db.query(sql`select rsa_key from sender_domain`),
    /permission denied/,
    'a business cannot read a private key',
  )
})

test('a template whose sender is not allowed or not aligned is saved with a warning that says what to do', async (t) => {
  const { zone, server } = await startNameServer(t, {})
  const world = await startWorld(t, {
    ADMIN_API_KEY: OPERATOR_KEY,
    MAIL_FROM: 'Operator <mail@operator.example>',
    DNS_SERVERS: server,
  })
  const { app, businessId, call } = world
  const operator = ask(app, { authorization: `Bearer ${OPERATOR_KEY}` })
  const warningsOf = async (fromAddress: string | null, more: object = {}) => {
    const template = {
      templateName: 'T',
      subject: 'S',
      emailBody: '<p>B</p>',
      fromAddress,
      ...more,
    }
    const { status, body } = await call('POST', '/emailTemplate', template)
    assert.equal(status, 201, JSON.stringify(body))
    const again = await call('POST', '/emailTemplate', body)
    assert.equal(again.status, 200, 'an answer with a warning can be sent back')
    return body.warnings.map(({ detail }: { detail: string }) => detail).join('\n')
  }
  assert.equal(await warningsOf(null), '')
  assert.equal(await warningsOf('mail@operator.example'), '')
  assert.match(
    await warningsOf('hello@clinic.example'),
    /^Mails are sent from mail@operator\.example, and replies go to hello@clinic\.example: .*Ask the operator to add it to senderDomains\.$/,
  )
  assert.match(
    await warningsOf('hello@clinic.example', { replyToAddress: 'desk@clinic.example' }),
    /^Mails are sent from mail@operator\.example, and replies go to desk@clinic\.example: /,
  )
  await operator('POST', '/business', { businessId, senderDomains: ['clinic.example'] })
  assert.match(
    await warningsOf('hello@Clinic.example'),
    /not checked yet\. Publish the DNS records/,
  )
  const failed = (await call('POST', '/senderDomain/clinic.example/check')).body
  assert.match(
    await warningsOf('hello@clinic.example'),
    /are not aligned.*no valid DMARC record\. Publish the DNS records that GET \/senderDomain\/clinic\.example lists\.$/,
  )
  publish(zone, failed)
  await call('POST', '/senderDomain/clinic.example/check')
  assert.equal(await warningsOf('hello@clinic.example'), '')
})
