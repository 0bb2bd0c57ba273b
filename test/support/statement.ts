import type { Db } from '../../src/database/database.ts'
import type { Sql } from '../../src/database/sql.ts'

/** What a function of the store would ask the server, to see how the server would go about it. */
export async function statementOf(ask: (db: Db) => Promise<unknown>): Promise<Sql> {
  const { promise, resolve } = Promise.withResolvers<Sql>()
  const query = async (asked: Sql) => (resolve(asked), [])
  // It may have something to do with the answer.
  await ask({ query } as unknown as Db).catch(() => {})
  return promise
}
