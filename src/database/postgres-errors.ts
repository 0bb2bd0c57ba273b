import pg from 'pg'

/** The server is a standby or read-only. */
export class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError'
  readonly code = READ_ONLY

  constructor() {
    super('the database server accepts no writes')
  }
}

/** read_only_sql_transaction: the answer of an old primary to every write after a failover. */
const READ_ONLY = '25006'

export const isReadOnly = (error: unknown) => (error as { code?: unknown })?.code === READ_ONLY

/** The database cannot be reached or is read-only; the statement itself was not refused. */
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

/** The constraint that a statement violated, if any. */
export const brokenConstraint = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined

/** The server cancelled the statement because of its time limit. */
export const isTooSlow = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '57014'

/** The server cannot store a value of the statement. */
export const isRefusedValue = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')

/** The statement may succeed if it is run again: a time limit, a lock or a conflict stopped it. */
export const isTransient = (error: unknown) =>
  isConnectionError(error) ||
  (error instanceof pg.DatabaseError && /^(40|57014|55P03|25P0[34])/.test(error.code ?? ''))

/** Two transactions waited for each other; this one can be run again. */
export const isDeadlock = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '40P01'

/** The connection cannot be used after this error. */
export const isConnectionError = (error: unknown) =>
  isDatabaseAway(error) || (error instanceof pg.DatabaseError && error.severity === 'FATAL')
