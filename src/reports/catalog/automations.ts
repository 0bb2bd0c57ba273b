import { sql } from '../../database/sql.ts'
import { countKpi, type Report, type Scope } from '../report.ts'
import { triggerRows } from './automation-rows.ts'
import { barsOf } from './charts.ts'
import { localAtAnyTime } from './conditions.ts'
import { triggerObjects } from './objects.ts'

/** Each automation with its triggers of the period. Deleted ones without triggers are left out. */
const perAutomation = (scope: Scope) => sql`
  select d.event_defn_id, d.description, d.active,
         count(t.event_trigger_id) as due,
         count(*) filter (where t.fired) as fired,
         count(*) filter (where t.status = 'FAILED') as failed,
         count(*) filter (where t.status in ('CANCELLED', 'SKIPPED', 'EXPIRED')) as dropped,
         count(*) filter (where t.status = 'SCHEDULED') as waiting
  from event_definition d
  left join (${triggerRows(scope)}) t using (business_id, event_defn_id)
  where d.business_id = ${scope.businessId}
  group by d.business_id, d.event_defn_id
  having d.deleted_date is null or count(t.event_trigger_id) > 0`

/** The last firing before the end of the period, even long ago, so that readers see a stopped automation. */
const lastFired = (scope: Scope) => sql`
  (select max(e.scheduled_time) from event_trigger e
   where e.business_id = ${scope.businessId} and e.event_defn_id = a.event_defn_id
     and e.status in ('RUNNING', 'COMPLETED', 'FAILED') and e.scheduled_time < ${scope.until})`

export const automations: Report = {
  reportId: 903,
  category: 'AUTOMATION',
  reportName: 'Automations',
  reportFileName: 'automations',
  description: 'All automations: what they did in the period, and when each last fired.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'triggers',
  columns: [
    { name: 'automation', label: 'Automation', type: 'text', width: 28 },
    { name: 'state', label: 'State', type: 'text', width: 8, fixedWords: true },
    { name: 'lastFired', label: 'Last fired', type: 'text', width: 16, isDate: true },
    { name: 'due', label: 'Due', type: 'integer', width: 6, total: 'sum' },
    { name: 'fired', label: 'Fired', type: 'integer', width: 6, total: 'sum' },
    { name: 'failed', label: 'Failed', type: 'integer', width: 6, total: 'sum' },
    { name: 'dropped', label: 'Cancelled or skipped', type: 'integer', width: 8, total: 'sum' },
    { name: 'waiting', label: 'To come', type: 'integer', width: 6, total: 'sum' },
  ],
  rows: (scope) => sql`
    select coalesce(a.description, 'Automation ' || a.event_defn_id) as automation,
           case when a.active then 'Active' else 'Off' end as state,
           to_char(${localAtAnyTime('a.last_fired', 'null::bigint', scope)}, 'YYYY-MM-DD HH24:MI') as "lastFired",
           a.due, a.fired, a.failed, a.dropped, a.waiting, a.event_defn_id as key_line
    from (select a.*, ${lastFired(scope)} as last_fired from (${perAutomation(scope)}) a) a
    order by a.active desc, a.description collate name_order, a.event_defn_id`,
  figures: (scope) => sql`
    select count(*) filter (where a.active) as active,
           count(*) filter (where a.active and a.fired = 0) as silent,
           coalesce(sum(a.fired), 0)::bigint as fired, coalesce(sum(a.failed), 0)::bigint as failed
    from (${perAutomation(scope)}) a`,
  kpis: [
    countKpi('active', 'Active', {
      definition: 'Automations that are active now.',
    }),
    countKpi('silent', 'Did not fire', {
      definition: 'Active automations that did not fire in the period.',
      better: 'less',
      base: ({ active }) => active ?? undefined,
      tense: 'past',
      meaninglessWith: ['statusList'],
    }),
    countKpi('fired', 'Fired', {
      definition: 'Triggers of the period that fired, also those whose emails failed.',
      tense: 'past',
    }),
    countKpi('failed', 'Failed', {
      definition: 'Triggers of the period that failed.',
      better: 'less',
      base: ({ fired, failed }) => (fired ?? 0) + (failed ?? 0),
      tense: 'past',
    }),
  ],
  charts: [
    {
      draw: (rows) => [
        barsOf(rows, {
          name: 'triggers',
          title: 'Triggers',
          label: 'automation',
          series: [
            { name: 'Fired', tone: 'kept', column: 'fired' },
            { name: 'Cancelled or skipped', tone: 'cancelled', column: 'dropped' },
            { name: 'To come', tone: 'ahead', column: 'waiting' },
          ],
          titleOfSome: 'Triggers of the twelve busiest',
          stacked: true,
          size: 'due',
        }),
      ],
    },
  ],
  drillDown: {
    objects: (scope) => triggerObjects(scope),
    keys: () => ['line'],
    figures: {
      due: {},
      fired: { where: 'fired' },
      failed: { where: `status = 'FAILED'` },
      dropped: { where: `status in ('CANCELLED', 'SKIPPED', 'EXPIRED')` },
      waiting: { where: `status = 'SCHEDULED'` },
    },
  },
}
