import { sql } from '../../database/sql.ts'
import { countKpi, type Report, type Scope } from '../report.ts'
import { mailOutcome, objectNames, RECALL, triggerRows } from './automation-rows.ts'
import { countsOverTime } from './charts.ts'
import { inOrderOf, localAtAnyTime, STUDENT_WORDS } from './conditions.ts'
import { triggerObjects } from './objects.ts'

/** The result of the emails of a trigger: the first of these that one of them has. */
export const MAIL_RESULTS = {
  FAILED: 'Failed',
  BOUNCED: 'Bounced',
  WAITING: 'Waiting',
  ACCEPTED: 'Accepted by the mail server',
  CAPTURED: 'Captured, not sent',
  SUPPRESSED: 'Suppressed, not sent',
  CANCELLED: 'Cancelled, not sent',
}

const STATUS_WORDS = {
  SCHEDULED: 'To come',
  RUNNING: 'Fired',
  COMPLETED: 'Fired',
  FAILED: 'Fired',
  CANCELLED: 'Cancelled',
  SKIPPED: 'Skipped',
  EXPIRED: 'Expired',
}

/** Each trigger with the results of its emails. */
const triggersWithMails = (scope: Scope) => sql`
  select t.*, m.results
  from (${triggerRows(scope)}) t
  left join lateral (
    select array_agg(distinct ${mailOutcome('e')}) as results
    from email e
    where e.business_id = ${scope.businessId} and e.event_trigger_id = t.event_trigger_id and not e.test
  ) m on t.fired`

export const triggerLog: Report = {
  reportId: 901,
  category: 'AUTOMATION',
  reportName: 'Trigger log',
  reportFileName: 'trigger-log',
  description:
    'All triggers that were due in the period: whether they fired, and the results of their emails.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'triggers',
  columns: [
    { name: 'date', label: 'Due', type: 'date', width: 10 },
    { name: 'time', label: 'At', type: 'time', width: 5 },
    { name: 'definition', label: 'Automation', type: 'text', width: 22 },
    { name: 'client', label: 'Client', type: 'text', width: 18, fixedWords: STUDENT_WORDS },
    { name: 'subject', label: 'For', type: 'text', width: 18, fixedWords: [RECALL] },
    { name: 'appointmentTime', label: 'When', type: 'text', width: 16, isDate: true },
    { name: 'status', label: 'Trigger', type: 'text', width: 9, fixedWords: true },
    { name: 'mail', label: 'Mail', type: 'text', width: 18, fixedWords: true },
    { name: 'reason', label: 'Reason', type: 'text', width: 22, fixedWords: 'reason' },
  ],
  rows: (scope) => sql`
    select to_char(t.local_time, 'YYYY-MM-DD') as date,
           to_char(t.local_time, 'HH24:MI') as time,
           coalesce(d.description, 'Automation ' || d.event_defn_id) as definition,
           o.client,
           o.subject,
           to_char(${localAtAnyTime('o.time', 'o.location_id', scope)}, 'YYYY-MM-DD HH24:MI') as "appointmentTime",
           ${JSON.stringify(STATUS_WORDS)}::jsonb ->> t.status as status,
           (select w.word from unnest(${Object.keys(MAIL_RESULTS)}::text[], ${Object.values(MAIL_RESULTS)}::text[])
              with ordinality w (result, word, place)
            where w.result = any (t.results) order by w.place limit 1) as mail,
           t.status_reason as reason,
           t.event_trigger_id as "key_eventTriggerId"
    from (${triggersWithMails(scope)}) t
    join event_definition d on (d.business_id, d.event_defn_id) = (${scope.businessId}, t.event_defn_id)
    ${objectNames(scope)}
    order by ${inOrderOf(['t.local_time', 't.scheduled_time', 't.event_trigger_id'], scope.zones)}`,
  figures: (scope) => sql`
    select count(*) as triggers,
           count(*) filter (where t.scheduled_time <= ${scope.now} and t.status <> 'CANCELLED') as due,
           count(*) filter (where t.fired) as fired,
           count(*) filter (where t.results && '{ACCEPTED}') as accepted,
           count(*) filter (where t.results && '{BOUNCED}') as bounced,
           count(*) filter (where t.status = 'FAILED') as failed,
           count(*) filter (where t.status = 'SCHEDULED') as waiting
    from (${triggersWithMails(scope)}) t`,
  kpis: [
    countKpi('triggers', 'Triggers', {
      definition: 'All triggers scheduled for the period, also cancelled ones.',
    }),
    countKpi('due', 'Due', {
      definition: 'Triggers whose time has come and that were not cancelled.',
      tense: 'past',
    }),
    countKpi('fired', 'Fired', {
      definition: 'Triggers that wrote their emails.',
      better: 'more',
      base: ({ due }) => due ?? undefined,
      tense: 'past',
    }),
    countKpi('accepted', 'Accepted', {
      definition: 'Triggers with an email that the mail server accepted and that did not bounce.',
      better: 'more',
      base: ({ due }) => due ?? undefined,
      tense: 'past',
    }),
    countKpi('bounced', 'Bounced', {
      definition: 'Triggers with an email that was returned after a mail server had accepted it.',
      better: 'less',
      base: ({ fired }) => fired ?? undefined,
      tense: 'past',
    }),
    countKpi('failed', 'Failed', {
      definition: 'Triggers with at least one email that was permanently refused.',
      better: 'less',
      base: ({ due }) => due ?? undefined,
      tense: 'past',
    }),
    countKpi('waiting', 'Still to come', {
      definition: 'Triggers of the period that are still pending.',
      tense: 'future',
    }),
  ],
  charts: [
    countsOverTime({
      name: 'triggers',
      title: 'Triggers',
      rows: triggerRows,
      time: 'local_time',
      series: [
        { name: 'Fired', tone: 'kept', where: `status in ('COMPLETED', 'RUNNING')` },
        { name: 'Failed', tone: 'missed', where: `status = 'FAILED'` },
        {
          name: 'Cancelled or skipped',
          tone: 'cancelled',
          where: `status in ('CANCELLED', 'SKIPPED', 'EXPIRED')`,
        },
        { name: 'To come', tone: 'ahead', where: `status = 'SCHEDULED'` },
      ],
    }),
  ],
  drillDown: {
    objects: (scope) => sql`
      select o.*, o.scheduled_time <= ${scope.now} and o.status <> 'CANCELLED' as is_due
      from (${triggerObjects(scope, triggersWithMails(scope))}) o`,
    keys: () => ['eventTriggerId'],
    figures: {
      triggers: {},
      due: { where: 'is_due' },
      fired: { where: 'fired' },
      accepted: { where: `results && '{ACCEPTED}'` },
      bounced: { where: `results && '{BOUNCED}'` },
      failed: { where: `status = 'FAILED'` },
      waiting: { where: `status = 'SCHEDULED'` },
    },
  },
}
