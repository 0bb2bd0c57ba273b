import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import type { Overview } from '../../src/contract/overview.ts'
import type { SenderDomain } from '../api/mail.ts'
import { mailStateOf } from '../api/overview.ts'
import { useSession } from '../api/session.ts'
import { asSentence, useReasonWords } from '../components/reason-words.ts'
import { useTimeFormat } from '../components/time.ts'
import { Panel } from '../today/panel.tsx'
import { DomainChecks } from './domain-checks.tsx'
import classes from './mail.module.css'
import { StateLine } from './state-line.tsx'
import { TryMailServerNow } from './try-now.tsx'

type Props = { mail: Overview['mail']; domains: SenderDomain[] }

/** Whether mails are sent, and whether receivers can trust their sender. */
export function DoesItWork({ mail, domains }: Props) {
  const { t } = useTranslation()
  return (
    <Panel title={t('settings.mail.works.title')}>
      <ul className={classes.lines}>
        {mail.paused && <PauseLine />}
        <ServerLine mail={mail} />
        <QueueLine mail={mail} />
        {domains.length === 0 && (
          <StateLine tone="open" name={t('settings.mail.works.domain')}>
            {t('settings.mail.works.noDomain')}
            <div className="soft">{t('settings.mail.works.noDomainHint')}</div>
          </StateLine>
        )}
      </ul>
      {domains.map((domain) => (
        <DomainChecks key={domain.domain} domain={domain} />
      ))}
    </Panel>
  )
}

function PauseLine() {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  return (
    <StateLine tone="bad" name={t('settings.mail.works.pause')}>
      <span dir="auto">{business.mailPausedReason ?? t('today.paused.noReason')}</span>
      <div>
        {functions.includes('EDIT_BUSINESS') ? (
          <Link to="/settings/business">{t('settings.mail.works.resume')}</Link>
        ) : (
          <span className="soft">{t('settings.mail.works.ownerResumes')}</span>
        )}
      </div>
    </StateLine>
  )
}

function ServerLine({ mail }: Pick<Props, 'mail'>) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const state = mailStateOf(mail)
  const say = useReasonWords()
  const name = t('settings.mail.works.server')
  if (state === 'captured') {
    return (
      <StateLine tone="bad" name={name}>
        {t('today.captured')}
        <div className="soft">{t('settings.mail.works.capturedHint')}</div>
      </StateLine>
    )
  }
  // While mail is paused, `problem` is about the pause.
  if (state !== 'works' && !mail.paused) {
    return (
      <StateLine tone="bad" name={name}>
        <span dir="auto">{asSentence(say(mail.problems), mail.problems)}</span>
        {state === 'outage' && <div className="soft">{t('today.noMail.operator')}</div>}
        {state === 'outage' && <TryMailServerNow />}
      </StateLine>
    )
  }
  if (mail.failingSince !== null) {
    return (
      <StateLine tone="bad" name={name}>
        {t('settings.mail.works.failingSince', { time: format.moment(mail.failingSince) })}
        <div className="soft">{t('today.noMail.operator')}</div>
      </StateLine>
    )
  }
  if (mail.lastSentTime === null) {
    return (
      <StateLine tone="open" name={name}>
        {t('settings.mail.works.neverSent')}
      </StateLine>
    )
  }
  return (
    <StateLine tone="good" name={name}>
      {t('settings.mail.works.accepts', { time: format.moment(mail.lastSentTime) })}{' '}
      {t('settings.mail.works.lastDay', { count: mail.sentLastDay })}
    </StateLine>
  )
}

function QueueLine({ mail }: Pick<Props, 'mail'>) {
  const { t } = useTranslation()
  const isStuck = mail.waiting > 0 && mail.problem !== null
  return (
    <StateLine tone={isStuck ? 'bad' : 'good'} name={t('settings.mail.works.queue')}>
      {t(`settings.mail.works.${isStuck ? 'stuck' : 'waiting'}`, { count: mail.waiting })}
    </StateLine>
  )
}
