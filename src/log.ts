import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { monotonicMs } from './clock.ts'
import { isDatabaseAway } from './database/postgres-errors.ts'

export type Log = Logger

/**
 * JSON lines on stdout, without names, addresses and tokens: callers log ids, route patterns and
 * errors. As a last defence this file redacts secrets and the messages of errors.
 */
export function openLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: writeTimes },
      serializers: { err: describeError, error: describeError },
      redact: { paths: SECRETS, remove: true },
      hooks: { logMethod: limitDatabaseErrors() },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

/** The redaction copies objects, and a copied time cannot be written. */
const writeTimes = (fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Temporal.Instant ? value.toString() : value,
    ]),
  )

const SECRETS = ['authorization', 'cookie', 'password', 'key', 'token', 'secret'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
)

type Described = {
  type: string
  code?: unknown
  constraint?: unknown
  message: string
  stack: string
}

/** The search for addresses takes quadratic time, and a message may contain input of a caller. */
const MAX_MESSAGE = 2_000

const withoutAddresses = (text: string) => text.replaceAll(/[^\s<>"']+@[^\s<>"']+/g, '[address]')

/**
 * While the database is away every request, loop and connection fails. At most one such line a second is
 * written, by whatever part of the service; the next one says how many were left out.
 */
function limitDatabaseErrors(): LogFnHook {
  let lastMs = Number.NEGATIVE_INFINITY
  let leftOut = 0
  return function limit(args, method) {
    const [fields, ...rest] = args as [unknown, ...string[]]
    if (!isDatabaseAway((fields as { err?: unknown } | undefined)?.err))
      return method.apply(this, args)
    if (monotonicMs() - lastMs < 1_000) return void (leftOut += 1)
    lastMs = monotonicMs()
    method.apply(this, [{ ...(fields as object), ...(leftOut > 0 && { leftOut }) }, ...rest])
    leftOut = 0
  }
}

type LogFnHook = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

/** Conditions of the server and of transactions: these messages quote no values. */
const SAFE_SQLSTATES = /^(08|25|40|53|55|57|58)/

/**
 * The type, place and message of an error. Messages of the database and of parsers quote personal
 * data, so they are left out; addresses are removed from all others.
 */
function describeError(error: unknown): Described | string {
  if (!(error instanceof Error)) return typeof error
  const { code, constraint } = error as { code?: unknown; constraint?: unknown }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {}
  return {
    type: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    message: messageOf(error),
    stack: frames.join('\n'),
    ...cause,
  }
}

function messageOf(error: Error): string {
  const { code } = error as { code?: unknown }
  const isOfDatabase = 'severity' in error
  if (isOfDatabase && !SAFE_SQLSTATES.test(String(code))) return `PostgreSQL error ${code}`
  if (error instanceof SyntaxError) return 'left out: it may quote what was parsed'
  const text =
    error.message || (error instanceof AggregateError ? error.errors.map(String).join('; ') : '')
  return withoutAddresses(text.slice(0, MAX_MESSAGE)) || `no message; code ${code ?? 'unknown'}`
}
