import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Credentials } from '../../auth/credentials.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import type { Log } from '../../log.ts'
import type { SettingsCache } from '../../store/settings.ts'
import { WorkQueue } from '../../work-queue.ts'

/** What the routes stand on; each route file takes what it needs. */
export type Services = {
  config: Config
  database: Database
  settings: SettingsCache
  clock: Clock
  log: Log
  credentials: Credentials
  /** Limit how much heavy work runs at once. */
  queues: Queues
  /** Seals the links in mails. */
  linkSeal: string
  /** Where this node runs an engine: when it last finished a turn. */
  lastClaimTime?: () => Temporal.Instant | undefined
  /** Settles when the console's files are there; until then its pages wait, and only they. */
  consoleBuilt?: Promise<void>
  /** How long a client may take to send a body; for a stream, between two pieces of it. */
  bodySeconds?: number
  /** Refuses to send an answer that is not what the API description says. For tests. */
  checkAnswers?: boolean
}

export type Routes = FastifyPluginAsyncTypebox<Services>

export type Queues = Record<'interactive' | 'background' | 'imports', WorkQueue>

/**
 * Every route that can keep the database or the processor busy for long uses one of these.
 * Interactive work shares the database connections of all other requests: it gets less than half.
 */
export const openQueues = (): Queues => ({
  /** What a person waits for: plans, backtests, previews. */
  interactive: new WorkQueue({ perBusiness: 2, total: 4, maxWaiting: 20, retryAfterSeconds: 5 }),
  /** Long work: reports. */
  background: new WorkQueue({ perBusiness: 2, total: 3, maxWaiting: 20, retryAfterSeconds: 10 }),
  /** A client can take as long as it likes to send an import, so none waits for another. */
  imports: new WorkQueue({
    perBusiness: 4,
    total: Infinity,
    maxWaiting: 0,
    retryAfterSeconds: 10,
  }),
})

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without a credential; every other route is authenticated. */
    open?: true
    /** Answers one object: carries an `ETag`, and `If-Match` is taken. */
    etag?: true
    /** A property of the answer that is no part of the object, and so not of its `ETag`. */
    untagged?: string
    /** Takes an `Idempotency-Key`; the handler answers through `answerOnce`. */
    idempotent?: true
    /** May be called without any body, although a body is described. */
    emptyBody?: true
    /** Reads its body as it comes, however long it is. */
    streams?: true
    /** Asked so often that it is logged at `debug` only. */
    quiet?: true
  }
}
