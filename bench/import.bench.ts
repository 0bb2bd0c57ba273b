import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { importLines } from '../src/scheduling/import.ts'
import { readNdjson } from '../src/scheduling/ndjson.ts'

/**
 * How fast a calendar is imported, compared with a plain multi-row insert of the same rows into a table
 * with the same columns, checks and indexes: node bench/import.bench.ts [appointments, 1000000]
 * Both take turns, a tenth of the rows at a time, so that other load on the machine affects both alike.
 */
const count = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 10
const BATCH = 1_000
const CLIENTS = 400
const START = Date.UTC(2024, 0)

type Spent = { seconds: number; serverCpu: number; ownCpu: number }

function report(name: string, { seconds, serverCpu, ownCpu }: Spent) {
  const rate = Math.round(count / seconds)
  const cpu = `CPU ${serverCpu.toFixed(1)} s server, ${ownCpu.toFixed(1)} s client`
  return `${name.padEnd(13)} ${count} rows  ${seconds.toFixed(1)} s  ${rate}/s  (${cpu})`
}

function stopwatch() {
  const spent: Spent = { seconds: 0, serverCpu: 0, ownCpu: 0 }
  const timed = async (work: () => Promise<unknown>) => {
    const [begin, server, own] = [performance.now(), serverCpuSeconds(), process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(own)
    spent.seconds += (performance.now() - begin) / 1000
    spent.serverCpu += serverCpuSeconds() - server
    spent.ownCpu += (user + system) / 1e6
  }
  return { spent, timed }
}

/** CPU seconds of all processes of our PostgreSQL server; 0 except on Linux. */
function serverCpuSeconds() {
  if (process.platform !== 'linux') return 0
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return Number(fields[1]) === postmaster ? Number(fields[11]) + Number(fields[12]) : 0
      } catch {
        return 0
      }
    })
  return ticks.reduce((sum, one) => sum + one, 0) / 100
}

async function openImport() {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query(`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Bench', 'Europe/Zurich', now(), 'x', now(), 'x') returning business_id::int as id`)
  await client.end()
  const businessId: number = rows[0].id
  const database = openDatabase({ url: server.url, analyzesGrownTables: true })
  const db = database.forBusiness(businessId, 'key:bench')
  const importing = {
    businessId,
    user: 'key:bench',
    now: () => Temporal.Instant.fromEpochMilliseconds(START),
    history: true,
    onRefused: (line: number, reason: string) => {
      throw new Error(`line ${line}: ${reason}`)
    },
  }
  await importLines(db, [setup()], importing)
  const { spent, timed } = stopwatch()
  const run = (start: number, rows: number) =>
    timed(() => importLines(db, readNdjson(textOf(start, rows)), importing))
  return { spent, run, close: () => database.close() }
}

/** Chunks as a socket or a file delivers them: a line may span two chunks. */
async function* textOf(start: number, rows: number) {
  for (let i = start; i < start + rows; i += 250) {
    const lines = Array.from({ length: 250 }, (_, k) => JSON.stringify(appointment(i + k)))
    const piece = Buffer.from(`${lines.join('\n')}\n`)
    const middle = piece.length >> 1
    yield piece.subarray(0, middle)
    yield piece.subarray(middle)
  }
}

function setup() {
  const named = (kind: string, letter: string, length: number, more: object) =>
    Array.from({ length }, (_, i) => ({ kind, externalId: `${letter}${i}`, ...more }))
  const person = { firstName: 'Noor', lastName: 'Haddad' }
  return [
    ...named('location', 'L', 3, { name: 'Altstadt' }),
    ...named('reason', 'R', 12, { name: 'Massage' }),
    ...named('professional', 'P', 8, person),
    ...named('client', 'C', CLIENTS, person),
  ].map((body, i) => ({ number: i + 1, body }))
}

const appointment = (i: number) => ({
  kind: 'calendar',
  externalId: `A${i}`,
  clientExternalId: `C${(i * 7) % CLIENTS}`,
  professionalExternalId: `P${i % 8}`,
  reasonExternalId: `R${i % 12}`,
  locationExternalId: `L${i % 3}`,
  startTime: START + i * 60_000,
  endTime: START + i * 60_000 + 1_800_000,
  status: i % 9 ? 'COMPLETED' : 'CANCELLED',
  note: 'Came with a friend.',
})

const COLUMNS = `business_id, calendar_id, client_id, professional_id, reason_id, location_id,
  start_time, end_time, status, note, external_id, active, version, created_date, created_user,
  modified_date, modified_user`
const WIDTH = 17

/** The hand-written alternative: plain rows, a thousand per statement. */
async function openPlain() {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('create table plain (like calendar including all)')
  const rowsText = Array.from(
    { length: BATCH },
    (_, row) => `(${Array.from({ length: WIDTH }, (_, i) => `$${row * WIDTH + i + 1}`).join(',')})`,
  ).join(',')
  const text = `insert into plain (${COLUMNS}) values ${rowsText}`
  const { spent, timed } = stopwatch()
  const run = (start: number, rows: number) =>
    timed(async () => {
      for (let at = start; at < start + rows; at += BATCH) {
        await client.query({ name: 'plain', text, values: valuesOf(at) })
      }
    })
  return { spent, run, close: () => client.end() }
}

function valuesOf(start: number) {
  const now = new Date(START).toISOString()
  const values: unknown[] = []
  for (let i = start; i < start + BATCH; i += 1) {
    const { externalId, startTime, endTime, status, note } = appointment(i)
    const begins = new Date(startTime).toISOString()
    const ends = new Date(endTime).toISOString()
    values.push(1, i, (i * 7) % CLIENTS, i % 8, i % 12, i % 3, begins, ends, status, note)
    values.push(externalId, true, 1, now, 'x', now, 'x')
  }
  return values
}

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
const server = await openEmbedded(path.join(folder, 'data'), 'command')
const postmaster = Number.parseInt(
  readFileSync(path.join(folder, 'data/postgres/postmaster.pid'), 'utf8'),
  10,
)
try {
  await migrate(server.url)
  const plainly = await openPlain()
  const imported = await openImport()
  const share = count / ROUNDS
  for (let round = 0; round < ROUNDS; round += 1) {
    await plainly.run(round * share, share)
    await imported.run(round * share, share)
  }
  console.log(report('plain insert', plainly.spent))
  console.log(report('import', imported.spent))
  const ratio = plainly.spent.seconds / imported.spent.seconds
  console.log(`The import runs at ${(ratio * 100).toFixed(0)} % of the plain insert.`)
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(`This process took ${megabytes} MB at most.`)
  await plainly.close()
  await imported.close()
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
