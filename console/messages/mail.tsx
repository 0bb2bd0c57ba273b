import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import type { Email } from '../../src/contract/email.ts'
import type { TriggerDetails } from '../../src/contract/event-trigger.ts'
import { previewAddress } from '../api/automation.ts'
import { emailQuery } from '../api/messages.ts'
import { useSession } from '../api/session.ts'
import { MailFrame } from '../components/mail-frame.tsx'
import { MailStatus } from '../components/mark.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { asSentence, useReasonWords } from '../components/reason-words.ts'
import { hasEnded } from './actions.ts'
import classes from './message.module.css'

export type MailProps = { message: TriggerDetails; email: Email | undefined }

/** The mail as it was sent, or will be. */
export function Mail({ message, email }: MailProps) {
  const { t } = useTranslation()
  const say = useReasonWords()
  const { functions } = useSession()
  const more = (message.emails?.length ?? 0) - 1
  const preview = functions.includes('VIEW_EMAILS') ? previewOf(message) : undefined
  return (
    <>
      <h2 className="eyebrow" style={{ margin: 0 }}>
        {t(`message.${titleOf(message, email)}`)}
      </h2>
      <section className="card" style={{ overflow: 'hidden' }}>
        {email ? (
          <>
            <div className={classes.mailHead}>
              <div className="row">
                <div className="strong grow" dir="auto">
                  {email.subject}
                </div>
                <MailStatus
                  status={email.status}
                  reason={asSentence(say(email.statusReasons), email.statusReasons) || null}
                />
              </div>
              <div className="soft small" dir="auto">
                {email.to}
              </div>
            </div>
            <MailBody emailId={email.emailId} />
          </>
        ) : preview ? (
          <MailFrame className={classes.frame} title={t('message.frame')} address={preview} />
        ) : (
          <p className="soft small" style={{ margin: 0, padding: '14px 18px' }}>
            {t(message.status === 'SCHEDULED' ? 'message.noMailYet' : 'message.noMail')}
          </p>
        )}
      </section>
      {more > 0 && <p className="faint small">{t('message.moreMails', { count: more })}</p>}
    </>
  )
}

function titleOf({ status }: TriggerDetails, email: Email | undefined) {
  if (status === 'SCHEDULED') return 'mailAhead'
  if (email?.status === 'SENT') return 'mailSent'
  return email && !hasEnded(email) ? 'mailQueued' : 'mail'
}

/** The mail if the message were due now. */
function previewOf({ status, emailTemplateId, recipient, ...object }: TriggerDetails) {
  const id = object.objectId ?? object.objectUUId
  if (status !== 'SCHEDULED' || !emailTemplateId || id === null) return undefined
  return previewAddress(emailTemplateId, { objectType: object.objectType, objectId: id }, recipient)
}

function MailBody({ emailId }: { emailId: number }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery(emailQuery(emailId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={5} />
  if (data.html === null) {
    return (
      <p className="soft small" style={{ margin: 0, padding: '14px 18px' }}>
        {t('message.notKept')}
      </p>
    )
  }
  return (
    <MailFrame
      className={classes.frame}
      title={t('message.frame')}
      address={`/emails/${emailId}/html`}
    />
  )
}
