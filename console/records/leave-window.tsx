import { Button, Modal } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { leaveQuestion } from './leave.ts'

/** Asks before the user leaves a record with unsaved changes; rendered once for all pages. */
export function LeaveWindow() {
  const { t } = useTranslation()
  const question = useSyncExternalStore(leaveQuestion.subscribe, leaveQuestion.current)
  return (
    <Modal
      opened={question !== undefined}
      onClose={() => question?.answer(false)}
      title={t('editor.leave.title')}
      centered
      withCloseButton={false}
      zIndex={400}
    >
      <p style={{ marginTop: 0 }}>{t('editor.leave.text', { count: question?.changes ?? 0 })}</p>
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={() => question?.answer(false)} data-autofocus>
          {t('editor.leave.stay')}
        </Button>
        <Button color="clay" onClick={() => question?.answer(true)}>
          {t('editor.leave.go')}
        </Button>
      </div>
    </Modal>
  )
}
