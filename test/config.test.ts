import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { urlOf, configWarnings, heloName, readConfig, type Environment } from '../src/config.ts'
import { StartError } from '../src/errors.ts'

test('the defaults are valid without any setting', () => {
  const { dataDir, ...config } = readConfig({})
  assert.equal(path.basename(dataDir), 'data')
  assert.deepEqual(config, {
    port: 8080,
    host: '127.0.0.1',
    databaseUrl: undefined,
    poolerUrl: undefined,
    replicaUrl: undefined,
    role: 'all',
    adminApiKey: undefined,
    smtpUrl: undefined,
    smtpConnections: 10,
    smtpAnswerSeconds: 120,
    mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
    publicUrl: 'http://127.0.0.1:8080',
    rateLimit: { perSecond: 100, burst: 1_000 },
    sendLimits: {},
    trustProxy: false,
    hstsSubdomains: false,
    dkim: undefined,
    smtpSpf: undefined,
    dnsServers: [],
    bounceListen: undefined,
    bounceDomain: undefined,
    bodyRetentionDays: 45,
    retentionMonths: undefined,
    pageSize: 'A4',
    metricsToken: undefined,
    secretKeys: [],
    feedPrivateHosts: [],
    corsOrigins: [],
    leaseSeconds: 10,
    logLevel: 'info',
  })
})

const KEY = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

const GOOD: [Environment, Partial<ReturnType<typeof readConfig>>][] = [
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '' }, { port: 8080 }],
  [
    { SECRET_KEY: `${'A'.repeat(43)}=, ${'0f'.repeat(32)}` },
    { secretKeys: [Buffer.alloc(32), Buffer.alloc(32, 15)] },
  ],
  [
    { FEED_PRIVATE_HOSTS: 'Calendar.lan, 192.168.1.0/24,::1' },
    { feedPrivateHosts: ['calendar.lan', '192.168.1.0/24', '::1'] },
  ],
  [{ SMTP_SPF: 'Include:_spf.provider.example' }, { smtpSpf: 'include:_spf.provider.example' }],
  [{ SMTP_SPF: 'ip4:192.0.2.0/24' }, { smtpSpf: 'ip4:192.0.2.0/24' }],
  [
    { DNS_SERVERS: '192.0.2.53, 127.0.0.1:5353,2001:db8::53,[2001:db8::53]:54' },
    { dnsServers: ['192.0.2.53', '127.0.0.1:5353', '2001:db8::53', '[2001:db8::53]:54'] },
  ],
  [
    { BOUNCE_LISTEN: 'lmtp://127.0.0.1:2424', BOUNCE_DOMAIN: 'Bounces.example' },
    {
      bounceListen: { protocol: 'lmtp', host: '127.0.0.1', port: 2424 },
      bounceDomain: 'bounces.example',
    },
  ],
  [
    { BOUNCE_LISTEN: 'smtp://[::1]:25' },
    { bounceListen: { protocol: 'smtp', host: '::1', port: 25 } },
  ],
  [{ PORT: '9000', HOST: '::1' }, { publicUrl: 'http://[::1]:9000' }],
  [{ HOST: '0.0.0.0' }, { publicUrl: 'http://localhost:8080' }],
  [{ PUBLIC_URL: 'https://book.example.com/' }, { publicUrl: 'https://book.example.com' }],
  [{ RATE_LIMIT: '5/s' }, { rateLimit: { perSecond: 5, burst: 5 } }],
  [
    { SEND_LIMITS: 'gmail.com=5@10/s, *=30' },
    {
      sendLimits: {
        'gmail.com': { concurrent: 5, perSecond: 10 },
        '*': { concurrent: 30, perSecond: Number.POSITIVE_INFINITY },
      },
    },
  ],
  [{ RATE_LIMIT: '5/s, 20' }, { rateLimit: { perSecond: 5, burst: 20 } }],
  [{ HSTS_SUBDOMAINS: 'true' }, { hstsSubdomains: true }],
  [{ TRUST_PROXY: 'true' }, { trustProxy: true }],
  [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
  [{ TRUST_PROXY: '10.0.0.0/8, loopback' }, { trustProxy: ['10.0.0.0/8', 'loopback'] }],
  [{ MAIL_FROM: 'a@b.example' }, { mailFrom: { name: '', address: 'a@b.example' } }],
  [{ MAIL_FROM: '"Dr. X" <a@b.example>' }, { mailFrom: { name: 'Dr. X', address: 'a@b.example' } }],
  [
    { CORS_ORIGINS: 'https://app.example, http://localhost:3000/' },
    { corsOrigins: ['https://app.example', 'http://localhost:3000'] },
  ],
  [{ CORS_ORIGINS: '*' }, { corsOrigins: ['*'] }],
  [{ PAGE_SIZE: 'letter' }, { pageSize: 'Letter' }],
  [
    { SMTP_URL: 'smtp://mail.example:25?tls=never' },
    { smtpUrl: 'smtp://mail.example:25?tls=never' },
  ],
  [
    { DKIM_KEY: KEY.replaceAll('\n', '\\n'), DKIM_DOMAIN: 'b.example', DKIM_SELECTOR: 's1' },
    { dkim: { key: KEY.trim(), domain: 'b.example', selector: 's1' } },
  ],
]

for (const [env, expected] of GOOD) {
  test(`${inWords(env)} is accepted`, () => {
    const config = readConfig(env)
    for (const [name, value] of Object.entries(expected)) {
      assert.deepEqual(trimmed(config[name as keyof typeof config]), trimmed(value))
    }
  })
}

const BAD: [Environment, RegExp][] = [
  [{ PORT: '80a' }, /^PORT must be a whole number from 0 to 65535, not '80a'$/],
  [{ PORT: '70000' }, /^PORT /],
  [{ HSTS_SUBDOMAINS: 'yes' }, /^HSTS_SUBDOMAINS must be true or false, not 'yes'$/],
  [{ HOST: 'a b' }, /^HOST /],
  [{ SECRET_KEY: 'c2hvcnQ=' }, /^SECRET_KEY must hold keys of 32 bytes in base64/],
  [{ FEED_PRIVATE_HOSTS: '10.0.0.0/33' }, /^FEED_PRIVATE_HOSTS must hold host names/],
  [{ HOST: '999.1.1.1' }, /^HOST /],
  [{ CORS_ORIGINS: 'https://a.example/path' }, /^CORS_ORIGINS must hold origins such as /],
  [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must be .*postgres:/],
  [{ DATABASE_URL: 'postgres://u:50%@x/y' }, /^DATABASE_URL must be .*postgres:/],
  [{ DATABASE_URL: 'postgres://one:5432,two:x/y' }, /^DATABASE_URL must be .*postgres:/],
  [
    { DATABASE_URL: 'postgres://one,two/y?target_session_attrs=standby' },
    /^DATABASE_URL must have read-write or primary as target_session_attrs/,
  ],
  [{ DATABASE_URL: 'postgres://x/y?sslmode=some' }, /^DATABASE_URL must have one of disable, /],
  [{ SMTP_URL: 'smtp://u:50%@x' }, /^SMTP_URL /],
  [{ ROLE: 'boss' }, /^ROLE must be one of all, api, worker, not 'boss'$/],
  [{ ADMIN_API_KEY: 'short' }, /^ADMIN_API_KEY /],
  [{ SMTP_URL: 'http://x' }, /^SMTP_URL /],
  [{ SMTP_URL: 'smtp://x?tls=maybe' }, /^SMTP_URL /],
  [{ MAIL_FROM: 'nobody' }, /^MAIL_FROM /],
  [{ MAIL_FROM: 'a@b.example, c@d.example' }, /^MAIL_FROM /],
  [{ PUBLIC_URL: 'ftp://x' }, /^PUBLIC_URL /],
  [{ PUBLIC_URL: 'x' }, /^PUBLIC_URL /],
  [{ SEND_LIMITS: 'gmail.com' }, /^SEND_LIMITS /],
  [{ SEND_LIMITS: 'gmail.com=0' }, /^SEND_LIMITS /],
  [{ SEND_LIMITS: 'gmail.com=1@0/s' }, /^SEND_LIMITS /],
  [{ RATE_LIMIT: 'fast' }, /^RATE_LIMIT /],
  [{ RATE_LIMIT: '0/s,1' }, /^RATE_LIMIT /],
  [{ TRUST_PROXY: 'yes' }, /^TRUST_PROXY /],
  [{ TRUST_PROXY: '10.0.0.0/99' }, /^TRUST_PROXY /],
  [{ BODY_RETENTION_DAYS: '0' }, /^BODY_RETENTION_DAYS /],
  [{ RETENTION_MONTHS: '0' }, /^RETENTION_MONTHS /],
  [{ PAGE_SIZE: 'A5' }, /^PAGE_SIZE must be A4 or Letter/],
  [{ METRICS_TOKEN: 'x' }, /^METRICS_TOKEN /],
  [{ LEASE_SECONDS: '-1' }, /^LEASE_SECONDS /],
  [{ SMTP_CONNECTIONS: '0' }, /^SMTP_CONNECTIONS /],
  [{ SMTP_ANSWER_SECONDS: '5' }, /^SMTP_ANSWER_SECONDS /],
  [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL /],
  [
    { DKIM_KEY: 'nonsense', DKIM_DOMAIN: 'b.example', DKIM_SELECTOR: 's' },
    /^DKIM_KEY must be an RSA or Ed25519 private key/,
  ],
  [{ DKIM_DOMAIN: 'b.example' }, /^DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR must be set together/],
]

for (const [env, expected] of BAD) {
  test(`${inWords(env)} is refused in one line`, () => {
    const [line, ...more] = faultsOf(env)
    assert.match(line!, expected)
    assert.deepEqual(more, [])
  })
}

test('all invalid settings are reported at once', () => {
  assert.equal(faultsOf({ PORT: 'x', ROLE: 'x', RATE_LIMIT: 'x' }).length, 3)
})

test('an invalid secret is refused without showing it', () => {
  const secrets = [
    'DATABASE_URL',
    'ADMIN_API_KEY',
    'SMTP_URL',
    'DKIM_KEY',
    'METRICS_TOKEN',
    'SECRET_KEY',
  ]
  for (const name of secrets) {
    assert.doesNotMatch(faultsOf({ [name]: 'my secret' }).join('\n'), /my secret/, name)
  }
})

test('a secret may come from a variable or from a file, but not from both', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'key')
  writeFileSync(file, 'a-key-of-some-length\n')
  const empty = path.join(folder, 'empty')
  writeFileSync(empty, '\n')

  assert.equal(readConfig({ ADMIN_API_KEY_FILE: file }).adminApiKey, 'a-key-of-some-length')
  assert.match(faultsOf({ ADMIN_API_KEY_FILE: empty })[0]!, /^ADMIN_API_KEY_FILE .* is empty$/)
  assert.match(faultsOf({ METRICS_TOKEN_FILE: `${file}x` })[0]!, /cannot be read \(ENOENT\)$/)
  assert.match(
    faultsOf({ ADMIN_API_KEY_FILE: file, ADMIN_API_KEY: 'a-key-of-some-length' })[0]!,
    /are both set/,
  )
  for (const name of ['DATABASE_URL', 'SMTP_URL', 'DKIM_KEY']) {
    assert.match(faultsOf({ [`${name}_FILE`]: file })[0]!, new RegExp(`^${name} must be`))
  }
})

test('the printed URL can be opened in a browser', () => {
  assert.equal(urlOf('0.0.0.0', 80), 'http://localhost:80')
  assert.equal(urlOf('::', 80), 'http://localhost:80')
  assert.equal(urlOf('10.0.0.1', 80), 'http://10.0.0.1:80')
})

function faultsOf(env: Environment): string[] {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof StartError)
    return error.message.split('\n')
  }
  return []
}

function inWords(env: Environment) {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value!.slice(0, 30)}`)
    .join(' ')
}

/** A key read from a setting has lost the line break at its end. */
const trimmed = (value: unknown) =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(/(\\n)+"/g, '"')) as unknown

for (const [publicUrl, mailFrom, named] of [
  ['http://localhost:8080', 'no-reply@clinic.ch', ['PUBLIC_URL']],
  ['http://[::1]:8080', 'no-reply@clinic.ch', ['PUBLIC_URL']],
  ['https://book.clinic.ch', 'no-reply@localhost', ['MAIL_FROM']],
  ['https://bell.example.com', 'hello@praxis.example', ['PUBLIC_URL', 'MAIL_FROM']],
  ['https://book.clinic.ch', 'no-reply@clinic.ch', []],
  ['https://testing.clinic.ch', 'hello@myexample.com', []],
] as const) {
  test(`PUBLIC_URL ${publicUrl} with MAIL_FROM ${mailFrom} warns of ${named.join(' and ') || 'nothing'}`, () => {
    const env = { PUBLIC_URL: publicUrl, MAIL_FROM: mailFrom }
    const warnings = configWarnings(readConfig({ ...env, SMTP_URL: 'smtp://mail.clinic.ch' }))
    assert.deepEqual(
      warnings.map((warning) => warning.split(' ')[0]),
      named,
    )
    assert.deepEqual(
      configWarnings(readConfig(env)),
      [],
      'no warning while mails are only captured',
    )
  })
}

test('HELO names the public host, unless only this machine knows that name', () => {
  const named = (PUBLIC_URL: string) => heloName(readConfig({ PUBLIC_URL }))
  assert.equal(named('https://book.clinic.ch/mail'), 'book.clinic.ch')
  assert.equal(named('http://192.0.2.7:8080'), '[192.0.2.7]')
  assert.equal(named('http://[2001:db8::7]'), '[IPv6:2001:db8::7]')
  assert.equal(named('http://localhost:8080'), undefined)
})

test('TRUST_PROXY=true is warned of, because callers can then forge their address', () => {
  assert.match(configWarnings(readConfig({ TRUST_PROXY: 'true' })).join(), /^TRUST_PROXY is true: /)
  assert.deepEqual(configWarnings(readConfig({ TRUST_PROXY: 'loopback' })), [])
})
