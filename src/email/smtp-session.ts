import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { monotonicMs } from '../clock.ts'
import { reasonText } from '../contract/reasons.ts'
import type { Outcome, Phase } from './mailer.ts'
import {
  SmtpDialogue,
  lost,
  replyWordsOf,
  type Delivery,
  type PhaseTimeouts,
  type Trouble,
} from './smtp-dialogue.ts'

export type SessionOptions = {
  host: string
  port: number
  /** TLS from the first byte. */
  secure: boolean
  /** Fail if the server does not support STARTTLS; otherwise the connection stays unencrypted. */
  requireTls: boolean
  user: string | null
  password: string | null
  /** The host name in EHLO. */
  name: string | undefined
  tls: ConnectionOptions
  timeouts: PhaseTimeouts
}

/**
 * One connection to a mail server. nodemailer connects, starts TLS and signs in; `SmtpDialogue` sends
 * the mails. The session records the phase itself, because the phase in which a connection breaks
 * decides whether the mail can be sent again.
 */
export class SmtpSession {
  /** Mails that ended on this connection, accepted or not. */
  mails = 0
  readonly #connection: SMTPConnection
  readonly #options: SessionOptions
  /** Commands the server has not answered yet, oldest first. */
  #unanswered: Phase[] = []
  #answered: Phase = 'connect'
  /** The server's last refusal: the library drops it when the server closes the connection. */
  #refusal: Trouble | undefined
  #dialogue: SmtpDialogue | undefined
  #timer: NodeJS.Timeout | undefined
  #waiting: ((trouble: Trouble) => void) | undefined
  #closed = false
  #openedAt = 0
  #openMs = Number.POSITIVE_INFINITY

  constructor(options: SessionOptions) {
    this.#options = options
    const { timeouts } = options
    // Longer than the timeouts of the phases, so that the library's timeout never comes first.
    const longest = 2 * (timeouts.connect + timeouts.greeting + timeouts.command * 6)
    this.#connection = new SMTPConnection({
      host: options.host,
      port: options.port,
      secure: options.secure,
      requireTLS: options.requireTls,
      ignoreTLS: !options.requireTls,
      name: options.name,
      tls: options.tls,
      connectionTimeout: longest,
      greetingTimeout: longest,
      dnsTimeout: timeouts.connect * 2,
      socketTimeout: longest,
      transactionLog: true,
      logger: this.#listener(),
    })
    this.#connection.on('error', (error) => this.#broke(error))
    this.#connection.on('end', () => {
      this.#closed = true
      // The library reports its own error after this event, and that error says more.
      setImmediate(() => this.#broke(new Error('the connection was closed')))
    })
  }

  get alive() {
    return !this.#closed
  }

  /** Connects, starts TLS and signs in. Returns the failure, or undefined. */
  async open(maxMs = Number.POSITIVE_INFINITY): Promise<Trouble | undefined> {
    this.#openedAt = monotonicMs()
    this.#openMs = maxMs
    const trouble =
      (await this.#exchange((done) => this.#connection.connect(done))) ?? (await this.#signIn())
    if (trouble) this.close()
    else this.#takeOver()
    return trouble
  }

  /** See `SmtpDialogue`. */
  send(delivery: Delivery, next: () => Delivery | undefined): Promise<Outcome> {
    this.mails++
    return this.#dialogue!.send(delivery, next)
  }

  /** Returns the refusal of this envelope sender, or undefined. Sends no mail. */
  checkSender(from: string): Promise<Trouble | undefined> {
    return this.#dialogue!.checkSender(from)
  }

  releaseFollowing() {
    this.#dialogue!.releaseFollowing()
  }

  /** Sends QUIT and waits a moment for the reply. */
  async quit(maxWaitMs: number) {
    if (this.#closed) return
    const ended = new Promise((resolve) => this.#connection.once('end', resolve))
    const timer = setTimeout(() => this.close(), maxWaitMs)
    this.#dialogue!.quit()
    await ended
    clearTimeout(timer)
    this.#closed = true
  }

  close() {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#dialogue?.broke(new Error('the connection was closed'))
    this.#connection.close()
  }

  async #signIn(): Promise<Trouble | undefined> {
    const { user, password } = this.#options
    if (user === null) return undefined
    if (!this.#connection.allowsAuth) {
      return { kind: 'retry', phase: 'auth', reply: reasonText('noSignIn') }
    }
    const credentials = { user, pass: password ?? '' }
    return this.#exchange((done) => this.#connection.login({ credentials }, done))
  }

  /** The server's extensions as the library read them, and its socket, plain or TLS. */
  #takeOver() {
    const opened = this.#connection as unknown as Opened
    const {
      _socket: socket,
      _supportedExtensions: extensions,
      _maxAllowedSize: maxMessageBytes,
    } = opened
    const { _onSocketData: hear } = opened
    socket.off('data', hear)
    socket.setTimeout(0)
    this.#dialogue = new SmtpDialogue({
      socket,
      pipelining: extensions.includes('PIPELINING'),
      size: extensions.includes('SIZE'),
      maxMessageBytes,
      timeouts: this.#options.timeouts,
      close: () => this.close(),
    })
  }

  /** One call of the library; ends with its callback, a lost connection or the timeout. */
  #exchange(ask: (done: (error?: Error | null) => void) => void): Promise<Trouble | undefined> {
    return new Promise((resolve) => {
      const finish = (trouble: Trouble | undefined) => {
        clearTimeout(this.#timer)
        this.#waiting = undefined
        resolve(trouble)
      }
      this.#waiting = finish
      this.#refusal = undefined
      this.#arm()
      ask((error) => {
        if (this.#waiting === finish) finish(error ? this.#troubleOf(error) : undefined)
      })
    })
  }

  #broke(error: Error) {
    this.#closed = true
    this.#dialogue?.broke(error)
    this.#waiting?.(this.#troubleOf(error))
  }

  get #phase(): Phase {
    return this.#unanswered[0] ?? this.#answered
  }

  #troubleOf(error: SmtpError) {
    const trouble = troubleOf(error, this.#phase)
    const isWithoutReply = trouble.kind === 'retry' && !error.response
    return this.#refusal && (isWithoutReply || this.#refusal.reply === trouble.reply)
      ? this.#refusal
      : trouble
  }

  #arm() {
    clearTimeout(this.#timer)
    if (!this.#waiting) return
    const phase = this.#phase
    const { timeouts } = this.#options
    const phaseMs = timeouts[phase] ?? timeouts.command
    const leftMs = Math.max(0, this.#openedAt + this.#openMs - monotonicMs())
    const timeoutMs = leftMs < phaseMs ? this.#openMs : phaseMs
    const onTimeout = () => {
      this.#waiting?.(lost(new Error(`no answer within ${timeoutMs / 1000} s (${phase})`), phase))
      this.close()
    }
    this.#timer = setTimeout(onTimeout, Math.min(phaseMs, leftMs))
  }

  /** Reads the phase from the library's log of commands and replies. */
  #listener() {
    const log = (entry: { tnx?: string; remotePort?: number } | undefined, text?: string) => {
      if (entry?.tnx === 'client') {
        this.#unanswered.push(phaseOf(text ?? ''))
        this.#arm()
      } else if (entry?.tnx === 'server') {
        this.#answered = this.#unanswered.shift() ?? this.#answered
        this.#refusal = refusalOf(text ?? '', this.#answered) ?? this.#refusal
        this.#arm()
      } else if (entry?.tnx === 'network' && entry.remotePort && this.#answered === 'connect') {
        this.#unanswered.push('greeting')
        this.#arm()
      }
    }
    return { trace: log, debug: log, info: log, warn: log, error: log, fatal: log }
  }
}

/** Fields of nodemailer's connection that its types do not declare. */
type Opened = {
  _socket: Socket
  _onSocketData: (chunk: Buffer) => void
  _supportedExtensions: string[]
  _maxAllowedSize: number
}

const phaseOf = (command: string): Phase => {
  switch (command.slice(0, 4).toUpperCase()) {
    case 'EHLO':
    case 'HELO':
      return 'ehlo'
    case 'STAR':
      return 'starttls'
    default:
      return 'auth'
  }
}

type SmtpError = Error & { response?: string; responseCode?: number }

/** While a connection is opened, both kinds mean that the server is unavailable; see `asUnavailable`. */
function troubleOf(error: SmtpError, phase: Phase): Trouble {
  const { response, responseCode = 0 } = error
  if (!response || responseCode < 400) return lost(error, phase)
  return { kind: responseCode >= 500 ? 'failed' : 'retry', phase, reply: replyWordsOf(response) }
}

const refusalOf = (reply: string, phase: Phase): Trouble | undefined =>
  /^[45]\d\d/.test(reply)
    ? { kind: reply.startsWith('5') ? 'failed' : 'retry', phase, reply: replyWordsOf(reply) }
    : undefined
