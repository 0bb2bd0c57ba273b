import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate } from 'mailauth'
import { dkimSigner, makeDkimKeys, signMessage } from '../../src/email/dkim.ts'
import { buildMessage, messageText } from '../../src/email/message.ts'
import { makeResolver } from '../../src/email/resolver.ts'
import {
  checkSenderDomain,
  dnsRecordsOf,
  selectorsOf,
  spfMechanismOf,
  statusOf,
  type Resolver,
} from '../../src/email/sender-check.ts'
import { startNameServer, type Zone } from '../support/name-server.ts'

const DOMAIN = 'clinic.example'
const RELAY = '192.0.2.10'
const ROUTE = { spfMechanism: 'a:relay.provider.example', envelopeDomain: 'operator.example' }
const RELAY_ZONE: Zone = { 'relay.provider.example': { A: [RELAY] } }

const made = await makeDkimKeys()
const keys = () => ({ domain: DOMAIN, selector: 'bw1', ...made })

/** A DNS zone with every record that the service asks for. */
const published = (): Zone => ({
  ...RELAY_ZONE,
  ...Object.fromEntries(
    dnsRecordsOf(keys(), ROUTE).map(({ purpose, name, value }) => [
      name,
      // A DKIM name has one record; others may have texts for other uses.
      { TXT: purpose === 'DKIM' ? [value] : ['other', value] },
    ]),
  ),
})

const resultsOf = async (resolver: Resolver) => {
  const checks = await checkSenderDomain(keys(), ROUTE, resolver)
  return Object.fromEntries(checks.map(({ check, result }) => [check, result]))
}

test('a domain whose owner publishes the listed records passes every check', async (t) => {
  const { server } = await startNameServer(t, published())
  const resolver = makeResolver([server])
  assert.deepEqual(await resultsOf(resolver), { SPF: 'PASS', DKIM: 'PASS', DMARC: 'PASS' })
})

test('the listed records are two DKIM keys, SPF and DMARC', () => {
  assert.deepEqual(
    dnsRecordsOf(keys(), ROUTE).map(({ purpose, name }) => `${purpose} ${name}`),
    [
      'DKIM bw1r._domainkey.clinic.example',
      'DKIM bw1e._domainkey.clinic.example',
      'SPF clinic.example',
      'DMARC _dmarc.clinic.example',
    ],
  )
  assert.equal(statusOf([]), 'UNKNOWN')
})

test('each missing or wrong record fails its check and says what to publish', async (t) => {
  const { zone, server } = await startNameServer(t, RELAY_ZONE)
  const resolver = makeResolver([server])
  const checks = await checkSenderDomain(keys(), ROUTE, resolver)
  assert.deepEqual(
    checks.map(({ check, result }) => `${check} ${result}`),
    ['SPF FAIL', 'DKIM FAIL', 'DMARC FAIL'],
  )
  const [spf, dkim] = checks
  assert.equal(
    spf!.todo,
    'Add a TXT record at clinic.example: "v=spf1 a:relay.provider.example ~all".',
  )
  for (const key of [made.rsaPublic, made.ed25519Public]) assert.ok(dkim!.todo!.includes(key))

  Object.assign(zone, published())
  zone['bw1e._domainkey.clinic.example'] = { TXT: ['v=DKIM1; k=ed25519; p=AAAA'] }
  const wrong = await checkSenderDomain(keys(), ROUTE, resolver)
  assert.deepEqual(
    wrong.map(({ check, result }) => `${check} ${result}`),
    ['SPF PASS', 'DKIM FAIL', 'DMARC FAIL'],
  )
  assert.match(wrong[1]!.detail, /^bw1e\._domainkey\.clinic\.example holds another key$/)

  Object.assign(zone, published())
  delete zone['_dmarc.clinic.example']
  assert.deepEqual(await resultsOf(resolver), { SPF: 'PASS', DKIM: 'PASS', DMARC: 'FAIL' })
})

const SPF_CASES: [string, string[], Zone, string][] = [
  ['an address', [`v=spf1 ip4:${RELAY} -all`], {}, 'PASS'],
  ['a network', ['v=spf1 ip4:192.0.2.0/24 ~all'], {}, 'PASS'],
  [
    'an include of an include',
    ['v=spf1 include:a.example ~all'],
    {
      'a.example': { TXT: ['v=spf1 include:b.example -all'] },
      'b.example': { TXT: [`v=spf1 ip4:${RELAY} -all`] },
    },
    'PASS',
  ],
  [
    'a redirect',
    ['v=spf1 redirect=a.example'],
    { 'a.example': { TXT: ['v=spf1 a:relay.provider.example -all'] } },
    'PASS',
  ],
  ['the MX', ['v=spf1 mx -all'], { 'clinic.example': { MX: ['relay.provider.example'] } }, 'PASS'],
  ['another address', ['v=spf1 ip4:198.51.100.1 -all'], {}, 'FAIL'],
  ['only ~all', ['v=spf1 ~all'], {}, 'FAIL'],
  ['two records', [`v=spf1 ip4:${RELAY} -all`, 'v=spf1 -all'], {}, 'FAIL'],
  ['a loop', ['v=spf1 include:clinic.example -all'], {}, 'FAIL'],
]

for (const [name, TXT, more, expected] of SPF_CASES) {
  test(`an SPF record that names ${name} is a ${expected}`, async (t) => {
    const own = { ...more['clinic.example'], TXT }
    const { server } = await startNameServer(t, {
      ...published(),
      ...more,
      'clinic.example': own,
    })
    assert.equal((await resultsOf(makeResolver([server]))).SPF, expected)
  })
}

test('SMTP_SPF with an include passes if the record includes it, directly or not', async (t) => {
  const { zone, server } = await startNameServer(t, {
    ...published(),
    'clinic.example': { TXT: ['v=spf1 include:all.example ~all'] },
    'all.example': { TXT: ['v=spf1 include:spf.provider.example -all'] },
    'spf.provider.example': { TXT: ['v=spf1 ip4:203.0.113.0/24 -all'] },
  })
  const resolver = makeResolver([server])
  const spfOf = async (spfMechanism: string) =>
    (await checkSenderDomain(keys(), { ...ROUTE, spfMechanism }, resolver))[0]!.result
  assert.equal(await spfOf('include:spf.provider.example'), 'PASS')
  assert.equal(await spfOf('include:other.example'), 'FAIL')
  assert.equal(await spfOf('ip4:203.0.113.7'), 'PASS')
  zone['clinic.example'] = { TXT: ['v=spf1 -all'] }
  assert.equal(await spfOf('include:spf.provider.example'), 'FAIL')
})

test('if DNS does not answer, every result is UNKNOWN and not FAIL', async (t) => {
  const { server, fail } = await startNameServer(t, published())
  fail(true)
  const resolver = makeResolver([server])
  const unknown = { SPF: 'UNKNOWN', DKIM: 'UNKNOWN', DMARC: 'UNKNOWN' }
  assert.deepEqual(await resultsOf(resolver), unknown)
})

test('the mechanism for the mail server is its name or public address, and unknown for a local one', () => {
  assert.deepEqual(
    ['relay.example', '192.0.2.10', '2001:db8::1', 'localhost', '127.0.0.1', '10.0.0.1'].map(
      spfMechanismOf,
    ),
    ['a:relay.example', 'ip4:192.0.2.10', 'ip6:2001:db8::1', undefined, undefined, undefined],
  )
})

test('an independent verifier accepts both signatures, SPF and DMARC of a mail', async (t) => {
  const { server } = await startNameServer(t, {
    ...published(),
    'operator.example': { TXT: [`v=spf1 ip4:${RELAY} -all`] },
  })
  const { rsa, ed25519 } = selectorsOf(keys())
  const message = buildMessage({
    messageId: '<1.1.0123456789abcdef01234567@mail.operator.example>',
    date: Temporal.Instant.from('2026-11-03T14:30:00Z'),
    from: { name: 'Klinik Grüner Baum', address: 'hello@clinic.example' },
    to: { name: '', address: 'anna@example.org' },
    cc: null,
    replyTo: null,
    subject: 'Ihr Termin morgen um 10 Uhr, wir freuen uns auf Sie: bitte früh genug da sein',
    text: 'Guten Tag  \n\n\n',
    html: '<p>Guten\tTag</p>',
    calendar: null,
    unsubscribeLink: 'https://book.example/unsubscribe/x',
  })
  const signed = messageText(
    await signMessage(message, [
      dkimSigner(DOMAIN, rsa, made.rsaKey),
      dkimSigner(DOMAIN, ed25519, made.ed25519Key),
    ]),
  )
  const verify = (text: string) => {
    const resolver = makeResolver([server])
    return authenticate(Buffer.from(text), {
      ip: RELAY,
      helo: 'relay.provider.example',
      sender: 'bounce@operator.example',
      resolver: (name, type) => resolver.resolve(name, type) as Promise<string[]>,
    })
  }
  const { dkim, spf, dmarc } = await verify(signed)
  assert.deepEqual(
    dkim.results.map(({ selector, algo, status }) => `${selector} ${algo} ${status.result}`),
    [`${rsa} rsa-sha256 pass`, `${ed25519} ed25519-sha256 pass`],
  )
  assert.equal(spf && spf.status.result, 'pass')
  assert.equal(dmarc && dmarc.status.result, 'pass')

  const forged = await verify(signed.replaceAll('Guten', 'Bad'))
  assert.ok(forged.dkim.results.every(({ status }) => status.result !== 'pass'))
  assert.equal(forged.dmarc && forged.dmarc.status.result, 'fail')
})
