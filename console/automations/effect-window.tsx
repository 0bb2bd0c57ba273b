import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { deleteAutomation, planQuery } from '../api/automation.ts'
import { switchAutomation, type Automation } from '../api/automations.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Loading } from '../components/states.tsx'
import { FormWindow } from '../components/windows.tsx'
import { effectsOf } from './effects.ts'
import { PlanFigures } from './plan-card.tsx'

export type AutomationAction = 'switchOn' | 'switchOff' | 'delete'

type Props = {
  action: AutomationAction
  automation: Automation
  /** The sentence of the automation. */
  label: string
  onClose: () => void
}

/** Shows what switching or deleting an automation does to messages, before it is done. */
export function EffectWindow({ action, automation, label, onClose }: Props) {
  const { t } = useTranslation()
  const { eventDefnId } = automation
  const active = action === 'switchOn'
  const isRefused = active && !hasMail(automation)
  const plan = useQuery({ ...planQuery({ eventDefnId, active }), enabled: !isRefused })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      action === 'delete' ? deleteAutomation(eventDefnId) : switchAutomation(automation, active),
    onSuccess: onClose,
  })
  const effects = plan.data ? effectsOf(plan.data, t) : ''
  const failure = error ?? plan.error
  return (
    <FormWindow isOpen onClose={onClose} title={t(`automationMenu.titles.${action}`)}>
      <p className="serif" style={{ marginTop: 0, fontSize: 16 }} dir="auto">
        {label}
      </p>
      {isRefused ? (
        <NoMail eventDefnId={eventDefnId} />
      ) : plan.data ? (
        <>
          <PlanFigures plan={plan.data} />
          <p className="soft">{t(`automationMenu.hints.${action}`)}</p>
        </>
      ) : (
        !plan.error && <Loading lines={2} />
      )}
      {failure && (
        <p role="alert" className="clay small">
          <ErrorMessage error={failure} />
        </p>
      )}
      <Buttons onClose={onClose}>
        {!isRefused && (
          <Button
            color={action === 'switchOn' ? 'pine' : 'clay'}
            loading={isPending}
            disabled={!plan.data}
            onClick={() => mutate()}
          >
            {t(`automationMenu.buttons.${action}`)}
            {effects && `: ${effects}`}
          </Button>
        )}
      </Buttons>
    </FormWindow>
  )
}

const hasMail = ({ eventActions }: Automation) =>
  eventActions?.some(({ active }) => active) ?? false

function NoMail({ eventDefnId }: { eventDefnId: number }) {
  const { t } = useTranslation()
  return (
    <p>
      {t('automationMenu.noMail')}{' '}
      <Link
        to="/automations/$eventDefnId"
        params={{ eventDefnId: String(eventDefnId) }}
        className="strong"
      >
        {t('words.chooseAMail')}
      </Link>
    </p>
  )
}

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className="row" style={{ justifyContent: 'flex-end' }}>
      <Button variant="default" onClick={onClose} data-autofocus>
        {t('words.leaveItAsItIs')}
      </Button>
      {children}
    </div>
  )
}
