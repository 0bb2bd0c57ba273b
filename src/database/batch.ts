import pg from 'pg'

/**
 * Runs statements in one packet with one answer: the server works through them without a word in
 * between, and passes over what follows a failed one. Outside a transaction they make one together,
 * committed before the answer.
 */
export async function runBatch(client: pg.ClientBase, statements: pg.QueryConfig[]) {
  try {
    return await new Promise<pg.QueryResult[]>((resolve, reject) => {
      const callback: Callback = (error, results) => (error ? reject(error) : resolve(results))
      client.query(new Batch(statements, callback))
    })
  } catch (error) {
    // Where it was asked for says more than where the answer came in.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}

/** What a query of pg's does with its connection; the types of pg keep it to themselves. */
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

/** To its client one query that ends once; inside, one of pg's own for each statement. */
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
    // Each would ask for an answer of its own.
    const unanswered: Connection = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    for (const query of this.#queries) query.prepare(unanswered)
    connection.sync()
    connection.stream.uncork()
    this.#turnTo(0)
  }

  /** By name and text the client remembers what the server has parsed. */
  #turnTo(place: number) {
    this.#current = place
    this.name = this.#queries[place]?.name
    this.text = this.#queries[place]?.text ?? ''
  }

  override handleRowDescription(message: unknown) {
    this.#queries[this.#current]!.handleRowDescription(message)
  }

  override handleDataRow(message: unknown) {
    this.#queries[this.#current]!.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Connection) {
    this.#queries[this.#current]!.handleCommandComplete(message, connection)
    this.#turnTo(this.#current + 1)
  }

  override handleError(error: Error, connection: Connection) {
    // What the server passed over is not parsed either.
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
