import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import pg from 'pg'
import { chromium } from 'playwright-core'
import type { ReportFormat } from '../src/contract/report.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { printToFile } from '../src/reports/print-to-file.ts'
import { write } from '../src/reports/formats/formats.ts'
import { checkPrintRequest } from '../src/reports/print-request.ts'
import type { Cell } from '../src/reports/report.ts'
import { findBrowser } from '../test/support/browser.ts'
import { sampleResult, sampleRow } from '../test/reports/sample-result.ts'

/**
 * The reports compared with other libraries that print the same table, in turn in one run.
 * Each turn is a separate process, so that its start, fonts and child processes count for all.
 * `npm install --prefix bench` installs pdfmake; Chromium must be installed. `paper` and `data` run
 * one half each. `years [appointments]` prints the reports that read most, over two years.
 */
const [, , task = 'all', ...words] = process.argv
async function all() {
  await paper()
  await data()
}

async function paper() {
  console.log('1,000 rows as PDF, CPU seconds of all processes, median of 5')
  const pdf = await medians(['pdf-ours', 'pdf-pdfmake', 'pdf-chromium'], ['1000'])
  for (const [name, { cpu, ms }] of pdf) console.log(`  ${name}  ${cpu.toFixed(2)} s, ${ms} ms`)

  const long = await turn(['pdf-ours', '20000'])
  console.log(
    `20,000 rows as PDF: ${long.ms} ms, ${long.childMb} MB at most in the child, ${long.mb} in the parent`,
  )
}

async function data() {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-reports-'))
  const server = await openEmbedded(folder, 'service')
  try {
    await migrate(server.url)
    const businessId = await fill(server.url, 1_000_000)
    const where = [server.url, String(businessId)]
    const [copy, csv] = await medianOf(5, () => [
      ['copy', ...where],
      ['print', ...where, 'csv'],
    ])
    console.log(`${csv!.rows} rows: COPY ${copy!.ms} ms, CSV ${csv!.ms} ms, ${csv!.mb} MB`)
    const xlsx = await turn(['print', ...where, 'xlsx'])
    console.log(`${xlsx.rows} rows as XLSX: ${xlsx.ms} ms, ${xlsx.mb} MB`)
    const [summary] = await medianOf(5, () => [['print', ...where, 'summary']])
    console.log(`a month’s summary over 1,000,000 appointments: ${summary!.ms} ms`)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Retention, reminders, clients, staff and empty slots: they look at other appointments of a client or a slot. */
const LONG_REPORTS = [504, 904, 501, 302, 205]

const YEAR_ROUNDS = 3

async function years(appointments = 200_000) {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-reports-'))
  const server = await openEmbedded(folder, 'service')
  try {
    await migrate(server.url)
    const businessId = await fill(server.url, appointments, { from: '2025-01-01', days: 730 })
    await addReminders(server.url, businessId)
    const [postmaster] = globSync('**/postmaster.pid', { cwd: folder })
    const pid = readFileSync(path.join(folder, postmaster!), 'utf8').split('\n')[0]!
    for (const id of LONG_REPORTS) {
      const before = cpuSeconds(pid)
      const [json] = await medianOf(YEAR_ROUNDS, () => [
        ['print', server.url, String(businessId), String(id)],
      ])
      const cpu = ((cpuSeconds(pid) - before) / YEAR_ROUNDS).toFixed(1)
      console.log(
        `report ${id} over two years of ${appointments} appointments: ${json!.ms} ms, ${cpu} s of CPU in the database`,
      )
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

type Turn = { ms: number; cpu: number; mb: number; childMb: number; rows: number }

async function turn(words: string[]): Promise<Turn> {
  // The same flag as for the service.
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', import.meta.filename, ...words],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [text] = await Promise.all([buffer(child.stdout), once(child, 'close')])
  // The test runner, which a fixture imports, prints its own lines afterwards.
  return JSON.parse(String(text).split('\n')[0]!)
}

async function medians(tasks: string[], rest: string[]) {
  const found = await medianOf(5, () => tasks.map((task) => [task, ...rest]))
  return tasks.map((task, i) => [task, found[i]!] as const)
}

/** Runs the tasks in turn, so that other load on the machine affects all alike. */
async function medianOf(rounds: number, wanted: () => string[][]) {
  const turns: Turn[][] = wanted().map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, words] of wanted().entries()) turns[i]!.push(await turn(words))
  }
  return turns.map((some) => some.toSorted((a, b) => a.ms - b.ms)[Math.floor(rounds / 2)]!)
}

/**
 * Measures the work in a warm process, like a running service, and prints what it took.
 * A child process that the work starts counts from its start.
 */
async function measured(work: () => Promise<number>) {
  let childMb = 0
  const watch = setInterval(() => (childMb = Math.max(childMb, largestChildMb())), 100)
  const before = cpuSeconds()
  const begun = performance.now()
  const rows = await work()
  const ms = Math.round(performance.now() - begun)
  clearInterval(watch)
  const mb = Math.round(process.resourceUsage().maxRSS / 1000)
  console.log(JSON.stringify({ ms, cpu: cpuSeconds() - before, mb, childMb, rows }))
}

/** CPU seconds of this process and its ended children. Linux counts in hundredths. */
function cpuSeconds(pid = 'self') {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

function largestChildMb() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
  const sizes = children
    .split(' ')
    .filter(Boolean)
    .map((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1000
      } catch {
        return 0
      }
    })
  return Math.round(Math.max(0, ...sizes))
}

const printSample = (format: ReportFormat, rows: number) =>
  measured(async () => {
    await buffer(Readable.from(write(format, sampleResult(rows), 'A4')))
    return rows
  })

const plainRows = (count: number) => Array.from({ length: count }, (_, i) => sampleRow(i))
const toTexts = (row: Cell[]) => row.map((cell) => String(cell ?? ''))

async function printWithPdfmake(count: number) {
  const peers = createRequire(path.join(import.meta.dirname, 'package.json'))
  const pdfmake = peers('pdfmake')
  const font = (name: string, weight = 'Regular') =>
    path.join(import.meta.dirname, `../fonts/${name}-${weight}.ttf`)
  pdfmake.setFonts({
    Latin: {
      normal: font('NotoSans'),
      bold: font('NotoSans', 'Bold'),
    },
    Arabic: { normal: font('NotoSansArabic') },
    Hebrew: { normal: font('NotoSansHebrew') },
    Thai: { normal: font('NotoSansThai') },
    Hangul: { normal: font('NanumGothic') },
    Han: { normal: font('NotoSansSC') },
  })
  // pdfmake has no fallback from typeface to typeface: each text names the one that it needs.
  const SCRIPTS = ['Arabic', 'Hebrew', 'Thai', 'Hangul', 'Han']
  const inItsFont = (text: string) => {
    const script = SCRIPTS.find((name) => new RegExp(`\\p{Script=${name}}`, 'u').test(text))
    return script ? { text, font: script } : text
  }
  await measured(async () => {
    const { columns } = sampleResult(0)
    const body = [
      columns.map(({ label }) => ({ text: label, bold: true })),
      ...plainRows(count).map((row) => toTexts(row).map(inItsFont)),
    ]
    const document = pdfmake.createPdf({
      pageSize: 'A4',
      pageOrientation: 'landscape',
      defaultStyle: { font: 'Latin', fontSize: 8.6 },
      content: [{ table: { headerRows: 1, body }, layout: 'lightHorizontalLines' }],
      footer: (page: number, pages: number) => `Page ${page} of ${pages}`,
    })
    await document.getBuffer()
    return count
  })
}

async function printWithChromium(count: number) {
  const { columns } = sampleResult(0)
  await measured(async () => {
    const toLine = (texts: string[]) => `<tr><td>${texts.join('</td><td>')}</td></tr>`
    const head = `<thead>${toLine(columns.map(({ label }) => label))}</thead>`
    const lines = plainRows(count).map((row) => toLine(toTexts(row)))
    const browser = await chromium.launch({
      executablePath: findBrowser()!,
      args: ['--no-sandbox', '--disable-gpu'],
    })
    const page = await browser.newPage()
    await page.setContent(`<meta charset="utf-8"><table>${head}${lines.join('')}</table>`)
    await page.pdf({ format: 'A4', landscape: true })
    await browser.close()
    return count
  })
}

/** Five weeks of the list are about 100,000 rows; the summary is about one month. */
const LIST = { reportId: 101, startDate: '2026-03-01', endDate: '2026-04-05' }
const SUMMARY = { reportId: 102, startDate: '2026-03-01', endDate: '2026-03-31' }

async function jobOf(url: string, businessId: number, request: typeof LIST) {
  const database = openDatabase({ url, connections: 2 })
  const db = database.reportsOf(businessId)
  const functions = { has: () => true } as unknown as ReadonlySet<string>
  const reader = { businessId, functions, locationIds: null, professionalIds: null }
  const now = Temporal.Instant.from('2026-05-01T00:00:00Z')
  return { database, db, order: await checkPrintRequest(db, request, reader, now) }
}

/** `what`: a format of the list; or the summary or a report over two years, as JSON. */
async function printFromDatabase(url: string, businessId: number, what: string) {
  const overYears = { reportId: Number(what), startDate: '2025-01-01', endDate: '2026-12-31' }
  const isList = what === 'csv' || what === 'xlsx'
  const request = isList ? LIST : what === 'summary' ? SUMMARY : overYears
  const { database, db, order } = await jobOf(url, businessId, request)
  const { signal } = new AbortController()
  const format: ReportFormat = isList ? what : 'json'
  await db.query({ text: 'select 1', values: [] })
  await measured(async () => {
    let rows = 0
    const onProgress = (read: number) => void (rows = read)
    const file = await printToFile(db, order, { format, pageSize: 'A4', signal, onProgress })
    await file.handle.close()
    return rows
  })
  await database.close()
}

/** What `psql -c '\copy (…) to file csv header'` does, without psql. */
async function copyOut(url: string, businessId: number) {
  const { database, order } = await jobOf(url, businessId, LIST)
  const { text, values } = order.report.rows(order.scope)
  const literal = (i: string) => pg.escapeLiteral(String(values[Number(i) - 1]))
  const statement = text.replace(/\$(\d+)/g, (_, i: string) => literal(i))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `set role bellwether_app; set app.business_id = '${businessId}'; set timezone = 'UTC'`,
  )
  const file = path.join(tmpdir(), `bench-copy-${process.pid}.csv`)
  await measured(async () => {
    const chunks: Buffer[] = []
    await new Promise<void>((resolve, reject) => {
      // oxlint-disable-next-line typescript/no-explicit-any -- the driver's own protocol objects
      const connection = (client as any).connection
      connection.on('copyData', ({ chunk }: { chunk: Buffer }) => chunks.push(Buffer.from(chunk)))
      client
        .query(`copy (${statement}) to stdout (format csv, header)`)
        .then(() => resolve(), reject)
    })
    writeFileSync(file, Buffer.concat(chunks))
    return chunks.length
  })
  rmSync(file)
  await client.end()
  await database.close()
}

/** Appointments of a year or more, booked up to sixty days ahead and stored in the order of booking. */
async function fill(
  url: string,
  appointments: number,
  { from, days } = { from: '2026-01-01', days: 365 },
): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const stamps = 'created_date, created_user, modified_date, modified_user'
  const stamp = "'2026-01-01', 'BENCH', '2026-01-01', 'BENCH'"
  // The audit of a million rows is not what is measured here.
  await client.query('set session_replication_role = replica')
  const { rows } = await client.query(
    `insert into business (name, time_zone, ${stamps}) values ('Bench', 'Europe/Zurich', ${stamp}) returning business_id as id`,
  )
  const id = Number(rows[0].id)
  await client.query(`
    insert into location (business_id, location_id, name, ${stamps}) select ${id}, i, 'Location ' || i, ${stamp} from generate_series(1, 5) i;
    insert into professional (business_id, professional_id, first_name, last_name, ${stamps}) select ${id}, i, 'Elena', 'García ' || i, ${stamp} from generate_series(1, 50) i;
    insert into reason (business_id, reason_id, name, price, currency, ${stamps}) select ${id}, i, 'Service ' || i, 20 + i * 7.5, 'EUR', ${stamp} from generate_series(1, 20) i;
    insert into client (business_id, client_id, first_name, last_name, ${stamps}) select ${id}, i, 'Anna', 'Müller ' || i, ${stamp} from generate_series(1, 50000) i;
    insert into status (business_id, object_type, status, label, live, live_after, outcome, ${stamps})
      select ${id}, 'CALENDAR', s, initcap(s), true, true, o, ${stamp}
      from unnest(array['OPEN', 'COMPLETED', 'NO_SHOW', 'CANCELLED'], array['PENDING', 'KEPT', 'MISSED', 'CANCELLED']) v (s, o);
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time, booked_time, status, price, currency, ${stamps})
    select ${id}, 1 + (i * 7919) % ${Math.min(50_000, appointments / 10)}, 1 + i % 50, 1 + i % 20, 1 + i % 5, start, start + interval '45 minutes',
           start - ((i * 2654435761) % 60) * interval '1 day',
           (array['COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'OPEN', 'NO_SHOW', 'CANCELLED', 'COMPLETED'])[1 + i % 8],
           20 + (1 + i % 20) * 7.5, 'EUR', ${stamp}
    from generate_series(1::bigint, ${appointments}) i,
         lateral (select timestamptz '${from} 07:00Z' + (i * ${days}.0 / ${appointments})::int * interval '1 day'
                         - ((i * 2654435761) % 60) * interval '1 day' + (i % 40) * interval '15 minutes' as start) s;
    analyze`)
  await client.query('vacuum calendar')
  await client.end()
  return id
}

/** A reminder a day before each appointment. Four of five are mailed, the others were skipped. */
async function addReminders(url: string, id: number) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  await client.query(`
    insert into event_definition (business_id, event_defn_id, active, event_type_id, object_type, trigger_hours, created_date, created_user, modified_date, modified_user)
    values (${id}, 1, true, 3, 'CALENDAR', -24, '2025-01-01', 'BENCH', '2025-01-01', 'BENCH');
    insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, anchor_time, scheduled_time, status, completed_time, created_date)
    select ${id}, calendar_id, 1, 1, 'CALENDAR', calendar_id, start_time, due, case when mailed then 'COMPLETED' else 'SKIPPED' end,
           case when mailed then due end, booked_time
    from calendar, lateral (select start_time - interval '1 day' as due, calendar_id % 5 > 0 as mailed) d
    where business_id = ${id};
    insert into email (business_id, event_trigger_id, event_action_id, object_type, object_id, client_id, recipient_key, to_address, from_address, subject, message_id, status, sent_time, created_date)
    select ${id}, t.event_trigger_id, 1, 'CALENDAR', c.calendar_id, c.client_id, 'client ' || c.client_id, 'client@example.com', 'office@example.com', 'Reminder',
           c.calendar_id::text, 'SENT', t.completed_time, t.completed_time
    from event_trigger t join calendar c on (c.business_id, c.calendar_id) = (t.business_id, t.object_id)
    where t.business_id = ${id} and t.status = 'COMPLETED';
    analyze`)
  await client.query('vacuum calendar, event_trigger, email')
  await client.end()
}

const TASKS: Record<string, () => Promise<void>> = {
  all,
  paper,
  data,
  years: () => years(Number(words[0] ?? 200_000)),
  'pdf-ours': () => printSample('pdf', Number(words[0])),
  'pdf-pdfmake': () => printWithPdfmake(Number(words[0])),
  'pdf-chromium': () => printWithChromium(Number(words[0])),
  print: () => printFromDatabase(words[0]!, Number(words[1]), words[2]!),
  copy: () => copyOut(words[0]!, Number(words[1])),
}
await TASKS[task]!()
