import type { Figures, Kpi, Trend } from './report.ts'

type Compared = {
  now: Figures
  before: Figures
  /** The lengths of both periods, which can differ by some days. */
  days: { now: number; before: number }
}

/** 99 %: at 95 %, one coloured figure in twenty would be chance. */
const Z_99 = 2.575829

/**
 * Compares a figure with that of the period before: a count by itself per day, or as a share of its base;
 * a share of counted things as a share. Figures whose chance is unknown, such as medians, have no trend.
 */
export function trendOf(kpi: Kpi, { now, before, days }: Compared): Trend {
  if (!kpi.better) return null
  const current = estimate(kpi, now, days.now)
  const earlier = estimate(kpi, before, days.before)
  if (!current || !earlier) return null
  const delta = current.value - earlier.value
  const isBeyondChance = Math.abs(delta) > Z_99 * Math.sqrt(current.variance + earlier.variance)
  if (!isBeyondChance) return null
  return delta > 0 === (kpi.better === 'more') ? 'better' : 'worse'
}

/** A value that can be compared, and how much chance varies it. */
type Estimate = { value: number; variance: number }

function estimate(kpi: Kpi, figures: Figures, days: number): Estimate | undefined {
  const value = kpi.value(figures)
  if (value === null) return undefined
  if (kpi.share) return estimateShare(...kpi.share(figures))
  if (kpi.variance) {
    const variance = kpi.variance(figures)
    return variance === null ? undefined : { value, variance }
  }
  if (kpi.unit !== 'count') return undefined
  const base = kpi.base?.(figures)
  return base ? estimateShare(value, base) : estimateRate(value, days)
}

/** Adds one on each side, so that the variance is not 0 for a share of 0 or of all. */
function estimateShare(part: Count, whole: Count): Estimate | undefined {
  if (!whole) return undefined
  const share = ((part ?? 0) + 1) / (whole + 2)
  return { value: (part ?? 0) / whole, variance: (share * (1 - share)) / whole }
}

type Count = number | null | undefined

/** Events of a Poisson process: their variance is their number. */
const estimateRate = (count: number, days: number): Estimate => ({
  value: count / days,
  variance: Math.max(count, 1) / days ** 2,
})
