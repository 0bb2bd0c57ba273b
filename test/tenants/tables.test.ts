import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { asOwner, INSTALLATION_TABLES, readCatalogue, type Table } from './catalogue.ts'

const ROLES = ['bellwether_app', 'bellwether_engine', 'bellwether_operator']

/** Ids of more than one kind of object, or of objects that other systems keep. */
const POINT_NOWHERE = new Set([
  // The id under which it will be recorded.
  'pending_trigger.event_trigger_id',
  'object_id',
  'reseller_id',
  'group_id_list',
  // Kept beside the object that it was about when it happened, also after that is gone.
  'audit.id',
])

const { url } = await cloneDatabase({ after })
const all = await readCatalogue(url)

describe('every table', () => {
  const tables = all.filter(({ name }) => !INSTALLATION_TABLES.includes(name))

  test('is looked at', () => assert.ok(tables.length > 20))

  const each = (check: (table: Table) => boolean) =>
    assert.deepEqual(
      tables.filter((table) => !check(table)).map(({ name }) => name),
      [],
    )

  test('carries its business, first in its key', () => {
    each(({ columns }) =>
      columns.some(
        ({ name, type, notNull }) => name === 'business_id' && type === 'bigint' && notNull,
      ),
    )
    // What waits has the ids of the triggers that it becomes, and no key of its own to look after.
    each(({ name, primaryKey }) => name === 'pending_trigger' || primaryKey[0] === 'business_id')
  })

  test('points to its business, or to an object of it', () => {
    // An answer to the operator is remembered under no business at all. The audit and the history
    // are written by triggers alone, of rows that point to theirs.
    const others = ['business', 'idempotency_key', 'audit', 'status_history']
    each(
      ({ name, foreignKeys, lookedUp }) =>
        others.includes(name) || foreignKeys.length > 0 || lookedUp.length > 0,
    )
    for (const { name, grants } of all.filter((table) => others.slice(2).includes(table.name))) {
      const lent = grants.filter(({ role }) => role.startsWith('bellwether_'))
      assert.deepEqual([...new Set(lent.map((grant) => grant.privilege))], ['SELECT'], name)
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

  test('grants nothing to everybody, and no role of ours owns it', () => {
    each(({ grants }) => grants.every(({ role }) => role !== 'PUBLIC'))
    each(({ owner }) => !ROLES.includes(owner))
  })

  test('points into its own business only', () => {
    each(({ foreignKeys }) =>
      foreignKeys.every(({ columns }) =>
        columns.some(([own, theirs]) => own === 'business_id' && theirs === 'business_id'),
      ),
    )
  })

  test('has a composite key wherever it names another object', () => {
    const isOwnId = ({ primaryKey, foreignKeys, lookedUp }: Table) =>
      primaryKey.length === 2 &&
      lookedUp.every(([column]) => column !== primaryKey[1]) &&
      foreignKeys.every(({ columns }) => columns.every(([own]) => own !== primaryKey[1]))
    const idTable = new Map(
      tables.filter(isOwnId).map((table) => [table.primaryKey[1]!, table.name]),
    )
    const loose = tables.flatMap((table) =>
      table.columns
        .filter(({ name }) => {
          if (POINT_NOWHERE.has(name) || POINT_NOWHERE.has(`${table.name}.${name}`)) return false
          const target = idTable.get(name.replace(/_list$/, ''))
          if (!target || target === table.name) return false
          const pointed = table.foreignKeys.some(
            (key) => key.table === target && key.columns.some(([own]) => own === name),
          )
          const looked = [...table.arrayKeys, ...table.lookedUp].some(
            ([column, into]) => column === name && into === target,
          )
          return !pointed && !looked
        })
        .map(({ name }) => `${table.name}.${name}`),
    )
    assert.deepEqual(loose, [])
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

  test('is behind roles that can do nothing else', async () => {
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
    // With rights of its own a function must ask for the business itself. One that returns a
    // trigger cannot be called; one that returns nothing shows nothing; the operator sees all.
    const functions = `
      select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef and not (
        coalesce(proconfig @> '{search_path=public}', false) and (
          prorettype = 'trigger'::regtype or
          (proname in ('look_at_tables', 'look_at_grown_tables') and prorettype = 'void'::regtype) or
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

test('the tables of the installation are those documented, and closed to the application', () => {
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
