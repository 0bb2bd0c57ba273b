import type { Chart } from '../chart.ts'
import type { ChartSource } from '../report.ts'

const MAX_BARS = 12

/** How appointments ended, for the lines of a report with the most appointments. */
export const drawOutcomesBy = (column: string, title: string): ChartSource => ({
  draw: (rows): Chart[] => {
    const largest = rows
      .toSorted((a, b) => Number(b.appointments) - Number(a.appointments))
      .slice(0, MAX_BARS)
    const valuesOf = (name: string) => largest.map((row) => Number(row[name]))
    return [
      {
        kind: 'bar',
        named: true,
        name: 'appointments',
        title: largest.length < rows.length ? `${title}, the ${MAX_BARS} with the most` : title,
        unit: 'count',
        stacked: true,
        labels: largest.map((row) => String(row[column])),
        series: [
          { name: 'Kept', tone: 'kept', values: valuesOf('completed') },
          { name: 'No-show', tone: 'missed', values: valuesOf('noShows') },
          { name: 'Cancelled', tone: 'cancelled', values: valuesOf('cancelled') },
          { name: 'Not closed', tone: 'unclosed', values: valuesOf('unclosed') },
          { name: 'Booked ahead', tone: 'ahead', values: valuesOf('ahead') },
        ],
      },
    ]
  },
})
