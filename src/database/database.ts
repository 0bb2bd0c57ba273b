import type { Channel } from './hint.ts'
import type { Sql } from './sql.ts'

/** Runs statements: each is a transaction by itself, or all inside `transaction` are one. */
export type Db = {
  query<Row = Record<string, unknown>>(statement: Sql): Promise<Row[]>
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** A savepoint: if the work throws, it is rolled back and the transaction can continue. */
  attempt<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** A read-only transaction (`repeatable read`). */
  snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Reads a long result in batches, from one snapshot. */
  stream<Row>(statement: Sql, batchSize: number): AsyncIterable<Row[]>
  /**
   * Sends a statement of a transaction without waiting for its result, in the packet of the next
   * statement or of the commit. If it fails, the transaction fails.
   */
  send(statement: Sql): void
  /**
   * Notifies the listeners of the channel after the commit. A notification can be lost. Equal
   * payloads within the shortest interval of the channel are sent once.
   */
  hint(channel: Channel, payload?: string): void
}

/**
 * Access to the data, by PostgreSQL role. Row-level security limits `forBusiness` and `reportsOf` to
 * the rows of that business.
 */
export type Database = {
  /** Reads and writes the rows of one business; the audit records changes as made by `user`. */
  forBusiness(businessId: number, user: string): Db
  /** The same rows, over separate connections for long reads. */
  reportsOf(businessId: number): Db
  /** The triggers and mails of every business. */
  engine: Db
  /** Businesses and credentials. */
  operator: Db
  /** The same, for commands whose statements can take up to two minutes. */
  maintenance: Db
  /** The database's time, in milliseconds. */
  readTime(): Promise<number>
  /** Throws unless the server accepts writes. */
  checkWritable(): Promise<void>
  /** Runs `onNotification` for each notification of the channel. Notifications can be lost. */
  listen(
    channel: Channel,
    onNotification: (payload: string) => void,
    /** Runs when listening begins, and after each lost connection: notifications may be missing. */
    onListening?: () => void,
  ): () => Promise<void>
  close(): Promise<void>
}
