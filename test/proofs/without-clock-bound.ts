import { DatabaseClock } from '../../src/clock.ts'

/**
 * Put before the service by a proof: a node that takes the database's time for that of the middle
 * between question and answer, and does not ask again when it fires.
 */
DatabaseClock.prototype.synchronise = async function (readDatabaseMs) {
  const askedAt = performance.now()
  const databaseMs = await readDatabaseMs()
  this.set(databaseMs, (askedAt + performance.now()) / 2)
}
delete (DatabaseClock.prototype as Partial<DatabaseClock>).confirm
