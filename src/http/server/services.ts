import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import type { Credentials } from '../../auth/credentials.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import type { SourceAccess } from '../../feeds/source-access.ts'
import type { ThrottledProvider } from '../../email/mailer.ts'
import type { Log } from '../../log.ts'
import type { SettingsCache } from '../../store/settings.ts'
import { WorkQueue } from '../../work-queue.ts'

/** The dependencies of the routes; each route file takes its part. */
export type Services = {
  config: Config
  database: Database
  settings: SettingsCache
  clock: Clock
  log: Log
  credentials: Credentials
  /** Reaches the sources of feeds. */
  sourceAccess: SourceAccess
  /** Limit how much long work runs at once. */
  queues: Queues
  /** The key that signs the links in emails. */
  linkSeal: string
  /** When the engine of this node last finished an iteration. Absent if the node runs no engine. */
  lastClaimTime?: () => Temporal.Instant | undefined
  /** The recipient domains that this node throttles. Absent if the node sends no mail. */
  throttledProviders?: () => ThrottledProvider[]
  /** Settles when the console is built. Only requests for the console wait for it. */
  consoleBuilt?: Promise<void>
  /** How long a client may take to send a body; for a stream, the pause between two chunks. */
  bodySeconds?: number
  /** For tests: fails a request whose answer does not match its response schema. */
  checkAnswers?: boolean
}

export type Routes = FastifyPluginAsyncTypebox<Services>

/** Registers routes one after the other. A function, because their file declares them below. */
export const inOrder =
  (routes: () => Routes[]): Routes =>
  async (app, services) => {
    for (const route of routes()) await route(app, services)
  }

/** The options of a route: its name in the API description and the client, who may call it, and its schema. */
export const operation = <Schema extends FastifySchema>(
  operationId: string,
  summary: string,
  { config, ...schema }: Schema & { config: FastifyContextConfig },
) => ({ config, schema: { ...schema, operationId, summary } })

export type Queues = Record<
  'interactive' | 'background' | 'imports' | 'uploads' | 'sources',
  WorkQueue
>

/**
 * Every route that can keep the database or the processor busy for long uses one of these.
 * Interactive work shares the database connections of all other requests: it gets less than half.
 */
export const openQueues = (): Queues => ({
  /** Work that a person waits for: plans, backtests, previews. */
  interactive: new WorkQueue({ perBusiness: 2, total: 4, maxWaiting: 20, retryAfterSeconds: 5 }),
  /** Long work: reports. */
  background: new WorkQueue({ perBusiness: 2, total: 3, maxWaiting: 20, retryAfterSeconds: 10 }),
  /** A client may take any time to send an import, so imports never wait for each other. */
  imports: new WorkQueue({
    perBusiness: 4,
    total: Infinity,
    maxWaiting: 0,
    retryAfterSeconds: 10,
  }),
  /** Files, each of which is read into memory. */
  uploads: new WorkQueue({ perBusiness: 2, total: 6, maxWaiting: 20, retryAfterSeconds: 5 }),
  /** Reading the sources of feeds for dry runs, which may be slow; keeps no database connection. */
  sources: new WorkQueue({ perBusiness: 2, total: 4, maxWaiting: 20, retryAfterSeconds: 10 }),
})

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no credential. */
    open?: true
    /** The answer is one object: it carries an `ETag`, and `If-Match` is supported. */
    etag?: true
    /** A property of the answer that is not part of the object, and so not of its `ETag`. */
    untagged?: string
    /** Supports `Idempotency-Key`; the handler answers through `answerOnce`. */
    idempotent?: true
    /** The handler checks the body itself, as it does for an import, or together with what is stored. */
    readsBody?: true
    /** The body may be empty, although the route describes one. */
    emptyBody?: true
    /** The handler reads the body as it arrives; the size is not limited. */
    streams?: true
    /** How long a client may take to send the body, if it may be large. */
    bodySeconds?: number
    /** How many properties the body may have, if it holds many objects. */
    maxKeys?: number
    /** Called so often that it is logged at `debug` level only. */
    quiet?: true
  }
}
