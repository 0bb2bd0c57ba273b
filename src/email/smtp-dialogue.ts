import type { Socket } from 'node:net'
import { monotonicMs } from '../clock.ts'
import type { Outcome, Phase } from './mailer.ts'

/** How long the server may take, in milliseconds. A phase may have a timeout of its own. */
export type PhaseTimeouts = Partial<Record<Phase, number>> & {
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

/** A mail for this conversation: its bytes as a text, which is ASCII, and the commit before their end. */
export type Delivery = {
  from: string
  to: string
  text: string
  onMessageEnded: () => Promise<void>
  /** How long the commit took: that is not the server's time. */
  committingMs: number
}

export type Line = {
  socket: Socket
  /** Commands may leave together. */
  pipelining: boolean
  /** The server wants to know how large a message is; it takes so much, where that is not 0. */
  size: boolean
  most: number
  timeouts: PhaseTimeouts
  /** Parts with the server. */
  close(): void
}

/**
 * Mails over a connection that is open, in as few packets as the server lets us: the whole envelope
 * in one, and where another mail follows, its envelope with the end of this one.
 */
export class SmtpDialogue {
  readonly #line: Line
  /** What the server has not answered yet, oldest first. */
  #asked: Question[] = []
  /** The one that is sent, and the one whose envelope left with its end. */
  #attempt: Attempt | undefined
  #following: Attempt | undefined
  /** Of a reply that is not whole. */
  #unread = ''
  #lines: string[] = []
  #timer: NodeJS.Timeout | undefined
  #over = false
  #isSpent = false

  constructor(line: Line) {
    this.#line = line
    line.socket.on('data', (chunk: Buffer) => this.#hear(chunk.toString('latin1')))
  }

  /** `next` is asked which mail follows, when the end of this one leaves: that one must be sent then. */
  async send(delivery: Delivery, next: () => Delivery | undefined): Promise<Outcome> {
    const { most } = this.#line
    const hasBegun = this.#following?.delivery === delivery
    if (!hasBegun && most > 0 && delivery.text.length > most) return tooLarge(most)
    const attempt = hasBegun ? this.#following! : this.#begin(delivery, '')
    this.#following = undefined
    // Not a word of its message has left.
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

  /** The one that was to follow goes another way: after its answer this connection is of no more use. */
  releaseFollowing() {
    this.#following = undefined
    this.#isSpent = true
  }

  /** Says goodbye. Whoever waits for the end of the connection has the patience. */
  quit() {
    this.#ask('mail', () => this.#line.close())
    this.#write('QUIT\r\n')
  }

  /** The connection is gone. */
  broke(error: Error) {
    if (this.#over) return
    // Its last words may lack their end.
    if (/^[45]\d\d[ -]/.test(this.#unread)) this.#hear('\r\n')
    this.#finish((phase) => lost(error, phase))
  }

  /** The envelope leaves, after what is left of the mail before it. */
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
      // Nobody said no to what was never answered.
      if (this.#over) return
      if (!reply.startsWith('2')) attempt.refused ??= refusal(reply, phase)
      attempt.phase = phase === 'mail' ? 'rcpt' : 'data'
      then()
    })
  }

  /** Some servers say 250 where they should say 354. */
  #mayBegin(attempt: Attempt, reply: string) {
    const { refused, envelope } = attempt
    const goesOn = reply.startsWith('3') || reply.startsWith('2')
    if (!goesOn) envelope.resolve(refused ?? refusal(reply, 'data'))
    else if (!refused) {
      attempt.phase = 'body'
      envelope.resolve(undefined)
    } else if (refused.phase === 'mail' || !reply.startsWith('3')) {
      // Who takes a message from nobody is not to be trusted with an empty one either.
      this.#line.close()
      envelope.resolve(refused)
    } else {
      // It asks for a message that it has refused: an empty one, which goes to nobody.
      this.#ask('data', () => envelope.resolve(refused))
      this.#write('.\r\n')
    }
  }

  /** Up to its end; and then nothing until that is committed. A small one leaves with its end. */
  async #passMessage(attempt: Attempt): Promise<Outcome | undefined> {
    const { answer, delivery } = attempt
    if (this.#over) return answer.promise
    this.#ask('body', (reply) => this.#answered(attempt, reply))
    this.#arm()
    if (delivery.text.length > ONE_PIECE) {
      const left = new Promise<undefined>((resolve) =>
        // Where it fails, the connection is gone, and that is the answer.
        this.#line.socket.write(
          stuffed(delivery.text),
          'latin1',
          (error) => error ?? resolve(undefined),
        ),
      )
      const trouble = await Promise.race([left, answer.promise])
      if (trouble) return trouble
    }
    const asked = monotonicMs()
    const committed = delivery.onMessageEnded().then(
      () => {
        delivery.committingMs = monotonicMs() - asked
        return undefined
      },
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
      if (reply.startsWith('2')) answer.resolve({ kind: 'sent', phase, reply: wordsOf(reply) })
      else answer.resolve(isRefusal(reply) ? refusal(reply, phase) : unknown(reply))
    } else if (isRefusal(reply)) answer.resolve(refusal(reply, 'body'))
    else {
      // Accepted before it was whole: whatever that was, it was not this message.
      answer.resolve(lost(new Error(`answered before the end of the message: ${reply}`), 'body'))
    }
  }

  /** After a refusal the server is asked to forget the transaction; after all else we part. */
  async #recover({ phase, reply }: Outcome) {
    const isOfMail = isRefusal(reply) && !reply.startsWith('421') && phase !== 'body'
    if (this.#over || !isOfMail) return this.#line.close()
    // With its end the transaction is over anyway, and another may have begun.
    if (phase === 'end') return
    const reset = Promise.withResolvers<string>()
    this.#ask('mail', reset.resolve)
    this.#write('RSET\r\n')
    if (!(await reset.promise).startsWith('2')) this.#line.close()
  }

  #ask(phase: Phase, heard: (reply: string) => void) {
    this.#asked.push({ phase, heard })
  }

  #write(text: string) {
    this.#line.socket.write(text, 'latin1')
    this.#arm()
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
      if (/^\d{3}-/.test(line) && this.#lines.length < MOST_LINES) continue
      const reply = inUtf8(this.#lines.join('\n'))
      this.#lines = []
      this.#reply(reply)
      if (this.#over) return
      isAnswered = true
    }
    if (this.#unread.length > LONGEST_LINE) this.#unread = ''
    // Only then: who speaks on and on, and never ends, would be waited for without end.
    if (isAnswered) this.#arm()
  }

  #reply(reply: string) {
    const question = this.#asked.shift()
    question?.heard(reply)
    // The server parts with us, whatever it was asked; or says what nobody asked for.
    if (reply.startsWith('421') || !question) {
      this.#finish((phase) =>
        isRefusal(reply) ? refusal(reply, phase) : lost(new Error(reply), phase),
      )
      this.#line.close()
    }
  }

  /** Nothing more will be heard: how it ends for whoever still waits. */
  #finish(end: (phase: Phase) => Trouble) {
    this.#over = true
    clearTimeout(this.#timer)
    for (const attempt of [this.#attempt, this.#following]) {
      if (!attempt) continue
      const trouble = attempt.refused ?? end(attempt.phase)
      attempt.envelope.resolve(trouble)
      attempt.answer.resolve(trouble)
    }
    for (const { heard } of this.#asked.splice(0)) heard('')
  }

  /** The server has so long to answer what it was asked first. */
  #arm() {
    clearTimeout(this.#timer)
    const [question] = this.#asked
    if (!question || this.#over) return
    const { timeouts } = this.#line
    const { phase } = question
    const patience = timeouts[phase] ?? timeouts.command
    this.#timer = setTimeout(() => {
      this.#finish((of) => lost(new Error(`no answer within ${patience / 1000} s (${phase})`), of))
      this.#line.close()
    }, patience)
  }
}

type Question = { phase: Phase; heard: (reply: string) => void }

type Attempt = {
  delivery: Delivery
  /** What it waits for. */
  phase: Phase
  /** The first refusal of its envelope. */
  refused: Trouble | undefined
  /** What is wrong with it, or that the message may be sent. */
  envelope: PromiseWithResolvers<Trouble | undefined>
  answer: PromiseWithResolvers<Outcome>
}

const ONE_PIECE = 32_768
const LONGEST_LINE = 65_536
const MOST_LINES = 1_000

/** A line that begins with a dot gets another; and no line break but CRLF ever leaves. */
function stuffed(text: string) {
  const whole = /[^\r]\n|\r[^\n]|^\n|\r$/.test(text) ? text.replace(/\r\n?|\n/g, '\r\n') : text
  const inside = whole.includes('\r\n.') ? whole.replaceAll('\r\n.', '\r\n..') : whole
  return `${inside.startsWith('.') ? '.' : ''}${inside}${inside.endsWith('\r\n') ? '' : '\r\n'}`
}

const isRefusal = (reply: string) => /^[45]\d\d/.test(reply)

/** 4xx may pass and 5xx is final. What is no answer at all may be another one next time. */
const refusal = (reply: string, phase: Phase): Trouble => ({
  kind: reply.startsWith('5') && isRefusal(reply) ? 'failed' : 'retry',
  phase,
  reply: wordsOf(reply),
})

const unknown = (reply: string): Trouble => ({
  kind: 'uncertain',
  phase: 'end',
  reply: wordsOf(reply),
})

/** Without an answer it depends on whether the message had ended. */
export const lost = (error: Error, phase: Phase): Trouble => ({
  kind: phase === 'end' ? 'uncertain' : 'retry',
  phase,
  reply: wordsOf(error.message),
})

const tooLarge = (most: number): Trouble => ({
  kind: 'failed',
  phase: 'mail',
  reply: `the message is larger than the ${most} bytes that the server takes`,
})

const inUtf8 = (latin1: string) =>
  // oxlint-disable-next-line no-control-regex -- all that is not ASCII
  /[^\x00-\x7f]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1

export const wordsOf = (text: string) =>
  /^[\x20-\x7e]{0,500}$/.test(text)
    ? text
    : text
        .replace(/\s*\r?\n\s*/g, ' ')
        .replace(/\p{Cc}/gu, '')
        .slice(0, 500)
