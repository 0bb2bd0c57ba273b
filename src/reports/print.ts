import type { ReportFormat } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { untilAborted } from '../database/until-aborted.ts'
import { invalid } from '../errors.ts'
import { reportObject } from './catalog/catalog.ts'
import { appointmentRows } from './catalog/conditions.ts'
import type { Chart } from './chart.ts'
import { findBeginning } from './beginning.ts'
import { compareScope, type ComparedScopes } from './comparison.ts'
import { drawInCurrencies, kpiResults, splitColumns, type KpiFigures } from './currencies.ts'
import { drillDownPaths, rowFilterOf } from './drill-down.ts'
import { MEASURES } from './measures.ts'
import type { PrintJob } from './print-request.ts'
import type { Cell, Column, Figures, Logo, ReportResult, Scope } from './report.ts'
import { withTotals } from './totals.ts'
import { translateResult } from './translate.ts'
import { wordsOf } from './words.ts'

/** Rows of a batch. CSV rows stay small when they are written, so it takes larger batches. */
const BATCH_ROWS = 500
const CSV_BATCH_ROWS = 1_000

/**
 * Reads a report and passes it to `use` as a stream. Figures, charts and rows come from one snapshot, so
 * that they agree even if appointments are booked meanwhile.
 */
export function printReport<T>(
  db: Db,
  job: PrintJob,
  use: (result: ReportResult, inEnglish: ReportResult) => Promise<T>,
  { rowsOnly = false, hasRowFilters = false, onProgress = () => {}, signal }: PrintOptions = {},
): Promise<T> {
  return untilAborted(db, signal).snapshot(async (snapshot) => {
    const tx = readOnce(snapshot)
    const { report, scope } = job
    const columns = columnsOf(job)
    // Reports whose charts are drawn from their rows have few rows.
    const isShort = !rowsOnly && report.charts.some(({ rows }) => !rows)
    const allRows = isShort ? await tx.query<Row>(report.rows(scope)) : undefined
    const began = rowsOnly ? null : await findBeginning(tx, report, scope)
    const compared = compareScope(scope, began, job.compareWith, wordsOf(job.locale))
    const figures = rowsOnly ? undefined : await readFigures(tx, job, compared)
    const kpis = figures ? kpisOf(job, figures, compared) : []
    const charts = rowsOnly ? [] : await readCharts(tx, job, allRows)
    const sentences = rowsOnly ? [] : await readSentences(tx, job)
    const logo = rowsOnly ? null : await readLogo(tx, job)
    const batches = allRows
      ? [allRows]
      : tx.stream<Row>(report.rows(scope), rowsOnly ? CSV_BATCH_ROWS : BATCH_ROWS)
    const { rows, totals } = withTotals(
      columns,
      toCells(job, columns, batches, { hasRowFilters, onProgress }),
    )

    signal?.throwIfAborted()
    const result: ReportResult = {
      report: reportObject(report, scope.businessId),
      parameters: parametersOf(job),
      timeZones: scope.zones.map(({ timeZone }) => timeZone).toSorted(),
      filters: job.filters,
      groupBy: job.groupBy,
      businessName: job.businessName,
      locale: job.locale,
      accentColor: job.accentColor,
      logo,
      locationName: job.locationName,
      appliedFilters: job.appliedFilters,
      sentences,
      notes: [
        ...job.notes,
        ...(figures ? notePrices(job, figures) : []),
        ...(figures ? await noteUnrated(tx, job) : []),
        ...noteLag(job, snapshot.lagSeconds),
      ],
      definitions: definitionsOf(job),
      compareWith: job.compareWith,
      comparison: compared.comparison,
      kpis,
      charts,
      columns,
      newPageAt: columns.findIndex(({ name }) => name === report.newPageFor),
      drillDown: drillDownPaths(job, columns, kpis),
      hasRowFilters,
      rows,
      totals,
    }
    // A CSV file is read by programs, so its words stay the same.
    return use(rowsOnly ? result : translateResult(result), result)
  })
}

/** A statement that several parts of a report share is run once. */
function readOnce(snapshot: Db): Db {
  const read = new Map<string, Promise<unknown[]>>()
  return {
    ...snapshot,
    query: <Row>(statement: Sql) => {
      const key = JSON.stringify(statement)
      const rows = read.get(key) ?? snapshot.query<Row>(statement)
      read.set(key, rows)
      return rows as Promise<Row[]>
    },
  }
}

const parametersOf = ({ scope, locationId }: PrintJob): ReportResult['parameters'] => ({
  startDate: scope.startDate.toString(),
  endDate: scope.endDate.toString(),
  timeZone: scope.timeZone,
  locationId,
  printedTime: scope.now.epochMilliseconds,
})

type Row = Record<string, unknown>

type PrintOptions = {
  /** For formats without figures and charts: reading those costs as much as the rows. */
  rowsOnly?: boolean
  /** Adds to each row the part of the request that selects its objects. */
  hasRowFilters?: boolean
  onProgress?: (rowsRead: number) => void
  signal?: AbortSignal
}

/** Counts the rows of the report, at most `max`. */
export async function countRows(db: Db, { report, scope }: PrintJob, max = 1_000_000_000) {
  const counted = await db.getRow<{ rows: number }>(sql`
    select count(*) as rows from (select from (${report.rows(scope)}) listed limit ${max}) counted`)
  return counted.rows
}

/** A PDF or a page of this length is not readable; a sheet of Excel ends soon after a million. */
const MAX_ROWS: Partial<Record<ReportFormat, number>> = {
  pdf: 50_000,
  html: 50_000,
  xlsx: 1_000_000,
}

/** Refuses a report with too many rows for its format before printing starts. */
export async function refuseTooManyRows(
  db: Db,
  job: PrintJob,
  format: ReportFormat,
  limits = MAX_ROWS,
) {
  const max = limits[format]
  if (max === undefined) return
  if ((await countRows(db, job, max + 1)) <= max) return
  const detail = `${format} can hold at most ${max.toLocaleString('en')} rows and this report has more: use csv or a shorter range`
  throw invalid([{ pointer: '?format', detail }])
}

const columnsOf = (job: PrintJob): Column[] => splitColumns(shownColumns(job), job.scope.currencies)

const shownColumns = ({ report, locationId, scope }: PrintJob) =>
  report.columns.filter(
    ({ unlessOneLocation, ifUnratedFeeds }) =>
      (!unlessOneLocation || locationId === null) &&
      (!ifUnratedFeeds || scope.unratedFeeds.length > 0),
  )

/** The definitions of all figures and of the measures in columns, each once. */
function definitionsOf(job: PrintJob): [label: string, definition: string][] {
  const { report } = job
  const columns = shownColumns(job).flatMap(({ measure }): [string, string][] =>
    measure ? [[labelOf(MEASURES[measure]), MEASURES[measure].definition]] : [],
  )
  const kpis = report.kpis.map(({ label, definition }): [string, string] => [label, definition])
  const known = new Set(kpis.map(([, definition]) => definition))
  const colours = report.kpis.some(({ better }) => better) ? [COLOURS] : []
  return [...kpis, ...columns.filter(([, definition]) => !known.has(definition)), ...colours]
}

/** In the words of readers, as in HTML and PDF. */
const labelOf = ({ label, labelInHours = label }: { label: string; labelInHours?: string }) =>
  labelInHours

/** How a change gets its colour: chance.ts. */
const COLOURS: [label: string, definition: string] = [
  'Green and red',
  'A change has a colour only if chance alone would cause one as large in less than one of 100 comparisons. Counts of a part, such as failed mails, are compared as a share of the whole.',
]

async function readFigures(
  tx: Db,
  { report, scope }: PrintJob,
  { toDate, previous }: ComparedScopes,
): Promise<KpiFigures> {
  const read = async (of: Scope | undefined) =>
    of && (await tx.query<Figures>(report.figures(of)))[0]!
  return {
    current: (await read(scope))!,
    toDate: await read(toDate),
    previous: await read(previous),
  }
}

function kpisOf(
  { report, scope, locale }: PrintJob,
  figures: KpiFigures,
  { toDate = scope, previous = scope, comparison }: ComparedScopes,
) {
  const days = { now: countDays(toDate), before: countDays(previous) }
  return report.kpis
    .flatMap((kpi) => kpiResults(kpi, figures, scope, wordsOf(locale), days))
    .map((kpi) => (comparison?.isLikeForLike ? kpi : { ...kpi, trend: null }))
}

const countDays = ({ from, until }: Scope) =>
  Math.max(1, until.epochMilliseconds - from.epochMilliseconds) / 86_400_000

/** The figures of a report alone, without a comparison. */
export async function readKpis(db: Db, job: PrintJob) {
  const alone = { toDate: undefined, previous: undefined, comparison: null }
  return kpisOf(job, await readFigures(db, job, alone), alone)
}

/** A report of a read replica may lack the last changes. */
function noteLag({ locale }: PrintJob, lagSeconds: number | undefined) {
  if (lagSeconds === undefined) return []
  const { say, locale: numbers } = wordsOf(locale)
  const n = Math.ceil(lagSeconds).toLocaleString(numbers)
  return [say('Read from a replica of the database that was {n} s behind.', { n })]
}

/** How many kept appointments the revenue lacks, because their price is unknown. */
function notePrices({ report, scope, locale }: PrintJob, { current }: KpiFigures) {
  const { unpriced } = current
  const showsRevenue = [...report.kpis, ...report.columns].some(
    ({ measure }) => measure === 'revenue',
  )
  if (!unpriced || !showsRevenue || scope.currencies.length === 0) return []
  const { say, locale: numbers } = wordsOf(locale)
  return [
    unpriced === 1
      ? say('The price of 1 kept appointment is unknown; the revenue is without it.')
      : say('The prices of {n} kept appointments are unknown; the revenue is without them.', {
          n: unpriced.toLocaleString(numbers),
        }),
  ]
}

/** How many appointments no-show rates leave out, because their source cannot tell who did not come. */
async function noteUnrated(tx: Db, { report, scope, locale }: PrintJob) {
  const hasRate = [...report.kpis, ...report.columns].some(({ isNoShowRate }) => isNoShowRate)
  if (!hasRate || scope.unratedFeeds.length === 0) return []
  const counted = await tx.getRow<{ n: number }>(sql`
    select count(*) as n from (${appointmentRows(scope)}) a where a.is_unrated`)
  if (counted.n === 0) return []
  const { say, locale: numbers } = wordsOf(locale)
  return [
    say(
      'Left out of no-show rates: {n} past appointments of feeds whose source cannot tell who did not come. Set no-shows here, and the appointments from the first one on count.',
      { n: counted.n.toLocaleString(numbers) },
    ),
  ]
}

async function readCharts(tx: Db, { report, scope }: PrintJob, allRows: Row[] | undefined) {
  const charts: Chart[] = []
  for (const source of report.charts) {
    const rows = source.rows ? await tx.query(source.rows(scope)) : allRows!
    charts.push(...drawInCurrencies(source, rows, scope))
  }
  return charts
}

async function readSentences(tx: Db, { report: { sentences }, scope, locale }: PrintJob) {
  if (!sentences) return []
  return sentences.write(await tx.query<Row>(sentences.rows(scope)), scope, wordsOf(locale))
}

/** A larger picture would make every report large. */
const MAX_LOGO_BYTES = 500_000
const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/gif']

async function readLogo(tx: Db, { scope: { businessId } }: PrintJob): Promise<Logo | null> {
  const logo = await tx.findRow<Logo>(sql`
    select f.type, encode(c.bytes, 'base64') as data
    from business b
    join file_library f on (f.business_id, f.file_uuid) = (b.business_id, b.logo)
    join file_content c on (c.business_id, c.file_uuid) = (f.business_id, f.file_uuid)
    where b.business_id = ${businessId} and f.type = any (${LOGO_TYPES}::text[])
      and length(c.bytes) <= ${MAX_LOGO_BYTES}`)
  return logo ? { ...logo, data: logo.data.replaceAll('\n', '') } : null
}

async function* toCells(
  job: PrintJob,
  columns: Column[],
  batches: AsyncIterable<Row[]> | Iterable<Row[]>,
  { hasRowFilters, onProgress }: { hasRowFilters: boolean; onProgress: (rowsRead: number) => void },
) {
  const { completeRow = (row) => row } = job.report
  const names = columns.map(({ name }) => name)
  const filterOf = rowFilterOf(job)
  let read = 0
  for await (const batch of prefetch(batches)) {
    const cells = batch.map((row) => {
      const complete = completeRow(row)
      const cells = names.map((name) => toCell(complete[name]))
      return hasRowFilters ? [...cells, filterOf(row)] : cells
    })
    onProgress((read += batch.length))
    yield cells
  }
}

/** Requests the next batch before this one is written, so that database and writer work concurrently. */
async function* prefetch<T>(batches: AsyncIterable<T> | Iterable<T>): AsyncIterable<T> {
  const source = Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : undefined
  if (!source) return yield* batches as Iterable<T>
  let next = source.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = source.next()
      // An error is thrown when it is awaited; until then it must not count as unhandled.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await source.return?.()
  }
}

function toCell(value: unknown): Cell {
  if (value === undefined) throw new Error('the SQL of a report does not return one of its columns')
  return value instanceof Temporal.Instant ? value.epochMilliseconds : (value as Cell)
}
