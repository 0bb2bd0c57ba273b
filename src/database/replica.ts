import type pg from 'pg'
import { monotonicMs } from '../clock.ts'
import type { Db, ReplicaState } from './database.ts'
import { borrow, cutConnections, type RolePool } from './pool.ts'
import { isConnectionError, isDatabaseAway, isRecoveryConflict } from './postgres-errors.ts'
import type { Sql } from './sql.ts'

type Servers = {
  replica: RolePool
  primary: RolePool
  /** Called when the replica becomes usable, or is no longer usable. */
  onChange: ((state: ReplicaState) => void) | undefined
}

/** A read replica (`DATABASE_REPLICA_URL`), for reads that may lack the last changes. */
export class Replica {
  readonly #servers: Servers
  #last: { state: ReplicaState; atMs: number } | undefined
  #checking: Promise<ReplicaState> | undefined

  constructor(servers: Servers) {
    this.#servers = servers
  }

  /**
   * Reads from the replica if it can be used, else from the primary. A read that the replica cancels, to
   * replay a change, is run again: the work of a snapshot must be able to begin anew.
   */
  readFirst(onReplica: Db, onPrimary: Db): Db {
    const read = async <T>(run: (db: Db) => Promise<T>): Promise<T> => {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const state = await this.check()
        if ('problem' in state) break
        try {
          return await run(withLag(onReplica, state.lagSeconds))
        } catch (error) {
          if (!isRecoveryConflict(error) && !isDatabaseAway(error)) throw error
          if (this.#last) this.#last.atMs = Number.NEGATIVE_INFINITY
        }
      }
      return run(onPrimary)
    }
    return {
      ...onPrimary,
      query: <Row>(statement: Sql) => read((db) => db.query<Row>(statement)),
      snapshot: (work) => read((db) => db.snapshot(work)),
    }
  }

  /** Callers share a check, and its result for a second. */
  async check(): Promise<ReplicaState> {
    const last = this.#last
    if (last && monotonicMs() - last.atMs < FRESH_MS) return last.state
    return (this.#checking ??= this.#compare().finally(() => (this.#checking = undefined)))
  }

  async #compare(): Promise<ReplicaState> {
    const { replica, primary, onChange } = this.#servers
    const before = this.#last?.state
    const late = setTimeout(() => cutConnections(replica.pool), MAX_CHECK_MS)
    const state = await readState(replica, primary).catch((error: Error): ReplicaState => ({
      problem: error.message,
    }))
    clearTimeout(late)
    this.#last = { state, atMs: monotonicMs() }
    if (before === undefined || isUsable(before) !== isUsable(state)) onChange?.(state)
    return state
  }
}

const isUsable = (state: ReplicaState) => 'lagSeconds' in state

const MAX_TRIES = 2
const FRESH_MS = 1_000

/** A replica that does not answer within this time is not used. */
const MAX_CHECK_MS = 3_000

/** Reports of an older state would be taken for those of now. */
const MAX_LAG_SECONDS = 60

const withLag = (db: Db, lagSeconds: number): Db => ({
  ...db,
  snapshot: (work) => db.snapshot((tx) => work({ ...tx, lagSeconds })),
})

async function readState(replica: RolePool, primary: RolePool): Promise<ReplicaState> {
  const [of] = await ask<{ place: string; lsn: string }>(primary, {
    text: 'select database_place() as place, pg_current_wal_lsn()::text as lsn',
  })
  const [found] = await ask<Measured>(replica, { text: LAG, values: [of!.lsn] })
  return judgeReplica(found!, of!.place)
}

type Measured = { place: string; lagSeconds: number | null }

export function judgeReplica({ place, lagSeconds }: Measured, primaryPlace: string): ReplicaState {
  if (place !== primaryPlace) return { problem: 'it is a replica of another database' }
  if (lagSeconds === null) return { problem: 'it does not know how far it is behind' }
  if (lagSeconds > MAX_LAG_SECONDS) return { problem: `it is ${Math.ceil(lagSeconds)} s behind` }
  return { lagSeconds }
}

/** The age of the last change that it has, unless it has all. A promoted replica is a primary itself. */
const LAG = `
  select database_place() as place,
         case when not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= $1::pg_lsn then 0
           else greatest(0, extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()))
         end::float8 as "lagSeconds"`

async function ask<Row extends pg.QueryResultRow>(pool: RolePool, query: pg.QueryConfig) {
  const client = await borrow(pool)
  try {
    const { rows } = await client.query<Row>(query)
    client.release()
    return rows
  } catch (error) {
    client.release(isConnectionError(error) ? (error as Error) : undefined)
    throw error
  }
}
