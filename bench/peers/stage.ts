import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { openEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import {
  insertAppointments,
  insertDueReminders,
  type BusinessWithReminders,
} from '../../test/support/due-reminders.ts'

/** One server for all contenders, and a business with clients, a template and a reminder. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/** Uses the server at BENCH_DATABASE_URL, else an embedded one. */
export async function openStage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
  const embedded = process.env.BENCH_DATABASE_URL
    ? undefined
    : await openEmbedded(path.join(folder, 'data'), 'command')
  const url = process.env.BENCH_DATABASE_URL ?? embedded!.url
  await migrate(url)
  const database = openDatabase({ url, connections: 16, analyzesGrownTables: true })
  // The peers get the same planner settings as Bellwether.
  const pool = new pg.Pool({
    connectionString: url,
    max: 20,
    options: '-c random_page_cost=1.1',
  })
  // When the server stops, each idle connection reports an error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const [business] = await insertDueReminders(url, {
    businesses: 1,
    appointments: () => 0,
    dueFrom: () => Temporal.Now.instant(),
    spreadMs: 0,
  })
  const close = async () => {
    await pool.end()
    await database.close()
    await embedded?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, folder, database, pool, business: business!, close }
}

/** Inserts appointments whose reminders are due from `dueFrom` on; returns their ids. */
export async function book(
  { pool, business }: { pool: pg.Pool; business: BusinessWithReminders },
  count: number,
  { dueFrom, spreadMs }: { dueFrom: Temporal.Instant; spreadMs: number },
) {
  const client = await pool.connect()
  const { rows: before } = await client.query(
    'select coalesce(max(calendar_id), 0) as id from calendar',
  )
  await insertAppointments(client as never, business, { count, dueFrom, spreadMs })
  const { rows } = await client.query(
    'select calendar_id as id from calendar where calendar_id > $1',
    [before[0].id],
  )
  client.release()
  return rows.map((row) => Number(row.id))
}

/** Fires the reminders of appointments, given their ids; returns the rate per second. */
export type Contender = {
  name: string
  fire(ids: number[]): Promise<number>
  close?(): Promise<unknown>
}

export async function peer(name: string) {
  try {
    return await import(name)
  } catch {
    throw new Error(`${name} is not installed: run "npm --prefix bench install"`)
  }
}

/** Splits a list into batches of one statement each. */
export const inPieces = <T>(all: T[], size = 1_000) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  )

export const rateOf = (count: number, startedAt: number) =>
  (count / (performance.now() - startedAt)) * 1000

/** The quantile of the values: 0.5 is the median. */
export const at = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)]!

export const median = (values: number[]) => at(values, 0.5)
