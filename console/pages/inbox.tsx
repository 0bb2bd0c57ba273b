import { Modal } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { capturedQuery, type ListedEmail } from '../api/mail.ts'
import { emailQuery } from '../api/messages.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { MailFrame } from '../components/mail-frame.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Empty, Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { linksOf } from '../mail/links.ts'
import { PageHead } from '../shell/page-head.tsx'
import { useTranslation } from '../texts/translate.ts'
import classes from '../setup/settings.module.css'
import frame from '../messages/message.module.css'

/** The mails that were captured because no mail server is set, also those about accounts. */
export function InboxPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { mail } = useSearch({ from: '/shell/inbox' })
  const list = useInfiniteQuery(capturedQuery)
  const emails = list.data?.pages.flatMap(({ items }) => items)
  return (
    <>
      <PageHead title={t('inbox.title')} lede={t('inbox.lede')} />
      {list.error && !emails ? (
        <Failure title={t('errors.list')} error={list.error} onRetry={() => void list.refetch()} />
      ) : !emails ? (
        <Loading />
      ) : emails.length === 0 ? (
        <Empty title={t('inbox.none')}>{t('inbox.noneHint')}</Empty>
      ) : (
        <Emails emails={emails} />
      )}
      <ShowMore list={list} mt={14} />
      {mail && (
        <MailWindow
          emailId={mail}
          onClose={() => void navigate({ to: '/inbox', search: {}, replace: true })}
        />
      )}
    </>
  )
}

function Emails({ emails }: { emails: ListedEmail[] }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return (
    <div className={`card ${classes.scroll}`}>
      <table className="table">
        <thead>
          <tr>
            <th>{t('inbox.time')}</th>
            <th>{t('words.to')}</th>
            <th>{t('inbox.subject')}</th>
          </tr>
        </thead>
        <tbody>
          {emails.map(({ emailId, to, subject, createdDate, test }) => (
            <tr key={emailId}>
              <td className="soft numbers">{format.moment(createdDate)}</td>
              <td dir="auto">{to}</td>
              <td>
                <Link to="/inbox" search={{ mail: emailId }} className="strong" dir="auto">
                  {subject}
                </Link>{' '}
                {test && <span className="chip">{t('inbox.test')}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type WindowProps = { emailId: number; onClose: () => void }

/** The mail and its links, because those in the frame cannot be opened. */
function MailWindow({ emailId, onClose }: WindowProps) {
  const { t } = useTranslation()
  const { data, error } = useQuery({ ...emailQuery(emailId), retry: false })
  const links = useMemo(() => linksOf(data?.html ?? ''), [data])
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={data?.subject ?? t('inbox.title')}
      closeButtonProps={{ 'aria-label': t('words.close') }}
    >
      {error ? (
        <p role="alert" className="clay" style={{ marginTop: 0 }}>
          <ErrorMessage error={error} />
        </p>
      ) : !data ? (
        <Loading lines={5} />
      ) : (
        <>
          <p className="soft small" style={{ marginTop: 0 }} dir="auto">
            {data.to}
          </p>
          {data.html === null ? (
            <p>{t('message.notKept')}</p>
          ) : (
            <MailFrame
              className={frame.frame}
              title={t('message.frame')}
              address={`/emails/${emailId}/html`}
            />
          )}
          {links.length > 0 && (
            <section aria-label={t('inbox.links')}>
              <h2 className="eyebrow">{t('inbox.links')}</h2>
              <ul style={{ overflowWrap: 'anywhere', paddingInlineStart: 18 }}>
                {links.map(({ address, label }) => (
                  <li key={address}>
                    <a href={address} target="_blank" rel="noreferrer" dir="auto">
                      {label}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </Modal>
  )
}
