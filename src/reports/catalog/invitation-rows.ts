import { countColumn } from '../measures.ts'
import { empty, raw, sql, type Sql } from '../../database/sql.ts'
import {
  countKpi,
  type Column,
  type DrillDown,
  type KeyName,
  type Kpi,
  type Scope,
  type SentenceSource,
  rateKpi,
} from '../report.ts'
import { mailOutcome } from './automation-rows.ts'
import {
  anyOf,
  inRange,
  local,
  NO_CURRENCY,
  outcomeOf,
  statusesOf,
  tagged,
  isNarrowed,
} from './conditions.ts'

/** For an invitation that does not expire, bookings within this time count as following it. */
export const MAX_FOLLOW_DAYS = 90

/**
 * The invitations of the scope that were made in its range, one row each. `state` is OPEN, COMPLETED,
 * EXPIRED or WITHDRAWN. A booking before `follow_until` follows this invitation and no other one.
 */
export const invitationRows = (scope: Scope) => sql`
  select r.*, least(r.created_date + make_interval(days => ${MAX_FOLLOW_DAYS}), r.expires_time, (
           select min(n.created_date) from invitation n
           where n.business_id = ${scope.businessId} and n.client_id = r.client_id and n.active
             and (n.created_date, n.invitation_uuid) > (r.created_date, r.invitation_uuid)
             and not n.status = any (${statusesOf('INVITATION', 'CANCELLED', scope)}::text[]))) as follow_until
  from (select i.invitation_uuid, i.invitation_campaign_id, i.client_id, i.created_date, g.name as campaign,
               coalesce(i.expires_time, g.expires_time) as expires_time,
               ${local('i.created_date', 'null::bigint', scope)} as local_start,
               case when i.status = any (${statusesOf('INVITATION', 'CANCELLED', scope)}::text[]) then 'WITHDRAWN'
                    when i.status = any (${statusesOf('INVITATION', 'KEPT', scope)}::text[]) then 'COMPLETED'
                    when i.status = any (${statusesOf('INVITATION', 'MISSED', scope)}::text[])
                      or coalesce(i.expires_time, g.expires_time) <= ${scope.now} then 'EXPIRED'
                    else 'OPEN' end as state
        from invitation i
        join invitation_campaign g using (business_id, invitation_campaign_id)
        where i.business_id = ${scope.businessId} and i.active
          and ${inRange('i.created_date', 'null::bigint', scope)}
          ${anyOf('i.client_id', scope.clientIds)} ${anyOf('i.status', scope.statuses, 'text')}
          ${tagged('i', scope)} ${isNarrowed(scope) ? sql`and false` : empty}) r`

/**
 * The appointments that were booked by the link of an invitation, and those that followed it without the
 * link, one row each, with the columns for `selectMeasures`.
 */
const bookingsAfter = (scope: Scope) => sql`
  with i as (select i.* from (${invitationRows(scope)}) i where i.state <> 'WITHDRAWN')
  ${bookingsOf(
    scope,
    raw('true as by_link'),
    raw('c.invitation_uuid = i.invitation_uuid and c.invitation_uuid is not null'),
  )}
  union all
  ${bookingsOf(
    scope,
    raw('false'),
    raw(
      'c.client_id = i.client_id and c.invitation_uuid is null and c.booked_time >= i.created_date and c.booked_time < i.follow_until',
    ),
  )}`

const bookingsOf = (scope: Scope, byLink: Sql, isOf: Sql) => sql`
  select i.invitation_uuid, i.invitation_campaign_id, c.start_time, c.location_id, 1 as n, c.price,
         coalesce(c.currency, ${NO_CURRENCY}) as currency, ${outcomeOf('c', 'CALENDAR', scope)} as outcome, ${byLink}
  from i
  join calendar c on c.business_id = ${scope.businessId} and ${isOf} and c.active and c.booked_time <= ${scope.now}`

/** The appointments that a campaign is credited with. */
export const creditedBookings = (scope: Scope) => sql`
  select b.* from (${bookingsAfter(scope)}) b where b.by_link`

/** The result of an invitation is the first of these that one of its mails has. */
const BEST_RESULTS = [
  'ACCEPTED',
  'BOUNCED',
  'FAILED',
  'WAITING',
  'CAPTURED',
  'SUPPRESSED',
  'CANCELLED',
]

/** Each invitation with the result of its mails, the appointments by its link and the others after it. */
export const invitationResults = (scope: Scope) => sql`
  select i.*, m.mail, b.bookings, b.came, b.others, b.first_time, b.first_location
  from (${invitationRows(scope)}) i
  left join lateral (
    select (array_agg(o.result order by array_position(${BEST_RESULTS}::text[], o.result)))[1] as mail
    from (select ${mailOutcome('e')} as result from email e
          where e.business_id = ${scope.businessId} and e.client_id = i.client_id
            and e.object_type = 'INVITATION' and e.object_uuid = i.invitation_uuid and not e.test) o) m on true
  left join (
    select invitation_uuid, count(*) filter (where by_link) as bookings,
           count(*) filter (where by_link and outcome = 'KEPT') as came,
           count(*) filter (where not by_link) as others,
           (array_agg(start_time order by by_link desc, start_time))[1] as first_time,
           (array_agg(location_id order by by_link desc, start_time))[1] as first_location
    from (${bookingsAfter(scope)}) c group by 1) b using (invitation_uuid)`

/** The steps from the invitation to the visit. Each is a condition of `invitationResults` `f`. */
export const FUNNEL = [
  {
    name: 'invited',
    label: 'Invited',
    where: `f.state <> 'WITHDRAWN'`,
    definition: 'Invitations that were made in the period and not withdrawn.',
  },
  {
    name: 'reached',
    label: 'Reached',
    where: `f.state <> 'WITHDRAWN' and f.mail = 'ACCEPTED'`,
    definition: 'Invited clients with a mail that a mail server accepted and did not return.',
  },
  {
    name: 'completed',
    label: 'Completed',
    where: `f.state = 'COMPLETED'`,
    definition: 'Invitations whose status counts as kept.',
  },
  {
    name: 'booked',
    label: 'Booked',
    where: `f.bookings > 0`,
    definition: 'Invitations by whose link an appointment was booked.',
  },
  {
    name: 'came',
    label: 'Came',
    where: `f.came > 0`,
    definition: 'Invitations with such an appointment that was kept.',
  },
  {
    name: 'after',
    label: 'After the invitation',
    where: `f.others > 0 and f.bookings = 0`,
    definition: `Invitations without a booking by their link, but with an appointment of the client that was booked after them: before they expire, before the next invitation of the client, and at most ${MAX_FOLLOW_DAYS} days later. The client may have booked for another reason.`,
  },
] as const

type Step = (typeof FUNNEL)[number]['name']

const countOf = ({ where }: { where: string }) => `count(*) filter (where ${where})`

/** The number of each step, from `invitationResults` `f`. */
export const FUNNEL_COUNTS = raw(
  FUNNEL.map((step) => `${countOf(step)} as ${step.name}`).join(', '),
)

const RATES = [
  { name: 'bookedRate', label: 'Booked share', of: 'booked' },
  { name: 'cameRate', label: 'Came share', of: 'came' },
] as const

const stepOf = (name: Step) => FUNNEL.find((step) => step.name === name)!

/** The columns of all steps, and the shares of the invited that booked and came. */
export const FUNNEL_COLUMNS: Column[] = [
  ...FUNNEL.map((step) => countColumn(step)),
  ...RATES.map(({ name, label, of }): Column => ({
    name,
    label,
    type: 'percent',
    width: 7,
    total: { percentOf: [of, 'invited'] },
  })),
]

/** The cells of these columns, from `invitationResults` `f`. */
export const FUNNEL_CELLS = sql`
  ${FUNNEL_COUNTS},
  ${raw(
    RATES.map(
      ({ name, of }) =>
        `round(100.0 * ${countOf(stepOf(of))} / nullif(${countOf(FUNNEL[0])}, 0), 1) as "${name}"`,
    ).join(', '),
  )}`

export const invitedKpi: Kpi = countKpi('invited', 'Invited', {
  definition: FUNNEL[0].definition,
  tense: 'past',
})

/** The share of the invited that reached a step. Not compared: earlier periods have had more time. */
export const funnelKpi = (name: Exclude<Step, 'invited'>) =>
  rateKpi(name, stepOf(name).label, {
    definition: `${stepOf(name).definition} As a share of the invited.`,
    of: (figures) => [figures[name], figures.invited],
    better: 'more',
    tense: 'past',
    isNotComparable: true,
    ...(name === 'completed' ? { meaninglessWith: ['statusList'] } : {}),
  })

/** An empty report must say why it is empty. */
export const invitationNotes: SentenceSource = {
  rows: () => sql`select`,
  write: (_, scope, { say }) =>
    isNarrowed(scope)
      ? [
          say(
            'Invitations belong to the whole business: a report of some locations or staff has none.',
          ),
        ]
      : [],
}

/** The invitations that the figures count. */
export const drillToInvitations = (keys: KeyName[]): DrillDown => ({
  objects: (scope) => sql`
    select f.*, f.state as status, 'INVITATION' as object_type, null::bigint as object_id,
           f.invitation_uuid as object_uuid, null::bigint as event_trigger_id, null::bigint as email_id,
           null::bigint as professional_id, null::bigint as reason_id, null::bigint as location_id,
           f.created_date as time, f.campaign as name, f.invitation_uuid as row_key,
           f.invitation_campaign_id::text as line
    from (${invitationResults(scope)}) f`,
  keys: () => keys,
  figures: {
    ...Object.fromEntries(
      FUNNEL.map(({ name, where }) => [name, { where: where.replaceAll('f.', '') }]),
    ),
    open: { where: `state = 'OPEN'` },
  },
})
