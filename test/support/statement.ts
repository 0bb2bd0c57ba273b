import type { Db } from '../../src/database/database.ts'
import type { Sql } from '../../src/database/sql.ts'
import { SINGLE_ROWS } from '../../src/database/transact.ts'

/** The statement that a function of the store sends, for use with EXPLAIN. */
export async function statementOf(ask: (db: Db) => Promise<unknown>): Promise<Sql> {
  const { promise, resolve } = Promise.withResolvers<Sql>()
  const query = async (asked: Sql) => (resolve(asked), [])
  // The function may fail on the empty answer.
  await ask({ ...SINGLE_ROWS, query } as unknown as Db).catch(() => {})
  return promise
}
