import pg from 'pg'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { asConnectionError } from './postgres-errors.ts'
import { isPooled } from './servers.ts'

/** A statement, and the promise of its result. */
export type Pending = { statement: pg.QueryConfig } & PromiseWithResolvers<pg.QueryResult>

export function pendingOf(statement: pg.QueryConfig): Pending {
  const pending = { statement, ...Promise.withResolvers<pg.QueryResult>() }
  pending.promise.catch(() => {})
  return pending
}

/**
 * Sends statements in one packet with one Sync: one round trip. Each promise resolves when its result
 * arrives, while the server still runs later statements. After an error the server skips the rest,
 * which fail with that error.
 */
export async function sendBatch(client: pg.ClientBase, batch: Pending[]) {
  const named = isPooled(client) ? batch.map(withoutName) : batch
  try {
    await new Promise<void>((resolve, reject) => {
      client.query(new Batch(named, (error) => (error ? reject(error) : resolve())))
    })
  } catch (failure) {
    const error = asConnectionError(failure)
    // Shows the stack of the caller instead of the socket's event.
    if (error instanceof Error) Error.captureStackTrace(error)
    for (const { reject } of batch) reject(error)
    throw error
  }
}

/** Behind a pooler, another server connection may run the next one, which has not prepared it. */
const withoutName = (pending: Pending): Pending => ({
  ...pending,
  statement: { ...pending.statement, name: undefined },
})

/** Only outside a transaction: the statements are one implicit transaction, committed on return. */
export async function runBatch(client: pg.ClientBase, statements: pg.QueryConfig[]) {
  const batch = statements.map(pendingOf)
  await sendBatch(client, batch)
  return Promise.all(batch.map(({ promise }) => promise))
}

/** Methods of `pg.Query` that its types do not declare. */
type Query = {
  text: string
  name: string | undefined
  values?: unknown[]
  callback: unknown
  submit(connection: Connection): void
  prepare(connection: Connection): void
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleError(error: Error, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
}
type Connection = {
  stream: { cork(): void; uncork(): void }
  submittedNamedStatements: Record<string, string>
  flush(): void
  sync(): void
}
type Callback = (error: Error | null) => void

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => Query

/** One query for the client, which contains one `pg.Query` for each statement. */
class Batch extends Query {
  readonly #queries: Query[]
  #current = 0
  /** Rows of the current statement that are not parsed yet. */
  #unparsed: unknown[] = []
  #parsed = 0
  override callback: Callback

  constructor(batch: Pending[], callback: Callback) {
    super({ text: '' })
    this.#queries = batch.map(({ statement, resolve, reject }) => {
      const query = new Query(statement)
      // If rows cannot be parsed, only their own statement fails.
      query.callback = (error: Error | null, result: pg.QueryResult) =>
        error ? reject(error) : resolve(result)
      return query
    })
    this.callback = callback
  }

  override submit(connection: Connection) {
    // Otherwise each query would send its own Sync.
    const withoutSync: Connection = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    for (const [index, query] of this.#queries.entries()) {
      // The server buffers small results until the Sync. A flush sends them before a long statement.
      if (index > 0 && isLong(query)) connection.flush()
      query.prepare(withoutSync)
    }
    connection.sync()
    connection.stream.uncork()
    this.#moveTo(0)
  }

  /** The client uses name and text to record which statements the server has parsed. */
  #moveTo(index: number) {
    this.#current = index
    this.name = this.#queries[index]?.name
    this.text = this.#queries[index]?.text ?? ''
  }

  override handleRowDescription(message: unknown) {
    this.#queries[this.#current]!.handleRowDescription(message)
  }

  override handleDataRow(message: unknown) {
    if (this.#parsed < PARSED_AT_ONCE) this.#queries[this.#current]!.handleDataRow(message)
    else this.#unparsed.push(message)
    this.#parsed += 1
  }

  override handleCommandComplete(message: unknown, connection: Connection) {
    const query = this.#queries[this.#current]!
    query.handleCommandComplete(message, connection)
    if (this.#unparsed.length === 0) query.handleReadyForQuery(connection)
    else void parseInSlices(query, this.#unparsed, connection)
    this.#unparsed = []
    this.#parsed = 0
    this.#moveTo(this.#current + 1)
  }

  override handleError(error: Error, connection: Connection) {
    // The server has not parsed the statements that it skipped.
    for (const { name } of this.#queries.slice(this.#current)) {
      if (name) delete connection.submittedNamedStatements[name]
    }
    this.callback(error)
  }

  override handleReadyForQuery() {
    this.callback(null)
  }
}

/**
 * Parsing many rows takes long, so other requests continue meanwhile. Until then the promise of the
 * statement is pending, and so its connection counts in the share of its business.
 */
async function parseInSlices(query: Query, rows: unknown[], connection: Connection) {
  for (const [index, row] of rows.entries()) {
    if (index % CHECK_EVERY_ROWS === 0 && isSliceOver()) await nextSlice()
    query.handleDataRow(row)
  }
  query.handleReadyForQuery(connection)
}

const PARSED_AT_ONCE = 100
const CHECK_EVERY_ROWS = 20

/** A statement with a long value writes many rows. */
const isLong = ({ values = [] }: Query) =>
  values.some((value) => typeof value === 'string' && value.length > LONG_VALUE)

const LONG_VALUE = 4_096
