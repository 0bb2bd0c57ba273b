import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { mailStateOf, overviewQuery } from '../api/overview.ts'
import { useSession } from '../api/session.ts'
import { IconMailOff } from '../components/icons.tsx'
import { asSentence, reasonWords } from '../components/reason-words.ts'
import { useBusinessTimeFormat } from '../components/time.ts'
import { RestoredBar, useIsHeld } from './restored-bar.tsx'

/** Says on every page why no mail leaves. */
export function MailBar() {
  return useIsHeld() ? <RestoredBar /> : <MailStateBar />
}

/** The mail is paused or captured, or the mail server is away. */
function MailStateBar() {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const { business, functions } = useSession()
  const { data } = useQuery({ ...overviewQuery(), enabled: functions.includes('VIEW_SCHEDULE') })
  const state = business.mailPaused ? 'paused' : data ? mailStateOf(data.mail) : 'works'
  if (state === 'works') return null
  const why =
    state === 'paused'
      ? business.mailPausedReason
      : state === 'stopped' &&
        data &&
        asSentence(reasonWords(data.mail.problems, undefined, format), data.mail.problems)
  const { path, text, needed } = LINK_OF[state]
  return (
    <div className="notice" data-mail={state}>
      <IconMailOff size={18} aria-hidden />
      <span role="status" className="grow" dir="auto">
        <b>{t(`mailBar.${state}`)}</b> {why}
      </span>
      {functions.includes(needed) && (
        <Link to={path} className="strong">
          {t(text)}
        </Link>
      )}
    </div>
  )
}

const TO_MAIL = {
  path: '/settings/mail',
  text: 'mailBar.toMail',
  needed: 'MANAGE_BUSINESS',
} as const
const LINK_OF = {
  paused: { path: '/settings/business', text: 'mailBar.toPause', needed: 'EDIT_BUSINESS' },
  captured: { path: '/inbox', text: 'mailBar.toInbox', needed: 'VIEW_EMAILS' },
  outage: TO_MAIL,
  stopped: TO_MAIL,
} as const
