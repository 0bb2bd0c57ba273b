import dns from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import { monotonicMs } from '../clock.ts'
import { SourceError } from './source.ts'

/*
 * Requests to sources. A business chooses the address, so that it must not lead into the operator's
 * network, and the answer is not trusted: it is limited in size and time. See docs/feeds/security.md.
 */

export type SourceRequest = {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** `url`: where the answer came from, after redirects. */
export type SourceAnswer = {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
  url: string
}

export type FetchSettings = {
  /** The address of the account. Its host gets the credential. */
  url: string
  /** Other hosts that get it: a person confirmed them. */
  hosts: readonly string[]
  /** The value of the header Authorization, if the source needs one. */
  authorization?: string
  /** FEED_PRIVATE_HOSTS. */
  privateHosts: readonly string[]
  signal: AbortSignal
  requestsPerMinute?: number
  limits?: Partial<Limits>
  resolve?: Resolve
}

/** Finds the addresses of a name, as `dns.lookup` does. */
export type Resolve = (
  name: string,
  options: { all: true },
  callback: (error: Error | null, addresses: dns.LookupAddress[]) => void,
) => void

export type Limits = {
  connectSeconds: number
  firstByteSeconds: number
  silenceSeconds: number
  bytes: number
}

const LIMITS: Limits = {
  connectSeconds: 10,
  // Radicale takes minutes for the first listing of a large calendar.
  firstByteSeconds: 300,
  silenceSeconds: 60,
  bytes: 64 * 1_048_576,
}
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** The source refers to a host that may not get the credential yet. */
export class OtherHost extends SourceError {
  readonly host: string

  constructor(host: string) {
    super('LOGIN', `The source refers to ${host}. Test the connection again and confirm this host.`)
    this.host = host
  }
}

/** Sends the requests of one pull. Close it at the end. */
export class Fetcher {
  readonly #settings: FetchSettings
  readonly #limits: Limits
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  }

  constructor(settings: FetchSettings) {
    this.#settings = settings
    this.#limits = { ...LIMITS, ...settings.limits }
  }

  /** The answer with any status except a redirect. */
  async fetch(request: SourceRequest): Promise<SourceAnswer> {
    let { url } = request
    let { method = 'GET' } = request
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await this.#send(this.#check(url), { ...request, method })
      const { location } = answer.headers
      if (!REDIRECTS.has(answer.status) || location === undefined) return answer
      const next = URL.parse(location, url)
      if (!next || (url.startsWith('https:') && next.protocol !== 'https:')) {
        throw new SourceError('ANSWER', `${hostOf(url)} redirects to an address without https.`)
      }
      url = next.href
      if (answer.status === 303) method = 'GET'
    }
    throw new SourceError('ANSWER', `${hostOf(url)} redirects more than ${MAX_REDIRECTS} times.`)
  }

  close() {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  #check(text: string) {
    const { privateHosts, authorization, hosts } = this.#settings
    const fault = faultOfUrl(text, privateHosts)
    if (fault) throw new SourceError('ANSWER', `The address ${hostOf(text)} ${fault}.`)
    const url = new URL(text)
    const hasCredential = url.host === hostOf(this.#settings.url) || hosts.includes(url.host)
    if (authorization !== undefined && !hasCredential) throw new OtherHost(url.host)
    return url
  }

  async #send(url: URL, { method, headers, body }: SourceRequest): Promise<SourceAnswer> {
    const { authorization, signal, privateHosts, resolve, requestsPerMinute } = this.#settings
    await keepPace(requestsPerMinute ?? 60, signal)
    const sent = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: {
        'user-agent': 'Bellwether',
        'accept-encoding': 'identity',
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      agent: this.#agents[url.protocol as 'http:' | 'https:'],
      lookup: checkedLookup(privateHosts, resolve ?? dns.lookup),
      signal,
    })
    try {
      return await receive(sent, url, { body, limits: this.#limits })
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof SourceError ? error : unreachable(url, error)
    }
  }
}

/** Why feeds may not reach an address, continuing a sentence about it. Names are resolved later. */
export function faultOfUrl(text: string, privateHosts: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must begin with https://'
  if (url.username || url.password) return 'must not contain a username or password'
  const host = nameOf(url)
  if (isListed(host, privateHosts)) return undefined
  if (url.protocol !== 'https:') {
    return 'must begin with https://, unless the operator lists its host in FEED_PRIVATE_HOSTS'
  }
  return isIP(host) && !isPublic(host) ? NOT_PUBLIC : undefined
}

const NOT_PUBLIC = 'is not public; the operator can list it in FEED_PRIVATE_HOSTS'

/** The host alone: the path of an address can be a secret. */
const hostOf = (url: string) => URL.parse(url)?.host ?? 'of the feed'

/** The name or address without brackets and without the dot of a full name. */
const nameOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

const isListed = (host: string, privateHosts: readonly string[]) =>
  privateHosts.some((listed) => listed === host || (isIP(host) && isWithin(host, listed)))

function isWithin(address: string, network: string) {
  if (!isIP(network.split('/')[0]!)) return false
  const found = ipaddr.process(address)
  const [base, bits] = ipaddr.parseCIDR(
    network.includes('/') ? network : `${network}/${isIP(network) === 6 ? 128 : 32}`,
  )
  return found.kind() === base.kind() && found.match(base, bits)
}

/** Also refuses IPv6 addresses that are not in use, such as `::127.0.0.1`. */
function isPublic(address: string) {
  const found = ipaddr.process(address)
  return found.range() === 'unicast' && (found.kind() === 'ipv4' || isWithin(address, '2000::/3'))
}

/** Resolves and checks in one step, so that the address which is checked is the one that is connected to. */
function checkedLookup(privateHosts: readonly string[], resolve: Resolve): LookupFunction {
  return (name, options, callback) =>
    resolve(name, { all: true }, (error, addresses) => {
      const isAllowed = ({ address }: dns.LookupAddress) =>
        isListed(name.replace(/\.$/, ''), privateHosts) ||
        isListed(address, privateHosts) ||
        isPublic(address)
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('no address'), [])
      if (!addresses.every(isAllowed)) {
        return callback(new SourceError('ANSWER', `The address of ${name} ${NOT_PUBLIC}.`), [])
      }
      if (options.all) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
}

/** Sends the body and collects the answer. Each phase has a time limit of its own. */
function receive(
  sent: http.ClientRequest,
  { host, href, protocol }: URL,
  { body, limits }: { body: string | undefined; limits: Limits },
): Promise<SourceAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SourceAnswer>()
  let timer: NodeJS.Timeout | undefined
  const within = (seconds: number, failure: string) => {
    clearTimeout(timer)
    const end = () =>
      sent.destroy(new SourceError('UNREACHABLE', `${host} ${failure} ${seconds} s.`))
    timer = setTimeout(end, seconds * 1_000)
  }
  within(limits.connectSeconds, 'did not accept a connection within')
  sent.once('socket', (socket) => {
    const connected = () => within(limits.firstByteSeconds, 'did not answer within')
    if (!socket.connecting) connected()
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', connected)
  })
  sent.once('error', reject)
  sent.once('response', (response) => {
    response.once('error', reject)
    const refuse = (kind: 'ANSWER' | 'LIMIT', failure: string) =>
      sent.destroy(new SourceError(kind, `${host} ${failure}.`))
    const { 'content-encoding': encoding = 'identity' } = response.headers
    if (encoding !== 'identity') return refuse('ANSWER', `answers in the encoding ${encoding}`)
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      within(limits.silenceSeconds, 'stopped in the middle of its answer for')
      bytes += chunk.length
      if (bytes > limits.bytes) {
        refuse('LIMIT', `answers with more than ${Math.round(limits.bytes / 1_048_576)} MiB`)
      } else chunks.push(chunk)
    })
    within(limits.silenceSeconds, 'stopped in the middle of its answer for')
    const { statusCode: status = 0, headers } = response
    response.once('end', () => resolve({ status, headers, body: Buffer.concat(chunks), url: href }))
    return undefined
  })
  sent.end(body)
  return promise.finally(() => clearTimeout(timer))
}

function unreachable({ host }: URL, cause: unknown) {
  const { code, message } = cause as NodeJS.ErrnoException
  const failure = FAILURES[code ?? ''] ?? `cannot be reached (${code ?? message})`
  return new SourceError('UNREACHABLE', `${host} ${failure}.`, { cause })
}

const FAILURES: Record<string, string> = {
  ENOTFOUND: 'is not a name that can be resolved; check the address',
  EAI_AGAIN: 'cannot be resolved at the moment',
  ECONNREFUSED: 'refuses connections; check the address and the port',
  ECONNRESET: 'closed the connection in the middle of its answer',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that no authority has signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an authority that is not known',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an authority that is not known',
}

/** The error for an answer with a status that the caller cannot use. */
export function unusableStatus({ status, headers, url }: SourceAnswer) {
  const host = hostOf(url)
  if (status === 401 || status === 403) {
    return new SourceError(
      'LOGIN',
      `${host} refuses access (${status}). Check the address, the username and the password.`,
    )
  }
  const { date = '', 'retry-after': after = '' } = headers
  // A date is compared with the source's own clock.
  const seconds = /^\d+$/.test(after)
    ? Number(after)
    : (Date.parse(after) - Date.parse(date)) / 1_000
  const more = seconds > 0 ? { retryAfterSeconds: seconds } : {}
  return new SourceError('ANSWER', `${host} answers with the status ${status}.`, more)
}

/** When the requests of a pull were sent: of all that have its signal. */
const sentByPull = new WeakMap<AbortSignal, number[]>()

/** Waits until another request of the pull is allowed: at most so many within any minute. */
async function keepPace(perMinute: number, signal: AbortSignal) {
  const sentMs = sentByPull.get(signal) ?? []
  sentByPull.set(signal, sentMs)
  const waitMs = (sentMs.at(-perMinute) ?? -Infinity) + 60_000 - monotonicMs()
  if (waitMs > 0) await wait(waitMs, undefined, { signal })
  sentMs.push(monotonicMs())
}
