import type pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { readConnectionLimits, type ConnectionLimits } from './connection-limits.ts'
import { readConnectRights, readMigrations, readSchemaVersion } from './migrate.ts'
import { assertWritable, newClient, refusePooler } from './servers.ts'

export type Inspection = {
  serverVersion: string
  majorVersion: number
  schema: { version: number; known: number }
  connections: ConnectionLimits
  /** Roles of which the user is not a member. */
  rolesMissing: string[]
  connectRights: Awaited<ReturnType<typeof readConnectRights>>
  time: { ms: number; answeredAt: number }
  /** Each zone's offset from UTC in minutes, at each of the moments. */
  offsets: Map<string, number[]>
}

export async function inspectDatabase(url: string, moments: Temporal.Instant[]) {
  const client = newClient(url, {
    connectionTimeoutMillis: 5_000,
    query_timeout: 20_000,
    application_name: 'bellwether_doctor',
  })
  try {
    await client.connect()
    await refusePooler(client)
    await assertWritable(client)
    return {
      ...(await versionOf(client)),
      schema: {
        version: await readSchemaVersion(client),
        known: (await readMigrations()).at(-1)!.version,
      },
      connections: await readConnectionLimits(client),
      rolesMissing: await rolesMissing(client),
      connectRights: await readConnectRights(client),
      time: await timeOf(client),
      offsets: await offsetsOf(client, moments),
    } satisfies Inspection
  } finally {
    await client.end().catch(() => {})
  }
}

async function versionOf(client: pg.Client) {
  const { rows } = await client.query(
    `select current_setting('server_version') as text, current_setting('server_version_num')::int as number`,
  )
  return { serverVersion: rows[0].text, majorVersion: Math.floor(rows[0].number / 10_000) }
}

async function rolesMissing(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(`
    select name
    from unnest(array['bellwether_app', 'bellwether_engine', 'bellwether_operator']) as name
    left join pg_roles on rolname = name
    where rolname is null or not pg_has_role(oid, case
      when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)`)
  return rows.map(({ name }) => name)
}

async function timeOf(client: pg.Client) {
  const { rows } = await client.query(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  return { ms: Number(rows[0].ms), answeredAt: monotonicMs() }
}

async function offsetsOf(client: pg.Client, moments: Temporal.Instant[]) {
  const { rows } = await client.query(
    `select zone.name, array_agg(
       (extract(epoch from (moment at time zone zone.name) - (moment at time zone 'UTC')) / 60)::int
       order by moment) as minutes
     from pg_timezone_names zone, unnest($1::timestamptz[]) moment
     group by zone.name`,
    [moments.map(String)],
  )
  return new Map<string, number[]>(rows.map(({ name, minutes }) => [name, minutes]))
}
