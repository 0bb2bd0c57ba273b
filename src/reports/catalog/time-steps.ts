import type { SeriesChart } from '../chart.ts'
import type { Unit } from '../chart.ts'
import type { Scope } from '../report.ts'

/** The steps of a chart over time. Long ranges have longer steps. */
export type Step = 'day' | 'week' | 'month'

export function stepOf({ startDate, endDate }: Scope): Step {
  const days = startDate.until(endDate, { largestUnit: 'days' }).days + 1
  return days <= 62 ? 'day' : days <= 400 ? 'week' : 'month'
}

type StepRow = { step: string } & Record<string, number | string | null>

/** A chart over the whole range. Steps without rows have the value 0. */
export function chartOverTime(
  scope: Scope,
  rows: Record<string, unknown>[],
  chart: Pick<SeriesChart, 'kind' | 'name' | 'title'> & {
    stacked?: boolean
    unit: Unit
    series: { name: string; column: string }[]
  },
): SeriesChart {
  const step = stepOf(scope)
  const byStep = new Map((rows as StepRow[]).map((row) => [row.step, row]))
  const steps = stepsOf(scope, step)
  return {
    kind: chart.kind,
    name: chart.name,
    title: `${chart.title} by ${step}`,
    unit: chart.unit,
    ...(chart.stacked ? { stacked: true } : {}),
    labels: steps.map((date) => labelOf(date, step, scope)),
    series: chart.series.map(({ name, column }) => ({
      name,
      values: steps.map((date) => Number(byStep.get(date.toString())?.[column] ?? 0)),
    })),
  }
}

function stepsOf({ startDate, endDate }: Scope, step: Step) {
  const steps: Temporal.PlainDate[] = []
  const first =
    step === 'day'
      ? startDate
      : step === 'week'
        ? startDate.subtract({ days: startDate.dayOfWeek - 1 })
        : startDate.with({ day: 1 })
  for (
    let at = first;
    Temporal.PlainDate.compare(at, endDate) <= 0;
    at = at.add({ [`${step}s`]: 1 })
  ) {
    steps.push(at)
  }
  return steps
}

function labelOf(date: Temporal.PlainDate, step: Step, { startDate, endDate }: Scope) {
  const text = date.toString()
  if (step === 'month') return text.slice(0, 7)
  const oneMonth = step === 'day' && startDate.toPlainYearMonth().equals(endDate.toPlainYearMonth())
  return oneMonth ? text.slice(8) : text.slice(5)
}
