import type { Sql } from '../database/sql.ts'
import type { Chart, Unit } from './chart.ts'

/**
 * One report: what it is called, who may see it, the statement that reads its rows, and what is
 * drawn above them. A file of its own for each, and a line in catalog.ts.
 */
export type Report = {
  reportId: number
  category: Category
  reportName: string
  /** Names the report in `{ "reportFileName" }` and in the names of printed files. */
  reportFileName: string
  description: string
  /** What a staff member's role must include, all of it. */
  securityFunctions: string[]
  columns: Column[]
  rows(scope: Scope): Sql
  /** One row of figures over the scope's range; asked again for the range before it. */
  figures(scope: Scope): Sql
  /** Where the report's few rows hold the figures of its own range: no need to ask twice. */
  figuresOf?: (rows: Record<string, unknown>[]) => Figures
  kpis: Kpi[]
  charts: ChartSource[]
}

export type Category = 'APPOINTMENTS' | 'NO_SHOWS' | 'STAFF' | 'CLIENTS' | 'CLASSES' | 'AUTOMATION'

/** What a print is about: every statement of a report narrows itself to this. */
export type Scope = {
  businessId: number
  /** The first moment of the first day and the first moment after the last, in the zone. */
  from: Temporal.Instant
  until: Temporal.Instant
  startDate: Temporal.PlainDate
  endDate: Temporal.PlainDate
  timeZone: string
  /** `null`: all of them. */
  locationIds: number[] | null
  professionalIds: number[] | null
  reasonIds: number[] | null
  statuses: string[] | null
  now: Temporal.Instant
}

export type ColumnType =
  | 'text'
  | 'date' // '2026-09-01', in the report's zone
  | 'time' // '14:00', in the report's zone
  | 'dateTime' // a moment: milliseconds as data, local time for people
  | 'integer'
  | 'minutes'
  | 'money'
  | 'percent' // 14.2 is 14.2 %

/** Figures stand to the right, so that their digits line up. */
export const isFigure = (type: ColumnType) =>
  type === 'integer' || type === 'minutes' || type === 'money' || type === 'percent'

export type Column = {
  name: string
  label: string
  type: ColumnType
  /** Typical length in characters; tables share their width by it. */
  width: number
  /** Left out where the report is about one location, which stands in its head. */
  unlessOneLocation?: true
  /** Its cells add up prices: left out if those are in several currencies. */
  addsPrices?: true
  /** How the column is totalled; a percentage is made of two totals, never added up. */
  total?: 'sum' | { percentOf: [part: string, whole: string] }
}

export type Cell = string | number | null
export type Figures = Record<string, number | null>

export type Kpi = {
  name: string
  label: string
  unit: Unit
  /** Printed on the report, so that nobody has to guess what was counted. */
  definition: string
  value(figures: Figures): number | null
  /** Which way is good news; neither where it is only a fact. */
  better?: 'more' | 'less'
}

export type ChartSource = {
  /** Left out where the chart is drawn from the report's own rows: then those are few. */
  rows?: (scope: Scope) => Sql
  draw(rows: Record<string, unknown>[], scope: Scope): Chart[]
}

/** A report as it is printed: what every format shows, each in its own way. */
export type ReportResult = {
  report: ReportObject
  parameters: Parameters
  businessName: string
  /** `null`: all locations. */
  locationName: string | null
  /** What else the report leaves out: whose it is, and of which services and statuses. */
  narrowedTo: [label: string, value: string][]
  /** The one currency of the prices; `null` if there are several, none, or none is shown. */
  currency: string | null
  kpis: KpiResult[]
  charts: Chart[]
  columns: Column[]
  rows: AsyncIterable<Cell[][]>
  /** Known once all rows have been read. */
  totals(): Totals
}

/** Spec 2.7. */
export type ReportObject = {
  active: boolean
  businessId: number
  category: string
  createdDate: number
  createdUser: string
  modifiedDate: number
  modifiedUser: string
  planIds: null
  reportFileName: string
  reportId: number
  reportName: string
  reportType: string
  resellerIds: null
  securityFunctions: string
  /** Ours: what the report shows, in a sentence. */
  description: string
}

export type Parameters = {
  startDate: string
  endDate: string
  timeZone: string
  locationId: number | null
  printedTime: number
}

export type KpiResult = {
  name: string
  label: string
  value: number | null
  previous: number | null
  unit: Unit
  definition: string
  better: 'more' | 'less' | null
}

export type Totals = Record<string, number | null>

/** Percentage of a whole, to one decimal; nothing of nothing is not a number. */
export const percent = (part: number | null | undefined, whole: number | null | undefined) =>
  whole ? Math.round((1000 * (part ?? 0)) / whole) / 10 : null
