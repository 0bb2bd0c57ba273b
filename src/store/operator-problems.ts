import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { isOverAMinuteAgo } from './database-time.ts'

/** A failure of the installation that only the operator can fix. The work that it stops waits. */
export type OperatorProblem = {
  /** What fails; unique. */
  problem: string
  /** The business that it concerns; null: all. */
  businessId: number | null
  detail: string
}

/** Its start time stays if it is known already. */
export const saveOperatorProblem = (
  engine: Db,
  { problem, businessId, detail }: OperatorProblem,
  now: Temporal.Instant,
) =>
  engine.query(sql`
    insert into operator_problem (problem, only_business_id, detail, since, last_time)
    values (${problem}, ${businessId}, ${detail}, ${now}, ${now})
    on conflict (problem) do update
    set detail = excluded.detail, last_time = excluded.last_time`)

export const deleteOperatorProblem = (engine: Db, problem: string) =>
  engine.query(sql`delete from operator_problem where problem = ${problem}`)

const MAX_LISTED = 100

/** No node has checked in for a minute, and so claims nothing (see `NOT_HELD`). It is not stored. */
export const NO_CHECK_IN = 'check-in'

const NO_CHECK_IN_DETAIL =
  'no node has checked in with the database for a minute, so nothing is fired or sent; the log of a running node says why'

/** All problems, as a table. */
export const OPERATOR_PROBLEMS = sql`(
  select problem, only_business_id, detail, since from operator_problem
  union all
  select ${NO_CHECK_IN}, null, ${NO_CHECK_IN_DETAIL}, seen_time from installation
  where held_since is null and ${isOverAMinuteAgo(sql`seen_time`)}) as operator_problem`

/** The problems of all businesses, or those that concern one. */
export const listOperatorProblems = (engine: Db, businessId?: number) =>
  engine.query<OperatorProblem & { since: Temporal.Instant }>(sql`
    select problem, only_business_id as "businessId", detail, since from ${OPERATOR_PROBLEMS}
    where ${businessId ?? null}::bigint is null or only_business_id is null or only_business_id = ${businessId ?? null}
    order by since limit ${MAX_LISTED}`)
