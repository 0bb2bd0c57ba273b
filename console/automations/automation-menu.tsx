import { ActionIcon, Button, Menu, Modal } from '@mantine/core'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteAutomation } from '../api/automation.ts'
import { switchAutomation, type Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'

type Props = { automation: Automation; label: string }

/** The actions on an automation in the list. */
export function AutomationMenu({ automation, label }: Props) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { functions } = useSession()
  const [isAsking, setAsking] = useState(false)
  const { eventDefnId, active } = automation
  const canEdit = functions.includes('EDIT_DEFINITIONS')
  const Toggle = active ? IconPlayerPause : IconPlayerPlay
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('automationMenu.label', { sentence: label })}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconPencil size={15} />}
            onClick={() =>
              void navigate({
                to: '/automations/$eventDefnId',
                params: { eventDefnId: String(eventDefnId) },
              })
            }
          >
            {t('automationMenu.open')}
          </Menu.Item>
          {canEdit && (
            <>
              <Menu.Item
                leftSection={<Toggle size={15} />}
                onClick={() => void switchAutomation(automation, !active)}
              >
                {t(active ? 'automationMenu.pause' : 'automationMenu.resume')}
              </Menu.Item>
              <Menu.Item
                color="clay"
                leftSection={<IconTrash size={15} />}
                onClick={() => setAsking(true)}
              >
                {t('automationMenu.delete')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {isAsking && (
        <DeleteWindow automation={automation} label={label} onClose={() => setAsking(false)} />
      )}
    </>
  )
}

/** Says how many scheduled messages will be cancelled. */
function DeleteWindow({ automation, label, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation()
  const count = automation.activity?.waiting ?? 0
  const remove = useMutation({
    mutationFn: () => deleteAutomation(automation.eventDefnId),
    onSuccess: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={t('automationMenu.deleteTitle')} centered>
      <p className="serif" style={{ marginTop: 0, fontSize: 16 }} dir="auto">
        {label}
      </p>
      <p className="soft">{t('automationMenu.deleteText', { count })}</p>
      {remove.error && (
        <p role="alert" className="clay small">
          <ErrorMessage error={remove.error} />
        </p>
      )}
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('automationMenu.keep')}
        </Button>
        <Button color="clay" loading={remove.isPending} onClick={() => remove.mutate()}>
          {t('automationMenu.deleteButton', { count })}
        </Button>
      </div>
    </Modal>
  )
}
