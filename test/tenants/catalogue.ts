import pg from 'pg'

/** Tables of the installation, without a business. docs/decisions gives the reason for each. */
export const INSTALLATION_TABLES = [
  'installation',
  'link_seal',
  'mail_server',
  'node',
  'operator_key',
  'operator_problem',
  'reconciliation',
  'schema_migration',
  'server_epoch',
  'time_zone_data',
  'work_lease',
  'worker_lease',
]

export type Column = { name: string; type: string; notNull: boolean; generated: boolean }

export type Table = {
  name: string
  columns: Column[]
  primaryKey: string[]
  /** The columns of each key, as pairs: the table's own column and the referenced one. */
  foreignKeys: { table: string; columns: [string, string][] }[]
  rowSecurity: boolean
  forced: boolean
  owner: string
  policies: { role: string; using: string; check: string | null; command: string }[]
  grants: { role: string; privilege: string }[]
  /** Arguments of the triggers that check ids in arrays: column, referenced table, its id column. */
  arrayKeys: string[][]
  /** Columns whose references a trigger checks, each with the referenced table. */
  lookedUp: string[][]
}

type Work<T> = (client: pg.Client) => Promise<T>

/** Runs as the schema's owner, as migrations do. */
export const asOwner = <T>(url: string, work: Work<T>) => connected(url, '', work)

/** Runs as the role of the application; `work` sets the business itself. */
export const asApplication = <T>(url: string, work: Work<T>) =>
  connected(url, '-c role=bellwether_app', work)

async function connected<T>(url: string, options: string, work: Work<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Reads all tables from the PostgreSQL catalogs, so that no list needs maintenance. */
export function readCatalogue(url: string): Promise<Table[]> {
  return asOwner(url, async (client) => {
    const { rows } = await client.query(`
      select c.relname as name, c.relrowsecurity as "rowSecurity", c.relforcerowsecurity as forced,
        pg_get_userbyid(c.relowner) as owner,
        (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
           'notNull', a.attnotnull, 'generated', a.attidentity <> '' or a.atthasdef) order by a.attnum)
         from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
        array(select a.attname::text from pg_constraint p
              cross join unnest(p.conkey) with ordinality k (attnum, place)
              join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
              where p.conrelid = c.oid and p.contype = 'p' order by k.place) as "primaryKey",
        (select coalesce(jsonb_agg(jsonb_build_object('table', f.confrelid::regclass::text, 'columns',
           (select jsonb_agg(jsonb_build_array(o.attname, t.attname))
            from unnest(f.conkey, f.confkey) k (own, theirs)
            join pg_attribute o on o.attrelid = f.conrelid and o.attnum = k.own
            join pg_attribute t on t.attrelid = f.confrelid and t.attnum = k.theirs))), '[]')
         from pg_constraint f where f.conrelid = c.oid and f.contype = 'f') as "foreignKeys",
        (select coalesce(jsonb_agg(jsonb_build_object('role', case when r = 0 then 'public' else pg_get_userbyid(r) end,
           'using', pg_get_expr(p.polqual, c.oid), 'check', pg_get_expr(p.polwithcheck, c.oid),
           'command', p.polcmd)), '[]')
         from pg_policy p cross join unnest(p.polroles) r where p.polrelid = c.oid) as policies,
        (select coalesce(jsonb_agg(distinct jsonb_build_object('role', g.grantee, 'privilege', g.privilege_type)), '[]')
         from information_schema.column_privileges g
         where g.table_schema = 'public' and g.table_name = c.relname) as grants,
        array(select encode(t.tgargs, 'escape') from pg_trigger t join pg_proc p on p.oid = t.tgfoid
              where t.tgrelid = c.oid and p.proname = 'check_array_references') as "arrayKeys",
        array(select encode(t.tgargs, 'escape') from pg_trigger t join pg_proc p on p.oid = t.tgfoid
              where t.tgrelid = c.oid and p.proname ~ '^check_(definition|email)_references$') as "lookedUp"
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      order by c.relname`)
    for (const row of rows) {
      row.arrayKeys = row.arrayKeys.map((args: string) => args.split('\\000').slice(0, 3))
      row.lookedUp = row.lookedUp.flatMap((args: string) => {
        const words = args.split('\\000')
        return words.flatMap((word, i) => (i % 2 === 1 ? [[words[i - 1], word]] : []))
      })
    }
    return rows
  })
}
