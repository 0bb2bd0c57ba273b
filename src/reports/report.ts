import type { ObjectType } from '../contract/event-type.ts'
import {
  DIMENSIONS,
  type ComparedPeriod,
  type DimensionName,
  type FilterName,
} from '../contract/report.ts'
import type { StatusOutcome } from '../contract/status.ts'
import type { Sql } from '../database/sql.ts'
import type { Chart, Unit } from './chart.ts'
import type { Words } from './words.ts'

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
  /** The kind of its rows. It decides the allowed filters and statuses, and when the data began. */
  about: ReportSubject
  columns: Column[]
  rows(scope: Scope): Sql
  /** One row of figures for the range. It is also read for the range that it is compared with. */
  figures(scope: Scope): Sql
  kpis: Kpi[]
  charts: ChartSource[]
  /** The columns of its lines if it is grouped. Without these and `groups` it cannot be grouped. */
  measures?: MeasureName[]
  /** Custom lines for groups, instead of `measures`. */
  groups?: Groups
  /** The column whose values each begin on a new page. */
  newPageFor?: string
  /** The default grouping. */
  groupedBy?: (range: DateRange) => DimensionName[]
  /** The part of the requested range that it describes; absent if all of it. */
  rangeOf?: (range: DateRange) => DateRange
  /** The rows with the prices that it shows; absent if they are the appointments of the range. */
  prices?: (scope: Scope) => Sql
  /** Reads when its data began (`began`); absent if it is the first row of its subject. */
  beginning?: (scope: Scope) => Sql
  /** It shows only what has not begun, and says so for a period that has ended. */
  looksAhead?: true
  /** Ranges that it reads in addition to its own and the compared one. */
  otherRanges?: (range: DateRange) => DateRange[]
  /** Adds the cells that are not calculated in SQL. */
  completeRow?: (row: Record<string, unknown>) => Record<string, unknown>
  /** Sentences about its figures, printed with the notes. */
  sentences?: SentenceSource
  /** The objects behind its figures; absent if these are not counts or sums of objects. */
  drillDown?: DrillDown
}

/** How `GET /report/{id}/rows` finds the objects behind a figure. */
export type DrillDown = {
  /** All objects that a figure of the report could count, from `catalog/objects.ts`, for `from (…) o`. */
  objects(scope: Scope, keys: LineKeys): Sql
  /** The keys that select the objects of a line. The SQL of the lines returns each as `key_…`. */
  keys(scope: Scope): KeyName[]
  /** An SQL condition for the listed objects; absent: all. */
  listed?: string
  /** The figures that are not measures, by the name of their column or KPI. */
  figures?: Record<string, ObjectSum>
}

/** The summand and the condition of a sum, in SQL on the columns of `objects`. */
export type ObjectSum = {
  /** Absent: the objects are counted. */
  of?: string
  where?: string
  /** Counts each id once: clients instead of appointments. */
  oncePer?: 'client_id' | 'object_id'
  isMoney?: true
}

export const KEY_NAMES = [
  ...DIMENSIONS,
  'hour',
  'objectType',
  'objectId',
  'objectUUId',
  'eventTriggerId',
  'line',
] as const
export type KeyName = (typeof KEY_NAMES)[number]
export type LineKeys = { [Name in KeyName]?: string }

/** The lines of a report that does not count appointments or classes of the range. */
export type Groups = {
  columns: Column[]
  /** One row for each thing that is counted, with `local_start` and the ids that it is grouped by. */
  rows(scope: Scope): Sql
  /** The cells of the columns, from rows `f`. A step without rows has one row of nulls. */
  cells(scope: Scope): Sql
}

export type SentenceSource = {
  rows(scope: Scope): Sql
  write(rows: Record<string, unknown>[], scope: Scope, words: Words): string[]
}

export type Category = 'APPOINTMENTS' | 'NO_SHOWS' | 'STAFF' | 'CLIENTS' | 'CLASSES' | 'AUTOMATION'

export type ReportSubject =
  | 'appointments'
  | 'classes'
  | 'invitations'
  | 'recalls'
  | 'disclaimers'
  | 'triggers'
  | 'emails'
  | 'clients'
  | 'feeds'

/** Each is defined once, in measures.ts. */
export const MEASURE_NAMES = [
  'appointments',
  'kept',
  'missed',
  'cancelled',
  'unclosed',
  'unrated',
  'ahead',
  'bookedMinutes',
  'busyMinutes',
  'workingMinutes',
  'value',
  'revenue',
  'unpriced',
  'lostValue',
  'cancelledValue',
  'unclosedValue',
  'aheadValue',
  'bookings',
  'bookingsValue',
  'classes',
  'students',
  'places',
] as const
export type MeasureName = (typeof MEASURE_NAMES)[number]

export type DateRange = { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate }

/** A time zone of the range, with the locations whose rows are in it. */
export type Zone = {
  timeZone: string
  /** `null`: all locations that no other zone names, and rows without a location. It comes last. */
  locationIds: number[] | null
  /** The start of the first day, and the end of the last day (exclusive). */
  from: Temporal.Instant
  until: Temporal.Instant
}

/** The range and the filters that every statement of a report applies. */
export type Scope = DateRange & {
  businessId: number
  /** The earliest start and the latest end of all zones. */
  from: Temporal.Instant
  until: Temporal.Instant
  /** The zone of everything that has no location. */
  timeZone: string
  zones: Zone[]
  /** `null`: no filter. */
  locationIds: number[] | null
  professionalIds: number[] | null
  reasonIds: number[] | null
  clientIds: number[] | null
  statuses: string[] | null
  tags: [name: string, values: string[]][] | null
  /** The outcome of each status of the business. */
  outcomes: StatusOutcomes[]
  /** The currencies of the range. With several, every sum of money is split. */
  currencies: string[]
  /** The feeds whose appointments tell nothing about no-shows. */
  unratedFeeds: UnratedFeed[]
  now: Temporal.Instant
}

/** `until`: the start of the first no-show that a person set; null: there is none. */
export type UnratedFeed = { feedId: number; until: Temporal.Instant | null }

export type StatusOutcomes = { objectType: ObjectType; outcome: StatusOutcome; statuses: string[] }

export type ColumnType =
  | 'text'
  | 'date' // '2026-09-01', in the report's zone
  | 'time' // '14:00', in the report's zone
  | 'dateTime' // milliseconds in JSON, local time in the other formats
  | 'integer'
  | 'decimal' // with one decimal
  | 'minutes'
  | 'money'
  | 'percent' // 14.2 is 14.2 %

/** Figures are aligned to the right. */
export const isFigure = (type: ColumnType) =>
  type === 'integer' ||
  type === 'decimal' ||
  type === 'minutes' ||
  type === 'money' ||
  type === 'percent'

export type Column = {
  name: string
  label: string
  /** The label in HTML and PDF, whose cells are hours and minutes then; the other formats have minutes. */
  labelInHours?: string
  type: ColumnType
  /** The typical length in characters, for the layout of tables. */
  width: number
  /**
   * Its cells are fixed words, not data, so they are translated. A list names the words to translate, also
   * after a number; `status`: labels of statuses; `reason`: why triggers ended.
   */
  fixedWords?: true | 'status' | 'reason' | readonly string[]
  /** Its cells are months or local times in ISO format, which are printed in the format of the language. */
  isDate?: true
  /** Left out if the report is for one location, which its head names. */
  unlessOneLocation?: true
  /** Its cells are sums of prices: with several currencies it becomes one column for each. */
  perCurrency?: true
  /** Its cells are single prices, each in the currency that this column names. */
  currencyIn?: string
  /** The word that HTML and PDF show for an empty cell. */
  emptyAs?: string
  /** Left out if all prices are in one currency. */
  ifSeveralCurrencies?: true
  /** Left out if no feed is without no-shows. */
  ifUnratedFeeds?: true
  /** See `isNoShowRate` of a KPI. */
  isNoShowRate?: true
  /** The currency of all its cells, and the column that it is a part of: set when it is printed. */
  currency?: string
  partOf?: string
  /** Its measure, whose definition is printed once for the report. */
  measure?: MeasureName
  /** `future`: left out of a range that has ended. */
  tense?: Tense
  /** With one of these filters it is meaningless, so it is left out with a note. */
  meaninglessWith?: readonly FilterName[]
  /** How the total is calculated. A percentage is calculated from totals, not summed. */
  total?: 'sum' | { percentOf: [part: string, whole: string | string[], without?: string] }
}

/** `past`: known only for appointments that have begun. `future`: only for those that have not. */
export type Tense = 'past' | 'future'

export type Cell = string | number | null
export type Figures = Record<string, number | null>

export type Kpi = {
  name: string
  label: string
  unit: Unit
  /** Printed on the report: how the value is calculated. */
  definition: string
  value(figures: Figures): number | null
  /** The text in its tile instead of the number, such as `Friday 13:00`. */
  describe?(figures: Readonly<Record<string, unknown>>, words: Words): string | undefined
  /** Which direction is an improvement; absent if neither is. */
  better?: 'more' | 'less'
  /** The counts of which a percentage is made, for the question whether a change can be chance: chance.ts. */
  share?: (figures: Figures) => [part: number | null | undefined, whole: number | null | undefined]
  /** What a count is a part of: more failed mails among more mails are not a decline. */
  base?: (figures: Figures) => number | undefined
  /** How much chance varies a value that is neither a share nor a count. */
  variance?: (figures: Figures) => number | null
  measure?: MeasureName
  tense?: Tense
  /** The measure whose objects explain a rate; absent: those that the report lists. */
  explainedBy?: MeasureName
  /** An earlier period has had more time to reach its value, so no change is shown. */
  isNotComparable?: true
  /** Leaves out the measure `unrated`; a note says how many appointments these are. */
  isNoShowRate?: true
  meaninglessWith?: readonly FilterName[]
}

export type ChartSource = {
  /** With one of these filters it is meaningless, so it is left out. */
  meaninglessWith?: readonly FilterName[]
  /** Absent if the chart is drawn from the rows of the report, which are then few. */
  rows?: (scope: Scope) => Sql
  draw(rows: Record<string, unknown>[], scope: Scope): Chart[]
}

/** A report with its data, as every format receives it. */
export type ReportResult = {
  report: ReportObject
  parameters: Parameters
  /** The time zones of all rows; several if each row is in the zone of its location. */
  timeZones: string[]
  filters: AppliedFilters
  groupBy: DimensionName[]
  businessName: string
  /** The locale of the reader or the business, for words and numbers. */
  locale: string
  /** Null: the default colour. */
  accentColor: string | null
  logo: Logo | null
  /** `null`: all locations. */
  locationName: string | null
  /** The filters and the grouping, for the head of the report. */
  appliedFilters: [label: string, value: string][]
  /** Sentences about the figures. */
  sentences: string[]
  /** The parts that were left out, and why. */
  notes: string[]
  /** The definition of each figure and measure of the report. */
  definitions: [label: string, definition: string][]
  compareWith: ComparedPeriod
  /** `null`: the range is in the future, or no comparison is wanted. */
  comparison: Comparison | null
  kpis: KpiResult[]
  charts: Chart[]
  columns: Column[]
  /** The column whose values each begin on a new page of a PDF; -1: none. */
  newPageAt: number
  /** The requests for the objects behind the figures; null if the report has none. */
  drillDown: DrillDownPaths | null
  /** Each row has one more cell than there are columns: the part of the request that selects its objects. */
  hasRowFilters: boolean
  rows: AsyncIterable<Cell[][]>
  /** Available after all rows have been read. */
  totals(): Totals
}

/** A path, and what is appended to it for each column and KPI; null: not a sum of objects. */
export type DrillDownPaths = {
  path: string
  columns: (string | null)[]
  kpis: (string | null)[]
}

/** A picture, in base64. */
export type Logo = { type: string; data: string }

/** A report as the API answers it. */
export type ReportObject = {
  active: boolean
  businessId: number
  category: string
  createdDate: number
  createdUser: string
  modifiedDate: number
  modifiedUser: string
  planIds: number
  reportFileName: string
  reportId: number
  reportName: string
  reportType: string
  resellerIds: number
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

/** The filters of the request, by their names. */
export type AppliedFilters = { [Name in FilterName]?: unknown }

/** The range that figures are compared with. */
export type Comparison = {
  startDate: string
  endDate: string
  /** The local time until which it is read, if the range of the report has not ended; else null. */
  until: string | null
  /** False if the data begins in this range: then no change is calculated. */
  isLikeForLike: boolean
  note: string | null
}

/** Whether a change is one for the better or the worse; null: neither, or it can be chance (chance.ts). */
export type Trend = 'better' | 'worse' | null

export type KpiResult = {
  name: string
  label: string
  value: number | null
  previous: number | null
  unit: Unit
  /** The part of `value` up to now, with which `previous` is compared; equal to it after the range. */
  valueToDate: number | null
  currency: string | null
  definition: string
  better: 'more' | 'less' | null
  /** Whether it changed for the better or the worse by more than chance explains. */
  trend: Trend
  /** The text to show instead of the number. */
  words?: string
}

/** By column. If single prices are in several currencies, there is one total for each currency. */
export type Totals = Record<string, number | Record<string, number> | null>

type KpiText = Omit<Kpi, 'name' | 'label' | 'unit' | 'value' | 'share'>

/** A count. Its figure `of` has the name of the KPI unless it says otherwise. */
export const countKpi = (
  name: string,
  label: string,
  { of = name, ...others }: KpiText & { of?: string },
): Kpi => ({ name, label, unit: 'count', value: (figures) => figures[of] ?? 0, ...others })

/** A percentage of counted things. */
export const rateKpi = (
  name: string,
  label: string,
  { of: share, ...others }: KpiText & { of: NonNullable<Kpi['share']> },
): Kpi => ({
  name,
  label,
  unit: 'percent',
  share,
  value: (figures) => percent(...share(figures)),
  ...others,
})

/** A percentage with one decimal; null if the whole is 0. */
export const percent = (part: number | null | undefined, whole: number | null | undefined) =>
  whole ? Math.round((1000 * (part ?? 0)) / whole) / 10 : null
