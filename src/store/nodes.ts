import type { Config } from '../config.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** One run of the program. */
export type NodeRun = { nodeId: string; host: string; role: Config['role']; version: string }

export type NodeRow = NodeRun & {
  startedTime: Temporal.Instant
  seenTime: Temporal.Instant
  stoppedTime: Temporal.Instant | null
}

const KEPT_FOR = { hours: 30 * 24 }
/** A node that runs was seen at most this long ago. */
const MAX_CHECK_IN = { minutes: 1 }

/** Notes that a node runs, and forgets those that were not seen for long. */
export async function noteNode(operator: Db, node: NodeRun, now: Temporal.Instant) {
  const { nodeId, host, role, version } = node
  const updated = await operator.query(sql`
    update node set seen_time = ${now} where node_id = ${nodeId} returning 1`)
  if (updated.length > 0) return
  await operator.query(sql`delete from node where seen_time < ${now.subtract(KEPT_FOR)}`)
  await operator.query(sql`
    insert into node (node_id, host, role, version, started_time, seen_time)
    values (${nodeId}, ${host}, ${role}, ${version}, ${now}, ${now})`)
}

export const noteNodeStop = (operator: Db, { nodeId }: NodeRun, now: Temporal.Instant) =>
  operator.query(sql`update node set stopped_time = ${now} where node_id = ${nodeId}`)

/** Whether a node ran then, and never said that it stopped. */
export async function wasNodeRunning(operator: Db, time: Temporal.Instant) {
  const found = await operator.findRow(sql`
    select from node
    where stopped_time is null and seen_time >= ${time.subtract(MAX_CHECK_IN)}::timestamptz limit 1`)
  return found !== undefined
}

/** The latest ones, the latest first. */
export const listNodes = (db: Db, limit: number) =>
  db.query<NodeRow>(sql`
    select node_id as "nodeId", host, role, version, started_time as "startedTime",
           seen_time as "seenTime", stopped_time as "stoppedTime"
    from node order by started_time desc, node_id limit ${limit}`)
