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

/**
 * No connection could be opened, or one was lost. Errors of pg become this where they are raised: later,
 * an ECONNRESET or a timeout of something else would look the same.
 */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
  readonly code: string | undefined

  constructor(cause: unknown) {
    super(textOf(cause), { cause })
    this.code = (cause as NodeJS.ErrnoException).code
  }
}

/** disk_full */
export const DISK_FULL = '53100'

/** The database cannot write, or does not answer, because its disk is full. */
export class DiskFullError extends ConnectionError {
  override name = 'DiskFullError'
  override readonly code = DISK_FULL

  constructor() {
    super(new Error('the disk of the database is full'))
  }
}

/** A host with several addresses fails with an AggregateError, whose own message is empty. */
const textOf = (cause: unknown): string =>
  cause instanceof AggregateError
    ? cause.errors.map(textOf).join('; ')
    : (cause as Error).message || 'the connection failed without a message'

/** For an error of pg: one that is not an answer of the server is an error of the connection. */
export const asConnectionError = (error: unknown) =>
  error instanceof pg.DatabaseError ||
  error instanceof ReadOnlyServerError ||
  error instanceof ConnectionError
    ? error
    : new ConnectionError(error)

/** The database cannot be reached or is read-only; the statement itself was not refused. */
export const isDatabaseAway = (error: unknown) =>
  error instanceof ConnectionError ||
  isReadOnly(error) ||
  (error instanceof pg.DatabaseError && /^(08|57P|53)/.test(error.code ?? ''))

export const brokenConstraint = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined

/** The server cancelled the statement because of its time limit, or of that for locks. */
export const isTooSlow = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(57014|55P03)$/.test(error.code ?? '')

export const isRefusedValue = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')

/** The statement may succeed if it is run again: a time limit, a lock or a conflict stopped it. */
export const isTransient = (error: unknown) =>
  isConnectionError(error) ||
  (error instanceof pg.DatabaseError && /^(40|57014|55P03|25P0[34])/.test(error.code ?? ''))

export const isLockTimeout = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '55P03'

/** A replica cancelled a read, because it had to replay a change that the read would not have seen. */
export const isRecoveryConflict = (error: unknown) =>
  error instanceof pg.DatabaseError && /^40(001|P01)$/.test(error.code ?? '')

/** Two transactions waited for each other; this one can be run again. */
export const isDeadlock = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '40P01'

/** The connection cannot be used after this error. */
export const isConnectionError = (error: unknown) =>
  isDatabaseAway(error) || (error instanceof pg.DatabaseError && error.severity === 'FATAL')
