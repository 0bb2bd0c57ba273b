import type { Channel } from './hint.ts'
import type { Sql } from './sql.ts'

/** A way to rows: alone, each statement is a transaction; inside `transaction`, all are one. */
export type Db = {
  query<Row = Record<string, unknown>>(statement: Sql): Promise<Row[]>
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** A part of a transaction of which nothing stays when it throws, and the rest goes on. */
  attempt<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** A transaction that only reads, and all of it as it was at one moment. */
  snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** Reads a long answer in batches, from one snapshot. */
  stream<Row>(statement: Sql, batchSize: number): AsyncIterable<Row[]>
  /**
   * For a statement of a transaction whose answer nobody waits for: it leaves together with the
   * next one, or with the commit, and where it fails the transaction fails.
   */
  send(statement: Sql): void
  /**
   * Notifies the listeners of the channel, once the work is committed: a hint, never a promise.
   * Equal payloads that are hinted within a moment are sent once.
   */
  hint(channel: Channel, payload?: string): void
}

/**
 * The doors to the data, each with a PostgreSQL role of its own.
 * Row-level security lets a business's door see that business and nothing else.
 */
export type Database = {
  /** The only way to a business's rows; `user` is what the audit writes beside a change. */
  forBusiness(businessId: number, user: string): Db
  /** The same rows, over connections that long reads may hold without slowing the engine. */
  reportsOf(businessId: number): Db
  /** Due triggers and mails of every business; no more than the engine needs. */
  engine: Db
  /** Businesses and credentials. */
  operator: Db
  /** The same, for commands whose statements may take up to two minutes. */
  maintenance: Db
  /** The database's time, in milliseconds. */
  readTime(): Promise<number>
  /** Throws unless the server accepts writes. */
  checkWritable(): Promise<void>
  /** Runs `heard` whenever another connection notifies the channel; a hint, never a promise. */
  listen(
    channel: Channel,
    heard: (payload: string) => void,
    /** Runs when listening begins, and again after each lost connection: hints may be missing. */
    onListening?: () => void,
  ): () => Promise<void>
  close(): Promise<void>
}
