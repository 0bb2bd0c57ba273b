import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { setupQuery, type Setup } from '../api/setup.ts'
import { staffName } from '../calendar/columns.ts'
import { useTranslation } from '../texts/translate.ts'

/** Null: it is taken away. */
export type Defaults = {
  professionalId?: number | null
  reasonId?: number | null
  locationId?: number | null
}

type Props = {
  value: Defaults
  faultOf: (field: string) => string | undefined
  onChange: (value: Defaults) => void
}

/** The names of staff, services and locations by id. */
export const optionsOf = (setup: Setup | undefined) => ({
  professionalId: (setup?.professionals ?? []).map((one) => ({
    value: String(one.professionalId),
    label: staffName(one),
  })),
  reasonId: (setup?.services ?? []).map(({ reasonId, name }) => ({
    value: String(reasonId),
    label: name,
  })),
  locationId: (setup?.locations ?? []).map(({ locationId, name }) => ({
    value: String(locationId),
    label: name,
  })),
})

const FIELDS = ['professionalId', 'reasonId', 'locationId'] as const

/** Staff, service and location, each of which may be empty. */
export function DefaultFields({ value, faultOf, onChange }: Props) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const options = optionsOf(setup)
  return FIELDS.map((field) => (
    <Select
      key={field}
      label={t(`settings.feeds.fields.${field}`)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('settings.feeds.clear') }}
      value={value[field] ? String(value[field]) : null}
      data={options[field]}
      error={faultOf(`defaults/${field}`)}
      onChange={(id) => onChange({ ...value, [field]: id ? Number(id) : null })}
    />
  ))
}
