import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { StartError } from '../errors.ts'
import { runBatch } from './batch.ts'
import type { Database, Db } from './database.ts'
import { cut, startHeartbeat } from './heartbeat.ts'
import { raw, sql, type Sql } from './sql.ts'

type Role = 'bellwether_app' | 'bellwether_engine' | 'bellwether_operator'

export type PostgresOptions = {
  url: string
  /** Lost connections are news for the log, never the end of the process. */
  onError?: (error: Error) => void
  /** How many connections the largest pool may hold. */
  connections?: number
  /** For what lives long: notices within 10 s when the server falls silent. */
  heartbeat?: boolean
  /** Of the server, on every connection; they go before our own. */
  settings?: Record<string, string>
}

export function openDatabase(given: PostgresOptions): Database {
  const closing = new AbortController()
  const options: PostgresOptions = {
    ...given,
    // What is lost while we take leave is no news.
    onError: (error) => void (closing.signal.aborted || given.onError?.(error)),
  }
  const most = options.connections ?? 10
  const app = openPool(options, { role: 'bellwether_app', max: most, statementSeconds: 10 })
  // A node that froze in the middle must not keep its triggers from the others.
  const engine = openPool(options, {
    role: 'bellwether_engine',
    max: 8,
    statementSeconds: 10,
    idleSeconds: 5,
    // A plan for one trigger is a bad one for five hundred, but where a statement is `kept`.
    settings: { plan_cache_mode: 'force_custom_plan' },
    keepsPlans: true,
  })
  // Planning them costs more than running them. See `forgetPlansOf`.
  const delivery = openPool(options, {
    role: 'bellwether_engine',
    max: 3,
    statementSeconds: 10,
    idleSeconds: 5,
    settings: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
    keepsPlans: true,
  })
  const operator = openPool(options, { role: 'bellwether_operator', max: 3, statementSeconds: 5 })
  const reports = openPool(options, { role: 'bellwether_app', max: 4, statementSeconds: 120 })
  const pools = [app, engine, delivery, operator, reports]
  const listeners = new Set<pg.Client>()
  const heartbeat = options.heartbeat
    ? startHeartbeat({ connectionString: options.url }, () => {
        pools.forEach(cutConnections)
        listeners.forEach(cut)
      })
    : undefined

  return {
    forBusiness: (businessId, user) => dbOf(app, { businessId, user }),
    reportsOf: (businessId) => dbOf(reports, { businessId, user: 'SYSTEM' }),
    engine: dbOf(engine, { user: 'SYSTEM' }),
    delivery: dbOf(delivery, { user: 'SYSTEM' }),
    operator: dbOf(operator, { user: 'OPERATOR' }),
    readTime: async () => {
      const { rows } = await operator.query(
        'select extract(epoch from clock_timestamp()) * 1000 as ms',
      )
      return Number(rows[0].ms)
    },
    listen: (channel, heard) => listen(options, listeners, channel, heard),
    close: async () => {
      closing.abort()
      await heartbeat?.stop()
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

type PoolShape = {
  role: Role
  max: number
  statementSeconds: number
  /** How long a transaction may hold its locks without a word. */
  idleSeconds?: number
  settings?: Record<string, string>
  /** Once made, they serve for a while. */
  keepsPlans?: boolean
}

function openPool(
  { url, onError, settings: given }: PostgresOptions,
  { role, max, statementSeconds, idleSeconds = 60, settings = {}, keepsPlans }: PoolShape,
) {
  const address = new URL(url)
  const optionsOfUrl = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options') // they would take the place of ours
  const pool = new pg.Pool({
    connectionString: address.href,
    max,
    pipeline: true,
    // With the first probe after 3 s and ten more a second apart, a cut line shows after 13 s.
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // The server ends a slow statement; where it does not even answer, the connection is dead.
    query_timeout: statementSeconds * 1000 + 2_000,
    types: TYPES,
    onConnect: (client: pg.ClientBase) => assertRole(client, role),
    options: serverSettings(optionsOfUrl, {
      role,
      timezone: 'UTC',
      statement_timeout: `${statementSeconds}s`,
      // What is read is in memory or on an SSD. As if on a turning disk, the planner would rather
      // read all rows of a business than look up each of a batch.
      random_page_cost: '1.1',
      ...settings,
      idle_in_transaction_session_timeout: `${idleSeconds}s`,
      ...given,
    }),
    application_name: role,
  } as pg.PoolConfig)
  pool.on('error', (error) => onError?.(error))
  // A client that breaks while it is lent out says so here; unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  trackConnections(pool)
  if (keepsPlans) plansKept.add(pool)
  // Whoever says how plans are made keeps them.
  if (keepsPlans && !given?.plan_cache_mode) forgetPlansOf(pool)
  return pool
}

/**
 * A plan that was made while a table was small is a bad one when it has grown, and the server itself
 * looks once a minute. So a connection's first plans serve for a second, the next ones for two, and
 * so on: a bad one does harm for a moment, and making them costs little of what they spare.
 */
const [FIRST_KEPT_MS, LONGEST_KEPT_MS] = [1_000, 10_000]

function forgetPlansOf(pool: pg.Pool) {
  const planned = new WeakMap<pg.ClientBase, { until: number; keptMs: number }>()
  pool.on('acquire', (client) => {
    const now = monotonicMs()
    const { until, keptMs } = planned.get(client) ?? { until: 0, keptMs: FIRST_KEPT_MS / 2 }
    if (now < until) return
    const next = Math.min(2 * keptMs, LONGEST_KEPT_MS)
    planned.set(client, { until: now + next, keptMs: next })
    // Goes before the first statement, which fails with it.
    client.query('discard plans').catch(() => {})
  })
}

const plansKept = new WeakSet<pg.Pool>()

const connections = new WeakMap<pg.Pool, Set<pg.Client>>()

function trackConnections(pool: pg.Pool) {
  const open = new Set<pg.Client>()
  connections.set(pool, open)
  pool.on('connect', (client) => open.add(client))
  pool.on('remove', (client) => open.delete(client))
}

/** Whoever waits on one of them learns at once that it is lost; new ones are made when needed. */
function cutConnections(pool: pg.Pool) {
  for (const client of connections.get(pool) ?? []) cut(client)
}

const serverSettings = (before: string, settings: Record<string, string>) =>
  [before, ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)].join(' ')

/** A pooler that drops what we ask for would let us in as the owner, before whom there is no wall. */
async function assertRole(client: pg.ClientBase, role: Role) {
  const { rows } = await client.query('show role')
  if (rows[0].role === role) return
  throw new StartError(
    `The database lets us in as another than ${role}: something between us and PostgreSQL drops connection options. Connect directly; see docs/database.md.`,
  )
}

type Who = { businessId?: number; user: string }

function dbOf(pool: pg.Pool, who: Who): Db {
  const identify = identity(who).map(toQuery)
  return {
    query: (statement) => once(pool, identify, statement),
    transaction: (work) => transact(pool, [BEGIN, ...identify], work),
    attempt: (work) => transact(pool, [BEGIN, ...identify], work),
    snapshot: (work) => transact(pool, [BEGIN_READING, ...identify], work),
    stream: (statement, batchSize) => stream(pool, identify, statement, batchSize),
    send: () => {
      throw new Error('only a transaction can fail for what nobody waits for')
    },
    hint: (channel) => hintSoon(pool, channel),
  }
}

/**
 * Local to the transaction: a setting of the session would leak to the next borrower. Who says
 * nothing speaks for no business, and as SYSTEM: the engine, which begins thousands a second.
 */
const identity = ({ businessId, user }: Who) =>
  businessId === undefined && user === 'SYSTEM'
    ? []
    : [
        sql`
          select set_config('app.business_id', ${String(businessId ?? '')}, true),
                 set_config('app.username', ${user}, true)`,
      ]

/** A transaction of its own, though nobody says so: what is sent together is one. */
async function once<Row>(pool: pg.Pool, identify: pg.QueryConfig[], statement: Sql) {
  const client = await pool.connect()
  try {
    const planning = statement.isKept && plansKept.has(pool) ? [KEEP_PLANS] : []
    const answers = await runBatch(client, [...identify, ...planning, toQuery(statement)])
    client.release()
    return answers.at(-1)!.rows as Row[]
  } catch (error) {
    throw release(client, error)
  }
}

async function transact<T>(
  pool: pg.Pool,
  opening: pg.QueryConfig[],
  work: (tx: Db) => Promise<T>,
  triesLeft = 3,
): Promise<T> {
  const client = await pool.connect()
  const { run, leave } = gather(client)
  const sent: Promise<unknown>[] = []
  const hints = new Set<string>()
  try {
    for (const statement of opening) send(run, sent, statement)
    const result = await work(inside(run, sent, hints, plansKept.has(pool)))
    const committed = run(COMMIT)
    await Promise.all([...sent, committed])
    assertCommitted(await committed)
    client.release()
    for (const channel of hints) hintSoon(pool, channel)
    return result
  } catch (error) {
    leave()
    // A dead connection would only let us wait once more.
    if (!isConnectionError(error)) await client.query('rollback').catch(() => {})
    // What failed unseen is why the statement after it was refused.
    const cause = (await firstFailure(sent)) ?? error
    release(client, cause)
    if (isDeadlock(cause) && triesLeft > 1) return transact(pool, opening, work, triesLeft - 1)
    throw cause
  }
}

/** Its failure is looked for when the transaction ends, or the attempt of which it is a part. */
function send(run: Run, sent: Promise<unknown>[], statement: pg.QueryConfig) {
  const answer = run(statement)
  answer.catch(() => {})
  sent.push(answer)
}

async function firstFailure(sent: Promise<unknown>[]): Promise<unknown> {
  const ended = await Promise.allSettled(sent)
  return ended.find((each) => each.status === 'rejected')?.reason
}

type Run = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

function inside(run: Run, sent: Promise<unknown>[], hints: Set<string>, mayKeep: boolean): Db {
  let keepsPlans = !mayKeep
  const prepare = (statement: Sql) => {
    if (statement.isKept && !keepsPlans) send(run, sent, KEEP_PLANS)
    keepsPlans ||= statement.isKept === true
    return toQuery(statement)
  }
  const tx: Db = {
    query: async (statement) => (await run(prepare(statement))).rows,
    transaction: (work) => work(tx),
    attempt: async (work) => {
      await run(SAVEPOINT)
      const before = sent.length
      try {
        const result = await work(tx)
        await Promise.all([...sent.slice(before), run(RELEASE)])
        return result
      } catch (error) {
        const cause = (await firstFailure(sent.splice(before))) ?? error
        await run(ROLLBACK_TO)
        throw cause
      }
    },
    snapshot: () => {
      throw new Error('a transaction that has begun cannot be bound to one moment any more')
    },
    stream: (statement, batchSize) => fetchInBatches(run, statement, batchSize),
    send: (statement) => send(run, sent, prepare(statement)),
    hint: (channel) => void hints.add(channel),
  }
  return tx
}

/** What is said at once leaves at once: a packet costs more than a small statement. */
function gather(client: pg.PoolClient) {
  let batch: Batch | undefined
  const leave = () => {
    const leaving = batch
    batch = undefined
    leaving?.resolve(runBatch(client, leaving.statements))
  }
  const begin = (): Batch => {
    process.nextTick(leave)
    return { statements: [], ...Promise.withResolvers<pg.QueryResult[]>() }
  }
  const run: Run = async (statement) => {
    const { statements, promise } = (batch ??= begin())
    const place = statements.push(statement) - 1
    return (await promise)[place]!
  }
  return { run, leave }
}

type Batch = { statements: pg.QueryConfig[] } & PromiseWithResolvers<pg.QueryResult[]>

const hinting = new WeakMap<pg.Pool, Map<string, { next: number; isWaiting: boolean }>>()
const BETWEEN_HINTS_MS = 20

/**
 * Not in the transaction itself: the server lets only one that notifies commit at a time, the next
 * one after its disk. And one hint serves all that was committed before it.
 */
function hintSoon(pool: pg.Pool, channel: string) {
  const channels = hinting.get(pool) ?? new Map()
  hinting.set(pool, channels)
  const state = channels.get(channel) ?? { next: 0, isWaiting: false }
  channels.set(channel, state)
  if (state.isWaiting) return
  state.isWaiting = true
  const wait = Math.max(0, state.next - monotonicMs())
  setTimeout(() => {
    state.isWaiting = false
    state.next = monotonicMs() + BETWEEN_HINTS_MS
    if (pool.ending) return
    // Where it is lost, whoever waits for it looks by itself before long.
    pool.query(NOTIFY, [channel]).catch(() => {})
  }, wait)
}

const NOTIFY = `select pg_notify($1, '')`

async function* stream<Row>(
  pool: pg.Pool,
  identify: pg.QueryConfig[],
  statement: Sql,
  batchSize: number,
) {
  const client = await pool.connect()
  try {
    await runBatch(client, [BEGIN_READING, ...identify])
    yield* fetchInBatches<Row>(gather(client).run, statement, batchSize)
  } finally {
    // Also when the reader stops early: there is nothing to keep.
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

/** After a failed statement a COMMIT resolves all the same, and says ROLLBACK. */
function assertCommitted(commit: pg.QueryResult) {
  if (commit.command !== 'COMMIT') throw new Error(`commit answered ${commit.command}`)
}

/** Statements with the same text are parsed once on each connection. */
const names = new Map<string, string>()
const MOST_NAMES = 2_000

function toQuery(statement: Sql): pg.QueryConfig {
  let name = names.get(statement.text)
  if (!name && names.size < MOST_NAMES) names.set(statement.text, (name = `s${names.size}`))
  return name ? { name, ...unnamed(statement) } : unnamed(statement)
}

const TYPES = { getTypeParser }

const unnamed = ({ text, values }: Sql): pg.QueryConfig => ({
  text,
  values: values.map((value) => (Array.isArray(value) ? listText(value) : value)),
  types: TYPES,
})

/** A batch sends its columns as lists of hundreds: what needs no escaping is not looked at twice. */
function listText(values: unknown[]) {
  const elements: string[] = []
  for (const value of values) {
    if (value === null || value === undefined) elements.push('NULL')
    else if (typeof value === 'number' || typeof value === 'boolean') elements.push(String(value))
    else if (typeof value === 'string') elements.push(`"${escaped(value)}"`)
    else return values
  }
  return `{${elements.join(',')}}`
}

const escaped = (text: string) => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text)

const BEGIN = toQuery(sql`begin`)
const BEGIN_READING = toQuery(sql`begin isolation level repeatable read, read only`)
const COMMIT = toQuery(sql`commit`)
const SAVEPOINT = toQuery(sql`savepoint attempt`)
const RELEASE = toQuery(sql`release savepoint attempt`)
const ROLLBACK_TO = toQuery(sql`rollback to savepoint attempt`)

/** Until the transaction ends: plans are made once, and follow the order of the text (see `kept`). */
const KEEP_PLANS = toQuery(sql`
  select set_config('plan_cache_mode', 'force_generic_plan', true),
         set_config('join_collapse_limit', '1', true), set_config('from_collapse_limit', '1', true),
         set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
         set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`)

/** A connection on which the server refused a statement is still good; any other one is not. */
function release(client: pg.PoolClient, error: unknown) {
  client.release(isConnectionError(error) ? (error as Error) : undefined)
  return error
}

const isConnectionError = (error: unknown) =>
  isDatabaseAway(error) || (error instanceof pg.DatabaseError && error.severity === 'FATAL')

const isDeadlock = (error: unknown) => error instanceof pg.DatabaseError && error.code === '40P01'

/** The database is away, as against a statement that it refused. */
export function isDatabaseAway(error: unknown) {
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
 * One connection at a time, and a new one a second after the last was lost. Gives back at once: a
 * hint is never waited for.
 */
function listen(
  { url, onError }: PostgresOptions,
  listeners: Set<pg.Client>,
  channel: string,
  heard: (payload: string) => void,
) {
  const stopping = new AbortController()
  const { signal } = stopping
  const listenOnce = async () => {
    const client = new pg.Client({ connectionString: url, keepAlive: true })
    listeners.add(client)
    const ended = new Promise((resolve) => client.once('end', resolve))
    const leave = () => void client.end().catch(() => {})
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    client.on('error', (error) => onError?.(error))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      signal.addEventListener('abort', leave)
      if (signal.aborted) leave()
      await ended
    } finally {
      signal.removeEventListener('abort', leave)
      listeners.delete(client)
      cut(client)
    }
  }
  const keepListening = async () => {
    while (!signal.aborted) {
      await listenOnce().catch(() => {})
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const listening = keepListening()
  return () => {
    stopping.abort()
    return listening
  }
}

const AGAIN_MS = 1_000

const { builtins } = pg.types

/** Moments arrive as Instants and ids as numbers, also inside arrays. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (format === 'binary') return pg.types.getTypeParser(oid, 'binary')
  return parsers[oid] ?? pg.types.getTypeParser(oid, 'text')
}

/** As the server writes it in UTC, `2026-03-02 09:00:00.125+00`: read by hand, ten times as fast. */
function toInstant(text: string) {
  // `Date.UTC` takes the years before 100 for those after 1900.
  const isPlain = text.charCodeAt(4) === DASH && text.endsWith('+00') && !text.startsWith('00')
  return Temporal.Instant.fromEpochMilliseconds(
    isPlain ? plainMs(text) : Date.parse(`${text.slice(0, 10)}T${text.slice(11)}:00`),
  )
}

const DASH = 45

function plainMs(text: string) {
  const digit = (at: number) => text.charCodeAt(at) - 48
  const two = (at: number) => digit(at) * 10 + digit(at + 1)
  // What comes after the seconds: up to six digits, of which three count.
  const part = text.length - 3 - 20
  const ms =
    (part > 0 ? digit(20) * 100 : 0) + (part > 1 ? digit(21) * 10 : 0) + (part > 2 ? digit(22) : 0)
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms)
}

const INT8_ARRAY = 1016
const TIMESTAMPTZ_ARRAY = 1185

const parsers: Record<number, (text: string) => unknown> = {
  [builtins.INT8]: Number,
  [builtins.NUMERIC]: Number,
  [builtins.DATE]: (text) => text,
  [builtins.TIMESTAMPTZ]: toInstant,
  [INT8_ARRAY]: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
  [TIMESTAMPTZ_ARRAY]: (text) =>
    text === '{}' ? [] : text.slice(1, -1).replaceAll('"', '').split(',').map(toInstant),
}
