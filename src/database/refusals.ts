import pg from 'pg'

/** The server answers, but accepts no writes: a standby, or one that was made read-only. */
export class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError'
  readonly code = READ_ONLY

  constructor() {
    super('the database server accepts no writes')
  }
}

/** read_only_sql_transaction: after a failover, the old primary answers every write with it. */
const READ_ONLY = '25006'

export const isReadOnly = (error: unknown) => (error as { code?: unknown })?.code === READ_ONLY

/** The database is away or read-only, as against a statement that it refused. */
export function isDatabaseAway(error: unknown) {
  if (isReadOnly(error)) return true
  if (error instanceof pg.DatabaseError) return /^(08|57P|53)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return (
    /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /timeout|Connection terminated|connection error|not queryable|Query read/i.test(error.message)
  )
}

/** The constraint that a statement broke, where it broke one. */
export const brokenConstraint = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined

/** The server gave a statement up: it took longer than it may. */
export const isTooSlow = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '57014'

/** The statement was understood, and what it would write cannot be. */
export const isRefusedValue = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')

/**
 * The statement may succeed if it is run again: it took too long, waited too long for a lock, or
 * lost to another transaction. This says nothing about what it would have written.
 */
export const isTransient = (error: unknown) =>
  isConnectionError(error) ||
  (error instanceof pg.DatabaseError && /^(40|57014|55P03|25P0[34])/.test(error.code ?? ''))

/** Two who waited for each other: to be tried again. */
export const isDeadlock = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '40P01'

/** What the connection it happened on does not survive. */
export const isConnectionError = (error: unknown) =>
  isDatabaseAway(error) || (error instanceof pg.DatabaseError && error.severity === 'FATAL')
