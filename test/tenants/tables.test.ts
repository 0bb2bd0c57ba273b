import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { asOwner, INSTALLATION_TABLES, readCatalogue, type Table } from './catalogue.ts'

const ROLES = ['bellwether_app', 'bellwether_engine', 'bellwether_operator']

/** Columns without a foreign key: ids of several kinds of object, or of other systems. */
const NO_FOREIGN_KEY = new Set([
  // The id of the later row in event_trigger.
  'pending_trigger.event_trigger_id',
  'object_id',
  'reseller_id',
  'group_id_list',
  // The audit keeps the ids of deleted objects.
  'audit.id',
])

const { url } = await cloneDatabase({ after })
const all = await readCatalogue(url)

describe('every table', () => {
  const tables = all.filter(({ name }) => !INSTALLATION_TABLES.includes(name))

  test('is found in the catalogs', () => assert.ok(tables.length > 20))

  const each = (check: (table: Table) => boolean) =>
    assert.deepEqual(
      tables.filter((table) => !check(table)).map(({ name }) => name),
      [],
    )

  test('has business_id as the first column of its primary key', () => {
    each(({ columns }) =>
      columns.some(
        ({ name, type, notNull }) => name === 'business_id' && type === 'bigint' && notNull,
      ),
    )
    each(({ primaryKey }) => primaryKey[0] === 'business_id')
  })

  test('references its business, or an object of it', () => {
    // Idempotency keys of the operator belong to no business. Only triggers write the audit, for rows
    // that reference their business.
    const others = ['business', 'idempotency_key', 'audit']
    each(
      ({ name, foreignKeys, lookedUp }) =>
        others.includes(name) || foreignKeys.length > 0 || lookedUp.length > 0,
    )
    for (const { name, grants } of all.filter((table) => others.slice(2).includes(table.name))) {
      const granted = grants.filter(({ role }) => role.startsWith('bellwether_'))
      assert.deepEqual([...new Set(granted.map((grant) => grant.privilege))], ['SELECT'], name)
    }
  })

  test('has row-level security, forced', () => {
    each(({ rowSecurity, forced }) => rowSecurity && forced)
  })

  test('shows the application the rows of its business and no others', () => {
    each(({ policies, grants }) => {
      const own = policies.filter(({ role }) => role === 'bellwether_app')
      const granted = grants.some(({ role }) => role === 'bellwether_app')
      if (!granted) return own.length === 0
      return (
        own.length === 1 &&
        own[0]!.using === '(business_id = app_business())' &&
        own[0]!.check === null &&
        own[0]!.command === '*'
      )
    })
    each(({ policies }) => policies.every(({ role }) => role !== 'public'))
  })

  test('grants nothing to PUBLIC, and no role of the service owns it', () => {
    each(({ grants }) => grants.every(({ role }) => role !== 'PUBLIC'))
    each(({ owner }) => !ROLES.includes(owner))
  })

  test('has business_id in every foreign key', () => {
    each(({ foreignKeys }) =>
      foreignKeys.every(({ columns }) =>
        columns.some(([own, theirs]) => own === 'business_id' && theirs === 'business_id'),
      ),
    )
  })

  test('has a foreign key or a trigger for every column that refers to an object', () => {
    const isOwnId = ({ name, primaryKey, foreignKeys, lookedUp }: Table) =>
      primaryKey.length === 2 &&
      !NO_FOREIGN_KEY.has(`${name}.${primaryKey[1]}`) &&
      lookedUp.every(([column]) => column !== primaryKey[1]) &&
      foreignKeys.every(({ columns }) => columns.every(([own]) => own !== primaryKey[1]))
    const idTable = new Map(
      tables.filter(isOwnId).map((table) => [table.primaryKey[1]!, table.name]),
    )
    const unchecked = tables.flatMap((table) =>
      table.columns
        .filter(({ name }) => {
          if (NO_FOREIGN_KEY.has(name) || NO_FOREIGN_KEY.has(`${table.name}.${name}`)) return false
          const target = idTable.get(name.replace(/_list$/, ''))
          if (!target || target === table.name) return false
          const hasForeignKey = table.foreignKeys.some(
            (key) => key.table === target && key.columns.some(([own]) => own === name),
          )
          const isChecked = [...table.arrayKeys, ...table.lookedUp].some(
            ([column, into]) => column === name && into === target,
          )
          return !hasForeignKey && !isChecked
        })
        .map(({ name }) => `${table.name}.${name}`),
    )
    assert.deepEqual(unchecked, [])
  })

  test('the engine cannot read credentials or the audit', () => {
    const hidden = new Set(['api_key', 'api_key_use', 'user_account', 'session', 'audit'])
    const seen = tables.filter(
      ({ name, grants }) =>
        hidden.has(name) && grants.some(({ role }) => role === 'bellwether_engine'),
    )
    assert.deepEqual(
      seen.map(({ name }) => name),
      [],
    )
  })

  test('is used by roles without special privileges', async () => {
    const { rows } = await asOwner(url, (client) =>
      client.query(
        `select rolname from pg_roles where rolname = any ($1)
         and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication)`,
        [ROLES],
      ),
    )
    assert.deepEqual(rows, [])
  })

  test('no view or function bypasses row-level security', async () => {
    const views = `
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')
        and not coalesce(reloptions @> '{security_invoker=true}', false)`
    // A SECURITY DEFINER function must check the business itself. Trigger functions cannot be called
    // directly, and the operator sees all businesses.
    const functions = `
      select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef and not (
        coalesce(proconfig @> '{search_path=public}', false) and (
          prorettype = 'trigger'::regtype or
          not (has_function_privilege('bellwether_app', oid, 'execute')
            or has_function_privilege('bellwether_engine', oid, 'execute')) or
          (pg_get_functiondef(oid) like '%business_id = app_business()%'
            and not has_function_privilege('public', oid, 'execute'))))`
    const found = await asOwner(url, async (client) => [
      ...(await client.query(views)).rows,
      ...(await client.query(functions)).rows,
    ])
    assert.deepEqual(found, [])
  })
})

test('only the listed tables have no business, and the application cannot access them', () => {
  const without = all.filter(({ columns }) => !columns.some(({ name }) => name === 'business_id'))
  assert.deepEqual(
    without.map(({ name }) => name),
    INSTALLATION_TABLES,
  )
  for (const { name, grants } of without) {
    assert.equal(
      grants.some(({ role }) => role === 'bellwether_app' || role === 'PUBLIC'),
      false,
      name,
    )
  }
})
