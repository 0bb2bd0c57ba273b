import type { ConnectionOptions } from 'node:tls'
import { monotonicMs } from '../clock.ts'
import { domainOf, parseAddress } from '../contract/addresses.ts'
import { REASONS, reasonText } from '../contract/reasons.ts'
import { signMessage, type DkimSigner } from './dkim.ts'
import {
  unsigned,
  type Mailer,
  type Outcome,
  type Outgoing,
  type Postponed,
  type Unavailable,
} from './mailer.ts'
import { messageText } from './message.ts'
import { Places, type PlaceLimits } from './places.ts'
import {
  asksForPause,
  DEFAULT_LIMITS,
  ProviderLimits,
  type SendResult,
  type ProviderLimit,
} from './send-limits.ts'
import type { Delivery } from './smtp-dialogue.ts'
import type { PhaseTimeouts } from './smtp-dialogue.ts'
import { SmtpSession, type SessionOptions } from './smtp-session.ts'

export type SmtpServer = Pick<
  SessionOptions,
  'host' | 'port' | 'secure' | 'requireTls' | 'user' | 'password'
>

export type SmtpOptions = PlaceLimits & {
  /** A connection is replaced after this many mails, because some servers limit them. */
  maxMailsPerConnection: number
  /** An idle connection is closed after this time. */
  idleMs: number
  /** How long an envelope that was sent ahead waits for the reply to the mail before it. */
  followingMs: number
  timeouts: PhaseTimeouts
  /** How long a check may take to connect and sign in: while it waits, no other one is made. */
  checkMs: number
  providerLimits: Record<string, ProviderLimit>
  dkim: DkimSigner[]
  name: string | undefined
  tls: ConnectionOptions
}

export const DEFAULT_TIMEOUTS: PhaseTimeouts = {
  connect: 15_000,
  greeting: 30_000,
  command: 60_000,
  body: 180_000,
  end: 120_000,
}

const DEFAULTS: SmtpOptions = {
  connections: 10,
  hangingMs: 5_000,
  maxMailsPerConnection: 100,
  idleMs: 20_000,
  followingMs: 500,
  timeouts: DEFAULT_TIMEOUTS,
  checkMs: 20_000,
  providerLimits: DEFAULT_LIMITS,
  dkim: [],
  name: undefined,
  tls: {},
}

/** Sends over a pool of connections: more while mails wait, fewer while the server refuses some. */
export class SmtpMailer implements Mailer {
  readonly server: string
  readonly #session: SessionOptions
  readonly #options: SmtpOptions
  readonly #limits: ProviderLimits
  readonly #places: Places
  readonly #idle: { session: SmtpSession; since: number }[] = []
  readonly #waiting: Waiting[] = []
  /** Mails whose envelope was sent ahead, with the end of the mail before it. */
  readonly #following = new Map<SmtpSession, Waiting>()
  /** Connections over which a mail is being sent. */
  readonly #working = new Set<SmtpSession>()
  #opening = 0
  #openAgainAt = 0
  #followAgainAt = 0
  #closing: (() => void) | undefined
  #pumpTimer: NodeJS.Timeout | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(server: SmtpServer, options: Partial<SmtpOptions> = {}) {
    this.server = serverName(server)
    this.#options = { ...DEFAULTS, ...options }
    const { name, tls, timeouts, providerLimits } = this.#options
    this.#session = { ...server, name, tls, timeouts }
    this.#limits = new ProviderLimits(providerLimits)
    this.#places = new Places(this.#options, () => this.#pump())
  }

  async send(mail: Outgoing): Promise<Outcome> {
    const to = parseAddress(mail.to)
    const from = parseAddress(mail.from)
    if (to === undefined || from === undefined) {
      return { kind: 'failed', phase: to ? 'mail' : 'rcpt', reply: reasonText('notOneAddress') }
    }
    const signers = [...(mail.signers ?? []), ...this.#options.dkim]
    const signed = await signMessage(mail.message, signers).catch(unsigned)
    if ('kind' in signed) return signed
    const text = messageText(signed)
    const { businessId, beforeMessageEnd } = mail
    const delivery: Delivery = { from, to, text, beforeMessageEnd }
    const domain = domainOf(to)
    for (;;) {
      const postponed = this.#findPause(domain)
      if (postponed) {
        this.#pump() // after a refused connection, waiting mails and `close` wait for this mail
        return postponed
      }
      const begun = await this.#turn({ businessId, domain, delivery })
      if (isNotBegun(begun)) return begun
      let outcome: Outcome | 'connection refused' | undefined
      try {
        outcome = await this.#deliver(delivery, begun.session)
        if (outcome !== 'connection refused') return outcome
      } finally {
        begun.leave()
        this.#limits.note(domain, monotonicMs(), classifyOutcome(outcome))
        this.#postponeWaiting(domain)
        // After a refused connection, the next iteration calls it.
        if (outcome !== 'connection refused') this.#pump()
      }
    }
  }

  async check(from?: string): Promise<Unavailable | undefined> {
    const session = new SmtpSession(this.#session)
    const opened = await session.open(this.#options.checkMs)
    const trouble = opened ?? (from && (await session.checkSender(from)))
    if (trouble) return asUnavailable(trouble)
    this.#places.reset()
    this.#limits.reset()
    this.#openAgainAt = 0
    this.#keep(session)
    return undefined
  }

  throttledProviders() {
    return this.#limits.throttled(monotonicMs())
  }

  room() {
    const waiting = this.#waiting.filter(({ businessId }) => !this.isFull(businessId)).length
    return Math.max(0, this.#places.free + this.#places.width - waiting - this.#following.size)
  }

  isFull(businessId: number) {
    return this.#places.isFull(businessId)
  }

  #busy() {
    return this.#places.taken + this.#waiting.length + this.#following.size
  }

  async close() {
    if (this.#busy() > 0) {
      await new Promise<void>((resolve) => (this.#closing = resolve))
    }
    clearTimeout(this.#pumpTimer)
    clearTimeout(this.#idleTimer)
    const sessions = this.#idle.splice(0)
    await Promise.all(sessions.map(({ session }) => session.quit(GOODBYE_MS)))
  }

  /**
   * Uses the connection on which the mail has begun, an idle one, or a new one. If the server refuses
   * a further connection while others work, the mail waits for one of those.
   */
  async #deliver(
    delivery: Delivery,
    begun: SmtpSession | undefined,
  ): Promise<Outcome | 'connection refused'> {
    const kept = begun ?? this.#takeIdle()
    if (kept) {
      const outcome = await this.#sendOver(kept, delivery)
      // The connection was closed before: the server received nothing of this mail.
      const stale =
        outcome.kind === 'retry' && outcome.phase === 'mail' && !kept.alive && !isTimeout(outcome)
      if (!stale) return outcome
    }
    const session = new SmtpSession(this.#session)
    this.#opening++
    const trouble = await session.open()
    this.#opening--
    if (!trouble) return this.#sendOver(session, delivery)
    this.#places.narrow()
    this.#openAgainAt = monotonicMs() + REFUSED_FOR_MS
    if (this.#hasOtherConnection()) return 'connection refused'
    const unavailable = asUnavailable(trouble)
    this.#refuseWaiting(unavailable)
    return unavailable
  }

  /** Whether another connection is open or opening. If the last one fails, the server is unavailable. */
  #hasOtherConnection() {
    const hasIdle = this.#idle.some(({ session }) => session.alive)
    return this.#working.size > 0 || this.#opening > 0 || hasIdle
  }

  #findPause(domain: string): Postponed | undefined {
    const waitMs = this.#limits.pausedMs(domain, monotonicMs())
    if (waitMs === 0) return undefined
    return { kind: 'postponed', phase: 'connect', reply: REASONS.domainPaused, waitMs }
  }

  /** Waiting mails to a provider that is now paused are postponed, so that no worker waits for the pause. */
  #postponeWaiting(domain: string) {
    const postponed = this.#findPause(domain)
    if (!postponed) return
    for (let i = this.#waiting.length - 1; i >= 0; i--) {
      if (this.#waiting[i]!.domain !== domain) continue
      const [waiting] = this.#waiting.splice(i, 1) as [Waiting]
      waiting.begin(postponed)
    }
  }

  /** Waiting mails would only fail later for the same reason. */
  #refuseWaiting(unavailable: Unavailable) {
    for (const { begin } of this.#waiting.splice(0)) begin(unavailable)
  }

  async #sendOver(session: SmtpSession, delivery: Delivery): Promise<Outcome> {
    let followingTimer: NodeJS.Timeout | undefined
    this.#working.add(session)
    const sent = await session.send(delivery, () => {
      const next = this.#follow(session)
      if (next) followingTimer = setTimeout(() => this.#release(session), this.#options.followingMs)
      return next
    })
    this.#working.delete(session)
    clearTimeout(followingTimer)
    const outcome = isSenderRefused(sent) ? asUnavailable(sent) : sent
    if (outcome.reply.startsWith('421')) this.#places.narrow()
    else if (outcome.kind === 'sent') this.#places.widen()
    const following = this.#following.get(session)
    if (following) {
      this.#following.delete(session)
      this.#begin(following, session)
    } else this.#keep(session)
    return outcome
  }

  #takeIdle() {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      if (kept.session.alive) return kept.session
    }
    return undefined
  }

  #keep(session: SmtpSession) {
    if (!session.alive) return
    if (session.mails >= this.#options.maxMailsPerConnection) void session.quit(GOODBYE_MS)
    else {
      this.#idle.push({ session, since: monotonicMs() })
      this.#watchIdle()
    }
  }

  #watchIdle() {
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = undefined
      const before = monotonicMs() - this.#options.idleMs
      while (this.#idle[0] && this.#idle[0].since <= before) {
        void this.#idle.shift()?.session.quit(GOODBYE_MS)
      }
      if (this.#idle.length > 0) this.#watchIdle()
    }, this.#options.idleMs / 2).unref()
  }

  /** Waits until the mail can begin. Returns its connection if it has one, or why it cannot begin. */
  #turn(mail: Omit<Waiting, 'begin'>) {
    return new Promise<Begun>((resolve) => {
      this.#waiting.push({ ...mail, begin: resolve })
      this.#pump()
    })
  }

  #begin({ businessId, domain, begin }: Waiting, session: SmtpSession | undefined) {
    let counts = true
    const leaveProvider = () => {
      if (counts) this.#limits.leave(domain)
      counts = false
    }
    const leavePlace = this.#places.enter(businessId, leaveProvider)
    const leave = () => {
      leaveProvider()
      leavePlace()
    }
    begin({ session, leave })
  }

  /** The mail whose envelope can be sent ahead on this connection. */
  #follow(session: SmtpSession) {
    if (monotonicMs() < this.#followAgainAt) return undefined
    if (session.mails >= this.#options.maxMailsPerConnection) return undefined
    if (this.#places.free < 0) return undefined
    const place = this.#waiting.findIndex(
      ({ businessId, domain }) =>
        !this.isFull(businessId) && this.#limits.enter(domain, monotonicMs()) === 0,
    )
    if (place < 0) return undefined
    const [waiting] = this.#waiting.splice(place, 1) as [Waiting]
    this.#following.set(session, waiting)
    return waiting.delivery
  }

  /**
   * The server is slow with one mail: the mail that was sent ahead uses another connection. That
   * costs this connection, so no envelope is sent ahead for a while.
   */
  #release(session: SmtpSession) {
    const waiting = this.#following.get(session)
    if (!waiting) return
    this.#followAgainAt = monotonicMs() + SLOW_FOR_MS
    this.#following.delete(session)
    session.releaseFollowing()
    this.#limits.leave(waiting.domain)
    this.#waiting.unshift(waiting)
    this.#pump()
  }

  /** Begins all mails that can begin: a provider or business at its limit does not delay the others. */
  #pump() {
    clearTimeout(this.#pumpTimer)
    const now = monotonicMs()
    let soonest = Number.POSITIVE_INFINITY
    for (let i = 0; i < this.#waiting.length && this.#places.free > 0;) {
      if (now < this.#openAgainAt && this.#idle.length === 0 && this.#hasOtherConnection()) {
        soonest = Math.min(soonest, this.#openAgainAt - now)
        break
      }
      const waiting = this.#waiting[i] as Waiting
      const wait = this.isFull(waiting.businessId)
        ? Number.POSITIVE_INFINITY
        : this.#limits.enter(waiting.domain, now)
      if (wait > 0) {
        soonest = Math.min(soonest, wait)
        i++
        continue
      }
      this.#waiting.splice(i, 1)
      this.#begin(waiting, undefined)
    }
    if (Number.isFinite(soonest)) this.#pumpTimer = setTimeout(() => this.#pump(), soonest)
    if (this.#busy() === 0) this.#closing?.()
  }
}

type Waiting = {
  businessId: number
  domain: string
  delivery: Delivery
  begin: (begun: Begun) => void
}

/** The connection on which a mail has begun, if it has one, or why it does not begin. */
type Begun =
  | { session: SmtpSession | undefined; /** Frees its place. */ leave: () => void }
  | Unavailable
  | Postponed

/**
 * Reads `smtp://user:pass@host:port` or `smtps://…`. TLS is required unless the server is on this
 * machine or the URL says `?tls=never`. Throws if the URL is invalid.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    throw new Error('must be smtp://user:password@host:port or smtps://…')
  }
  const tls = url.searchParams.get('tls')
  const others = [...url.searchParams.keys()].filter((name) => name !== 'tls')
  if (others.length > 0 || (tls !== null && tls !== 'never')) {
    throw new Error('supports only ?tls=never')
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const secure = url.protocol === 'smtps:'
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTls: !secure && tls !== 'never' && !isLoopback(host),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.username === '' ? null : decodeURIComponent(url.password),
  }
}

/** How the state of a mail server is stored and shown: without user and password. */
const serverName = ({ host, port }: Pick<SmtpServer, 'host' | 'port'>) => `${host}:${port}`

export const serverOfUrl = (smtpUrl: string | undefined) =>
  smtpUrl === undefined ? undefined : serverName(parseSmtpUrl(smtpUrl))

const GOODBYE_MS = 1000
const SLOW_FOR_MS = 10_000

/** After a refused connection, waiting mails use the open ones for this time. */
const REFUSED_FOR_MS = 5_000

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

const isTimeout = (outcome: Outcome) => outcome.reply.startsWith('no answer within')

function classifyOutcome(outcome: Outcome | 'connection refused' | undefined): SendResult {
  if (typeof outcome !== 'object') return 'other'
  if (outcome.kind === 'sent') return 'accepted'
  // In its answer to MAIL the server speaks for itself: it does not know the recipient yet.
  if (outcome.kind !== 'retry' || outcome.phase === 'mail' || !/^4\d\d/.test(outcome.reply)) {
    return 'other'
  }
  return asksForPause(outcome.reply) ? 'paused' : 'deferred'
}

const asUnavailable = ({ phase, reply }: Outcome): Unavailable => ({
  kind: 'unavailable',
  phase,
  reply,
})

const isNotBegun = (begun: Begun): begun is Unavailable | Postponed => 'kind' in begun

/**
 * The server wants another sign-in, or refuses the envelope sender, which the operator configures: it
 * would refuse every mail. 5.1.7, 5.1.8, 5.7.27 and 5.7.60 are about senders only.
 */
function isSenderRefused({ kind, phase, reply }: Outcome) {
  if (kind !== 'failed') return false
  if (phase === 'rcpt') return isSenderRefusedLate(reply)
  return phase === 'mail' && /^53[0458]\b|^553\b|^5\d\d[ -]5\.(1\.[78]|7\.(27|60))\b/.test(reply)
}

/** Postfix refuses a sender in its reply to RCPT. A refused recipient may quote the same words. */
const isSenderRefusedLate = (reply: string) =>
  /^53[0458]\b/.test(reply) ||
  (/sender address rejected/i.test(reply) && !/recipient address rejected/i.test(reply))
