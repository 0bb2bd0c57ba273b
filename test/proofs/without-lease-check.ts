import pg from 'pg'
import { withoutLeaseCheck } from './without-guards.ts'

/** Put before the service by a proof: a node that does not ask whether its work is still its own. */
type Query = { text: string; prepare(connection: unknown): void }
const asked = (pg.Query as unknown as { prototype: Query }).prototype
const { prepare } = asked
asked.prepare = function (this: Query, connection: unknown) {
  this.text = withoutLeaseCheck(this.text)
  return prepare.call(this, connection)
}
