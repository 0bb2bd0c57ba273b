import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

/** Asks before the user leaves a page with unsaved changes. */
export function LeaveWindow({ changes }: { changes: number }) {
  const { t } = useTranslation()
  const isUnsaved = changes > 0
  const blocker = useBlocker({
    shouldBlockFn: () => isUnsaved,
    enableBeforeUnload: () => isUnsaved,
    withResolver: true,
  })
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={t('editor.leave.title')}
      centered
    >
      <p style={{ marginTop: 0 }}>{t('editor.leave.text', { count: changes })}</p>
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
          {t('editor.leave.stay')}
        </Button>
        <Button color="clay" onClick={() => blocker.proceed?.()}>
          {t('editor.leave.go')}
        </Button>
      </div>
    </Modal>
  )
}
