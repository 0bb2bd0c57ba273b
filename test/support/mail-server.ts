import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { testCertificate, testKey } from './tls-certificate.ts'

/** The point of the SMTP session at which the server misbehaves. */
export type Point =
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'handshake'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'end'
  | 'after'
  | 'rset'
  | 'quit'

/**
 * What the server does there: sends `reply` unchanged, then hangs, closes or resets the connection.
 * `mumble`: sends a line that never ends. `takes`: accepts the message although it misbehaves.
 */
export type Act = {
  reply?: string
  next?: 'go on' | 'hang' | 'close' | 'reset' | 'mumble'
  takes?: boolean
}

export type Behaviour = {
  at?: Point
  act?: Act
  /** How often it misbehaves over all connections; default: once. */
  times?: number
  starttls?: boolean
  /** Plain text that an attacker injects before the TLS handshake. */
  injected?: string
  /** TLS from the first byte. */
  secure?: boolean
  auth?: boolean
  pipelining?: boolean
  /** Milliseconds before each answer. */
  delay?: number
  /** Never answers the end of a message to these recipients. */
  hangsWith?: (address: string) => boolean
  /** Milliseconds before it answers the end of a message. */
  pondering?: number
  /** Answers one byte at a time. */
  trickle?: boolean
  /** Replies to refused recipients, by address. */
  refuses?: Record<string, string>
  /** The SIZE that it announces. */
  size?: number
  /** Further connections are greeted with 421. */
  maxConnections?: number
}

export type TakenMail = {
  from: string
  to: string[]
  bytes: string
  secure: boolean
  /** When the end of the message arrived, in milliseconds. */
  at: number
}

/** A scripted mail server on loopback that can misbehave at any point. */
export async function startMailServer(t: Pick<TestContext, 'after'>, behaviour: Behaviour = {}) {
  const taken: TakenMail[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let left = behaviour.at ? (behaviour.times ?? 1) : 0

  const misbehaves = (point: Point) => {
    if (behaviour.at !== point || left === 0) return undefined
    left--
    return behaviour.act ?? {}
  }

  const server = createServer((socket) => {
    connections++
    if (sockets.size >= (behaviour.maxConnections ?? Infinity)) {
      socket.on('error', () => socket.destroy())
      socket.end('421 4.7.0 too many connections\r\n')
      return
    }
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket))
    new Conversation(socket, behaviour, misbehaves, taken, commands).begin()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    /** The mails it accepted. */
    taken,
    /** Every line that it received, except messages. */
    commands,
    connections: () => connections,
    behave: () => {
      left = 0
    },
    dropAll: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

class Conversation {
  #socket: Socket
  readonly #behaviour: Behaviour
  readonly #misbehaves: (point: Point) => Act | undefined
  readonly #taken: TakenMail[]
  readonly #commands: string[]
  #buffered = ''
  #inMessage = false
  #sawBody = false
  #ignoresInput = false
  #secure = false
  #credentials = 0
  #from = ''
  #to: string[] = []
  #answers: Promise<void> = Promise.resolve()

  constructor(
    socket: Socket,
    behaviour: Behaviour,
    misbehaves: (point: Point) => Act | undefined,
    taken: TakenMail[],
    commands: string[],
  ) {
    this.#socket = socket
    this.#behaviour = behaviour
    this.#misbehaves = misbehaves
    this.#taken = taken
    this.#commands = commands
  }

  begin() {
    if (this.#behaviour.secure) this.#encrypt()
    else this.#listen(this.#socket)
    const act = this.#misbehaves('connect')
    if (act) return this.#perform(act)
    this.#answer('greeting', '220 test ESMTP')
  }

  #listen(socket: Socket) {
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      if (this.#ignoresInput) return
      this.#buffered += chunk.toString('latin1')
      this.#read()
    })
  }

  #read() {
    while (!this.#ignoresInput) {
      if (this.#inMessage) {
        if (!this.#sawBody && this.#buffered !== '') {
          this.#sawBody = true
          const act = this.#misbehaves('body')
          if (act) {
            this.#perform(act)
            continue
          }
        }
        const whole = this.#buffered === '.\r\n' ? 0 : this.#buffered.indexOf('\r\n.\r\n') + 2
        if (whole === 1 || (whole === 0 && this.#buffered !== '.\r\n')) return
        const bytes = this.#buffered.slice(0, whole).replace(/^\./gm, '')
        this.#buffered = this.#buffered.slice(whole + 3)
        this.#inMessage = false
        this.#ended(bytes)
      } else {
        const end = this.#buffered.indexOf('\r\n')
        if (end < 0) return
        const line = this.#buffered.slice(0, end)
        this.#buffered = this.#buffered.slice(end + 2)
        this.#commands.push(line)
        this.#command(line)
      }
    }
  }

  #command(line: string) {
    if (this.#credentials > 0) {
      this.#credentials--
      return this.#answer('auth', this.#credentials > 0 ? '334 UGFzc3dvcmQ6' : '235 welcome')
    }
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return this.#answer('ehlo', this.#greeting())
      case 'HELO':
        return this.#answer('ehlo', '250 test')
      case 'STAR':
        return this.#startTls()
      case 'AUTH':
        return this.#answer('auth', '235 welcome')
      case 'MAIL':
        this.#from = /<(.*?)>/.exec(line)?.[1] ?? ''
        this.#to = []
        return this.#answer('mail', '250 sender ok')
      case 'RCPT': {
        const address = /<(.*?)>/.exec(line)?.[1] ?? ''
        const refusal = this.#behaviour.refuses?.[address]
        if (refusal) return this.#answer(undefined, refusal)
        return this.#answer('rcpt', '250 recipient ok', () => this.#to.push(address))
      }
      case 'DATA':
        if (this.#to.length === 0) return this.#answer(undefined, '503 no recipients')
        return this.#answer('data', '354 go on', () => {
          this.#inMessage = true
          this.#sawBody = false
        })
      case 'RSET':
        return this.#answer('rset', '250 forgotten')
      case 'QUIT':
        return this.#answer('quit', '221 bye', () => this.#say('', 'close'))
      default:
        return this.#answer(undefined, '500 what?')
    }
  }

  #ended(bytes: string) {
    const at = Date.now()
    const mail = { from: this.#from, to: this.#to, bytes, secure: this.#secure, at }
    this.#to = []
    const hangs = this.#behaviour.hangsWith?.(mail.to[0] ?? '')
    const act: Act | undefined = hangs ? { next: 'hang' } : this.#misbehaves('end')
    if (!act || act.takes) this.#taken.push(mail)
    if (act) return this.#perform(act)
    this.#say('250 2.0.0 taken\r\n', 'go on', this.#behaviour.pondering)
    const after = this.#misbehaves('after')
    if (after) this.#perform(after)
  }

  #startTls() {
    const act = this.#misbehaves('starttls')
    if (act) return this.#perform(act)
    const inHandshake = this.#misbehaves('handshake')
    const plain = this.#socket
    plain.removeAllListeners('data')
    this.#buffered = ''
    plain.write(`220 go\r\n${this.#behaviour.injected ?? ''}`)
    if (inHandshake) return this.#perform(inHandshake)
    this.#encrypt()
  }

  #encrypt() {
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket = new TLSSocket(this.#socket, {
      isServer: true,
      key: testKey,
      cert: testCertificate,
    })
    this.#secure = true
    this.#listen(this.#socket)
  }

  #greeting() {
    const { pipelining = true, starttls, auth, size } = this.#behaviour
    const offers = ['test']
    if (pipelining) offers.push('PIPELINING')
    if (starttls && !this.#secure) offers.push('STARTTLS')
    if (auth) offers.push('AUTH PLAIN LOGIN')
    if (size) offers.push(`SIZE ${size}`)
    return offers.map((offer, i) => `250${i < offers.length - 1 ? '-' : ' '}${offer}`).join('\r\n')
  }

  #answer(point: Point | undefined, reply: string, go?: () => void) {
    const act = point && this.#misbehaves(point)
    if (act) return this.#perform(act)
    go?.()
    this.#say(`${reply}\r\n`)
  }

  #perform({ reply = '', next = 'go on' }: Act) {
    this.#say(reply, next)
  }

  #say(text: string, next: Act['next'] = 'go on', delay = this.#behaviour.delay ?? 0) {
    if (next !== 'go on') this.#ignoresInput = true
    const { trickle = false } = this.#behaviour
    this.#answers = this.#answers.then(async () => {
      const socket = this.#socket
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
      for (const piece of trickle ? text : [text]) {
        if (piece !== '' && socket.writable) {
          await new Promise((resolve) => socket.write(piece, 'latin1', resolve))
        }
      }
      if (next === 'close') socket.end()
      if (next === 'mumble') {
        const mumbling = setInterval(() => socket.write('2'), 20)
        socket.on('close', () => clearInterval(mumbling))
      }
      if (next === 'reset') {
        if (socket instanceof TLSSocket) socket.destroy()
        else socket.resetAndDestroy()
      }
      // Stays open without reading, so that the client's writes fill the socket buffer.
      if (next === 'hang') socket.pause()
    })
  }
}
