import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { ANSWER_DAYS, serverAnswersQuery, type ServerAnswers as Answers } from '../api/mail.ts'
import { MailStatus } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat, withLocalTimes } from '../components/time.ts'
import { meaningOf } from '../messages/meaning.ts'
import { Panel } from '../today/panel.tsx'
import { groupAnswers } from './answers.ts'
import classes from './mail.module.css'

/** The answers of the mail server, alike ones together. */
export function ServerAnswers() {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(serverAnswersQuery)
  const isEmpty = data && data.acceptedCount === 0 && data.notAccepted.length === 0
  return (
    <Panel
      title={t('settings.mail.answers.title')}
      aside={
        <span className="faint small">
          {t('settings.mail.answers.period', { count: ANSWER_DAYS })}
        </span>
      }
    >
      {error && !data ? (
        <Failure title={t('errors.list')} error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : isEmpty ? (
        <p className="soft small">{t('settings.mail.answers.none')}</p>
      ) : (
        <AnswerList answers={data} />
      )}
      {data?.hasMore && (
        <p className="faint small" style={{ margin: '8px 0 0' }}>
          {t('settings.mail.answers.onlyNewest', { count: data.notAccepted.length })}
        </p>
      )}
      {data && data.notAccepted.length > 0 && (
        <Link to="/activity" search={{ outcome: 'failed' }} className={`small ${classes.more}`}>
          {t('today.allFailed')}
        </Link>
      )}
    </Panel>
  )
}

function AnswerList({
  answers: { acceptedCount, lastAccepted, notAccepted },
}: {
  answers: Answers
}) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <ul className={classes.lines}>
      {lastAccepted && (
        <AnswerRow
          status={<MailStatus status="SENT" reason={null} />}
          words={lastAccepted.attempts.at(-1)?.reply}
          mails={acceptedCount}
          time={lastAccepted.sentTime}
        />
      )}
      {groupAnswers(notAccepted).map(({ key, status, attempt, mails, addresses, lastTime }) => (
        <AnswerRow
          key={key}
          status={<MailStatus status={status} reason={null} />}
          words={withLocalTimes(attempt.reply, format)}
          meaning={t(`attempt.meanings.${meaningOf(attempt)}`)}
          mails={mails}
          addresses={addresses}
          time={lastTime}
        />
      ))}
    </ul>
  )
}

type RowProps = {
  status: ReactNode
  words: string | undefined
  meaning?: string
  mails: number
  addresses?: number
  time: number | null
}

function AnswerRow({ status, words, meaning, mails, addresses, time }: RowProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <li className={classes.answer}>
      {status}
      <div className={classes.words}>
        <div className="mono" dir="auto">
          {words}
        </div>
        {meaning && <div className="soft small">{meaning}</div>}
      </div>
      <div className={classes.count}>
        <b className="strong">{t('settings.mail.answers.mails', { count: mails })}</b>
        {addresses !== undefined && (
          <div className="soft small">
            {t('settings.mail.answers.addresses', { count: addresses })}
          </div>
        )}
        {time !== null && (
          <div className="soft small">
            {t('settings.mail.answers.last', { time: format.moment(time) })}
          </div>
        )}
      </div>
    </li>
  )
}
