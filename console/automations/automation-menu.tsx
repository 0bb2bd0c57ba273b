import { ActionIcon, Menu } from '@mantine/core'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconTrash,
} from '../components/icons.tsx'
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
                onClick={() => setAction(active ? 'switchOff' : 'switchOn')}
              >
                {t(active ? 'automationMenu.pause' : 'automationMenu.resume')}
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
        </Menu.Dropdown>
      </Menu>
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
