import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Outcome, Phase } from './mailer.ts'

export type SessionOptions = {
  host: string
  port: number
  /** TLS from the first byte. */
  secure: boolean
  /** STARTTLS or nothing. Without it the connection stays plain. */
  requireTls: boolean
  user: string | null
  password: string | null
  /** What we call ourselves in EHLO. */
  name: string | undefined
  tls: ConnectionOptions
  timeouts: PhaseTimeouts
}

/** How long the server may take, in milliseconds. */
export type PhaseTimeouts = {
  connect: number
  greeting: number
  /** Each of EHLO, STARTTLS with its handshake, AUTH, MAIL, RCPT and DATA. */
  command: number
  /** For the whole message to leave. */
  body: number
  /** From the end of the message to the answer. */
  end: number
}

export type Trouble = Extract<Outcome, { kind: 'retry' | 'failed' | 'uncertain' }>

/** A mail for this session: bytes that are ready, and the commit before their end. */
export type Delivery = {
  from: string
  to: string
  bytes: Buffer
  onMessageEnded: () => Promise<void>
}

/**
 * One conversation with a mail server. The protocol is nodemailer's; the phase is ours, because a
 * connection that breaks before the end of the message and one that breaks after it look the same
 * to the library and are worlds apart for the mail.
 */
export class SmtpSession {
  /** Mails it took care of, accepted or not. */
  mails = 0
  readonly #connection: SMTPConnection
  /** The plain socket; under TLS another one speaks over it. */
  readonly #socket = new Socket()
  readonly #options: SessionOptions
  /** Commands the server has not answered yet, oldest first. */
  #unanswered: Phase[] = []
  #answered: Phase = 'connect'
  /** The server's last refusal in this exchange: the library forgets it when the server hangs up. */
  #refusal: Trouble | undefined
  /** Where the message is, once its transaction has come that far. */
  #message: 'body' | 'end' | undefined
  #timer: NodeJS.Timeout | undefined
  #waiting: ((trouble: Trouble) => void) | undefined
  #closed = false

  constructor(options: SessionOptions) {
    this.#options = options
    const { timeouts } = options
    // Ours are shorter, phase by phase: the library's must never be the first to fire.
    const longest = 2 * (timeouts.connect + timeouts.greeting + timeouts.command * 6)
    this.#connection = new SMTPConnection({
      host: options.host,
      port: options.port,
      socket: this.#socket,
      secure: options.secure,
      requireTLS: options.requireTls,
      ignoreTLS: !options.requireTls,
      name: options.name,
      tls: options.tls,
      connectionTimeout: longest,
      greetingTimeout: longest,
      dnsTimeout: timeouts.connect * 2,
      socketTimeout: 2 * Math.max(timeouts.body, timeouts.end, longest),
      transactionLog: true,
      logger: this.#listener(),
    })
    this.#connection.on('error', (error) => this.#broke(error))
    this.#connection.on('end', () => {
      this.#closed = true
      // The library ends first and calls back after: what it has to say is worth more than this.
      setImmediate(() => this.#broke(new Error('the connection was closed')))
    })
  }

  get alive() {
    return !this.#closed
  }

  get phase(): Phase {
    return this.#message ?? this.#unanswered[0] ?? this.#answered
  }

  /** Connects, secures and signs in. Gives what went wrong, or undefined. */
  async open(): Promise<Trouble | undefined> {
    const { user, password } = this.#options
    const trouble = await this.#exchange((done) => this.#connection.connect(done))
    if (trouble || user === null) return trouble
    if (!this.#connection.allowsAuth) {
      this.close()
      return { kind: 'retry', phase: 'auth', reply: 'the server offers no way to sign in' }
    }
    const credentials = { user, pass: password ?? '' }
    const refused = await this.#exchange((done) => this.#connection.login({ credentials }, done))
    if (refused) this.close()
    return refused
  }

  async send({ from, to, bytes, onMessageEnded }: Delivery): Promise<Outcome> {
    this.mails++
    let reply = ''
    this.#unanswered = []
    this.#message = undefined
    // A small message leaves in one piece with its end; a large one flows while its end is committed.
    const inOnePiece = bytes.length <= ONE_PIECE
    const stream = new MessageStream(bytes, {
      begins: () => {
        if (inOnePiece) this.#socket.cork()
        this.#enter('body')
      },
      beforeEnd: onMessageEnded,
      ends: () => {
        this.#enter('end')
        if (inOnePiece) setImmediate(() => this.#socket.uncork())
      },
    })
    const trouble = await this.#exchange((done) =>
      this.#connection.send({ from, to: [to], size: bytes.length }, stream, (error, info) => {
        reply = wordsOf(info?.response ?? '')
        if (!error && this.#message !== 'end') {
          // Accepted before it was whole: whatever that was, it was not this message.
          done(new Error(`answered before the end of the message: ${reply}`))
        } else done(error)
      }),
    )
    if (!trouble) {
      this.#message = undefined
      this.#answered = 'mail'
      return { kind: 'sent', phase: 'end', reply }
    }
    stream.destroy()
    await this.#recover(trouble)
    return trouble
  }

  /** Says goodbye; the server has a moment to answer. */
  async quit(patience: number) {
    if (this.#closed) return
    const ended = new Promise((resolve) => this.#connection.once('end', resolve))
    const timer = setTimeout(() => this.close(), patience)
    this.#connection.quit()
    await ended
    clearTimeout(timer)
    this.#closed = true
  }

  close() {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#connection.close()
  }

  /** One question to the library, answered by it, by a broken connection or by our timer. */
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

  /** After a refusal the server is asked to forget the transaction; after all else we part. */
  async #recover(trouble: Trouble) {
    const refusedMail = /^[45]\d\d/.test(trouble.reply) && !trouble.reply.startsWith('421')
    if (this.#closed || !refusedMail || this.#message === 'body') return this.close()
    this.#message = undefined
    const lost = await this.#exchange((done) => this.#connection.reset(done))
    if (lost) this.close()
  }

  #broke(error: Error) {
    this.#closed = true
    this.#waiting?.(this.#troubleOf(error))
  }

  #troubleOf(error: SmtpError) {
    const trouble = troubleOf(error, this.phase)
    const unsaid = trouble.kind === 'retry' && !error.response
    return this.#refusal && (unsaid || this.#refusal.reply === trouble.reply)
      ? this.#refusal
      : trouble
  }

  #enter(message: 'body' | 'end') {
    this.#message = message
    this.#arm()
  }

  #arm() {
    clearTimeout(this.#timer)
    if (!this.#waiting) return
    const { phase } = this
    const patience = this.#patience(phase)
    this.#timer = setTimeout(() => {
      const trouble = troubleOf(
        new Error(`no answer within ${patience / 1000} s (${phase})`),
        phase,
      )
      this.#waiting?.(trouble)
      this.close()
    }, patience)
  }

  #patience(phase: Phase) {
    const { timeouts } = this.#options
    switch (phase) {
      case 'connect':
      case 'greeting':
      case 'body':
      case 'end':
        return timeouts[phase]
      default:
        return timeouts.command
    }
  }

  /** The library tells its logger each command and each reply: that is where we read the phase. */
  #listener() {
    const hear = (entry: { tnx?: string; remotePort?: number } | undefined, text?: string) => {
      if (entry?.tnx === 'client') {
        this.#unanswered.push(phaseOf(text ?? ''))
        this.#arm()
      } else if (entry?.tnx === 'server') {
        this.#answered = this.#unanswered.shift() ?? this.#answered
        this.#refusal = refusalOf(text ?? '', this.#message ?? this.#answered) ?? this.#refusal
        this.#arm()
      } else if (entry?.tnx === 'network' && entry.remotePort && this.#answered === 'connect') {
        this.#unanswered.push('greeting')
        this.#arm()
      }
    }
    return { trace: hear, debug: hear, info: hear, warn: hear, error: hear, fatal: hear }
  }
}

const ONE_PIECE = 32_768

/** The message, and then nothing until its end has been committed. */
class MessageStream extends Readable {
  readonly #bytes: Buffer
  readonly #steps: { begins(): void; beforeEnd(): Promise<void>; ends(): void }
  #stage: 'ready' | 'sent' | 'committing' = 'ready'

  constructor(bytes: Buffer, steps: { begins(): void; beforeEnd(): Promise<void>; ends(): void }) {
    super({ highWaterMark: bytes.length + 1 })
    this.#bytes = bytes
    this.#steps = steps
  }

  override _read() {
    if (this.#stage === 'ready') {
      this.#stage = 'sent'
      this.#steps.begins()
      this.push(this.#bytes)
    } else if (this.#stage === 'sent') {
      this.#stage = 'committing'
      void this.#end()
    }
  }

  async #end() {
    try {
      await this.#steps.beforeEnd()
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
      return
    }
    // The connection may have broken during the commit: then the end is never written.
    if (this.destroyed) return
    this.#steps.ends()
    this.push(null)
  }
}

const phaseOf = (command: string): Phase => {
  switch (command.slice(0, 4).toUpperCase()) {
    case 'EHLO':
    case 'HELO':
      return 'ehlo'
    case 'STAR':
      return 'starttls'
    case 'MAIL':
    case 'RSET':
    case 'QUIT':
      return 'mail'
    case 'RCPT':
      return 'rcpt'
    case 'DATA':
      return 'data'
    default:
      return 'auth'
  }
}

type SmtpError = Error & {
  response?: string
  responseCode?: number
  code?: string
  command?: string
}

/** 4xx may pass and 5xx is final; without an answer it depends on whether the message had ended. */
function troubleOf(error: SmtpError, phase: Phase): Trouble {
  const { response, responseCode = 0 } = error
  const said = commandPhase(error) ?? phase
  if (response && responseCode >= 500)
    return { kind: 'failed', phase: said, reply: wordsOf(response) }
  if (response && responseCode >= 400)
    return { kind: 'retry', phase: said, reply: wordsOf(response) }
  const reply = wordsOf(error.message)
  if (phase === 'end') return { kind: 'uncertain', phase, reply }
  // Refused by the library before a word was said: this message is larger than the server takes.
  if (error.code === 'EMESSAGE' && !response) return { kind: 'failed', phase: 'mail', reply }
  return { kind: 'retry', phase, reply }
}

const refusalOf = (reply: string, phase: Phase): Trouble | undefined =>
  /^[45]\d\d/.test(reply)
    ? { kind: reply.startsWith('5') ? 'failed' : 'retry', phase, reply: wordsOf(reply) }
    : undefined

/** Pipelined refusals come out when DATA is answered, but the error names its own command. */
function commandPhase({ command }: SmtpError): Phase | undefined {
  if (command === 'MAIL FROM') return 'mail'
  if (command === 'RCPT TO') return 'rcpt'
  return undefined
}

const wordsOf = (text: string) =>
  text
    .replace(/\s*\r?\n\s*/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .slice(0, 500)
