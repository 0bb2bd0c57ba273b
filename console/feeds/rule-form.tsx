import { Button, Checkbox, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { setupQuery } from '../api/setup.ts'
import settings from '../setup/settings.module.css'
import { useTranslation } from '../texts/translate.ts'
import { DefaultFields } from './default-fields.tsx'
import { namesParts, TEXT_CONDITIONS, type Rule } from './rule-words.ts'

type Props = { rule: Rule; onDone: (rule: Rule) => void }

/** The conditions of a rule, and what it decides. Nothing is saved here. */
export function RuleForm({ rule, onDone }: Props) {
  const { t } = useTranslation()
  const [when, setWhen] = useState(rule.when)
  const [then, setThen] = useState(rule.then)
  const edited = { when: given(when), then: then.skip ? { skip: true } : given(then) }
  const yesOrNo = when.busy == null ? null : when.busy ? 'busy' : 'free'
  return (
    <form
      className={settings.form}
      onSubmit={(event) => {
        event.preventDefault()
        onDone(edited)
      }}
    >
      <p className="soft small" style={{ margin: 0 }}>
        {t('settings.feeds.rules.whenHint')}
      </p>
      {TEXT_CONDITIONS.map((field) => (
        <TextInput
          key={field}
          label={t(`settings.feeds.rules.when.${field}`)}
          description={field === 'title' ? t('settings.feeds.rules.titleHint') : undefined}
          data-autofocus={field === 'title' || undefined}
          maxLength={300}
          value={when[field] ?? ''}
          onChange={(event) => setWhen({ ...when, [field]: event.currentTarget.value })}
        />
      ))}
      <Select
        label={t('settings.feeds.rules.when.busy')}
        clearable
        clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
        data={(['busy', 'free'] as const).map((value) => ({
          value,
          label: t(`settings.feeds.rules.${value}`),
        }))}
        value={yesOrNo}
        onChange={(value) => setWhen({ ...when, busy: value === null ? null : value === 'busy' })}
      />
      <h3 style={{ margin: '8px 0 0' }}>{t('settings.feeds.rules.then')}</h3>
      <Checkbox
        label={t('settings.feeds.notAppointment')}
        checked={then.skip === true}
        onChange={(event) => setThen({ ...then, skip: event.currentTarget.checked || null })}
      />
      {then.skip !== true && <EffectFields then={then} onChange={setThen} />}
      <Button
        type="submit"
        disabled={
          Object.keys(edited.when).length === 0 ||
          (Object.keys(edited.then).length === 0 && !namesParts(edited.when.title ?? ''))
        }
        style={{ justifySelf: 'start' }}
      >
        {t('settings.feeds.rules.use')}
      </Button>
    </form>
  )
}

type EffectProps = { then: Rule['then']; onChange: (then: Rule['then']) => void }

function EffectFields({ then, onChange }: EffectProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const statuses = (setup?.statuses ?? []).filter(({ objectType }) => objectType === 'CALENDAR')
  return (
    <>
      <DefaultFields
        value={then}
        faultOf={() => undefined}
        onChange={(more) => onChange({ ...then, ...more })}
      />
      <Select
        label={t('settings.feeds.fields.kind')}
        clearable
        clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
        data={(['APPOINTMENT', 'CLASS'] as const).map((value) => ({
          value,
          label: t(`settings.feeds.rules.kinds.${value}`),
        }))}
        value={then.kind ?? null}
        onChange={(kind) => onChange({ ...then, kind: kind as 'APPOINTMENT' | 'CLASS' | null })}
      />
      <Select
        label={t('settings.feeds.fields.status')}
        clearable
        clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
        data={statuses.map(({ status, label }) => ({ value: status, label }))}
        value={then.status ?? null}
        onChange={(status) => onChange({ ...then, status })}
      />
    </>
  )
}

/** Without fields that are empty. */
const given = <T extends object>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value])
      .filter(([, value]) => value != null && value !== ''),
  ) as T
