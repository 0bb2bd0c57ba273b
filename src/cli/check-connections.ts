import type { Config } from '../config.ts'
import { connectionsOfNode, type ConnectionLimits } from '../database/connection-limits.ts'
import type { Finding } from './check-mail.ts'

/**
 * Whether the database allows the connections that this node needs, next to those that are open. Before
 * the start of a node none of these is its own.
 */
export function checkConnections(
  { allowed, limitedBy, open }: ConnectionLimits,
  { role, poolerUrl }: Pick<Config, 'role' | 'poolerUrl'>,
  { isStarting = false } = {},
): Finding {
  const { max, min } = connectionsOfNode({
    hasEngine: role !== 'api',
    hasPooler: poolerUrl !== undefined,
  })
  const about = 'Connections'
  const says = `the database allows ${allowed} (${limitedBy}), ${open} are open; this node needs ${min}, and up to ${max} under load`
  const todo = `raise ${limitedBy} to at least ${max} for each node`
  if (allowed - (isStarting ? open : 0) < min) return { state: 'bad', about, says, todo }
  if (allowed - open < max) return { state: 'note', about, says, todo }
  return { state: 'ok', about, says }
}
