import { join, raw, sql } from '../../database/sql.ts'
import { countKpi, type Groups, type Report, type Scope } from '../report.ts'
import { countsOverTime } from './charts.ts'
import { localAtAnyTime, statusesOf, joinNames } from './conditions.ts'
import {
  FUNNEL_CELLS,
  FUNNEL_COLUMNS,
  FUNNEL_COUNTS,
  funnelKpi,
  invitationNotes,
  invitationResults,
  invitedKpi,
  drillToInvitations,
} from './invitation-rows.ts'
import { timeOfStatus } from './status-history.ts'
import { MAIL_RESULTS } from './trigger-log.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

const STATES = [
  { state: 'COMPLETED', name: 'completed', label: 'Completed', tone: 'kept' },
  { state: 'OPEN', name: 'open', label: 'Open', tone: 'ahead' },
  { state: 'EXPIRED', name: 'expired', label: 'Expired', tone: 'missed' },
  { state: 'WITHDRAWN', name: 'withdrawn', label: 'Withdrawn', tone: 'cancelled' },
] as const

const wordsFor = (column: string, words: [key: string, word: string][]) =>
  sql`case ${raw(column)} ${join(
    words.map(([key, word]) => sql`when ${key} then ${word}`),
    ' ',
  )} end`

const completed = (scope: Scope) => ({
  object: 'invitation' as const,
  id: 'f.invitation_uuid',
  statuses: statusesOf('INVITATION', 'KEPT', scope),
})

/** Invitations have no location: their days are those of the business. */
const dayOf = (moment: string, scope: Scope) =>
  sql`to_char(${localAtAnyTime(moment, 'null::bigint', scope)}, 'YYYY-MM-DD')`

const groups: Groups = {
  columns: FUNNEL_COLUMNS,
  rows: invitationResults,
  cells: () => FUNNEL_CELLS,
}

export const invitations: Report = {
  reportId: 702,
  category: 'CLIENTS',
  reportName: 'Invitations',
  reportFileName: 'invitations',
  description:
    'All invitations of the period: whether the mail arrived, the client accepted, booked and came.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'invitations',
  columns: [
    { name: 'invitedOn', label: 'Invited', type: 'date', width: 10 },
    { name: 'campaign', label: 'Campaign', type: 'text', width: 18 },
    ...listColumns(['client', 'phone', 'emailAddress']),
    { name: 'mail', label: 'Mail', type: 'text', width: 14, fixedWords: true },
    { name: 'state', label: 'State', type: 'text', width: 9, fixedWords: true },
    { name: 'completedOn', label: 'Completed on', type: 'date', width: 10 },
    { name: 'expiresOn', label: 'Expires', type: 'date', width: 10 },
    { name: 'appointment', label: 'Appointment', type: 'text', width: 16, isDate: true },
    { name: 'visit', label: 'Result', type: 'text', width: 12, fixedWords: true },
  ],
  rows: (scope) => sql`
    select to_char(f.local_start, 'YYYY-MM-DD') as "invitedOn",
           f.campaign,
           ${cellsOf(['client', 'phone', 'emailAddress'])},
           ${wordsFor('f.mail', Object.entries(MAIL_RESULTS))} as mail,
           ${wordsFor(
             'f.state',
             STATES.map(({ state, label }) => [state, label]),
           )} as state,
           case when f.state = 'COMPLETED' then ${dayOf('f.completed_time', scope)} end as "completedOn",
           ${dayOf('f.expires_time', scope)} as "expiresOn",
           to_char(${localAtAnyTime('f.first_time', 'f.first_location', scope)}, 'YYYY-MM-DD HH24:MI') as appointment,
           case when f.came > 0 then 'Came' when f.bookings > 0 then 'Booked'
                when f.others > 0 then 'After the invitation' end as visit,
           f.invitation_uuid as "key_objectUUId"
    from (select f.*, ${timeOfStatus(completed(scope), scope)} as completed_time
          from (${invitationResults(scope)}) f) f
    ${joinNames('f', ['client'], scope)}
    order by f.created_date, f.invitation_uuid`,
  figures: (scope) => sql`
    select ${FUNNEL_COUNTS}, count(*) filter (where f.state = 'OPEN') as open
    from (${invitationResults(scope)}) f`,
  kpis: [
    invitedKpi,
    countKpi('open', 'Open', {
      definition: 'Invitations that are neither completed nor withdrawn, and have not expired.',
      tense: 'past',
      isNotComparable: true,
    }),
    funnelKpi('reached'),
    funnelKpi('completed'),
    funnelKpi('booked'),
    funnelKpi('came'),
    funnelKpi('after'),
  ],
  charts: [
    countsOverTime({
      name: 'invitations',
      title: 'Invitations',
      rows: invitationResults,
      series: STATES.map(({ state, label, tone }) => ({
        name: label,
        tone,
        where: `state = '${state}'`,
      })),
    }),
  ],
  groups,
  sentences: invitationNotes,
  drillDown: drillToInvitations(['objectUUId']),
}
