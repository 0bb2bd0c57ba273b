import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server'

export type BounceListening<Mail extends { businessId: number }> = {
  protocol: 'smtp' | 'lmtp'
  host: string
  port: number
  /** The only domain for which mail is accepted. */
  domain: string
  /** The mail that a bounce address names; undefined if the address is not genuine. */
  findMail(address: string): Promise<Mail | undefined>
  /** Records a message for a mail, or of a peer for the feedback address. False: it must try again. */
  receive(raw: string, mail: Mail | undefined, peer: string): Promise<boolean>
  /** The name of a client, for its limits: all addresses of one network have the same. */
  peerOf(ip: string): string
  /** Takes a message of a peer or of a business from its rate limit. False: it must try again later. */
  isAllowed(name: string): boolean
  /** Takes a command of a peer from its rate limit. False: its connection is closed. */
  isCommandAllowed(peer: string): boolean
  onError(error: unknown): void
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  /** If there are more, the peer with the most connections loses its oldest one. */
  connections: 200,
  connectionsPerPeer: 50,
  messageBytes: 20 * 1024 * 1024,
  /** The rest of a message is dropped: the report comes before the mail that it quotes. */
  keptBytes: 128 * 1024,
  idleMs: 60_000,
  sessionMs: 300_000,
}

/** The address for complaints of providers. Only those that name a mail of ours are recorded. */
export const feedbackAddress = (domain: string) => `feedback@${domain}`

/** A server that accepts only bounces and complaints. It relays no mail. */
export async function startBounceListener<Mail extends { businessId: number }>(
  listening: BounceListening<Mail>,
) {
  const limits = { ...LIMITS, ...listening.limits }
  const server = new SMTPServer({
    lmtp: listening.protocol === 'lmtp',
    name: listening.domain,
    banner: 'bounces only',
    logger: false,
    // A bounce contains no secret, and it comes from a mail server on the same machine.
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
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
  limitSockets(server.server, listening.peerOf, limits)
  wrapConnections(server, listening)
  const started = once(server.server, 'listening')
  server.listen(listening.port, listening.host)
  await started
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

function limitSockets(
  server: Server,
  peerOf: (ip: string) => string,
  { connections, sessionMs }: typeof LIMITS,
) {
  const open = new Map<string, Set<Socket>>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket.remoteAddress ?? '')
    const own = open.get(peer) ?? new Set()
    open.set(peer, own.add(socket))
    // A client that sends a byte now and then would keep its connection for ever.
    const end = setTimeout(() => socket.destroy(), sessionMs)
    socket.once('close', () => {
      clearTimeout(end)
      own.delete(socket)
      if (own.size === 0) open.delete(peer)
    })
    const all = [...open.values()]
    if (all.reduce((sum, sockets) => sum + sockets.size, 0) <= connections) return
    const [oldest] = all.toSorted((a, b) => b.size - a.size)[0]!
    oldest!.destroy()
  })
}

type CommandLimits = Pick<BounceListening<never>, 'peerOf' | 'isCommandAllowed'>

function wrapConnections(server: SMTPServer, limits: CommandLimits) {
  const connect = server.connect.bind(server)
  server.connect = (socket) => {
    connect(socket)
    const connection = [...server.connections].at(-1)!
    limitCommands(connection, socket, limits)
    readDataInChunks(connection)
  }
}

/** smtp-server limits commands only before a sign-in, which this server does not offer. */
function limitCommands(
  connection: SMTPConnection,
  socket: Socket,
  { peerOf, isCommandAllowed }: CommandLimits,
) {
  const peer = peerOf(connection.remoteAddress)
  const { _onCommand: run, close } = connection
  const limited: Pick<SMTPConnection, '_onCommand' | 'close'> = {
    _onCommand(...command) {
      if (isCommandAllowed(peer)) run.apply(connection, command)
      else connection.send(421, 'Too many commands')
    },
    // Otherwise it reads for 5 s more what a client sends that does not listen.
    close() {
      close.call(connection)
      socket.destroySoon()
    },
  }
  Object.assign(connection, limited)
}

const LINE_END = Buffer.from('\r\n')
const MESSAGE_END = Buffer.from('\r\n.\r\n')

/* oxlint-disable no-underscore-dangle -- the names of smtp-server */
/**
 * smtp-server takes the dot of each line that begins with two of them in an iteration of its own: 1.7 s
 * of CPU for each MB of such lines. Here a message keeps these dots, and begins with an empty line, so
 * that its end is found even if the message is empty; `readStart` removes both.
 */
function readDataInChunks({ _parser: parser }: SMTPConnection) {
  if (!parser) return
  parser._feedDataStream = (chunk, done) => {
    const stream = parser._dataStream!
    const bytes = Buffer.concat([parser._lastBytes || LINE_END, chunk])
    const end = bytes.indexOf(MESSAGE_END)
    // The end can be divided between two chunks.
    const length = end === -1 ? Math.max(0, bytes.length - 4) : end + LINE_END.length
    const text = bytes.subarray(0, length)
    parser._lastBytes = end === -1 && bytes.subarray(length)
    parser._countDataBytes(length)
    if (end !== -1) return parser._endDataMode(text, bytes.subarray(end + MESSAGE_END.length), done)
    if (!stream.writable || stream.write(text)) return done()
    stream.once('drain', done)
  }
}
/* oxlint-enable no-underscore-dangle */

type SMTPConnection = SMTPServer['connections'] extends Set<infer Connection> ? Connection : never

type Refusal = Error & { responseCode: number }

const refuse = (responseCode: number, message: string): Refusal =>
  Object.assign(new Error(message), { responseCode })

const NOT_NOW = () => refuse(451, 'Try again later')

function handlersOf<Mail extends { businessId: number }>(
  listening: BounceListening<Mail>,
  limits: typeof LIMITS,
) {
  const { domain, findMail, receive, peerOf, isAllowed, onError } = listening
  /** The connections of each peer, by session. */
  const sessions = new Map<string, Set<string>>()
  /** The recipient of the current message of each connection, and the mail that it names. */
  const accepted = new Map<string, { address: string; mail: Mail | undefined }>()

  const acceptConnection = async ({ id, remoteAddress }: SMTPServerSession) => {
    const peer = peerOf(remoteAddress)
    const own = sessions.get(peer) ?? new Set()
    if (own.size >= limits.connectionsPerPeer) throw refuse(421, 'Too many connections')
    sessions.set(peer, own.add(id))
  }

  const forget = ({ id, remoteAddress }: SMTPServerSession) => {
    accepted.delete(id)
    const peer = peerOf(remoteAddress)
    if (sessions.get(peer)?.delete(id) && sessions.get(peer)!.size === 0) sessions.delete(peer)
  }

  /**
   * Messages for a mail count for its business, all others for the peer. So forged addresses use up
   * no other limit, even if one mail server passes everything on.
   */
  const acceptRecipient = async ({ address }: SMTPServerAddress, session: SMTPServerSession) => {
    const isFeedback = address.toLowerCase() === feedbackAddress(domain)
    const mail = isFeedback ? undefined : await findMail(address)
    const counted = mail ? `business ${mail.businessId}` : `peer ${peerOf(session.remoteAddress)}`
    if (!isAllowed(counted)) throw refuse(451, 'Too many messages, try again later')
    if (!isFeedback && mail === undefined) throw refuse(550, 'No such bounce address')
    accepted.set(session.id, { address, mail })
  }

  const acceptMessage = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const raw = await readStart(stream, limits.keptBytes)
    if (stream.sizeExceeded) throw refuse(552, 'Message too large')
    const recipient = accepted.get(session.id)
    if (recipient?.address !== session.envelope.rcptTo[0]?.address) throw NOT_NOW()
    const peer = peerOf(session.remoteAddress)
    if (!(await receive(raw, recipient?.mail, peer))) throw NOT_NOW()
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
    onConnect: (session: SMTPServerSession, callback: (error?: Error | null) => void) =>
      void settle(acceptConnection(session), callback),
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
    onClose: forget,
  }
}

/**
 * The beginning of a message, see `readDataInChunks`. The rest is read and dropped, so that the server gets
 * its answer.
 */
async function readStart(stream: SMTPServerDataStream, maxBytes: number) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < maxBytes) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks)
    .subarray(LINE_END.length, LINE_END.length + maxBytes)
    .toString('utf8')
    .replace(/(^|\n)\./g, '$1')
}
