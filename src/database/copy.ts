import { once } from 'node:events'
import pg from 'pg'

/** Methods that the types of pg do not declare. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** How much the server may be ahead of the reader. */
const MAX_UNREAD_BYTES = 1_048_576

/** Reads what `copy … to stdout` writes; the server waits for a slow reader. */
export async function* copyOut(client: pg.Client, statement: string) {
  const copy = client.query(new CopyOut(statement))
  for (;;) {
    const { chunks, rows, isDone } = await copy.read()
    if (rows > 0) yield { data: Buffer.concat(chunks), rows }
    if (isDone) return
  }
}

/** Sends the chunks to `copy … from stdin`. */
export async function copyIn(client: pg.Client, statement: string, chunks: AsyncIterable<Buffer>) {
  const copy = client.query(new CopyIn(statement))
  const connection = await copy.begun
  try {
    for await (const chunk of chunks) {
      if (copy.hasEnded) break
      connection.sendCopyFromChunk(chunk)
      const { stream } = connection
      if (stream.writableNeedDrain) await Promise.race([once(stream, 'drain'), copy.ended])
    }
  } catch (error) {
    if (!copy.hasEnded) connection.sendCopyFail('the source ended with an error')
    await copy.ended.catch(() => {})
    throw error
  }
  if (!copy.hasEnded) connection.endCopyFrom()
  await copy.ended
}

/** A query for the client. It gets the messages of the server that concern it. */
abstract class Copy {
  readonly #statement: string

  constructor(statement: string) {
    this.#statement = statement
  }

  submit(connection: pg.Connection) {
    connection.query(this.#statement)
  }

  abstract handleError(error: Error): void
  abstract handleReadyForQuery(): void
  handleCommandComplete() {}
  handleRowDescription() {}
  handleDataRow() {}
  handlePortalSuspended() {}
  handleEmptyQuery() {}
  handleCopyInResponse(_connection: CopyConnection) {}
  handleCopyData(_message: { chunk: Buffer }, _connection: pg.Connection) {}
}

class CopyOut extends Copy {
  #chunks: Buffer[] = []
  #bytes = 0
  #stream: pg.Connection['stream'] | undefined
  #error: Error | undefined
  #isDone = false
  #onChange = () => {}

  /** Waits for rows; returns all that have arrived. */
  async read() {
    if (this.#chunks.length === 0 && !this.#isDone && !this.#error) {
      await new Promise<void>((resolve) => (this.#onChange = resolve))
    }
    if (this.#error) throw this.#error
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    this.#stream?.resume()
    return { chunks, rows: chunks.length, isDone: this.#isDone }
  }

  /** One message for each row. */
  override handleCopyData({ chunk }: { chunk: Buffer }, { stream }: pg.Connection) {
    // A copy: the client reuses the memory of its messages.
    this.#chunks.push(Buffer.from(chunk))
    this.#bytes += chunk.length
    this.#stream = stream
    if (this.#bytes > MAX_UNREAD_BYTES) stream.pause()
    this.#onChange()
  }

  handleReadyForQuery() {
    this.#isDone = true
    this.#onChange()
  }

  handleError(error: Error) {
    this.#error = error
    this.#onChange()
  }
}

class CopyIn extends Copy {
  readonly #begun = Promise.withResolvers<CopyConnection>()
  readonly #ended = Promise.withResolvers<void>()
  readonly begun = this.#begun.promise
  readonly ended = this.#ended.promise
  hasEnded = false

  constructor(statement: string) {
    super(statement)
    this.begun.catch(() => {})
    this.ended.catch(() => {})
  }

  override handleCopyInResponse(connection: CopyConnection) {
    this.#begun.resolve(connection)
  }

  handleReadyForQuery() {
    this.hasEnded = true
    this.#ended.resolve()
  }

  handleError(error: Error) {
    this.hasEnded = true
    this.#begun.reject(error)
    this.#ended.reject(error)
  }
}
