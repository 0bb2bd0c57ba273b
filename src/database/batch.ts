import pg from 'pg'

/**
 * Runs statements in one packet with one Sync: one round trip. After an error the server skips the
 * rest. Outside a transaction they are one implicit transaction, committed before the answer.
 */
export async function runBatch(client: pg.ClientBase, statements: pg.QueryConfig[]) {
  try {
    return await new Promise<pg.QueryResult[]>((resolve, reject) => {
      const callback: Callback = (error, results) => (error ? reject(error) : resolve(results))
      client.query(new Batch(statements, callback))
    })
  } catch (error) {
    // The stack of the caller, not of the socket's event.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}

/** Methods of `pg.Query` that its types do not declare. */
type Query = {
  text: string
  name: string | undefined
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
  sync(): void
}
type Callback = (error: Error | null, results: pg.QueryResult[]) => void

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => Query

/** One query for the client, which contains one `pg.Query` for each statement. */
class Batch extends Query {
  readonly #queries: Query[]
  #current = 0
  override callback: Callback

  constructor(statements: pg.QueryConfig[], callback: Callback) {
    super({ text: '' })
    this.#queries = statements.map((statement) => new Query(statement))
    this.callback = callback
  }

  override submit(connection: Connection) {
    // Each query would send a Sync of its own.
    const withoutSync: Connection = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    for (const query of this.#queries) query.prepare(withoutSync)
    connection.sync()
    connection.stream.uncork()
    this.#moveTo(0)
  }

  /** The client records by name and text what the server has parsed. */
  #moveTo(index: number) {
    this.#current = index
    this.name = this.#queries[index]?.name
    this.text = this.#queries[index]?.text ?? ''
  }

  override handleRowDescription(message: unknown) {
    this.#queries[this.#current]!.handleRowDescription(message)
  }

  override handleDataRow(message: unknown) {
    this.#queries[this.#current]!.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Connection) {
    this.#queries[this.#current]!.handleCommandComplete(message, connection)
    this.#moveTo(this.#current + 1)
  }

  override handleError(error: Error, connection: Connection) {
    // The server has not parsed the statements that it skipped.
    for (const { name } of this.#queries.slice(this.#current)) {
      if (name) delete connection.submittedNamedStatements[name]
    }
    this.callback(error, [])
  }

  override handleReadyForQuery(connection: Connection) {
    const results: pg.QueryResult[] = []
    let unreadable: Error | null = null
    for (const query of this.#queries) {
      query.callback = (error: Error | null, result: pg.QueryResult) => {
        unreadable ??= error
        results.push(result)
      }
      query.handleReadyForQuery(connection)
    }
    this.callback(unreadable, results)
  }
}
