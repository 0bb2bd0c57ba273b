import { pino, type DestinationStream, type Logger } from 'pino'

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
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
      redact: { paths: SECRETS, remove: true },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

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
 * The type, place and message of an error. Messages of the database and of parsers quote personal
 * data, so they are left out; addresses are removed from all others.
 */
function describeError(error: unknown): Described | string {
  if (!(error instanceof Error)) return typeof error
  const { code, constraint } = error as { code?: unknown; constraint?: unknown }
  const quotesInput = 'severity' in error || error instanceof SyntaxError
  const message = quotesInput ? '' : withoutAddresses(error.message.slice(0, MAX_MESSAGE))
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {}
  return {
    type: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    message,
    stack: frames.join('\n'),
    ...cause,
  }
}
