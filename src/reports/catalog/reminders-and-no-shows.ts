import { join, raw, sql } from '../../database/sql.ts'
import { compareReminded, wilsonInterval, type Counted, type Stratum } from '../difference.ts'
import { countKpi, percent, rateKpi, type Figures, type Report, type Scope } from '../report.ts'
import { REMINDER_GROUPS, reminderCounts, writeDifference, remindedRows } from './reminder-rows.ts'
import { appointmentObjects } from './objects.ts'
import { drillToAppointments } from './appointments.ts'
import { appointmentRows } from './conditions.ts'

const STRATA = [0, 1, 2, 3, 4, 5, 6, 7]
const SIDES = { reached: `reminded = 'REACHED'`, others: `reminded in ('TRIED', 'NOT_ASKED')` }
type Side = keyof typeof SIDES

/** The counts of each stratum and side, each under a name of its own. */
const strataColumns = STRATA.flatMap((stratum) =>
  (Object.keys(SIDES) as Side[]).flatMap((side) =>
    (['total', 'missed'] as const).map((part) =>
      raw(
        `coalesce(sum(${part}) filter (where ${SIDES[side]} and stratum = ${stratum}), 0)::bigint as "${side}${stratum}${part}"`,
      ),
    ),
  ),
)

/** The counts of each group, each with the figures: the table and the figures share one statement. */
const groupsWithFigures = (scope: Scope) => sql`
  with c as (${reminderCounts(scope)})
  select lines.*, figures.*
  from (select g.place, g.reminded as key_line, g.label as "group",
               coalesce(sum(c.total), 0)::bigint as total,
               coalesce(sum(c.missed), 0)::bigint as missed, coalesce(sum(c.freed), 0)::bigint as freed
        from unnest(${Object.keys(REMINDER_GROUPS)}::text[], ${Object.values(REMINDER_GROUPS)}::text[])
               with ordinality g (reminded, label, place)
        left join c using (reminded)
        group by g.place, g.label, g.reminded) lines,
       (select ${join(strataColumns, ', ')}, coalesce(sum(freed), 0)::bigint as "allFreed" from c) figures
  order by place`

const countIn = (figures: Figures, side: Side, stratum: number): Counted => ({
  total: figures[`${side}${stratum}total`] ?? 0,
  missed: figures[`${side}${stratum}missed`] ?? 0,
})

const strataIn = (figures: Figures): Stratum[] =>
  STRATA.map((stratum) => ({
    reached: countIn(figures, 'reached', stratum),
    others: countIn(figures, 'others', stratum),
  }))

const missedOf =
  (side: Side) =>
  (figures: Figures): [number, number] => {
    const counts = STRATA.map((stratum) => countIn(figures, side, stratum))
    const sum = (part: keyof Counted) => counts.reduce((all, one) => all + one[part], 0)
    return [sum('missed'), sum('total')]
  }

const toTenth = (value: number) => Math.round(value * 10) / 10

/** A filter by status would decide how many were missed. */
const OF_OUTCOMES = { tense: 'past', meaninglessWith: ['statusList'] } as const

export const remindersAndNoShows: Report = {
  reportId: 904,
  category: 'AUTOMATION',
  reportName: 'Reminders and no-shows',
  reportFileName: 'reminders-and-no-shows',
  description:
    'How often clients missed appointments with and without a reminder, and whether the difference can be told.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'group', label: 'Appointments', type: 'text', width: 34, fixedWords: true },
    { name: 'total', label: 'Kept or missed', type: 'integer', width: 8 },
    { name: 'missed', label: 'Missed', type: 'integer', width: 7 },
    {
      name: 'rate',
      label: 'No-show rate',
      type: 'percent',
      width: 8,
      isNoShowRate: true,
      ...OF_OUTCOMES,
    },
    { name: 'low', label: 'From', type: 'percent', width: 7, ...OF_OUTCOMES },
    { name: 'high', label: 'To', type: 'percent', width: 7, ...OF_OUTCOMES },
    { name: 'freed', label: 'Cancelled after a reminder', type: 'integer', width: 9 },
  ],
  rows: groupsWithFigures,
  completeRow: (row) => {
    const counted = { total: Number(row.total), missed: Number(row.missed) }
    const interval = wilsonInterval(counted)
    return {
      ...row,
      rate: percent(counted.missed, counted.total),
      low: interval && toTenth(interval.low),
      high: interval && toTenth(interval.high),
    }
  },
  figures: groupsWithFigures,
  kpis: [
    {
      name: 'difference',
      label: 'Difference',
      unit: 'percent',
      definition:
        'Percentage points that the no-show rate differs with a reminder from without one, among appointments booked before the reminder was due, standardised by lead time (under 3, 8, 31 days, longer) and by new or returning client. Empty while it cannot be told: at least 100 appointments on each side and a 99 % interval without zero. The intervals of the table are Wilson intervals at 95 %.',
      value: (figures) => {
        const difference = compareReminded(strataIn(figures))
        return difference?.isSignificant ? toTenth(difference.points) : null
      },
      describe: (figures, { say, locale }) => {
        const difference = compareReminded(strataIn(figures as Figures))
        if (!difference?.isSignificant) return say('not yet known')
        const size = Math.abs(toTenth(difference.points)).toLocaleString(locale)
        const points = `${difference.points < 0 ? '−' : '+'}${size}`
        return say('{points} points', { points })
      },
      better: 'less',
      ...OF_OUTCOMES,
    },
    rateKpi('withReminder', 'Missed with a reminder', {
      definition:
        'No-show rate of appointments whose client was reached: a mail server accepted a reminder before the appointment and did not return it.',
      of: missedOf('reached'),
      better: 'less',
      ...OF_OUTCOMES,
    }),
    rateKpi('withoutReminder', 'Missed without one', {
      definition:
        'No-show rate of appointments without a reminder that reached the client, without those that were booked too late for one.',
      of: missedOf('others'),
      ...OF_OUTCOMES,
    }),
    countKpi('freed', 'Freed slots', {
      definition: 'Appointments that were cancelled after a reminder had reached the client.',
      of: 'allFreed',
    }),
  ],
  sentences: {
    rows: groupsWithFigures,
    write: ([figures], { statuses }, words) =>
      statuses ? [] : [writeDifference(strataIn(figures as Figures), words)],
  },
  charts: [
    {
      meaninglessWith: ['statusList'],
      draw: (rows) => [
        {
          kind: 'bar',
          named: true,
          name: 'noShowRates',
          title: 'No-show rate (%)',
          unit: 'percent',
          fixedWords: true,
          labels: rows.map((row) => String(row.group)),
          series: [
            {
              name: 'No-show rate',
              tone: 'missed',
              values: rows.map((row) => percent(Number(row.missed), Number(row.total))),
            },
          ],
        },
      ],
    },
  ],
  drillDown: drillToAppointments(['line'], {
    objects: (scope) => sql`
      select o.*, g.reminded as line, g.freed from (${appointmentObjects(appointmentRows(scope))}) o
      join (${remindedRows(scope)}) g using (calendar_id)`,
    figures: {
      total: { where: `outcome in ('KEPT', 'MISSED')` },
      missed: { where: `outcome = 'MISSED'` },
      freed: { where: 'freed' },
    },
  }),
}
