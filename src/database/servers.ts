import pg from 'pg'
import { StartError } from '../errors.ts'
import { isReadOnly, ReadOnlyServerError } from './postgres-errors.ts'

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
  const { Client = pg.Client, ...server } = clientConfig(url)
  return new Client({ ...server, ...config })
}

/** The settings with which a client or a pool finds its server. */
export function clientConfig(url: string): pg.PoolConfig & { Client?: typeof pg.Client } {
  const urls = serverUrls(url)
  const [first] = urls
  if (urls.length === 1) return { connectionString: first! }
  return { connectionString: first!, Client: primaryClient(urls) }
}

/** A pg client that probes all servers at once, and then connects to the primary. */
function primaryClient(urls: string[]): typeof pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error | null) => void): void
    override connect(callback?: (error: Error | null) => void) {
      const connected = findPrimary(urls).then((primary) => {
        Object.assign(this, primary)
        return super.connect()
      })
      if (!callback) return connected
      connected.then(() => callback(null), callback)
    }
  } as typeof pg.Client
}

/** Must be shorter than the connection timeout of the pools. */
const PROBE_TIMEOUT_MS = 3_000

async function findPrimary(urls: string[]) {
  const probes = urls.map(
    (connectionString) =>
      new pg.Client({
        connectionString,
        connectionTimeoutMillis: PROBE_TIMEOUT_MS,
        query_timeout: PROBE_TIMEOUT_MS,
        application_name: 'bellwether_probe',
      }),
  )
  try {
    return await Promise.any(
      probes.map(async (probe) => {
        probe.on('error', () => {})
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

/** A pooler would break LISTEN and prepared statements. It reports a process id of its own. */
export async function refusePooler(client: pg.Client) {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const { processID } = client as pg.Client & { processID: number }
  if (rows[0].pid !== processID) throw new StartError(POOLER)
}

export const POOLER =
  'There is a connection pooler such as PgBouncer between Bellwether and PostgreSQL, which is not supported: let DATABASE_URL name the PostgreSQL server itself. See docs/database.md.'

/** Closes the socket without a Terminate message, which a dead server would never receive. */
export function cut(client: pg.Client | undefined) {
  const { stream } = (client as { connection?: { stream?: { destroy(): void } } })?.connection ?? {}
  stream?.destroy()
}
