import { join, raw, sql } from '../../database/sql.ts'
import { partColumn, selectCells, selectMeasures } from '../measures.ts'
import type { Report, Scope } from '../report.ts'
import { barsOf } from './charts.ts'
import {
  creditedBookings,
  FUNNEL,
  FUNNEL_CELLS,
  FUNNEL_COLUMNS,
  FUNNEL_COUNTS,
  funnelKpi,
  invitationNotes,
  invitationResults,
  invitedKpi,
  drillToInvitations,
} from './invitation-rows.ts'

/** A booking without the link is not a step of the campaign. */
const STEPS = FUNNEL.filter(({ name }) => name !== 'after')

export const campaignFunnel: Report = {
  reportId: 701,
  category: 'CLIENTS',
  reportName: 'Campaign funnel',
  reportFileName: 'campaign-funnel',
  description:
    'The campaigns that clients were invited with in the period: how many were reached, booked and came.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'invitations',
  columns: [
    { name: 'campaign', label: 'Campaign', type: 'text', width: 24 },
    { name: 'firstInvited', label: 'From', type: 'date', width: 10 },
    { name: 'lastInvited', label: 'To', type: 'date', width: 10 },
    ...FUNNEL_COLUMNS,
    partColumn('revenue', { label: 'Their revenue' }),
  ],
  rows: (scope) => sql`
    with counted as (
      select f.invitation_campaign_id, f.campaign, to_char(min(f.local_start), 'YYYY-MM-DD') as first_invited,
             to_char(max(f.local_start), 'YYYY-MM-DD') as last_invited, ${FUNNEL_CELLS}
      from (${invitationResults(scope)}) f group by 1, 2
    ),
    earned as (
      select b.invitation_campaign_id, ${selectMeasures(['revenue'], scope)}
      from (${creditedBookings(scope)}) b group by 1
    )
    select campaign, first_invited as "firstInvited", last_invited as "lastInvited",
           ${raw(FUNNEL_COLUMNS.map(({ name }) => `"${name}"`).join(', '))},
           ${join(selectCells(['revenue'], scope), ', ')},
           invitation_campaign_id as key_line
    from counted left join earned using (invitation_campaign_id)
    order by first_invited desc, campaign collate name_order, invitation_campaign_id`,
  figures: (scope) => sql`
    select s.*, e.*
    from (select ${FUNNEL_COUNTS} from (${invitationResults(scope)}) f) s,
         (select ${selectMeasures(['revenue'], scope)} from (${creditedBookings(scope)}) b) e`,
  kpis: [
    invitedKpi,
    funnelKpi('reached'),
    funnelKpi('completed'),
    funnelKpi('booked'),
    funnelKpi('came'),
    funnelKpi('after'),
    {
      name: 'campaignRevenue',
      label: 'Their revenue',
      unit: 'money',
      definition:
        'The prices, at the time of booking, of kept appointments that were booked by the link.',
      value: ({ revenue }) => revenue ?? 0,
      better: 'more',
      tense: 'past',
      isNotComparable: true,
    },
  ],
  charts: [
    {
      rows: (scope: Scope) => sql`select ${FUNNEL_COUNTS} from (${invitationResults(scope)}) f`,
      draw: ([counts = {}]) => [
        {
          kind: 'bar',
          name: 'funnel',
          title: 'From the invitation to the visit',
          unit: 'count',
          fixedWords: true,
          labels: STEPS.map(({ label }) => label),
          series: [{ name: 'Invitations', values: STEPS.map(({ name }) => Number(counts[name])) }],
        },
      ],
    },
    {
      draw: (rows) => [
        barsOf(rows, {
          name: 'byCampaign',
          title: 'Share of the invited (%)',
          label: 'campaign',
          series: [
            { name: 'Booked', tone: 'ahead', column: 'bookedRate' },
            { name: 'Came', tone: 'kept', column: 'cameRate' },
          ],
          unit: 'percent',
          size: 'invited',
        }),
      ],
    },
  ],
  prices: creditedBookings,
  sentences: invitationNotes,
  drillDown: drillToInvitations(['line']),
}
