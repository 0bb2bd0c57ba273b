import type pg from 'pg'
import { pendingOf, runBatch, sendBatch, type Pending } from './batch.ts'
import type { Db } from './database.ts'
import { hintSoon, type Channel } from './hint.ts'
import type { RolePool } from './pool.ts'
import { toQuery, unnamed } from './query.ts'
import { isConnectionError, isDeadlock } from './postgres-errors.ts'
import { raw, sql, type Sql } from './sql.ts'

type Who = { businessId?: number; user: string }

/** Runs statements for a business or a user, over the connections of a pool. */
export function dbOf(rolePool: RolePool, who: Who): Db {
  const { pool } = rolePool
  const settings = toQuery(transactionSettings(rolePool, who))
  return {
    query: (statement) => runAlone(rolePool, settings, statement),
    transaction: (work) => transact(rolePool, [BEGIN, settings], work),
    attempt: (work) => transact(rolePool, [BEGIN, settings], work),
    snapshot: (work) => transact(rolePool, [BEGIN_READING, settings], work),
    stream: (statement, batchSize) => stream(pool, settings, statement, batchSize),
    send: () => {
      throw new Error('send needs a transaction: its failure is reported by the commit')
    },
    hint: (channel, payload = '') => hintSoon(pool, channel, payload),
  }
}

/**
 * All settings are local to the transaction: see docs/decisions/0016-transaction-settings.md. They are
 * one column, because the client parses the description of each column.
 */
function transactionSettings({ settings }: RolePool, { businessId, user }: Who): Sql {
  // The engine has no business, and its user is SYSTEM: the defaults of unset settings.
  if (businessId === undefined && user === 'SYSTEM') return sql`select concat(${settings})`
  return sql`
    select concat(${settings}, set_config('app.business_id', ${String(businessId ?? '')}, true),
                  set_config('app.username', ${user}, true))`
}

/** Sends one batch, which the server runs as one transaction, without BEGIN and COMMIT. */
async function runAlone<Row>({ pool }: RolePool, settings: pg.QueryConfig, statement: Sql) {
  const client = await pool.connect()
  try {
    const answers = await runBatch(client, [settings, toQuery(statement)])
    client.release()
    return answers.at(-1)!.rows as Row[]
  } catch (error) {
    throw release(client, error)
  }
}

async function transact<T>(
  rolePool: RolePool,
  opening: pg.QueryConfig[],
  work: (tx: Db) => Promise<T>,
  triesLeft = 3,
): Promise<T> {
  const { pool } = rolePool
  const client = await pool.connect()
  const { run, flush } = collectStatements(client)
  const scope = openScope(run)
  const sent: Promise<unknown>[] = []
  const hints: Hint[] = []
  try {
    for (const statement of opening) send(run, sent, statement)
    const result = await work(dbInside(scope, sent, hints))
    scope.end()
    const committed = run(COMMIT)
    await Promise.all([...sent, committed])
    assertCommitted(await committed)
    client.release()
    for (const { channel, payload } of hints) hintSoon(pool, channel, payload)
    return result
  } catch (error) {
    scope.end()
    flush()
    // On a dead connection the rollback would wait for its timeout.
    if (!isConnectionError(error)) await client.query('rollback').catch(() => {})
    // If a sent statement failed, the error of the statement after it is only a consequence.
    const cause = (await firstFailure(sent)) ?? error
    release(client, cause)
    if (isDeadlock(cause) && triesLeft > 1) return transact(rolePool, opening, work, triesLeft - 1)
    throw cause
  }
}

/** A failure of the statement is reported when the transaction or the attempt ends. */
function send(run: Run, sent: Promise<unknown>[], statement: pg.QueryConfig) {
  const answer = run(statement)
  answer.catch(() => {})
  sent.push(answer)
}

async function firstFailure(sent: Promise<unknown>[]): Promise<unknown> {
  const ended = await Promise.allSettled(sent)
  return ended.find((result) => result.status === 'rejected')?.reason
}

/** A notification to send after the commit. */
type Hint = { channel: Channel; payload: string }

type Run = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

/**
 * The lifetime of a transaction or of an attempt in it. Afterwards the connection belongs to
 * another transaction, perhaps of another business, so a late statement must throw.
 */
type Scope = { run: Run; assertOpen(): void; end(): void }

function openScope(run: Run): Scope {
  let hasEnded = false
  const assertOpen = () => {
    if (hasEnded) throw new Error('this transaction has ended: its handle cannot be used any more')
  }
  return {
    run: (statement) => {
      assertOpen()
      return run(statement)
    },
    assertOpen,
    end: () => void (hasEnded = true),
  }
}

function dbInside(scope: Scope, sent: Promise<unknown>[], hints: Hint[]): Db {
  const { run } = scope
  const tx: Db = {
    query: async (statement) => (await run(toQuery(statement))).rows,
    transaction: (work) => work(tx),
    attempt: async (work) => {
      await run(SAVEPOINT)
      const sentBefore = sent.length
      const attemptScope = openScope(run)
      try {
        const result = await work(dbInside(attemptScope, sent, hints))
        attemptScope.end()
        await Promise.all([...sent.slice(sentBefore), run(RELEASE)])
        return result
      } catch (error) {
        attemptScope.end()
        const cause = (await firstFailure(sent.splice(sentBefore))) ?? error
        await run(ROLLBACK_TO)
        throw cause
      }
    },
    snapshot: () => {
      throw new Error('a snapshot must be the outermost transaction')
    },
    stream: (statement, batchSize) => fetchInBatches(run, statement, batchSize),
    send: (statement) => send(run, sent, toQuery(statement)),
    hint: (channel, payload = '') => {
      scope.assertOpen()
      hints.push({ channel, payload })
    },
  }
  return tx
}

/** Sends the statements of one tick in one packet: a packet costs more than a small statement. */
function collectStatements(client: pg.PoolClient) {
  let batch: Pending[] = []
  const flush = () => {
    const collected = batch
    batch = []
    // Each statement reports its own failure.
    if (collected.length > 0) sendBatch(client, collected).catch(() => {})
  }
  const run: Run = (statement) => {
    if (batch.length === 0) process.nextTick(flush)
    const pending = pendingOf(statement)
    batch.push(pending)
    return pending.promise
  }
  return { run, flush }
}

async function* stream<Row>(
  pool: pg.Pool,
  settings: pg.QueryConfig,
  statement: Sql,
  batchSize: number,
) {
  const client = await pool.connect()
  try {
    await runBatch(client, [BEGIN_READING, settings])
    yield* fetchInBatches<Row>(collectStatements(client).run, statement, batchSize)
  } finally {
    // Also runs if the reader stops early. The transaction is read-only.
    const ended = await client.query('rollback').catch((error: Error) => error)
    client.release(ended instanceof Error ? ended : undefined)
  }
}

let cursors = 0

async function* fetchInBatches<Row>(run: Run, statement: Sql, batchSize: number) {
  const cursor = raw(`batches_${(cursors += 1)}`)
  await run(unnamed(sql`declare ${cursor} no scroll cursor for ${statement}`))
  for (;;) {
    const { rows } = await run(unnamed(sql`fetch ${raw(String(batchSize))} from ${cursor}`))
    if (rows.length > 0) yield rows as Row[]
    if (rows.length < batchSize) break
  }
  await run(unnamed(sql`close ${cursor}`))
}

/** After a failed statement COMMIT succeeds as well, with the command tag ROLLBACK. */
function assertCommitted(commit: pg.QueryResult) {
  if (commit.command !== 'COMMIT') throw new Error(`commit answered ${commit.command}`)
}

/** After an error of a statement the connection can be used again; after any other it is closed. */
function release(client: pg.PoolClient, error: unknown) {
  client.release(isConnectionError(error) ? (error as Error) : undefined)
  return error
}

const BEGIN = toQuery(sql`begin`)
const BEGIN_READING = toQuery(sql`begin isolation level repeatable read, read only`)
const COMMIT = toQuery(sql`commit`)
const SAVEPOINT = toQuery(sql`savepoint attempt`)
const RELEASE = toQuery(sql`release savepoint attempt`)
const ROLLBACK_TO = toQuery(sql`rollback to savepoint attempt`)
