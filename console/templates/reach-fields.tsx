import { MultiSelect, Select, type ComboboxProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { setupQuery } from '../api/setup.ts'
import { locationOf, type VersionReach } from './reach.ts'
import { useReach } from './template-words.ts'

type Props = {
  value: VersionReach
  faultOf: (field: keyof VersionReach) => string | undefined
  comboboxProps?: ComboboxProps
  onChange: (change: Partial<VersionReach>) => void
}

/** The services and the location that a version of a mail is for. */
export function ReachFields({ value, faultOf, comboboxProps = {}, onChange }: Props) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const reach = useReach()
  const services = new Map(
    setup?.services.map(({ reasonId, name }) => [String(reasonId), name] as const),
  )
  const locations = new Map(
    setup?.locations.map(({ locationId, name }) => [String(locationId), name] as const),
  )
  // A selection that is not active any more stays until it is removed.
  for (const id of value.reasonIdList) {
    if (!services.has(String(id))) services.set(String(id), reach.services({ reasonIdList: [id] }))
  }
  const location = locationOf(value)
  if (location !== null && !locations.has(location)) locations.set(location, reach.location(value))
  const options = (names: Map<string, string>) =>
    [...names].map(([id, label]) => ({ value: id, label }))
  const choose = (id: string | null) =>
    id
      ? onChange({ level: 'LOCATION', location: id })
      : onChange({ location: null, ...(value.level === 'LOCATION' && { level: null }) })
  return (
    <>
      <MultiSelect
        label={t('template.fields.reasonIdList')}
        placeholder={value.reasonIdList.length === 0 ? t('template.everyService') : ''}
        searchable
        comboboxProps={comboboxProps}
        data={options(services)}
        value={value.reasonIdList.map(String)}
        error={faultOf('reasonIdList')}
        onChange={(ids) => onChange({ reasonIdList: ids.map(Number) })}
      />
      <Select
        label={t('template.fields.location')}
        description={t('template.reachHint')}
        searchable
        allowDeselect={false}
        comboboxProps={comboboxProps}
        data={[{ value: '', label: t('template.everyLocation') }, ...options(locations)]}
        value={location ?? ''}
        error={faultOf('location')}
        onChange={choose}
      />
    </>
  )
}
