import { countColumn } from '../measures.ts'
import { countsOverTime } from './charts.ts'
import { join, raw, sql } from '../../database/sql.ts'
import { countKpi, rateKpi, type Figures, type Report, type Scope } from '../report.ts'
import { mailRows } from './automation-rows.ts'
import { mailObjects } from './objects.ts'

/** Each email is counted in one of these. */
const RESULTS: { name: string; label: string; result: string; definition: string }[] = [
  {
    name: 'delivered',
    label: 'Accepted',
    result: 'ACCEPTED',
    definition: 'Emails that the mail server accepted and that did not bounce.',
  },
  {
    name: 'bounced',
    label: 'Bounced',
    result: 'BOUNCED',
    definition: 'Emails that were returned after a mail server had accepted them.',
  },
  {
    name: 'failed',
    label: 'Failed',
    result: 'FAILED',
    definition: 'Emails that were permanently refused or ran out of attempts.',
  },
  { name: 'waiting', label: 'Waiting', result: 'WAITING', definition: 'Emails in the queue.' },
  {
    name: 'captured',
    label: 'Captured',
    result: 'CAPTURED',
    definition: 'Emails that were stored and not sent, because no mail server is configured.',
  },
  {
    name: 'suppressed',
    label: 'Suppressed',
    result: 'SUPPRESSED',
    definition: 'Emails not sent because the recipient unsubscribed or the address bounced.',
  },
  {
    name: 'cancelled',
    label: 'Cancelled',
    result: 'CANCELLED',
    definition: 'Emails that were not sent because they no longer applied.',
  },
]

const counts = raw(
  RESULTS.map(
    ({ name, result }) => `count(*) filter (where m.result = '${result}') as ${name}`,
  ).join(', '),
)

/** Emails to which a mail server replied. */
const answered = ({ delivered, bounced, failed }: Figures) =>
  (delivered ?? 0) + (bounced ?? 0) + (failed ?? 0)

const kpiOf = (name: string, better?: 'less') => {
  const { label, definition } = RESULTS.find((one) => one.name === name)!
  return {
    name,
    label,
    unit: 'count' as const,
    definition,
    value: (figures: Record<string, number | null>) => figures[name] ?? 0,
    ...(better ? { better, base: answered } : {}),
  }
}

const NOT_SENT = `result in ('CAPTURED', 'SUPPRESSED', 'CANCELLED')`

const NO_TEMPLATE = 'No template'

/** Variants of a template have the same name, and several can be in one language. */
const TEMPLATE = raw(`
  template ||
  case when count(*) over (partition by template, language) > 1
         then ' (' || concat_ws(', ', language, id) || ')'
       when count(*) over (partition by template) > 1 and language is not null
         then ' (' || language || ')'
       else '' end`)

/** Rates of emails to which a mail server replied. */
const RATE = { meaninglessWith: ['statusList'] } as const

export const mailDelivery: Report = {
  reportId: 902,
  category: 'AUTOMATION',
  reportName: 'Mail delivery',
  reportFileName: 'mail-delivery',
  description: 'The delivery of the emails of each template.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'emails',
  columns: [
    { name: 'template', label: 'Template', type: 'text', width: 28, fixedWords: [NO_TEMPLATE] },
    countColumn({ name: 'mails', label: 'Mails' }),
    ...RESULTS.map((result) => countColumn(result)),
    {
      name: 'rate',
      label: 'Delivery rate',
      type: 'percent',
      width: 8,
      total: { percentOf: ['delivered', ['delivered', 'bounced', 'failed']] },
      ...RATE,
    },
  ],
  rows: (scope: Scope) => sql`
    select ${TEMPLATE} as template, mails, ${join(
      RESULTS.map(({ name }) => raw(name)),
      ', ',
    )},
           round(100.0 * delivered / nullif(delivered + bounced + failed, 0), 1) as rate,
           coalesce(id::text, '') as key_line
    from (select coalesce(max(e.template_name), ${NO_TEMPLATE}) as template, max(e.language) as language,
                 m.email_template_id as id,
                 count(*) as mails, ${counts}
          from (${mailRows(scope)}) m
          left join email_template e
            on (e.business_id, e.email_template_id) = (${scope.businessId}, m.email_template_id)
          group by m.email_template_id) counted
    order by id is null, template collate name_order, id`,
  figures: (scope) => sql`select count(*) as mails, ${counts} from (${mailRows(scope)}) m`,
  kpis: [
    countKpi('mails', 'Mails', {
      definition: 'All emails created in the period, without tests.',
    }),
    rateKpi('delivered', 'Accepted', {
      definition:
        'Emails that the mail server accepted and that did not bounce, as a share of those that it accepted or refused.',
      of: (figures) => [figures.delivered, answered(figures)],
      better: 'more',
      ...RATE,
    }),
    kpiOf('bounced', 'less'),
    kpiOf('failed', 'less'),
    {
      name: 'notSent',
      label: 'Not sent',
      unit: 'count',
      definition: 'Emails that were captured, suppressed or cancelled.',
      value: ({ captured, suppressed, cancelled }) =>
        (captured ?? 0) + (suppressed ?? 0) + (cancelled ?? 0),
    },
  ],
  charts: [
    countsOverTime({
      name: 'mails',
      title: 'Mails',
      rows: mailRows,
      time: 'local_time',
      series: [
        { name: 'Accepted', tone: 'kept', where: `result = 'ACCEPTED'` },
        { name: 'Failed or bounced', tone: 'missed', where: `result in ('FAILED', 'BOUNCED')` },
        { name: 'Not sent', tone: 'cancelled', where: NOT_SENT },
        { name: 'Waiting', tone: 'ahead', where: `result = 'WAITING'` },
      ],
    }),
  ],
  drillDown: {
    objects: mailObjects,
    keys: () => ['line'],
    figures: {
      mails: {},
      ...Object.fromEntries(
        RESULTS.map(({ name, result }) => [name, { where: `result = '${result}'` }]),
      ),
      notSent: { where: NOT_SENT },
    },
  },
}
