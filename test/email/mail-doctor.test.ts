import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { dkimSigner } from '../../src/email/dkim.ts'
import { mailHints } from '../../src/email/mail-doctor.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const signer = dkimSigner(
  'harbour.example',
  'one',
  privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
)

const resolver = (records: Record<string, string>, mx: unknown[] = [{}]) => ({
  resolveTxt: async (name: string) => {
    if (!records[name]) throw new Error('ENOTFOUND')
    return [['unrelated'], [records[name].slice(0, 10), records[name].slice(10)]]
  },
  resolveMx: async () => mx,
})

test('if all DNS records are missing, each hint says what to add', async () => {
  const hints = await mailHints('hello@harbour.example', signer, resolver({}, []))
  assert.deepEqual(
    hints.map(({ check, ok }) => [check, ok]),
    [
      ['From domain', false],
      ['SPF', false],
      ['DKIM', false],
      ['DMARC', false],
    ],
  )
  assert.match(
    hints[2]?.hint ?? '',
    /add a TXT record at one\._domainkey\.harbour\.example: "v=DKIM1; k=ed25519; p=[\w+/]{43}="/,
  )
})

test('following the hints fixes the problems', async () => {
  const missing = await mailHints('hello@harbour.example', signer, resolver({}))
  const record = /"(v=DKIM1.*)"/.exec(missing[2]?.hint ?? '')?.[1] ?? ''
  const hints = await mailHints(
    'hello@harbour.example',
    signer,
    resolver({
      'harbour.example': 'v=spf1 -all',
      '_dmarc.harbour.example': 'v=DMARC1; p=none',
      'one._domainkey.harbour.example': record,
    }),
  )
  assert.ok(
    hints.every(({ ok }) => ok),
    JSON.stringify(hints),
  )
})

test('a wrong DKIM key and a domain that does not match are reported', async () => {
  const other = await mailHints(
    'hello@harbour.example',
    signer,
    resolver({ 'one._domainkey.harbour.example': 'v=DKIM1; p=AAAA' }),
  )
  assert.match(other[2]?.hint ?? '', /another key/)
  const unsigned = await mailHints('hello@harbour.example', undefined, resolver({}))
  assert.match(unsigned[2]?.hint ?? '', /not signed/)
})

test('without DNS one hint says what to check manually', async () => {
  const noNetwork = async () => {
    throw Object.assign(new Error('no network'), { code: 'ECONNREFUSED' })
  }
  const hints = await mailHints('hello@harbour.example', signer, {
    resolveTxt: noNetwork,
    resolveMx: noNetwork,
  })
  assert.equal(hints.length, 1)
  assert.match(
    hints[0]!.hint,
    /does not answer \(ECONNREFUSED\).*one\._domainkey\.harbour\.example/,
  )
})
