import { strictEqual } from 'node:assert'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'

test('a new business begins with the default statuses', async (t) => {
  const { database } = await cloneDatabase(t)
  const [business] = await database.operator.query<{ id: number }>(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Praxis', 'Europe/Zurich', now(), 'OPERATOR', now(), 'OPERATOR') returning business_id as id`)
  const rows = await database.forBusiness(business!.id, 'test').query(sql`select * from status`)
  strictEqual(rows.length, 20)
  strictEqual(
    (await database.forBusiness(business!.id + 1, 'test').query(sql`select * from status`)).length,
    0,
  )
})
