import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { domainOf, parseDomain, parseMailbox } from './contract/addresses.ts'
import { serverUrls } from './database/servers.ts'
import { StartError } from './errors.ts'

export type Config = {
  port: number
  host: string
  dataDir: string
  /** Undefined: the embedded server in `dataDir`. */
  databaseUrl: string | undefined
  /** A connection pooler in front of `databaseUrl`. */
  poolerUrl: string | undefined
  /** A standby of `databaseUrl`, for reports, exports and backtests. */
  replicaUrl: string | undefined
  role: 'all' | 'api' | 'worker'
  /** Undefined: a key is created at the first start. */
  adminApiKey: string | undefined
  /** Undefined: emails are captured and not sent. */
  smtpUrl: string | undefined
  /** Mails at a time from this node that the mail server answers in time. */
  smtpConnections: number
  /** How long a mail whose message has ended waits for the answer. */
  smtpAnswerSeconds: number
  mailFrom: { name: string; address: string }
  /** Without a trailing slash. */
  publicUrl: string
  /** For each credential. */
  rateLimit: { perSecond: number; burst: number }
  /** By the domain of the recipient; `*` is for all others. */
  sendLimits: Record<string, { concurrent: number; perSecond: number }>
  /** As Fastify expects it. */
  trustProxy: boolean | number | string[]
  /** HSTS also for all hosts below that of `publicUrl`. */
  hstsSubdomains: boolean
  dkim: { key: string; domain: string; selector: string } | undefined
  /** The mechanism that SPF records must contain for the mail server; undefined: its address. */
  smtpSpf: string | undefined
  /** For checks of sender domains; empty: those of the machine. */
  dnsServers: string[]
  /** Where to listen for bounces; undefined: nowhere. */
  bounceListen: { protocol: 'smtp' | 'lmtp'; host: string; port: number } | undefined
  /** The domain of the envelope sender; undefined: that of MAIL_FROM. */
  bounceDomain: string | undefined
  bodyRetentionDays: number
  /** Undefined: triggers and mails are kept for ever. */
  retentionMonths: number | undefined
  pageSize: 'A4' | 'Letter'
  metricsToken: string | undefined
  /** For secrets of feeds: the first encrypts, all decrypt. Empty: none is set. */
  secretKeys: Buffer[]
  /** Host names, addresses and networks that feeds may reach although they are private, or by plain HTTP. */
  feedPrivateHosts: string[]
  /** Origins whose pages may call the API with a key; `*` allows all. */
  corsOrigins: string[]
  leaseSeconds: number
  logLevel: (typeof LOG_LEVELS)[number]
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const ROLES = ['all', 'api', 'worker'] as const

export type Environment = Record<string, string | undefined>

/** Reads all settings. Throws a StartError with one line for each invalid one. */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const { text, secret } = reader(env, faults)

  const parsed = <T>(name: string, value: string | undefined, parse: (value: string) => T) => {
    if (value === undefined) return undefined
    try {
      return parse(value)
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`)
      return undefined
    }
  }
  const setting = <T>(name: string, fallback: T, parse: (value: string) => T) =>
    parsed(name, text(name), parse) ?? fallback
  const secretSetting = <T>(name: string, parse: (value: string) => T) =>
    parsed(name, secret(name), parse)

  const port = setting('PORT', 8080, wholeNumber(0, 65_535))
  const host = setting('HOST', '127.0.0.1', hostName)
  const dkimKey = secretSetting('DKIM_KEY', privateKey)
  const dkimDomain = setting('DKIM_DOMAIN', undefined, domainName)
  const dkimSelector = setting('DKIM_SELECTOR', undefined, domainName)

  const config: Config = {
    port,
    host,
    dataDir: resolve(text('DATA_DIR') ?? './data'),
    databaseUrl: secretSetting('DATABASE_URL', postgresUrl),
    poolerUrl: secretSetting('DATABASE_POOLER', postgresUrl),
    replicaUrl: secretSetting('DATABASE_REPLICA_URL', replicaUrl),
    role: setting('ROLE', 'all', oneOf(ROLES)),
    adminApiKey: secretSetting('ADMIN_API_KEY', credential),
    smtpUrl: secretSetting('SMTP_URL', smtpUrl),
    smtpConnections: setting('SMTP_CONNECTIONS', 10, wholeNumber(1, 200)),
    smtpAnswerSeconds: setting('SMTP_ANSWER_SECONDS', 120, wholeNumber(10, 3_600)),
    mailFrom: setting('MAIL_FROM', { name: 'Bellwether', address: 'no-reply@localhost' }, mailbox),
    publicUrl: setting('PUBLIC_URL', urlOf(host, port), webUrl),
    rateLimit: setting('RATE_LIMIT', { perSecond: 100, burst: 1_000 }, rateLimit),
    sendLimits: setting('SEND_LIMITS', {}, sendLimits),
    trustProxy: setting('TRUST_PROXY', false, trustProxy),
    hstsSubdomains: setting('HSTS_SUBDOMAINS', false, trueOrFalse),
    dkim: requireAllOrNone(faults, dkimKey, dkimDomain, dkimSelector),
    smtpSpf: setting('SMTP_SPF', undefined, spfMechanism),
    dnsServers: setting('DNS_SERVERS', [], serverAddresses),
    bounceListen: setting('BOUNCE_LISTEN', undefined, bounceListen),
    bounceDomain: setting('BOUNCE_DOMAIN', undefined, mailDomain),
    bodyRetentionDays: setting('BODY_RETENTION_DAYS', 45, wholeNumber(1, 36_500)),
    retentionMonths: setting('RETENTION_MONTHS', undefined, wholeNumber(1, 1_200)),
    pageSize: setting('PAGE_SIZE', 'A4', pageSize),
    metricsToken: secretSetting('METRICS_TOKEN', credential),
    secretKeys: secretSetting('SECRET_KEY', encryptionKeys) ?? [],
    feedPrivateHosts: setting('FEED_PRIVATE_HOSTS', [], hostsAndNetworks),
    corsOrigins: setting('CORS_ORIGINS', [], origins),
    leaseSeconds: setting('LEASE_SECONDS', 10, wholeNumber(1, 3_600)),
    logLevel: setting('LOG_LEVEL', 'info', oneOf(LOG_LEVELS)),
  }
  if (config.poolerUrl && !config.databaseUrl) {
    faults.push('DATABASE_POOLER needs DATABASE_URL, which names the PostgreSQL server itself')
  }
  if (config.replicaUrl && !config.databaseUrl) {
    faults.push('DATABASE_REPLICA_URL needs DATABASE_URL, which names the primary')
  }
  if (faults.length > 0) throw new StartError(faults.join('\n'))
  return config
}

/** Warns of valid settings that are wrong for a service that others can reach. */
export function configWarnings({ smtpUrl, publicUrl, mailFrom, trustProxy }: Config): string[] {
  const warnings: string[] = []
  if (trustProxy === true) {
    warnings.push(
      'TRUST_PROXY is true: anybody can choose the address that rate limits and the log see; set it to the addresses of your proxies',
    )
  }
  if (smtpUrl === undefined) return warnings
  if (isUnreachable(new URL(publicUrl).hostname)) {
    warnings.push(
      `PUBLIC_URL is ${publicUrl}: readers of a mail cannot open its links; set it to the public address of the service`,
    )
  }
  if (isUnreachable(domainOf(mailFrom.address))) {
    warnings.push(
      `MAIL_FROM is ${mailFrom.address}: mail servers refuse it, and bounces are lost; set it to an address of your own domain`,
    )
  }
  return warnings
}

/** Loopback, or a name that is reserved for examples and tests (RFC 2606, RFC 6761). */
function isUnreachable(host: string) {
  const name = host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
  return (
    name === '::1' ||
    name === '0.0.0.0' ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    /(?:^|\.)(?:localhost|example|test|invalid|example\.(?:com|net|org))$/.test(name)
  )
}

/** The host for HELO; undefined if other machines cannot reach the public URL. */
export function heloName({ publicUrl }: Config) {
  const { hostname } = new URL(publicUrl)
  if (isUnreachable(hostname)) return undefined
  return isIP(hostname) === 4 ? `[${hostname}]` : hostname.replace(/^\[/, '[IPv6:')
}

/** `https://app.example, https://other.example`, or `*`. */
function origins(value: string): string[] {
  return value
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
    .map((origin) => {
      if (origin === '*') return origin
      const url = URL.parse(origin)
      const isOrigin =
        url && /^https?:$/.test(url.protocol) && url.origin === origin.replace(/\/$/, '')
      if (!isOrigin) throw new Error(`must hold origins such as https://app.example, not ${origin}`)
      return url.origin
    })
}

/** The URL of the service for a browser on this machine. */
export function urlOf(host: string, port: number) {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`
}

function reader(env: Environment, faults: string[]) {
  /** An empty value counts as absent: `SMTP_URL=` in a compose file means none. */
  const text = (name: string) => env[name]?.trim() || undefined

  /** A secret can also be in the file that NAME_FILE names. */
  const secret = (name: string) => {
    const file = text(`${name}_FILE`)
    if (file === undefined) return text(name)
    if (text(name) !== undefined) {
      faults.push(`${name} and ${name}_FILE are both set; set only one of them`)
      return undefined
    }
    try {
      const content = readFileSync(file, 'utf8').trim()
      if (content === '') faults.push(`${name}_FILE names ${file}, which is empty`)
      return content || undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      faults.push(`${name}_FILE names ${file}, which cannot be read (${code})`)
      return undefined
    }
  }
  return { text, secret }
}

// The message of a parser continues a sentence that starts with the name of the setting. Parsers of
// secrets never repeat the value.

const wholeNumber = (min: number, max: number) => (value: string) => {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new Error(`must be a whole number from ${min} to ${max}, not '${value}'`)
}

const oneOf =
  <const T extends string>(choices: readonly T[]) =>
  (value: string) => {
    const choice = choices.find((choice) => choice === value)
    if (choice) return choice
    throw new Error(`must be one of ${choices.join(', ')}, not '${value}'`)
  }

function trueOrFalse(value: string) {
  if (value === 'true' || value === 'false') return value === 'true'
  throw new Error(`must be true or false, not '${value}'`)
}

function hostName(value: string) {
  // A URL refuses names that look like an address, such as 999.1.1.1.
  if (isIP(value) || (HOST_NAME.test(value) && URL.canParse(`http://${value}`))) return value
  throw new Error(`must be a host name or an IP address, not '${value}'`)
}

function domainName(value: string): string | undefined {
  if (HOST_NAME.test(value)) return value
  throw new Error(`must be a domain name, not '${value}'`)
}

const HOST_NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i

function mailDomain(value: string): string | undefined {
  const domain = parseDomain(value)
  if (domain !== undefined) return domain
  throw new Error(`must be a domain name, not '${value}'`)
}

function spfMechanism(value: string): string | undefined {
  const mechanism = value.toLowerCase()
  if (/^(include|a):[a-z0-9._-]+$|^ip[46]:[0-9a-f.:]+(\/\d{1,3})?$/.test(mechanism))
    return mechanism
  throw new Error(`must be an SPF mechanism such as include:spf.provider.example, not '${value}'`)
}

/** `192.0.2.53, [2001:db8::53]:5353`. */
function serverAddresses(value: string): string[] {
  const servers = value.split(',').map((server) => server.trim())
  const isServer = (server: string) => {
    if (isIP(server)) return true
    const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(server) ?? []
    return isIP(bracketed ?? '') === 6 || isIP(plain ?? '') === 4 ? isPort(port) : false
  }
  if (servers.every(isServer)) return servers
  throw new Error(`must hold IP addresses such as 192.0.2.53 or 127.0.0.1:5353, not '${value}'`)
}

const isPort = (text: string | undefined) => Number(text) >= 1 && Number(text) <= 65_535

function bounceListen(value: string): Config['bounceListen'] {
  const [, protocol, bracketed, plain, port] =
    /^(smtp|lmtp):\/\/(?:\[(.+)\]|([^:/]+)):(\d{1,5})$/.exec(value) ?? []
  const host = bracketed ?? plain
  const isHost = bracketed ? isIP(bracketed) === 6 : HOST_NAME.test(plain ?? '')
  if ((protocol === 'smtp' || protocol === 'lmtp') && host && isHost && isPort(port)) {
    return { protocol, host, port: Number(port) }
  }
  throw new Error(`must be lmtp://host:port or smtp://host:port, not '${value}'`)
}

function postgresUrl(value: string) {
  const urls = serverUrls(value).map((url) => URL.parse(url))
  if (!urls.every((url) => url && isReadable(url) && /^postgres(ql)?:$/.test(url.protocol))) {
    throw new Error('must be a URL of the form postgres://user:password@host:port/database')
  }
  const parameters = urls[0]!.searchParams
  const wanted = parameters.get('target_session_attrs')
  if (wanted !== null && !WRITABLE.includes(wanted)) {
    throw new Error(
      `must have ${WRITABLE.join(' or ')} as target_session_attrs, because the service writes`,
    )
  }
  const mode = parameters.get('sslmode')
  if (mode === null) return value
  if (!SSL_MODES.includes(mode))
    throw new Error(`must have one of ${SSL_MODES.join(', ')} as sslmode`)
  // By default, pg interprets the modes differently from libpq.
  return `${value}&uselibpqcompat=true`
}

function replicaUrl(value: string) {
  if (serverUrls(value).length === 1) return postgresUrl(value)
  throw new Error('must name one server: a name or a proxy can stand for several')
}

const WRITABLE = ['read-write', 'primary']
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

function smtpUrl(value: string) {
  const url = URL.parse(value)
  if (url?.hostname && isReadable(url) && /^smtps?:$/.test(url.protocol)) {
    if (url.search === '' || url.search === '?tls=never') return value
  }
  throw new Error('must be a URL of the form smtp://user:password@host:port or smtps://…')
}

/** A percent sign in the user name or password must be written as %25. */
function isReadable({ username, password }: URL) {
  try {
    return Boolean(decodeURIComponent(`${username}:${password}`))
  } catch {
    return false
  }
}

function webUrl(value: string) {
  const url = URL.parse(value)
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username) {
    return url.href.replace(/\/+$/, '')
  }
  throw new Error(`must be a URL such as https://book.example.com, not '${value}'`)
}

/** Long enough that it cannot be guessed within the rate limit. */
function credential(value: string) {
  if (/^[\x21-\x7e]{8,512}$/.test(value)) return value
  throw new Error('must be 8 to 512 visible ASCII characters without spaces')
}

function mailbox(value: string) {
  const found = parseMailbox(value)
  if (found) return found
  throw new Error(`must be an address such as Bellwether <no-reply@example.com>, not '${value}'`)
}

function rateLimit(value: string) {
  const [, perSecond, burst] = /^(\d{1,7})\/s(?:\s*,\s*(\d{1,7}))?$/.exec(value) ?? []
  const limit = { perSecond: Number(perSecond), burst: Number(burst ?? perSecond) }
  if (limit.perSecond >= 1 && limit.burst >= 1) return limit
  throw new Error(`must be a rate and a burst such as 100/s,1000, not '${value}'`)
}

/** Reads `gmail.com=5@10/s,*=20`: mails at a time for each domain, and mails per second. */
function sendLimits(text: string): Config['sendLimits'] {
  const limits = text.split(',').map((entry) => {
    const [, domain, concurrent, perSecond] = LIMIT.exec(entry.trim()) ?? []
    if (!domain || Number(concurrent) < 1 || Number(perSecond ?? 1) <= 0) {
      throw new Error(`must be a list such as gmail.com=5@10/s,*=20, not '${text}'`)
    }
    const rate = perSecond === undefined ? Number.POSITIVE_INFINITY : Number(perSecond)
    return [domain.toLowerCase(), { concurrent: Number(concurrent), perSecond: rate }] as const
  })
  return Object.fromEntries(limits)
}

const LIMIT = /^(\*|[A-Za-z0-9.-]{1,253})=(\d{1,4})(?:@(\d{1,4}(?:\.\d{1,3})?)\/s)?$/

function trustProxy(value: string): boolean | number | string[] {
  if (value === 'true' || value === 'false') return value === 'true'
  if (/^\d{1,2}$/.test(value)) return Number(value)
  const proxies = value.split(',').map((proxy) => proxy.trim())
  if (proxies.every((proxy) => isNamed(proxy) || isNetwork(proxy))) return proxies
  throw new Error(
    `must be true, false, a number of proxies or a list of their addresses, not '${value}'`,
  )
}

const isNetwork = (proxy: string) => {
  const [address = '', bits, ...rest] = proxy.split('/')
  const maxBits = isIP(address) === 6 ? 128 : 32
  if (rest.length > 0 || !isIP(address)) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
}

const isNamed = (proxy: string) => ['loopback', 'linklocal', 'uniquelocal'].includes(proxy)

/** `calendar.lan, 192.168.1.0/24`. */
function hostsAndNetworks(value: string): string[] {
  const hosts = value.split(',').map((host) => host.trim().toLowerCase())
  if (hosts.every((host) => isNetwork(host) || HOST_NAME.test(host))) return hosts
  throw new Error(`must hold host names, addresses or networks, not '${value}'`)
}

/** Keys of 32 bytes in base64 or hexadecimal, separated by commas. */
function encryptionKeys(value: string): Buffer[] {
  const keys = value.split(',').map((text) => {
    const key = text.trim()
    return Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? 'hex' : 'base64')
  })
  if (keys.every((key) => key.length === 32)) return keys
  throw new Error('must hold keys of 32 bytes in base64: `openssl rand -base64 32` makes one')
}

function pageSize(value: string): Config['pageSize'] {
  if (value.toLowerCase() === 'a4') return 'A4'
  if (value.toLowerCase() === 'letter') return 'Letter'
  throw new Error(`must be A4 or Letter, not '${value}'`)
}

function privateKey(value: string) {
  // Some environments cannot hold line breaks and write them as \n.
  const pem = value.replaceAll('\\n', '\n')
  try {
    const { asymmetricKeyType } = createPrivateKey(pem)
    if (asymmetricKeyType === 'rsa' || asymmetricKeyType === 'ed25519') return pem
  } catch {
    // reported below
  }
  throw new Error('must be an RSA or Ed25519 private key in PEM format')
}

function requireAllOrNone(
  faults: string[],
  key: string | undefined,
  domain: string | undefined,
  selector: string | undefined,
) {
  if (key && domain && selector) return { key, domain, selector }
  if ((key || domain || selector) && faults.length === 0) {
    faults.push('DKIM_KEY, DKIM_DOMAIN and DKIM_SELECTOR must be set together; one is missing')
  }
  return undefined
}
