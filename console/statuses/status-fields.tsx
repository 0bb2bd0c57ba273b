import { Select, Switch } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { StatusOutcome } from '../../src/contract/status.ts'
import type { StatusName } from '../api/setup.ts'
import type { StatusFields } from '../api/setup-objects.ts'
import { codeOf } from '../api/status-labels.ts'
import { NameField } from '../setup/fields.tsx'
import type { At, Form } from '../records/use-record.ts'
import { FIRST_STATUS, type StatusUse } from './uses.ts'

export const OBJECT_TYPES = Object.keys(FIRST_STATUS) as ObjectType[]
export const OUTCOMES: StatusOutcome[] = [
  'PENDING',
  'KEPT',
  'MISSED',
  'CANCELLED',
  'LATE_CANCELLED',
]

/** No automation sends reminders for forms. */
export const hasReminders = (objectType: ObjectType) => objectType !== 'DISCLAIMER'

export const isTaken = ({ objectType, status }: StatusFields, statuses: StatusName[]) =>
  statuses.some((one) => one.objectType === objectType && one.status === status.trim())

type Props = {
  form: Form<StatusFields>
  /** Undefined for a new one. */
  item: StatusName | undefined
  uses: StatusUse[]
  statuses: StatusName[]
}

export function StatusFormFields({ form, item, uses, statuses }: Props) {
  const { t } = useTranslation()
  const { draft, at } = form
  const answer = uses
    .map(({ kind }) => kind)
    .find((kind) => kind === 'confirm' || kind === 'cancel')
  const live = at('live')
  const isRefusedForAnswer = live.error !== '' && answer !== undefined
  return (
    <>
      {item ? <Label {...at('label')} /> : <NewNames form={form} statuses={statuses} />}
      <OutcomeField form={form} isNew={!item} />
      {hasReminders(draft.objectType) && (
        <>
          <SwitchField
            {...live}
            error={isRefusedForAnswer ? t(`settings.statuses.liveFault.${answer}`) : live.error}
            label={t(`settings.statuses.live.${draft.objectType}`)}
            description={answer && !isRefusedForAnswer && t(`settings.statuses.liveHint.${answer}`)}
          />
          <SwitchField
            {...at('liveAfter')}
            label={t(`settings.statuses.liveAfter.${draft.objectType}`)}
          />
        </>
      )}
    </>
  )
}

function Label(props: At<string> & { onChange: (label: string) => void }) {
  const { t } = useTranslation()
  return <NameField {...props} label={t('settings.setup.fields.label')} data-autofocus />
}

/** The name for programs follows the name until it is changed by hand. */
function NewNames({ form: { draft, at }, statuses }: Pick<Props, 'form' | 'statuses'>) {
  const { t } = useTranslation()
  const code = at('status')
  const setLabel = (label: string) => {
    if (draft.status === codeOf(draft.label)) code.onChange(codeOf(label))
    at('label').onChange(label)
  }
  return (
    <>
      <Select
        {...at('objectType')}
        label={t('settings.setup.fields.objectType')}
        allowDeselect={false}
        data={OBJECT_TYPES.map((value) => ({ value, label: t(`settings.statuses.of.${value}`) }))}
        onChange={(value) => at('objectType').onChange(value as ObjectType)}
      />
      <Label {...at('label')} onChange={setLabel} />
      <NameField
        {...code}
        error={isTaken(draft, statuses) ? t('settings.statuses.taken') : code.error}
        label={t('settings.setup.fields.status')}
        description={t('settings.statuses.codeHint')}
        styles={{ input: { fontFamily: 'var(--mono)' } }}
      />
    </>
  )
}

/** What a new status of each outcome most likely does. */
const USUAL: Record<StatusOutcome, Pick<StatusFields, 'live' | 'liveAfter'>> = {
  PENDING: { live: true, liveAfter: true },
  KEPT: { live: false, liveAfter: true },
  MISSED: { live: false, liveAfter: false },
  CANCELLED: { live: false, liveAfter: false },
  LATE_CANCELLED: { live: false, liveAfter: false },
}

function OutcomeField({ form: { draft, at }, isNew }: Pick<Props, 'form'> & { isNew: boolean }) {
  const { t } = useTranslation()
  const { objectType } = draft
  const choose = (outcome: StatusOutcome) => {
    at('outcome').onChange(outcome)
    if (!isNew) return
    at('live').onChange(USUAL[outcome].live)
    at('liveAfter').onChange(USUAL[outcome].liveAfter)
  }
  return (
    <Select
      {...at('outcome')}
      label={t('settings.setup.fields.outcome')}
      description={t(`settings.statuses.outcomeHint.${objectType}`)}
      allowDeselect={false}
      data={OUTCOMES.map((value) => ({
        value,
        label: t(`settings.statuses.outcomes.${objectType}.${value}`),
      }))}
      onChange={(value) => choose(value as StatusOutcome)}
    />
  )
}

type SwitchProps = At<boolean> & { label: string; description?: string | false | undefined }

function SwitchField({ value, onChange, ...props }: SwitchProps) {
  return (
    <Switch
      {...props}
      checked={value}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
}
