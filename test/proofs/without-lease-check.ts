import pg from 'pg'
import { withoutLeaseCheck } from './without-guards.ts'

/** A proof imports this before the service: the node does not check its leases before it writes. */
type Query = { text: string; prepare(connection: unknown): void }
const asked = (pg.Query as unknown as { prototype: Query }).prototype
const { prepare } = asked
asked.prepare = function (this: Query, connection: unknown) {
  this.text = withoutLeaseCheck(this.text)
  return prepare.call(this, connection)
}
