import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { asOwner, readCatalogue } from '../tenants/catalogue.ts'

const { url } = await cloneDatabase({ after })

test('docs/schema.sql is the schema that the migrations create', async (t) => {
  const [server] = await query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  )
  if (server?.major !== 18) return t.skip('other versions print views in another way')
  const file = path.join(import.meta.dirname, '../../docs/schema.sql')
  const isSame = fs.readFileSync(file, 'utf8') === (await asOwner(url, describeSchema))
  assert.ok(isSame, 'docs/schema.sql is stale: run "npm run schema" and review the difference')
})

test('every table has a primary key, forced row-level security and a comment', async () => {
  const commented = await query<{ name: string }>(
    `select relname as name from pg_class where obj_description(oid, 'pg_class') is not null`,
  )
  const tables = (await readCatalogue(url)).filter(({ name }) => name !== 'schema_migration')
  assert.ok(tables.length > 30)
  for (const { name, primaryKey, rowSecurity, forced } of tables) {
    assert.ok(primaryKey.length > 0, `${name} has a primary key`)
    assert.ok(rowSecurity && forced, `${name} has forced row-level security`)
    assert.ok(
      commented.some((table) => table.name === name),
      `${name} has a comment`,
    )
  }
})

test('the checks of a table allow each of the values that its list of statuses names', async () => {
  const contradictions = await query(`
    select c.conrelid::regclass::text as table, value, other.conname as refused_by
    from pg_constraint c
    cross join lateral (select (regexp_matches(pg_get_constraintdef(c.oid), '^CHECK \\(\\((\\w+) = ANY \\(ARRAY\\[')) [1] as col) l
    cross join lateral regexp_matches(pg_get_constraintdef(c.oid), '''([A-Z_]+)''::text', 'g') m (found)
    cross join lateral (select m.found[1] as value) v
    join pg_constraint other on other.conrelid = c.conrelid and other.contype = 'c' and other.oid <> c.oid
    where c.contype = 'c' and c.connamespace = 'public'::regnamespace
      and pg_get_constraintdef(other.oid) = format('CHECK ((%s <> %L::text))', l.col, value)`)
  assert.deepEqual(contradictions, [])
})

const query = <T extends object = object>(statement: string) =>
  asOwner(url, async (client) => (await client.query<T>(statement)).rows)
