import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { checkDns } from '../../src/cli/check-mail.ts'
import { dkimSigner } from '../../src/email/dkim.ts'
import { makeResolver } from '../../src/email/resolver.ts'
import { startNameServer, type Zone } from '../support/name-server.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const signer = dkimSigner('harbour.example', 'one', pem)

const config = {
  mailFrom: { name: '', address: 'hello@harbour.example' },
  smtpUrl: 'smtp://192.0.2.10:25',
  smtpSpf: 'ip4:192.0.2.10',
  bounceDomain: undefined,
}
const MX = ['mail.harbour.example']

async function check(t: TestContext, zone: Zone, key: typeof signer | undefined = signer) {
  const { server } = await startNameServer(t, zone)
  return checkDns(config, key, makeResolver([server]))
}

test('if all DNS records are missing, each finding says what to add', async (t) => {
  const findings = await check(t, {})
  assert.deepEqual(
    findings.map(({ about, state }) => [about, state]),
    [
      ['From domain', 'note'],
      ['SPF', 'note'],
      ['DKIM', 'note'],
      ['DMARC', 'note'],
    ],
  )
  assert.equal(
    findings[1]!.todo,
    'Add a TXT record at harbour.example: "v=spf1 ip4:192.0.2.10 ~all".',
  )
  assert.match(
    findings[2]!.todo!,
    /Add a TXT record at one\._domainkey\.harbour\.example: "v=DKIM1; k=ed25519; p=[\w+/]{43}="/,
  )
})

test('publishing what the findings say passes every check', async (t) => {
  const missing = await check(t, { 'harbour.example': { MX } })
  const record = (i: number) => /"(v=.*)"/.exec(missing[i]!.todo!)![1]!
  const findings = await check(t, {
    'harbour.example': { MX, TXT: ['unrelated', record(1)] },
    'one._domainkey.harbour.example': { TXT: [record(2)] },
    '_dmarc.harbour.example': { TXT: ['v=DMARC1; p=none'] },
  })
  assert.ok(
    findings.every(({ state }) => state === 'ok'),
    JSON.stringify(findings),
  )
})

test('an SPF record that does not cover the mail server is reported', async (t) => {
  const [, spf] = await check(t, { 'harbour.example': { MX, TXT: ['v=spf1 -all'] } })
  assert.equal(spf!.state, 'note')
  assert.match(spf!.todo!, /Add "ip4:192\.0\.2\.10" to the SPF record of harbour\.example/)
})

test('a wrong DKIM key, a domain that does not match and mails without a signature are reported', async (t) => {
  const zone = { 'one._domainkey.harbour.example': { TXT: ['v=DKIM1; p=AAAA'] } }
  assert.match((await check(t, zone))[2]!.says, /another key/)
  const [, , other] = await check(t, zone, dkimSigner('other.example', 'one', pem))
  assert.match(other!.says, /other\.example does not match the From domain harbour\.example/)
  const { server } = await startNameServer(t, zone)
  const [, , unsigned] = await checkDns(config, undefined, makeResolver([server]))
  assert.match(unsigned!.says, /not signed/)
})

test('without DNS one finding says what to check manually', async (t) => {
  const { server, fail } = await startNameServer(t)
  fail(true)
  const findings = await checkDns(config, signer, makeResolver([server]))
  assert.equal(findings.length, 1)
  assert.match(findings[0]!.says, /does not answer \(ESERVFAIL\)/)
  assert.match(findings[0]!.todo!, /one\._domainkey\.harbour\.example: "v=DKIM1; k=ed25519; p=/)
})
