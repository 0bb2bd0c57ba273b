import { ActionIcon, Button, Menu, Modal } from '@mantine/core'
import {
  IconArrowBackUp,
  IconCopy,
  IconDots,
  IconPencil,
  IconPlayerPlay,
  IconTrash,
} from '../components/icons.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Template } from '../api/setup.ts'
import {
  deactivateTemplate,
  deactivationPlanQuery,
  freeName,
  saveTemplate,
  templateKind,
  templatesQuery,
} from '../api/templates.ts'
import { queryClient } from '../api/query-client.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { ActivateWindow } from './activate-window.tsx'

type Props = {
  template: Template
  /** How many automations send it. */
  automations: number
  canEdit: boolean
  /** In the list: opens the template. */
  isInList?: boolean
  /** Forgets the unsaved changes. */
  onDiscard?: (() => void) | undefined
  /** After it was set inactive or active again. */
  onSwitched?: () => void
}

/** The actions on a template. */
export function TemplateMenu(props: Props) {
  const { template, automations, canEdit, isInList, onDiscard, onSwitched } = props
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'activate' | 'deactivate'>()
  const open = useOpenTemplate()
  const copy = useMutation({ mutationFn: () => copyTemplate(template), onSuccess: open })
  if (!canEdit && !isInList) return null
  const Window = asking && (asking === 'activate' ? ActivateWindow : DeactivateWindow)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            variant={isInList ? 'subtle' : 'default'}
            color="gray"
            size={isInList ? 28 : 34}
            aria-label={t('templateMenu.label', { name: template.templateName })}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isInList && (
            <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => open(template)}>
              {t('words.open')}
            </Menu.Item>
          )}
          {onDiscard && (
            <Menu.Item leftSection={<IconArrowBackUp size={15} />} onClick={onDiscard}>
              {t('templateMenu.discard')}
            </Menu.Item>
          )}
          {canEdit && (
            <Menu.Item leftSection={<IconCopy size={15} />} onClick={() => copy.mutate()}>
              {t('templateMenu.copy')}
            </Menu.Item>
          )}
          {canEdit && <SwitchItem isActive={template.active} onAsk={setAsking} />}
        </Menu.Dropdown>
      </Menu>
      {Window && (
        <Window
          template={template}
          automations={automations}
          onClose={() => setAsking(undefined)}
          onDone={() => onSwitched?.()}
        />
      )}
    </>
  )
}

type SwitchProps = { isActive: boolean; onAsk: (what: 'activate' | 'deactivate') => void }

/** Sets the template inactive, or active again. */
function SwitchItem({ isActive, onAsk }: SwitchProps) {
  const { t } = useTranslation()
  return isActive ? (
    <Menu.Item
      color="clay"
      leftSection={<IconTrash size={15} />}
      onClick={() => onAsk('deactivate')}
    >
      {t('templateMenu.deactivate')}
    </Menu.Item>
  ) : (
    <Menu.Item leftSection={<IconPlayerPlay size={15} />} onClick={() => onAsk('activate')}>
      {t('templateMenu.activate')}
    </Menu.Item>
  )
}

/** Opens the page of a template. */
export function useOpenTemplate() {
  const navigate = useNavigate()
  return ({ emailTemplateId }: Pick<Template, 'emailTemplateId'>) =>
    void navigate({
      to: '/templates/$emailTemplateId',
      params: { emailTemplateId: String(emailTemplateId) },
    })
}

/** A copy has a name of its own: with the same name it would be a variant. */
async function copyTemplate(template: Template) {
  const templates = await queryClient.fetchQuery(templatesQuery)
  const taken = new Set(templates.map(({ templateName }) => templateName))
  const templateName = freeName(template.templateName, taken.add(template.templateName))
  return saveTemplate({ ...templateKind.draftOf(template), templateName })
}

type DeactivateProps = {
  template: Template
  automations: number
  onClose: () => void
  onDone: () => void
}

function DeactivateWindow({ template, automations, onClose, onDone }: DeactivateProps) {
  const { t } = useTranslation()
  const plan = useQuery(deactivationPlanQuery(template.emailTemplateId))
  const deactivate = useMutation({
    mutationFn: () => deactivateTemplate(template.emailTemplateId),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const error = deactivate.error ?? plan.error
  return (
    <Modal opened onClose={onClose} title={t('templateMenu.askTitle')} centered>
      <p className="serif" style={{ marginTop: 0, fontSize: 16 }} dir="auto">
        {template.templateName}
      </p>
      <p className="soft">
        {t('templateMenu.askText', { count: automations })}{' '}
        {plan.data && <b>{t('templateMenu.askMessages', { count: plan.data.cancel })}</b>}
      </p>
      {error && (
        <p role="alert" className="clay small">
          <ErrorMessage error={error} />
        </p>
      )}
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('templateMenu.keep')}
        </Button>
        <Button
          color="clay"
          loading={deactivate.isPending}
          disabled={!plan.data}
          onClick={() => deactivate.mutate()}
        >
          {t('words.deactivate')}
        </Button>
      </div>
    </Modal>
  )
}
