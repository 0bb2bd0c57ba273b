import { countColumn } from '../measures.ts'
import { barsOf, countsOverTime } from './charts.ts'
import { join, raw, sql } from '../../database/sql.ts'
import { countKpi, rateKpi, type Groups, type Report, type Scope } from '../report.ts'
import {
  anyOf,
  inRange,
  local,
  localAtAnyTime,
  ofScope,
  statusesOf,
  tagged,
  todayAt,
  joinNames,
} from './conditions.ts'
import { timeOfStatus } from './status-history.ts'
import { NOT_AUTOMATED } from './objects.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** The states of a form, by the outcome of its status; also the columns of a group, in this order. */
const STATES = [
  { name: 'signed', label: 'Signed', outcome: 'KEPT', tone: 'kept' },
  { name: 'outstanding', label: 'Outstanding', outcome: 'PENDING', tone: 'unclosed' },
  { name: 'notSigned', label: 'Not signed', outcome: 'MISSED', tone: 'missed' },
  { name: 'waived', label: 'Waived', outcome: 'CANCELLED', tone: 'cancelled' },
] as const

const stateOf = (scope: Scope) =>
  join(
    STATES.map(
      ({ name, outcome }) =>
        sql`when d.status = any (${statusesOf('DISCLAIMER', outcome, scope)}::text[]) then ${name}`,
    ),
    ' ',
  )

/** The forms that were requested in the period, one row each. The location is that of the appointment. */
const formRows = (scope: Scope) => sql`
  select d.disclaimer_id, d.disclaimer_form_id, d.client_id, d.status, d.created_date,
         c.professional_id, c.reason_id, c.location_id, c.start_time as appointment_time,
         ${local('d.created_date', 'c.location_id', scope)} as local_start,
         case ${stateOf(scope)} else 'outstanding' end as state
  from disclaimer d
  left join calendar c on (c.business_id, c.calendar_id) = (d.business_id, d.calendar_id)
  where d.business_id = ${scope.businessId} and d.active
    and ${inRange('d.created_date', 'c.location_id', scope)}
    ${ofScope('c', scope)} ${anyOf('d.client_id', scope.clientIds)}
    ${anyOf('d.status', scope.statuses, 'text')} ${tagged('d', scope)}`

/** Each form with the day of its signature, and the days from the request to it or until today. */
const datedForms = (scope: Scope) => {
  const signed = {
    object: 'disclaimer' as const,
    id: 'f.disclaimer_id',
    statuses: statusesOf('DISCLAIMER', 'KEPT', scope),
  }
  return sql`
    select g.*, case when g.state = 'signed' then g.signed_day - g.local_start::date
                     when g.state = 'outstanding' then ${todayAt('g.location_id', scope)} - g.local_start::date
                end as days
    from (select f.*, ${localAtAnyTime('f.signed_time', 'f.location_id', scope)}::date as signed_day
          from (select f.*, case when f.state = 'signed' then ${timeOfStatus(signed, scope)} end as signed_time
                from (${formRows(scope)}) f) f) g`
}

const isInState = (name: string) => `state = '${name}'`

const COUNTS = join(
  [
    sql`count(f.disclaimer_id) as requested`,
    ...STATES.map(({ name }) => raw(`count(*) filter (where ${isInState(name)}) as "${name}"`)),
  ],
  ', ',
)

/** Waived forms need no signature. */
const TO_SIGN = ['signed', 'outstanding', 'notSigned']

const groups: Groups = {
  columns: [
    { name: 'requested', label: 'Requested', type: 'integer', width: 7, total: 'sum' },
    ...STATES.map((state) => countColumn(state)),
    {
      name: 'signedRate',
      label: 'Signed share',
      type: 'percent',
      width: 7,
      total: { percentOf: ['signed', TO_SIGN] },
      meaninglessWith: ['statusList'],
    },
  ],
  rows: formRows,
  cells: () => sql`
    ${COUNTS},
    round(100.0 * count(*) filter (where f.state = 'signed')
          / nullif(count(*) filter (where f.state <> 'waived'), 0), 1) as "signedRate"`,
}

const STATE_WORDS = join(
  STATES.map(({ name, label }) => raw(`when '${name}' then '${label}'`)),
  ' ',
)

export const forms: Report = {
  reportId: 801,
  category: 'CLIENTS',
  reportName: 'Forms signed and outstanding',
  reportFileName: 'forms',
  description:
    'All forms that clients were asked to sign in the period, those that are outstanding first.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'disclaimers',
  columns: [
    { name: 'requestedOn', label: 'Requested', type: 'date', width: 10 },
    { name: 'form', label: 'Form', type: 'text', width: 18 },
    ...listColumns(['client', 'phone', 'emailAddress']),
    { name: 'appointment', label: 'Appointment', type: 'text', width: 16, isDate: true },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'state', label: 'State', type: 'text', width: 11, fixedWords: true },
    { name: 'signedOn', label: 'Signed on', type: 'date', width: 10 },
    { name: 'days', label: 'Days', type: 'integer', width: 5 },
  ],
  rows: (scope) => sql`
    select to_char(f.local_start, 'YYYY-MM-DD') as "requestedOn",
           m.name as form,
           ${cellsOf(['client', 'phone', 'emailAddress'])},
           to_char(${localAtAnyTime('f.appointment_time', 'f.location_id', scope)}, 'YYYY-MM-DD HH24:MI') as appointment,
           l.name as location,
           case f.state ${STATE_WORDS} end as state,
           to_char(f.signed_day, 'YYYY-MM-DD') as "signedOn",
           f.days,
           f.disclaimer_id as "key_objectId"
    from (${datedForms(scope)}) f
    join disclaimer_form m on (m.business_id, m.disclaimer_form_id) = (${scope.businessId}, f.disclaimer_form_id)
    ${joinNames('f', ['client'], scope)}
    left join location l on (l.business_id, l.location_id) = (${scope.businessId}, f.location_id)
    order by f.state = 'outstanding' desc, f.local_start, f.disclaimer_id`,
  figures: (scope) => sql`
    select ${COUNTS},
           count(*) filter (where f.state = 'outstanding' and f.appointment_time <= ${scope.now}) as late,
           percentile_disc(0.5) within group (order by f.days) filter (where f.state = 'signed') as median
    from (${datedForms(scope)}) f`,
  kpis: [
    countKpi('requested', 'Requested', {
      definition: 'Forms that clients were asked to sign in the period, in any status.',
      tense: 'past',
    }),
    rateKpi('signedRate', 'Signed', {
      definition: 'Forms whose status counts as kept, as a share of those that were not waived.',
      of: (figures) => [
        figures.signed,
        TO_SIGN.reduce((sum, name) => sum + (figures[name] ?? 0), 0),
      ],
      better: 'more',
      tense: 'past',
      isNotComparable: true,
      meaninglessWith: ['statusList'],
    }),
    countKpi('outstanding', 'Outstanding', {
      definition: 'Forms whose status is still pending.',
      better: 'less',
      tense: 'past',
      isNotComparable: true,
    }),
    countKpi('late', 'Not signed in time', {
      definition: 'Outstanding forms whose appointment has begun.',
      better: 'less',
      tense: 'past',
      isNotComparable: true,
    }),
    {
      name: 'medianDays',
      label: 'Median days to sign',
      unit: 'count',
      definition:
        'Half of the signed forms were signed at most this many days after the request. A form that was saved as signed from the beginning does not count.',
      value: ({ median }) => median ?? null,
      better: 'less',
      variance: () => null,
      tense: 'past',
      isNotComparable: true,
    },
  ],
  charts: [
    countsOverTime({
      name: 'forms',
      title: 'Forms requested',
      rows: formRows,
      series: STATES.map(({ name, label, tone }) => ({
        name: label,
        tone,
        where: isInState(name),
      })),
    }),
    {
      rows: (scope) => sql`
        select m.name as form, ${COUNTS}
        from (${formRows(scope)}) f
        join disclaimer_form m on (m.business_id, m.disclaimer_form_id) = (${scope.businessId}, f.disclaimer_form_id)
        group by m.disclaimer_form_id, m.name
        order by requested desc, m.disclaimer_form_id limit 12`,
      draw: (rows) => [
        barsOf(rows, {
          name: 'byForm',
          title: 'Forms',
          stacked: true,
          label: 'form',
          series: STATES.map(({ name, label, tone }) => ({ name: label, tone, column: name })),
        }),
      ],
    },
  ],
  groups,
  drillDown: {
    objects: (scope) => sql`
      select f.*, 'DISCLAIMER' as object_type, f.disclaimer_id as object_id, ${NOT_AUTOMATED},
             f.created_date as time, m.name, f.disclaimer_id::text as row_key,
             f.state = 'outstanding' and f.appointment_time <= ${scope.now} as is_late
      from (${formRows(scope)}) f
      join disclaimer_form m on (m.business_id, m.disclaimer_form_id) = (${scope.businessId}, f.disclaimer_form_id)`,
    keys: () => ['objectId'],
    figures: {
      requested: {},
      ...Object.fromEntries(STATES.map(({ name }) => [name, { where: isInState(name) }])),
      late: { where: 'is_late' },
    },
  },
}
