import { sql } from '../../database/sql.ts'
import { anyOf, inRange, local, objectsOf } from './conditions.ts'
import { percent, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'

/** Excludes test emails. The list of all outcomes lets PostgreSQL use the index by outcome and time. */
const mailsIn = (scope: Scope) => sql`
  t.business_id = ${scope.businessId} and not t.test
  and t.outcome in ('SENT', 'CAPTURED', 'FAILED', 'SUPPRESSED', 'CANCELLED')
  and ${inRange('t.created_date', 'null::bigint', scope)}
  ${anyOf('t.status', scope.statuses, 'text')} ${objectsOf(scope)}`

export const mailDelivery: Report = {
  reportId: 902,
  category: 'AUTOMATION',
  reportName: 'Mail delivery',
  reportFileName: 'mail-delivery',
  description: 'The delivery of the emails of each template.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'emails',
  columns: [
    { name: 'template', label: 'Template', type: 'text', width: 28 },
    { name: 'mails', label: 'Mails', type: 'integer', width: 7, total: 'sum' },
    { name: 'delivered', label: 'Delivered', type: 'integer', width: 7, total: 'sum' },
    { name: 'waiting', label: 'Waiting', type: 'integer', width: 7, total: 'sum' },
    { name: 'failed', label: 'Failed', type: 'integer', width: 7, total: 'sum' },
    { name: 'suppressed', label: 'Suppressed', type: 'integer', width: 7, total: 'sum' },
    { name: 'cancelled', label: 'Cancelled', type: 'integer', width: 7, total: 'sum' },
    {
      name: 'rate',
      label: 'Delivery rate',
      type: 'percent',
      width: 8,
      total: { percentOf: ['delivered', 'mails'] },
    },
  ],
  rows: (scope) => sql`
    select coalesce(max(e.template_name), 'No template') as template,
           count(*) as mails,
           count(*) filter (where t.status in ('SENT', 'CAPTURED')) as delivered,
           count(*) filter (where t.status in ('QUEUED', 'RETRYING', 'UNCERTAIN')) as waiting,
           count(*) filter (where t.status = 'FAILED') as failed,
           count(*) filter (where t.status = 'SUPPRESSED') as suppressed,
           count(*) filter (where t.status = 'CANCELLED') as cancelled,
           round(100.0 * count(*) filter (where t.status in ('SENT', 'CAPTURED')) / count(*), 1) as rate
    from email t
    left join email_template e on (e.business_id, e.email_template_id) = (t.business_id, t.email_template_id)
    where ${mailsIn(scope)}
    group by t.email_template_id
    order by max(e.template_name) collate name_order nulls last, t.email_template_id`,
  figures: (scope) => sql`
    select count(*) as mails,
           count(*) filter (where t.status in ('SENT', 'CAPTURED')) as delivered,
           count(*) filter (where t.status = 'FAILED') as failed,
           count(*) filter (where t.status = 'SUPPRESSED') as suppressed
    from email t
    where ${mailsIn(scope)}`,
  kpis: [
    {
      name: 'mails',
      label: 'Mails',
      unit: 'count',
      definition: 'All emails created in the period, without tests.',
      value: ({ mails }) => mails ?? 0,
    },
    {
      name: 'delivered',
      label: 'Delivered',
      unit: 'percent',
      definition: 'The share that the mail server accepted or that was captured.',
      value: ({ delivered, mails }) => percent(delivered, mails),
      better: 'more',
    },
    {
      name: 'failed',
      label: 'Failed',
      unit: 'count',
      definition: 'Emails that were permanently refused or ran out of attempts.',
      value: ({ failed }) => failed ?? 0,
      better: 'less',
    },
    {
      name: 'suppressed',
      label: 'Suppressed',
      unit: 'count',
      definition: 'Emails not sent because the recipient unsubscribed or the address bounced.',
      value: ({ suppressed }) => suppressed ?? 0,
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, ${local('t.created_date', 'null::bigint', scope)}), 'YYYY-MM-DD') as step,
               count(*) filter (where t.status in ('SENT', 'CAPTURED')) as delivered,
               count(*) filter (where t.status not in ('SENT', 'CAPTURED', 'FAILED')) as other,
               count(*) filter (where t.status = 'FAILED') as failed
        from email t
        where ${mailsIn(scope)}
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'mails',
          title: 'Mails',
          stacked: true,
          unit: 'count',
          series: [
            { name: 'Delivered', column: 'delivered' },
            { name: 'Failed', column: 'failed' },
            { name: 'Other', column: 'other' },
          ],
        }),
      ],
    },
  ],
}
