import { Menu } from '@mantine/core'
import { ActionMenu } from '../components/action-menu.tsx'
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from '../components/icons.tsx'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Automation } from '../api/automations.ts'
import { useSession } from '../api/session.ts'
import { EffectWindow, type AutomationAction } from './effect-window.tsx'

type Props = { automation: Automation; label: string }

/** The actions on an automation in the list. */
export function AutomationMenu({ automation, label }: Props) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { functions } = useSession()
  const [action, setAction] = useState<AutomationAction>()
  const { eventDefnId, active } = automation
  const canEdit = functions.includes('EDIT_DEFINITIONS')
  const Toggle = active ? IconPlayerPause : IconPlayerPlay
  return (
    <>
      <ActionMenu label={t('automationMenu.label', { sentence: label })}>
        <Menu.Item
          leftSection={<IconPencil size={15} />}
          onClick={() =>
            void navigate({
              to: '/automations/$eventDefnId',
              params: { eventDefnId: String(eventDefnId) },
            })
          }
        >
          {t('words.open')}
        </Menu.Item>
        {canEdit && (
          <>
            <Menu.Item
              leftSection={<Toggle size={15} />}
              onClick={() => setAction(active ? 'switchOff' : 'switchOn')}
            >
              {t(active ? 'automationMenu.pause' : 'words.switchOn')}
            </Menu.Item>
            <Menu.Item
              color="clay"
              leftSection={<IconTrash size={15} />}
              onClick={() => setAction('delete')}
            >
              {t('automationMenu.delete')}
            </Menu.Item>
          </>
        )}
      </ActionMenu>
      {action && (
        <EffectWindow
          action={action}
          automation={automation}
          label={label}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}
