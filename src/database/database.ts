import type { Channel } from './hint.ts'
import type { Sql } from './sql.ts'

/** Runs statements: each is a transaction by itself, or all inside `transaction` are one. */
export type Db = {
  query<Row = Record<string, unknown>>(statement: Sql): Promise<Row[]>
  /** The first row of a result; undefined if it has none. */
  findRow<Row = Record<string, unknown>>(statement: Sql): Promise<Row | undefined>
  /** The row of a statement that always gives one. */
  getRow<Row = Record<string, unknown>>(statement: Sql): Promise<Row>
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** A savepoint: if the work throws, it is rolled back and the transaction can continue. */
  attempt<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** In a snapshot of the read replica: how far that was behind the primary. */
  lagSeconds?: number
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
  /** The same rows, over separate connections for long reads, or from the read replica. */
  reportsOf(businessId: number): Db
  /** Reads the rows of a business from the read replica if there is one and it works, else from `db`. */
  replicaOr(businessId: number, db: Db): Db
  /** Undefined without a read replica. */
  checkReplica(): Promise<ReplicaState | undefined>
  /** The triggers and mails of every business. */
  engine: Db
  /** Businesses and credentials. */
  operator: Db
  /** The same, for commands whose statements can take up to two minutes. */
  maintenance: Db
  /** The same, with this author in the audit. */
  maintenanceBy(user: string): Db
  /** The database's time, in milliseconds. */
  readTime(): Promise<number>
  /** Throws unless the server accepts writes and has space for them. */
  checkWritable(): Promise<void>
  /** Whether the disk of the database is full, as far as this process has noticed. */
  isDiskFull(): Promise<boolean>
  /** Undefined if the server is not the embedded one. */
  diskSpace(): { freeBytes: number; totalBytes: number } | undefined
  /** The connections of this process. */
  listPools(): PoolUse[]
  /** Runs `onNotification` for each notification of the channel. Notifications can be lost. */
  listen(
    channel: Channel,
    onNotification: (payload: string) => void,
    /** Runs when listening begins, and after each lost connection: notifications may be missing. */
    onListening?: () => void,
  ): () => Promise<void>
  close(): Promise<void>
}

/** How far the replica is behind the primary, or why nothing reads from it. */
export type ReplicaState = { lagSeconds: number } | { problem: string }

/** The connections of a pool at this moment. */
export type PoolUse = { name: string; max: number; busy: number; idle: number; waiting: number }
