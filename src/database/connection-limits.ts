import type pg from 'pg'

/** The most connections of each pool. */
export const POOL_SIZES = { app: 10, engine: 11, operator: 3, maintenance: 1, reports: 7 }

/** What a node opens in addition to its pools: the heartbeat, and listeners for triggers and changes. */
const MORE_CONNECTIONS = 3

/**
 * How many connections a node opens under load, and how many it needs to work at all: the loops of an
 * engine hold one each for a long time, requests can share a single one.
 */
export function connectionsOfNode({ hasEngine, hasPooler }: NodeKind) {
  // Without an engine there is no listener for its triggers either.
  const direct = hasEngine ? MORE_CONNECTIONS : MORE_CONNECTIONS - 1
  if (hasPooler) return { max: direct, min: direct }
  const { engine, ...others } = POOL_SIZES
  const sizes = Object.values(others)
  const fixed = hasEngine ? engine + direct : direct
  return { max: fixed + sizes.reduce((a, b) => a + b), min: fixed + sizes.length }
}

/** With a pooler, the pools have no connections to the server itself. */
type NodeKind = { hasEngine: boolean; hasPooler: boolean }

export type ConnectionLimits = {
  /** How many connections the login may have, and the setting that limits it. */
  allowed: number
  limitedBy: string
  /** How many are open now of those that this setting counts. */
  open: number
}

/** PostgreSQL ignores the limits of role and database for superusers, and reserves slots for them. */
export async function readConnectionLimits(client: pg.ClientBase): Promise<ConnectionLimits> {
  const { rows } = await client.query<ConnectionLimits>(`
    select allowed, limited_by as "limitedBy", open
    from pg_roles role, pg_database base, lateral (values
      (current_setting('max_connections')::int - case when rolsuper then 0 else
         current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true)::int, 0) end, 'max_connections', null::oid, null::oid),
      (case when rolconnlimit >= 0 and not rolsuper then rolconnlimit end, 'the limit of the role ' || rolname, role.oid, null),
      (case when datconnlimit >= 0 and not rolsuper then datconnlimit end, 'the limit of the database ' || datname, null, base.oid)
    ) as limits (allowed, limited_by, of_role, of_base), lateral (
      select count(datid)::int as open from pg_stat_activity
      where pid <> pg_backend_pid() and (of_role is null or usesysid = of_role)
        and (of_base is null or datid = of_base)) as now
    where rolname = session_user and datname = current_database() and allowed is not null
    order by allowed - open limit 1`)
  return rows[0]!
}
