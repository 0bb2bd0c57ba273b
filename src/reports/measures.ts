import { join, raw, sql, type Sql } from '../database/sql.ts'
import type { Unit } from './chart.ts'
import {
  rateKpi,
  type Column,
  type ColumnType,
  type Figures,
  type Kpi,
  type MeasureName,
  type Scope,
  type Tense,
} from './report.ts'

/**
 * A quantity that reports count. Each is defined once, here; docs/reports.md lists them. Reports take its
 * column, its figure and its SQL from here, so that no two reports can disagree.
 */
type Measure = {
  label: string
  /** See `labelInHours` of a column. */
  labelInHours?: string
  /** The name of its column in JSON. */
  column: string
  unit: Unit
  width: number
  /** Printed on every report that shows it. */
  definition: string
  better?: 'more' | 'less'
  tense?: Tense
  /**
   * The SQL of the summand and of the condition, on `appointmentRows`, `bookingRows` or `classRows`. A row of
   * appointments stands for `n` with the same outcome, price and currency. Absent: not a sum of rows.
   */
  sum?: { of: string; where?: string }
}

export const MEASURES: Record<MeasureName, Measure> = {
  appointments: {
    label: 'Appointments',
    column: 'appointments',
    unit: 'count',
    width: 6,
    definition: 'All appointments that begin in the period, in any status.',
    better: 'more',
    sum: { of: 'n' },
  },
  kept: {
    label: 'Kept',
    column: 'completed',
    unit: 'count',
    width: 6,
    definition: 'Appointments that have begun and whose status counts as kept.',
    better: 'more',
    tense: 'past',
    sum: { of: 'n', where: `outcome = 'KEPT'` },
  },
  missed: {
    label: 'No-shows',
    column: 'noShows',
    unit: 'count',
    width: 6,
    definition: 'Appointments that have begun and whose status counts as missed.',
    better: 'less',
    tense: 'past',
    sum: { of: 'n', where: `outcome = 'MISSED'` },
  },
  cancelled: {
    label: 'Cancelled',
    column: 'cancelled',
    unit: 'count',
    width: 6,
    definition: 'Appointments whose status counts as cancelled.',
    better: 'less',
    sum: { of: 'n', where: `outcome = 'CANCELLED'` },
  },
  unclosed: {
    label: 'Not closed',
    column: 'unclosed',
    unit: 'count',
    width: 6,
    definition: 'Appointments that have begun and whose status does not say how they ended.',
    better: 'less',
    tense: 'past',
    sum: { of: 'n', where: `outcome = 'UNCLOSED'` },
  },
  unrated: {
    label: 'No-show unknown',
    column: 'unrated',
    unit: 'count',
    width: 7,
    definition:
      'Kept appointments of feeds whose source cannot tell no-shows, up to the first no-show that was set here. They were closed after their end, so no-show rates are without them.',
    tense: 'past',
    sum: { of: 'n', where: 'is_unrated' },
  },
  ahead: {
    label: 'Booked ahead',
    column: 'ahead',
    unit: 'count',
    width: 6,
    definition: 'Appointments that have not begun and were not cancelled.',
    better: 'more',
    tense: 'future',
    sum: { of: 'n', where: `outcome = 'AHEAD'` },
  },
  bookedMinutes: {
    label: 'Booked min',
    labelInHours: 'Booked time',
    column: 'minutes',
    unit: 'minutes',
    width: 7,
    definition: 'The length of all appointments that were not cancelled.',
    better: 'more',
    sum: { of: 'minutes', where: `outcome <> 'CANCELLED'` },
  },
  busyMinutes: {
    label: 'Busy min',
    labelInHours: 'Busy time',
    column: 'busyMinutes',
    unit: 'minutes',
    width: 7,
    definition:
      'The time in which a member of staff had an appointment or a class that was not cancelled; overlaps count once.',
    better: 'more',
  },
  workingMinutes: {
    label: 'Working min',
    labelInHours: 'Working time',
    column: 'workingMinutes',
    unit: 'minutes',
    width: 8,
    definition:
      'The working hours of the staff at these locations, with their days off and special hours; overlaps count once.',
  },
  value: {
    label: 'Value',
    column: 'value',
    unit: 'money',
    width: 10,
    definition: 'The prices of all appointments, in any status, at the time of booking.',
    sum: { of: 'n * price' },
  },
  revenue: {
    label: 'Revenue',
    column: 'revenue',
    unit: 'money',
    width: 10,
    definition: 'The prices of kept appointments at the time of booking.',
    better: 'more',
    tense: 'past',
    sum: { of: 'n * price', where: `outcome = 'KEPT'` },
  },
  unpriced: {
    label: 'Kept, price unknown',
    column: 'unpriced',
    unit: 'count',
    width: 7,
    definition: 'Kept appointments without a price, which the revenue lacks.',
    tense: 'past',
    sum: { of: 'n', where: `outcome = 'KEPT' and price is null` },
  },
  lostValue: {
    label: 'Lost value',
    column: 'lost',
    unit: 'money',
    width: 10,
    definition: 'The prices of missed appointments at the time of booking.',
    better: 'less',
    tense: 'past',
    sum: { of: 'n * price', where: `outcome = 'MISSED'` },
  },
  cancelledValue: {
    label: 'Cancelled value',
    column: 'cancelledValue',
    unit: 'money',
    width: 10,
    definition: 'The prices of cancelled appointments at the time of booking.',
    better: 'less',
    sum: { of: 'n * price', where: `outcome = 'CANCELLED'` },
  },
  unclosedValue: {
    label: 'Value not closed',
    column: 'unclosedValue',
    unit: 'money',
    width: 10,
    definition:
      'The prices of appointments that have begun and whose status does not say how they ended.',
    better: 'less',
    tense: 'past',
    sum: { of: 'n * price', where: `outcome = 'UNCLOSED'` },
  },
  aheadValue: {
    label: 'Value ahead',
    column: 'aheadValue',
    unit: 'money',
    width: 10,
    definition: 'The prices of appointments that have not begun and were not cancelled.',
    better: 'more',
    tense: 'future',
    sum: { of: 'n * price', where: `outcome = 'AHEAD'` },
  },
  bookings: {
    label: 'Bookings made',
    column: 'bookings',
    unit: 'count',
    width: 7,
    definition: 'Appointments that were booked in the period, whenever they begin, in any status.',
    better: 'more',
    tense: 'past',
    sum: { of: 'n' },
  },
  bookingsValue: {
    label: 'Value booked',
    column: 'bookingsValue',
    unit: 'money',
    width: 10,
    definition: 'The prices of the appointments that were booked in the period, in any status.',
    better: 'more',
    tense: 'past',
    sum: { of: 'n * price' },
  },
  classes: {
    label: 'Classes',
    column: 'classes',
    unit: 'count',
    width: 6,
    definition: 'Classes that begin in the period and were not cancelled.',
    better: 'more',
    sum: { of: 'n', where: `outcome <> 'CANCELLED'` },
  },
  students: {
    label: 'Students',
    column: 'students',
    unit: 'count',
    width: 6,
    definition:
      'Places taken in classes that were not cancelled; a student in two classes counts twice.',
    better: 'more',
    sum: { of: 'enrolled', where: `outcome <> 'CANCELLED'` },
  },
  places: {
    label: 'Places',
    column: 'capacity',
    unit: 'count',
    width: 6,
    definition: 'The places of classes that were not cancelled, if their number is known.',
    sum: { of: 'capacity', where: `outcome <> 'CANCELLED'` },
  },
}

const COLUMN_TYPES: Record<Unit, ColumnType> = {
  count: 'integer',
  minutes: 'minutes',
  money: 'money',
  percent: 'percent',
}

/** The column of a measure, with its total. */
export function measureColumn(measure: MeasureName, others: Partial<Column> = {}): Column {
  const { label, labelInHours, column, unit, width, tense } = MEASURES[measure]
  return {
    name: column,
    label,
    ...(labelInHours ? { labelInHours } : {}),
    type: COLUMN_TYPES[unit],
    width,
    measure,
    total: 'sum',
    ...(tense ? { tense } : {}),
    ...(unit === 'money' ? { perCurrency: true } : {}),
    ...others,
  }
}

/** A column of counts. */
export const countColumn = (
  { name, label }: Pick<Column, 'name' | 'label'>,
  others: Partial<Column> = {},
): Column => ({ name, label, type: 'integer', width: 7, total: 'sum', ...others })

/** The column of a measure of some of the rows. Its total is only a part, so it does not name the measure. */
export function partColumn(measure: MeasureName, others: Partial<Column> = {}): Column {
  const { measure: _, ...column } = measureColumn(measure, others)
  return column
}

/** The figure of a measure, from `measureFigures`. */
export function measureKpi(measure: MeasureName, others: Partial<Kpi> = {}): Kpi {
  const { label, column, unit, definition, better, tense } = MEASURES[measure]
  return {
    name: column,
    label,
    unit,
    definition,
    measure,
    value: (figures) => figures[measure] ?? 0,
    ...(better ? { better } : {}),
    ...(tense ? { tense } : {}),
    ...chanceOf(measure),
    ...others,
  }
}

/** What a measure is a part of, in figures. */
const BASES: Partial<Record<MeasureName, (figures: Figures) => number | undefined>> = {
  missed: ({ kept, missed }) => (kept === undefined ? undefined : (kept ?? 0) + (missed ?? 0)),
  cancelled: ({ appointments }) => appointments ?? undefined,
  unclosed: ({ begun }) => begun ?? undefined,
}

/** The count of the prices in a sum. */
const COUNTED: Partial<Record<MeasureName, MeasureName>> = {
  value: 'appointments',
  revenue: 'kept',
  lostValue: 'missed',
  cancelledValue: 'cancelled',
  unclosedValue: 'unclosed',
  aheadValue: 'ahead',
  bookingsValue: 'bookings',
}

/** For a sum of n prices that differ about as much as their mean, as is usual. */
function chanceOf(measure: MeasureName): Pick<Kpi, 'base' | 'variance'> {
  const base = BASES[measure]
  const counted = COUNTED[measure]
  if (base) return { base }
  if (!counted) return {}
  return {
    variance: (figures) => {
      const count = figures[counted]
      return count ? (2 * (figures[measure] ?? 0) ** 2) / count : null
    },
  }
}

/** Rates of outcomes: a filter by status would decide them. */
const OF_OUTCOMES = { meaninglessWith: ['statusList'] } as const

export const keptRate: Kpi = rateKpi('completed', 'Kept rate', {
  definition: 'Kept appointments as a share of all whose time has come, also cancelled ones.',
  of: ({ kept, begun }) => [kept, begun],
  better: 'more',
  tense: 'past',
  ...OF_OUTCOMES,
})

export const noShowRate: Kpi = rateKpi('noShowRate', 'No-show rate', {
  explainedBy: 'missed',
  definition: 'Missed appointments as a share of kept and missed ones.',
  of: ({ kept, missed, unrated }) => [missed, (kept ?? 0) + (missed ?? 0) - (unrated ?? 0)],
  isNoShowRate: true,
  better: 'less',
  tense: 'past',
  ...OF_OUTCOMES,
})

/** The SQL of a no-show rate, from `selectMeasures`. */
export const NO_SHOW_RATE = raw('round(100.0 * missed / nullif(kept + missed - unrated, 0), 1)')

/** The part of `kept` that the rate of a line leaves out; its total needs it. */
export const unratedColumn = measureColumn('unrated', { ifUnratedFeeds: true })

export const noShowRateColumn = (others: Partial<Column> = {}): Column => ({
  name: 'noShowRate',
  label: 'No-show rate',
  type: 'percent',
  width: 7,
  tense: 'past',
  total: { percentOf: ['noShows', ['completed', 'noShows'], 'unrated'] },
  isNoShowRate: true,
  ...OF_OUTCOMES,
  ...others,
})

/** The SQL of measures as a list to select, from rows with the columns of `sum`. */
export const selectMeasures = (
  names: readonly MeasureName[],
  scope: Pick<Scope, 'currencies'>,
  nameOf: (name: MeasureName) => string = (name) => name,
): Sql =>
  join(
    names.flatMap((name) => aggregatesOf(name, nameOf(name), scope)),
    ', ',
  )

function aggregatesOf(name: MeasureName, as: string, { currencies }: Pick<Scope, 'currencies'>) {
  const { unit, sum } = MEASURES[name]
  if (!sum) throw new Error(`${name} is not a sum of rows`)
  if (unit !== 'money' || currencies.length < 2) return [aggregate(name, as)]
  return currencies.map((currency) =>
    aggregate(name, `${as}${currency}`, sql`currency = ${currency}`),
  )
}

function aggregate(name: MeasureName, as: string, condition?: Sql) {
  const { unit, sum } = MEASURES[name]
  const conditions = [...(sum!.where ? [raw(sum!.where)] : []), ...(condition ? [condition] : [])]
  const filter = conditions.length > 0 ? sql`filter (where ${join(conditions, ' and ')})` : raw('')
  const type = unit === 'money' ? '' : unit === 'minutes' ? '::float8' : '::bigint'
  return sql`coalesce(sum(${raw(sum!.of)}) ${filter}, 0)${raw(type)} as ${raw(`"${as}"`)}`
}

/** Measures that `selectMeasures` has computed, as the cells of their columns. Null becomes 0. */
export const selectCells = (
  names: readonly MeasureName[],
  { currencies }: Pick<Scope, 'currencies'>,
  write: (value: Sql, measure: MeasureName) => Sql = (value) => value,
): Sql[] =>
  names.flatMap((measure) => {
    const { column, unit } = MEASURES[measure]
    const suffixes = unit === 'money' && currencies.length > 1 ? currencies : ['']
    return suffixes.map((suffix) => {
      const value = write(raw(`coalesce("${measure}${suffix}", 0)`), measure)
      return sql`${value} as ${raw(`"${column}${suffix}"`)}`
    })
  })

/** The figures of one currency, without the currency in their names. */
export function inCurrency<T>(
  figures: Record<string, T>,
  currency: string,
  currencies: string[],
): Record<string, T> {
  const own = Object.entries(figures).flatMap(([name, value]): [string, T][] => {
    const other = currencies.find((one) => name.endsWith(one))
    if (other === undefined) return [[name, value]]
    return other === currency ? [[name.slice(0, -currency.length), value]] : []
  })
  return Object.fromEntries(own)
}
