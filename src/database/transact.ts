import type pg from 'pg'
import { pendingOf, runBatch, sendBatch, type Pending } from './batch.ts'
import type { Db } from './database.ts'
import { hintSoon, type Channel } from './hint.ts'
import { borrowShare, type Borrowed, type RolePool } from './pool.ts'
import { toQuery, unnamed } from './query.ts'
import { isConnectionError, isDeadlock } from './postgres-errors.ts'
import { raw, sql, type Sql } from './sql.ts'

type Who = { businessId?: number; user: string }

/** Runs statements for a business or a user, over the connections of a pool. */
export function dbOf(rolePool: RolePool, who: Who): Db {
  const { pool } = rolePool
  const settings = toQuery(transactionSettings(rolePool, who))
  const connect = () => borrowShare(rolePool, who.businessId)
  const connectToRead = () => borrowShare(rolePool, who.businessId, { isReading: true })
  const hint: Db['hint'] = (channel, payload = '') => hintSoon(pool, channel, payload)
  const transaction: Db['transaction'] = (work) => transact(connect, [BEGIN, settings], work, hint)
  return {
    query: (statement) => runAlone(connectToRead, settings, statement),
    ...SINGLE_ROWS,
    transaction,
    attempt: transaction,
    snapshot: (work) => transact(connectToRead, [BEGIN_READING, settings], work, hint),
    stream: (statement, batchSize) => stream(connect, settings, statement, batchSize),
    send: () => {
      throw new Error('send needs a transaction: its failure is reported by the commit')
    },
    hint,
  }
}

/** They use the `query` of the object that they are called on, also of a copy with another one. */
export const SINGLE_ROWS: Pick<Db, 'findRow' | 'getRow'> & ThisType<Db> = {
  async findRow<Row>(statement: Sql) {
    const [row] = await this.query<Row>(statement)
    return row
  },
  async getRow<Row>(statement: Sql) {
    const row = await this.findRow<Row>(statement)
    if (row === undefined) throw new Error('the statement gave no row')
    return row
  },
}

type Connect = () => Promise<Borrowed>

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
async function runAlone<Row>(connect: Connect, settings: pg.QueryConfig, statement: Sql) {
  const borrowed = await connect()
  try {
    const answers = await runBatch(borrowed.client, [settings, toQuery(statement)])
    borrowed.release()
    return answers.at(-1)!.rows as Row[]
  } catch (error) {
    throw releaseAfter(error, borrowed)
  }
}

async function transact<T>(
  connect: Connect,
  opening: pg.QueryConfig[],
  work: (tx: Db) => Promise<T>,
  hint: Db['hint'],
  triesLeft = 3,
): Promise<T> {
  const borrowed = await connect()
  const { client } = borrowed
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
    // After a failed statement COMMIT succeeds as well, with the command tag ROLLBACK.
    const { command } = await committed
    if (command !== 'COMMIT') throw new Error(`commit answered ${command}`)
    borrowed.release()
    for (const { channel, payload } of hints) hint(channel, payload)
    return result
  } catch (error) {
    scope.end()
    flush()
    // On a dead connection the rollback would wait for its timeout.
    if (!isConnectionError(error)) await client.query('rollback').catch(() => {})
    // If a sent statement failed, the error of the statement after it is only a consequence.
    const cause = (await firstFailure(sent)) ?? error
    releaseAfter(cause, borrowed)
    if (isDeadlock(cause) && triesLeft > 1) {
      return transact(connect, opening, work, hint, triesLeft - 1)
    }
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

type Hint = { channel: Channel; payload: string }

type Run = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

/**
 * The lifetime of a transaction or of an attempt in it. Afterwards the connection belongs to
 * another transaction, perhaps of another business, so a late statement must throw.
 */
type TransactionScope = { run: Run; assertOpen(): void; end(): void }

function openScope(run: Run): TransactionScope {
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

/** `depth`: how many attempts it is inside of. */
function dbInside(scope: TransactionScope, sent: Promise<unknown>[], hints: Hint[], depth = 0): Db {
  const { run } = scope
  const tx: Db = {
    query: async (statement) => (await run(toQuery(statement))).rows,
    ...SINGLE_ROWS,
    transaction: (work) => work(tx),
    attempt: async (work) => {
      const savepoint = savepointAt(depth)
      await run(savepoint.set)
      const sentBefore = sent.length
      const attemptScope = openScope(run)
      try {
        const result = await work(dbInside(attemptScope, sent, hints, depth + 1))
        attemptScope.end()
        await Promise.all([...sent.slice(sentBefore), run(savepoint.release)])
        return result
      } catch (error) {
        attemptScope.end()
        const cause = (await firstFailure(sent.splice(sentBefore))) ?? error
        await Promise.all([run(savepoint.rollBack), run(savepoint.release)])
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
  connect: Connect,
  settings: pg.QueryConfig,
  statement: Sql,
  batchSize: number,
) {
  const { client, release } = await connect()
  try {
    await runBatch(client, [BEGIN_READING, settings])
    yield* fetchInBatches<Row>(collectStatements(client).run, statement, batchSize)
  } finally {
    // Also runs if the reader stops early. The transaction is read-only.
    const ended = await client.query('rollback').catch((error: Error) => error)
    release(ended instanceof Error ? ended : undefined)
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

/** After an error of a statement the connection can be used again; after any other it is closed. */
function releaseAfter(error: unknown, { release }: Borrowed) {
  release(isConnectionError(error) ? (error as Error) : undefined)
  return error
}

const BEGIN = toQuery(sql`begin`)
const BEGIN_READING = toQuery(sql`begin isolation level repeatable read, read only`)
const COMMIT = toQuery(sql`commit`)

/** Nested attempts need names of their own: ROLLBACK TO finds the last savepoint with a name. */
function savepointAt(depth: number) {
  const name = raw(`attempt_${depth}`)
  return {
    set: toQuery(sql`savepoint ${name}`),
    release: toQuery(sql`release savepoint ${name}`),
    rollBack: toQuery(sql`rollback to savepoint ${name}`),
  }
}
