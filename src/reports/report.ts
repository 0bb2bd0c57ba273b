import type { Sql } from '../database/sql.ts'
import type { Chart, Unit } from './chart.ts'

/** A report: its name, its permissions, its SQL and its charts. One file each, and a line in catalog.ts. */
export type Report = {
  reportId: number
  category: Category
  reportName: string
  /** Names the report in `{ "reportFileName" }` and in the names of printed files. */
  reportFileName: string
  description: string
  /** The functions that a role must include, all of them. */
  securityFunctions: string[]
  columns: Column[]
  rows(scope: Scope): Sql
  /** One row of figures for the range. It is also read for the previous range. */
  figures(scope: Scope): Sql
  /** Calculates the figures from the rows instead, for reports with few rows. */
  figuresOf?: (rows: Record<string, unknown>[]) => Figures
  kpis: Kpi[]
  charts: ChartSource[]
}

export type Category = 'APPOINTMENTS' | 'NO_SHOWS' | 'STAFF' | 'CLIENTS' | 'CLASSES' | 'AUTOMATION'

/** The range and the filters that every statement of a report applies. */
export type Scope = {
  businessId: number
  /** The start of the first day, and the end of the last day (exclusive), in the time zone. */
  from: Temporal.Instant
  until: Temporal.Instant
  startDate: Temporal.PlainDate
  endDate: Temporal.PlainDate
  timeZone: string
  /** `null`: no filter. */
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
  | 'dateTime' // milliseconds in JSON, local time in the other formats
  | 'integer'
  | 'minutes'
  | 'money'
  | 'percent' // 14.2 is 14.2 %

/** Figures are aligned to the right. */
export const isFigure = (type: ColumnType) =>
  type === 'integer' || type === 'minutes' || type === 'money' || type === 'percent'

export type Column = {
  name: string
  label: string
  type: ColumnType
  /** The typical length in characters, for the layout of tables. */
  width: number
  /** Left out if the report is for one location, which its head names. */
  unlessOneLocation?: true
  /** Its cells are sums of prices: left out if there are several currencies. */
  addsPrices?: true
  /** How the total is calculated. A percentage is calculated from two totals, not summed. */
  total?: 'sum' | { percentOf: [part: string, whole: string] }
}

export type Cell = string | number | null
export type Figures = Record<string, number | null>

export type Kpi = {
  name: string
  label: string
  unit: Unit
  /** Printed on the report: how the value is calculated. */
  definition: string
  value(figures: Figures): number | null
  /** Which direction is an improvement; absent if neither is. */
  better?: 'more' | 'less'
}

export type ChartSource = {
  /** Absent if the chart is drawn from the rows of the report, which are then few. */
  rows?: (scope: Scope) => Sql
  draw(rows: Record<string, unknown>[], scope: Scope): Chart[]
}

/** A report with its data, as every format receives it. */
export type ReportResult = {
  report: ReportObject
  parameters: Parameters
  businessName: string
  /** `null`: all locations. */
  locationName: string | null
  /** The filters by staff, service and status, for the head of the report. */
  appliedFilters: [label: string, value: string][]
  /** The currency of all prices; `null` if there are none or several. */
  currency: string | null
  kpis: KpiResult[]
  charts: Chart[]
  columns: Column[]
  rows: AsyncIterable<Cell[][]>
  /** Available after all rows have been read. */
  totals(): Totals
}

/** A report as the API answers it. */
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
  /** What the report shows, in one sentence. */
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

/** A percentage with one decimal; null if the whole is 0. */
export const percent = (part: number | null | undefined, whole: number | null | undefined) =>
  whole ? Math.round((1000 * (part ?? 0)) / whole) / 10 : null
