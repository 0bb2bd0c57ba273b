import type { SeriesChart, Tone, Unit } from './chart.ts'
import type { DateRange, Scope } from './report.ts'

/** The steps of a chart over time. Long ranges have longer steps. */
export type Step = 'day' | 'week' | 'month'

export function stepOf(range: DateRange): Step {
  const days = countDays(range)
  return days <= 62 ? 'day' : days <= 400 ? 'week' : 'month'
}

const countDays = ({ startDate, endDate }: DateRange) =>
  startDate.until(endDate, { largestUnit: 'days' }).days + 1

/** The step of lines over time: months if the range is longer than a quarter. */
export const linesOf = (range: DateRange): Step => (countDays(range) <= 92 ? 'day' : 'month')

type StepRow = { step: string } & Record<string, number | string | null>

/** A chart over the whole range. Steps without rows have the value 0. */
export function chartOverTime(
  scope: Scope,
  rows: Record<string, unknown>[],
  chart: Pick<SeriesChart, 'kind' | 'name' | 'title'> & {
    stacked?: boolean
    unit: Unit
    series: { name: string; column: string; tone?: Tone }[]
  },
): SeriesChart {
  const step = stepOf(scope)
  const first = firstStepAhead(scope, step)
  const byStep = new Map((rows as StepRow[]).map((row) => [row.step, row]))
  const steps = stepsOf(scope, step)
  return {
    kind: chart.kind,
    name: chart.name,
    title: `${chart.title} by ${step}`,
    unit: chart.unit,
    ...(chart.stacked ? { stacked: true } : {}),
    labels: steps.map((date) => labelOf(date, step, scope)),
    steps: { step, dates: steps.map(String) },
    series: chart.series.map(({ name, column, tone }) => ({
      name,
      ...(tone ? { tone } : {}),
      values: steps.map((date) => {
        const value = byStep.get(date.toString())?.[column]
        // Future values are unknown, not zero.
        const isUnknown = tone !== 'ahead' && Temporal.PlainDate.compare(date, first) >= 0
        return value === undefined || value === null ? (isUnknown ? null : 0) : Number(value)
      }),
    })),
  }
}

/** The first step that begins after today. */
const firstStepAhead = (scope: Scope, step: Step) =>
  currentStep(scope, step).add({ [`${step}s`]: 1 })

/** The first day of the current step. */
export const currentStep = ({ now, timeZone }: Scope, step: Step) =>
  stepStart(now.toZonedDateTimeISO(timeZone).toPlainDate(), step)

/** The first days of the steps of a range. */
export function stepsOf({ startDate, endDate }: DateRange, step: Step) {
  const steps: Temporal.PlainDate[] = []
  for (
    let at = stepStart(startDate, step);
    Temporal.PlainDate.compare(at, endDate) <= 0;
    at = at.add({ [`${step}s`]: 1 })
  ) {
    steps.push(at)
  }
  return steps
}

function stepStart(date: Temporal.PlainDate, step: Step) {
  if (step === 'day') return date
  return step === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })
}

function labelOf(date: Temporal.PlainDate, step: Step, { startDate, endDate }: Scope) {
  const text = date.toString()
  if (step === 'month') return text.slice(0, 7)
  const oneMonth = step === 'day' && startDate.toPlainYearMonth().equals(endDate.toPlainYearMonth())
  return oneMonth ? text.slice(8) : text.slice(5)
}
