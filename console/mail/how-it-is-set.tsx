import { IconTerminal2 } from '../components/icons.tsx'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import clients from '../clients/clients.module.css'
import { Panel } from '../today/panel.tsx'
import classes from './mail.module.css'
import type { TestMail } from './test-mail.ts'

/** The settings of the operator about mail; docs/configuration.md describes them. */
const OPERATOR_SETTINGS = ['SMTP_URL', 'MAIL_FROM', 'BODY_RETENTION_DAYS', 'RETENTION_MONTHS']

/** The settings of the business about mail, and the names of the operator's. */
export function HowItIsSet({ testMail: { template, sender } }: { testMail: TestMail }) {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  const { dailyMailLimit, bulkLimit, quietHours, senderDomains } = business
  const none = t('settings.mail.set.none')
  const rows = [
    [t('settings.mail.set.sender'), sender && `${sender.fromName} <${sender.from}>`],
    [
      t('words.repliesGoTo'),
      (sender ? sender.replyTo : (business.replyTo ?? business.emailAddress)) ??
        t('settings.mail.set.toSender'),
    ],
    [t('settings.mail.set.domains'), senderDomains.join(', ') || none],
    [
      t('settings.mail.set.dailyLimit'),
      dailyMailLimit === null ? none : t('settings.mail.set.mails', { count: dailyMailLimit }),
    ],
    [
      t('settings.mail.set.approval'),
      bulkLimit === null
        ? t('settings.mail.set.automatic')
        : t('settings.mail.set.above', { count: bulkLimit }),
    ],
    [t('words.quietHours'), quietHours ? t('settings.mail.set.fromTo', quietHours) : none],
  ]
  return (
    <Panel title={t('settings.mail.set.title')}>
      <dl className={clients.details}>
        {rows
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <div key={label} style={{ display: 'contents' }}>
              <dt>{label}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
      </dl>
      {sender && template && (
        <p className="faint small" dir="auto">
          {t('settings.mail.set.ofTemplate', { name: template.templateName })}
        </p>
      )}
      {functions.includes('EDIT_BUSINESS') && (
        <p className="small">
          <Link to="/settings/business">{t('settings.mail.set.toBusiness')}</Link>
        </p>
      )}
      <div className={`soft small ${classes.operator}`}>
        <IconTerminal2 size={16} stroke={1.7} aria-hidden />
        <div className="grow">
          {t('settings.mail.set.operator')}{' '}
          <code className="mono">{OPERATOR_SETTINGS.join(', ')}</code>
          <br />
          {t('settings.mail.set.docs')} <code className="mono">docs/configuration.md</code>
        </div>
      </div>
    </Panel>
  )
}
