import type { Socket } from 'node:net'
import { reasonText } from '../contract/reasons.ts'
import type { Outcome, Phase } from './mailer.ts'

export type PhaseTimeouts = Partial<Record<Phase, number>> & {
  connect: number
  greeting: number
  /** Each of EHLO, STARTTLS with its handshake, AUTH, MAIL, RCPT and DATA. */
  command: number
  body: number
  /** From the end of the message to the reply. */
  end: number
}

export type Trouble = Extract<Outcome, { kind: 'retry' | 'failed' | 'uncertain' }>

/** A mail to send: its bytes as ASCII text, and the commit before the end of the message. */
export type Delivery = {
  from: string
  to: string
  text: string
  beforeMessageEnd: () => Promise<void>
}

export type SmtpLine = {
  socket: Socket
  pipelining: boolean
  /** The server supports SIZE; the largest message that it accepts, 0 for no limit. */
  size: boolean
  maxMessageBytes: number
  timeouts: PhaseTimeouts
  close(): void
}

/**
 * Sends mails over an open connection in as few packets as the server allows: the envelope in one,
 * and the envelope of the next mail together with the end of this one (RFC 2920).
 */
export class SmtpDialogue {
  readonly #line: SmtpLine
  /** Commands without a reply, oldest first. */
  #asked: Question[] = []
  /** The mail that is being sent, and the next one, whose envelope was sent with its end. */
  #attempt: Attempt | undefined
  #following: Attempt | undefined
  /** The first part of an incomplete reply. */
  #unread = ''
  #lines: string[] = []
  #timer: NodeJS.Timeout | undefined
  #over = false
  #isSpent = false

  constructor(line: SmtpLine) {
    this.#line = line
    line.socket.on('data', (chunk: Buffer) => this.#hear(chunk.toString('latin1')))
  }

  /** Calls `next` for the following mail when it sends the end of this one. That mail must be sent next. */
  async send(delivery: Delivery, next: () => Delivery | undefined): Promise<Outcome> {
    const { maxMessageBytes } = this.#line
    const hasBegun = this.#following?.delivery === delivery
    if (!hasBegun && maxMessageBytes > 0 && delivery.text.length > maxMessageBytes)
      return tooLarge(maxMessageBytes)
    const attempt = hasBegun ? this.#following! : this.#begin(delivery, '')
    this.#following = undefined
    // Nothing of the message was sent.
    if (this.#over) return attempt.refused ?? lost(new Error('the connection was closed'), 'mail')
    this.#attempt = attempt
    const outcome =
      (await attempt.envelope.promise) ??
      (await this.#passMessage(attempt)) ??
      (await this.#end(attempt, next))
    this.#attempt = undefined
    if (this.#isSpent) this.#line.close()
    else if (outcome.kind !== 'sent') await this.#recover(outcome)
    return outcome
  }

  /** Begins a mail of this sender and gives it up again. A refusal closes the connection. */
  async checkSender(from: string): Promise<Trouble | undefined> {
    const reply = await this.#command(`MAIL FROM:<${from}>`)
    if (reply.startsWith('2')) {
      await this.#command('RSET')
      return undefined
    }
    this.#line.close()
    return isRefusal(reply) ? refusal(reply, 'mail') : lost(new Error(NO_ANSWER), 'mail')
  }

  /** The reply; empty if the connection ended before it. */
  #command(text: string) {
    const { promise, resolve } = Promise.withResolvers<string>()
    if (this.#over) resolve('')
    else {
      this.#ask('mail', resolve)
      this.#write(`${text}\r\n`)
    }
    return promise
  }

  /** The next mail uses another connection; this one is closed after the current reply. */
  releaseFollowing() {
    this.#following = undefined
    this.#isSpent = true
  }

  /** Sends QUIT. The caller limits how long it waits for the end of the connection. */
  quit() {
    this.#ask('mail', () => this.#line.close())
    this.#write('QUIT\r\n')
  }

  broke(error: Error) {
    if (this.#over) return
    // The server may close before it terminates its last reply.
    if (/^[45]\d\d[ -]/.test(this.#unread)) this.#hear('\r\n')
    this.#finish((phase) => lost(error, phase))
  }

  /** Sends the envelope after the rest of the mail before it. */
  #begin(delivery: Delivery, before: string) {
    const attempt: Attempt = {
      delivery,
      phase: 'mail',
      refused: undefined,
      envelope: Promise.withResolvers(),
      answer: Promise.withResolvers(),
    }
    if (this.#over) return attempt
    const { from, to, text } = delivery
    const mail = `MAIL FROM:<${from}>${this.#line.size ? ` SIZE=${text.length}` : ''}\r\n`
    const rcpt = `RCPT TO:<${to}>\r\n`
    if (this.#line.pipelining) {
      this.#askEnvelope(attempt, 'mail')
      this.#askEnvelope(attempt, 'rcpt')
      this.#ask('data', (reply) => this.#mayBegin(attempt, reply))
      this.#write(`${before}${mail}${rcpt}DATA\r\n`)
      return attempt
    }
    const orGiveUp = (go: () => void) => () =>
      attempt.refused ? attempt.envelope.resolve(attempt.refused) : go()
    const askForData = orGiveUp(() => {
      this.#ask('data', (reply) => this.#mayBegin(attempt, reply))
      this.#write('DATA\r\n')
    })
    const nameRecipient = orGiveUp(() => {
      this.#askEnvelope(attempt, 'rcpt', askForData)
      this.#write(rcpt)
    })
    this.#askEnvelope(attempt, 'mail', nameRecipient)
    this.#write(`${before}${mail}`)
    return attempt
  }

  #askEnvelope(attempt: Attempt, phase: 'mail' | 'rcpt', then = () => {}) {
    this.#ask(phase, (reply) => {
      // A command without a reply was not refused.
      if (this.#over) return
      if (!reply.startsWith('2')) attempt.refused ??= refusal(reply, phase)
      attempt.phase = phase === 'mail' ? 'rcpt' : 'data'
      then()
    })
  }

  /** Some servers answer DATA with 250 instead of 354. */
  #mayBegin(attempt: Attempt, reply: string) {
    const { refused, envelope } = attempt
    const isAccepted = reply.startsWith('3') || reply.startsWith('2')
    if (!isAccepted) envelope.resolve(refused ?? refusal(reply, 'data'))
    else if (!refused) {
      attempt.phase = 'body'
      envelope.resolve(undefined)
    } else if (refused.phase === 'mail' || !reply.startsWith('3')) {
      // After a refused MAIL, or with 250, the server may accept even an empty message: close.
      this.#line.close()
      envelope.resolve(refused)
    } else {
      // The server wants the message although it refused the envelope: send an empty one.
      this.#ask('data', () => envelope.resolve(refused))
      this.#write('.\r\n')
    }
  }

  /** Sends the message up to its end, and the end after the commit. */
  async #passMessage(attempt: Attempt): Promise<Outcome | undefined> {
    const { answer, delivery } = attempt
    if (this.#over) return answer.promise
    this.#ask('body', (reply) => this.#answered(attempt, reply))
    this.#startTimeout()
    if (delivery.text.length > ONE_PIECE) {
      const left = new Promise<undefined>((resolve) =>
        // If writing fails, the connection is lost, and that is the outcome.
        this.#line.socket.write(
          stuffed(delivery.text),
          'latin1',
          (error) => error ?? resolve(undefined),
        ),
      )
      const trouble = await Promise.race([left, answer.promise])
      if (trouble) return trouble
    }
    const committed = delivery.beforeMessageEnd().then(
      () => undefined,
      (error: Error) => lost(error, 'body'),
    )
    return Promise.race([committed, answer.promise])
  }

  async #end(attempt: Attempt, next: () => Delivery | undefined): Promise<Outcome> {
    const { delivery, answer } = attempt
    if (!this.#over) {
      attempt.phase = 'end'
      this.#asked[0]!.phase = 'end'
      const end = `${delivery.text.length > ONE_PIECE ? '' : stuffed(delivery.text)}.\r\n`
      const follows = this.#line.pipelining ? next() : undefined
      if (follows) this.#following = this.#begin(follows, end)
      else this.#write(end)
    }
    return answer.promise
  }

  #answered({ phase, answer }: Attempt, reply: string) {
    if (phase === 'end') {
      if (reply.startsWith('2')) answer.resolve({ kind: 'sent', phase, reply: replyWordsOf(reply) })
      else answer.resolve(isRefusal(reply) ? refusal(reply, phase) : unknown(reply))
    } else if (isRefusal(reply)) answer.resolve(refusal(reply, 'body'))
    else {
      // The server replied before the end of the message, so it did not accept this message.
      answer.resolve(lost(new Error(`answered before the end of the message: ${reply}`), 'body'))
    }
  }

  /** RSET after a refusal; after any other failure the connection is closed. */
  async #recover({ phase, reply }: Outcome) {
    const isOfMail = isRefusal(reply) && !reply.startsWith('421') && phase !== 'body'
    if (this.#over || !isOfMail) return this.#line.close()
    // The end of the message ended the transaction, and the next one may have begun.
    if (phase === 'end') return
    if (!(await this.#command('RSET')).startsWith('2')) this.#line.close()
  }

  #ask(phase: Phase, onReply: (reply: string) => void) {
    this.#asked.push({ phase, onReply })
  }

  #write(text: string) {
    this.#line.socket.write(text, 'latin1')
    this.#startTimeout()
  }

  #hear(text: string) {
    if (this.#over) return
    this.#unread += text
    let isAnswered = false
    for (let end = this.#unread.indexOf('\n'); end >= 0; end = this.#unread.indexOf('\n')) {
      const line = this.#unread.slice(0, this.#unread[end - 1] === '\r' ? end - 1 : end)
      this.#unread = this.#unread.slice(end + 1)
      if (line.trim() === '') continue
      this.#lines.push(line)
      if (/^\d{3}-/.test(line) && this.#lines.length < MAX_REPLY_LINES) continue
      const reply = inUtf8(this.#lines.join('\n'))
      this.#lines = []
      this.#reply(reply)
      if (this.#over) return
      isAnswered = true
    }
    if (this.#unread.length > MAX_LINE_LENGTH) this.#unread = ''
    // Only after a complete reply: endless lines must not extend the timeout.
    if (isAnswered) this.#startTimeout()
  }

  #reply(reply: string) {
    const question = this.#asked.shift()
    question?.onReply(reply)
    // 421 closes the connection after any command; or the reply belongs to no command.
    if (reply.startsWith('421') || !question) {
      this.#finish((phase) =>
        isRefusal(reply) ? refusal(reply, phase) : lost(new Error(reply), phase),
      )
      this.#line.close()
    }
  }

  /** Ends the mails that still wait for a reply. */
  #finish(end: (phase: Phase) => Trouble) {
    this.#over = true
    clearTimeout(this.#timer)
    for (const attempt of [this.#attempt, this.#following]) {
      if (!attempt) continue
      const trouble = attempt.refused ?? end(attempt.phase)
      attempt.envelope.resolve(trouble)
      attempt.answer.resolve(trouble)
    }
    for (const { onReply } of this.#asked.splice(0)) onReply('')
  }

  /** Starts the timeout of the oldest command without a reply. */
  #startTimeout() {
    clearTimeout(this.#timer)
    const [question] = this.#asked
    if (!question || this.#over) return
    const { timeouts } = this.#line
    const { phase } = question
    const timeoutMs = timeouts[phase] ?? timeouts.command
    this.#timer = setTimeout(() => {
      this.#finish((at) => lost(new Error(`no answer within ${timeoutMs / 1000} s (${phase})`), at))
      this.#line.close()
    }, timeoutMs)
  }
}

type Question = { phase: Phase; onReply: (reply: string) => void }

type Attempt = {
  delivery: Delivery
  /** The phase whose reply it waits for. */
  phase: Phase
  /** The first refusal of its envelope. */
  refused: Trouble | undefined
  /** Resolves to the trouble of the envelope, or to undefined if the message can be sent. */
  envelope: PromiseWithResolvers<Trouble | undefined>
  answer: PromiseWithResolvers<Outcome>
}

const ONE_PIECE = 32_768
const MAX_LINE_LENGTH = 65_536
const MAX_REPLY_LINES = 1_000

/** Dot stuffing (RFC 5321, 4.5.2), with CRLF as the only line break. */
function stuffed(text: string) {
  const whole = /[^\r]\n|\r[^\n]|^\n|\r$/.test(text) ? text.replace(/\r\n?|\n/g, '\r\n') : text
  const inside = whole.includes('\r\n.') ? whole.replaceAll('\r\n.', '\r\n..') : whole
  return `${inside.startsWith('.') ? '.' : ''}${inside}${inside.endsWith('\r\n') ? '' : '\r\n'}`
}

const NO_ANSWER = 'the connection was closed without an answer'

const isRefusal = (reply: string) => /^[45]\d\d/.test(reply)

/** 4xx is temporary and 5xx is final. An invalid reply counts as temporary. */
const refusal = (reply: string, phase: Phase): Trouble => ({
  kind: reply.startsWith('5') && isRefusal(reply) ? 'failed' : 'retry',
  phase,
  reply: replyWordsOf(reply),
})

const unknown = (reply: string): Trouble => ({
  kind: 'uncertain',
  phase: 'end',
  reply: replyWordsOf(reply),
})

/** Without a reply the outcome depends on whether the message had ended. */
export const lost = (error: Error, phase: Phase): Trouble => ({
  kind: phase === 'end' ? 'uncertain' : 'retry',
  phase,
  reply: replyWordsOf(error.message),
})

const tooLarge = (maxMessageBytes: number): Trouble => ({
  kind: 'failed',
  phase: 'mail',
  reply: reasonText('tooLarge', { count: maxMessageBytes }),
})

const inUtf8 = (latin1: string) =>
  // oxlint-disable-next-line no-control-regex -- matches everything that is not ASCII
  /[^\x00-\x7f]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1

export const replyWordsOf = (text: string) =>
  /^[\x20-\x7e]{0,500}$/.test(text)
    ? text
    : text
        .replace(/\s*\r?\n\s*/g, ' ')
        .replace(/\p{Cc}/gu, '')
        .slice(0, 500)
