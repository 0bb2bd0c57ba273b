import pg from 'pg'
import { StartError } from '../errors.ts'
import { asConnectionError, isReadOnly, ReadOnlyServerError } from './postgres-errors.ts'

/** `postgres://user@one:5432,two/base` names two servers: one URL for each. */
export function serverUrls(url: string): string[] {
  const [, before, hosts, after] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  if (hosts === undefined) return [url]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** The hosts of the URL, for messages, without user and password. */
export const serverNames = (url: string) =>
  serverUrls(url)
    .map((server) => URL.parse(server)?.host || 'DATABASE_URL')
    .join(', ')

/** A client that connects to the server of the URL that accepts writes. */
export function newClient(url: string, config: pg.ClientConfig): pg.Client {
  const { Client, ...server } = clientConfig(url)
  return new Client({ ...server, ...config })
}

/** The settings with which a client or a pool finds its server, or the pooler in front of it. */
export function clientConfig(
  url: string,
  isPooled = false,
): pg.PoolConfig & { Client: typeof pg.Client } {
  const urls = serverUrls(url)
  return { connectionString: urls[0]!, Client: clientOf(urls, isPooled) }
}

/**
 * Settings of every session. As options of the connection they take precedence over those of the login
 * and the database, from the first statement on. Transactions set their own limits after that.
 */
const SESSION_SETTINGS = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  default_transaction_isolation: 'read\\ committed',
  datestyle: 'ISO',
  row_security: 'on',
}

/** The same for transactions over a pooler, which has no sessions. The others are checked at the start. */
export const POOLED_SETTINGS = { lock_timeout: '0', datestyle: 'ISO', row_security: 'on' }

const SESSION_OPTIONS = Object.entries(SESSION_SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ')

/** An option that servers before 17 do not know would be refused. */
const NO_TRANSACTION_TIMEOUT = `
  select set_config('transaction_timeout', '0', false)
  where current_setting('server_version_num')::int >= 170000`

const pooled = new WeakSet<pg.ClientBase>()

/** Whether another server connection may run the next transaction of this client. */
export const isPooled = (client: pg.ClientBase) => pooled.has(client)

/**
 * A pg client that marks the errors of its connection. With several servers it probes all at once, and
 * then connects to the primary.
 */
function clientOf(urls: string[], overPooler: boolean): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      // Statements and connect() report a lost connection too. Without a listener it would end the
      // process, and a pool only adds its own after connect().
      this.on('error', () => {})
      if (overPooler) {
        pooled.add(this)
        return
      }
      const { connectionParameters: given } = this as unknown as {
        connectionParameters: { options?: string }
      }
      given.options = `${given.options ?? ''} ${SESSION_OPTIONS}`.trim()
    }

    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error | null) => void): void
    override connect(callback?: (error: Error | null) => void) {
      const connected = this.#connect()
      if (!callback) return connected
      connected.then(() => callback(null), callback)
    }

    async #connect() {
      try {
        if (urls.length > 1) Object.assign(this, await findPrimary(urls))
        const client = await super.connect()
        if (!overPooler) await super.query(NO_TRANSACTION_TIMEOUT)
        return client
      } catch (error) {
        throw asConnectionError(error)
      }
    }

    // oxlint-disable-next-line typescript/no-explicit-any -- the overloads of pg
    override query(...args: unknown[]): any {
      const answer: unknown = Reflect.apply(super.query, this, args)
      if (!(answer instanceof Promise)) return answer
      return answer.catch((error) => {
        throw asConnectionError(error)
      })
    }
  } as typeof pg.Client
}

/** Must be shorter than the connection timeout of the pools. */
const PROBE_TIMEOUT_MS = 3_000

async function findPrimary(urls: string[]) {
  const probes = urls.map((url) =>
    newClient(url, {
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      application_name: 'bellwether_probe',
    }),
  )
  try {
    return await Promise.any(
      probes.map(async (probe) => {
        await probe.connect()
        await assertWritable(probe)
        return { host: probe.host, port: probe.port }
      }),
    )
  } catch (error) {
    const { errors } = error as AggregateError
    throw errors.find(isReadOnly) ?? errors[0]
  } finally {
    probes.forEach(cut)
  }
}

/** A standby or a read-only server accepts connections, but no writes. */
export async function assertWritable(client: pg.ClientBase) {
  const { rows } = await client.query('show transaction_read_only')
  if (rows[0].transaction_read_only === 'on') throw new ReadOnlyServerError()
}

/** A pooler would break LISTEN. It reports a process id of its own. */
export async function refusePooler(client: pg.Client) {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const { processID } = client as pg.Client & { processID: number }
  if (rows[0].pid !== processID) throw new StartError(POOLER)
}

export const POOLER =
  'There is a connection pooler such as PgBouncer between Bellwether and PostgreSQL: let DATABASE_URL name the PostgreSQL server itself, and DATABASE_POOLER the pooler. See docs/database.md.'

/** Refuses a pooler with which transactions would fail or behave differently. */
export async function checkPooler(url: string, poolerUrl: string) {
  const [direct, through] = [
    newClient(url, { connectionTimeoutMillis: 5_000 }),
    newPooledClient(poolerUrl),
  ]
  try {
    const [server, behind] = await Promise.all([direct, through].map(describeServer))
    if (server!.identity !== behind!.identity) {
      throw new StartError(
        `DATABASE_POOLER (${serverNames(poolerUrl)}) leads to another database than DATABASE_URL (${serverNames(url)}).`,
      )
    }
    const wrong = Object.entries(POOLED_DEFAULTS).find(([name, value]) => behind![name] !== value)
    if (wrong) {
      throw new StartError(
        `Over DATABASE_POOLER, ${wrong[0]} is "${behind![wrong[0]]}" and must be "${wrong[1]}": alter role <user of DATABASE_POOLER> set ${wrong[0]} = '${wrong[1]}', and restart the pooler.`,
      )
    }
  } finally {
    for (const client of [direct, through]) await client.end().catch(() => {})
  }
}

const newPooledClient = (url: string) => {
  const { Client, ...server } = clientConfig(url, true)
  return new Client({ ...server, connectionTimeoutMillis: 5_000 })
}

/** Settings that a transaction cannot replace, because they count from its beginning. */
const POOLED_DEFAULTS: Record<string, string> = {
  default_transaction_isolation: 'read committed',
  transaction_timeout: '0',
}

async function describeServer(client: pg.Client): Promise<Record<string, string>> {
  await client.connect()
  const { rows } = await client.query(`
    select concat(current_database(), ' ', pg_postmaster_start_time()) as identity,
           current_setting('default_transaction_isolation') as default_transaction_isolation,
           coalesce(current_setting('transaction_timeout', true), '0') as transaction_timeout`)
  return rows[0]
}

/** Closes the socket without a Terminate message, which a dead server would never receive. */
export function cut(client: pg.Client | undefined) {
  const { stream } = (client as { connection?: { stream?: { destroy(): void } } })?.connection ?? {}
  stream?.destroy()
}
