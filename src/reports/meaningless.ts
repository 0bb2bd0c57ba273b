import type { FilterName } from '../contract/report.ts'
import { sql } from '../database/sql.ts'
import type { AppliedFilters, Report, Scope } from './report.ts'
import type { Words } from './words.ts'

export const FILTER_WORDS: Record<FilterName, string> = {
  locationIdList: 'location',
  professionalIdList: 'staff',
  reasonIdList: 'service',
  clientIdList: 'client',
  statusList: 'status',
  tags: 'tag',
}

type Part = { label: string; meaninglessWith?: readonly FilterName[] }

/**
 * Removes figures that the filters make meaningless, such as a no-show rate of no-shows, with a note. Also
 * removes future figures from a past range, and columns of the past from a future range. A report that
 * looks ahead has no rows for a range that has ended.
 */
export function leaveOutMeaningless(
  report: Report,
  scope: Scope,
  filters: AppliedFilters,
  { say }: Words,
) {
  const hasEnded = Temporal.Instant.compare(scope.until, scope.now) <= 0
  const hasBegun = Temporal.Instant.compare(scope.from, scope.now) <= 0
  const deciding = ({ meaninglessWith = [] }: Pick<Part, 'meaninglessWith'>) =>
    meaninglessWith.filter((name) => filters[name] !== undefined)
  const isShown = (part: Part & { tense?: 'past' | 'future' }) =>
    deciding(part).length === 0 && !(hasEnded && part.tense === 'future')
  const lost = [...report.kpis, ...report.columns].flatMap((part): [string, string][] =>
    deciding(part).length > 0
      ? [
          [
            part.label,
            deciding(part)
              .map((name) => say(FILTER_WORDS[name]))
              .join(say(' and ')),
          ],
        ]
      : [],
  )
  const notes = [...new Map(lost)].map(([label, filter]) =>
    say('{label} is left out: with a filter by {filter} it would have no meaning.', {
      label: say(label),
      filter,
    }),
  )
  const isTooLate = report.looksAhead === true && hasEnded
  if (isTooLate) {
    notes.push(say('This report looks ahead, and the period has ended: choose days from today on.'))
  }
  return {
    notes,
    report: {
      ...report,
      // Names without figures would say nothing.
      ...(isTooLate && {
        rows: (of: Scope) => sql`select * from (${report.rows(of)}) r where false`,
      }),
      kpis: report.kpis.filter(isShown),
      columns: report.columns.filter(
        (column) => isShown(column) && (hasBegun || column.tense !== 'past'),
      ),
      charts: report.charts.filter((chart) => deciding(chart).length === 0),
    },
  }
}
