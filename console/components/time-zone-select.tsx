import { Select, type SelectProps } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'

/** The time zone of this browser, which is usually that of the business. */
export const guessTimeZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

const MAX_SHOWN = 100

export function TimeZoneSelect(props: Omit<SelectProps, 'data'>) {
  const { t } = useTranslation()
  const known = Intl.supportedValuesOf('timeZone')
  const own = props.value ?? props.defaultValue
  const zones = own && !known.includes(own) ? [own, ...known] : known
  return (
    <Select
      label={t('form.timeZone')}
      searchable
      allowDeselect={false}
      limit={MAX_SHOWN}
      {...props}
      data={zones}
    />
  )
}
