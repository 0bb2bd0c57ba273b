import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { pauseMail, resumeMail } from '../api/business.ts'
import { messageCountsQuery } from '../api/messages.ts'
import { overviewQuery } from '../api/overview.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { useBusinessTimeFormat } from '../components/time.ts'
import { FormWindow } from '../components/windows.tsx'

/** Pauses all mail of the business, or resumes it, after it has shown what that does. */
export function PauseButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTranslation()
  const { business } = useSession()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size={size} variant="default" onClick={() => setOpen(true)}>
        {t(business.mailPaused ? 'today.paused.resume' : 'settings.pause.pause')}
      </Button>
      {isOpen && <PauseWindow onClose={() => setOpen(false)} />}
    </>
  )
}

function PauseWindow({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const { businessId, mailPaused } = useSession().business
  // The window keeps its words while the answer of the save changes the session.
  const [action] = useState<'pause' | 'resume'>(mailPaused ? 'resume' : 'pause')
  const [reason, setReason] = useState('')
  const effect = useEffectInWords(action)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      action === 'resume' ? resumeMail(businessId) : pauseMail(businessId, reason.trim() || null),
    onSuccess: onClose,
  })
  return (
    <FormWindow isOpen onClose={onClose} title={t(`mailPause.${action}.title`)}>
      <form
        className="column"
        style={{ gap: 14 }}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <p style={{ margin: 0 }}>{effect}</p>
        <p className="soft small" style={{ margin: 0 }}>
          {t(`mailPause.${action}.hint`)}
        </p>
        {action === 'pause' && (
          <TextInput
            label={t('settings.pause.reason')}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
        )}
        {error && (
          <p role="alert" className="clay small" style={{ margin: 0 }}>
            <ErrorMessage error={error} />
          </p>
        )}
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            {t('words.leaveItAsItIs')}
          </Button>
          <Button type="submit" loading={isPending}>
            {t(`mailPause.${action}.button`)}
          </Button>
        </div>
      </form>
    </FormWindow>
  )
}

/** The messages of the rest of the day that a pause stops, or those that a resumption sends. */
function useEffectInWords(action: 'pause' | 'resume') {
  const { t } = useTranslation()
  const { startOfNextDay } = useBusinessTimeFormat()
  const [now] = useState(() => Date.now())
  const { data: counts } = useQuery(
    messageCountsQuery(action === 'pause' ? { from: now, to: startOfNextDay(now) } : { to: now }),
  )
  const { data: overview } = useQuery(overviewQuery())
  if (!counts || !overview) return t('mailPause.counting')
  const messages = counts.SCHEDULED ?? 0
  return t(`mailPause.${action}.effect`, { count: messages, mails: overview.mail.waiting })
}
