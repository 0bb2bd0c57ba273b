import type { Db } from './database.ts'

/** Starts no statement after the signal has aborted; a running one is not cancelled. */
export const untilAborted = (db: Db, signal: AbortSignal | undefined): Db =>
  signal
    ? {
        ...db,
        query: async (statement) => {
          signal.throwIfAborted()
          return db.query(statement)
        },
        async *stream(statement, batchSize) {
          signal.throwIfAborted()
          for await (const batch of db.stream<never>(statement, batchSize)) {
            signal.throwIfAborted()
            yield batch
          }
        },
        snapshot: async (work) => {
          signal.throwIfAborted()
          return db.snapshot((tx) => work(untilAborted(tx, signal)))
        },
      }
    : db
