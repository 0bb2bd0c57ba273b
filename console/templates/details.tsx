import { ActionIcon, Popover, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { categoriesQuery } from '../api/templates.ts'
import { faultAt } from '../components/faults.ts'
import type { Draft } from './draft.ts'
import { ReachFields } from './reach-fields.tsx'
import { COMMON_LANGUAGES, languageName } from './languages.ts'

type Props = { draft: Draft; error: unknown; onChange: (change: Partial<Draft>) => void }

const FIELDS = [
  'templateName',
  'language',
  'reasonIdList',
  'location',
  'emailCategoryId',
  'emailBecause',
]

/** Name, language and category: what readers do not see. */
export function Details({ draft, error, onChange }: Props) {
  const { t } = useTranslation()
  const isRefused = faultAt(error, ...FIELDS) !== undefined
  return (
    <Popover width={320} position="bottom-end" trapFocus withinPortal>
      <Popover.Target>
        <ActionIcon
          variant={isRefused ? 'outline' : 'default'}
          color={isRefused ? 'clay' : 'gray'}
          size={34}
          aria-label={t('template.details')}
          title={t('template.details')}
        >
          <IconAdjustmentsHorizontal size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <DetailFields draft={draft} error={error} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  )
}

function DetailFields({ draft, error, onChange }: Props) {
  const { t } = useTranslation()
  const { language } = draft
  const languages = [...new Set([...(language ? [language] : []), ...COMMON_LANGUAGES])]
  return (
    <div className="column" style={{ gap: 12 }}>
      <TextInput
        label={t('template.fields.templateName')}
        description={t('template.nameHint')}
        maxLength={200}
        value={draft.templateName}
        error={faultAt(error, 'templateName')}
        onChange={(event) => onChange({ templateName: event.currentTarget.value })}
      />
      <Select
        label={t('template.fields.language')}
        comboboxProps={{ withinPortal: false }}
        data={[
          { value: '', label: t('template.everyLanguage') },
          ...languages.map((value) => ({ value, label: languageName(value) })),
        ]}
        value={language ?? ''}
        allowDeselect={false}
        error={faultAt(error, 'language')}
        onChange={(value) => onChange({ language: value || null })}
      />
      <ReachFields
        value={draft}
        faultOf={(field) => faultAt(error, field)}
        comboboxProps={{ withinPortal: false }}
        onChange={onChange}
      />
      <CategoryField draft={draft} error={error} onChange={onChange} />
      <Textarea
        label={t('template.fields.emailBecause')}
        description={t('template.becauseHint')}
        autosize
        value={draft.emailBecause ?? ''}
        error={faultAt(error, 'emailBecause')}
        onChange={(event) => onChange({ emailBecause: event.currentTarget.value || null })}
      />
      <Switch
        label={t('template.fields.noHeader')}
        description={t('template.noHeaderHint')}
        checked={draft.noHeader}
        onChange={(event) => onChange({ noHeader: event.currentTarget.checked })}
      />
    </div>
  )
}

function CategoryField({ draft, error, onChange }: Props) {
  const { t } = useTranslation()
  const { data: categories } = useQuery(categoriesQuery)
  return (
    <Select
      label={t('template.fields.emailCategoryId')}
      description={t('template.categoryHint')}
      comboboxProps={{ withinPortal: false }}
      clearable
      data={(categories ?? []).map(({ emailCategoryId, name }) => ({
        value: String(emailCategoryId),
        label: name,
      }))}
      value={draft.emailCategoryId === null ? null : String(draft.emailCategoryId)}
      error={faultAt(error, 'emailCategoryId')}
      onChange={(value) => onChange({ emailCategoryId: value ? Number(value) : null })}
    />
  )
}
