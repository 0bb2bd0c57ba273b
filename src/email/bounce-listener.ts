import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server'
import { monotonicMs } from '../clock.ts'

export type BounceListening<Mail> = {
  protocol: 'smtp' | 'lmtp'
  host: string
  port: number
  /** The only domain for which mail is accepted. */
  domain: string
  /** The mail that a bounce address names; undefined if the address is not genuine. */
  findMail(address: string): Promise<Mail | undefined>
  /** Records a message for a mail, or for the feedback address. False: the sender must try again. */
  receive(raw: string, mail: Mail | undefined): Promise<boolean>
  onError(error: unknown): void
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  connections: 50,
  /** Larger messages are refused. */
  messageBytes: 20 * 1024 * 1024,
  /** The rest of a message is dropped: the report comes before the mail that it quotes. */
  keptBytes: 256 * 1024,
  idleMs: 60_000,
  sessionMs: 300_000,
  recipientsPerSecond: 20,
  recipientBurst: 500,
}

/** The address for complaints of providers. Only those that name a mail of ours are recorded. */
export const feedbackAddress = (domain: string) => `feedback@${domain}`

/** A server that accepts only bounces and complaints. It relays no mail. */
export async function startBounceListener<Mail>(listening: BounceListening<Mail>) {
  const limits = { ...LIMITS, ...listening.limits }
  const server = new SMTPServer({
    lmtp: listening.protocol === 'lmtp',
    name: listening.domain,
    banner: 'bounces only',
    logger: false,
    // A bounce contains no secret, and it comes from a mail server on the same machine.
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    maxClients: limits.connections,
    maxRecipients: 1,
    rejectOversized: true,
    size: limits.messageBytes,
    socketTimeout: limits.idleMs,
    closeTimeout: 1_000,
    ...handlersOf(listening, limits),
  })
  server.on('error', (error) => {
    // Errors of single connections. An error of `listen` is thrown below.
    if (server.server.listening) listening.onError(error)
  })
  // A client that sends a byte now and then would keep its connection for ever.
  server.server.on('connection', (socket) => {
    const end = setTimeout(() => socket.destroy(), limits.sessionMs)
    socket.once('close', () => clearTimeout(end))
  })
  const started = once(server.server, 'listening')
  server.listen(listening.port, listening.host)
  await started
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

type Refusal = Error & { responseCode: number }

const refuse = (responseCode: number, message: string): Refusal =>
  Object.assign(new Error(message), { responseCode })

const NOT_NOW = () => refuse(451, 'Try again later')

function handlersOf<Mail>(listening: BounceListening<Mail>, limits: typeof LIMITS) {
  const { domain, findMail, receive, onError } = listening
  const bucket = new Bucket(limits.recipientsPerSecond, limits.recipientBurst)
  /** The recipient of the current message of each connection, and the mail that it names. */
  const accepted = new Map<string, { address: string; mail: Mail | undefined }>()

  const acceptRecipient = async ({ address }: SMTPServerAddress, session: SMTPServerSession) => {
    if (!bucket.take()) throw refuse(451, 'Too many messages, try again later')
    const isFeedback = address.toLowerCase() === feedbackAddress(domain)
    const mail = isFeedback ? undefined : await findMail(address)
    if (!isFeedback && mail === undefined) throw refuse(550, 'No such bounce address')
    accepted.set(session.id, { address, mail })
  }

  const acceptMessage = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const raw = await readStart(stream, limits.keptBytes)
    if (stream.sizeExceeded) throw refuse(552, 'Message too large')
    const recipient = accepted.get(session.id)
    if (recipient?.address !== session.envelope.rcptTo[0]?.address) throw NOT_NOW()
    if (!(await receive(raw, recipient?.mail))) throw NOT_NOW()
  }

  /** After an internal error the sender keeps the message and tries again. */
  const settle = (work: Promise<void>, callback: (error?: Error | null) => void) =>
    work.then(
      () => callback(),
      (error: Error) => {
        if ('responseCode' in error) return callback(error)
        onError(error)
        callback(NOT_NOW())
      },
    )

  return {
    onRcptTo: (
      address: SMTPServerAddress,
      session: SMTPServerSession,
      callback: (error?: Error | null) => void,
    ) => void settle(acceptRecipient(address, session), callback),
    onData: (
      stream: SMTPServerDataStream,
      session: SMTPServerSession,
      callback: (error?: Error | null) => void,
    ) => void settle(acceptMessage(stream, session), callback),
    onClose: (session: SMTPServerSession) => void accepted.delete(session.id),
  }
}

/** The beginning of a message. The rest is read and dropped, so that the server gets its answer. */
async function readStart(stream: SMTPServerDataStream, maxBytes: number) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < maxBytes) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}

/** A token bucket for all connections together: behind a mail server they share one IP address. */
class Bucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #at = monotonicMs()

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#tokens = burst
  }

  take() {
    const now = monotonicMs()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
