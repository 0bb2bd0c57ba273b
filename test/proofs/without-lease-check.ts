import pg from 'pg'
import { withoutLeaseCheck } from './without-guards.ts'

/** Put before the service by a proof: a node that does not ask whether its work is still its own. */
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, config: unknown, ...rest: unknown[]) {
  const asked = config as { text?: string }
  const changed = asked?.text ? { ...asked, text: withoutLeaseCheck(asked.text) } : config
  return Reflect.apply(query, this, [changed, ...rest])
} as typeof query
