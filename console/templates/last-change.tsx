import { Modal } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useSession } from '../api/session.ts'
import { Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { useTranslation } from '../texts/translate.ts'
import type { HistoryProps } from './history-window.tsx'
import classes from './history.module.css'

/** Few people open it, and the page is large. */
const History = lazy(async () => ({ default: (await import('./history-window.tsx')).History }))

/** Who changed the mail last; opens its history for people who may read the audit. */
export function LastChange(props: HistoryProps) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const [isOpen, setOpen] = useState(false)
  const { modifiedUser, modifiedDate } = props.template
  const text = t('template.history.last', {
    user: nameOfUser(modifiedUser, t),
    time: format.moment(modifiedDate),
  })
  if (!useSession().functions.includes('VIEW_AUDIT')) {
    return <span className="faint small">{text}</span>
  }
  return (
    <>
      <button
        type="button"
        className={`small ${classes.open}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {text}
      </button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('template.history.title')}
        size="lg"
        closeButtonProps={{ 'aria-label': t('words.close') }}
      >
        <Suspense fallback={<Loading />}>
          <History {...props} onClose={() => setOpen(false)} />
        </Suspense>
      </Modal>
    </>
  )
}
