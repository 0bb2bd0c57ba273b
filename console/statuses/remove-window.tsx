import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { ProblemError } from '../../src/client/client.ts'
import type { StatusName } from '../api/setup.ts'
import { statusKind } from '../api/setup-objects.ts'
import { Filled, part } from '../components/filled.tsx'
import { useForm } from '../components/form.ts'
import classes from '../setup/settings.module.css'
import { FormWindow, SubmitRow } from '../components/windows.tsx'
import type { StatusUse } from './uses.ts'

type Props = {
  status: StatusName | undefined
  uses: StatusUse[]
  onRemoved: (status: StatusName) => void
  onClose: () => void
}

/** Asks before a status is removed, or says what still uses it. */
export function RemoveWindow({ status, uses, onRemoved, onClose }: Props) {
  const { t } = useTranslation()
  const isBlocked = uses.some(({ blocks }) => blocks)
  return (
    <FormWindow
      isOpen={status !== undefined}
      title={t(`settings.statuses.${isBlocked ? 'notRemovable' : 'removeTitle'}`, {
        label: status?.label ?? '',
      })}
      onClose={onClose}
    >
      {status && isBlocked && (
        <>
          <p style={{ marginTop: 0 }}>{t('settings.statuses.usedBy')}</p>
          <Uses uses={uses} />
        </>
      )}
      {status && !isBlocked && (
        <RemoveForm status={status} uses={uses} onRemoved={() => onRemoved(status)} />
      )}
    </FormWindow>
  )
}

function Uses({ uses }: { uses: StatusUse[] }) {
  const { t } = useTranslation()
  return (
    <ul style={{ margin: '0 0 8px', paddingLeft: 20 }}>
      {uses.map((use) =>
        use.kind === 'automation' ? (
          <li key={use.automation.eventDefnId}>
            <Filled
              text={t('settings.statuses.uses.automation', { name: part('name') })}
              parts={{ name: <AutomationLink automation={use.automation} /> }}
            />
          </li>
        ) : (
          <li key={use.kind}>{t(`settings.statuses.uses.${use.kind}`)}</li>
        ),
      )}
    </ul>
  )
}

type AutomationUse = Extract<StatusUse, { kind: 'automation' }>

export function AutomationLink({ automation }: Pick<AutomationUse, 'automation'>) {
  const { t } = useTranslation()
  const { eventDefnId, description } = automation
  return (
    <Link
      to="/automations/$eventDefnId"
      params={{ eventDefnId: String(eventDefnId) }}
      className={classes.textLink}
      dir="auto"
    >
      {description ?? t('editor.unnamed')}
    </Link>
  )
}

type FormProps = { status: StatusName; uses: StatusUse[]; onRemoved: () => void }

function RemoveForm({ status, uses, onRemoved }: FormProps) {
  const { t } = useTranslation()
  const form = useForm(async () => {
    await statusKind.saveActive(status, false).catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.status !== 409) throw error
      throw new Error(t(`settings.statuses.inUse.${status.objectType}`), { cause: error })
    })
    onRemoved()
  })
  return (
    <form className={classes.form} onSubmit={form.onSubmit}>
      <p style={{ margin: 0 }}>{t('settings.statuses.removeHint')}</p>
      {uses.length > 0 && <Uses uses={uses} />}
      <SubmitRow label={t('settings.statuses.remove')} color="clay" form={form} />
    </form>
  )
}
